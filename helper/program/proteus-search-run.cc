/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-search-run.h"

#include "proteus-name-lists.h"
#include "proteus-progress.h"
#include "proteus-search-experts.h"
#include "proteus-search-limits.h"
#include "proteus-stop-signals.h"
#include "proteus-timed-frameworks.h"

#include "ns3/proteus-attribute-defaults.h"
#include "ns3/proteus-cluster-json.h"
#include "ns3/proteus-framework-kernels.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-plan-communication.h"
#include "ns3/proteus-plan-layouts.h"
#include "ns3/proteus-plan-reduction.h"
#include "ns3/proteus-plan-search.h"
#include "ns3/proteus-prices-json.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-strategy-json.h"
#include "ns3/proteus-study.h"
#include "ns3/proteus-tables.h"
#include "ns3/proteus-warning.h"
#include "ns3/rng-seed-manager.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double GBYTE = 1e9;

/// @param lines to warn of
void
WarnOfAll(const std::vector<std::string>& lines)
{
    for (const std::string& line : lines)
    {
        Warn(line);
    }
}

/// A search from its subject to its outcome.
class Search
{
  public:
    Search(const SearchOptions& options, const SearchSubject& subject)
        : m_options(options),
          m_cluster(subject.cluster),
          m_gpu(FindGpuDatasheet(m_cluster.GetVertices()[m_cluster.GetGpus().at(0)].model)),
          m_memoryBytes(subject.memoryBytes),
          m_framework(LoadFramework(options, m_gpu.model)),
          m_timed(m_framework),
          m_kernels(m_gpu, m_framework.kernels),
          m_paths(m_cluster),
          m_evaluation(options,
                       m_cluster,
                       static_cast<uint64_t>(m_memoryBytes),
                       options.log,
                       m_options.log.empty() ? std::string() : DescribeSubject()),
          m_communication(m_cluster,
                          m_paths,
                          MakeFlowParameters(m_evaluation.GetSettings(), false),
                          m_evaluation.GetSettings().collectives),
          m_start(std::chrono::steady_clock::now()),
          m_pinned(subject.pinned)
    {
    }

    SearchOutcome Run()
    {
        m_objective.kind = SearchObjectiveFromString(m_options.objective);
        if (m_objective.kind == SearchObjective::COST)
        {
            InputFile file(m_options.prices);
            const PriceTable prices = ReadPricesJson(file.GetStream(), m_options.prices);
            m_objective.pricePerHour = ReadNamed("--prices=" + m_options.prices,
                                                 [&] { return prices.FindRent(m_gpu.model); });
            m_outcome.currency = prices.currency;
        }
        SetSpace();
        PlanEstimator estimator([this](const ParallelPlan& plan) { return Make(plan).model; },
                                MakeTimer(m_timed.inAnyOrder),
                                m_communication,
                                GetOverlapSlowdown(),
                                [this](bool isOfZero3) {
                                    return MakeTimer(isOfZero3 ? m_timed.issuedOfZero3
                                                               : m_timed.issued);
                                });
        Rank(estimator);
        MakeReducedJobs(estimator);
        Climb();
        if (m_outcome.isComplete)
        {
            WarnOfAll(FindIdleLimits(m_options,
                                     {m_facts, m_space, m_usual, m_leastTooMuchBytes, m_outcome},
                                     estimator));
        }
        m_outcome.order = RankEntries(m_outcome.entries);
        m_outcome.objective = m_objective;
        m_outcome.framework = m_framework.name;
        return std::move(m_outcome);
    }

  private:
    /// What a log has to be of.
    std::string DescribeSubject() const
    {
        std::ostringstream text;
        text << m_options.model.model << " " << m_options.model.variables << " on "
             << m_options.cluster << " " << m_cluster.GetName() << ", "
             << m_cluster.GetGpus().size() << " GPUs, " << m_cluster.GetLinks().size()
             << " links, batch " << m_options.globalBatch << ", " << m_memoryBytes << " bytes, "
             << m_options.launchInterval << ", stream " << m_options.stream << ", "
             << m_options.dataType << ", " << m_options.optimizer << ", framework "
             << m_framework.name << ", seed " << RngSeedManager::GetSeed() << ", run "
             << RngSeedManager::GetRun();
        for (const ChangedAttribute& attribute : FindChangedAttributes())
        {
            text << ", " << attribute.GetFullName() << "=" << attribute.value;
        }
        text << ", links and files " << DigestInputs();
        return text.str();
    }

