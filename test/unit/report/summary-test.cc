/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "report-fixture.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-run-analysis.h"
#include "ns3/proteus-summary.h"
#include "ns3/proteus-tables.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::json;

/// Two A100: one computes 600 ms and waits, one computes 200 ms; the iteration takes one second.
struct SummaryRun : TestRun
{
    SummaryRun()
        : TestRun(2)
    {
        WorkloadFacts facts;
        facts.name = "tiny \"model\"";
        facts.modelFlopsPerIteration = 156e12; // a quarter of what two A100 do in a second
        facts.tokensPerIteration = 4096;
        facts.samplesPerIteration = 2;
        builder.SetFacts(facts);
        const TaskId c0 = AddCompute(0);
        const TaskId c1 = AddCompute(1);
        const TaskId tensor = AddCollective({0, 1}, Parallelism::TENSOR);
        const TaskId data = AddCollective({0, 1}, Parallelism::DATA);
        AddSpan(0, c0, 0, 600 * MS);
        AddSpan(1, c1, 0, 200 * MS);
        AddSpan(0, tensor, 600 * MS, 700 * MS);
        AddSpan(1, tensor, 300 * MS, 700 * MS);
        AddSpan(0, data, 700 * MS, 1000 * MS);
        AddSpan(1, data, 600 * MS, 1000 * MS);
        timeline.peakMemoryBytes = {20000000000, 60000000000};
        network.packets = 1000000;
        network.packetHops = 3000000;
        network.events = 4000000;
        network.messages = 5;
        network.controlPackets = 6;
        network.queuePairs = 7;
        network.repeated = 9;
        LinkStatistics up;
        up.link = 1; // n0.gpu0
        up.packets = 1000000;
        up.busyPs = 250 * MS;
        up.payloadBytes = 60000000000;
        links = {up};
        Finish();
    }

    RunRecord Result() const
    {
        RunRecord result = ResultOf(timeline);
        result.links = links;
        result.network = network;
        result.wallS = 1.5;
        return result;
    }

    Summary Sum() const
    {
        return Analyze(graph, MakeTwoServers(), Result(), DataType::BF16).summary;
    }

    static constexpr int64_t MS = 1000000000;
    std::vector<LinkStatistics> links;
    NetworkStatistics network;
};

std::string
Print(const Summary& summary)
{
    std::ostringstream out;
    PrintSummary(summary, out);
    return out.str();
}

} // namespace

TEST(Summary, ClosedForm)
{
    const SummaryRun run;
    const Summary summary = run.Sum();
    EXPECT_EQ(summary.graph, "tiny \"model\"");
    EXPECT_EQ(summary.cluster, "small");
    EXPECT_EQ(summary.gpu, "A100-SXM4-80GB");
    EXPECT_EQ(summary.devices, 2U);
    EXPECT_DOUBLE_EQ(summary.iterationS, 1);
    EXPECT_DOUBLE_EQ(summary.tokensPerS, 4096);
    EXPECT_DOUBLE_EQ(summary.samplesPerS, 2);
    EXPECT_DOUBLE_EQ(summary.peakFlops, 2 * 312e12);
    EXPECT_DOUBLE_EQ(summary.modelFlopUtilisation, 0.25);
    EXPECT_DOUBLE_EQ(summary.mean.computeS, 0.4);
    EXPECT_DOUBLE_EQ(summary.mean.exposedCommunicationS, 0.4);
    EXPECT_DOUBLE_EQ(summary.mean.waitingForPeersS, (0.0 + 0.3) / 2);
    EXPECT_DOUBLE_EQ(summary.mean.idleS, (0.0 + 0.1) / 2);
    EXPECT_EQ(summary.worst.compute.device, 0U);
    EXPECT_DOUBLE_EQ(summary.worst.compute.seconds, 0.6);
    EXPECT_EQ(summary.worst.exposedCommunication.device, 0U);
    EXPECT_DOUBLE_EQ(summary.worst.exposedCommunication.seconds, 0.4);
    const auto& tensor = summary.worst.waiting[static_cast<std::size_t>(Parallelism::TENSOR)];
    EXPECT_EQ(tensor.device, 1U);
    EXPECT_DOUBLE_EQ(tensor.seconds, 0.3);
    const auto& data = summary.worst.exposed[static_cast<std::size_t>(Parallelism::DATA)];
    EXPECT_EQ(data.device, 0U); // equal: the first
    EXPECT_DOUBLE_EQ(data.seconds, 0.3);
    EXPECT_EQ(summary.worst.idle.device, 1U);
    EXPECT_EQ(summary.peakMemoryBytes, 60000000000U);
    EXPECT_EQ(summary.peakMemoryDevice, 1U);
    EXPECT_EQ(summary.memoryCapacityBytes, 80000000000U);
    EXPECT_FALSE(summary.outOfMemory);
    ASSERT_EQ(summary.busiestLinks.size(), 1U);
    EXPECT_DOUBLE_EQ(summary.busiestLinks[0].utilisation, 0.25);
    EXPECT_DOUBLE_EQ(summary.busiestLinks[0].payloadBytesPerSecond, 60e9);

    const Summary fp32 = Analyze(run.graph, MakeTwoServers(), run.Result(), DataType::FP32).summary;
    EXPECT_DOUBLE_EQ(fp32.modelFlopUtilisation, 156e12 / (2 * 19.5e12));
}

