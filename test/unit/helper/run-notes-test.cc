/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What programs say of runs that they do not print one by one.

#include "small-job.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// The beginning of what is said of losses.
const std::string LOST = "packets did not arrive, or were sent again: ";

} // namespace

TEST(RunNotes, LossesOfCollectivesAreNamed)
{
    const Folder folder;
    const auto start = [&](const std::string& link) {
        const std::string json = folder.Get() + "/c.json";
        const Outcome outcome = Start("collective",
                                      {"--cluster=" + folder.Write("two.json", TwoGpus(link)),
                                       "--min=1M",
                                       "--max=2M",
                                       "--json=" + json,
                                       "--quiet"});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        std::ostringstream text;
        text << std::ifstream(json).rdbuf();
        EXPECT_EQ(text.str().find(LOST) != std::string::npos,
                  outcome.error.find(LOST) != std::string::npos)
            << text.str();
        return outcome.error;
    };
    EXPECT_EQ(start(""), "");
    const std::string lossy = start(R"(, "loss_probability": 0.001)");
    EXPECT_NE(lossy.find("warning: packet: " + LOST + "0 packets dropped, "), std::string::npos)
        << lossy;
    EXPECT_EQ(lossy.find(" 0 repeated"), std::string::npos) << lossy;
}

TEST(RunNotes, TimesBeforeTheGpusBeginAreNamed)
{
    const auto start = [](const std::vector<std::string>& more) {
        std::vector<std::string> words{PING, "--cluster=dgx-a100", "--nodes=1", "--quiet"};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = Start("run", words);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.out;
    };
    const std::string note = "the GPUs begin 1.000 ms after time 0";
    EXPECT_NE(start({"--ns3::Application::StartTime=1ms"}).find(note), std::string::npos);
    EXPECT_EQ(start({}).find("the GPUs begin"), std::string::npos);
}

TEST(RunNotes, LossesAndApproximationsOfWorkloadsAreNamed)
{
    const Folder folder;
    const std::string list = folder.Write("l.json",
                                          R"({"format": "proteus-evaluation", "version": 1,
 "workloads": [{"name": "w", "model": "gpt2-small", "variables": {"layers": 1},
  "cluster": "dgx-a100:nic=1x100G-roce", "nodes": 2,
  "strategies": [{"name": "s", "dp": 16, "globalBatch": 16}]}]})");
    const auto start = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words{"--list=" + list, "--executor=packet,flow", "--quiet"};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = Start("evaluate", words);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.error;
    };
    const std::string usual = start({});
    EXPECT_EQ(usual.find(LOST), std::string::npos) << usual;
    EXPECT_EQ(usual.find("kernels beside communication"), std::string::npos) << usual;
    // Sent again though nothing is lost.
    const std::string hasty = start({TRANSPORT + "RetransmissionTimeout=3us"});
    EXPECT_NE(hasty.find("warning: packet: " + LOST), std::string::npos) << hasty;
    EXPECT_EQ(hasty.find("flow: " + LOST), std::string::npos) << hasty;
    const std::string windows = start({TRANSPORT + "CongestionControl=hpcc"});
    EXPECT_NE(windows.find("warning: flow: hpcc stands for equal shares of what it lets links"),
              std::string::npos)
        << windows;
}

// Of servers whose PCI Express carries the data of other GPUs beside what comes over RoCE.
TEST(RunNotes, ReceiversThatFlowsTakeForFastAreNamed)
{
    const auto start = [](const std::string& cluster) {
        const Outcome outcome = Start("run",
                                      {"--model=alexnet",
                                       "--strategy=dp=16,optimizer=sgd",
                                       "--nodes=2",
                                       "--executor=flow",
                                       "--quiet",
                                       "--cluster=" + cluster});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.out;
    };
    const std::string note = "n1.cpu0 is busier than the port of RoCE before it";
    EXPECT_NE(start("pcie-v100x8").find(note), std::string::npos);
    EXPECT_EQ(start("pcie-v100x8:nic=1x100G-ib").find("busier than the port"), std::string::npos);
    EXPECT_EQ(start("dgx-a100:nic=8x200G-roce").find("busier than the port"), std::string::npos);
}