    /// @return digits that tell what links, the model and the framework are, whatever their names
    std::string DigestInputs() const
    {
        std::ostringstream content;
        WriteClusterJson(m_cluster, content);
        ModelOptions model = m_options.model;
        model.strategy = "dp=1";
        std::vector<std::string> files = model.Load().files;
        const std::string typed = m_options.framework.name;
        files.push_back(m_options.framework.FindFile(typed.empty() ? m_framework.name : typed));
        for (const std::string& path : files)
        {
            InputFile file(path);
            content << file.GetStream().rdbuf();
        }
        return Digest(content.str());
    }

    double GetElapsed() const
    {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
    }

    /// @param share of the budget @return whether it is used up, or a signal has come
    bool IsOver(double share) const
    {
        return StopSignals::Obey() ||
               (m_options.budget > 0 && GetElapsed() > share * m_options.budget);
    }

    /// @return the framework of all plans
    static Framework LoadFramework(const SearchOptions& options, const std::string& gpu)
    {
        ModelOptions model = options.model;
        model.strategy = "dp=1";
        return options.framework.Load(gpu, model.Load().model, nullptr, options.launchInterval);
    }

    /// @return what loads the model with a plan; candidates keep it
    std::function<TrainingPlan(const ParallelPlan&)> GetMaker() const
    {
        return
            [model = m_options.model, defaults = m_framework.defaults](const ParallelPlan& plan) {
                ModelOptions options = model;
                options.strategy = FormatPlan(plan, defaults.plan);
                return options.Load(defaults);
            };
    }

    TrainingPlan Make(const ParallelPlan& plan) const
    {
        return GetMaker()(plan);
    }

    /// @return what kernels lose to communication beside them
    double GetOverlapSlowdown() const
    {
        return m_evaluation.GetSettings().runtime.sharesGpu ? PlanEstimator::SHARING_SLOWDOWN : 0;
    }

    /// Times kernels as the graphs that are run have them.
    /// @param framework that trains; must outlive the timer
    KernelTimer MakeTimer(const Framework& framework) const
    {
        const PrecisionSpec& precision = m_space.base.precision;
        const bool isWide =
            precision.gradient == DataType::FP32 || precision.gradient == DataType::TF32;
        RooflineModel roofline;
        roofline.launchIntervalPs = m_options.launchInterval.value.GetPicoSeconds();
        return
            [this,
             roofline,
             known = MakeFrameworkTimer(m_kernels, framework, precision.compute, isWide ? 4 : 2)](
                const KernelDescription& kernel) {
                const int64_t time = known(kernel);
                if (time >= 0)
                {
                    return time;
                }
                Task task;
                task.flops = kernel.flops;
                task.bytes = kernel.bytes;
                task.dataType = kernel.dataType;
                return roofline.ComputeTimePs(task, m_gpu);
            };
    }

    /// @return GPUs of the first server
    uint32_t CountServerGpus() const
    {
        const std::vector<VertexId>& gpus = m_cluster.GetGpus();
        const int32_t server = m_cluster.GetServer(0);
        return static_cast<uint32_t>(std::count_if(gpus.begin(), gpus.end(), [&](VertexId gpu) {
            return m_cluster.GetVertices()[gpu].server == server;
        }));
    }