TEST(Summary, Json)
{
    SummaryRun run;
    run.timeline.peakMemoryBytes[0] = 80000000001;
    std::ostringstream out;
    WriteSummaryJson(run.Sum(), out);
    const Json json = Json::parse(out.str());
    EXPECT_EQ(json["graph"], "tiny \"model\"");
    EXPECT_EQ(json["iteration_s"], 1.0);
    EXPECT_EQ(json["tokens_per_s"], 4096.0);
    EXPECT_EQ(json["model_flop_utilisation"], 0.25);
    EXPECT_DOUBLE_EQ(json["exposed_communication_s"].get<double>(), 0.4);
    EXPECT_DOUBLE_EQ(json["exposed_s"]["tensor"].get<double>(), 0.1);
    EXPECT_DOUBLE_EQ(json["waiting_for_peers_s"].get<double>(), 0.15);
    EXPECT_DOUBLE_EQ(json["waiting_s"]["tensor"].get<double>(), 0.15);
    EXPECT_EQ(json["bubble_s"], 0.0);
    EXPECT_EQ(json["host_s"], 0.0);
    EXPECT_DOUBLE_EQ(json["exposed_s"]["data"].get<double>(), 0.3);
    EXPECT_EQ(json["exposed_s"].size(), N_PARALLELISMS);
    EXPECT_EQ(json["worst"]["waiting"]["tensor"]["gpu"], "n0.gpu1");
    EXPECT_EQ(json["worst"]["compute"]["s"], 0.6);
    EXPECT_EQ(json["peak_memory_bytes"], 80000000001U);
    EXPECT_EQ(json["peak_memory_gpu"], "n0.gpu0");
    EXPECT_EQ(json["memory_capacity_bytes"], 80000000000U);
    EXPECT_EQ(json["out_of_memory"], true);
    EXPECT_EQ(json["out_of_memory_gpus"], Json({"n0.gpu0"}));
    EXPECT_EQ(json["packets"], 1000000);
    EXPECT_EQ(json["control_packets"], 6);
    EXPECT_EQ(json["packet_hops"], 3000000);
    EXPECT_EQ(json["events"], 4000000);
    EXPECT_EQ(json["messages"], 5);
    EXPECT_EQ(json["queue_pairs"], 7);
    EXPECT_EQ(json["losses"]["repeated_packets"], 9);
    EXPECT_EQ(json["losses"]["dropped_packets"], 0);
    EXPECT_EQ(json["wall_s"], 1.5);
    EXPECT_EQ(json["busiest_links"][0]["name"], "n0.gpu0 -> s0");
    EXPECT_EQ(json["busiest_links"][0]["technology"], "nvlink");
    EXPECT_EQ(json["link_kinds"][0]["name"], "n0.gpu0 -> s0");
    EXPECT_EQ(json["link_kinds"][0]["links"], 4);
    EXPECT_EQ(json["link_kinds"][0]["used_links"], 1);
    EXPECT_DOUBLE_EQ(json["link_kinds"][0]["mean_utilisation"].get<double>(), 0.25);
}

TEST(Summary, PrintedReport)
{
    EXPECT_EQ(Print(SummaryRun().Sum()),
              R"(tiny "model" on small, 2 GPUs (A100-SXM4-80GB)

  iteration time  1.000 s
  throughput      4096 tokens/s
  MFU             25.0 %: model FLOPs over the dense bf16 peak of 2 GPUs, 624.00 TFLOP/s
  communication   400.000 ms in flight per GPU, 0.0 % of it hidden behind compute
  peak memory     fits: n0.gpu1, the fullest, needs 60.00 GB of 80.00 GB (75.0 %)

  time per GPU                 mean               worst
  compute                400.000 ms  40.0 %  600.000 ms  60.0 %  n0.gpu0
  exposed communication  400.000 ms  40.0 %  400.000 ms  40.0 %  n0.gpu0
    tensor               100.000 ms  10.0 %  100.000 ms  10.0 %  n0.gpu0
    data                 300.000 ms  30.0 %  300.000 ms  30.0 %  n0.gpu0
  waiting for peers      150.000 ms  15.0 %  300.000 ms  30.0 %  n0.gpu1
    tensor               150.000 ms  15.0 %  300.000 ms  30.0 %  n0.gpu1
  idle                    50.000 ms   5.0 %  100.000 ms  10.0 %  n0.gpu1

  collectives  for        size  ranks  count        mean  busbw GB/s  of ideal
  all-reduce   data    4.10 kB  2          1  300.000 ms        0.00     0.0 %
  all-reduce   tensor  4.10 kB  2          1  100.000 ms        0.00     0.0 %
  ranks: "in" how many servers; mean: from the last rank's joining; ideal: what the links of
  one group allow, headers not deducted

  busiest links  technology    busy  payload GB/s  of GB/s  stalled  queue   alike    mean
  n0.gpu0 -> s0  nvlink      25.0 %         60.00   300.00    0.0 %    0 B  1 of 4  25.0 %
  of each kind the busiest; busy, payload: over the iteration; GB = 1e9 bytes;
  stalled: a packet ready, the receiver's buffer full; queue: most bytes that waited
  at once; alike: how many of its kind carry something; mean: how busy these are

  No link loses packets or holds others up: none is paused or short of credits for 1.0 % of the
  time, and no queue in a switch takes 10.000 us to drain.

  simulated  1,000,000 packets, 3,000,000 packet-hops, 4,000,000 events
  network    0 packets dropped, 0 lost on the wire, 9 repeated, 0 timeouts, 0 pauses, 0 marked
  wall time  1.500 s, 2.00 million packet-hops/s
)");
}

