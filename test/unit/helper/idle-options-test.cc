/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "small-job.h"

#include "ns3/proteus-option-list.h"
#include "ns3/proteus-warning.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

const std::string HPCC = "--ns3::proteus::HpccType::Eta=0.5";

} // namespace

TEST(IdleOptions, OptionsThatDoNothingAreNamed)
{
    const std::vector<std::string> flow{MODEL, PLAN, "--executor=flow", "--quiet"};
    const std::string file = "--cluster=" + WORKLOADS + "/clusters/2-x-a100-1-x-200g.json";
    const std::string flows = "--flows=" + WORKLOADS + "/flows/incast-8.csv";
    const std::string ring = "--flows=" + WORKLOADS + "/flows/ring-all-reduce-8.csv";
    const std::string nine = "--cluster=" + WORKLOADS + "/flows/switch-9.txt";
    const std::vector<Mistake> idle{
        {"run", {"--oversubscription=2"}, "the network is the same with other values"},
        {"run", {"--fabric=leaf-spine", "--sizeX=2"}, "--sizeX=2 has no effect"},
        {"run", {"--htae=classic", "--executor=alpha-beta"}, "--htae=classic has no effect"},
        {"run", {"--gpuSharing=off", "--executor=ideal"}, "no executor of this run knows it"},
        {"evaluate",
         {"--executor=ideal", "--only=DLRM on pcie", "--gpuSharing=off"},
         "no executor of this run knows it"},
        {"run", {"--repetition=off"}, "no executor of this run sends packets"},
        {"run", {"--joinGrid=1us"}, "no executor of this run sends packets"},
        {"run", {"--joinWindow=1us"}, "no executor of this run sends packets"},
        {"run", {"--executor=ideal", "--stream=3"}, "no executor of this run chooses paths"},
        {"run", {"--executor=alpha-beta", "--RngSeed=3"}, "no executor of this run chooses paths"},
        {"run", {"--SchedulerType=ns3::HeapScheduler"}, "no executor of this run sends packets"},
        {"run", {"--ChecksumEnabled=true"}, "packets have no checksums here"},
        {"run", {"--executor=distsim", "--joinGrid=1us"}, "each of ranks that all join at once"},
        {"run", {NETWORK + "Threads=1"}, "no ns3::proteus::PacketNetwork of this run takes it"},
        {"run", {NETWORK + "Repetition=off"}, "no ns3::proteus::PacketNetwork of this run takes"},
        {"schedule", {NETWORK + "JoinGrid=1us"}, "PacketNetwork::JoinGrid=+1e+06ps is not"},
        // What the job does not come to.
        {"schedule", {"--fabric=leaf-spine"}, "--fabric=leaf-spine has no effect: nothing leaves"},
        {"schedule",
         {"--cluster=pcie-v100x4", "--nodes=1", "--stream=3"},
         "flow: --stream=3 has no effect: no two paths are equal"},
        {"schedule",
         {"--executor=ideal", "--fabric=leaf-spine", "--oversubscription=2", "--serversPerLeaf=1"},
         "ideal: --oversubscription=2 is not modelled: of the network, the links of servers"},
        {"search", {"--mostContext=2"}, "no GPUs share a sequence; add --vary=context"},
        {"run", {"--crossIteration=tensor"}, "there is one iteration"},
        {"run",
         {"--communicationSchedule=p3,creditBytes=9"},
         "--communicationSchedule: creditBytes=9 has no effect: the policy takes no notice of it"},
        {"run", {"--seriesInterval=1us"}, "there is no --linkSeries"},
        {"run", {"--traceCompute=roofline"}, "there is no --trace"},
        {"gpt3", {"--spines=2"}, "--spines=2 has no effect"},
        {"collective", {file, "--fabric=leaf-spine"}, "the cluster has a network of its own"},
        {"run", {"--strategy=tp=4,dp=1,zero=1"}, "--strategy: zero=1 has no effect: the job is"},
        {"gpt3", {"--dp=1", "--overlapGradientReduction"}, "the job is the same without it"},
        {"collective", {"--collective=barrier", "--min=16"}, "a barrier has no size"},
        {"compile", {MODEL, PLAN, "--untimed", "--launchInterval=9us"}, "kernels get no times"},
        {"collective", {"--grouping=block"}, "there is one group"},
        // What a version of NCCL has not.
        {"collective",
         {"--collective=all-gather", "--nodes=2", "--algorithm=pat", "--ncclVersion=2.19"},
         "NCCL 2.19 has no algorithm pat, but the collective is carried out"},
        {"collective",
         {"--cluster=dgx-h100", "--algorithm=nvls", "--ncclVersion=2.10"},
         "NCCL 2.10 has no algorithm nvls"},
        {"collective",
         {"--cluster=dgx-h100", "--algorithm=nvls", "--protocol=LL"},
         "NCCL has nvls with protocol Simple only, but the collective is carried out with LL"},
        {"collective", {"--protocol=LL128", "--ncclVersion=2.4"}, "NCCL 2.4 has no protocol LL128"},
        {"collective", {"--joinWindow=1us"}, "only in launch mode stream"},
        {"collective", {"--cpuVendor=intel"}, "NCCL chooses the same on this cluster"},
        {"collective",
         {"--nodes=2", "--concurrent=2", "--grouping=block", "--fabric=leaf-spine"},
         "warning: --fabric=leaf-spine has no effect: nothing leaves a server"},
        {"collective",
         {"--cluster=pcie-v100x4", "--nodes=1", "--stream=2"},
         "--stream=2 has no effect: no two paths are equal"},
        {"collective", {"--networkChannels=2"}, "the GPUs need no network between servers"},
        {"collective", {"--nodes=2", "--networkChannels=2"}, "all-reduce sends no messages"},
        {"collective", {"--netPlugin=efa"}, "the GPUs need no network between servers"},
        {"collective", {"--pluginLatency=3us"}, "the GPUs need no network between servers"},
        {"collective", {"--ncclVersion=9.9"}, "the newest version that is known is taken, 2.30"},
        {"collective", {"--max=2M"}, "--max=1M has no effect: it is given again"},
        {"run",
         {"--strategy=tp=4,dp=2", "--nodes=1", "--netPlugin=efa"},
         "the GPUs need no network between servers"},
        {"run", {"--ignoreMemory"}, "--ignoreMemory has no effect: the job fits into memory"},
        {"schedule", {"--ignoreMemory"}, "--ignoreMemory has no effect: the job fits into memory"},
        {"fabrics", {"--ignoreMemory"}, "--ignoreMemory has no effect: the job fits into memory"},
        {"run", {"--nodes=2", "--nodes=4"}, "the last one counts, --nodes=4"},
        {"run",
         {"--nodes=4", "--nodes=2", "--nodes=4"},
         "--nodes=2 has no effect: it is given again, and the last one counts, --nodes=4"},
        {"run",
         {"--columns", "--columns=false"},
         "--columns has no effect: it is given again, and the last one counts, --columns=false"},
        {"fabrics", {"--stream=2", "--streams=1,2"}, "--stream=2 has no effect: --streams says"},
        {"fabrics",
         {"--fabrics=dgx-a100:nodes=2"},
         "--nodes=2 has no effect: what --fabrics names says it itself"},
        {"validate",
         {"--only=v100-2", "--min=1M", "--max=1M", "--joinWindow=1us"},
         "--joinWindow=1us has no effect: kernels wait for each other only in launch mode stream"},
        {"flows", {nine, flows, "--serversPerLeaf=2"}, "--serversPerLeaf=2 has no effect"},
        {"flows", {nine, flows, "--trigger=ack"}, "no flow depends on another"},
        {"flows", {"--cluster=dgx-a100", ring, "--payload=99"}, "--payload=99 has no effect: no"},
        {"flows", {"--cluster=dgx-a100", ring, "--overhead=9"}, "no flow has crossed InfiniBand"},
        {"flows", {"--cluster=dgx-a100", ring, "--ackBytes=9"}, "no flow has crossed InfiniBand"},
        {"flows",
         {"--cluster=dgx-a100", ring, "--congestionControl=hpcc"},
         "no flow has crossed InfiniBand"},
        {"schedule", {"--policies=arrival", "--partition=9"}, "no policy of --policies orders"},
        {"schedule", {"--policies=arrival,p3", "--credit=9"}, "no policy of --policies heeds it"},
        {"schedule",
         {"--policies=arrival", "--tune", "--evaluations=2", "--partition=9"},
         "--partition=9 has no effect: --tune searches it"},
        {"schedule", {"--policies=arrival", "--serial"}, "no policy of --policies orders"},
        {"schedule", {"--policies=priority", "--wireClasses=2"}, "add --priorityOn=wire or both"},
        {"schedule", {"--policies=arrival", "--method=grid"}, "nothing is searched; add --tune"},
        {"collective", {"--factor=4"}, "there is one size"},
        {"search",
         {"--prices=" + WORKLOADS + "/prices.json"},
         "rents count with --objective=cost only"},
        {"search", {"--plotOf=front"}, "there is no --plot"},
        {"search", {"--layoutPlans=2"}, "add --vary=layouts"},
        {"search", {"--mostMicroBatch=2"}, "add --vary=microBatch"},
        {"search", {"--joinGrid=1us"}, "nothing is run by packets"},
        {"search", {"--memory=500"}, "is more than the 80 GB of A100-SXM4-80GB"},
        // Attributes of what is not there.
        {"flows", {nine, flows, HPCC}, "no ns3::proteus::HpccType of this run takes it"},
        {"flows",
         {nine, flows, FABRIC + "Pfc=false", FABRIC + "Headroom=400000"},
         "Fabric::Headroom=400000 has no effect: Pfc is off"},
        {"flows", {nine, flows, NETWORK + "Repetition=off"}, "no ns3::proteus::PacketNetwork of"},
        {"collective", {FABRIC + "Pfc=false"}, "Fabric::Pfc=false has no effect: nothing crosses"},
        {"flows",
         {"--cluster=dgx-a100", ring, FABRIC + "Pfc=false"},
         "Fabric::Pfc=false has no effect: nothing crosses roce"},
        {"collective", {NETWORK + "Protocol=LL"}, "no ns3::proteus::PacketNetwork of this run"},
        {"compile", {MODEL, PLAN, FABRIC + "Routing=Spray"}, "no ns3::proteus::Fabric of this"},
        {"fabrics", {HPCC}, "flow: ns3::proteus::HpccType::Eta=0.5 is not modelled"},
        {"schedule", {FABRIC + "Routing=Spray"}, "Fabric::Routing=Spray is taken as ECMP"},
        {"search", {HPCC}, "flow: ns3::proteus::HpccType::Eta=0.5 is not modelled"},
        {"run", {HPCC, "--executor=packet"}, "no ns3::proteus::HpccType of this run takes it"}};
    for (const Mistake& mistake : idle)
    {
        std::vector<std::string> arguments;
        if (mistake.program == "run")
        {
            arguments = flow;
        }
        else if (mistake.program == "gpt3")
        {
            arguments = {"--model=125M", "--executor=flow", "--quiet"};
        }
        else if (mistake.program == "collective")
        {
            arguments = {"--min=1M", "--max=1M", "--quiet"};
        }
        else if (mistake.program == "fabrics")
        {
            arguments = {MODEL, PLAN, "--cluster=dgx-a100", "--nodes=2", "--executor=flow"};
            arguments.insert(arguments.end(), {"--fabrics=fat-tree", "--quiet"});
        }
        else if (mistake.program == "search")
        {
            arguments = {MODEL, "--variables=layers=2", "--nodes=1", "--globalBatch=8", "--quiet"};
            arguments.insert(arguments.end(), {"--flows=1", "--packets=0", "--vary=none"});
        }
        else if (mistake.program == "schedule")
        {
            arguments = {"--model=alexnet", "--strategy=dp=2", "--iterations=2", "--quiet"};
        }
        arguments.insert(arguments.end(), mistake.arguments.begin(), mistake.arguments.end());
        const Outcome outcome = Start(mistake.program, arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        EXPECT_NE(outcome.error.find(mistake.hint), std::string::npos)
            << mistake.hint << ": " << outcome.error;
        const bool hasNotes =
            mistake.program == "run" || mistake.program == "gpt3" || mistake.program == "schedule";
        EXPECT_EQ(outcome.out.find(mistake.hint) != std::string::npos, hasNotes) << outcome.out;
    }
}

TEST(IdleOptions, WhatAScheduleSaysIsNotSaidAgain)
{
    const std::string path = ::testing::TempDir() + "proteus-mistakes.xml";
    std::ofstream(path) << MakePairSchedule("4096");
    const auto start = [&](const std::string& size, const std::string& option) {
        return Start(
            "collective",
            {"--msccl=" + path, "--gpus=2", "--min=" + size, "--max=" + size, option, "--quiet"});
    };
    const Outcome well = start("2K", "--collective=all-gather");
    EXPECT_EQ(well.code, 0) << well.error;
    EXPECT_EQ(well.error, "");
    EXPECT_NE(well.out.find(" in-place"), std::string::npos) << well.out;
    const Outcome large = start("8K", "--iterations=1");
    EXPECT_EQ(large.code, 0) << large.error;
    EXPECT_NE(large.error.find("is for 1024 to 4096 bytes"), std::string::npos) << large.error;
    for (const char* option : {"--algorithm=ring", "--protocol=LL128", "--channels=3"})
    {
        const Outcome named = start("2K", option);
        EXPECT_EQ(named.code, 0) << named.error;
        EXPECT_NE(named.error.find("the schedule of --msccl says it"), std::string::npos) << option;
    }
    for (const char* option : {"--collective=all-reduce", "--collective=barrier"})
    {
        const Outcome refused = start("2K", option);
        EXPECT_EQ(refused.code, 1);
        EXPECT_NE(refused.error.find("is of all-gather"), std::string::npos) << refused.error;
    }
    std::remove(path.c_str());
}

TEST(IdleOptions, MeasuredTimesThatNoKernelTakesAreNamed)
{
    const std::string path = ::testing::TempDir() + "proteus-idle-profile.json";
    const auto compile = [&](const std::string& option) {
        const Outcome outcome =
            Start("compile", {MODEL, PLAN, "--variables=layers=2", "--quiet", option + path});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.error;
    };
    EXPECT_EQ(compile("--kernels="), "");
    EXPECT_EQ(compile("--profile="), "");
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    std::string other = text.str();
    other.replace(other.find("A100-SXM4-80GB", other.find("times")), 14, "H100-SXM5-80GB");
    std::ofstream(path) << other;
    const std::string error = compile("--profile=");
    EXPECT_NE(error.find(": 1 of its "), std::string::npos) << error;
    EXPECT_NE(error.find("the first one H100-SXM5-80GB, "), std::string::npos) << error;
    std::remove(path.c_str());
}

TEST(IdleOptions, OptionsThatDoSomethingAreNotNamed)
{
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"--fabric=leaf-spine",
                                   "--serversPerLeaf=1",
                                   "--spines=2",
                                   "--oversubscription=2"},
          {"--fabric=rail-optimised", "--serversPerGroup=2"},
          {"--fabric=fat-tree", "--switchPorts=8"},
          {"--fabric=torus-2d", "--sizeX=2"},
          {"--cluster=dgx-a100:nic=4x200G", "--fabric=leaf-spine", "--spines=3"},
          {"--executor=flow,packet", "--joinGrid=1us", "--joinWindow=20us"},
          {"--iterations=2", "--crossIteration=tensor"},
          {"--nodes=2", "--cpuVendor=intel", "--netPlugin=efa"},
          {"--quiet", "--quiet"},
          {"--quiet=true", "--nodes=2"},
          {"--gpuSharing=off"},
          {"--executor=alpha-beta", "--gpuSharing=off"},
          {"--executor=distsim", "--repetition=off", "--stream=3"},
          {"--cluster=dgx-a100:nic=1x25G-roce", "--nodes=2", "--stream=3"},
          {"--ncclVersion=2.7"},
          {"--RngSeed=3", "--stream=3"},
          {"--executor=packet", FABRIC + "Routing=Spray", TRANSPORT + "Window=100000"},
          {"--executor=packet", NETWORK + "Channels=2", NETWORK + "LaunchOverhead=9us"},
          {"--executor=packet", TRANSPORT + "CongestionControl=hpcc", HPCC, "--nodes=2"},
          {NETWORK + "Algorithm=ring"},
          {HPCC}, // flows name it themselves
          {"--htae=classic"}})
    {
        std::vector<std::string> words{MODEL, PLAN, "--quiet"};
        words.insert(words.end(), arguments.begin(), arguments.end());
        if (words[3].rfind("--executor=", 0) != 0)
        {
            words.emplace_back("--executor=flow");
        }
        const Outcome outcome = Start("run", words);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        EXPECT_EQ(outcome.error.find("has no effect"), std::string::npos) << outcome.error;
        EXPECT_EQ(outcome.out.find("JoinWindowShare"), std::string::npos) << outcome.out;
    }
}

