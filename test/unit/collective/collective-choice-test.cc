/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-program.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

using namespace ns3::proteus;

namespace
{

/// First GPUs of servers of a preset.
struct Group
{
    Group(const std::string& preset, uint32_t servers, uint32_t ranks)
        : cluster(MakeCluster(preset, servers)),
          paths(cluster),
          vertices(cluster.GetGpus().begin(), cluster.GetGpus().begin() + ranks)
    {
    }

    Cluster cluster;
    Paths paths;
    std::vector<VertexId> vertices;
};

} // namespace

TEST(ChannelSearch, FindsWhatNcclFinds)
{
    struct Case
    {
        const char* preset;
        uint32_t servers;
        uint32_t ranks;
        uint32_t capability;
        uint32_t channels; // of the ring
        double speed;
        uint32_t working; // channels in use
    };

    // Channels x speed: rates of NCCL's topo.h and speeds of its search.cc, worked out by hand. 240
    // GB/s of an A100 are 6 x 40, made two: 12 x 20; 370.8 of an H100 6 x 60; 721.8 of a B200 8 x
    // 90; 4 NICs behind PCIe Gen3 4 x 12, 8 behind Gen4 8 x 24. Of five V100, the
    // last has NVLinks, two, to the first alone.
    for (const Case& it : {Case{"dgx1-v100", 1, 2, 70, 1, 20, 2},
                           Case{"dgx1-v100", 1, 4, 70, 4, 20, 8},
                           Case{"dgx1-v100", 1, 5, 70, 2, 20, 4},
                           Case{"dgx1-v100", 1, 8, 70, 6, 20, 12},
                           Case{"dgx1-v100", 2, 16, 70, 4, 12, 8},
                           Case{"dgx2", 1, 12, 70, 6, 20, 12},
                           Case{"dgx-a100", 1, 8, 80, 12, 20, 24},
                           Case{"dgx-a100", 2, 16, 80, 8, 24, 16},
                           Case{"dgx-h100", 1, 8, 90, 12, 30, 24},
                           Case{"hgx-b200", 1, 8, 100, 16, 45, 32},
                           Case{"pcie-v100x4", 1, 4, 70, 1, 12, 2}})
    {
        const Group group(it.preset, it.servers, it.ranks);
        const auto found = SearchChannels(group.cluster,
                                          group.paths,
                                          group.vertices,
                                          it.capability,
                                          CpuVendor::INTEL);
        EXPECT_EQ(found.ring.channels, it.channels) << it.preset << " " << it.ranks;
        EXPECT_DOUBLE_EQ(found.ring.intraGBps, it.speed) << it.preset << " " << it.ranks;
        EXPECT_EQ(found.workingChannels, it.working) << it.preset << " " << it.ranks;
    }
    // A head of NVLS gets and gives one share more than the others: 370.8 / 9 and 721.8 / 9.
    for (const auto& [preset, capability, speed] :
         {std::make_tuple("dgx-h100", 90u, 40.0), std::make_tuple("hgx-b200", 100u, 80.0)})
    {
        const Group group(preset, 1, 8);
        const auto found = SearchChannels(group.cluster,
                                          group.paths,
                                          group.vertices,
                                          capability,
                                          CpuVendor::INTEL);
        EXPECT_EQ(found.nvls.channels, 8u);
        EXPECT_DOUBLE_EQ(found.nvls.intraGBps, speed);
    }
    const Group a100("dgx-a100", 1, 8);
    EXPECT_EQ(
        SearchChannels(a100.cluster, a100.paths, a100.vertices, 80, CpuVendor::AMD).nvls.channels,
        0u);
}

