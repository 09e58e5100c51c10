/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-command-line-program.h"
#include "proteus-model-options.h"
#include "proteus-plot-option.h"
#include "proteus-programs.h"
#include "proteus-progress.h"
#include "proteus-search-evaluation.h"
#include "proteus-search-report.h"
#include "proteus-stop-signals.h"

#include "ns3/proteus-framework-kernels.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-layout-strategy.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-plan-communication.h"
#include "ns3/proteus-plan-search.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-strategy-json.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <set>
#include <sstream>
#include <stdexcept>

/**
 * @file
 * @ingroup proteus
 * Finds strategies for a model on a cluster.
 */

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double GBYTE = 1e9;

/// What can be varied, besides tensor, pipeline and data parallelism.
const std::vector<std::string> CHOICES{"context",
                                       "experts",
                                       "microBatch",
                                       "zero",
                                       "recompute",
                                       "sequence",
                                       "buckets",
                                       "schedule",
                                       "virtualStages",
                                       "layouts"};

/// What the user asked for, besides what all programs have.
struct Options : ProgramOptions
{
    ModelOptions model;
    double memory{0};       //!< GB of a GPU; 0: data sheet
    int64_t globalBatch{0}; //!< samples per iteration
    std::string objective{"time"};
    double budget{0};       //!< seconds; 0: none
    int64_t flows{20};      //!< strategies that are run by flows
    int64_t packets{2};     //!< strategies that are run by packets
    int64_t threads{1};     //!< for flows
    int64_t mostTensor{0};  //!< 0: GPUs of a server
    int64_t mostContext{0}; //!< 0: by the length of sequences
    int64_t mostMicroBatch{16};
    std::string dataType{"bf16"};
    std::string optimizer{"adam"};
    std::string vary{"all"};
    CommandLineText csv;
    CommandLineText output;
    PlotOption plot;
    CommandLineText log;
};

/// @return what --vary names
std::set<std::string>
ParseChoices(const std::string& text)
{
    if (text == "all")
    {
        return {CHOICES.begin(), CHOICES.end()};
    }
    std::set<std::string> choices;
    for (const std::string& choice : SplitList(text == "none" ? "" : text))
    {
        if (std::find(CHOICES.begin(), CHOICES.end(), choice) == CHOICES.end())
        {
            std::string known;
            for (const std::string& one : CHOICES)
            {
                known += one + ", ";
            }
            throw std::invalid_argument("--vary=" + text + ": must be all, none, or of " + known +
                                        "separated by commas");
        }
        choices.insert(choice);
    }
    return choices;
}

/// A search from the command line to the report.
class Search
{
  public:
    explicit Search(const Options& options)
        : m_options(options),
          m_cluster(options.BuildCluster()),
          m_gpu(FindGpuDatasheet(m_cluster.GetVertices()[m_cluster.GetGpus().at(0)].model)),
          m_memoryBytes(options.memory > 0 ? options.memory * GBYTE
                                           : static_cast<double>(m_gpu.memoryBytes)),
          m_framework(LoadFramework(options, m_gpu.model)),
          m_kernels(m_gpu, m_framework.kernels),
          m_paths(m_cluster),
          m_evaluation(options,
                       m_cluster,
                       static_cast<uint64_t>(m_memoryBytes),
                       options.log,
                       DescribeSubject()),
          m_communication(m_cluster,
                          m_paths,
                          MakeFlowParameters(m_evaluation.GetSettings(), false),
                          m_evaluation.GetSettings().collectives),
          m_start(std::chrono::steady_clock::now())
    {
    }

