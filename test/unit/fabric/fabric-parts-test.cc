/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../transport/transport-fixture.h"

#include "ns3/proteus-class-scheduler.h"
#include "ns3/proteus-credit-control.h"
#include "ns3/proteus-marker.h"
#include "ns3/proteus-route-table.h"
#include "ns3/proteus-shared-buffers.h"

#include <cmath>
#include <random>
#include <stdexcept>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

TEST(ClassScheduler, SharesByWeightBehindStrictClasses)
{
    PortTable ports;
    ports.Create(2, 4);
    ClassScheduler scheduler;
    scheduler.SetUp({0, 1, 3, 2}, ports);
    // The strict class goes first, whatever has been served.
    EXPECT_EQ(scheduler.Pick(ports, 1, 0b1111), 0u);
    std::vector<uint32_t> units(4, 0);
    for (int i = 0; i < 600; ++i)
    {
        const uint32_t c = scheduler.Pick(ports, 1, 0b1110);
        scheduler.Count(ports, 1, c, 1500);
        ++units[c];
    }
    EXPECT_EQ(units, (std::vector<uint32_t>{0, 100, 300, 200}));
    // A class that comes back after a long time catches up with nothing.
    for (int i = 0; i < 1000; ++i)
    {
        scheduler.Count(ports, 0, 2, 1500);
    }
    scheduler.Count(ports, 0, 1, 1500);
    EXPECT_EQ(scheduler.Pick(ports, 0, 0b0110), 2u);
    // Without weights: strictly in order.
    ClassScheduler strict;
    strict.SetUp({}, ports);
    EXPECT_FALSE(strict.IsWeighted());
    EXPECT_EQ(strict.Pick(ports, 0, 0b1100), 2u);
}

TEST(CreditControl, KeepsItsCredits)
{
    PortState port;
    port.delayPs = 100;
    LaneState lane;
    lane.creditBytes = 3000;
    // Two units fit, the third one waits for a credit that nobody has promised.
    for (int i = 0; i < 2; ++i)
    {
        ASSERT_EQ(CreditControl::Take(port, lane, 1, 1500, 10), 10);
        CreditControl::Spend(lane, 1500);
    }
    EXPECT_LT(port.stalledSincePs, 0);
    EXPECT_EQ(CreditControl::Take(port, lane, 1, 1500, 20), EventTree::NEVER);
    EXPECT_EQ(port.stalledSincePs, 20);
    EXPECT_EQ(port.starved, 1u << 1);
    // Half a unit's room is not enough to go on with, but wakes the port; it comes home after the
    // link's delay.
    EXPECT_EQ(CreditControl::Return(port, lane, 1, 750, 50, 50), 150);
    EXPECT_EQ(CreditControl::Take(port, lane, 1, 1500, 150), EventTree::NEVER);
    EXPECT_EQ(port.stalledSincePs, 20) << "the same stall";
    EXPECT_EQ(CreditControl::Return(port, lane, 1, 750, 100, 100), 200);
    EXPECT_EQ(CreditControl::Return(port, lane, 1, 1500, 60, 60), EventTree::NEVER)
        << "nobody waits";
    EXPECT_EQ(CreditControl::Take(port, lane, 1, 1500, 160), 200) << "promised";
    EXPECT_EQ(CreditControl::Take(port, lane, 1, 1500, 200), 200);
    EXPECT_EQ(port.statistics.creditStallPs, 180);
    EXPECT_EQ(CreditControl::GetTotal(lane), 3000) << "nothing lost, nothing made";
}

