/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-nccl-variables.h"
#include "ns3/proteus-program-cache.h"

#include <gtest/gtest.h>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

using namespace ns3::proteus;

namespace
{

constexpr uint64_t KIB = 1024;
constexpr uint64_t MIB = 1024 * KIB;

/// @param preset of the servers @param servers how many @param collective which one
/// @param bytes of it @param text of the variables @param version of NCCL @return what is chosen
CollectiveRequest
Choose(const std::string& preset,
       uint32_t servers,
       Collective collective,
       uint64_t bytes,
       const std::string& text,
       uint32_t version = 230)
{
    const Cluster cluster = MakeCluster(preset, servers);
    const Paths paths(cluster);
    CollectivePreferences preferences;
    preferences.ncclVersion = version;
    preferences.variables = ParseNcclVariables(text, version);
    CollectiveRequest request;
    request.collective = collective;
    request.bytes = bytes;
    request.vertices = cluster.GetGpus();
    CollectiveChooser(cluster, paths, preferences).Complete(request);
    return request;
}

/// @param text of variables @param version of NCCL @return why they are refused
std::string
Refuse(const std::string& text, uint32_t version = 230)
{
    try
    {
        ParseNcclVariables(text, version);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "";
}

} // namespace

TEST(NcclVariables, ListsOfAlgorithmsMayHaveCommas)
{
    const auto settings = SplitNcclVariables("NCCL_ALGO=Ring,Tree,NCCL_BUFFSIZE=8M");
    ASSERT_EQ(settings.size(), 2u);
    EXPECT_EQ(settings[0].second, "Ring,Tree");
    const NcclVariables variables = ParseNcclVariables("NCCL_ALGO=^nvls,NCCL_BUFFSIZE=8M", 230);
    EXPECT_FALSE(variables.Allows(Collective::ALL_REDUCE, NcclAlgorithm::NVLS));
    EXPECT_TRUE(variables.Allows(Collective::ALL_REDUCE, NcclAlgorithm::NVLS_TREE));
    EXPECT_EQ(variables.bufferBytes[0], 8 * MIB);
    EXPECT_TRUE(SplitNcclVariables("").empty());
}

TEST(NcclVariables, AreRefusedWithTheCause)
{
    for (const auto& [text, version, cause] :
         {std::make_tuple("BUFFSIZE", 230u, "must be a variable and its value"),
          std::make_tuple("NCCL_BUFSIZE=8M", 230u, "did you mean NCCL_BUFFSIZE?"),
          std::make_tuple("NCCL_BUFFSIZE=8M,NCCL_BUFFSIZE=4M", 230u, "is there twice"),
          std::make_tuple("NCCL_BUFFSIZE=big", 230u, "must be a number of bytes"),
          std::make_tuple("NCCL_BUFFSIZE=4", 230u, "must be 8 bytes or more"),
          std::make_tuple("NCCL_MAX_NCHANNELS=0", 230u, "from 1 to 64"),
          std::make_tuple("NCCL_NTHREADS=100", 230u, "multiple of 32"),
          std::make_tuple("NCCL_ALGO=Rings", 230u, "there is no \"rings\""),
          std::make_tuple("NCCL_ALGO=AllReduce:Ring", 223u, "NCCL before 2.24"),
          std::make_tuple("NCCL_ALGO=Send:Ring", 230u, "there is no collective \"send\""),
          std::make_tuple("NCCL_CROSS_NIC=3", 230u, "from 0 to 2"),
          std::make_tuple("NCCL_SHM_DISABLE=2", 230u, "from 0 to 1"),
          std::make_tuple("NCCL_NETDEVS_POLICY=MAX:1", 230u, "is said by --cluster"),
          std::make_tuple("NCCL_SOCKET_NTHREADS=16,NCCL_NSOCKS_PERTHREAD=8", 230u, "is 64 at most"),
          std::make_tuple("NCCL_NET_PLUGIN=aws-ofi", 230u, "--netPlugin says it")})
    {
        EXPECT_NE(Refuse(text, version).find(cause), std::string::npos)
            << text << ": " << Refuse(text, version);
    }
}

TEST(NcclVariables, WhatDoesNothingIsNamed)
{
    const auto first = [](const std::string& text, uint32_t version) {
        const auto lines = FindIdleVariables(text, version);
        return lines.empty() ? std::string() : lines.front();
    };
    EXPECT_NE(first("NCCL_DEBUG=INFO", 230).find("has no effect: it says what NCCL prints"),
              std::string::npos);
    EXPECT_NE(first("NCCL_P2P_NET_CHUNKSIZE=1M", 212).find("2.14 is the first that does"),
              std::string::npos);
    EXPECT_EQ(ParseNcclVariables("NCCL_P2P_NET_CHUNKSIZE=1M", 212).networkChunkBytes, 0u);
    EXPECT_EQ(ParseNcclVariables("NCCL_P2P_NET_CHUNKSIZE=1M", 214).networkChunkBytes, MIB);
    EXPECT_EQ(first("NCCL_BUFFSIZE=8M", 230), "");
    EXPECT_NE(first("NCCL_IB_ADAPTIVE_ROUTING=1", 230).find("has no effect: how the fabric routes"),
              std::string::npos);
    EXPECT_EQ(
        first("NCCL_SOCKET_NTHREADS=4", 230),
        "NCCL_SOCKET_NTHREADS=4: --netPlugin=sockets heeds it, other networks have no sockets");
    // Thresholds went with 2.5.
    EXPECT_EQ(first("NCCL_TREE_THRESHOLD=0", 204), "");
    EXPECT_NE(first("NCCL_TREE_THRESHOLD=0", 205).find("does not read it any more"),
              std::string::npos);
    EXPECT_NE(first("NCCL_TREE_THRESHOLD=0", 203).find("2.4 is the first that does"),
              std::string::npos);
    EXPECT_EQ(ParseNcclVariables("NCCL_TREE_THRESHOLD=0", 204).treeThresholdBytes, 0u);
    EXPECT_FALSE(ParseNcclVariables("NCCL_TREE_THRESHOLD=0", 205).treeThresholdBytes.has_value());
    EXPECT_EQ(ParseNcclVariables("NCCL_LL_THRESHOLD=1M", 204).llThresholdBytes, MIB);
}

TEST(NcclVariables, BuffersAreCutIntoEightSlots)
{
    // Rings take slices of two slots: of 4 MiB 1 MiB, of 8 MiB 2 MiB.
    const auto ring = [](const char* text) {
        return Choose("dgx-a100", 1, Collective::ALL_GATHER, 1024 * MIB, text);
    };
    EXPECT_EQ(ring("").chunkBytes, MIB);
    EXPECT_EQ(ring("NCCL_BUFFSIZE=8M").chunkBytes, 2 * MIB);
    EXPECT_EQ(ring("NCCL_BUFFSIZE=1M").chunkBytes, 256 * KIB);
    EXPECT_EQ(ring("NCCL_LL_BUFFSIZE=1M").chunkBytes, MIB); // which is of LL
    // Messages have no more than a slot of Simple.
    const auto message = [](const char* text) {
        return Choose("dgx-a100", 1, Collective::ALL_TO_ALL, 1024 * MIB, text).chunkBytes;
    };
    EXPECT_EQ(message(""), 512 * KIB);
    EXPECT_EQ(message("NCCL_BUFFSIZE=1M"), 128 * KIB);
    EXPECT_EQ(message("NCCL_BUFFSIZE=8M"), 512 * KIB);
    EXPECT_EQ(message("NCCL_BUFFSIZE=8M,NCCL_P2P_NVL_CHUNKSIZE=1M"), MIB);
    EXPECT_EQ(message("NCCL_P2P_NVL_CHUNKSIZE=1M"), 512 * KIB); // the slot is no longer
    EXPECT_EQ(message("NCCL_P2P_NET_CHUNKSIZE=64K"), 512 * KIB);
    EXPECT_EQ(
        Choose("dgx-a100", 2, Collective::ALL_TO_ALL, 1024 * MIB, "NCCL_P2P_NET_CHUNKSIZE=64K")
            .chunkBytes,
        64 * KIB);
}

TEST(NcclVariables, GraceAndBlackwellHaveLongerChunksOverNetworks)
{
    const auto chunk = [](const char* preset, uint32_t version, const char* text = "") {
        return Choose(preset, 2, Collective::SEND_RECV, 1024 * MIB, text, version).chunkBytes;
    };
    EXPECT_EQ(chunk("gb200-nvl72", 229), 256 * KIB);
    EXPECT_EQ(chunk("gb200-nvl72", 228), 128 * KIB);
    EXPECT_EQ(chunk("hgx-b200", 229), 128 * KIB); // Intel's CPUs
    EXPECT_EQ(chunk("gb200-nvl72", 229, "NCCL_P2P_NET_CHUNKSIZE=64K"), 128 * KIB);
}

TEST(NcclVariables, ChannelsAreCutOffThenDoubled)
{
    const auto channels = [](const char* text) {
        return Choose("dgx-a100", 1, Collective::ALL_GATHER, 1024 * MIB, text).channels;
    };
    EXPECT_EQ(channels(""), 24u);
    EXPECT_EQ(channels("NCCL_MAX_NCHANNELS=4"), 4u);
    EXPECT_EQ(channels("NCCL_MAX_CTAS=6"), 6u);
    EXPECT_EQ(channels("NCCL_MIN_NCHANNELS=32"), 32u);
    EXPECT_EQ(channels("NCCL_MAX_NCHANNELS=4,NCCL_MIN_NCHANNELS=8"), 8u);
    EXPECT_EQ(channels("NCCL_MAX_NRINGS=4,NCCL_MAX_NCHANNELS=8"), 8u);
    EXPECT_EQ(channels("NCCL_MAX_NCHANNELS=8,NCCL_MAX_NRINGS=4"), 8u);
    // NVLS heeds thread blocks only.
    const auto nvls = [](const char* text) {
        return Choose("dgx-h100", 1, Collective::ALL_REDUCE, 1024 * MIB, text);
    };
    EXPECT_EQ(nvls("NCCL_MAX_NCHANNELS=4").algorithm, "nvls");
    EXPECT_EQ(nvls("NCCL_MAX_NCHANNELS=4").channels, 16u);
    EXPECT_EQ(nvls("NCCL_MAX_CTAS=4").channels, 4u);
    EXPECT_EQ(nvls("NCCL_NVLS_NCHANNELS=12").channels, 12u);
    EXPECT_EQ(nvls("NCCL_NVLS_CHUNKSIZE=64K").chunkBytes, 64 * KIB);
    EXPECT_EQ(nvls("NCCL_NVLS_ENABLE=0").algorithm, "ring");
    // Fewer threads find less to do for each of them later.
    EXPECT_EQ(
        Choose("dgx-a100", 1, Collective::ALL_GATHER, 512 * KIB, "NCCL_PROTO=Simple", 221).channels,
        16u);
    EXPECT_EQ(Choose("dgx-a100",
                     1,
                     Collective::ALL_GATHER,
                     512 * KIB,
                     "NCCL_PROTO=Simple,NCCL_NTHREADS=256",
                     221)
                  .channels,
              24u);
}

TEST(NcclVariables, CrossNicSaysByWhichNicRingsLeave)
{
    const auto read = [](const std::string& text) {
        return ParseNcclVariables(text, 230).transports.crossNic;
    };
    EXPECT_EQ(read("NCCL_CROSS_NIC=0"), CrossNic::NEVER);
    EXPECT_EQ(read("NCCL_CROSS_NIC=1"), CrossNic::ALWAYS);
    EXPECT_EQ(read("NCCL_CROSS_NIC=2"), CrossNic::RAILS);
    EXPECT_EQ(read(""), CrossNic::RAILS);
    // Twelve rings go back over the links between four Graces, and twice as many are in use.
    const auto count = [](const std::string& text) {
        return Choose("quad-gh200", 2, Collective::ALL_REDUCE, 1024 * MIB, text, 223).channels;
    };
    EXPECT_EQ(count("NCCL_CROSS_NIC=0"), 24u);
    EXPECT_EQ(count("NCCL_CROSS_NIC=1"), 8u);
    EXPECT_EQ(count(""), 8u);
}

TEST(NcclVariables, MessagesHaveTheChannelsThatAreSaid)
{
    const auto all = [](const char* text, uint32_t servers, uint64_t bytes) {
        return Choose("dgx-h100", servers, Collective::ALL_TO_ALL, bytes, text);
    };
    // Four channels for 50 GB/s, of 14 GB/s each; of 50 one is enough.
    EXPECT_EQ(all("", 2, 1024 * MIB).networkChannels, 4u);
    EXPECT_EQ(all("NCCL_NCHANNELS_PER_NET_PEER=8", 2, 1024 * MIB).networkChannels, 8u);
    EXPECT_EQ(all("NCCL_P2P_PER_CHANNEL_NET_BW=50", 2, 1024 * MIB).networkChannels, 1u);
    EXPECT_EQ(all("NCCL_MAX_P2P_NCHANNELS=2", 1, 1024 * MIB).messageProcessors, 2u);
    EXPECT_EQ(all("NCCL_MIN_P2P_NCHANNELS=64", 1, 1024 * MIB).messageProcessors, 64u);
    EXPECT_EQ(all("", 1, 64 * KIB).protocol, Protocol::LL);
    EXPECT_EQ(all("NCCL_P2P_LL_THRESHOLD=0", 1, 64 * KIB).protocol, Protocol::SIMPLE);
    EXPECT_EQ(all("", 2, MIB).algorithm, "pxn");
    EXPECT_EQ(all("NCCL_PXN_DISABLE=1", 2, MIB).algorithm, "direct");
    EXPECT_EQ(all("NCCL_P2P_PXN_LEVEL=1", 2, MIB).algorithm, "direct");
    ProgramSettings settings;
    EXPECT_TRUE(MakeTransportRules(MakePreferences(settings)).pxn);
    settings.ncclVariables = "NCCL_PXN_DISABLE=1";
    EXPECT_FALSE(MakeTransportRules(MakePreferences(settings)).pxn);
}

TEST(NcclVariables, AlgorithmsAndProtocolsAreThoseOfEachCollective)
{
    const auto choose = [](Collective collective, const char* text, uint32_t version) {
        return Choose("dgx-h100", 1, collective, 64 * MIB, text, version);
    };
    EXPECT_EQ(choose(Collective::ALL_REDUCE, "", 230).algorithm, "nvls");
    EXPECT_EQ(choose(Collective::ALL_REDUCE, "NCCL_ALGO=Tree", 230).algorithm, "tree");
    EXPECT_EQ(
        choose(Collective::ALL_REDUCE, "NCCL_ALGO=AllReduce:Tree;AllGather:Ring", 230).algorithm,
        "tree");
    EXPECT_EQ(choose(Collective::BROADCAST, "NCCL_ALGO=AllReduce:Tree", 230).algorithm, "ring");
    EXPECT_EQ(choose(Collective::ALL_GATHER, "NCCL_ALGO=^NVLS", 230).algorithm, "ring");
    EXPECT_EQ(choose(Collective::ALL_REDUCE, "NCCL_PROTO=LL", 230).protocol, Protocol::LL);
    // What it names only is an error from 2.24 on, and a ring before.
    EXPECT_THROW(choose(Collective::BROADCAST, "NCCL_ALGO=Tree", 224), std::invalid_argument);
    EXPECT_EQ(choose(Collective::BROADCAST, "NCCL_ALGO=Tree", 223).algorithm, "ring");
    // NCCL takes LL128 on GPUs that it is not for where it is named.
    const auto pcie = [](const char* text) {
        return Choose("pcie-v100x4", 1, Collective::ALL_REDUCE, MIB, text).protocol;
    };
    EXPECT_EQ(pcie("NCCL_PROTO=^Simple,NCCL_ALGO=Ring"), Protocol::LL128);
    EXPECT_NE(pcie(""), Protocol::LL128);
}

TEST(NcclVariables, GdrThroughACpuLeavesLl128ToSwitches)
{
    // ncclTopoTuneModel(): LL128 before Hopper only where a PCIe switch is between GPU and NIC.
    // Perlmutter and JUWELS Booster differ in nothing else that the tuner sees.
    const std::string text = "NCCL_NET_GDR_LEVEL=PHB,NCCL_CROSS_NIC=1";
    std::set<Protocol> atCpu;
    std::set<Protocol> atSwitch;
    for (uint64_t bytes = KIB; bytes <= 1024 * MIB; bytes *= 4)
    {
        atCpu.insert(Choose("quad-a100", 2, Collective::ALL_REDUCE, bytes, text, 221).protocol);
        atSwitch.insert(
            Choose("hgx-a100-4gpu", 2, Collective::ALL_REDUCE, bytes, text, 221).protocol);
    }
    EXPECT_EQ(atCpu, (std::set<Protocol>{Protocol::LL, Protocol::SIMPLE}));
    EXPECT_EQ(atSwitch, (std::set<Protocol>{Protocol::LL, Protocol::LL128, Protocol::SIMPLE}));
}