TEST(ChannelSearch, KnowsKindsOfPaths)
{
    const Group group("dgx1-v100", 2, 16);
    const auto type = [&](const char* a, const char* b) {
        return FindPathType(group.cluster,
                            group.paths,
                            group.cluster.FindVertex(a),
                            group.cluster.FindVertex(b));
    };
    EXPECT_EQ(type("n0.gpu0", "n0.gpu1"), PathType::NVL);
    EXPECT_EQ(type("n0.gpu0", "n0.nic0"), PathType::PIX);
    EXPECT_EQ(type("n0.gpu0", "n0.nic1"), PathType::PHB);
    EXPECT_EQ(type("n0.gpu0", "n0.gpu5"), PathType::SYS);
    // C2C to a Grace, and its PCIe; or through another Grace.
    const Group grace("gb200-nvl72", 1, 72);
    const auto graceType = [&](uint32_t gpu, uint32_t nic) {
        return FindPathType(grace.cluster,
                            grace.paths,
                            grace.vertices[gpu],
                            grace.cluster.GetNic(grace.vertices[nic]));
    };
    EXPECT_EQ(graceType(0, 1), PathType::P2C);
    EXPECT_EQ(graceType(0, 2), PathType::SYS);
}

TEST(NcclCost, FormulasOfTheTuner)
{
    // 8 x A100: Ring Simple: 8.4 + 14 x 3.4 us; 12 x 20 GB/s x 8 / 14.
    const Group group("dgx-a100", 1, 8);
    const CollectiveChooser chooser(group.cluster, group.paths);
    const NcclCostModel model(chooser.MakeSystem(group.vertices));
    const auto cost = [&](NcclAlgorithm algorithm, NcclProtocol protocol) {
        return model.GetCost(Collective::ALL_REDUCE, algorithm, protocol);
    };
    auto it = cost(NcclAlgorithm::RING, NcclProtocol::SIMPLE);
    EXPECT_NEAR(it.latencyUs, 8.4 + 14 * 3.4, 1e-9);
    EXPECT_NEAR(it.gigabytesPerSecond, 240.0 * 8 / 14, 1e-9);
    it = cost(NcclAlgorithm::RING, NcclProtocol::LL);
    EXPECT_NEAR(it.latencyUs, 6.6 + 14 * 0.6, 1e-9);
    EXPECT_NEAR(it.gigabytesPerSecond, 87.7 * 8 / 14, 1e-9);
    it = cost(NcclAlgorithm::TREE, NcclProtocol::LL128);
    EXPECT_NEAR(it.latencyUs, 14 + 2 * 7 * 1.25, 1e-9);
    EXPECT_NEAR(it.gigabytesPerSecond, 240 * 0.92 * 7 / 9 / 2, 1e-9);
    EXPECT_EQ(cost(NcclAlgorithm::NVLS, NcclProtocol::SIMPLE).gigabytesPerSecond, 0);
    EXPECT_EQ(cost(NcclAlgorithm::PAT, NcclProtocol::SIMPLE).gigabytesPerSecond, 0);
    EXPECT_EQ(
        model.GetCost(Collective::ALL_TO_ALL, NcclAlgorithm::RING, NcclProtocol::LL).latencyUs,
        0);

    // 8 x H100 by NVLS: 40 x 0.85 x 7/8 x 2 a channel, 8 of them.
    const Group h100("dgx-h100", 1, 8);
    const NcclCostModel nvls(CollectiveChooser(h100.cluster, h100.paths).MakeSystem(h100.vertices));
    it = nvls.GetCost(Collective::ALL_REDUCE, NcclAlgorithm::NVLS, NcclProtocol::SIMPLE);
    EXPECT_NEAR(it.latencyUs, 25, 1e-9);
    EXPECT_NEAR(it.gigabytesPerSecond, 8 * 40 * 0.85 * 7 / 8 * 2 * 8 / 14, 1e-9);

    // Two GPUs of a DGX A100 are as near to a NIC as each other, one of a DGX H100 alone.
    const auto hasSimpleTree = [](const char* preset, uint32_t nodes) {
        const Cluster servers = MakeCluster(preset, nodes);
        const Paths ways(servers);
        return CollectiveChooser(servers, ways).MakeSystem(servers.GetGpus()).simpleTree;
    };
    EXPECT_FALSE(hasSimpleTree("dgx-a100", 2));
    EXPECT_TRUE(hasSimpleTree("dgx-h100", 2));
    EXPECT_FALSE(hasSimpleTree("dgx-h100", 1));

    // Two nodes: 28 steps between GPUs that cannot be faster than the posting of the network, two
    // over it.
    const Group two("dgx-a100", 2, 16);
    const NcclCostModel across(CollectiveChooser(two.cluster, two.paths).MakeSystem(two.vertices));
    it = across.GetCost(Collective::ALL_REDUCE, NcclAlgorithm::RING, NcclProtocol::SIMPLE);
    EXPECT_NEAR(it.latencyUs, 8.4 + 28 * 6.0 + 2 * 14.0, 1e-9);
    EXPECT_NEAR(it.gigabytesPerSecond, 8 * 24.0 * 16 / 30, 1e-9);
    EXPECT_NEAR(across.GetTimeUs(Collective::ALL_REDUCE,
                                 NcclAlgorithm::RING,
                                 NcclProtocol::SIMPLE,
                                 uint64_t{1} << 30),
                1.4 * it.latencyUs + 1073741824 / (1000 * it.gigabytesPerSecond),
                1e-6);
    NcclSystem none;
    none.ranks = 0;
    EXPECT_THROW(NcclCostModel{none}, std::invalid_argument);
}

