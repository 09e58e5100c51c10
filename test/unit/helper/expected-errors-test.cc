/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "start-program.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Which published logs are those of a collective that is run.
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
        {{"--cluster=hgx-b200", "--netPlugin=efa-v3"}, plugIn + "any GPUs (too few with B200"},
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

} // namespace proteus
} // namespace ns3
