/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/boolean.h"
#include "ns3/proteus-chakra.h"
#include "ns3/proteus-chakra.pb.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-helper.h"
#include "ns3/proteus-trace-file.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

const std::string SAMPLES = PROTEUS_SOURCE_DIR "/../shared/data";

/// Whether the sample traces are there; says so if they are not.
bool
HasSamples()
{
    if (std::ifstream(SAMPLES + "/chakra/all_reduce_4/all_reduce.0.et"))
    {
        return true;
    }
    std::cout << "skipped: there are no sample traces in " << SAMPLES << std::endl;
    return false;
}

/// What a run says.
struct BareRun
{
    int64_t endPs{0};
    uint64_t sentBytes{0};
};

/**
 * Runs a graph with one channel per collective, chunks of any size, and nothing but the network.
 * @param graph to run @param cluster name of a preset @param nodes servers @return its result
 */
BareRun
RunBare(const ExecutionGraph& graph, const std::string& cluster, uint32_t nodes)
{
    ProteusHelper helper;
    helper.AssignStreams(1);
    helper.SetNetworkAttribute("Algorithm", StringValue("ring"));
    helper.SetNetworkAttribute("Protocol", StringValue("Simple")); // nothing but payload
    helper.SetNetworkAttribute("Channels", UintegerValue(1));
    helper.SetNetworkAttribute("ChunkBytes", UintegerValue(uint64_t{1} << 30));
    helper.SetNetworkAttribute("LaunchOverhead", TimeValue(NanoSeconds(0)));
    helper.SetNetworkAttribute("KernelCosts", BooleanValue(false));
    Ptr<TrainingJob> job = helper.Install(MakeCluster(cluster, nodes), graph);
    job->Run();
    BareRun result;
    for (const Span& span : job->GetTimeline().spans)
    {
        result.endPs = std::max(result.endPs, span.endPs);
    }
    for (const auto& statistics : job->GetNetwork()->GetCommunicationStatistics())
    {
        result.sentBytes += statistics.sentBytes;
    }
    job->Dispose();
    Simulator::Destroy();
    return result;
}

/// @return an all-reduce among n ranks
ExecutionGraph
MakeAllReduce(uint32_t n, uint64_t bytes)
{
    GraphBuilder builder(n);
    const StreamId stream = builder.AddStream("communication");
    const PhaseId phase = builder.AddPhase("iteration");
    std::vector<DeviceId> ranks(n);
    for (uint32_t i = 0; i < n; i++)
    {
        ranks[i] = i;
    }
    builder.AddCommunication(phase,
                             builder.AddGroup(ranks),
                             stream,
                             "all-reduce",
                             Collective::ALL_REDUCE,
                             bytes,
                             Parallelism::NONE);
    return builder.Build();
}

/// A message behind its length, as a Chakra file has it.
std::string
Delimited(const google::protobuf::Message& message)
{
    std::string text;
    for (auto n = message.ByteSizeLong(); n >= 0x80; n >>= 7)
    {
        text += static_cast<char>((n & 0x7f) | 0x80);
    }
    const auto size = message.ByteSizeLong();
    const auto last = size < 0x80 ? size : size < 1 << 14 ? size >> 7 : size >> 14;
    return text + static_cast<char>(last) + message.SerializeAsString();
}

/// @return a ring all-reduce as a trace of sends and receives, each after the one before
ExecutionGraph
MakeRingTrace(uint32_t n, uint64_t bytes)
{
    std::vector<TraceFile> files;
    for (uint32_t rank = 0; rank < n; rank++)
    {
        pb::ChakraMetadata metadata;
        metadata.set_version("0.0.4");
        std::string text = Delimited(metadata);
        for (uint32_t i = 0; i < 4 * (n - 1); i++)
        {
            const bool isSend = i % 2 == 0;
            pb::ChakraNodeMessage node;
            node.set_id(i);
            node.set_name(isSend ? "send" : "receive");
            node.set_type(isSend ? pb::CHAKRA_COMM_SEND : pb::CHAKRA_COMM_RECV);
            if (i > 0)
            {
                node.add_data_deps(i - 1);
            }
            const auto add = [&](const char* name) {
                auto* attribute = node.add_attr();
                attribute->set_name(name);
                return attribute;
            };
            add("comm_size")->set_int64_val(static_cast<int64_t>(bytes / n));
            add(isSend ? "comm_dst" : "comm_src")
                ->set_int32_val(static_cast<int32_t>((isSend ? rank + 1 : rank + n - 1) % n));
            text += Delimited(node);
        }
        files.push_back({"rank " + std::to_string(rank),
                         [text]() { return std::make_unique<std::istringstream>(text); }});
    }
    return ReadChakra(files, "ring");
}

} // namespace