    void SetSpace()
    {
        const std::set<std::string> choices = m_options.GetChoices();
        auto varies = [&](const char* choice) { return choices.count(choice) > 0; };
        const auto nGpus = static_cast<uint32_t>(m_cluster.GetGpus().size());
        CheckRuns();
        m_space.globalBatch = ToCount(m_options.globalBatch, "globalBatch", 1);
        m_space.memoryBytes = m_memoryBytes;
        m_space.devices = {nGpus};
        while (m_objective.kind != SearchObjective::TIME && m_space.devices.front() % 2 == 0)
        {
            m_space.devices.insert(m_space.devices.begin(), m_space.devices.front() / 2);
        }
        m_space.base = MakeDefaultPlan(m_framework.defaults);
        m_space.base.gradients.isInPlace = true;
        if (m_space.base.gradients.policy == BucketPolicy::UNIT)
        {
            m_space.pieces = BucketPolicy::UNIT;
        }
        m_space.base.gradients.policy = BucketPolicy::WHOLE;
        m_space.base.precision.compute = DataTypeFromString(m_options.dataType);
        m_space.base.optimizer.kind = OptimizerKindFromString(m_options.optimizer);
        m_facts = DescribeForPlans(Make(m_space.base).model);
        const uint32_t perServer = CountServerGpus();
        m_objective.devicesPerServer = perServer;
        m_space.mostTensorParallel = perServer > 1 ? perServer : std::min<uint32_t>(16, nGpus);
        const uint64_t contexts = std::min<uint64_t>(8, m_facts.sequence / 2048);
        m_space.mostContextParallel =
            varies("context") ? static_cast<uint32_t>(std::max<uint64_t>(1, contexts)) : 1;
        m_space.mostMicroBatch = varies("microBatch") ? m_space.mostMicroBatch : 1;
        m_space.mostVirtualStages = varies("virtualStages") ? m_space.mostVirtualStages : 1;
        m_space.zero =
            varies("zero") ? m_space.zero : std::vector<uint32_t>{m_space.base.optimizer.zero};
        m_space.serverDevices = varies("zeroGroup") && perServer < nGpus ? perServer : 0;
        m_space.variesRecomputation = varies("recompute");
        m_space.variesSequence = varies("sequence");
        m_space.variesBuckets = varies("buckets");
        m_space.variesSchedule = varies("schedule");
        m_space.variesMapping = varies("mapping");
        m_usual = m_space;
        m_usual.memoryBytes = static_cast<double>(m_gpu.memoryBytes);
        if (m_options.mostTensor > 0)
        {
            m_space.mostTensorParallel = ToCount(m_options.mostTensor, "mostTensor", 1);
        }
        if (m_options.mostContext > 0 && varies("context"))
        {
            m_space.mostContextParallel = ToCount(m_options.mostContext, "mostContext", 1);
        }
        if (varies("microBatch"))
        {
            m_space.mostMicroBatch = ToCount(m_options.mostMicroBatch, "mostMicroBatch", 1);
        }
        WarnOfAll(FindIdleChoices(m_options, m_facts, m_space));
        m_facts.experts = varies("experts") ? m_facts.experts : 0;
        m_objective.samples = m_space.globalBatch;
        for (const std::string& path : SplitExperts(m_options.experts))
        {
            m_experts.emplace_back(path,
                                   LoadExpert(path,
                                              m_options.model,
                                              m_framework.defaults,
                                              m_space.globalBatch,
                                              m_cluster.GetGpus().size()));
        }
    }

    void Add(const std::string& name, const ParallelPlan& plan, const PlanEstimate& estimate)
    {
        SearchCandidate candidate;
        candidate.name = name;
        candidate.strategy = FormatPlan(plan, m_framework.defaults.plan);
        candidate.make = [make = GetMaker(), plan]() { return make(plan); };
        candidate.write = [plan,
                           title = name.empty() ? "found by proteus-search" : name,
                           defaults = m_framework.defaults.plan](std::ostream& out) {
            WritePlanJson(plan, title, out, defaults);
        };
        candidate.devices = plan.GetNDevices();
        candidate.analyticS = estimate.seconds;
        candidate.plan = plan;
        Add(std::move(candidate));
    }

