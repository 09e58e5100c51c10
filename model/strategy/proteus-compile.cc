/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-compile.h"

#include "proteus-framework-kernels.h"
#include "proteus-kernel-times.h"
#include "proteus-strategy-error.h"

#include "ns3/proteus-achieved-rates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return the model of a GPU
const std::string&
GetGpuModel(const Cluster& cluster, std::size_t rank)
{
    return cluster.GetVertices()[cluster.GetGpus()[rank]].model;
}

/// @return bytes of an element of the gradients that are reduced
uint32_t
GetGradientBytes(const StrategyTree& tree)
{
    return static_cast<uint32_t>(GetStoredBytes(tree.precision.gradient));
}

/// @return options that time kernels
CompileOptions
MakeOptions(const StrategyTree& tree,
            const KernelCostModel& cost,
            const Framework& framework,
            StageHosts* stages = nullptr)
{
    const DataType compute = tree.precision.compute;
    const uint32_t gradientBytes = GetGradientBytes(tree);
    CompileOptions options;
    options.kernelTime = MakeFrameworkTimer(cost, framework, compute, gradientBytes, stages);
    options.kernelUse = MakeFrameworkUse(cost, framework, compute, gradientBytes);
    options.gathersFloat8 = framework.float8.gathersWeights;
    options.gathersBehindDispatch = framework.host.gathersBehindDispatch;
    options.waitsForTransfers = framework.host.waitsForTransfers;
    options.exchangesTransfers = framework.host.exchangesTransfers;
    return options;
}

/// @return the parts of the time of all kernels, waits for the host included, in which GPUs
/// multiply and work while their clocks do not fall
GpuDuty
FindDuty(const Model& model,
         const StrategyTree& tree,
         const KernelCostModel& cost,
         const Framework& framework)
{
    const CompileOptions timed = MakeOptions(tree, cost, framework);
    double products = 0;
    double kernels = 0;
    double all = 0;
    CompileOptions counting;
    counting.kernelTime = [&](const KernelDescription& kernel) {
        const int64_t ps = timed.kernelTime(kernel);
        // Updates run once, and every device asks for its own; all else, for which one device asks,
        // runs in every micro-batch.
        const double times = kernel.tensors > 0 ? 1.0 / static_cast<double>(kernel.devices)
                                                : tree.schedule.microBatches;
        const KernelUse use = timed.kernelUse(kernel);
        products += times * static_cast<double>(use.productPs);
        kernels += times * static_cast<double>(use.gpuPs);
        all += times * static_cast<double>(std::max<int64_t>(0, ps));
        return ps;
    };
    CompileModel(model, tree, counting);
    return all > 0 ? GpuDuty{products / all, std::min(1.0, kernels / all)} : GpuDuty{};
}

/// @return whether an operator is attention that writes no scores
bool
IsFused(const ModelOperator& op)
{
    return op.kind == "attention" && op.forward.bytes.empty(); // of the scores
}

/// @return whether experts' tokens go once to a server
bool
IsFlex(const StrategyTree& tree)
{
    bool hasExperts = false;
    for (std::size_t axis = 0; axis < tree.axisNames.size(); ++axis)
    {
        hasExperts = hasExperts || (IsExpertAxis(tree.axisNames[axis]) && tree.axisSizes[axis] > 1);
    }
    return hasExperts && tree.schedule.expertDispatch != ExpertDispatch::ALL_TO_ALL;
}

/// @return the operators that keep more for the backward pass than their kinds do, and in what,
/// once for each element of a point
std::vector<std::pair<OperatorId, ElementFormat>>
FindKeeping(const Model& model, const StrategyTree& tree, const Framework& framework)
{
    std::vector<std::pair<OperatorId, ElementFormat>> all;
    for (OperatorId id = 0; id < model.GetOperators().size(); ++id)
    {
        const ModelOperator& op = model.GetOperator(id);
        const KernelRule* rule =
            FindKernelRule(framework,
                           op.kind,
                           true,
                           {IsFlex(tree), IsFused(op), op.hasMask, op.hasDropout});
        const bool isWide = GetStoredBytes(tree.precision.compute) == 4;
        for (const ElementFormat kept : rule ? rule->kept : std::vector<ElementFormat>())
        {
            const bool isOfCast =
                kept == ElementFormat::WIDER || kept == ElementFormat::FP32_OF_CAST;
            if (!isWide || !isOfCast)
            {
                all.emplace_back(id, kept);
            }
        }
    }
    return all;
}

