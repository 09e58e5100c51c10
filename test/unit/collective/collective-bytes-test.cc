/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-clusters.h"

#include "ns3/proteus-program.h"

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// Programs of any size on one cluster.
class CollectiveBytes : public testing::Test
{
  protected:
    CollectiveBytes()
        : m_cluster(MakeReducingCluster(1, 64)),
          m_paths(m_cluster)
    {
    }

    /// Makes the programs of a collective and gives for each rank what it sends and receives.
    void Make(Collective collective,
              const std::string& algorithm,
              uint32_t n,
              uint64_t bytes,
              uint32_t root = 0)
    {
        CollectiveRequest request;
        request.collective = collective;
        request.algorithm = algorithm;
        request.bytes = bytes;
        request.root = root;
        request.channels = 1 + n % 2;
        request.chunkBytes = 4096;
        request.vertices = FirstGpus(m_cluster, n);
        const auto program = MakeProgram(m_cluster, m_paths, request);
        m_sent.clear();
        m_received.clear();
        for (const RankProgram& rank : program.ranks)
        {
            m_sent.push_back(SentBytes(rank));
            m_received.push_back(ReceivedBytes(rank));
        }
    }

    /// @return the sum of what all ranks send
    uint64_t Total() const
    {
        uint64_t total = 0;
        for (const uint64_t bytes : m_sent)
        {
            total += bytes;
        }
        return total;
    }

    const Cluster m_cluster;
    const Paths m_paths;
    std::vector<uint64_t> m_sent;
    std::vector<uint64_t> m_received;
};

/// @param n ranks @return sizes: that n divides, that it does not, and for few ranks others
std::vector<uint64_t>
Sizes(uint64_t n)
{
    return n > 16 ? std::vector<uint64_t>{n * 128, n * 128 + n - 1}
                  : std::vector<uint64_t>{n * 128, n * 128 + n - 1, 10007, n - 1};
}

/// @return bytes of the segment of a rank
uint64_t
Segment(uint64_t bytes, uint32_t n, uint32_t rank)
{
    return CutExtent({0, bytes}, n, rank).bytes;
}

uint32_t
LargestPower(uint32_t n)
{
    uint32_t p = 1;
    while (2 * p <= n)
    {
        p *= 2;
    }
    return p;
}

} // namespace

TEST_F(CollectiveBytes, OfRingDirectPatAndHierarchicalAreTheBound)
{
    // All-gather: every rank receives all but its own segment, once. Reduce-scatter: it sends all
    // but its own, once. All-reduce: both.
    for (uint32_t n = 2; n <= 64; ++n)
    {
        for (const uint64_t bytes : Sizes(n))
        {
            for (const char* algorithm : {"ring", "direct", "pat", "hierarchical"})
            {
                const std::string name = algorithm;
                Make(Collective::ALL_GATHER, name, n, bytes);
                EXPECT_EQ(Total(), (n - 1) * bytes) << name << " " << n;
                for (uint32_t rank = 0; rank < n; ++rank)
                {
                    ASSERT_EQ(m_received[rank], bytes - Segment(bytes, n, rank))
                        << name << " " << n;
                    if (bytes % n == 0)
                    {
                        ASSERT_EQ(m_sent[rank], (n - 1) * (bytes / n)) << name << " " << n;
                    }
                }
                Make(Collective::REDUCE_SCATTER, name, n, bytes);
                EXPECT_EQ(Total(), (n - 1) * bytes) << name << " " << n;
                for (uint32_t rank = 0; rank < n; ++rank)
                {
                    ASSERT_EQ(m_sent[rank], bytes - Segment(bytes, n, rank)) << name << " " << n;
                    if (bytes % n == 0)
                    {
                        ASSERT_EQ(m_received[rank], (n - 1) * (bytes / n)) << name << " " << n;
                    }
                }
                if (name == "pat")
                {
                    continue;
                }
                Make(Collective::ALL_REDUCE, name, n, bytes);
                EXPECT_EQ(Total(), 2 * (n - 1) * bytes) << name << " " << n;
                for (uint32_t rank = 0; rank < n && bytes % n == 0; ++rank)
                {
                    ASSERT_EQ(m_sent[rank], 2 * (n - 1) * (bytes / n)) << name << " " << n;
                    ASSERT_EQ(m_received[rank], m_sent[rank]) << name << " " << n;
                }
            }
        }
    }
}

