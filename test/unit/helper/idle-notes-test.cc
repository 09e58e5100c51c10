/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "small-job.h"

#include "ns3/proteus-attribute-watch.h"
#include "ns3/proteus-fabric.h"

#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace ns3::proteus;

TEST(IdleNotes, AttributesOfOtherCommunicationAreNamed)
{
    const auto run = [](const std::string& plan, const std::string& option) {
        const Outcome outcome = Start("run",
                                      {MODEL,
                                       plan,
                                       "--variables=layers=2",
                                       "--nodes=1",
                                       "--executor=flow",
                                       "--quiet",
                                       option});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.out;
    };
    const auto expect = [](const std::string& out, const std::string& text, bool isThere) {
        EXPECT_EQ(out.find(text) != std::string::npos, isThere) << text << "\n" << out;
    };
    // Channels of a communicator are those of messages, which a job without a pipeline has not.
    for (const char* name : {"CommunicatorRanks=4", "CommunicatorServers=2", "ChunkBytes=65536"})
    {
        const std::string option = NETWORK + name;
        expect(run("--strategy=dp=1,globalBatch=1", option),
               option + " has no effect: no GPU",
               true);
        const bool isOfCollectives = name == std::string("ChunkBytes=65536");
        expect(run("--strategy=tp=2,dp=2,globalBatch=2", option),
               option + " has no effect: this job communicates alike",
               !isOfCollectives);
    }
    for (const char* name : {"LaunchOverhead=3us", "KernelCosts=false"})
    {
        expect(run("--strategy=dp=1,globalBatch=1", NETWORK + name),
               NETWORK + name + " has no effect: no GPU of the job sends anything",
               true);
        expect(run("--strategy=tp=2,dp=1,globalBatch=1", NETWORK + name), "has no effect", false);
    }
    const std::string acks = "--ns3::proteus::Transport::AckEveryPackets=2";
    expect(run("--strategy=tp=2,dp=2,globalBatch=2", acks),
           acks + " has no effect: nothing leaves a server",
           true);
    // Whether kernels would be slowed is not known of a run in which nothing slows them.
    expect(run("--strategy=dp=8,globalBatch=8,buckets=ddp", "--gpuSharing=off"),
           "--gpuSharing=off: kernels are beside communication for ",
           true);
}

TEST(IdleNotes, WaysIntoOtherServersLeadThroughNics)
{
    // PCIe switches have two NICs, but who sends says which.
    const std::vector<std::string> base{"--cluster=dgx-a100",
                                        "--nodes=2",
                                        "--min=64K",
                                        "--max=64K",
                                        "--executor=flow",
                                        "--quiet"};
    for (const auto& [option, cause] :
         {std::make_pair("--stream=3", "no two paths are equal"),
          std::make_pair("--ns3::proteus::Fabric::Routing=Spray", "no two paths are equal"),
          std::make_pair("--ns3::proteus::PacketNetwork::CommunicatorRanks=4",
                         "the sizes that were run communicate alike without it")})
    {
        for (const std::string fabric : {"single-switch", "leaf-spine"})
        {
            std::vector<std::string> words = base;
            words.insert(words.end(), {option, "--fabric=" + fabric});
            words.insert(words.end(), fabric == "leaf-spine", "--serversPerLeaf=1");
            const Outcome outcome = Start("collective", words);
            EXPECT_EQ(outcome.code, 0) << outcome.error;
            const bool isPath = cause == std::string("no two paths are equal");
            EXPECT_EQ(outcome.error.find(option + std::string(" has no effect: ") + cause) !=
                          std::string::npos,
                      !isPath || fabric == "single-switch")
                << option << " " << fabric << "\n"
                << outcome.error;
        }
    }
}