/**
 * @ingroup proteus-tests
 * A collective written as sends and receives takes as long as the built-in one.
 */
class ProteusRingTrace : public TestCase
{
  public:
    ProteusRingTrace()
        : TestCase("A ring of sends and receives from a Chakra trace equals the built-in ring")
    {
    }

  private:
    void DoRun() override
    {
        for (const char* cluster : {"dgx-a100", "dgx-h100"})
        {
            for (const uint64_t bytes : {uint64_t{64} << 20, uint64_t{256} << 20})
            {
                const BareRun own = RunBare(MakeAllReduce(8, bytes), cluster, 1);
                const BareRun trace = RunBare(MakeRingTrace(8, bytes), cluster, 1);
                NS_TEST_EXPECT_MSG_EQ(trace.sentBytes, own.sentBytes, "bytes on the wire");
                NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(trace.endPs) / own.endPs,
                                          1.0,
                                          0.01,
                                          cluster << ", " << bytes << " bytes");
            }
        }
    }
};

/**
 * @ingroup proteus-tests
 * The sample traces run from their files to the end.
 */
class ProteusSampleTraces : public TestCase
{
  public:
    ProteusSampleTraces()
        : TestCase("The sample traces run, and send the bytes of the closed forms")
    {
    }

  private:
    void DoRun() override
    {
        if (!HasSamples())
        {
            return;
        }
        const auto run = [](const std::string& path, uint32_t ranks) {
            TraceOptions options;
            options.ranks = ranks;
            return RunBare(LoadTrace(SAMPLES + path, options), "dgx-a100", 1);
        };
        // 2 (n - 1) / n of 1 MiB by each of 4 ranks; (n - 1) / n of it.
        NS_TEST_EXPECT_MSG_EQ(run("/chakra/all_reduce_4", 0).sentBytes, 6U << 20, "all-reduce");
        NS_TEST_EXPECT_MSG_EQ(run("/chakra/all_to_all_4", 0).sentBytes, 3U << 20, "all-to-all");

        // The custom ring computes seven times, 7 us each, on its way.
        const BareRun ring = run("/chakra/custom_ring_8", 0);
        NS_TEST_EXPECT_MSG_EQ(ring.sentBytes, 8U * 1835008U, "custom ring");
        const BareRun own = RunBare(MakeAllReduce(8, 1 << 20), "dgx-a100", 1);
        NS_TEST_EXPECT_MSG_GT_OR_EQ(ring.endPs, own.endPs + 49000000, "custom ring");
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(ring.endPs) / (own.endPs + 49000000),
                                  1.0,
                                  0.01,
                                  "custom ring without its computation");

        // Each of two ranks sends its gradients, 102 228 128 bytes, once; and two broadcasts.
        const BareRun resnet = run("/chakra/pytorch_resnet50_ddp.0.et.gz", 2);
        NS_TEST_EXPECT_MSG_EQ(resnet.sentBytes, 2U * 102228128U + 212480U + 424U, "ResNet-50");
        NS_TEST_EXPECT_MSG_GT(resnet.endPs,
                              292828 * int64_t{1000000},
                              "ResNet-50 takes its kernels");
    }
};

/**
 * @ingroup proteus-tests
 * The suite.
 */
class ProteusTraceTestSuite : public TestSuite
{
  public:
    ProteusTraceTestSuite()
        : TestSuite("proteus-trace")
    {
        AddTestCase(new ProteusRingTrace);
        AddTestCase(new ProteusSampleTraces);
    }
};

static ProteusTraceTestSuite g_proteusTraceTestSuite; //!< registers itself
