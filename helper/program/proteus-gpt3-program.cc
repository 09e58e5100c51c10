/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-command-line-program.h"
#include "proteus-host-waits.h"
#include "proteus-idle-keys.h"
#include "proteus-model-options.h"
#include "proteus-name-lists.h"
#include "proteus-program-options.h"
#include "proteus-programs.h"
#include "proteus-scenario-run.h"
#include "proteus-stop-signals.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-json.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-output-plan.h"
#include "ns3/proteus-parallel-plan.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * One training iteration of a GPT-3 model, simulated packet by packet.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// Of pipelines; proteus-run has more.
constexpr ScheduleKind SCHEDULES[] = {ScheduleKind::ONE_FORWARD_ONE_BACKWARD, ScheduleKind::GPIPE};

/// Of mixed precision.
constexpr DataType DATA_TYPES[] = {DataType::BF16, DataType::FP16, DataType::FP8};

/// @param values some of an enumeration @return what files and results call them
template <class T, std::size_t N>
std::vector<std::string>
ListNamesOf(const T (&values)[N])
{
    std::vector<std::string> names;
    for (const T value : values)
    {
        names.emplace_back(ToString(value));
    }
    return names;
}

/// What the user asked for, besides what all programs have.
struct Options : ProgramOptions
{
    std::string models; //!< folder
    std::string model{"6.7B"};
    int64_t tp{0};
    int64_t pp{1};
    int64_t dp{0};
    int64_t globalBatch{8};
    int64_t microBatch{1};
    std::string recompute{"none"};
    std::string schedule{ToString(SCHEDULES[0])};
    std::string dataType{ToString(DATA_TYPES[0])};
    bool overlapGradientReduction{false};
    CommandLineText graph;
};

/// The GPT-3 family after Brown et al. 2020, Table 2.1; workloads/models/ has them.
constexpr const char* MODELS[] = {"125M", "350M", "760M", "1.3B", "2.7B", "6.7B", "13B", "175B"};

/// @return name of the model in the family; "gpt3-125m" is also a name of it
std::string
FindFamilyName(const std::string& name)
{
    const std::string prefix = "gpt3-";
    const bool isLong = IsSameName(name.substr(0, prefix.size()), prefix);
    return MatchName("model",
                     isLong ? name.substr(prefix.size()) : name,
                     {std::begin(MODELS), std::end(MODELS)});
}