    /// All plans by formula, and those of experts.
    void Rank(PlanEstimator& estimator)
    {
        ProgressLine progress("ranking plans");
        PlanSearchOptions search;
        search.objective = m_objective;
        search.peakFlops = m_gpu.PeakFlops(m_space.base.precision.compute);
        search.isOver = [this]() { return IsOver(0.5); };
        search.report = [&](uint64_t visited, const RankedPlan& best) {
            if (!m_options.quiet)
            {
                progress.Say(FormatCount(visited) + " plans, best " +
                             FormatTime(best.estimate.seconds));
            }
        };
        PlanSearchResult found = SearchPlans(m_facts, m_space, estimator, search);
        m_outcome.visited = found.visited;
        m_outcome.pruned = std::move(found.pruned);
        m_outcome.isComplete = found.isComplete;
        m_leastTooMuchBytes = found.leastTooMuchBytes;
        std::set<std::string> expert;
        for (const BaselinePlan& baseline : MakeBaselines(m_facts, m_space, estimator))
        {
            if (expert.insert(FormatPlan(baseline.plan)).second)
            {
                Add(baseline.name, baseline.plan, estimator.Estimate(baseline.plan));
            }
        }
        for (const RankedPlan& ranked : found.plans)
        {
            if (expert.count(FormatPlan(ranked.plan)) == 0)
            {
                Add("", ranked.plan, ranked.estimate);
            }
        }
        try
        {
            AddLayouts(found.plans);
        }
        catch (const RunStopped&)
        {
            ++m_outcome.pruned["layouts: the search was stopped before it had them"];
        }
        AddFiles(estimator);
        for (SearchCandidate& candidate : m_pinned)
        {
            Add(std::move(candidate));
        }
        if (m_outcome.candidates.empty())
        {
            std::string causes;
            for (const auto& [cause, count] : m_outcome.pruned)
            {
                causes += (causes.empty() ? "" : "; ") + std::to_string(count) + " of " + cause;
            }
            throw std::invalid_argument(
                "no plan is left: families that were left out are " +
                (causes.empty() ? "none" : causes) +
                "; add servers (--nodes), take a global batch (--globalBatch) that more replicas "
                "can share" +
                (m_options.memory > 0 ? ", or more --memory" : ""));
        }
    }

    /// Layouts operator by operator, in the stages of the best plans.
    void AddLayouts(const std::vector<RankedPlan>& plans)
    {
        if (m_options.GetChoices().count("layouts") == 0)
        {
            return;
        }
        if (m_options.reduced > 0)
        {
            ++m_outcome.pruned["layouts: no small job stands for them (--reduced)"];
            return;
        }
        LayoutSearch search;
        search.source = [this](const ParallelPlan& plan) { return Make(plan).model; };
        search.space.communication = &m_communication;
        search.space.kernelTime =
            [timer = MakeTimer(m_timed.inAnyOrder)](const KernelDescription& kernel) {
                ThrowIfStopped();
                return timer(kernel);
            };
        search.space.precision = m_space.base.precision;
        search.space.memoryBytes = m_memoryBytes;
        search.space.heedTooMuch = [this](double bytes) {
            m_leastTooMuchBytes = std::min(m_leastTooMuchBytes, bytes);
        };
        search.space.overlapSlowdown = GetOverlapSlowdown();
        search.devices = m_space.devices.back();
        search.mostPlans = ToCount(m_options.layoutPlans, "layoutPlans", 0);
        search.isOver = [this]() { return IsOver(0.5); };
        for (LayoutPlan& found : SearchPlanLayouts(search, m_space, plans, m_outcome.pruned))
        {
            SearchCandidate candidate;
            candidate.name = found.layouts.isBaseline ? found.layouts.name : "";
            candidate.strategy = found.strategy;
            candidate.make = [make = GetMaker(), plan = found.plan, tree = found.layouts.tree]() {
                TrainingPlan made = make(plan);
                made.tree = tree;
                return made;
            };
            candidate.write = [tree = found.layouts.tree](std::ostream& out) {
                WriteStrategyJson(tree, out);
            };
            candidate.devices = search.devices;
            candidate.analyticS = found.layouts.seconds;
            Add(std::move(candidate));
        }
    }