TEST(IdleOptions, WhatTheJobDoesNotComeToIsANote)
{
    const auto run = [](const std::string& plan, std::vector<std::string> more) {
        more.insert(more.begin(), {MODEL, plan, "--variables=layers=2", "--quiet"});
        const Outcome outcome = Start("run", more);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.out;
    };
    const auto expect = [](const std::string& out, const std::string& option, bool isIdle) {
        EXPECT_EQ(out.find(option + " has no effect") != std::string::npos, isIdle) << out;
    };
    const std::string flow = "--executor=flow";
    expect(run(PLAN, {flow, "--ncclVersion=2.29"}), "flow: --ncclVersion=2.29", true);
    expect(run(PLAN, {flow, "--ncclVersion=2.7"}), "--ncclVersion=2.7", false);
    // It has all-reduces, by rings.
    for (const auto& [option, isIdle] : {std::make_pair("--algorithm=pat", true),
                                         std::make_pair("--algorithm=ring", true),
                                         std::make_pair("--algorithm=tree", false),
                                         std::make_pair("--protocol=LL", false),
                                         std::make_pair("--channels=2", false)})
    {
        expect(run(PLAN, {flow, option}), std::string("flow: ") + option, isIdle);
    }
    const std::string packet = "--executor=packet";
    const std::string channels = "--networkChannels=2";
    expect(run(PLAN, {packet, channels}), "packet: " + channels, true);
    const std::string stages = "--strategy=tp=4,pp=2,dp=2";
    expect(run(stages, {packet, channels}), "packet: " + channels, true); // as NCCL chooses
    expect(run(stages, {packet, "--networkChannels=8"}), "--networkChannels=8", false);
    const std::string sharing = "--gpuSharing=off";
    const std::string replicas = "--strategy=dp=8,globalBatch=8,buckets=";
    expect(run(replicas + "whole", {flow, sharing}), "flow: " + sharing, true);
    expect(run(replicas + "ddp", {flow, sharing}), sharing, false);
    const std::string stream = "--stream=3";
    const std::string cluster = "--cluster=pcie-v100x4";
    expect(run(replicas + "whole", {packet, stream, cluster}), "packet: " + stream, true);
    expect(run(replicas + "whole", {flow, stream, cluster}), "flow: " + stream, true);
    expect(run(replicas + "whole", {flow, stream, cluster + ":nic=25G-roce"}), stream, false);
}

