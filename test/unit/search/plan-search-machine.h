/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLAN_SEARCH_MACHINE_H
#define PROTEUS_PLAN_SEARCH_MACHINE_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-kernel-times.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-placement.h"
#include "ns3/proteus-plan-communication.h"
#include "ns3/proteus-plan-search.h"

#include <map>
#include <string>

/**
 * @file
 * @ingroup proteus-tests
 * A small model on two servers, for tests of the search of plans.
 */

namespace ns3
{
namespace proteus
{
namespace plantest
{

/// Seconds in a picosecond.
constexpr double PS = 1e-12;

/// @param plan of the model @return GPT of eight small layers
inline Model
LoadSmall(const ParallelPlan& plan)
{
    std::map<std::string, int64_t> variables = GetModelVariables(plan);
    variables["layers"] = 8;
    return LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/gpt3-350m.json",
                     variables);
}

/// Sixteen GPUs in two servers, and what a search needs of them.
struct Machine
{
    Cluster cluster{MakeCluster("dgx-a100", 2)};
    Paths paths{cluster};
    KernelCostModel kernels{FindGpuDatasheet("A100-SXM4-80GB")};
    KernelTimer timer{MakeKernelTimer(kernels, DataType::BF16, 4)};
    FlowCommunicationCost communication{cluster, paths, FlowParameters(), ProgramSettings()};

    static PlanSpaceOptions MakeSpace(uint32_t devices, uint64_t globalBatch)
    {
        PlanSpaceOptions space;
        space.devices = {devices};
        space.globalBatch = globalBatch;
        space.base.gradients.isInPlace = true;
        space.base.precision.compute = DataType::BF16;
        return space;
    }

    double RunByFlows(const ParallelPlan& plan) const
    {
        const Model model = LoadSmall(plan);
        CompileOptions options;
        options.kernelTime = timer;
        const ExecutionGraph graph = CompileModel(model, ExpandPlan(model, plan), options);
        return PS * static_cast<double>(RunFlow(graph, cluster).timeline.endPs);
    }
};

} // namespace plantest
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLAN_SEARCH_MACHINE_H