TEST_F(CollectiveBytes, OfHalvingDoublingAndItsRanksBeyondAPowerOfTwo)
{
    for (uint32_t n = 2; n <= 64; ++n)
    {
        const uint32_t p = LargestPower(n);
        for (const uint64_t bytes : Sizes(n))
        {
            Make(Collective::ALL_REDUCE, "halving-doubling", n, bytes);
            for (uint32_t rank = 0; rank < n; ++rank)
            {
                // One of the power of two; beyond it, one that gives all and gets all.
                const bool isExtra = rank >= p;
                const bool hasPartner = rank < p && rank + p < n;
                const uint64_t expected =
                    (isExtra ? 0 : 2 * (p - 1) * (bytes / p)) + (isExtra || hasPartner ? bytes : 0);
                if (bytes % p == 0)
                {
                    ASSERT_EQ(m_sent[rank], expected) << n;
                    ASSERT_EQ(m_received[rank], expected) << n;
                }
            }
            EXPECT_EQ(Total(), (2 * (p - 1) + 2 * (n - p)) * bytes) << n;
            Make(Collective::ALL_GATHER, "halving-doubling", n, bytes);
            for (uint32_t rank = 0; rank < n; ++rank)
            {
                ASSERT_EQ(m_received[rank], bytes - Segment(bytes, n, rank)) << n;
            }
            Make(Collective::REDUCE_SCATTER, "halving-doubling", n, bytes);
            for (uint32_t rank = 0; rank < n; ++rank)
            {
                // A rank beyond gives all away; its partner keeps two segments, and sends one back.
                const uint64_t own = Segment(bytes, n, rank);
                ASSERT_EQ(m_sent[rank], rank >= p ? bytes : bytes - own) << n;
            }
        }
    }
}

TEST_F(CollectiveBytes, OfTrees)
{
    // Every rank but the root of a tree sends all up and gets all down, once; sums over all ranks
    // do not depend on the tree.
    for (uint32_t n = 2; n <= 64; ++n)
    {
        for (const uint64_t bytes : Sizes(n))
        {
            Make(Collective::ALL_REDUCE, "tree", n, bytes);
            EXPECT_EQ(Total(), 2 * (n - 1) * bytes) << n;
            // In one server the tree is a chain: its end sends up only, its root down only.
            std::set<uint64_t> sent(m_sent.begin(), m_sent.end());
            EXPECT_EQ(sent,
                      n == 2 ? std::set<uint64_t>{bytes} : std::set<uint64_t>({bytes, 2 * bytes}));
            for (const char* algorithm : {"ring", "tree", "direct"})
            {
                const uint32_t root = n / 2;
                Make(Collective::BROADCAST, algorithm, n, bytes, root);
                EXPECT_EQ(Total(), (n - 1) * bytes);
                for (uint32_t rank = 0; rank < n; ++rank)
                {
                    ASSERT_EQ(m_received[rank], rank == root ? 0 : bytes) << algorithm << n;
                }
                Make(Collective::REDUCE, algorithm, n, bytes, root);
                EXPECT_EQ(Total(), (n - 1) * bytes);
                for (uint32_t rank = 0; rank < n; ++rank)
                {
                    ASSERT_EQ(m_sent[rank], rank == root ? 0 : bytes) << algorithm << n;
                }
            }
        }
    }
}

TEST_F(CollectiveBytes, OfSwitchesThatReduce)
{
    // NVLS: a rank gives its whole buffer to the switches and its sum to all; it gets its sum and
    // what all heads give, its own as well.
    for (uint32_t n = 2; n <= 64; n += n < 16 ? 1 : 7)
    {
        for (const uint64_t bytes : {uint64_t{n} * 128, uint64_t{10007}})
        {
            Make(Collective::ALL_REDUCE, "nvls", n, bytes);
            EXPECT_EQ(Total(), n * bytes + bytes) << n;
            Make(Collective::ALL_GATHER, "nvls", n, bytes);
            for (uint32_t rank = 0; rank < n; ++rank)
            {
                ASSERT_EQ(m_sent[rank], Segment(bytes, n, rank)) << n;
                ASSERT_EQ(m_received[rank], bytes) << n;
            }
            Make(Collective::REDUCE_SCATTER, "nvls", n, bytes);
            for (uint32_t rank = 0; rank < n; ++rank)
            {
                ASSERT_EQ(m_sent[rank], bytes) << n;
                ASSERT_EQ(m_received[rank], Segment(bytes, n, rank)) << n;
            }
        }
        Make(Collective::ALL_REDUCE, "nvls", n, uint64_t{n} * n * 2 * 64);
        for (uint32_t rank = 0; rank < n; ++rank)
        {
            ASSERT_EQ(m_sent[rank], uint64_t{n + 1} * n * 2 * 64) << n;
            ASSERT_EQ(m_received[rank], m_sent[rank]) << n;
        }
    }
}