TEST(IdleOptions, ServersWithoutWorkAreNotes)
{
    const auto run = [](const std::string& plan, std::vector<std::string> more) {
        more.insert(more.begin(),
                    {MODEL, plan, "--variables=layers=2", "--executor=flow", "--quiet"});
        const Outcome outcome = Start("run", more);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.out;
    };
    const std::string idle = "; the others have no work";
    const std::string three = "--nodes=3";
    EXPECT_NE(run("--strategy=tp=4,dp=4", {three})
                  .find("flow: --nodes=3: the job has 16 GPUs of 2 servers" + idle),
              std::string::npos);
    const std::string text = "--cluster=dgx-a100:nodes=3,nic=4x200G-roce";
    EXPECT_NE(run("--strategy=tp=4,dp=4", {text})
                  .find("flow: " + text + ": the job has 16 GPUs of 2 servers" + idle),
              std::string::npos);
    EXPECT_EQ(run("--strategy=tp=4,dp=5,globalBatch=5", {three}).find(idle), std::string::npos);
    // What was not asked for: a preset is of two servers.
    EXPECT_EQ(run("--strategy=tp=4,dp=1", {}).find(idle), std::string::npos);
    EXPECT_EQ(run("--strategy=tp=4,dp=4",
                  {three, "--scenario=" + WORKLOADS + "/scenarios/placement.json"})
                  .find(idle),
              std::string::npos);
}

