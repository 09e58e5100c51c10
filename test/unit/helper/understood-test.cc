/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "start-program.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

TEST(Understood, QuestionsAreAnswered)
{
    for (const auto& [program, maker] : PROGRAMS)
    {
        SCOPED_TRACE(program);
        for (const std::string help : {"--help", "-h"})
        {
            const Outcome outcome = Start(program, {help});
            EXPECT_EQ(outcome.code, 0);
            EXPECT_EQ(outcome.error, "");
            EXPECT_NE(outcome.out.find("Usage: proteus-" + program), std::string::npos);
            EXPECT_NE(outcome.out.find("--quiet"), std::string::npos);
        }
        EXPECT_EQ(Start(program, {"--version"}).out.rfind("proteus ", 0), 0u);
        EXPECT_NE(Start(program, {"--models"}).out.find("gpt3-125m\n"), std::string::npos);
        EXPECT_NE(Start(program, {"--clusters"}).out.find("dgx-a100\n"), std::string::npos);
        EXPECT_NE(Start(program, {"--strategies"}).out.find("ddp-8.json\n"), std::string::npos);
        EXPECT_NE(Start(program, {"--algorithms"}).out.find("all-reduce: "), std::string::npos);
    }
}

TEST(Understood, WhatPeopleTypeIsUnderstood)
{
    for (const std::string name : {"allreduce", "all_reduce", "AllReduce", "all-reduce"})
    {
        const Outcome outcome = Start(
            "collective",
            {"--collective=" + name, "--cluster=DGX_A100", "--min=1M", "--max=1MiB", "--quiet"});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
    }
    const Outcome compiled =
        Start("compile", {"--model=GPT3_125M", "--strategy=tp=4,dp=2", "--gpu=A100-SXM4-80GB"});
    EXPECT_EQ(compiled.code, 0) << compiled.error;
    EXPECT_EQ(compiled.out.rfind("GPT-3 125M", 0), 0u);
}

TEST(Understood, ATopologyIsToldWhatItDoesNotSay)
{
    const std::string path = testing::TempDir() + "proteus-two-gpus.xml";
    std::ofstream(path)
        << R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD">
<pci busid="0001:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"><gpu dev="0" sm="80" rank="0"/></pci>
<pci busid="0002:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"><gpu dev="1" sm="80" rank="1"/></pci>
</cpu></system>)";
    const std::vector<std::string> size{"--nodes=1", "--min=64M", "--max=64M", "--quiet"};
    const auto run = [&](const std::string& said) {
        std::vector<std::string> words{"--cluster=" + path + said};
        words.insert(words.end(), size.begin(), size.end());
        return Start("collective", words);
    };
    const Outcome joined = run(":gpu=A100-SXM4-80GB,nvlink=nvswitch");
    const Outcome apart = run(":gpu=A100-SXM4-80GB,nvlink=none");
    EXPECT_EQ(joined.code, 0) << joined.error;
    EXPECT_EQ(apart.code, 0) << apart.error;
    EXPECT_NE(joined.out, apart.out);
    EXPECT_NE(run(":gpus=8").error.find("there can be gpu=MODEL"), std::string::npos);
    std::remove(path.c_str());
}

TEST(Understood, AConfigurationHoldsOptions)
{
    const std::string path = testing::TempDir() + "proteus-understood-config.json";
    std::ofstream(path) << R"({"model": "gpt3-125m", "strategy": {"tp": 4, "dp": 2}})";
    const Outcome both = Start("compile", {"--config=" + path});
    EXPECT_EQ(both.code, 0) << both.error;
    EXPECT_NE(both.out.find(" 8 devices"), std::string::npos) << both.out;
    const Outcome other = Start("compile", {"--config=" + path, "--strategy=tp=4,dp=1"});
    EXPECT_NE(other.out.find(" 4 devices"), std::string::npos) << other.out;
    std::ofstream(path) << R"({"modle": "gpt3-125m"})";
    const Outcome wrong = Start("compile", {"--config=" + path});
    EXPECT_EQ(wrong.code, 1);
    EXPECT_NE(wrong.error.find("--config=" + path +
                               ": /modle: --modle: there is no such option; "
                               "did you mean --model?"),
              std::string::npos)
        << wrong.error;
    for (const auto& [text, hint] :
         {std::pair{R"({"model": "gpt3-125m", "model": "gpt3-350m"})", "/model: appears twice"},
          std::pair{R"({"model": null})", "/model: is null"},
          std::pair{R"({"model": )", "syntax error"}})
    {
        std::ofstream(path) << text;
        const Outcome refused = Start("compile", {"--config=" + path});
        EXPECT_EQ(refused.code, 1) << text;
        EXPECT_NE(refused.error.find(hint), std::string::npos) << refused.error;
        EXPECT_EQ(refused.error.find('\n'), refused.error.size() - 1) << refused.error;
    }
    std::remove(path.c_str());
}

// One way for all options that take names.
TEST(Understood, NamesMayBeSpeltOtherwise)
{
    std::string one;
    std::string several;
    std::string open;
    OptionList command("test");
    command.AddValue("one", "", one);
    command.AddValue("several", "", several);
    command.AddValue("open", "", open);
    command.AddNames("one", {"all-reduce", "gather"});
    command.AddNames("several", {"flow", "alpha-beta"}, NameUse::LIST);
    command.AddNames("open", {"bdp"}, NameUse::OPEN);
    std::ostringstream out;
    EXPECT_TRUE(
        command.Parse({"test", "--one=All_Reduce", "--several=AlphaBeta,FLOW", "--open=BDP"}, out));
    EXPECT_EQ(one, "all-reduce");
    EXPECT_EQ(several, "alpha-beta,flow");
    EXPECT_EQ(open, "bdp");
    EXPECT_EQ(
        command.GetConfiguration(),
        (Configuration{{"one", "all-reduce"}, {"several", "alpha-beta,flow"}, {"open", "bdp"}}));
    EXPECT_EQ(command.GetMeaning("several", "Alpha-Beta,Flow"), "alpha-beta,flow");
    EXPECT_TRUE(command.Parse({"test", "--open=4096"}, out));
    EXPECT_EQ(open, "4096");
    EXPECT_THROW(command.Parse({"test", "--several=flow,,alpha-beta"}, out), std::invalid_argument);
    EXPECT_THROW(command.Parse({"test", "--several=flow,x"}, out), std::invalid_argument);
}
