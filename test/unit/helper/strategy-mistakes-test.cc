/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "small-job.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>

using namespace ns3::proteus;

namespace
{

/// @param strategy of GPT-3 125M with two layers @return what a run of it printed
Outcome
RunStrategy(const std::string& strategy)
{
    return Start("run",
                 {"--model=gpt3-125m",
                  "--variables=layers=2",
                  "--strategy=" + strategy,
                  "--executor=flow",
                  "--quiet"});
}

} // namespace

// Each value is one by itself, and not beside the others.
TEST(StrategyMistakes, ValuesThatCannotBeTogether)
{
    for (const auto& [strategy, why] : {
             std::pair{"virtualStages=2", "belong to a pipeline; add pp"},
             std::pair{"virtualStages=2,schedule=interleaved", "belong to a pipeline; add pp"},
             std::pair{"dp=2,globalBatch=4294967294",
                       "plan: globalBatch = 4294967294 is 2147483647 micro-batches on each "
                       "replica, of which there may be 1048576"},
             std::pair{"headAsBlock=true", "belong to a pipeline; add pp"},
             std::pair{"recompute=selective,recomputeModules=mlp+mlp",
                       "/recomputeModules: 'mlp+mlp' has a name twice"},
             std::pair{"recompute=between-products,recomputeKeeps=fc1+qkv+fc1",
                       "/recomputeKeeps: 'fc1+qkv+fc1' has a name twice"},
             std::pair{"pp=2,schedule=limits,maxInFlight=2",
                       "/maxInFlight: must be a list with a number for every stage, [2, 1], or "
                       "behind --strategy 2+1"},
             std::pair{"pp=2,schedule=limits,maxInFlight=2+1+1",
                       "maxInFlight has 3 limits for 2 stages"},
             std::pair{"dp=2,overlapGradReduce=true", "unless buckets is \"whole\""},
             std::pair{"pp=2,no_overlap_p2p_communication=true", "(waitsForTransfers of its file)"},
             std::pair{"pp=2,scatter_gather_tensors_in_pipeline=true",
                       "did you mean scatterGather?"},
             std::pair{"pp=2,num_layers_per_virtual_pipeline_stage=2", "as virtualStages says"},
             std::pair{"dp=2,optim=adamw", "did you mean optimizer?"},
             std::pair{"dp=2,overlap_param_gather=true", "zero1Gathers is \"forward\""},
             std::pair{"dp=2,use_distributed_optimizer=true", "are split by zero=1"},
         })
    {
        ExpectRefusal(RunStrategy(strategy), why);
    }
}

TEST(StrategyMistakes, ListsOfNumbersInTheShortForm)
{
    const Outcome shortForm = RunStrategy("pp=2,globalBatch=4,schedule=limits,maxInFlight=2+1");
    const Outcome json =
        RunStrategy(R"({"pp": 2, "globalBatch": 4, "schedule": "limits", "maxInFlight": [2, 1]})");
    const auto getTime = [](const Outcome& outcome) {
        const std::size_t begin = outcome.out.find("iteration time");
        return outcome.out.substr(begin, outcome.out.find('\n', begin) - begin);
    };
    EXPECT_EQ(shortForm.code, 0) << shortForm.error;
    EXPECT_NE(getTime(shortForm), "");
    EXPECT_EQ(getTime(shortForm), getTime(json));
}

TEST(StrategyMistakes, KernelsOfAttentionAreKnown)
{
    ExpectRefusal(Start("run",
                        {"--model=gpt3-125m",
                         "--strategy=dp=2",
                         "--framework=deepspeed:attention=memory-efficient"}),
                  "--framework=deepspeed:attention=memory-efficient: unknown attention kernel");
}

// Policies of an order are alike where nothing is to be ordered.
TEST(StrategyMistakes, SchedulesOfNothing)
{
    const auto start = [](const std::string& strategy) {
        return Start("schedule",
                     {"--model=gpt3-125m",
                      "--variables=layers=2",
                      "--policies=priority",
                      "--executor=flow",
                      "--quiet",
                      "--strategy=" + strategy});
    };
    const std::string note = "no policy has anything to put into order";
    EXPECT_NE(start("dp=1").out.find(note), std::string::npos);
    EXPECT_NE(start("tp=2").out.find(note), std::string::npos);
    const Outcome replicas = start("dp=2");
    EXPECT_EQ(replicas.code, 0) << replicas.error;
    EXPECT_EQ(replicas.out.find(note), std::string::npos);
}