// What ns-3 reads by itself.
TEST(IdleOptions, EnvironmentVariablesOfNs3AreNamed)
{
    const std::string name = "NS_GLOBAL_VALUE";
    ASSERT_EQ(setenv(name.c_str(), "RngRun=7", 0), 0);
    const Outcome outcome = Start("run", {MODEL, PLAN, "--executor=flow", "--quiet"});
    unsetenv(name.c_str());
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    ExpectNote(outcome, "the environment variable " + name + " is set");
}

// What NCCL would read, and nothing here does.
TEST(IdleOptions, EnvironmentVariablesOfNcclAreNamed)
{
    ASSERT_EQ(setenv("NCCL_PROTO", "LL", 0), 0);
    ASSERT_EQ(setenv("NCCL_ALGO", "Tree", 0), 0);
    ASSERT_EQ(setenv("NCCL_DEBUG", "INFO", 0), 0);
    const Outcome run = Start("run", {MODEL, PLAN, "--executor=flow", "--quiet"});
    const Outcome flows = Start("cluster", {"--cluster=dgx-a100", "--quiet"});
    unsetenv("NCCL_PROTO");
    unsetenv("NCCL_ALGO");
    unsetenv("NCCL_DEBUG");
    EXPECT_EQ(run.code, 0) << run.error;
    ExpectNote(run, "variables of NCCL in the environment have no effect");
    ExpectNote(run, "(NCCL_ALGO, NCCL_PROTO)");
    EXPECT_EQ(flows.error.find("NCCL_"), std::string::npos) << flows.error;
}