TEST(IdleNotes, WhatTheJobDoesNotComeToIsANote)
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
    // Without PXN, which no all-reduce here needs.
    expect(run(PLAN, {flow, "--ncclVersion=2.7"}), "flow: --ncclVersion=2.7", true);
    expect(run(PLAN, {flow, "--ncclVersion=2.3"}), "--ncclVersion=2.3", false);
    // It has all-reduces, by rings.
    for (const auto& [option, isIdle] : {std::make_pair("--algorithm=pat", true),
                                         std::make_pair("--algorithm=ring", true),
                                         std::make_pair("--algorithm=tree", false),
                                         std::make_pair("--protocol=LL", false),
                                         std::make_pair("--channels=2", false)})
    {
        expect(run(PLAN, {flow, option}), std::string("flow: ") + option, isIdle);
    }
    // Attributes of the same settings, and equal paths, of which one server with rings has none.
    expect(run(PLAN, {flow, NETWORK + "Algorithm=ring"}),
           "flow: " + NETWORK + "Algorithm=ring",
           true);
    expect(run(PLAN, {flow, NETWORK + "Algorithm=tree"}), NETWORK + "Algorithm=tree", false);
    const std::string spray = FABRIC + "Routing=Spray";
    const std::string four = "--strategy=dp=4,dataType=fp32";
    expect(run(four, {flow, "--cluster=pcie-v100x4", "--nodes=1", spray}), "flow: " + spray, true);
    const std::vector<std::string> leaves{"--fabric=leaf-spine", "--serversPerLeaf=1"};
    expect(run(PLAN, {flow, leaves[0], leaves[1], spray}), "flow: " + spray, false);
    const std::string packet = "--executor=packet";
    const std::string channels = "--networkChannels=2";
    expect(run(PLAN, {packet, channels}), "packet: " + channels, true);
    // Versions launch kernels, and store into buffers, otherwise where the host is not ahead.
    const std::string version = "--ncclVersion=2.18.3";
    expect(run(PLAN, {flow, version}), "flow: " + version, true);
    expect(run(PLAN, {packet, version}), "packet: " + version, true);
    const std::string mode = "--ns3::proteus::PacketNetwork::LaunchMode=process-per-gpu";
    expect(run(PLAN, {packet, version, mode}), version, false);
    const std::string stages = "--strategy=tp=4,pp=2,dp=2";
    expect(run(stages, {packet, channels}), "packet: " + channels, true); // as NCCL chooses
    expect(run(stages, {packet, "--networkChannels=8"}), "--networkChannels=8", false);
    const std::string sharing = "--gpuSharing=off";
    const std::string replicas = "--strategy=dp=8,globalBatch=8,buckets=";
    expect(run(replicas + "whole", {flow, sharing}), "flow: " + sharing, true);
    expect(run(replicas + "ddp", {flow, sharing}), sharing, false);
    for (const char* option : {"--computeSlowdown=0.2", "--communicationSlowdown=0.2"})
    {
        expect(run(replicas + "whole", {flow, option}), std::string("flow: ") + option, true);
        expect(run(replicas + "ddp", {flow, option}), option, false);
    }
    const std::string classic = "--executor=classic";
    for (const char* option : {"--overlapFactor=0.3", "--linkSharing=off"})
    {
        expect(run(replicas + "whole", {classic, option}), std::string("classic: ") + option, true);
    }
    expect(run(replicas + "ddp", {classic, "--overlapFactor=0.3"}), "--overlapFactor=0.3", false);
    // Eight samples take 57 ms: 1000 a second are ready in 8, 10 in 800.
    for (const char* rate : {"1000", "10"})
    {
        expect(run("--strategy=dp=8,globalBatch=8,dataSamplesPerS=" + std::string(rate), {flow}),
               std::string("dataSamplesPerS of the strategy"),
               std::string(rate) == "1000");
    }
    const std::string apart = "--linkSharing=off";
    expect(run("--strategy=tp=2,dp=4", {classic, apart}), apart, false); // groups of two
    const std::string stream = "--stream=3";
    const std::string cluster = "--cluster=pcie-v100x4";
    expect(run(replicas + "whole", {packet, stream, cluster}), "packet: " + stream, true);
    expect(run(replicas + "whole", {flow, stream, cluster}), "flow: " + stream, true);
    expect(run(replicas + "whole", {flow, stream, cluster + ":nic=25G-roce"}), stream, false);
}

TEST(IdleNotes, ServersWithoutWorkAreNotes)
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
    EXPECT_NE(run("--strategy=tp=4,dp=4",
                  {three, "--scenario=" + WORKLOADS + "/scenarios/placement.json"})
                  .find("flow: --nodes=3: the job has 16 GPUs of 2 servers" + idle),
              std::string::npos);
}

// As the framework has it, and said so.
TEST(IdleNotes, WithoutAStrategyEveryGpuIsAReplica)
{
    const auto run = [](const std::string& framework, const std::string& strategy) {
        std::vector<std::string> more{MODEL,
                                      "--variables=layers=2",
                                      "--cluster=dgx-a100:nodes=1",
                                      "--executor=flow",
                                      "--framework=" + framework};
        if (!strategy.empty())
        {
            more.push_back("--strategy=" + strategy);
        }
        const Outcome outcome = Start("run", more);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        const std::size_t time = outcome.out.find("iteration time");
        EXPECT_NE(time, std::string::npos);
        EXPECT_EQ(outcome.out.find("Note: no --strategy") != std::string::npos, strategy.empty());
        return outcome.out.substr(time, outcome.out.find('\n', time) - time);
    };
    EXPECT_EQ(run("fsdp2", ""), run("fsdp2", "dp=8"));
    EXPECT_EQ(run("fsdp2", ""), run("fsdp2", "dp=8,zero=3,microBatch=1,globalBatch=8"));
    EXPECT_NE(run("fsdp2", ""), run("ddp", ""));
}

