/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "layer-net.h"
#include "schedule-theory.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-iteration-times.h"
#include "ns3/proteus-scheduled-run.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

using namespace ns3::proteus;

// Policies as executors run them, on a network that is the ideal link of the theory.

namespace
{

constexpr int64_t PS_PER_BYTE = 1000;

/// A net of the theory, and the runtime that runs it under a policy.
class PolicyRun
{
  public:
    explicit PolicyRun(std::vector<IdealLayer> layers)
        : m_layers(std::move(layers)),
          m_net(MakeLayerNet(m_layers))
    {
        m_link.bytesPerSecond = 1e12 / PS_PER_BYTE;
    }

    /// @return steady time between iterations, picoseconds
    int64_t GetSteadyPs(const std::string& policy,
                        uint64_t partBytes = ScheduleSettings::WHOLE,
                        uint64_t creditBytes = CreditWindow::UNLIMITED,
                        bool isSerial = false) const
    {
        ScheduleSettings settings;
        settings.policy = policy;
        settings.partBytes = partBytes;
        settings.creditBytes = creditBytes;
        settings.isSerial = isSerial;
        const RepeatedGraph repeated = m_net.Repeat(4, CrossIteration::TENSOR);
        const ScheduledRun run = PrepareSchedule(repeated.graph, settings);
        RuntimeOptions options;
        options.startControl = run.startControl;
        const Cluster cluster = MakeCluster("dgx-a100", 1);
        FlowClock clock;
        LinkNetwork network(run.graph, clock, PS_PER_BYTE);
        FlowExecutor executor(run.graph, cluster, options, clock, network);
        const Timeline timeline = executor.Run();
        m_mostOpen = network.GetMostOpen();
        return MeasureIterations(run.graph, repeated, timeline).steadyPs;
    }

    /// @return communications that the network had at once in the last run
    uint32_t GetMostOpen() const
    {
        return m_mostOpen;
    }

    /// @return the same of the theory's simulation
    int64_t GetIdealPs(uint64_t partBytes) const
    {
        IdealOrder order;
        order.isByLayer = true;
        order.isLinkByLayer = true;
        order.partBytes = partBytes;
        return RunIdealLink(m_layers, m_link, order).iterationPs;
    }

    /// @return the layers for the closed forms
    std::vector<LayerTimes> GetTimes() const
    {
        return GetLayerTimes(m_layers, m_link);
    }

  private:
    std::vector<IdealLayer> m_layers;
    LayerNet m_net;
    IdealLink m_link;
    mutable uint32_t m_mostOpen{0};
};

std::vector<IdealLayer>
MakeRandomLayers(std::mt19937_64& random)
{
    std::vector<IdealLayer> layers(1 + random() % 8);
    const uint64_t most = 100 + random() % 3000;
    for (IdealLayer& layer : layers)
    {
        layer = {static_cast<int64_t>(1 + random() % 1000000),
                 static_cast<int64_t>(1 + random() % 1000000),
                 8 * (1 + random() % most)};
    }
    return layers;
}

} // namespace

TEST(Policies, PriorityByPartsIsTheIdealLink)
{
    // P3 and priority with credit of one byte send one part at a time, in the order of the layers:
    // the theory's simulation to the picosecond; and never beyond its bounds (C15), in 300 nets.
    std::mt19937_64 random(15);
    for (int i = 0; i < 300; ++i)
    {
        const PolicyRun run(MakeRandomLayers(random));
        const uint64_t part = 8 * (1 + random() % 500);
        const int64_t ideal = run.GetIdealPs(part);
        EXPECT_EQ(run.GetSteadyPs("p3", part), ideal);
        const std::vector<LayerTimes> times = run.GetTimes();
        const double partS = static_cast<double>(part * PS_PER_BYTE) * 1e-12;
        const double steadyS = static_cast<double>(ideal) * 1e-12;
        EXPECT_LE(GetLeastIterationS(times), steadyS + 1e-15);
        EXPECT_LE(steadyS, GetPartitionedBoundS(times, partS, 0, false) + 1e-15);
        EXPECT_LT(GetArrivalOrderS(times) / steadyS, MOST_SPEEDUP_OF_ALL_REDUCE);
    }
}

TEST(Policies, CreditMovesFromPriorityToArrivalOrder)
{
    // Figure 2 of the paper as an all-reduce: with credit of one part the theory's best, with more
    // than there is to send the order in which gradients become ready.
    const PolicyRun run(
        {{1000000, 1000000, 1500}, {1000000, 1000000, 3000}, {1000000, 1000000, 1500}});
    const int64_t arrival = run.GetSteadyPs("arrival");
    EXPECT_EQ(run.GetSteadyPs("priority", 504, 1), run.GetIdealPs(504));
    EXPECT_EQ(run.GetSteadyPs("priority", 504, 1000000), arrival);
    const int64_t two = run.GetSteadyPs("priority", 504, 505);
    EXPECT_GE(two, run.GetIdealPs(504));
    EXPECT_LE(two, arrival);
    EXPECT_NEAR(static_cast<double>(arrival) * 1e-12, GetArrivalOrderS(run.GetTimes()), 1e-15);
}

TEST(Policies, OneAfterTheOtherOnADevice)
{
    // On a link that carries one at a time it makes no difference whether devices do, too; but the
    // network has one at a time, in place of all that the credit lets go.
    std::mt19937_64 random(16);
    uint32_t mostTogether = 0;
    for (int i = 0; i < 30; ++i)
    {
        const PolicyRun run(MakeRandomLayers(random));
        const uint64_t credit = 8 * 300;
        const int64_t together = run.GetSteadyPs("priority", 8 * 100, credit);
        mostTogether = std::max(mostTogether, run.GetMostOpen());
        EXPECT_EQ(run.GetSteadyPs("priority", 8 * 100, credit, true), together);
        EXPECT_EQ(run.GetMostOpen(), 1u);
    }
    EXPECT_GE(mostTogether, 3u);
}