TEST(NcclCost, MissesTheMeasuredTableAsItIsKnownTo)
{
    // 8 x A100 all-reduce: what the model is known to be wrong by.
    namespace fs = std::filesystem;
    const fs::path path = fs::path(PROTEUS_SOURCE_DIR) / "workloads" / "measurements";
    std::ifstream file(path / "a100-8-all-reduce.csv");
    ASSERT_TRUE(file.is_open());
    std::map<uint64_t, double> measured;
    for (std::string line; std::getline(file, line);)
    {
        if (line.empty() || line[0] == '#' || line[0] == 's')
        {
            continue;
        }
        std::istringstream row(line);
        std::string field;
        std::vector<std::string> fields;
        while (std::getline(row, field, ','))
        {
            fields.push_back(field);
        }
        measured[std::stoull(fields.at(4))] = std::stod(fields.at(5));
    }
    const Group group("dgx-a100", 1, 8);
    const NcclCostModel model(
        CollectiveChooser(group.cluster, group.paths).MakeSystem(group.vertices));
    for (const auto& [bytes, error] : {std::make_pair(uint64_t{1} << 32, -2.0),
                                       std::make_pair(uint64_t{1} << 26, -7.0),
                                       std::make_pair(uint64_t{1} << 24, -23.0),
                                       std::make_pair(uint64_t{1} << 20, -52.0)})
    {
        ASSERT_EQ(measured.count(bytes), 1u) << bytes;
        const auto choice = model.Choose(Collective::ALL_REDUCE, bytes);
        EXPECT_NEAR(100 * (choice.timeUs / measured[bytes] - 1), error, 1.0)
            << bytes << " by " << ToString(choice.algorithm) << " " << ToString(choice.protocol);
    }
}