TEST_F(CollectiveBytes, OfParameterServers)
{
    for (uint32_t n = 2; n <= 64; ++n)
    {
        Make(Collective::ALL_REDUCE, "parameter-server", n, 10007, n / 2);
        for (uint32_t rank = 0; rank < n; ++rank)
        {
            ASSERT_EQ(m_sent[rank], rank == n / 2 ? (n - 1) * 10007 : 10007) << n;
        }
    }
    CollectiveRequest request;
    request.algorithm = "parameter-server";
    request.bytes = 10000;
    request.root = 7;
    request.parameterServers = 4; // ranks 7, 0, 1 and 2 of 8
    request.vertices = FirstGpus(m_cluster, 8);
    const auto program = MakeProgram(m_cluster, m_paths, request);
    EXPECT_EQ(CheckProgram(program, request), "");
    for (uint32_t rank = 0; rank < 8; ++rank)
    {
        const bool isServer = rank == 7 || rank < 3;
        EXPECT_EQ(SentBytes(program.ranks[rank]), isServer ? 7500u + 7 * 2500 : 10000u);
    }
    request.parameterServers = 9;
    EXPECT_THROW(MakeProgram(m_cluster, m_paths, request), std::invalid_argument);
}

TEST_F(CollectiveBytes, OfPairs)
{
    for (uint32_t n = 2; n <= 64; ++n)
    {
        for (const uint64_t bytes : Sizes(n))
        {
            Make(Collective::ALL_TO_ALL, "direct", n, bytes);
            for (uint32_t rank = 0; rank < n; ++rank)
            {
                const uint64_t own = Segment(bytes, n, rank);
                ASSERT_EQ(m_sent[rank], bytes - own) << n;
                ASSERT_EQ(m_received[rank], (n - 1) * own) << n;
            }
            const uint32_t root = n - 1;
            Make(Collective::GATHER, "direct", n, bytes, root);
            for (uint32_t rank = 0; rank < n; ++rank)
            {
                ASSERT_EQ(m_sent[rank], rank == root ? 0 : Segment(bytes, n, rank)) << n;
            }
            Make(Collective::SCATTER, "direct", n, bytes, root);
            ASSERT_EQ(m_sent[root], bytes - Segment(bytes, n, root)) << n;
            ASSERT_EQ(Total(), m_sent[root]) << n;
        }
    }
}

TEST_F(CollectiveBytes, AcrossServers)
{
    // What leaves a server. NVLSTree and a tree of two servers: once each way per byte; a ring of
    // two: 2 (n - 1) / n.
    const Cluster cluster = MakeReducingCluster(2, 4);
    const Paths paths(cluster);
    const auto leaving = [&](const char* algorithm) {
        CollectiveRequest request;
        request.algorithm = algorithm;
        request.bytes = 80000;
        request.channels = 4;
        request.vertices = cluster.GetGpus();
        const auto program = MakeProgram(cluster, paths, request);
        EXPECT_EQ(CheckProgram(program, request), "") << algorithm;
        uint64_t bytes = 0;
        for (uint32_t rank = 0; rank < 4; ++rank)
        {
            for (const ThreadBlock& block : program.ranks[rank].blocks)
            {
                for (const Step& step : block.steps)
                {
                    const bool leaves = Sends(step.kind) ? block.sendPeer >= 4
                                        : SendsToGroup(step.kind)
                                            ? program.groups[block.group].members.back() >= 4
                                            : false;
                    bytes += leaves ? step.bytes : 0;
                }
            }
        }
        return bytes;
    };
    EXPECT_EQ(leaving("tree"), 80000u);
    EXPECT_EQ(leaving("nvls-tree"), 80000u);
    EXPECT_EQ(leaving("sharp"), 80000u);
    EXPECT_EQ(leaving("sharp-chain"), 80000u);
    EXPECT_EQ(leaving("hierarchical"), 80000u);
    EXPECT_EQ(leaving("ring"), 140000u); // 2 x 7 / 8
}
