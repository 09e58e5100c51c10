/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "together.h"

#include "ns3/proteus-flow-profile.h"
#include "ns3/proteus-replay-part.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// Where some ranks of a program stand for all of them, a replay of these says what a replay of all
// says.

using namespace ns3::proteus;

namespace
{

/// A collective of GPUs of a cluster, and what a replay of it needs.
class Collected
{
  public:
    /// @param cluster of the GPUs @param devices some of them @param kind of collective
    /// @param bytes of it @param algorithm of it @param protocol of it
    Collected(Cluster cluster,
              std::vector<DeviceId> devices,
              Collective kind,
              uint64_t bytes,
              const std::string& algorithm,
              const std::string& protocol)
        : m_cluster(std::move(cluster)),
          m_paths(m_cluster)
    {
        Together together(static_cast<uint32_t>(m_cluster.GetGpus().size()));
        const TaskId task = together.Add(kind, std::move(devices), bytes);
        m_graph = together.Build();
        ProgramSettings settings;
        settings.algorithm = algorithm;
        settings.protocol = protocol;
        m_profiles =
            std::make_unique<FlowProfiles>(m_graph, m_cluster, m_paths, FlowParameters(), settings);
        m_input = *m_profiles->GetWhole(task);
    }

    /// @return what is replayed, to be changed
    ReplayInput& Get()
    {
        return m_input;
    }

    /// @return the part that stands for it; null if there is none
    std::unique_ptr<ReplayPart> FindPart() const
    {
        return ReplayPart::Find(*m_input.program,
                                m_input.flows,
                                m_input.routes,
                                m_profiles->GetWays(),
                                m_input.costs);
    }

    /// @param isInstant whether bytes take no time @return times of a replay of all ranks
    ReplayTimes ReplayAll(bool isInstant) const
    {
        return ReplayRun(*m_input.program,
                         m_input.flows,
                         m_input.routes,
                         m_profiles->GetWays(),
                         m_input.costs,
                         isInstant,
                         FindFlowsOfBlocks(*m_input.program, m_input.flows))
            .Run(nullptr, {});
    }

  private:
    Cluster m_cluster;
    Paths m_paths;
    ExecutionGraph m_graph;
    std::unique_ptr<FlowProfiles> m_profiles;
    ReplayInput m_input;
};

/// All devices of a cluster, or every so manieth.
std::vector<DeviceId>
ListDevices(const Cluster& cluster, uint32_t step = 1)
{
    std::vector<DeviceId> devices;
    for (DeviceId device = 0; device < cluster.GetGpus().size(); device += step)
    {
        devices.push_back(device);
    }
    return devices;
}

/// Compares a part with all. @param collected which collective @param context says which
/// @param most difference of a time, as a part of the whole
void
ExpectSameTimes(const Collected& collected, const std::string& context, double most = 0)
{
    const auto part = collected.FindPart();
    ASSERT_NE(part, nullptr) << context;
    for (const bool isInstant : {false, true})
    {
        const ReplayTimes all = collected.ReplayAll(isInstant);
        const ReplayTimes ofPart = part->Run(isInstant, nullptr);
        // Rounding, of which head starts at NICs make more (NicQueues).
        const double tolerance = most * static_cast<double>(all.endPs) + 10;
        EXPECT_NEAR(all.endPs, ofPart.endPs, std::min(tolerance, 1e-3 * all.endPs + 2)) << context;
        ASSERT_EQ(all.sentPs.size(), ofPart.sentPs.size()) << context;
        for (std::size_t i = 0; i < all.sentPs.size(); ++i)
        {
            EXPECT_NEAR(all.sentPs[i], ofPart.sentPs[i], tolerance) << context << " flow " << i;
            EXPECT_NEAR(all.receivedPs[i], ofPart.receivedPs[i], tolerance) << context;
            EXPECT_NEAR(all.senderStepPs[i], ofPart.senderStepPs[i], tolerance) << context;
            EXPECT_NEAR(all.receiverStepPs[i], ofPart.receiverStepPs[i], tolerance) << context;
        }
        ASSERT_EQ(all.stepsPs.size(), ofPart.stepsPs.size()) << context;
        for (std::size_t i = 0; i < all.stepsPs.size(); ++i)
        {
            EXPECT_NEAR(all.stepsPs[i], ofPart.stepsPs[i], tolerance) << context << " rank " << i;
        }
    }
}

} // namespace

TEST(ReplayPart, RanksOfTwoServersStandForThoseOfAll)
{
    for (const char* preset : {"dgx1-v100", "dgx-a100", "dgx-h100", "pcie-v100x8", "titanxp-pcie"})
    {
        for (const char* protocol : {"Simple", "LL", "LL128"})
        {
            for (const Collective kind :
                 {Collective::ALL_REDUCE, Collective::ALL_GATHER, Collective::REDUCE_SCATTER})
            {
                const Cluster cluster = MakeCluster(preset, 4);
                const Collected collected(cluster,
                                          ListDevices(cluster),
                                          kind,
                                          2'000'000,
                                          "ring",
                                          protocol);
                const std::string context = std::string(preset) + " " + protocol + " " +
                                            std::to_string(static_cast<int>(kind));
                ExpectSameTimes(collected, context);
                EXPECT_LE(collected.FindPart()->GetNRanks(), 16u) << context;
            }
        }
    }
}