// A least time that no kernel falls below.
TEST(IdleOptions, LaunchIntervalsAndFormatsThatChangeNothingAreNotes)
{
    const std::string graph = "--graph=" + WORKLOADS + "/graphs/data-parallel-8.json";
    const auto run = [&](const std::string& option) {
        return Start("run", {graph, "--nodes=1", "--executor=flow", "--quiet", option});
    };
    ExpectNote(run("--launchInterval=10us"), "no kernel is shorter than it");
    ExpectNote(run("--dataType=fp8"), "--dataType=fp8 has no effect: the file has the formats");
    const Outcome slow = run("--launchInterval=20ms");
    EXPECT_EQ(slow.code, 0) << slow.error;
    EXPECT_EQ(slow.error.find("no effect"), std::string::npos) << slow.error;
}

TEST(IdleOptions, SchedulesOfNothingToOrderAreNotes)
{
    const auto run = [](const std::string& schedule, const std::string& more = "") {
        return Start(
            "run",
            Small({"--strategy=dp=8,buckets=whole" + more, "--communicationSchedule=" + schedule}));
    };
    ExpectNote(run("priority"),
               "--communicationSchedule=priority has no effect: no GPU has more than one "
               "communication of kind data, so that there is nothing to order");
    ExpectNote(run("priority,kinds=tensor+expert"),
               "has no effect: the job has no communication of kind tensor or expert");
    for (const Outcome& outcome :
         {run("priority,partBytes=50000000"),
          run("priority,messagePs=5000000"),
          Start("run", Small({"--strategy=dp=8,buckets=ddp", "--communicationSchedule=priority"}))})
    {
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        EXPECT_EQ(outcome.error.find("nothing to order"), std::string::npos) << outcome.error;
    }
}