TEST(CreditControl, KeepsFewPromises)
{
    // A buffer with room for a thousand units, of which none ever lacks credit.
    PortState port;
    port.delayPs = 100;
    LaneState lane;
    lane.creditBytes = 1000 * 1500;
    for (int64_t now = 0; now < 100'000; now += 50)
    {
        ASSERT_EQ(CreditControl::Take(port, lane, 1, 1500, now), now);
        CreditControl::Spend(lane, 1500);
        CreditControl::Return(port, lane, 1, 1500, now + 20, now);
        ASSERT_LE(lane.returns.GetSize(), CreditControl::KEPT_RETURNS);
        ASSERT_EQ(CreditControl::GetTotal(lane), 1000 * 1500);
    }
}

/// A switch with four NICs, and the buffers of all of them.
struct StarOfBuffers
{
    StarOfBuffers()
        : cluster(MakeStar(4))
    {
        settings.pfcClasses = "1";
        settings.switchBytes = 400'000;
        settings.nicBytes = 400'000;
        settings.reserveBytes = 2000;
        settings.thresholdShift = 1;
        ports.Create(8, 2);
        for (PortId id = 0; id < 8; ++id)
        {
            const Link& link = cluster.GetLinks()[id / 2];
            ports[id].from = id % 2 == 0 ? link.a : link.b;
            ports[id].to = id % 2 == 0 ? link.b : link.a;
            ports[id].delayPs = link.delayPs;
            ports.SetRate(id, link.framing, link.bytesPerSecond);
        }
        buffers.SetUp(settings);
        buffers.Build(cluster, ports);
    }

    Cluster cluster;
    BufferSettings settings;
    PortTable ports;
    SharedBuffers buffers;
};

TEST(SharedBuffers, PauseNobodyWhileTheyAreCalm)
{
    StarOfBuffers star;
    std::vector<uint32_t> told;
    star.buffers.SetContentionCallback([&](uint32_t buffer) { told.push_back(buffer); });
    std::vector<PortId> in; // to the switch
    uint64_t setAside = 0;
    for (PortId id = 0; id < 8; ++id)
    {
        const VertexKind kind = star.cluster.GetVertices()[star.ports[id].to].kind;
        if (kind == VertexKind::SWITCH)
        {
            in.push_back(id);
            setAside += star.settings.reserveBytes + star.ports[id].headroomBytes;
        }
    }
    ASSERT_EQ(in.size(), 4u);
    const uint32_t buffer = star.ports[in.front()].bufferAt;
    const uint64_t calmBytes = star.buffers.GetCalmBytes(buffer);
    EXPECT_EQ(calmBytes,
              star.settings.reserveBytes + (star.settings.switchBytes - setAside) / 2 / (2 + 4));
    const auto admit = [&](PortId id, uint32_t bytes) {
        return star.buffers.Admit(star.ports[id], star.ports.GetLane(id, 1), 1, bytes);
    };
    // All ports have what is calm, at once, in whatever order it comes.
    std::mt19937 random(1);
    while (!in.empty())
    {
        const std::size_t which = random() % in.size();
        const std::size_t lane = star.ports.GetLane(in[which], 1);
        const uint64_t left = calmBytes - star.buffers.GetBytes(lane);
        const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(left, 1 + random() % 4096));
        ASSERT_EQ(admit(in[which], bytes), SharedBuffers::Admission::ADMITTED);
        if (bytes == left)
        {
            in.erase(in.begin() + static_cast<std::ptrdiff_t>(which));
        }
    }
    EXPECT_TRUE(told.empty());
    EXPECT_FALSE(star.buffers.IsContended(buffer));
    PortId any = 0;
    while (star.ports[any].bufferAt != buffer)
    {
        ++any;
    }
    admit(any, 1);
    admit(any, 1);
    EXPECT_EQ(told, std::vector<uint32_t>{buffer});
    EXPECT_TRUE(star.buffers.IsContended(buffer));
}