TEST(ReplayPart, OneGpuBehindSwitchesStandsForItsServer)
{
    for (const char* preset : {"dgx-a100", "dgx-h100", "hgx-b200"})
    {
        const Cluster cluster = MakeCluster(preset, 1);
        const Collected collected(cluster,
                                  ListDevices(cluster),
                                  Collective::ALL_REDUCE,
                                  32'000'000,
                                  "ring",
                                  "Simple");
        ExpectSameTimes(collected, preset);
        EXPECT_EQ(collected.FindPart()->GetNRanks(), 1u) << preset;
    }
}

TEST(ReplayPart, OneGpuOfEveryServerStandsForAll)
{
    const Cluster cluster = MakeCluster("dgx-h100", 8);
    const Collected collected(cluster,
                              ListDevices(cluster, 8),
                              Collective::ALL_GATHER,
                              8'000'000,
                              "ring",
                              "Simple");
    ExpectSameTimes(collected, "eight servers");
    EXPECT_LE(collected.FindPart()->GetNRanks(), 2u);
}

TEST(ReplayPart, MessagesBetweenAllMeetTheSame)
{
    // At an output of an InfiniBand switch, inputs take turns that flows of other servers come by.
    // Of flows that come at once to a full port, another one may be taken for the first.
    for (const char* preset : {"dgx-a100", "dgx-h100", "hgx-b200"})
    {
        const Cluster cluster = MakeCluster(preset, 4);
        const Collected collected(cluster,
                                  ListDevices(cluster),
                                  Collective::ALL_TO_ALL,
                                  8'000'000,
                                  "direct",
                                  "Simple");
        ExpectSameTimes(collected, preset, 1e-2);
        EXPECT_EQ(collected.FindPart()->GetNRanks(), 8u) << preset;
    }
    const Cluster rack = MakeCluster("gb200-nvl72", 1);
    const Collected collected(rack,
                              ListDevices(rack),
                              Collective::ALL_TO_ALL,
                              72'000'000,
                              "direct",
                              "Simple");
    ExpectSameTimes(collected, "rack", 1e-2);
    EXPECT_EQ(collected.FindPart()->GetNRanks(), 1u);
}

TEST(ReplayPart, BytesThatDoNotDivideMakeHardlyADifference)
{
    const Cluster cluster = MakeCluster("dgx-a100", 4);
    const Collected collected(cluster,
                              ListDevices(cluster),
                              Collective::ALL_REDUCE,
                              2'000'003,
                              "ring",
                              "Simple");
    ExpectSameTimes(collected, "2,000,003 bytes", 1e-3);
}

TEST(ReplayPart, RanksThatDifferStandForNobody)
{
    const auto collect = [](uint32_t servers, const std::string& algorithm) {
        const Cluster cluster = MakeCluster("dgx-a100", servers);
        return std::make_unique<Collected>(cluster,
                                           ListDevices(cluster),
                                           Collective::ALL_REDUCE,
                                           1'000'000,
                                           algorithm,
                                           "Simple");
    };
    EXPECT_EQ(collect(4, "tree")->FindPart(), nullptr);
    EXPECT_EQ(collect(3, "ring")->FindPart(), nullptr); // every second server goes backwards

    const auto slow = collect(4, "ring");
    ASSERT_NE(slow->FindPart(), nullptr);
    slow->Get().costs.blocks[17][0].busyPs += 1000;
    EXPECT_EQ(slow->FindPart(), nullptr);

    const auto limited = collect(4, "ring");
    limited->Get().costs.limits[5] *= 0.5;
    EXPECT_EQ(limited->FindPart(), nullptr);

    const auto other = collect(4, "ring");
    auto program = *other->Get().program;
    program.ranks[9].blocks[1].steps[3].bytes += 2;
    other->Get().program = std::make_shared<CollectiveProgram>(program);
    EXPECT_EQ(other->FindPart(), nullptr);

    const auto rerouted = collect(4, "ring");
    rerouted->Get().routes[7] = rerouted->Get().routes[8];
    EXPECT_EQ(rerouted->FindPart(), nullptr);
}

TEST(ReplayPart, ASlowerLinkStandsForNoOther)
{
    const Cluster even = MakeCluster("dgx-a100", 4);
    const VertexId nic = even.GetNic(even.GetGpus()[17]);
    Cluster uneven("one slow NIC");
    for (const Vertex& vertex : even.GetVertices())
    {
        uneven.AddVertex(vertex);
    }
    for (Link link : even.GetLinks())
    {
        const bool isSlow =
            (link.a == nic || link.b == nic) && link.technology == LinkTechnology::INFINIBAND;
        link.bytesPerSecond *= isSlow ? 0.5 : 1;
        uneven.AddLink(link);
    }
    for (const Cluster& cluster : {even, uneven})
    {
        const Collected collected(cluster,
                                  ListDevices(cluster),
                                  Collective::ALL_GATHER,
                                  1'000'000,
                                  "ring",
                                  "Simple");
        EXPECT_EQ(collected.FindPart() == nullptr, cluster.GetName() == uneven.GetName());
    }
}