TEST(IdleOptions, LinksThatACalibrationLeavesOutAreNotes)
{
    const Folder folder;
    const auto run = [&](const std::string& links) {
        const std::string file =
            folder.Write("c.json",
                         R"({"format": "proteus-flow-calibration", "version": 1,
 "cluster": "1 x dgx-a100", "provenance": "p", "links": {)" +
                             links + R"(},
 "errors_held_out": {"mean": 0.1, "max": 0.2, "worst": "w", "samples": 3}})");
        const Outcome outcome = Start("run", Small({"--strategy=dp=8", "--calibration=" + file}));
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.out;
    };
    const std::string values = R"({"efficiency": 1, "sharing": 1, "latency_us": 0})";
    const std::string part = run(R"("pcie": )" + values);
    EXPECT_NE(part.find("says nothing of links nvlink, which are as without calibration"),
              std::string::npos)
        << part;
    EXPECT_EQ(part.find("says nothing of links pcie"), std::string::npos) << part;
}

TEST(IdleOptions, SettingsOfLinksThatAClusterHasNotAreNotesWithoutRecordsOfLinks)
{
    const auto run = [](const std::string& cluster,
                        const std::string& strategy = "--strategy=dp=16") {
        const Outcome outcome = Start("run",
                                      {MODEL,
                                       "--variables=layers=1",
                                       strategy,
                                       "--nodes=2",
                                       "--quiet",
                                       "--executor=distsim",
                                       "--cluster=" + cluster,
                                       FABRIC + "Pfc=false"});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.out;
    };
    const std::string idle = "distsim: ns3::proteus::Fabric::Pfc=false has no effect";
    const std::string without = run("dgx-a100");
    EXPECT_NE(without.find(idle + ": nothing crosses roce"), std::string::npos) << without;
    const std::string with = run("dgx-a100:nic=8x200G-roce");
    EXPECT_EQ(with.find(idle), std::string::npos) << with;
    // A job of one server crosses none of them.
    const std::string inside = run("dgx-a100:nic=8x200G-roce", "--strategy=dp=8");
    EXPECT_NE(inside.find(idle + ": nothing crosses roce"), std::string::npos) << inside;
}

// A flow goes over all NVLinks of its GPU: nothing is left to chance inside a server.
TEST(IdleOptions, StreamsOfFlowsInsideAServerAreNotes)
{
    const std::string graph = "--graph=" + WORKLOADS + "/graphs/data-parallel-8.json";
    const auto run = [&](const std::string& executor) {
        return Start("run",
                     {graph, "--nodes=1", "--executor=" + executor, "--quiet", "--stream=7"});
    };
    const std::string note = "Note: flow: --stream=7 has no effect: no two paths are equal";
    EXPECT_NE(run("flow").out.find(note), std::string::npos);
    EXPECT_EQ(run("packet").out.find("--stream=7"), std::string::npos);
}

// The default of --executor gives way to --htae; so does the same value that was typed.
TEST(IdleOptions, AnExecutorThatAnotherOptionReplacesIsNamed)
{
    const Outcome outcome =
        Start("run", {MODEL, PLAN, "--executor=packet", "--htae=Classic", "--quiet"});
    ExpectNote(outcome, "--executor=packet has no effect: --htae=classic alone means");
}