TEST(RunNotes, WhatRepeatsPacketsIsNamedWhereNoneWas)
{
    const auto start = [](const std::string& attribute) {
        const Outcome outcome =
            Start("collective", {"--min=1M", "--max=1M", TRANSPORT + attribute, "--quiet"});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.error;
    };
    const std::string none = " has no effect: nothing was lost, or sent again";
    for (const char* attribute : {"NakInterval=1us",
                                  "RetryLimit=3",
                                  "Reliability=SelectiveRepeat",
                                  "RetransmissionTimeout=50ms",
                                  "ReorderBuffer=1000"})
    {
        EXPECT_NE(start(attribute).find(attribute + none), std::string::npos) << attribute;
    }
    // A longer time may be what has kept packets from being sent again.
    EXPECT_EQ(start("RetransmissionTimeout=90ms").find(none), std::string::npos);
    EXPECT_EQ(start("AckEveryPackets=1").find(none), std::string::npos);
}

TEST(RunNotes, FilesOfOneExecutorOfSeveralAreNamed)
{
    const Folder folder;
    const std::string csv = "--csv=" + folder.Get() + "/s.csv";
    const auto start = [&](const std::string& executor) {
        std::vector<std::string> words = Small({"--strategy=dp=8", csv});
        words.push_back(executor);
        const Outcome outcome = Start("run", words);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.out;
    };
    const std::string note = "Note: " + csv + " has the spans of flow, not those of alpha-beta";
    const std::string both = start("--executor=flow,alpha-beta");
    EXPECT_NE(both.find(note), std::string::npos) << both;
    EXPECT_EQ(start("--executor=flow").find("has the spans of"), std::string::npos);
}

// The part of all messages that the first point of a distribution stands for.
TEST(RunNotes, SizesThatDoNotBeginAtNothingAreNamed)
{
    const Folder folder;
    const auto start = [&](const std::string& sizes) {
        folder.Write("sizes.csv", sizes);
        const std::string scenario = folder.Write(
            "s.json",
            R"({"format": "proteus-scenario", "version": 1, "traffic": [{"kind": "poisson",)"
            R"( "sizes": "sizes.csv", "load": 0.01, "from": "0", "until": "10us"}]})");
        const Outcome outcome = Start("run",
                                      {"--model=gpt3-125m",
                                       "--variables=layers=1",
                                       "--strategy=dp=16,globalBatch=16",
                                       "--quiet",
                                       "--scenario=" + scenario});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.out;
    };
    const std::string hint = "sizes.csv: 15 % of all messages are of exactly 10000 bytes";
    EXPECT_NE(start("10000,0.15\n20000,1\n").find(hint), std::string::npos);
    EXPECT_EQ(start("0,0\n10000,0.15\n20000,1\n").find("of exactly"), std::string::npos);
}

TEST(RunNotes, ANameThatLooksLikeAFileIsNeither)
{
    const Outcome outcome = Start("collective", {"--algorithm=none.xml"});
    ExpectRefusal(outcome, "--algorithm=none.xml: there is no such name, and no such file: ");
    EXPECT_NE(outcome.error.find("; --msccl=FILE takes files"), std::string::npos) << outcome.error;
    const Outcome run = Start("run", Small({"--strategy=dp=8", "--algorithm=dir/none"}));
    ExpectRefusal(run, "--algorithm=dir/none: there is no such name, and no such file: ");
    EXPECT_EQ(run.error.find("--msccl"), std::string::npos) << run.error;
    ExpectRefusal(Start("collective", {"--algorithm=rnig"}), "did you mean ring?");
    EXPECT_EQ(Start("collective", {"--algorithm=rnig"}).error.find("file"), std::string::npos);
}

// Receive buffers that no unit fits in, and bursts that are no whole packets.
TEST(RunNotes, BuffersAndBurstsThatCannotBe)
{
    const auto start = [](const std::string& attribute) {
        return Start("collective", {"--min=1M", "--max=1M", FABRIC + attribute, "--quiet"});
    };
    const Outcome small = start("NvlinkBuffer=1");
    EXPECT_EQ(small.code, 0) << small.error;
    const std::string taken = "ns3::proteus::Fabric::NvlinkBuffer=1 is taken as up to ";
    const std::size_t at = small.error.find(taken);
    ASSERT_NE(at, std::string::npos) << small.error;
    EXPECT_GT(std::stoi(small.error.substr(at + taken.size())), 4096); // a unit with its headers
    EXPECT_EQ(small.error.find(taken, at + 1), std::string::npos) << small.error;
    EXPECT_EQ(start("NvlinkBuffer=100000").error, "");
    ExpectRefusal(
        start("BurstBytes=100"),
        "BurstBytes, 100, is no multiple of the payload of a packet on links nvlink, 256");
    EXPECT_EQ(start("BurstBytes=512").error, "");
}