TEST(CollectiveChoice, ChoosesAsTheTuner)
{
    const Group group("dgx-a100", 1, 8);
    const CollectiveChooser chooser(group.cluster, group.paths);
    const auto choose = [&](Collective collective, uint64_t bytes) {
        CollectiveRequest request;
        request.collective = collective;
        request.bytes = bytes;
        request.vertices = group.vertices;
        chooser.Complete(request);
        EXPECT_EQ(CheckProgram(MakeProgram(group.cluster, group.paths, request), request), "");
        return request;
    };
    auto request = choose(Collective::ALL_REDUCE, uint64_t{1} << 28);
    EXPECT_EQ(request.algorithm, "ring");
    EXPECT_EQ(request.protocol, Protocol::SIMPLE);
    EXPECT_EQ(request.channels, 24u);
    EXPECT_EQ(request.chunkBytes, 1048576u); // a slice of two steps of 512 KiB
    EXPECT_EQ(request.slots, 4u);
    EXPECT_EQ(request.stepsPerChunk, 2u);
    request = choose(Collective::ALL_REDUCE, 8);
    EXPECT_EQ(request.protocol, Protocol::LL);
    EXPECT_EQ(request.channels, 1u);
    request = choose(Collective::ALL_REDUCE, 1 << 20);
    EXPECT_GT(request.channels, 1u);
    EXPECT_LT(request.chunkBytes, 1048576u);
    request = choose(Collective::BROADCAST, 1 << 26);
    EXPECT_EQ(request.chunkBytes, 524288u);
    EXPECT_EQ(request.slots, 8u);
    request = choose(Collective::ALL_TO_ALL, uint64_t{1} << 28);
    EXPECT_EQ(request.algorithm, "direct");
    EXPECT_EQ(request.chunkBytes, 524288u); // over NVLink
    request = choose(Collective::ALL_TO_ALL, 1024);
    EXPECT_EQ(request.protocol, Protocol::LL);
    EXPECT_EQ(request.channels, 1u);

    const Group h100("dgx-h100", 1, 8);
    request.collective = Collective::ALL_REDUCE;
    request.bytes = uint64_t{1} << 30;
    request.vertices = h100.vertices;
    request.algorithm.clear();
    CollectiveChooser(h100.cluster, h100.paths).Complete(request);
    EXPECT_EQ(request.algorithm, "nvls");
    EXPECT_EQ(request.channels, 16u);
    EXPECT_EQ(request.chunkBytes, 131072u);
    const Group two("dgx-h100", 2, 16);
    request.vertices = two.vertices;
    request.algorithm.clear();
    CollectiveChooser(two.cluster, two.paths).Complete(request);
    EXPECT_EQ(request.algorithm, "nvls-tree");
    // Servers with different numbers of ranks have as many heads as the one with fewest.
    const auto chooseOf = [&two](std::size_t first, std::size_t second) {
        CollectiveRequest uneven;
        uneven.bytes = uint64_t{1} << 30;
        for (std::size_t i = 0; i < first + second; ++i)
        {
            uneven.vertices.push_back(two.vertices[i < first ? i : 8 + i - first]);
        }
        CollectiveChooser(two.cluster, two.paths).Complete(uneven);
        EXPECT_EQ(CheckProgram(MakeProgram(two.cluster, two.paths, uneven), uneven), "");
        return uneven.algorithm;
    };
    EXPECT_EQ(chooseOf(4, 6), "nvls-tree");
    EXPECT_NE(chooseOf(8, 1), "nvls-tree"); // one GPU has no NVLS
    request.collective = Collective::ALL_TO_ALL;
    request.algorithm.clear();
    CollectiveChooser(two.cluster, two.paths).Complete(request);
    EXPECT_EQ(request.algorithm, "pxn");
    EXPECT_EQ(request.networkChannels, 4u); // one for every 14 of 50 GB/s);
    EXPECT_EQ(request.chunkBytes, 131072u);
}

TEST(CollectiveChoice, Before25ByThresholds)
{
    const Group group("dgx1-v100", 1, 8);
    CollectivePreferences preferences;
    preferences.ncclVersion = 204;
    const auto choose = [&](uint64_t bytes) {
        CollectiveRequest request;
        request.collective = Collective::ALL_REDUCE;
        request.bytes = bytes;
        request.vertices = group.vertices;
        CollectiveChooser(group.cluster, group.paths, preferences).Complete(request);
        return request;
    };
    EXPECT_EQ(choose(1 << 20).protocol, Protocol::LL);
    EXPECT_EQ(choose(1 << 20).algorithm, "ring");
    EXPECT_EQ(choose(32768).channels, 2u);
    EXPECT_EQ(choose(1 << 21).protocol, Protocol::SIMPLE);
    EXPECT_EQ(choose(1 << 21).channels, 12u);
    preferences.protocol = "LL";
    EXPECT_EQ(choose(1 << 21).protocol, Protocol::LL);
    preferences.protocol.clear();
    preferences.algorithm = "halving-doubling"; // none of NCCL's
    EXPECT_EQ(choose(8).algorithm, "halving-doubling");
    EXPECT_EQ(choose(8).protocol, Protocol::SIMPLE);
    preferences.algorithm.clear();
    preferences.variables = ParseNcclVariables("NCCL_LL_THRESHOLD=0", 204);
    EXPECT_EQ(choose(8).protocol, Protocol::SIMPLE);
}