// Settings that another one switches off.
TEST(IdleOptions, SettingsThatOthersSwitchOffAreNotes)
{
    const std::string control = "--ns3::proteus::DcqcnType::G=0.1";

    struct Case
    {
        std::vector<std::string> typed;
        std::string idle; // what the notes say, or else do not say
        bool isIdle;
    };

    const std::vector<Case> cases{
        {{"Pfc=false", "Headroom=400000"}, "Headroom=400000 has no effect: Pfc is off", true},
        {{"Pfc=false", "PfcClasses=1"}, "PfcClasses=1 has no effect: Pfc is off", true},
        {{"Headroom=400000", "PfcClasses=1"}, "has no effect", false},
        {{"Ecn=false", "EcnMinBytes=1000"},
         "EcnMinBytes=1000 has no effect: no port marks packets",
         true},
        {{"Ecn=false", control}, "G=0.1 has no effect: no port marks packets", true},
        {{"EcnMinBytes=1000", control}, "has no effect", false},
        {{"CutThroughBytes=128"}, "CutThroughBytes=128 has no effect: nothing crosses", true},
        {{"CutThroughBytes=128", "RoceCutThrough=true"}, "has no effect", false},
        {{"PfcClasses=5"}, "PfcClasses=5 has no effect: no traffic class is lossless", true},
        {{"PfcClasses=5", "TrafficClasses=6"}, "has no effect", false},
        {{"PfcClasses=1,5"}, "PfcClasses=1,5: 5 has no effect: there are 2 traffic classes", true},
        {{"ClassWeights=0,2,3,4"}, "4: 3,4 has no effect: there are 2 traffic classes", true},
        {{"ClassWeights=0,2,3,4", "TrafficClasses=4"}, "has no effect", false},
        {{"RerouteDelay=1ms"}, "RerouteDelay=1ms has no effect: no link fails", true},
        {{"TelemetryBytes=60"}, "the congestion control asks for no telemetry", true},
        {{"TelemetryBytes=60", "--ns3::proteus::Transport::CongestionControl=hpcc"},
         "has no effect",
         false}};
    for (const Case& one : cases)
    {
        std::vector<std::string> words{MODEL,
                                       "--variables=layers=1,sequence=256",
                                       "--strategy=tp=4,dp=4",
                                       "--cluster=dgx-a100:nodes=2,nic=8x100G-roce",
                                       "--quiet"};
        for (const std::string& word : one.typed)
        {
            words.push_back(word[0] == '-' ? word : FABRIC + word);
        }
        const Outcome outcome = Start("run", words);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        EXPECT_EQ(outcome.out.find(one.idle) != std::string::npos, one.isIdle)
            << one.typed[0] << "\n"
            << outcome.out;
    }
}

TEST(IdleOptions, ChoicesAmongPathsOfWhichNoTwoAreEqualAreNotes)
{
    const Outcome outcome = Start("run",
                                  {MODEL,
                                   "--variables=layers=1,sequence=256",
                                   "--strategy=dp=4",
                                   "--cluster=pcie-v100x4:nodes=1",
                                   FABRIC + "Routing=Adaptive",
                                   "--quiet"});
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_NE(outcome.out.find("Routing=Adaptive has no effect: no two paths are equal"),
              std::string::npos)
        << outcome.out;
}

TEST(IdleOptions, AlgorithmsThatAVersionHasNotAreNotes)
{
    const Outcome outcome = Start("run",
                                  {MODEL,
                                   "--variables=layers=1,sequence=256",
                                   "--strategy=tp=4,dp=4,zero=1",
                                   "--algorithm=pat",
                                   "--ncclVersion=2.20",
                                   "--executor=flow",
                                   "--quiet"});
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_NE(outcome.out.find("flow: NCCL 2.20 has no algorithm pat, but"), std::string::npos)
        << outcome.out;
}

// What the short form of a cluster says of a network that nothing crosses.
TEST(IdleOptions, PartsOfClustersThatNothingCrossesAreNotes)
{
    const auto run = [](const std::string& plan) {
        const Outcome outcome = Start("run",
                                      {MODEL,
                                       plan,
                                       "--cluster=dgx-a100:nodes=2,nic=4x200G-roce,leafs=2",
                                       "--variables=layers=2",
                                       "--executor=flow",
                                       "--quiet"});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.out;
    };
    const std::string idle = " has no effect: nothing leaves a server";
    const std::string inside = run("--strategy=tp=4,dp=2");
    EXPECT_NE(inside.find("roce,leafs=2: nic=4x200G-roce" + idle), std::string::npos) << inside;
    EXPECT_NE(inside.find("roce,leafs=2: leafs=2" + idle), std::string::npos) << inside;
    EXPECT_EQ(inside.find("nodes=2" + idle), std::string::npos) << inside;
    EXPECT_EQ(run("--strategy=tp=4,dp=4").find(idle), std::string::npos);
}