    void Run()
    {
        m_objective = SearchObjectiveFromString(m_options.objective);
        SetSpace();
        PlanEstimator estimator([this](const ParallelPlan& plan) { return Make(plan).model; },
                                MakeTimer(),
                                m_communication);
        Rank(estimator);
        Climb();
        m_outcome.order = RankEntries(m_outcome.entries);
        PrintSearch(m_outcome, 20, std::cout);
        if (StopSignals::IsObeyed())
        {
            std::cout << "Note: PARTIAL, ended by " << StopSignals::GetName()
                      << ": what had no result by then is not ranked\n";
        }
        WriteCsvFile(m_options.csv, [this](std::ostream& out) { WriteSearchCsv(m_outcome, out); });
        m_options.plot.Write([this](std::ostream& out) {
            WriteBarSvg(MakeSearchChart(m_outcome,
                                        12,
                                        m_options.model.model + " on " + m_cluster.GetName()),
                        out);
        });
        if (!m_options.output.empty())
        {
            WriteSearchStrategies(m_outcome, m_options.output);
        }
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
             << m_options.launchInterval << ", stream " << m_options.stream;
        return text.str();
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

    /// The framework of all plans. Formulas ask for kernels in an order of their own, so that they
    /// cannot know how far the host is ahead: an operator takes the longer of both times.
    static Framework LoadFramework(const Options& options, const std::string& gpu)
    {
        ModelOptions model = options.model;
        model.strategy = "dp=1";
        Framework framework =
            options.framework.Load(gpu, model.Load().model, nullptr, options.launchInterval);
        framework.host.isAhead = false;
        return framework;
    }

    TrainingPlan Make(const ParallelPlan& plan) const
    {
        ModelOptions options = m_options.model;
        options.strategy = FormatPlan(plan);
        return options.Load();
    }

    /// Times kernels as the graphs that are run have them.
    KernelTimer MakeTimer() const
    {
        const PrecisionSpec& precision = m_space.base.precision;
        const bool isWide =
            precision.gradient == DataType::FP32 || precision.gradient == DataType::TF32;
        RooflineModel roofline;
        roofline.launchIntervalPs = m_options.launchInterval.value.GetPicoSeconds();
        return
            [this,
             roofline,
             known = MakeFrameworkTimer(m_kernels, m_framework, precision.compute, isWide ? 4 : 2)](
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
        const int32_t server = m_cluster.GetVertices()[gpus[0]].server;
        return static_cast<uint32_t>(std::count_if(gpus.begin(), gpus.end(), [&](VertexId gpu) {
            return m_cluster.GetVertices()[gpu].server == server;
        }));
    }

    void SetSpace()
    {
        const std::set<std::string> choices = ParseChoices(m_options.vary);
        auto varies = [&](const char* choice) { return choices.count(choice) > 0; };
        const auto nGpus = static_cast<uint32_t>(m_cluster.GetGpus().size());
        m_space.globalBatch = ToCount(m_options.globalBatch, "globalBatch", 1);
        m_space.memoryBytes = m_memoryBytes;
        m_space.devices = {nGpus};
        while (m_objective != SearchObjective::TIME && m_space.devices.front() % 2 == 0)
        {
            m_space.devices.insert(m_space.devices.begin(), m_space.devices.front() / 2);
        }
        m_space.base.gradients.isInPlace = true;
        m_space.base.gradients.policy = BucketPolicy::WHOLE;
        m_space.base.precision.compute = DataTypeFromString(m_options.dataType);
        m_space.base.optimizer.kind = OptimizerKindFromString(m_options.optimizer);
        m_facts = DescribeForPlans(Make(m_space.base).model);
        const uint32_t perServer = CountServerGpus();
        m_space.mostTensorParallel = m_options.mostTensor > 0
                                         ? ToCount(m_options.mostTensor, "mostTensor", 1)
                                     : perServer > 1 ? perServer
                                                     : std::min<uint32_t>(16, nGpus);
        const uint64_t contexts = std::min<uint64_t>(8, m_facts.sequence / 2048);
        m_space.mostContextParallel =
            m_options.mostContext > 0 ? ToCount(m_options.mostContext, "mostContext", 1)
            : varies("context")       ? static_cast<uint32_t>(std::max<uint64_t>(1, contexts))
                                      : 1;
        m_space.mostMicroBatch =
            varies("microBatch") ? ToCount(m_options.mostMicroBatch, "mostMicroBatch", 1) : 1;
        m_space.mostVirtualStages = varies("virtualStages") ? m_space.mostVirtualStages : 1;
        m_space.zero = varies("zero") ? m_space.zero : std::vector<uint32_t>{0};
        m_space.variesRecomputation = varies("recompute");
        m_space.variesSequence = varies("sequence");
        m_space.variesBuckets = varies("buckets");
        m_space.variesSchedule = varies("schedule");
        m_facts.experts = varies("experts") ? m_facts.experts : 0;
        m_outcome.samples = m_space.globalBatch;
    }

    void Add(const std::string& name, const ParallelPlan& plan, const PlanEstimate& estimate)
    {
        SearchCandidate candidate;
        candidate.name = name;
        candidate.strategy = FormatPlan(plan);
        candidate.make = [this, plan]() { return Make(plan); };
        candidate.write = [plan, title = name.empty() ? "found by proteus-search" : name](
                              std::ostream& out) { WritePlanJson(plan, title, out); };
        candidate.devices = plan.GetNDevices();
        candidate.analyticS = estimate.seconds;
        LadderEntry entry;
        entry.isPinned = !name.empty();
        entry.values = {GetObjectiveValue(m_objective,
                                          estimate.seconds,
                                          candidate.devices,
                                          m_space.globalBatch)};
        m_outcome.candidates.push_back(std::move(candidate));
        m_outcome.entries.push_back(std::move(entry));
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
        AddLayouts();
        if (m_outcome.candidates.empty())
        {
            throw std::invalid_argument(
                "no plan fits: of " + std::to_string(m_outcome.visited) +
                " that were looked at none has memory enough; add servers (--nodes), or take a "
                "global batch that more replicas can share");
        }
    }

    /// Layouts operator by operator, with as few micro-batches as memory allows.
    void AddLayouts()
    {
        constexpr uint32_t MOST_DEVICES = 64;
        const uint32_t devices = m_space.devices.back();
        if (ParseChoices(m_options.vary).count("layouts") == 0 || devices > MOST_DEVICES)
        {
            return;
        }
        LayoutSpaceOptions options;
        options.communication = &m_communication;
        options.kernelTime = MakeTimer();
        options.precision = m_space.base.precision;
        options.memoryBytes = m_memoryBytes;
        const OptimizerKind optimizer = m_space.base.optimizer.kind;
        const bool hasTwo = optimizer == OptimizerKind::ADAM || optimizer == OptimizerKind::LAMB;
        options.stateBytesPerParameter = hasTwo ? 12 : optimizer == OptimizerKind::MOMENTUM ? 8 : 4;
        std::vector<LayoutFinding> found;
        ParallelPlan plan = m_space.base;
        for (uint64_t parts = 1; found.empty() && m_space.globalBatch % parts == 0; parts *= 2)
        {
            plan.microBatch = static_cast<uint32_t>(m_space.globalBatch / parts);
            StrategyTree base;
            base.batch = plan.microBatch;
            base.schedule.microBatches = static_cast<uint32_t>(parts);
            base.gradients = plan.gradients;
            base.gradients.policy = BucketPolicy::DDP;
            base.optimizer = plan.optimizer;
            base.precision = plan.precision;
            const Model model = Make(plan).model;
            try
            {
                found = SearchLayouts(model, devices, 2, options, base);
            }
            catch (const std::invalid_argument& error)
            {
                ++m_outcome.pruned[std::string("layouts: ") + error.what()];
            }
        }
        for (const LayoutFinding& finding : found)
        {
            Add(finding, plan);
        }
    }

    void Add(const LayoutFinding& finding, const ParallelPlan& plan)
    {
        SearchCandidate candidate;
        candidate.name = finding.isBaseline ? finding.name : "";
        candidate.strategy = finding.name + ", micro-batches of " + std::to_string(plan.microBatch);
        candidate.make = [this, plan, tree = finding.tree]() {
            TrainingPlan made = Make(plan);
            made.tree = tree;
            return made;
        };
        candidate.write = [tree = finding.tree](std::ostream& out) {
            WriteStrategyJson(tree, out);
        };
        candidate.devices = m_space.devices.back();
        candidate.analyticS = finding.seconds;
        LadderEntry entry;
        entry.isPinned = finding.isBaseline;
        entry.values = {GetObjectiveValue(m_objective,
                                          finding.seconds,
                                          candidate.devices,
                                          m_space.globalBatch)};
        m_outcome.candidates.push_back(std::move(candidate));
        m_outcome.entries.push_back(std::move(entry));
    }

    /// The best ones by flows, the best of these by packets.
    void Climb()
    {
        ProgressLine progress("running strategies");
        std::atomic<uint64_t> runs{0};
        auto value = [this](const SearchCandidate& candidate, std::optional<double> seconds) {
            return seconds ? std::optional<double>(GetObjectiveValue(m_objective,
                                                                     *seconds,
                                                                     candidate.devices,
                                                                     m_space.globalBatch))
                           : std::nullopt;
        };
        auto say = [&](const char* how) {
            ++runs;
            if (!m_options.quiet && m_options.threads == 1)
            {
                progress.Say(std::to_string(runs) + " by " + how);
            }
        };
        LadderRung flow;
        flow.name = "flow";
        flow.most = ToCount(m_options.flows, "flows", 1);
        flow.mostPinned = m_outcome.candidates.size();
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
            ClimbLadder(m_outcome.entries, {flow, packet}, [this]() { return IsOver(1); });
        }
        catch (const RunStopped&) // what was under way has no result
        {
            for (LadderEntry& entry : m_outcome.entries)
            {
                entry.values.resize(3);
            }
        }
        m_outcome.rungs = {"analytic", "flow", "packet"};
        for (const SearchCandidate& candidate : m_outcome.candidates)
        {
            if (!candidate.flow.failure.empty())
            {
                const std::string& failure = candidate.flow.failure;
                ++m_outcome.pruned["compiled: " + failure.substr(0, failure.find(':'))];
            }
        }
    }

    const Options& m_options;
    Cluster m_cluster;
    GpuDatasheet m_gpu;
    double m_memoryBytes;
    Framework m_framework;
    KernelCostModel m_kernels;
    Paths m_paths;
    SearchEvaluation m_evaluation;
    FlowCommunicationCost m_communication;
    std::chrono::steady_clock::time_point m_start;
    SearchObjective m_objective{SearchObjective::TIME};
    PlanModelFacts m_facts;
    PlanSpaceOptions m_space;
    SearchOutcome m_outcome;
};

/// @param command to add the options to @param options that it sets
void
AddOptions(OptionList& command, Options& options)
{
    command.AddValue("model",
                     "model: a name in workloads/models/, e.g. gpt3-6.7b, or a JSON file",
                     options.model.model);
    command.AddValue("variables",
                     "variables of the model's file to set, e.g. layers=4,fusedAttention=1",
                     options.model.variables);
    options.AddClusterTo(command);
    command.StartGroup("Search");
    options.AddLaunchTo(command);
    command.AddValue("memory", "GB of a GPU that may be used (0: all of it)", options.memory);
    command.AddValue("globalBatch", "samples per iteration", options.globalBatch);
    command.AddValue("dataType", "number format of matrix products", options.dataType);
    command.AddValue("optimizer", "sgd, momentum or adam", options.optimizer);
    command.AddValue("objective",
                     "time (shortest iteration on all GPUs), throughput-per-GPU or cost (GPU "
                     "seconds per sample, with fewer GPUs, too)",
                     options.objective);
    command.AddValue("budget",
                     "seconds after which nothing new is begun (0: none): half of them for "
                     "formulas, the rest for runs",
                     options.budget);
    command.AddValue("flows",
                     "strategies that are run by flows, the best by formula",
                     options.flows);
    command.AddValue("packets",
                     "strategies that are run by packets, the best by flows (and the best of "
                     "experts')",
                     options.packets);
    command.AddValue("threads", "that run strategies by flows", options.threads);
    command.AddValue("mostTensor",
                     "most GPUs that share a layer (0: those of a server)",
                     options.mostTensor);
    command.AddValue("mostContext",
                     "most GPUs that share a sequence (0: one per 2048 tokens, up to 8)",
                     options.mostContext);
    command.AddValue("mostMicroBatch", "most samples of a micro-batch", options.mostMicroBatch);
    command.AddValue("vary",
                     "what is searched besides tensor, pipeline and data parallelism: all, none, "
                     "or of context, experts, microBatch, zero, recompute, sequence, buckets, "
                     "schedule, virtualStages, layouts (of every operator, on up to 64 GPUs), "
                     "separated by commas",
                     options.vary);
    command.AddOutput("csv", "write a line per strategy that was run to this file", options.csv);
    command.AddOutput("saveStrategies",
                      "write the strategies to this folder, 1.json the best, for --strategy",
                      options.output);
    command.AddHint("output", "it is --saveStrategies");
    options.plot.AddTo(command);
    command.AddValue("log",
                     "file that keeps the results of runs; a search that was stopped goes on "
                     "from it",
                     options.log);
    command.AddValue("quiet", "no progress line", options.quiet);
}

/// The program.
class SearchProgram : public CommandLineProgram
{
  public:
    using CommandLineProgram::CommandLineProgram;

  private:
    std::string GetName() const override
    {
        return "proteus-search";
    }

    void AddTo(OptionList& command) override
    {
        m_options.model.folder = GetWorkloads() + "/models";
        command.Usage("Finds strategies for training a model on a cluster: ranks all plans by\n"
                      "formula, runs the best by flows, and the best of these by packets.");
        AddOptions(command, m_options);
    }

    void Run() override
    {
        if (m_options.model.model.empty())
        {
            throw std::invalid_argument("--model=NAME is needed, e.g. --model=gpt3-6.7b");
        }
        if (m_options.launchInterval.value.IsStrictlyNegative())
        {
            throw std::invalid_argument("--launchInterval: must not be negative");
        }
        m_options.plot.Check();
        Search(m_options).Run();
    }

    Options m_options;
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeSearchProgram(const std::string& workloads)
{
    return std::make_unique<SearchProgram>(workloads);
}

} // namespace proteus
} // namespace ns3