    /// Strategies that the user names, which are run however they rank.
    void AddFiles(PlanEstimator& estimator)
    {
        for (const auto& [path, expert] : m_experts)
        {
            if (expert.plan)
            {
                Add(expert.name, *expert.plan, estimator.Estimate(*expert.plan));
                continue;
            }
            SearchCandidate candidate;
            candidate.name = expert.name;
            candidate.strategy = "file " + path;
            candidate.make = [training = expert.training]() { return training; };
            candidate.write = [tree = expert.training.tree](std::ostream& out) {
                WriteStrategyJson(tree, out);
            };
            candidate.devices = expert.devices;
            Add(std::move(candidate));
        }
    }

    void Add(SearchCandidate candidate)
    {
        LadderEntry entry;
        entry.isPinned = !candidate.name.empty();
        entry.values.emplace_back();
        if (candidate.analyticS > 0)
        {
            entry.values[0] = m_objective.GetValue(candidate.analyticS, candidate.devices);
        }
        m_outcome.candidates.push_back(std::move(candidate));
        m_outcome.entries.push_back(std::move(entry));
    }

    /// Small jobs for as many of the best plans as are to have reduced runs, and for experts'.
    void MakeReducedJobs(PlanEstimator& estimator)
    {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < m_outcome.entries.size(); ++i)
        {
            if (m_outcome.candidates[i].plan)
            {
                order.push_back(i);
            }
        }
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return *m_outcome.entries[a].values[0] < *m_outcome.entries[b].values[0];
        });
        const uint64_t most = ToCount(m_options.reduced, "reduced", 0);
        for (std::size_t k = 0; most > 0 && k < order.size(); ++k)
        {
            SearchCandidate& candidate = m_outcome.candidates[order[k]];
            // Some more, in the place of those that do not compile.
            if (k >= most + most / 10 && candidate.name.empty())
            {
                continue;
            }
            ReducedJob& job = candidate.job;
            job.plan = ReducePlan(*candidate.plan);
            job.make = [make = GetMaker(), plan = job.plan]() { return make(plan); };
            job.scale = candidate.analyticS / estimator.Estimate(job.plan).seconds;
            const PlanEstimate whole = estimator.Estimate(*candidate.plan);
            job.estimate.peakMemoryBytes = static_cast<uint64_t>(whole.memoryBytes);
            job.estimate.mean.computeS = whole.computeS + whole.optimizerS;
            job.estimate.mean.bubbleS = whole.bubbleS;
            job.estimate.mean.exposedS = whole.exposedS;
            for (const double seconds : whole.exposedS)
            {
                job.estimate.mean.exposedCommunicationS += seconds;
            }
            job.estimate.modelFlopUtilisation =
                3 * m_facts.forwardFlopsPerSample * static_cast<double>(m_space.globalBatch) /
                (m_gpu.PeakFlops(m_space.base.precision.compute) * whole.seconds *
                 static_cast<double>(candidate.devices));
        }
    }

    /// Refuses numbers of runs, before plans are ranked.
    void CheckRuns() const
    {
        const uint64_t reduced = ToCount(m_options.reduced, "reduced", 0);
        ToCount(m_options.flows, "flows", reduced > 0 ? 0 : 1);
        ToCount(m_options.packets, "packets", 0);
        ToCount(m_options.threads, "threads", 1, 1024);
        ToCount(m_options.layoutPlans, "layoutPlans", 0);
    }

    /// The best ones by flows, the best of these by packets.
    void Climb()
    {
        ProgressLine progress("running strategies");
        std::atomic<uint64_t> runs{0};
        auto value = [this](const SearchCandidate& candidate, std::optional<double> seconds) {
            return seconds ? std::optional(m_objective.GetValue(*seconds, candidate.devices))
                           : std::nullopt;
        };
        auto say = [&](const char* how) {
            ++runs;
            if (!m_options.quiet && m_options.threads == 1)
            {
                progress.Say(std::to_string(runs) + " by " + how);
            }
        };
        LadderRung reduced;
        reduced.name = "reduced";
        reduced.most = ToCount(m_options.reduced, "reduced", 0);
        reduced.mostPinned = reduced.most > 0 ? m_outcome.candidates.size() : 0;
        reduced.threads = ToCount(m_options.threads, "threads", 1, 1024);
        reduced.evaluate = [&](std::size_t i) {
            say("reduced runs");
            SearchCandidate& candidate = m_outcome.candidates[i];
            return candidate.job.make ? value(candidate, m_evaluation.RunReduced(candidate))
                                      : std::nullopt;
        };
        LadderRung flow;
        flow.name = "flow";
        flow.most = ToCount(m_options.flows, "flows", reduced.most > 0 ? 0 : 1);
        flow.mostPinned = flow.most > 0 ? m_outcome.candidates.size() : 0;
        flow.threads = ToCount(m_options.threads, "threads", 1, 1024);
        flow.evaluate = [&](std::size_t i) {
            say("flows");
            SearchCandidate& candidate = m_outcome.candidates[i];
            return value(candidate, m_evaluation.RunFlows(candidate));
        };
        LadderRung packet;
        packet.name = "packet";
        packet.most = ToCount(m_options.packets, "packets", 0);
        packet.mostPinned = packet.most > 0 ? 1 : 0;
        packet.evaluate = [&](std::size_t i) {
            say("packets");
            SearchCandidate& candidate = m_outcome.candidates[i];
            return value(candidate, m_evaluation.RunPackets(candidate));
        };
        try
        {
            ClimbLadder(m_outcome.entries, {reduced, flow, packet}, [this]() { return IsOver(1); });
        }
        catch (const RunStopped&) // what was under way has no result
        {
            for (LadderEntry& entry : m_outcome.entries)
            {
                entry.values.resize(N_RUNGS);
            }
        }
        for (const auto& [cause, count] : CountFailures(m_outcome.candidates))
        {
            m_outcome.pruned[cause] += count;
        }
    }

    SearchOptions m_options;
    Cluster m_cluster;
    GpuDatasheet m_gpu;
    double m_memoryBytes;
    Framework m_framework; //!< of all plans
    TimedFrameworks m_timed;
    KernelCostModel m_kernels;
    Paths m_paths;
    SearchEvaluation m_evaluation;
    FlowCommunicationCost m_communication;
    std::chrono::steady_clock::time_point m_start;
    Objective m_objective;
    PlanModelFacts m_facts;
    PlanSpaceOptions m_space;
    PlanSpaceOptions m_usual;              //!< the same without options about limits
    double m_leastTooMuchBytes{0};         //!< PlanSearchResult::leastTooMuchBytes, of layouts, too
    std::vector<SearchCandidate> m_pinned; //!< of another search
    std::vector<std::pair<std::string, LoadedExpert>> m_experts; //!< by file, read before anything
    SearchOutcome m_outcome;
};

} // namespace

SearchOutcome
RunSearch(const SearchOptions& options, const SearchSubject& subject)
{
    return Search(options, subject).Run();
}

SearchSubject
MakeSearchSubject(const SearchOptions& options)
{
    SearchSubject subject{options.BuildCluster(), 0, {}};
    const Vertex& gpu = subject.cluster.GetVertices()[subject.cluster.GetGpus().at(0)];
    const auto wholeBytes = static_cast<double>(FindGpuDatasheet(gpu.model).memoryBytes);
    subject.memoryBytes = options.memory > 0 ? options.memory * GBYTE : wholeBytes;
    if (subject.memoryBytes > wholeBytes)
    {
        std::ostringstream text;
        text << "--memory=" << options.memory << " is more than the " << wholeBytes / GBYTE
             << " GB of " << gpu.model << ": what is found may not fit";
        Warn(text.str());
    }
    return subject;
}

} // namespace proteus
} // namespace ns3