/// @param keeping operators of a model that keep more, and in what @return the model in which they
/// do
Model
KeepMore(const Model& model, const std::vector<std::pair<OperatorId, ElementFormat>>& keeping)
{
    ModelBuilder builder(model);
    OperatorId last = NO_ID;
    uint32_t number = 0; // of those of the same operator
    for (const auto& [id, format] : keeping)
    {
        number = id == last ? number + 1 : 1;
        last = id;
        builder.Keep(id,
                     number == 1 ? "kept" : "kept" + std::to_string(number),
                     format == ElementFormat::FP32 || format == ElementFormat::FP32_OF_CAST
                         ? ElementKind::FP32
                         : ElementKind::COMPUTE);
    }
    return builder.Build();
}

/// @return devices of a strategy's mesh
uint64_t
CountDevices(const StrategyTree& tree)
{
    uint64_t devices = 1;
    for (const uint32_t size : tree.axisSizes)
    {
        devices *= size;
    }
    return devices;
}

/// @throw StrategyError if a strategy has more devices than a cluster has GPUs
void
CheckSize(uint64_t nDevices, const Cluster& cluster)
{
    const std::size_t nGpus = cluster.GetGpus().size();
    if (nDevices > nGpus)
    {
        throw StrategyError("the strategy needs " + std::to_string(nDevices) +
                            " GPUs, and cluster '" + cluster.GetName() + "' has " +
                            std::to_string(nGpus) +
                            ": add servers (--nodes), or use a smaller strategy");
    }
}

/// @throw std::invalid_argument if what tokens take for a server is several ones of a cluster
void
CheckDomains(const StrategyTree& tree, uint64_t nDevices, const Cluster& cluster)
{
    const uint32_t domain = tree.schedule.expertDomain;
    if (tree.schedule.expertDispatch == ExpertDispatch::ALL_TO_ALL)
    {
        return;
    }
    const std::vector<VertexId>& gpus = cluster.GetGpus();
    for (uint64_t device = 0; device < nDevices; ++device)
    {
        const uint64_t first = device / domain * domain;
        if (cluster.GetDomain(gpus[device]) != cluster.GetDomain(gpus[first]))
        {
            throw std::invalid_argument(
                "expertDomain = " + std::to_string(domain) + ": GPUs " + std::to_string(first) +
                " and " + std::to_string(device) + " of cluster '" + cluster.GetName() +
                "' are not joined by NVLink; take a divisor of the GPUs of a server");
        }
    }
}

} // namespace

HostCost
GetHostCost(const Framework& framework, uint32_t zero)
{
    HostCost host = framework.host;
    if (host.blocksOfZero3 && zero < 3)
    {
        host.blockPs = 0;
        host.backwardBlockPs = -1;
    }
    return host;
}

namespace
{

/// @return a framework with what follows from a job: the host of its stage of ZeRO, how many GPUs
/// there are, what is done to weights besides products, and how long clocks fall
Framework
AdaptFramework(const Model& model,
               const StrategyTree& tree,
               const GpuDatasheet& gpu,
               const Framework& framework,
               const ProfileTable* profile)
{
    Framework used = framework;
    used.host = GetHostCost(framework, tree.optimizer.zero);
    KernelCostParameters& parameters = used.kernels;
    parameters.gpus = CountDevices(tree);
    if (parameters.gpus > 1)
    {
        // Gradients that are kept whole are added up first, and reduced once.
        const double times = tree.optimizer.zero >= 2 ? 1 : tree.schedule.microBatches;
        used.reducedBytes =
            used.GetReductionBytes(GetElementBytes(tree.precision.compute) == 4 ? 4 : 2,
                                   GetGradientBytes(tree)) /
            times;
        used.reducedKernels /= times;
        used.weightForwardBytes += tree.optimizer.zero >= 3 ? used.weightGatheredBytes : 0;
    }
    else
    {
        used.reducedKernels = 0;
        used.statisticsKernels = 0;
    }
    if (IsPowerLimited(gpu.model, tree.precision.compute))
    {
        const KernelCostModel cost(gpu, parameters, profile);
        parameters.duty = FindDuty(model, tree, cost, used);
    }
    return used;
}

/// @return the graph of a model that keeps for the backward pass what a framework does
ExecutionGraph
CompileKeeping(const Model& model,
               const StrategyTree& tree,
               const Framework& framework,
               const CompileOptions& options)
{
    const auto keeping = FindKeeping(model, tree, framework);
    return keeping.empty() ? CompileModel(model, tree, options)
                           : CompileModel(KeepMore(model, keeping), tree, options);
}

/**
 * Where stages are interleaved nothing lets a host wait between passes: transfers are overlapped
 * (Megatron-Core's overlap_p2p_comm), and only batched ones of other pipelines end with
 * torch.cuda.synchronize() (batch_p2p_sync, megatron/core/pipeline_parallel/p2p_communication.py).
 * @return what hosts keep from pass to pass, null for nothing
 */
std::unique_ptr<StageHosts>
FindStageHosts(const Model& model,
               const StrategyTree& tree,
               const KernelCostModel& cost,
               const Framework& framework)
{
    if (tree.schedule.kind != ScheduleKind::INTERLEAVED || !framework.host.isAhead)
    {
        return nullptr;
    }
    auto hosts = std::make_unique<StageHosts>();
    CompileKeeping(model, tree, framework, MakeOptions(tree, cost, framework, hosts.get()));
    hosts->Finish();
    return hosts;
}

/// Times of kernels that a profile cannot tell apart.
struct SharedTime
{
    double sumPs{0};
    double times{0}; //!< that they run in an iteration
    int64_t leastPs{std::numeric_limits<int64_t>::max()};
    int64_t mostPs{0};
};

} // namespace