TEST(IdleOptions, SettingsOfLinksThatNothingCrossesAreNotes)
{
    const auto run = [](const std::string& plan, std::vector<std::string> more) {
        more.insert(more.begin(), {MODEL, plan, "--variables=layers=2", "--quiet"});
        const Outcome outcome = Start("run", more);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.out;
    };
    const std::string control = "--ns3::proteus::DcqcnType::G=0.1";
    const std::string idle = " has no effect: nothing crosses ";
    const auto has = [](const std::string& out, const std::string& text) {
        return out.find(text) != std::string::npos;
    };
    for (const char* executor : {"--executor=packet", "--executor=flow"})
    {
        const std::string out = run("--strategy=tp=4,dp=4", {executor, control, "--netPlugin=efa"});
        EXPECT_TRUE(has(out, "DcqcnType::G=0.1" + idle + "roce")) << out;
        EXPECT_FALSE(has(out, "NetPlugin=efa")) << out;
        // Eight of sixteen GPUs, all in one server.
        const std::string inside = run("--strategy=tp=4,dp=2", {executor, "--netPlugin=efa"});
        EXPECT_TRUE(has(inside, "NetPlugin=efa" + idle + "infiniband or roce")) << inside;
        const std::string fabric = "--fabric=leaf-spine";
        const std::string alone = run("--strategy=tp=4,dp=2", {executor, fabric});
        EXPECT_TRUE(has(alone, fabric + " has no effect: nothing leaves a server")) << alone;
        // Two servers, both on one leaf or one on each.
        const std::string leaves = "--serversPerLeaf=1";
        const std::string spines = "--spines=2";
        const std::string outside = run("--strategy=tp=4,dp=4", {executor, fabric, spines});
        for (const std::string& option : {fabric, spines})
        {
            EXPECT_TRUE(has(outside, option + " has no effect: nothing goes from one switch of"))
                << outside;
        }
        const std::string across = run("--strategy=tp=4,dp=4", {executor, fabric, spines, leaves});
        EXPECT_FALSE(has(across, " has no effect")) << across;
        const std::string roce =
            run("--strategy=tp=4,dp=4", {executor, control, "--cluster=dgx-a100:nic=8x200G-roce"});
        EXPECT_FALSE(has(roce, idle)) << roce;
    }
    const std::string out =
        run("--strategy=tp=4,dp=4",
            {"--executor=packet", FABRIC + "Pfc=false", FABRIC + "NvlinkBuffer=2000000"});
    EXPECT_TRUE(has(out, "Fabric::Pfc=false" + idle + "roce")) << out;
    EXPECT_FALSE(has(out, "NvlinkBuffer")) << out;
}

// What proteus-bench does, which is no CommandLineProgram.
TEST(IdleOptions, AProgramOfItsOwnNamesThem)
{
    int64_t size = 0;
    std::string kind;
    OptionList command("test");
    command.AddValue("size", "a number", size);
    command.AddValue("kind", "a text", kind);
    command.AddIdle("kind", [&size]() { return size > 0 ? "" : "there is no size"; });
    std::vector<std::string> heard;
    const WarningListener listener([&heard](const std::string& text) {
        heard.push_back(text);
        return false;
    });
    std::ostringstream out;
    ASSERT_TRUE(command.ParseAndWarn({"test", "--size=1", "--size=0", "--kind=a"}, out));
    const std::vector<std::string> lines{
        "--size=1 has no effect: it is given again, and the last one counts, --size=0",
        "--kind=a has no effect: there is no size"};
    EXPECT_EQ(heard, lines);
    EXPECT_EQ(command.GetNotes(), lines);
    EXPECT_FALSE(command.ParseAndWarn({"test", "--help"}, out));
}

// Which is known after the run, and said among its results.
TEST(IdleOptions, WhatAJobWithoutCommunicationDoesNotNeed)
{
    const auto run = [](const std::string& strategy, const std::vector<std::string>& more) {
        std::vector<std::string> words{MODEL, "--strategy=" + strategy, "--variables=layers=1"};
        words.emplace_back("--quiet");
        words.insert(words.end(), more.begin(), more.end());
        return Start("run", words).out;
    };
    const std::string idle = " has no effect: no GPU of the job sends anything to another one";
    for (const std::string option : {"--algorithm=ring",
                                     "--ncclVersion=2.10",
                                     "--cpuVendor=amd",
                                     "--communicationSchedule=p3",
                                     "--joinWindow=0",
                                     "--joinGrid=1us"})
    {
        const std::string out = run("dp=1", {option});
        EXPECT_NE(out.find("Note: packet: " + option + idle), std::string::npos) << option << out;
        EXPECT_EQ(out.find(option, out.find(idle)), std::string::npos) << out; // once
        EXPECT_EQ(run("dp=2", {option, "--executor=flow"}).find(idle), std::string::npos) << option;
    }
    EXPECT_NE(run("dp=2", {"--cpuVendor=amd", "--executor=flow"})
                  .find("flow: --cpuVendor=amd has no effect: this job communicates alike"),
              std::string::npos);
}

#ifndef NS3_LOG_ENABLE
TEST(IdleOptions, LogsThatABuildHasNot)
{
    ASSERT_EQ(setenv("NS_LOG", "*", 1), 0);
    const Outcome outcome = Start("compile", {MODEL, PLAN});
    unsetenv("NS_LOG");
    EXPECT_NE(outcome.error.find("NS_LOG has no effect: this build of ns-3 has no logs"),
              std::string::npos)
        << outcome.error;
}
#endif