// Where experts are exchanged, and nobody said how busy devices are.
TEST(IdleNotes, BalancedExpertsAreNamed)
{
    const auto run = [](const std::string& plan, const std::string& busiest) {
        const Outcome outcome = Start("run",
                                      {"--model=mixtral-8x7b",
                                       "--variables=layers=1" + busiest,
                                       "--cluster=dgx-a100:nodes=1",
                                       "--executor=flow",
                                       "--strategy=" + plan});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.out.find("Note: devices with experts are equally busy") != std::string::npos;
    };
    EXPECT_TRUE(run("dp=8,ep=8", ""));
    EXPECT_FALSE(run("dp=8,ep=8", ",busiest=150"));
    EXPECT_FALSE(run("dp=2", ""));
}

// A least time that no kernel falls below.
TEST(IdleNotes, LaunchIntervalsAndFormatsThatChangeNothingAreNotes)
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

TEST(IdleNotes, SchedulesOfNothingToOrderAreNotes)
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

TEST(IdleNotes, LinksThatACalibrationLeavesOutAreNotes)
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

TEST(IdleNotes, SettingsOfLinksThatAClusterHasNotAreNotesWithoutRecordsOfLinks)
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
TEST(IdleNotes, StreamsOfFlowsInsideAServerAreNotes)
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

// Settings that another one switches off.
TEST(IdleNotes, SettingsThatOthersSwitchOffAreNotes)
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
        {{"Headroom=400000"}, "Headroom=400000 has no effect: nothing was paused", true},
        {{"PfcClasses=1"}, "has no effect", false},
        {{"Ecn=false", "EcnMinBytes=1000"},
         "EcnMinBytes=1000 has no effect: no port marks packets",
         true},
        {{"Ecn=false", control}, "G=0.1 has no effect: no port marks packets", true},
        {{"EcnMinBytes=1000"}, "EcnMinBytes=1000 has no effect: no packet was marked", true},
        {{"EcnMinBytes=200000"}, "EcnMinBytes=200000 has no effect: no queue of a switch", true},
        {{"Ecn=false"}, "Ecn=false has no effect: no queue of a switch was so long", true},
        {{"Ecn=true"}, "has no effect", false},
        {{"EcnMinBytes=1000", control}, "G=0.1 has no effect: no packet was marked", true},
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

// Queues of an incast are so long that packets are marked, if not as many.
TEST(IdleNotes, WhatMarksFewerPacketsOfManyIsNotNamed)
{
    for (const char* fewer : {"Ecn=false", "EcnMinBytes=300000", "EcnMaxProbability=0.1"})
    {
        const Outcome outcome = Start("flows",
                                      {"--cluster=" + WORKLOADS + "/flows/switch-9.txt",
                                       "--flows=" + WORKLOADS + "/flows/incast-8.csv",
                                       FABRIC + fewer});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        EXPECT_EQ(outcome.error.find("has no effect"), std::string::npos) << outcome.error;
    }
}

// Parts of DCQCN that no sender has come to, in an incast of less than 10 MB from each.
TEST(IdleNotes, PartsOfDcqcnThatNoSenderComesToAreNamed)
{
    const auto run = [](const std::string& attribute) {
        std::vector<std::string> words{"--cluster=" + WORKLOADS + "/flows/switch-9.txt",
                                       "--flows=" + WORKLOADS + "/flows/incast-8.csv"};
        if (!attribute.empty())
        {
            words.push_back("--ns3::proteus::DcqcnType::" + attribute);
        }
        return Start("flows", words);
    };
    const auto findEnd = [](const Outcome& outcome) {
        const std::size_t at = outcome.out.find("last byte");
        return outcome.out.substr(at, outcome.out.find('\n', at) - at);
    };
    const std::string usual = findEnd(run(""));
    for (const char* idle : {"HyperIncrease=1Gbps has no effect: no sender came to a step of hyper",
                             "ByteCounter=9000000 has no effect: no sender has sent so much since"})
    {
        const Outcome outcome = run(std::string(idle, std::string(idle).find(' ')));
        EXPECT_NE(outcome.error.find(idle), std::string::npos) << outcome.error;
        EXPECT_EQ(findEnd(outcome), usual);
    }
    for (const char* used :
         {"ByteCounter=100000", "IncreaseTimer=50us", "FastRecoverySteps=1", "MinimumRate=1Gbps"})
    {
        const Outcome outcome = run(used);
        EXPECT_EQ(outcome.error.find("has no effect"), std::string::npos) << outcome.error;
        EXPECT_NE(findEnd(outcome), usual) << used;
    }
}

