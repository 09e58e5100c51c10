/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/boolean.h"
#include "ns3/nstime.h"
#include "ns3/proteus-boxing.h"
#include "ns3/proteus-helper.h"
#include "ns3/proteus-layout-cost.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

constexpr double RATE = 25e9; // bytes per second of a link
constexpr double MIB = 1 << 20;

/// What a boxing on packets shows.
struct Sent
{
    std::vector<double> payload; //!< by device, bytes into its link
    double wire{0};              //!< of the device that sends most, headers included
    double seconds{0};           //!< until all is done
};

MeshPtr
MakeMesh(const std::vector<uint32_t>& sizes)
{
    std::vector<DeviceId> devices(
        std::accumulate(sizes.begin(), sizes.end(), 1U, std::multiplies<>()));
    std::iota(devices.begin(), devices.end(), 0);
    return std::make_shared<DeviceMesh>(sizes, devices);
}

/// Runs the steps of a boxing one after the other on hosts at one switch, in 4 bytes per element.
Sent
RunPackets(const Layout& from, const Layout& to, const Shape& shape)
{
    const auto nDevices = static_cast<uint32_t>(from.mesh->GetDevices().size());
    const Cluster cluster = MakeHostCluster(nDevices,
                                            FabricOptions(),
                                            LinkTechnology::INFINIBAND,
                                            RATE,
                                            500000,
                                            DefaultFraming(LinkTechnology::INFINIBAND));
    GraphBuilder builder(nDevices);
    const PhaseId phase = builder.AddPhase("iteration");
    const StreamId stream = builder.AddStream("communication");
    BoxingOptions options;
    options.allToAllOfTwo = true;
    for (const BoxingStep& step : PlanBoxing(from, to, shape, options))
    {
        for (const BoxingGroup& group : GetBoxingGroups(step, shape))
        {
            builder.AddCommunication(phase,
                                     builder.AddGroup(group.devices),
                                     stream,
                                     ToString(step.collective),
                                     step.collective,
                                     group.elements * 4,
                                     Parallelism::NONE);
        }
    }
    ProteusHelper helper;
    helper.SetNetworkAttribute("Algorithm", StringValue("ring"));
    helper.SetNetworkAttribute("Protocol", StringValue("Simple"));
    helper.SetNetworkAttribute("KernelCosts", BooleanValue(false));
    helper.SetNetworkAttribute("LaunchOverhead", TimeValue(Seconds(0)));
    Ptr<TrainingJob> job = helper.Install(cluster, builder.Build());
    job->Run();
    Sent sent;
    sent.payload.resize(nDevices);
    for (const LinkStatistics& link : job->GetFabric()->GetLinkStatistics())
    {
        const Link& wire = cluster.GetLinks()[link.link];
        const VertexId source = link.forward ? wire.a : wire.b;
        if (source < nDevices)
        {
            sent.payload[source] += static_cast<double>(link.payloadBytes);
            sent.wire = std::max(sent.wire, static_cast<double>(link.wireBytes));
        }
    }
    sent.seconds = 1e-12 * static_cast<double>(job->GetTimeline().endPs);
    job->Dispose();
    Simulator::Destroy();
    return sent;
}

Sent
RunPackets(const std::vector<uint32_t>& sizes,
           const std::string& from,
           const std::string& to,
           const Shape& shape)
{
    const MeshPtr mesh = MakeMesh(sizes);
    return RunPackets(ParseLayout(mesh, shape.size(), from),
                      ParseLayout(mesh, shape.size(), to),
                      shape);
}

} // namespace

// AutoDDL B8 for B1 and B2: what leaves the NICs is what boxing says, on every device.
TEST(BoxingOnPackets, BytesAtTheNicsAreThoseOfTheLayouts)
{
    struct Row
    {
        std::vector<uint32_t> sizes;
        const char* from;
        const char* to;
    };

    const Shape shape{256, 64, 32}; // 2 MiB
    for (const Row& row : {Row{{2}, "S0", "S1"},
                           Row{{2}, "P", "R"},
                           Row{{4}, "S0", "S1"},
                           Row{{4}, "S0", "R"},
                           Row{{4}, "P", "S0"},
                           Row{{4}, "P", "R"},
                           Row{{8}, "S0", "R"},
                           Row{{8}, "P", "R"},
                           Row{{2, 4}, "P S0", "R S0"},
                           Row{{2, 4}, "S0 R", "R R"},
                           Row{{2, 4}, "S0 P", "S0 R"},
                           Row{{2, 4}, "S0 S1", "S0 R"},
                           Row{{2, 4}, "P S1", "S0 S1"},
                           Row{{2, 4}, "R P", "R S0"},
                           Row{{2, 4}, "S0 S2", "S1 S2"}})
    {
        const MeshPtr mesh = MakeMesh(row.sizes);
        const BoxingVolume volume =
            GetBoxingVolume(ParseLayout(mesh, 3, row.from), ParseLayout(mesh, 3, row.to), shape);
        const Sent sent = RunPackets(row.sizes, row.from, row.to, shape);
        for (const double bytes : sent.payload)
        {
            EXPECT_DOUBLE_EQ(bytes, 4 * volume.perDevice) << row.from << " to " << row.to;
        }
    }
}

// AutoDDL B8: latency times steps and bytes over bandwidth, within 1 % for 64 MiB. The latency is
// that of the same steps with next to no bytes.
TEST(BoxingOnPackets, TimeIsLatencyAndBytesOverBandwidth)
{
    const Shape large{1024, 256, 64}; // 64 MiB
    const Shape small{16, 16, 1};
    for (const auto& [from, to] :
         {std::pair{"S0", "S1"}, std::pair{"S0", "R"}, std::pair{"P", "S0"}, std::pair{"P", "R"}})
    {
        const Sent sent = RunPackets({4}, from, to, large);
        const double latency = RunPackets({4}, from, to, small).seconds;
        EXPECT_NEAR(sent.seconds / (latency + sent.wire / RATE), 1, 0.01) << from << " to " << to;
        EXPECT_GT(sent.wire, sent.payload[0]);
        EXPECT_GE(sent.payload[0], 12 * MIB);
    }
}
