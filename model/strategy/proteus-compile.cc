/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-compile.h"

#include "proteus-framework-kernels.h"

#include <stdexcept>
#include <string>

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

/// @throw std::invalid_argument if a strategy has more devices than a cluster has GPUs
void
CheckSize(uint64_t nDevices, const Cluster& cluster)
{
    const std::size_t nGpus = cluster.GetGpus().size();
    if (nDevices > nGpus)
    {
        throw std::invalid_argument("the strategy needs " + std::to_string(nDevices) +
                                    " GPUs, and cluster '" + cluster.GetName() + "' has " +
                                    std::to_string(nGpus) +
                                    ": add servers (--nodes), or use a smaller strategy");
    }
}

} // namespace

ExecutionGraph
Compile(const Model& model,
        const StrategyTree& tree,
        const GpuDatasheet& gpu,
        const Framework& framework,
        const ProfileTable* profile,
        std::vector<CarriedDependency>* carried)
{
    const KernelCostModel cost(gpu, framework.kernels, profile);
    const DataType gradient = tree.precision.gradient;
    CompileOptions options;
    options.carried = carried;
    const uint32_t gradientBytes = gradient == DataType::FP32 || gradient == DataType::TF32 ? 4 : 2;
    options.kernelTime = MakeFrameworkTimer(cost, framework, tree.precision.compute, gradientBytes);
    options.kernelUse = MakeFrameworkUse(cost, framework, tree.precision.compute, gradientBytes);
    return CompileModel(model, tree, options);
}

ExecutionGraph
Compile(const Model& model,
        const StrategyTree& tree,
        const Cluster& cluster,
        const Framework& framework,
        const ProfileTable* profile,
        std::vector<CarriedDependency>* carried)
{
    uint64_t nMesh = 1;
    for (const uint32_t size : tree.axisSizes)
    {
        nMesh *= size;
    }
    CheckSize(nMesh, cluster); // a mesh that is far too large would take long to compile
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