// What is missing is said before plans are ranked.
TEST(RunNotes, ExpertsThatAreNotThere)
{
    const Outcome outcome =
        Start("search", {"--model=gpt3-125m", "--globalBatch=8", "--experts=none.json"});
    ExpectRefusal(outcome, "--experts=none.json: cannot be read");
}

// What is said to have no effect has none.
TEST(RunNotes, SequencesThatAreNotToBeShared)
{
    const auto start = [](const std::string& option) {
        const Outcome outcome = Start("search",
                                      {"--model=gpt3-125m",
                                       "--variables=layers=2",
                                       "--nodes=1",
                                       "--globalBatch=8",
                                       "--flows=1",
                                       "--packets=0",
                                       "--vary=none",
                                       "--quiet",
                                       option});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome;
    };
    const Outcome shared = start("--mostContext=2");
    EXPECT_NE(shared.error.find("--mostContext=2 has no effect: no GPUs share a sequence"),
              std::string::npos)
        << shared.error;
    EXPECT_EQ(shared.out, start("--mostContext=0").out);
}

// Layouts of operators count, too.
TEST(RunNotes, MemoryThatKeepsNoLayoutOut)
{
    const auto start = [](const std::string& memory) {
        const Outcome outcome = Start("search",
                                      {"--model=alexnet",
                                       "--nodes=1",
                                       "--globalBatch=64",
                                       "--flows=1",
                                       "--packets=0",
                                       "--vary=layouts",
                                       "--layoutPlans=1",
                                       "--quiet",
                                       "--memory=" + memory});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome;
    };
    const std::string idle = " has no effect: no plan that fits into the whole memory needs more";
    const Outcome plenty = start("60");
    EXPECT_NE(plenty.error.find("--memory=60" + idle), std::string::npos) << plenty.error;
    EXPECT_EQ(plenty.out, start("0").out);
    EXPECT_EQ(start("0.5").error.find(idle), std::string::npos);
}

// What NCCL chooses anyway.
TEST(RunNotes, ChoicesOfCollectivesThatChangeNothing)
{
    const auto start = [](const std::string& option) {
        const Outcome outcome =
            Start("collective", {"--nodes=2", "--min=1M", "--max=1M", option, "--quiet"});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.error;
    };
    const std::string none = " has no effect: the sizes that were run communicate alike without it";
    EXPECT_NE(start("--algorithm=tree").find("--algorithm=tree" + none), std::string::npos);
    EXPECT_NE(start("--ncclVersion=2.29").find("--ncclVersion=2.29" + none), std::string::npos);
    for (const char* option : {"--algorithm=ring", "--protocol=LL", "--channels=4"})
    {
        EXPECT_EQ(start(option), "") << option;
    }
}

// Chunks are not of the closed form; channels are.
TEST(RunNotes, ChoicesThatLatencyAndBandwidthDoNotHave)
{
    const auto collective = [](const std::string& executor, const std::string& option) {
        const Outcome outcome = Start(
            "collective",
            {"--nodes=1", "--min=64M", "--max=64M", "--quiet", "--executor=" + executor, option});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome;
    };
    const std::string buffers = "--nccl=NCCL_BUFFSIZE=1M";
    const std::string chunks = "--ns3::proteus::PacketNetwork::ChunkBytes=65536";
    const std::string none = " has no effect: the sizes that were run communicate alike without it";
    const std::string plain = collective("alpha-beta", "--collective=all-reduce").out;
    for (const std::string& option : {buffers, chunks})
    {
        const Outcome outcome = collective("alpha-beta", option);
        EXPECT_NE(outcome.error.find(option + none), std::string::npos) << outcome.error;
        EXPECT_EQ(outcome.out, plain) << option;
        EXPECT_EQ(collective("flow", option).error, "") << option;
    }
    EXPECT_EQ(collective("alpha-beta", "--channels=2").error, "");
    const auto job = [](const std::string& executor, const std::string& option) {
        return Start("run",
                     {"--model=gpt",
                      "--variables=layers=2,hidden=1024,heads=8,vocabulary=1024,sequence=128",
                      "--strategy=dp=16,buckets=whole",
                      "--protocol=Simple",
                      "--quiet",
                      "--executor=" + executor,
                      option})
            .out;
    };
    const std::string same =
        " has no effect: latencies, and bytes over bandwidths, are the same without it";
    EXPECT_NE(job("alpha-beta", buffers).find("alpha-beta: " + buffers + same), std::string::npos);
    EXPECT_EQ(job("alpha-beta", "--nccl=NCCL_MAX_NCHANNELS=2").find(same), std::string::npos);
    EXPECT_EQ(job("flow", buffers).find(same), std::string::npos);
}