TEST(Summary, OutOfMemoryIsClear)
{
    SummaryRun run;
    run.timeline.peakMemoryBytes = {80000000000, 80000000000}; // just full is not too full
    EXPECT_FALSE(run.Sum().outOfMemory);
    run.timeline.peakMemoryBytes = {80000000001, 100000000000};
    const Summary summary = run.Sum();
    EXPECT_TRUE(summary.outOfMemory);
    EXPECT_EQ(summary.outOfMemoryDevices, (std::vector<DeviceId>{0, 1}));
    ExpectContains(Print(summary),
                   "OUT OF MEMORY on 2 of 2 GPUs: n0.gpu1 needs 100.00 GB of 80.00 GB (125.0 %)");
}

TEST(Summary, FullestGpuIsJudgedByItsOwnCapacity)
{
    Cluster cluster("mixed");
    const VertexId hub = cluster.AddVertex({"hub", VertexKind::NVSWITCH, 0, 0, ""});
    for (const char* model : {"A100-SXM4-80GB", "V100-SXM2-32GB", "A100-SXM4-80GB"})
    {
        const VertexId gpu = cluster.AddVertex({"n0." + std::string(model) + std::to_string(hub) +
                                                    std::to_string(cluster.GetGpus().size()),
                                                VertexKind::GPU,
                                                0,
                                                0,
                                                model});
        cluster.AddLink({gpu, hub, LinkTechnology::NVLINK, 1e9, 0, {}, 1});
    }
    TestRun run(3);
    run.AddSpan(0, run.AddCompute(0), 0, 10);
    run.timeline.peakMemoryBytes = {40000000000, 33000000000, 60000000000};
    const Summary summary =
        Analyze(run.Finish(), cluster, ResultOf(run.timeline), DataType::FP16).summary;
    EXPECT_EQ(summary.gpu, "A100-SXM4-80GB + V100-SXM2-32GB");
    EXPECT_DOUBLE_EQ(summary.peakFlops, 2 * 312e12 + 125e12);
    EXPECT_EQ(summary.peakMemoryDevice, 1U);
    EXPECT_EQ(summary.memoryCapacityBytes, 32000000000U);
    EXPECT_EQ(summary.outOfMemoryDevices, std::vector<DeviceId>{1});
}

TEST(Summary, MemoryThatNobodyKnowsDoesNotFit)
{
    Summary summary;
    summary.devices = 1;
    summary.gpuNames = {"gpu0"};
    summary.memoryCapacityBytes = 80000000000;
    std::ostringstream out;
    PrintSummary(summary, out);
    EXPECT_NE(out.str().find("peak memory     not known"), std::string::npos) << out.str();
    EXPECT_EQ(out.str().find("fits"), std::string::npos) << out.str();
}

TEST(Summary, WhatIsUnknownIsLeftOut)
{
    TestRun run(1);
    run.AddCompute(0);
    const Summary summary =
        Analyze(run.Finish(), MakeTwoServers(), ResultOf(run.timeline), DataType::BF16).summary;
    EXPECT_EQ(summary.iterationS, 0); // nothing ran
    std::ostringstream out;
    WriteSummaryJson(summary, out);
    const Json json = Json::parse(out.str());
    EXPECT_TRUE(json["tokens_per_s"].is_null());
    EXPECT_TRUE(json["model_flop_utilisation"].is_null());
    EXPECT_TRUE(json["busiest_links"].empty());
    const std::string text = Print(summary);
    for (const char* word : {"nan", "inf", "tokens", "MFU", "links", "wall", "tensor"})
    {
        EXPECT_EQ(text.find(word), std::string::npos) << word << " in " << text;
    }

    run.timeline.peakMemoryBytes.clear();
    ExpectContains(ErrorOf([&] {
                       Analyze(run.graph, MakeTwoServers(), ResultOf(run.timeline), DataType::BF16);
                   }),
                   "peak memory of 0 devices, the graph has 1");
}

} // namespace proteus
} // namespace ns3