/// @param name in the family @param folder with models @return its file
std::string
GetModelFile(const std::string& name, const std::string& folder)
{
    std::string file = name;
    std::transform(file.begin(), file.end(), file.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    return folder + "/gpt3-" + file + ".json";
}

/// @return the largest tensor-parallel size, 8 at most, that shares heads and GPUs evenly
uint32_t
FindTensorParallel(int64_t heads, std::size_t gpus)
{
    uint32_t size = 8;
    while (heads % size != 0 || gpus % size != 0)
    {
        --size;
    }
    return size;
}

/// @param options with --tp, which is decided here if it is 0 @param cluster with the GPUs
/// @throw std::invalid_argument for a size that the attention heads cannot be shared by
void
FitTensorParallel(Options& options, const Cluster& cluster)
{
    InputFile file(GetModelFile(options.model, options.models));
    const auto heads = nlohmann::json::parse(file.GetStream()).at("let").at("heads").get<int64_t>();
    const uint32_t best = FindTensorParallel(heads, cluster.GetGpus().size());
    if (options.tp == 0)
    {
        options.tp = best;
    }
    if (options.tp > 0 && heads % options.tp != 0)
    {
        throw std::invalid_argument("--tp=" + std::to_string(options.tp) + ": GPT-3 " +
                                    options.model + " has " + std::to_string(heads) +
                                    " attention heads, which so many GPUs cannot share evenly: try "
                                    "--tp=" +
                                    std::to_string(best));
    }
}

/// @param defaults of what no option says
/// @return the plan that the options name, for a cluster: as Megatron-LM trains, gradients added up
/// in buffers of their own
ParallelPlan
BuildPlan(const Options& options, const Cluster& cluster, const FrameworkDefaults& defaults)
{
    ParallelPlan plan = MakeDefaultPlan(defaults);
    plan.tensorParallel = ToCount(options.tp, "tp", 1);
    plan.pipelineParallel = ToCount(options.pp, "pp", 1);
    plan.dataParallel = ToCount(options.dp, "dp", 0);
    if (plan.dataParallel == 0)
    {
        const uint64_t modelParallel = uint64_t{plan.tensorParallel} * plan.pipelineParallel;
        plan.dataParallel =
            static_cast<uint32_t>(std::max<uint64_t>(cluster.GetGpus().size() / modelParallel, 1));
    }
    if (plan.GetNDevices() > cluster.GetGpus().size())
    {
        throw std::invalid_argument(
            "--tp * --pp * --dp = " + std::to_string(plan.tensorParallel) + " * " +
            std::to_string(plan.pipelineParallel) + " * " + std::to_string(plan.dataParallel) +
            " = " + std::to_string(plan.GetNDevices()) + " GPUs, and the cluster has " +
            std::to_string(cluster.GetGpus().size()) + ": lower one of them, or raise --nodes");
    }
    plan.globalBatch = ToCount(options.globalBatch, "globalBatch", 1);
    plan.microBatch = ToCount(options.microBatch, "microBatch", 1);
    plan.recompute = RecomputePlanFromString(options.recompute);
    plan.schedule.kind = ScheduleKindFromString(options.schedule);
    plan.gradients.policy =
        options.overlapGradientReduction ? BucketPolicy::MEGATRON : BucketPolicy::WHOLE;
    plan.gradients.isInPlace = true;
    plan.precision.compute = DataTypeFromString(options.dataType);
    return plan;
}

/// @return what is trained, and by which framework
FrameworkPlan
LoadJob(const Options& options, const Cluster& cluster)
{
    return options.framework.LoadPlan(cluster,
                                      options.launchInterval,
                                      [&](const FrameworkDefaults& defaults) {
                                          return LoadTrainingPlan(
                                              GetModelFile(options.model, options.models),
                                              BuildPlan(options, cluster, defaults),
                                              defaults.variables);
                                      });
}

/// @param options as they were typed @param reset gives one of them its default
/// @return why that one does nothing, or empty
std::string
FindIdle(Options options, const std::function<void(Options&)>& reset)
{
    try
    {
        const Cluster cluster = options.BuildCluster();
        options.model = FindFamilyName(options.model);
        FitTensorParallel(options, cluster);
        Options other = options;
        reset(other);
        const FrameworkPlan job = LoadJob(options, cluster);
        return CompileAlike(GetModelFile(options.model, options.models),
                            BuildPlan(options, cluster, job.framework.defaults),
                            BuildPlan(other, cluster, job.framework.defaults))
                   ? "the job is the same without it"
                   : "";
    }
    catch (const std::exception&) // which the run reports
    {
        return "";
    }
}

/// Prints what is about to be simulated.
void
PrintJob(const Options& options,
         const Cluster& cluster,
         const ParallelPlan& plan,
         const Framework& framework)
{
    const uint32_t microBatches = plan.GetNMicroBatches();
    std::cout << "GPT-3 " << options.model << " on " << cluster.GetName() << ": TP "
              << plan.tensorParallel << ", PP " << plan.pipelineParallel << ", DP "
              << plan.dataParallel << ", " << plan.globalBatch << " sequences in " << microBatches
              << (microBatches == 1 ? " micro-batch" : " micro-batches") << " of "
              << plan.microBatch << " per replica, recomputation " << ToString(plan.recompute)
              << ", framework " << framework.name << '\n';
}

void
Train(Options& options)
{
    options.Check();
    if (!options.graph.empty())
    {
        CheckWritable(options.graph);
    }
    const EndAtOnce untilItRuns;
    const Cluster cluster = options.BuildCluster();
    CheckScenario(options, cluster);
    options.model = FindFamilyName(options.model);
    FitTensorParallel(options, cluster);
    const auto [trainingPlan, framework] = LoadJob(options, cluster);
    const ParallelPlan plan = BuildPlan(options, cluster, framework.defaults);
    for (const std::string& file : trainingPlan.files)
    {
        AddRunInput(file, options.information);
    }
    std::vector<CarriedDependency> carried;
    const ExecutionGraph graph =
        options.FitComputation(CompileForCluster(trainingPlan, cluster, framework, "", &carried),
                               options.information.notes);
    options.NotePublishedErrors(framework, cluster, options.information.notes);
    NoteHostWaits(graph, framework.name, options.information.notes);
    PrintJob(options, cluster, plan, framework);
    if (!options.graph.empty())
    {
        EndAtOnce::Cancel(); // a file is whole or not there
        SaveGraph(graph, options.graph);
    }
    RunAndReport(options, cluster, graph, plan.precision.compute, &carried);
}

/// The program.
class Gpt3Program : public CommandLineProgram
{
  public:
    using CommandLineProgram::CommandLineProgram;

  private:
    std::string GetName() const override
    {
        return "proteus-gpt3";
    }

    bool RunsOnRanks() const override
    {
        return true;
    }

    void AddTo(OptionList& command) override
    {
        m_options.models = GetWorkloads() + "/models";
        command.Usage(
            "Simulates one training iteration of a GPT-3 model, packet by packet, and says\n"
            "how long it takes, where it waits, and which links are busy.");
        command.StartGroup("Job");
        command.AddValue("model",
                         "GPT-3 model: 125M, 350M, 760M, 1.3B, 2.7B, 6.7B, 13B or 175B",
                         m_options.model);
        command.AddMeaning("model", [this](const std::string& name) {
            return FindRealPath(GetModelFile(FindFamilyName(name), m_options.models));
        });
        command.AddValue("tp",
                         "tensor-parallel size (0: the largest up to 8 that shares the attention "
                         "heads evenly)",
                         m_options.tp);
        command.AddValue("pp", "pipeline stages", m_options.pp);
        command.AddValue("dp",
                         "data-parallel replicas (0: as many as the GPUs allow)",
                         m_options.dp);
        command.AddValue("globalBatch", "sequences per iteration", m_options.globalBatch);
        command.AddValue("microBatch",
                         "sequences per micro-batch and replica",
                         m_options.microBatch);
        command.AddValue("recompute",
                         "what the backward pass computes again: none, selective, "
                         "between-products or full",
                         m_options.recompute);
        command.AddNames("recompute", GetRecomputePlanNames());
        command.AddValue("schedule",
                         "pipeline schedule: " + ListAlternatives(ListNamesOf(SCHEDULES)),
                         m_options.schedule);
        command.AddNames("schedule", ListNamesOf(SCHEDULES));
        command.AddValue("dataType",
                         "number format of the GEMMs: " + ListAlternatives(ListNamesOf(DATA_TYPES)),
                         m_options.dataType);
        command.AddNames("dataType", ListNamesOf(DATA_TYPES));
        command.AddValue("overlapGradientReduction",
                         "reduce gradients in buckets while the backward pass runs",
                         m_options.overlapGradientReduction);
        for (const char* name : {"tp", "pp", "dp", "globalBatch", "microBatch"})
        {
            command.AddRange(name, name == std::string("tp") || name == std::string("dp") ? 0 : 1);
            command.AddField(name, name);
        }
        command.AddOutput("saveGraph",
                          "save the execution graph to this .json or .pb file",
                          m_options.graph);
        command.AddHint("graph", "--saveGraph=FILE saves one (--graph reads one, in proteus-run)");
        command.AddIdle("schedule", [this]() {
            const std::string usual = Options().schedule;
            return m_options.schedule == usual
                       ? ""
                       : FindIdle(m_options, [&](Options& other) { other.schedule = usual; });
        });
        command.AddIdle("overlapGradientReduction", [this]() {
            return !m_options.overlapGradientReduction ? ""
                                                       : FindIdle(m_options, [](Options& other) {
                                                             other.overlapGradientReduction = false;
                                                         });
        });
        command.AddChoices("model", {std::begin(MODELS), std::end(MODELS)});
        m_options.AddTo(command);
    }

    bool PrintsNotes() const override
    {
        return true;
    }

    ProgramOptions* GetRunOptions() override
    {
        return &m_options;
    }

    void Run() override
    {
        Train(m_options);
    }

    Options m_options;
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeGpt3Program(const std::string& workloads)
{
    return std::make_unique<Gpt3Program>(workloads);
}

} // namespace proteus
} // namespace ns3