// NCCL sends by host memory between GPUs of different slots, whatever the driver allows, and
// peer to peer below one switch.
TEST(RunNotes, WhatCpusOfCardsAreAndAllow)
{
    const auto job = [](const std::string& server, const std::string& option) {
        return Start("run",
                     {"--model=gpt",
                      "--variables=layers=1,hidden=256,heads=8,vocabulary=1024,sequence=128",
                      "--strategy=dp=4",
                      "--executor=flow",
                      "--quiet",
                      "--cluster=" + server,
                      option})
            .out;
    };
    const auto isNamed = [&](const std::string& server,
                             const std::string& key,
                             const std::string& option = "--nodes=1") {
        const std::string cluster = server + key;
        return job(cluster, option)
                   .find("flow: --cluster=" + cluster + ": " + key +
                         " has no effect: GPUs communicate alike without it") != std::string::npos;
    };
    const std::string direct = "2x4xL40S:";
    EXPECT_TRUE(isNamed(direct, "p2p=on"));
    EXPECT_FALSE(isNamed(direct, "p2p=on", "--nccl=NCCL_P2P_LEVEL=SYS"));
    EXPECT_FALSE(isNamed(direct, "p2p=off")); // which it is
    EXPECT_FALSE(isNamed(direct, "memory=1xDDR4-3200"));
    EXPECT_FALSE(isNamed(direct, "cpu=intel"));
    const std::string switched = "2x4xL40S:switches=2,";
    // 24 channels of 51.2 GB/s, and not half as much by all links of a CPU.
    const std::string fast = job(direct + "memory=24xDDR5-6400", "--nodes=1");
    EXPECT_NE(fast.find("memory=24xDDR5-6400 has no effect: the links of each CPU carry less"),
              std::string::npos)
        << fast;
    const std::string memory = job(switched + "memory=1xDDR4-3200", "--nodes=1");
    EXPECT_NE(memory.find("memory=1xDDR4-3200 has no effect"), std::string::npos) << memory;
    const auto collective = [](const std::string& option) {
        return Start("collective",
                     {"--cluster=2x4xL40S:p2p=on", "--min=1M", "--max=2M", "--quiet", option})
            .error;
    };
    const std::string idle = "p2p=on has no effect: GPUs communicate alike without it";
    EXPECT_NE(collective("--executor=flow").find(idle), std::string::npos);
    EXPECT_EQ(collective("--nccl=NCCL_P2P_LEVEL=SYS").find(idle), std::string::npos);
}

TEST(RunNotes, StalenessThatIterationsDoNotReach)
{
    const auto start = [](const std::string& staleness) {
        const Outcome outcome =
            Start("schedule",
                  {"--model=gpt",
                   "--variables=layers=1,hidden=256,heads=8,vocabulary=1024,sequence=128",
                   "--strategy=dp=8",
                   "--cluster=pcie-v100x4",
                   "--nodes=2",
                   "--executor=flow",
                   "--policies=arrival,priority",
                   "--iterations=2",
                   "--gradients=parameter-server",
                   "--quiet",
                   "--staleness=" + staleness});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.out;
    };
    const std::string async = start("async");
    const std::string note = "Note: --staleness=2: no worker gets so far ahead in 2 iterations "
                             "that it waits for others, so that it is as async\n";
    std::string two = start("2");
    const std::size_t at = two.find(note);
    ASSERT_NE(at, std::string::npos) << two;
    EXPECT_EQ(two.erase(at, note.size()), async);
    EXPECT_EQ(start("1").find("--staleness"), std::string::npos);
    EXPECT_EQ(async.find("--staleness"), std::string::npos);
}
