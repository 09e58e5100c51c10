/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GPT_NUMBERS_H
#define PROTEUS_GPT_NUMBERS_H

#include "gpt-oracle.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Plans of GPT-3, and what is expected of them. That is worked out from the papers' formulas and
 * from Megatron-LM's rules, by the code of the tests alone: it must not call what it checks to
 * learn what to expect.
 */

namespace ns3
{
namespace proteus
{

/// A model and a plan in the letters of the papers.
struct Numbers
{
    uint64_t l{0};     //!< layers
    uint64_t h{0};     //!< hidden
    uint64_t a{0};     //!< heads
    uint64_t s{0};     //!< tokens of a sequence
    uint64_t v{0};     //!< padded vocabulary
    uint64_t t{0};     //!< tensor parallel
    uint64_t p{0};     //!< pipeline parallel
    uint64_t d{0};     //!< data parallel
    uint64_t batch{0}; //!< sequences
    uint64_t b{0};     //!< sequences of a micro-batch
    uint64_t m{0};     //!< micro-batches
};

/// @param model a model @param plan of it @return their letters
inline Numbers
GetNumbers(const GptModel& model, const GptPlan& plan)
{
    Numbers n;
    n.l = model.layers;
    n.h = model.hidden;
    n.a = model.heads;
    n.s = model.sequenceLength;
    n.t = plan.tensorParallel;
    n.p = plan.pipelineParallel;
    n.d = plan.dataParallel;
    n.batch = plan.globalBatch;
    n.b = plan.microBatch;
    n.m = n.batch / n.b / n.d;
    n.v = (model.vocabulary / (128 * n.t) + (model.vocabulary % (128 * n.t) ? 1 : 0)) * 128 * n.t;
    return n;
}

/// Weights of a layer on one of t ranks: 12 h^2 / t and biases 7 h / t are split, 6 h are not.
inline uint64_t
LayerParameters(const Numbers& n)
{
    return (12 * n.h * n.h + 7 * n.h) / n.t + 6 * n.h;
}

/// @param n a model and a plan @param stage of it @return weights on one of its ranks
inline uint64_t
StageParameters(const Numbers& n, uint64_t stage)
{
    uint64_t count = n.l / n.p * LayerParameters(n);
    if (stage == 0)
    {
        count += n.v / n.t * n.h + n.s * n.h;
    }
    if (stage == n.p - 1)
    {
        count += 2 * n.h;
    }
    if (stage == n.p - 1 && n.p > 1)
    {
        count += n.v / n.t * n.h;
    }
    return count;
}

/// @param tp tensor parallel @param pp pipeline parallel @param dp data parallel
/// @param batch sequences @param microBatch sequences of a micro-batch @return the plan
inline GptPlan
MakePlan(uint32_t tp, uint32_t pp, uint32_t dp, uint32_t batch, uint32_t microBatch = 1)
{
    GptPlan plan;
    plan.tensorParallel = tp;
    plan.pipelineParallel = pp;
    plan.dataParallel = dp;
    plan.globalBatch = batch;
    plan.microBatch = microBatch;
    return plan;
}

/// Plans that together turn every option on and off.
inline std::vector<std::pair<std::string, GptPlan>>
GetPlans()
{
    std::vector<std::pair<std::string, GptPlan>> plans{
        {"6.7B", MakePlan(8, 1, 2, 8)},
        {"125M", MakePlan(1, 1, 1, 2)},
        {"125M", MakePlan(1, 1, 2, 4, 2)},
        {"350M", MakePlan(2, 4, 2, 16)},
        {"1.3B", MakePlan(4, 2, 1, 6, 2)},
        {"2.7B", MakePlan(2, 2, 3, 12, 2)},
        {"125M", MakePlan(1, 4, 48, 96)},
        {"6.7B", MakePlan(2, 1, 2, 4)},
        {"13B", MakePlan(8, 2, 2, 8)},
    };
    plans[3].second.recompute = Recompute::SELECTIVE;
    plans[4].second.recompute = Recompute::FULL;
    plans[5].second.recompute = Recompute::FULL;
    plans[5].second.overlapGradientReduction = true;
    plans[5].second.gradientType = DataType::BF16;
    plans[6].second.overlapGradientReduction = true;
    plans[6].second.schedule = PipelineSchedule::GPIPE;
    plans[7].second.overlapGradientReduction = true;
    plans[7].second.dataType = DataType::FP8;
    plans[8].second.overlapGradientReduction = true;
    return plans;
}

/// The tasks of a device by name. Fails where two share one.
inline std::map<std::string, TaskId>
GetTasksOfDevice(const ExecutionGraph& graph, DeviceId device)
{
    std::map<std::string, TaskId> tasks;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        std::vector<DeviceId> devices{task.place};
        if (task.kind == TaskKind::COMMUNICATION)
        {
            devices = graph.GetGroup(task.place);
        }
        if (std::find(devices.begin(), devices.end(), device) != devices.end())
        {
            EXPECT_TRUE(tasks.emplace(graph.GetName(task), id).second) << graph.GetName(task);
        }
    }
    return tasks;
}

/// Everything that a task waits for, directly or not.
inline std::set<TaskId>
GetAncestors(const ExecutionGraph& graph, TaskId id)
{
    std::set<TaskId> seen;
    std::vector<TaskId> open{id};
    while (!open.empty())
    {
        const TaskId task = open.back();
        open.pop_back();
        for (TaskId before : graph.GetDependencies(task))
        {
            if (seen.insert(before).second)
            {
                open.push_back(before);
            }
        }
    }
    return seen;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GPT_NUMBERS_H
