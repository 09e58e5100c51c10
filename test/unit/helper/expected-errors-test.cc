/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "small-job.h"
#include "start-program.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Which published logs are those of a collective that is run, and which random jobs those of a run
 * by flows.
 */

namespace ns3
{
namespace proteus
{

TEST(ExpectedErrors, AreThoseOfTheWayToTheNetwork)
{
    const std::string direct = "several servers, NICs at GPUs, with ";
    const std::string plugIn = "several servers, a plug-in, with ";
    const std::string overCpus = "several servers, over CPUs or by sockets, with ";
    const std::vector<std::pair<std::vector<std::string>, std::string>> runs{
        {{"--cluster=dgx-h100"}, "one server with H100"},
        {{"--cluster=dgx-h100"}, direct + "H100"},
        {{"--cluster=gb200-nvl72"}, direct + "B200"}, // NVLink-C2C
        {{"--cluster=dgx-a100:nic=1x"}, direct + "A100"},
        {{"--cluster=dgx1-v100"}, direct + "any GPUs (too few with V100"},
        {{"--cluster=dgx-a100:nic=4x100G-roce", "--netPlugin=efa"}, plugIn + "A100"},
        {{"--cluster=hgx-b200", "--netPlugin=efa-v3"}, plugIn + "B200"},
        {{"--cluster=dgx-a100", "--netPlugin=sockets"}, overCpus + "A100"},
        {{"--cluster=dgx-a100", "--nccl=NCCL_NET_GDR_LEVEL=LOC"}, overCpus + "A100"},
        {{"--cluster=dgx-a100", "--nccl=NCCL_NET_GDR_LEVEL=PIX"}, direct + "A100"}};
    for (const auto& [options, hint] : runs)
    {
        std::vector<std::string> arguments{"--min=8", "--max=8"};
        arguments.push_back(hint.find("one server") == 0 ? "--nodes=1" : "--nodes=2");
        arguments.insert(arguments.end(), options.begin(), options.end());
        const Outcome run = Start("collective", arguments);
        EXPECT_EQ(run.code, 0) << run.error;
        EXPECT_NE(run.out.find("published logs of " + hint), std::string::npos) << hint << "\n"
                                                                                << run.out;
    }
}

TEST(ExpectedErrors, OfFlowsAreThoseOfWhatWasCrossed)
{
    const std::vector<std::pair<std::vector<std::string>, std::string>> runs{
        {{"--cluster=dgx-a100"}, "one server with NVLink"},
        {{"--cluster=pcie-v100x4"}, "one server without NVLink"},
        {{"--gpus=8"}, "servers with NVLink, InfiniBand on one switch"},
        {{"--fabric=leaf-spine"}, "servers with NVLink, InfiniBand on one switch"}, // of one leaf
        {{"--fabric=leaf-spine", "--serversPerLeaf=1"},
         "servers with NVLink, InfiniBand on several switches"},
        {{"--cluster=dgx1-v100:nic=4x100G-roce"}, "servers with NVLink, RoCE on one switch"},
        {{"--cluster=dgx-h100", "--fabric=nvlink-domain"},
         "servers with NVLink, NVLink on one switch"},
        {{"--cluster=pcie-v100x8", "--fabric=leaf-spine", "--serversPerLeaf=1"},
         "servers without NVLink, RoCE on several switches"},
        {{"--cluster=pcie-v100x8",
          "--fabric=leaf-spine",
          "--serversPerLeaf=1",
          "--oversubscription=2"},
         "servers without NVLink, RoCE on oversubscribed switches"},
        {{"--cluster=dgx-a100"}, "more than four servers with NVLink"},
        {{"--cluster=dgx-a100", "--gpus=32"}, "servers with NVLink, InfiniBand on one switch"}};
    for (const auto& [options, setting] : runs)
    {
        std::vector<std::string> arguments{"--min=1K", "--max=1K", "--executor=flow"};
        const bool isMany = setting.find("more than") == 0 || options.back() == "--gpus=32";
        arguments.emplace_back(setting.find("one server") == 0 ? "--nodes=1"
                               : isMany                        ? "--nodes=5"
                                                               : "--nodes=2");
        arguments.insert(arguments.end(), options.begin(), options.end());
        const Outcome run = Start("collective", arguments);
        EXPECT_EQ(run.code, 0) << run.error;
        EXPECT_NE(run.out.find("random collectives on " + setting + " "), std::string::npos)
            << setting << "\n"
            << run.out;
    }
}

TEST(ExpectedErrors, OfFlowsStandWherePacketsDoNot)
{
    const std::string sentence = "random models on one server with NVLink half take as long";
    const Outcome flows = Start("run", Small({"--strategy=tp=4,dp=2"}));
    EXPECT_NE(flows.out.find(sentence), std::string::npos) << flows.out;
    for (const char* other : {"--executor=both",
                              "--executor=packet",
                              "--executor=alpha-beta",
                              "--ns3::proteus::Transport::CongestionControl=hpcc"})
    {
        const Outcome run = Start("run", Small({"--strategy=tp=4,dp=2", other}));
        EXPECT_EQ(run.code, 0) << run.error;
        EXPECT_EQ(run.out.find("random models"), std::string::npos) << other;
    }
    const Outcome alone = Start("run", Small({"--strategy=dp=1"}));
    EXPECT_EQ(alone.out.find("random models"), std::string::npos) << alone.out;
}

TEST(ExpectedErrors, OfFlowsAreSaidForTheRunsOfAComparison)
{
    const std::vector<std::string> fabrics{"--model=gpt3-125m",
                                           "--strategy=tp=4,dp=4,globalBatch=4",
                                           "--variables=layers=2",
                                           "--cluster=dgx-a100",
                                           "--nodes=2",
                                           "--fabrics=single-switch,rail-optimised+roce",
                                           "--quiet"};
    std::vector<std::string> byFlows = fabrics;
    byFlows.emplace_back("--executor=flow");
    const Outcome flows = Start("fabrics", byFlows);
    EXPECT_NE(
        flows.out.find("Note: NICs of 25.0 GB/s carry 23.3 of payload by InfiniBand, which is "
                       "calibrated to measured writes, and 24.5 by RoCE"),
        std::string::npos)
        << flows.out;
    for (const char* setting : {"InfiniBand on one switch", "RoCE on "})
    {
        EXPECT_NE(flows.out.find("Note: flow: in 1 of 2 runs: of "), std::string::npos);
        EXPECT_NE(flows.out.find(std::string("servers with NVLink, ") + setting), std::string::npos)
            << flows.out;
    }
    const std::string published = "published iterations of megatron-2022 on A100";
    EXPECT_NE(flows.out.find(published), std::string::npos) << flows.out;
    byFlows.back() = "--executor=flow,packet";
    const Outcome both = Start("fabrics", byFlows);
    EXPECT_EQ(both.code, 0) << both.error;
    EXPECT_EQ(both.out.find("random models"), std::string::npos) << both.out;

    const Outcome search = Start("search",
                                 {"--model=gpt3-125m",
                                  "--variables=layers=2",
                                  "--cluster=dgx-a100",
                                  "--nodes=1",
                                  "--globalBatch=8",
                                  "--packets=0",
                                  "--flows=2",
                                  "--quiet"});
    EXPECT_EQ(search.code, 0) << search.error;
    for (const std::string& line : {published, std::string("random models on one server")})
    {
        EXPECT_NE(search.out.find(line), std::string::npos) << search.out;
    }
}

TEST(ExpectedErrors, OfRowsAreThoseOfTheirOwnJobs)
{
    const auto run = [](const std::vector<std::string>& job) {
        std::vector<std::string> options{"--cluster=dgx-a100",
                                         "--nodes=2",
                                         "--fabrics=single-switch;dgx1-v100:nodes=3",
                                         "--executor=flow",
                                         "--quiet"};
        options.insert(options.end(), job.begin(), job.end());
        return Start("fabrics", options);
    };
    const Outcome rows = run({"--variables=layers=2", "--framework=megatron-2022"});
    EXPECT_EQ(rows.code, 0) << rows.error;
    const std::string oneOf = "Note: in 1 of 2 rows: ";
    EXPECT_NE(
        rows.out.find(oneOf + "the job is GPT-3 125M on 24 GPUs, another one than that of the"),
        std::string::npos)
        << rows.out;
    for (const char* framework : {"2022 on A100", "2022 on V100"})
    {
        const std::size_t note = rows.out.find(std::string("iterations of megatron-") + framework);
        ASSERT_NE(note, std::string::npos) << rows.out;
        EXPECT_EQ(rows.out.rfind(oneOf, note), rows.out.rfind('\n', note) + 1);
    }
    // Of a job for which one of them has too little memory, nothing is run.
    const Outcome large = run({"--model=gpt3-13b", "--strategy=tp=4,dp=4,globalBatch=4"});
    EXPECT_EQ(large.code, 1);
    EXPECT_EQ(large.out, "");
    EXPECT_EQ(
        large.error.find("proteus-fabrics: error: --fabrics: dgx1-v100:nodes=3: out of memory"),
        0U)
        << large.error;
}

} // namespace proteus
} // namespace ns3
