/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-aicb.h"

#include "ns3/proteus-plural.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Adds a value of the first line that has no effect: its key, the value, and why.
using AddDoubt = std::function<void(const std::string&, uint64_t, const std::string&)>;

/// @param workload of MICRO @param used parallelisms that its rows name @param add adds a value
/// @param doubts gets what of its first line, and of groups, nothing follows from
void
FindInMicro(const AicbWorkload& workload,
            const std::set<Parallelism>& used,
            const AddDoubt& add,
            std::vector<std::string>& doubts)
{
    const std::string cause = "rows of MICRO are run one after the other by all GPUs";
    const std::pair<const char*, uint64_t> sizes[] = {
        {"model_parallel_NPU_group", workload.tensorParallel},
        {"ep", workload.expertParallel},
        {"pp", workload.pipelineParallel},
        {"vpp", workload.virtualPipeline},
        {"ga", workload.gradientAccumulation},
    };
    for (const auto& [key, value] : sizes)
    {
        if (value > 1)
        {
            add(key, value, cause);
        }
    }
    if (workload.pipelineBytes > 0)
    {
        add("pp_comm", workload.pipelineBytes, cause);
    }
    if (!workload.checkpoints.empty() || !workload.checkpointInitiates.empty())
    {
        add("checkpoints", workload.checkpoints.size(), cause);
    }
    if (used.size() > used.count(Parallelism::NONE))
    {
        doubts.push_back("groups behind names of collectives (_TP, _DP, _EP, _DP_EP) have no "
                         "effect: " +
                         cause);
    }
}

/// @param workload any @param doubts gets what of its first line nothing follows from
void
FindInHead(const AicbWorkload& workload, std::vector<std::string>& doubts)
{
    const AddDoubt add =
        [&doubts](const std::string& key, uint64_t value, const std::string& cause) {
            doubts.push_back(key + ": " + std::to_string(value) + " has no effect: " + cause);
        };
    std::set<Parallelism> used;
    for (const AicbRow& row : workload.rows)
    {
        for (const AicbPass& pass : row.passes)
        {
            if (pass.hasCollective)
            {
                used.insert(pass.parallelism);
            }
        }
    }
    if (workload.isMicro)
    {
        FindInMicro(workload, used, add, doubts);
        return;
    }
    if (workload.expertParallel > 1 && used.count(Parallelism::EXPERT) == 0)
    {
        add("ep", workload.expertParallel, "no row communicates among experts (_EP)");
    }
    if (workload.tensorParallel > 1 && used.count(Parallelism::TENSOR) == 0)
    {
        add("model_parallel_NPU_group",
            workload.tensorParallel,
            "no row communicates in the group, forward or for gradients of inputs");
    }
    const bool hasStages = workload.pipelineParallel > 1;
    if (workload.virtualPipeline > 1 && !hasStages)
    {
        add("vpp",
            workload.virtualPipeline,
            "there is one stage (pp); AICB writes the number of layers there");
    }
    if (workload.pipelineBytes > 0 && !hasStages)
    {
        add("pp_comm", workload.pipelineBytes, "there is one stage (pp)");
    }
    if (workload.gradientAccumulation > 1 && !hasStages && !FindMicroBatches(workload))
    {
        add("ga",
            workload.gradientAccumulation,
            "rows run as they stand there, and are not there once for each micro-batch");
    }
    if (!workload.checkpoints.empty() && workload.checkpointInitiates.empty())
    {
        add("checkpoints",
            workload.checkpoints.size(),
            "nothing is computed again (checkpoint_initiates)");
    }
    for (const uint32_t row : workload.checkpointInitiates)
    {
        const auto& all = workload.checkpoints;
        if (std::none_of(all.begin(), all.end(), [row](uint32_t point) { return point <= row; }))
        {
            doubts.push_back("checkpoint_initiates: there is no checkpoint before row " +
                             std::to_string(row) + ": from the first row on all is computed again");
            return;
        }
    }
}

} // namespace

std::vector<std::string>
FindAicbDoubts(const AicbWorkload& workload)
{
    std::vector<std::string> doubts;
    FindInHead(workload, doubts);
    if (!workload.isMicro && workload.pipelineParallel > 1)
    {
        if (workload.virtualPipeline > 1)
        {
            doubts.push_back("vpp: " + std::to_string(workload.virtualPipeline) +
                             " is not heeded: stages run as 1F1B, not interleaved (AICB writes the "
                             "number of layers there)");
        }
        if (workload.pipelineBytes == 0)
        {
            doubts.emplace_back("has stages of a pipeline and no bytes between them (pp_comm), so "
                                "that they pass on 1 byte: say how many, pp_comm: BYTES");
        }
    }
    constexpr double LEAST_UPDATES = 0.01; // of the computation, from which on it is said
    uint64_t nIdle = 0;
    uint64_t nEmpty = 0;
    uint64_t nDependencies = 0;
    double computePs = 0;
    double lostPs = 0;
    for (const AicbRow& row : workload.rows)
    {
        nDependencies += row.hasDependency ? 1 : 0;
        lostPs += row.passes.back().hasCollective ? 0 : static_cast<double>(row.updatePs);
        for (const AicbPass& pass : row.passes)
        {
            computePs += static_cast<double>(pass.computePs);
        }
        nIdle += std::count_if(row.passes.begin(), row.passes.end(), [](const AicbPass& pass) {
            return pass.hasIdleBytes;
        });
        nEmpty += std::count_if(row.passes.begin(), row.passes.end(), [](const AicbPass& pass) {
            return pass.isEmpty;
        });
    }
    if (nEmpty > 0)
    {
        doubts.push_back("has collectives of 0 bytes, which take no time, " +
                         FormatThings(nEmpty, "time"));
    }
    if (nDependencies > 0)
    {
        doubts.push_back("dependencies of " + FormatThings(nDependencies, "row") +
                         " (the second field, other than -1) are not heeded: rows follow each "
                         "other");
    }
    if (lostPs > LEAST_UPDATES * computePs)
    {
        doubts.push_back("updates of weights that are not communicated (" +
                         FormatTime(lostPs * 1e-12) + ") take no time, as in SimAI");
    }
    if (nIdle > 0)
    {
        doubts.push_back("has bytes for NONE, which moves nothing, " + FormatThings(nIdle, "time"));
    }
    return doubts;
}

} // namespace proteus
} // namespace ns3