ListedKernels
ListKernelTimes(const Model& model,
                const StrategyTree& tree,
                const GpuDatasheet& gpu,
                const Framework& framework)
{
    const Framework used = AdaptFramework(model, tree, gpu, framework, nullptr);
    const KernelCostModel cost(gpu, used.kernels);
    const DataType compute = tree.precision.compute;
    std::map<std::tuple<KernelClass, KernelPass, DataType, std::vector<uint64_t>>, SharedTime>
        found;
    CompileOptions options = MakeOptions(tree, cost, used);
    const auto timer = options.kernelTime;
    options.kernelTime = [&](const KernelDescription& kernel) {
        auto work = DescribeKernel(kernel, compute, GetGradientBytes(tree));
        // Kernels of a ring are not timed as one (KernelWork::parts), and a profile has no windows.
        if (work && work->GetNKernels() > 0 && work->parts == 1 && work->window == 0)
        {
            SharedTime& shared = found[{work->kernelClass, work->pass, work->type, work->shape}];
            ApplyFramework(used, kernel, compute, *work);
            const int64_t ps = cost.GetTime(*work).gpuPs;
            // Updates run once, all else, which is asked for once, in every micro-batch.
            const double times = kernel.tensors > 0 ? 1 : tree.schedule.microBatches;
            shared.sumPs += times * static_cast<double>(ps);
            shared.times += times;
            shared.leastPs = std::min(shared.leastPs, ps);
            shared.mostPs = std::max(shared.mostPs, ps);
        }
        return timer(kernel);
    };
    CompileKeeping(model, tree, used, options);
    ListedKernels listed;
    for (const auto& [key, shared] : found)
    {
        const auto& [kernelClass, pass, type, shape] = key;
        listed.table.Add({gpu.model,
                          kernelClass,
                          pass,
                          type,
                          shape,
                          std::max<int64_t>(1, std::llround(shared.sumPs / shared.times))});
        listed.shared += shared.mostPs > shared.leastPs ? 1 : 0;
    }
    return listed;
}

ExecutionGraph
Compile(const Model& model,
        const StrategyTree& tree,
        const GpuDatasheet& gpu,
        const Framework& framework,
        const ProfileTable* profile,
        std::vector<CarriedDependency>* carried)
{
    const Framework used = AdaptFramework(model, tree, gpu, framework, profile);
    const KernelCostModel cost(gpu, used.kernels, profile);
    const auto hosts = FindStageHosts(model, tree, cost, used);
    CompileOptions options = MakeOptions(tree, cost, used, hosts.get());
    options.carried = carried;
    return CompileKeeping(model, tree, used, options);
}

ExecutionGraph
Compile(const Model& model,
        const StrategyTree& tree,
        const Cluster& cluster,
        const Framework& framework,
        const ProfileTable* profile,
        std::vector<CarriedDependency>* carried)
{
    CheckSize(CountDevices(tree),
              cluster); // a mesh that is far too large would take long to compile
    CheckDomains(tree, CountDevices(tree), cluster);
    ExecutionGraph graph = Compile(model,
                                   tree,
                                   FindGpuDatasheet(GetGpuModel(cluster, 0)),
                                   framework,
                                   profile,
                                   carried);
    CheckSize(graph.GetNDevices(), cluster);
    for (std::size_t rank = 1; rank < graph.GetNDevices(); ++rank)
    {
        if (GetGpuModel(cluster, rank) != GetGpuModel(cluster, 0))
        {
            throw std::invalid_argument(
                "cluster '" + cluster.GetName() + "': GPU 0 is " + GetGpuModel(cluster, 0) +
                ", GPU " + std::to_string(rank) + " is " + GetGpuModel(cluster, rank) +
                "; kernels are timed for one model of GPU: use a cluster of equal ones, or a graph "
                "with times of its own (--graph)");
        }
    }
    return graph;
}

} // namespace proteus
} // namespace ns3