TEST(CollectiveChoice, OldTreesOfSimpleCutChunksByTheirDepth)
{
    // Eight GPUs of each of two servers: a depth of eight. 16 channels.
    const Group group("dgx-a100", 2, 16);
    const auto getChunk =
        [&](uint32_t version, Collective collective, const char* algorithm, uint64_t bytes) {
            CollectivePreferences preferences;
            preferences.ncclVersion = version;
            preferences.protocol = "Simple";
            preferences.channels = 16;
            CollectiveRequest request;
            request.collective = collective;
            request.algorithm = algorithm;
            request.bytes = bytes;
            request.vertices = group.vertices;
            CollectiveChooser(group.cluster, group.paths, preferences).Complete(request);
            return request.chunkBytes;
        };
    constexpr uint64_t KIB = 1024;
    constexpr uint64_t MIB = 1024 * KIB;
    // At least 64 chunks, but no less than 128 KiB; 32, but 64 KiB; 8, but 32 KiB.
    for (const auto& [bytes, chunk] : {std::pair(1024 * MIB, 512 * KIB),
                                       {512 * MIB, 512 * KIB},
                                       {256 * MIB, 256 * KIB},
                                       {64 * MIB, 128 * KIB},
                                       {32 * MIB, 64 * KIB},
                                       {8 * MIB, 64 * KIB},
                                       {4 * MIB, 32 * KIB},
                                       {64 * KIB, 32 * KIB}})
    {
        EXPECT_EQ(getChunk(205, Collective::ALL_REDUCE, "tree", bytes), chunk) << bytes;
        EXPECT_EQ(getChunk(219, Collective::ALL_REDUCE, "tree", bytes), chunk) << bytes;
        EXPECT_EQ(getChunk(220, Collective::ALL_REDUCE, "tree", bytes), 512 * KIB) << bytes;
        // What has one direction, and no tree, cuts as it always did.
        for (const auto& [collective, algorithm] :
             {std::pair(Collective::REDUCE, "tree"), {Collective::ALL_REDUCE, "ring"}})
        {
            EXPECT_EQ(getChunk(219, collective, algorithm, bytes),
                      getChunk(220, collective, algorithm, bytes))
                << algorithm << " " << bytes;
        }
    }
}

TEST(CollectiveChoice, TheUserComesFirst)
{
    const Group group("dgx-a100", 2, 16);
    CollectivePreferences preferences;
    preferences.algorithm = "tree";
    preferences.protocol = "ll128";
    preferences.channels = 3;
    CollectiveRequest request;
    request.bytes = 1 << 24;
    request.vertices = group.vertices;
    CollectiveChooser(group.cluster, group.paths, preferences).Complete(request);
    EXPECT_EQ(request.algorithm, "tree");
    EXPECT_EQ(request.protocol, Protocol::LL128);
    EXPECT_EQ(request.channels, 3u);
    EXPECT_LE(request.chunkBytes, GetTraits(Protocol::LL128).SlotBytes());
    EXPECT_EQ(CheckProgram(MakeProgram(group.cluster, group.paths, request), request), "");

    preferences = CollectivePreferences();
    preferences.algorithm = "halving-doubling"; // which NCCL does not have
    request.algorithm.clear();
    CollectiveChooser(group.cluster, group.paths, preferences).Complete(request);
    EXPECT_EQ(request.algorithm, "halving-doubling");
    EXPECT_EQ(request.protocol, Protocol::SIMPLE);

    preferences.algorithm = "no-such";
    request.algorithm.clear();
    EXPECT_THROW(CollectiveChooser(group.cluster, group.paths, preferences).Complete(request),
                 std::invalid_argument);
    preferences.algorithm = "";
    preferences.protocol = "no-such";
    EXPECT_THROW(CollectiveChooser(group.cluster, group.paths, preferences).Complete(request),
                 std::invalid_argument);
}