TEST(IdleNotes, ChoicesAmongPathsOfWhichNoTwoAreEqualAreNotes)
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

TEST(IdleNotes, AlgorithmsThatAVersionHasNotAreNotes)
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
TEST(IdleNotes, PartsOfClustersThatNothingCrossesAreNotes)
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
    // What is inside a server has an effect there.
    const Outcome cards =
        Start("collective",
              {"--cluster=4xL40S:Memory=8xDDR4-3200,pcie=4x8", "--min=64K", "--max=64K"});
    EXPECT_EQ(cards.code, 0) << cards.error;
    EXPECT_EQ((cards.out + cards.error).find(idle), std::string::npos) << cards.error;
}

TEST(IdleNotes, SettingsOfLinksThatNothingCrossesAreNotes)
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

// Vendor and variables may count at other sizes than those that are run.
TEST(IdleNotes, ChoicesThatNoSizeOfACollectiveHeeds)
{
    const auto run = [](const std::string& option) {
        return Start("collective",
                     {"--cluster=dgx-h100",
                      "--nodes=2",
                      "--min=4M",
                      "--max=4M",
                      "--iterations=1",
                      "--quiet",
                      option})
            .error;
    };
    const std::string idle = " has no effect: the sizes that were run communicate alike without it";
    for (const std::string option : {"--cpuVendor=amd",
                                     "--nccl=NCCL_MIN_NCHANNELS=8",
                                     "--nccl=NCCL_P2P_LEVEL=NVL",
                                     "--nccl=NCCL_NET_GDR_LEVEL=SYS",
                                     "--nccl=NCCL_PXN_DISABLE=1"})
    {
        EXPECT_NE(run(option).find(option + idle), std::string::npos) << run(option);
    }
    EXPECT_EQ(run("--nccl=NCCL_NET_GDR_LEVEL=0"), ""); // by host memory
    EXPECT_EQ(run("--nccl=NCCL_MAX_CTAS=2"), "");
    EXPECT_EQ(run("--algorithm=ring"), "");
}

TEST(IdleNotes, FabricsThatNoSizeOfACollectiveCrosses)
{
    const auto run = [](const std::string& option, const std::string& spines = "4") {
        return Start("collective",
                     {"--cluster=pcie-v100x4",
                      "--nodes=2",
                      "--min=1M",
                      "--max=2M",
                      "--iterations=1",
                      "--quiet",
                      "--fabric=leaf-spine",
                      "--spines=" + spines,
                      option})
            .error;
    };
    const std::string idle = " has no effect: nothing goes from one switch of the network to";
    const std::string inside = run("--oversubscription=2");
    EXPECT_NE(inside.find("--oversubscription=2" + idle), std::string::npos) << inside;
    EXPECT_NE(inside.find("--fabric=leaf-spine" + idle), std::string::npos) << inside;
    EXPECT_EQ(run("--serversPerLeaf=1", "1"), "");
    // One NIC of a leaf shared out to four spines.
    const std::string thin = run("--serversPerLeaf=1");
    EXPECT_NE(thin.find("links between switches are slower than NICs, as no cable of theirs is "
                        "(leaf0 - spine0 25 Gb/s, a NIC 100 Gb/s)"),
              std::string::npos)
        << thin;
}

// Which is known after the run, and said among its results.
TEST(IdleNotes, WhatAJobWithoutCommunicationDoesNotNeed)
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

// proteus-bench runs its cases, and packets their long communications, in processes of their own.
TEST(IdleNotes, AnAttributeThatAnotherProcessTakesIsNotIdle)
{
    const Configuration given{{"ns3::proteus::Fabric::Ecn", "false"},
                              {"ns3::proteus::PacketNetwork::Algorithm", "tree"}};
    WatchAttributes(given);
    ASSERT_EQ(FindIdleAttributes(given, AttributeReaders::NOBODY).size(), 2);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0)
    {
        ns3::CreateObject<Fabric>();
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    const auto idle = FindIdleAttributes(given, AttributeReaders::NOBODY);
    ASSERT_EQ(idle.size(), 1);
    EXPECT_EQ(idle[0].rfind("--ns3::proteus::PacketNetwork::Algorithm=tree has no effect", 0), 0);
    ns3::Config::Reset();
}
