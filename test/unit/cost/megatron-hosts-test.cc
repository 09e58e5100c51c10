/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Hosts of Megatron-Core against steps of Megatron-LM's own tests, in which they are nearly all:
// reads workloads/profiles/megatron-lm-hosts.csv.

#include "../strategy/compile-tools.h"
#include "../table-rows.h"

#include "ns3/proteus-compile.h"
#include "ns3/proteus-framework-json.h"
#include "ns3/proteus-framework.h"
#include "ns3/proteus-gpu-model.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::proteus;
using compiletest::LoadFor;
using compiletest::ReadStrategy;

namespace
{

constexpr double PS_PER_MS = 1e9;

Framework
LoadMegatron()
{
    return LoadFramework(std::string(PROTEUS_SOURCE_DIR) +
                         "/workloads/frameworks/megatron-core.json");
}

/// @param row of the table @return its model's variables
std::map<std::string, int64_t>
GetVariables(const TableRow& row)
{
    std::map<std::string, int64_t> variables;
    std::istringstream words(row.Get("variables"));
    for (std::string word; words >> word;)
    {
        const std::size_t at = word.find('=');
        variables[word.substr(0, at)] = std::stoll(word.substr(at + 1));
    }
    return variables;
}

/// @param row of the table, without a pipeline @param gpu data sheet @return what the kernels of
/// one GPU add to their stream in a step, with what they wait for the host, milliseconds
double
ComputeStep(const TableRow& row, const std::string& gpu)
{
    const StrategyFile file =
        ReadStrategy("{\"dp\": " + row.Get("dp") + ", \"tp\": " + row.Get("tp") +
                     ", \"microBatch\": 4, \"globalBatch\": " + row.Get("batch") + "}");
    const Model model = LoadFor(row.Get("model"), file, GetVariables(row));
    const ExecutionGraph graph =
        Compile(model, file.GetTree(model), FindGpuDatasheet(gpu), LoadMegatron());
    int64_t sum = 0;
    for (const Task& task : graph.GetTasks())
    {
        sum += task.kind == TaskKind::COMPUTE && task.place == 0
                   ? task.durationPs * graph.GetPhases()[task.phase].microBatches
                   : 0;
    }
    return static_cast<double>(sum) / PS_PER_MS;
}

/// @return the median of what steps take by one column, over what they take by another
double
FindMedianRatio(const std::string& column, const std::string& reference)
{
    std::vector<double> ratios;
    for (const TableRow& row : ReadProfileRows("megatron-lm-hosts.csv"))
    {
        if (!row.Get(column).empty())
        {
            ratios.push_back(row.GetNumber(column) / row.GetNumber(reference));
        }
    }
    std::sort(ratios.begin(), ratios.end());
    return (ratios[(ratios.size() - 1) / 2] + ratios[ratios.size() / 2]) / 2;
}

} // namespace

// The longest name that a data sheet's begins with decides; without one it is the file's own pace.
TEST(MegatronHosts, PacesBelongToTheLongestName)
{
    HostCost host;
    EXPECT_EQ(host.FindPace("GB200"), 1);
    host.paces = {{"GB", 2}, {"GB200", 3}, {"GB2000", 4}, {"B200", 5}};
    EXPECT_EQ(host.FindPace("GB200"), 3);
    EXPECT_EQ(host.FindPace("GB200-186GB"), 3);
    EXPECT_EQ(host.FindPace("GB300"), 2);
    EXPECT_EQ(host.FindPace("G"), 1);
    EXPECT_EQ(host.FindPace("H100"), 1);
}

// The paces of the file are medians of the same tests.
TEST(MegatronHosts, PacesAreTheMediansOfTests)
{
    const Framework framework = LoadMegatron();
    EXPECT_NEAR(framework.host.FindPace("A100-SXM4-80GB"),
                FindMedianRatio("a100_ms", "h100_ms"),
                0.01);
    EXPECT_NEAR(framework.host.FindPace("GB200"), FindMedianRatio("gb200_ms", "h100_ms"), 0.01);
    EXPECT_EQ(framework.host.FindPace("H100-SXM5-80GB"), 1);
}

// Hosts of eager PyTorch were measured on a virtual machine with an H100, whose linear layer takes
// 21.2 us, that of a DGX H100 13.5. Newer servers are taken to be as that one, and Grace takes that
// by what it takes of Megatron-Core.
TEST(MegatronHosts, PacesOfEagerPyTorchAreThoseOfServers)
{
    const double server = 13.5 / 21.2;
    const double grace = FindMedianRatio("gb200_ms", "h100_ms");
    for (const char* name : {"apex",
                             "compiled",
                             "ddp",
                             "ddp-channels-first",
                             "deepspeed",
                             "fsdp1",
                             "fsdp2",
                             "fsdp2-compiled",
                             "fsdp2-te",
                             "gpt-neox",
                             "liger",
                             "llm-foundry",
                             "nanotron",
                             "paddle-amp",
                             "torchtitan"})
    {
        const Framework framework = LoadFramework(std::string(PROTEUS_SOURCE_DIR) +
                                                  "/workloads/frameworks/" + name + ".json");
        EXPECT_EQ(framework.host.FindPace("H100-SXM5-80GB"), 1) << name;
        EXPECT_NEAR(framework.host.FindPace("B200"), server, 0.005) << name;
        EXPECT_NEAR(framework.host.FindPace("GB200"), server * grace, 0.005) << name;
        EXPECT_NEAR(framework.host.FindPace("GH200-96GB-660W"), server * grace, 0.005) << name;
        EXPECT_EQ(framework.host.FindPace("A100-SXM4-80GB"), 1) << name;
    }
}

// What is computed of steps without pipelines: those of GPT, by which the time of an operator was
// set, and those of T5 and BERT, by which it was not. Norms of parameters, zeros that are counted,
// the optimizer's Python and calls of collectives are not in it.
TEST(MegatronHosts, StepsOfTestsAreComputed)
{
    double worst = 0;
    for (const TableRow& row : ReadProfileRows("megatron-lm-hosts.csv"))
    {
        if (row.Get("pp") != "1")
        {
            continue;
        }
        const double error = ComputeStep(row, "H100-SXM5-80GB") / row.GetNumber("h100_ms") - 1;
        EXPECT_LT(std::abs(error), 0.2) << row.Get("test") << " " << error;
        worst = std::max(worst, std::abs(error));
        if (row.Get("model") != "gpt") // GPT's with Transformer Engine are twice as slow there
        {
            const double other = ComputeStep(row, "A100-SXM4-80GB") / row.GetNumber("a100_ms") - 1;
            EXPECT_LT(std::abs(other), 0.25) << row.Get("test") << " " << other;
        }
    }
    RecordProperty("worst", std::to_string(worst));
}