/// NCCL has one length of chunks for all messages of a communicator (p2pChunkSize): 512 KiB over
/// NVLink, 128 KiB if it is of several servers, also for those that stay in one.
TEST(CollectiveChoice, ChunksOfMessagesAreThoseOfTheCommunicator)
{
    for (const char* preset : {"dgx-a100", "hgx-b200"})
    {
        const Group group(preset, 2, 16);
        const auto getChunk = [&](uint32_t first, uint32_t second, uint32_t servers) {
            CollectivePreferences preferences;
            preferences.communicatorServers = servers;
            preferences.communicatorRanks = 8 * servers;
            preferences.communicatorChannels = 16;
            CollectiveRequest request;
            request.collective = Collective::SEND_RECV;
            request.bytes = 64 << 20;
            request.vertices = {group.vertices[first], group.vertices[second]};
            CollectiveChooser(group.cluster, group.paths, preferences).Complete(request);
            EXPECT_EQ(request.protocol, Protocol::SIMPLE) << preset;
            return request.chunkBytes;
        };
        EXPECT_EQ(getChunk(0, 1, 1), 524288u) << preset;
        EXPECT_EQ(getChunk(0, 1, 2), 131072u) << preset;
        EXPECT_EQ(getChunk(7, 8, 2), 131072u) << preset;
    }
}

TEST(Protocols, PayloadBuffersAndChannels)
{
    EXPECT_EQ(GetTraits(Protocol::SIMPLE).SlotBytes(), 524288u);
    EXPECT_EQ(GetTraits(Protocol::LL).SlotBytes(), 32768u);
    EXPECT_EQ(GetTraits(Protocol::LL128).SlotBytes(), 576000u);
    EXPECT_EQ(GetTraits(Protocol::LL).WireBytes(1000), 2000u);
    EXPECT_EQ(GetTraits(Protocol::LL128).WireBytes(1200), 1280u);
    EXPECT_EQ(GetTraits(Protocol::LL128).WireBytes(1), 128u);
    EXPECT_EQ(GetTraits(Protocol::SIMPLE).WireBytes(1001), 1001u);
    for (const Protocol protocol : {Protocol::SIMPLE, Protocol::LL, Protocol::LL128})
    {
        EXPECT_EQ(ProtocolFromString(ToString(protocol)), protocol);
    }
    // Channels of a ring go while bytes < channels x 512 x threshold: 64 with Simple, 8 x ranks
    // with LL.
    ChunkQuestion question;
    question.algorithm = "ring";
    question.ranks = 8;
    question.channels = 24;
    for (const auto& [protocol, bytes, channels] :
         {std::make_tuple(Protocol::SIMPLE, uint64_t{24} * 512 * 64, 24u),
          std::make_tuple(Protocol::SIMPLE, uint64_t{24} * 512 * 64 - 1, 23u),
          std::make_tuple(Protocol::SIMPLE, uint64_t{5} * 512 * 64, 5u),
          std::make_tuple(Protocol::LL, uint64_t{5} * 512 * 64, 5u),
          std::make_tuple(Protocol::LL128, uint64_t{5} * 640 * 8, 2u), // 32 KiB of traffic each
          std::make_tuple(Protocol::LL, uint64_t{8}, 1u)})
    {
        question.protocol = protocol;
        question.bytes = bytes;
        EXPECT_EQ(PlanChannels(question), channels) << ToString(protocol) << " " << bytes;
    }
    // NVLS: 128 KiB chunks, less while there are few loops over channels and heads.
    question.algorithm = "nvls";
    question.protocol = Protocol::SIMPLE;
    question.channels = 16;
    for (const auto& [bytes, chunk] : {std::make_pair(uint64_t{1} << 32, 131072u),
                                       std::make_pair(uint64_t{1} << 28, 65536u),
                                       std::make_pair(uint64_t{1} << 25, 32768u),
                                       std::make_pair(uint64_t{1} << 20, 16384u)})
    {
        question.bytes = bytes;
        EXPECT_EQ(PlanChunks(question).stepBytes, chunk) << bytes;
    }
}