TEST(SharedBuffers, NeverHoldMoreThanThereIsAndForgetNothing)
{
    StarOfBuffers star;
    const BufferSettings& settings = star.settings;
    PortTable& ports = star.ports;
    SharedBuffers& buffers = star.buffers;

    struct Unit
    {
        PortId in;
        uint32_t trafficClass;
        uint32_t bytes;
    };

    std::vector<Unit> held;
    uint64_t total = 0;
    uint64_t refused = 0;
    std::mt19937 random(1);
    for (int i = 0; i < 100'000; ++i)
    {
        if (random() % 5 < 3 || held.empty())
        {
            Unit unit{static_cast<PortId>(2 * (random() % 4)),
                      static_cast<uint32_t>(random() % 2),
                      static_cast<uint32_t>(1 + random() % 1048)};
            unit.in += ports[unit.in].bufferAt == 0 ? 1 : 0;
            PortState& in = ports[unit.in];
            ASSERT_NE(in.bufferAt, 0u);
            const std::size_t lane = ports.GetLane(unit.in, unit.trafficClass);
            SharedBuffers::Admission admission = SharedBuffers::Admission::REFUSED;
            if (unit.trafficClass == 1)
            {
                admission = buffers.Admit(in, lane, 1, unit.bytes);
            }
            else if (buffers.AdmitLossy(in, lane, random() % 50'000, unit.bytes))
            {
                admission = SharedBuffers::Admission::ADMITTED;
            }
            if (admission == SharedBuffers::Admission::REFUSED)
            {
                ++refused;
                continue;
            }
            in.pausing |= admission == SharedBuffers::Admission::PAUSE ? 2 : 0;
            total += unit.bytes;
            held.push_back(unit);
        }
        else
        {
            std::swap(held[random() % held.size()], held.back());
            const Unit unit = held.back();
            held.pop_back();
            total -= unit.bytes;
            if (buffers.Discharge(ports[unit.in],
                                  ports.GetLane(unit.in, unit.trafficClass),
                                  unit.trafficClass,
                                  unit.bytes))
            {
                ports[unit.in].pausing = 0;
            }
        }
        ASSERT_LE(total, settings.switchBytes);
        uint64_t sum = 0;
        for (std::size_t lane = 0; lane < ports.GetNLanes(); ++lane)
        {
            sum += buffers.GetBytes(lane);
        }
        ASSERT_EQ(sum, total);
    }
    EXPECT_GT(refused, 0u);
    for (const Unit& unit : held)
    {
        buffers.Discharge(ports[unit.in],
                          ports.GetLane(unit.in, unit.trafficClass),
                          unit.trafficClass,
                          unit.bytes);
    }
    EXPECT_EQ(buffers.GetMostUsedBytes(), 0u);
}

TEST(Marker, MarksAsRedDoes)
{
    MarkSettings settings;
    settings.minBytes = 10'000;
    settings.maxBytes = 30'000;
    settings.maxProbability = 0.5;
    settings.referenceRate = DataRate("400Gb/s");
    settings.random = CreateObject<UniformRandomVariable>();
    settings.random->SetStream(1);
    Marker marker;
    marker.SetUp(settings);
    PortState port;
    Link link;
    link.technology = LinkTechnology::ROCE;
    link.bytesPerSecond = 100e9; // twice the reference rate
    marker.SetUpPort(port, link);
    EXPECT_EQ(port.markBytes, 20'000u);
    EXPECT_EQ(port.markAllBytes, 60'000u);
    const int n = 20'000;
    int marked = 0;
    for (int i = 0; i < n; ++i)
    {
        marked += marker.Draw(port, 40'000, 3, i) ? 1 : 0;
        EXPECT_TRUE(marker.Draw(port, 60'000, 3, i));
    }
    EXPECT_NEAR(marked, 0.25 * n, 5 * std::sqrt(0.25 * 0.75 * n));
    // A draw depends on place and number, not on what was drawn in between.
    std::vector<bool> first;
    std::vector<bool> again;
    for (int i = 0; i < 100; ++i)
    {
        first.push_back(marker.Draw(port, 40'000, 5, i));
    }
    for (int i = 99; i >= 0; --i)
    {
        marker.Draw(port, 40'000, 6, i);
        again.insert(again.begin(), marker.Draw(port, 40'000, 5, i));
    }
    EXPECT_EQ(first, again);
    PortState unmarked;
    link.technology = LinkTechnology::INFINIBAND;
    marker.SetUpPort(unmarked, link);
    EXPECT_EQ(unmarked.markBytes, 0u);
    settings.maxBytes = 5000;
    EXPECT_THROW(marker.SetUp(settings), std::invalid_argument);
}

TEST(RouteTable, SaysWhatThePathsSay)
{
    for (const std::string kind : {"single-switch", "leaf-spine", "fat-tree"})
    {
        FabricOptions options;
        options.kind = kind;
        options.serversPerLeaf = 2;
        options.spines = 3;
        const Cluster hosts = MakeHostCluster(12,
                                              options,
                                              LinkTechnology::ROCE,
                                              50e9,
                                              500'000,
                                              MakeFraming(1000, 48));
        const Cluster servers = MakeCluster("dgx-a100", 3, options);
        for (const auto& [cluster, upDown] : {std::make_pair(hosts, false),
                                              std::make_pair(hosts, true),
                                              std::make_pair(servers, false),
                                              std::make_pair(servers, true)})
        {
            const auto& links = cluster.GetLinks();
            PortTable ports;
            ports.Create(2 * links.size(), 2);
            for (PortId id = 0; id < ports.GetSize(); ++id)
            {
                ports[id].from = id % 2 == 0 ? links[id / 2].a : links[id / 2].b;
                ports[id].to = id % 2 == 0 ? links[id / 2].b : links[id / 2].a;
            }
            // A link between switches and one of a host have failed.
            for (const LinkId link : {LinkId{0}, static_cast<LinkId>(links.size() - 1)})
            {
                ports[2 * link].down = true;
                ports[2 * link + 1].down = true;
            }
            RouteTable routes;
            routes.SetUp(cluster);
            routes.Reset(ports, upDown);
            const auto n = static_cast<VertexId>(cluster.GetVertices().size());
            for (VertexId at = 0; at < n; ++at)
            {
                for (VertexId to = 0; to < n; ++to)
                {
                    std::vector<PortId> expected;
                    for (const uint16_t index : routes.GetPaths().NextPorts(at, to))
                    {
                        expected.push_back(routes.GetOutPorts(at)[index]);
                    }
                    const NextHop next = routes.Find(at, to, false);
                    const std::vector<PortId> found = next.choices != nullptr ? *next.choices
                                                      : next.port == NO_PORT
                                                          ? std::vector<PortId>()
                                                          : std::vector<PortId>{next.port};
                    if (at != to)
                    {
                        EXPECT_EQ(found, expected) << kind << ' ' << at << " -> " << to;
                    }
                }
            }
        }
    }
}

} // namespace
