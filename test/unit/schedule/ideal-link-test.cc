/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ideal-link.h"
#include "schedule-theory.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <stdexcept>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// One unit of time of the reference's examples, and the bytes that the link carries in it.
constexpr double UNIT = 1e6;
constexpr double PS_PER_UNIT = 1e12;

/// A net of the reference: times in units.
struct Net
{
    std::vector<double> transfers; //!< by layer
    double backward{1};            //!< of every layer
    double forward{1};             //!< of every layer
};

std::vector<IdealLayer>
MakeLayers(const Net& net)
{
    std::vector<IdealLayer> layers;
    for (const double transfer : net.transfers)
    {
        layers.push_back({std::llround(net.backward * PS_PER_UNIT),
                          std::llround(net.forward * PS_PER_UNIT),
                          static_cast<uint64_t>(std::llround(transfer * UNIT))});
    }
    return layers;
}

enum class Way
{
    ALL_REDUCE,
    PARAMETER_SERVER,
};

IdealLink
MakeLink(Way way, double overhead = 0)
{
    IdealLink link;
    link.bytesPerSecond = UNIT;
    link.overheadPs = std::llround(overhead * PS_PER_UNIT);
    link.isParameterServer = way == Way::PARAMETER_SERVER;
    return link;
}

enum class By
{
    ARRIVAL,
    PRIORITY,
};

/// The order on a link that itself sends the most urgent part, or the one that came first.
IdealOrder
MakeOrder(By by, double part = 0)
{
    IdealOrder order;
    order.isByLayer = order.isLinkByLayer = by == By::PRIORITY;
    if (part > 0)
    {
        order.partBytes = static_cast<uint64_t>(std::llround(part * UNIT));
    }
    return order;
}

double
GetUnits(const Net& net, Way way, const IdealOrder& order, double overhead = 0)
{
    return static_cast<double>(
               RunIdealLink(MakeLayers(net), MakeLink(way, overhead), order).iterationPs) /
           PS_PER_UNIT;
}

std::vector<LayerTimes>
GetTimes(const Net& net)
{
    return GetLayerTimes(MakeLayers(net), MakeLink(Way::ALL_REDUCE));
}

/// Figure 2 of the paper.
const Net FIGURE{{1.5, 3, 1.5}};
constexpr double EXACT = 1e-9;

} // namespace

TEST(IdealLink, FigureOfThePaper)
{
    // Acceptance case C1.
    const Way way = Way::PARAMETER_SERVER;
    EXPECT_NEAR(GetUnits(FIGURE, way, MakeOrder(By::ARRIVAL)), 13, EXACT);
    EXPECT_NEAR(GetUnits(FIGURE, way, MakeOrder(By::ARRIVAL, 0.5)), 10.5, EXACT);
    EXPECT_NEAR(GetUnits(FIGURE, way, MakeOrder(By::PRIORITY)), 13, EXACT);
    EXPECT_NEAR(GetUnits(FIGURE, way, MakeOrder(By::PRIORITY, 0.25)), 8.75, EXACT);
    EXPECT_NEAR(GetLeastIterationS(GetTimes(FIGURE)), 8.5, EXACT);
    const IdealRun first = RunIdealLink(MakeLayers(FIGURE), MakeLink(way), MakeOrder(By::ARRIVAL));
    EXPECT_EQ(first.forwardPs[0], 10 * PS_PER_UNIT);
    const IdealRun best =
        RunIdealLink(MakeLayers(FIGURE), MakeLink(way), MakeOrder(By::PRIORITY, 0.5));
    EXPECT_EQ(best.iterationPs, 9 * PS_PER_UNIT);
    EXPECT_EQ(best.forwardPs, (std::vector<int64_t>{5000000000000, 7000000000000, 8000000000000}));
    EXPECT_EQ(best.order, (std::vector<uint32_t>{2, 2, 1, 1, 0, 0, 0, 1, 1, 1, 1, 2}));
}

TEST(IdealLink, PriorityByCreditIsPriorityOnTheLink)
{
    // A link that sends what comes first serves parts by layer if it gets one at a time.
    IdealOrder order = MakeOrder(By::PRIORITY, 0.5);
    order.isLinkByLayer = false;
    order.creditBytes = 1;
    order.credit = IdealCreditReturn::AFTER_PUSH;
    EXPECT_NEAR(GetUnits(FIGURE, Way::PARAMETER_SERVER, order), 9, EXACT);
    // Credit that comes back after the pull only keeps push and pull from overlapping: 12 parts of
    // half a unit, there and back one by one, from 1 on, but for what is ready by then.
    order.credit = IdealCreditReturn::AFTER_PULL;
    EXPECT_NEAR(GetUnits(FIGURE, Way::PARAMETER_SERVER, order), 14, EXACT);
    // Two parts under way are as good as one that returns after the push.
    order.creditBytes = 500001;
    EXPECT_NEAR(GetUnits(FIGURE, Way::PARAMETER_SERVER, order), 9, EXACT);
    // All parts at once: the link's order is that of arrival.
    order.creditBytes = CreditWindow::UNLIMITED;
    EXPECT_NEAR(GetUnits(FIGURE, Way::PARAMETER_SERVER, order), 10.5, EXACT);
}

TEST(IdealLink, AllReduce)
{
    // Acceptance cases C2 and C4.
    const Way way = Way::ALL_REDUCE;
    const Net even{{2, 2, 2}};
    EXPECT_NEAR(GetUnits(even, way, MakeOrder(By::ARRIVAL)), 10, EXACT);
    EXPECT_NEAR(GetUnits(even, way, MakeOrder(By::PRIORITY)), 9, EXACT);
    EXPECT_NEAR(GetUnits(even, way, MakeOrder(By::PRIORITY, 1)), 8, EXACT);
    EXPECT_NEAR(GetUnits(even, way, MakeOrder(By::PRIORITY, 0.5)), 8, EXACT);
    EXPECT_NEAR(GetUnits(even, way, MakeOrder(By::ARRIVAL, 1)), 10, EXACT);
    const Net big{{0.2, 0.2, 0.2, 6}};
    EXPECT_NEAR(GetUnits(big, way, MakeOrder(By::ARRIVAL)), 11.6, EXACT);
    EXPECT_NEAR(GetUnits(big, way, MakeOrder(By::PRIORITY)), 11.2, EXACT);
    EXPECT_NEAR(GetUnits(big, way, MakeOrder(By::PRIORITY, 0.2)), 8.6, EXACT);
    EXPECT_NEAR(GetUnits(big, way, MakeOrder(By::PRIORITY, 0.1)), 8.6, EXACT);
    EXPECT_NEAR(GetLeastIterationS(GetTimes(big)), 8.6, EXACT);
}

TEST(IdealLink, UniformNets)
{
    // Acceptance case C3: layers, transfer, arrival order, optimum.
    const std::vector<std::vector<double>> cases{{10, 1.5, 26, 21.5},
                                                 {10, 2, 31, 22},
                                                 {10, 3, 41, 32},
                                                 {50, 2, 151, 102}};
    for (const auto& known : cases)
    {
        const Net net{std::vector<double>(static_cast<std::size_t>(known[0]), known[1])};
        EXPECT_NEAR(GetUnits(net, Way::ALL_REDUCE, MakeOrder(By::ARRIVAL)), known[2], EXACT);
        EXPECT_NEAR(GetArrivalOrderS(GetTimes(net)), known[2], EXACT);
        EXPECT_NEAR(GetUnits(net, Way::ALL_REDUCE, MakeOrder(By::PRIORITY, 0.1)), known[3], EXACT);
        EXPECT_NEAR(GetLeastIterationS(GetTimes(net)), known[3], EXACT);
    }
    EXPECT_NEAR(26 / 21.5, 1.2093, 5e-5);
}

TEST(IdealLink, OverheadOfParts)
{
    // Acceptance case C5: size of a part and time; the best is half a unit.
    const std::vector<std::pair<double, double>> cases{{3, 13.2},
                                                       {1.5, 10.75},
                                                       {1, 9.85},
                                                       {0.75, 10.2},
                                                       {0.5, 9.6},
                                                       {0.375, 9.8},
                                                       {0.3, 9.65},
                                                       {0.25, 9.9},
                                                       {0.2, 9.9},
                                                       {0.15, 10.2},
                                                       {0.1, 11.15},
                                                       {0.05, 14.1}};
    for (const auto& [part, units] : cases)
    {
        EXPECT_NEAR(GetUnits(FIGURE, Way::PARAMETER_SERVER, MakeOrder(By::PRIORITY, part), 0.05),
                    units,
                    EXACT)
            << "parts of " << part;
    }
}

TEST(IdealLink, CreditAndReturnDelay)
{
    // Acceptance case C7, simulated: 1000 parts of 1 MB at 12.5 GB/s, credit 20 us late.
    IdealLink link;
    link.bytesPerSecond = 12.5e9;
    link.returnDelayPs = 20000000;
    for (const uint64_t credit : {1000000, 2000000, 4000000})
    {
        IdealOrder order;
        order.partBytes = 1000000;
        order.creditBytes = credit;
        const IdealRun run = RunIdealLink({{0, 0, 1000000000}}, link, order);
        const double seconds = static_cast<double>(run.iterationPs) * 1e-12;
        // The credit of the last part returns after the end.
        const double rate = 1e9 / (seconds + (credit == 1000000 ? 20e-6 : 0));
        EXPECT_NEAR(rate, GetCreditThroughput(credit, 1000000, 12.5e9, 20e-6), 1);
        EXPECT_EQ(run.mostInFlight, CountInFlight(credit, 1000000));
        EXPECT_EQ(run.mostInFlightBytes, credit);
    }
}

TEST(IdealLink, RandomNetsKeepTheBounds)
{
    // Acceptance case C15, for 400 nets, with and without overhead, both ways.
    std::mt19937_64 random(16);
    const auto real = [&random](double most) {
        return most * static_cast<double>(random() >> 11) * 0x1p-53;
    };
    for (int i = 0; i < 400; ++i)
    {
        std::vector<IdealLayer> layers(1 + random() % 12);
        const double spread = real(4);
        for (IdealLayer& layer : layers)
        {
            layer.backwardPs = static_cast<int64_t>(real(2 * PS_PER_UNIT));
            layer.forwardPs = static_cast<int64_t>(real(PS_PER_UNIT));
            layer.bytes = 1 + static_cast<uint64_t>(UNIT * std::exp(spread * (real(2) - 1)));
        }
        for (const Way way : {Way::ALL_REDUCE, Way::PARAMETER_SERVER})
        {
            for (const double overhead : {0.0, 0.01})
            {
                const double part = 0.02 + real(0.5);
                const bool isServer = way == Way::PARAMETER_SERVER;
                const IdealLink link = MakeLink(way, overhead);
                const std::vector<LayerTimes> times = GetLayerTimes(layers, link);
                const auto run = [&](const IdealOrder& order) {
                    return static_cast<double>(RunIdealLink(layers, link, order).iterationPs) /
                           PS_PER_UNIT;
                };
                const double best = run(MakeOrder(By::PRIORITY, part));
                const double least = GetLeastIterationS(times);
                EXPECT_LE(least, best + EXACT);
                EXPECT_LE(best, GetPartitionedBoundS(times, part, overhead, isServer) + EXACT);
                const double arrival = run(MakeOrder(By::ARRIVAL));
                EXPECT_LE(arrival,
                          GetUnoverlappedS(times, isServer) +
                              overhead * 2 * static_cast<double>(layers.size()) + EXACT);
                EXPECT_LE(GetUnoverlappedS(times, isServer) / least,
                          isServer ? MOST_SPEEDUP_OF_PARAMETER_SERVER : MOST_SPEEDUP_OF_ALL_REDUCE);
                if (!isServer && overhead == 0)
                {
                    EXPECT_NEAR(arrival, GetArrivalOrderS(times), 1e-9);
                    EXPECT_LT(arrival / best, MOST_SPEEDUP_OF_ALL_REDUCE);
                }
                if (overhead == 0)
                {
                    // Whatever the window, no order beats the least.
                    IdealOrder windowed = MakeOrder(By::PRIORITY, part);
                    windowed.isLinkByLayer = false;
                    windowed.creditBytes = 1 + random() % 2000000;
                    EXPECT_LE(least, run(windowed) + EXACT);
                }
            }
        }
    }
}

TEST(IdealLink, RefusesWhatCannotBe)
{
    IdealLink link;
    EXPECT_THROW(RunIdealLink({}, link, {}), std::invalid_argument);
    EXPECT_THROW(RunIdealLink({{-1, 0, 1}}, link, {}), std::invalid_argument);
    link.bytesPerSecond = 0;
    EXPECT_THROW(RunIdealLink({{1, 1, 1}}, link, {}), std::invalid_argument);
    link.bytesPerSecond = 1;
    IdealOrder order;
    order.partBytes = 0;
    EXPECT_THROW(RunIdealLink({{1, 1, 1}}, link, order), std::invalid_argument);
    order.partBytes = 1;
    order.creditBytes = 0;
    EXPECT_THROW(RunIdealLink({{1, 1, 1}}, link, order), std::invalid_argument);
}

TEST(ScheduleTheory, BestPartOfPushAndPull)
{
    // Acceptance case C6: 100 MB at 12.5 GB/s, 50 us per part.
    const double bytes = 100e6;
    const double rate = 12.5e9;
    const double overheadS = 50e-6;
    EXPECT_NEAR(GetBestPartBytes(bytes, rate, overheadS), 7905694, 0.5);
    EXPECT_NEAR(GetBestPushPullS(bytes, rate, overheadS), 9.314911e-3, 5e-10);
    EXPECT_NEAR(GetPushPullS(bytes, rate, overheadS, 1), 16.1e-3, 5e-10);
    EXPECT_NEAR(GetPushPullS(bytes, rate, overheadS, 12), 9.316667e-3, 5e-10);
    EXPECT_NEAR(GetPushPullS(bytes, rate, overheadS, 13), 9.315385e-3, 5e-10);
    EXPECT_NEAR(GetPushPullS(bytes, rate, overheadS, 100), 13.13e-3, 5e-10);
    // The simulation of a single tensor has the same time.
    IdealLink link;
    link.bytesPerSecond = rate;
    link.overheadPs = 50000000;
    link.isParameterServer = true;
    for (const uint64_t parts : {1, 10, 100})
    {
        IdealOrder order;
        order.partBytes = 100000000 / parts;
        const IdealRun run = RunIdealLink({{0, 0, 100000000}}, link, order);
        EXPECT_NEAR(static_cast<double>(run.iterationPs) * 1e-12,
                    GetPushPullS(bytes, rate, overheadS, parts),
                    1e-12);
    }
}

TEST(ScheduleTheory, CreditThroughput)
{
    // Acceptance case C7.
    EXPECT_NEAR(GetCreditThroughput(1000000, 1000000, 12.5e9, 20e-6), 10e9, 1);
    EXPECT_NEAR(GetCreditThroughput(2000000, 1000000, 12.5e9, 20e-6), 12.5e9, 1);
    EXPECT_NEAR(GetCreditThroughput(8000000, 1000000, 12.5e9, 20e-6), 12.5e9, 1);
    EXPECT_NEAR(GetMostBlockingS(4000000, 1000000, 12.5e9), 0.4e-3, 1e-12);
}

TEST(ScheduleTheory, GradientsOfVgg16)
{
    // Acceptance case C10: 138 357 544 parameters of four bytes over 100 Gb/s.
    const double bytes = 553430176;
    const double rate = 12.5e9;
    const std::vector<std::pair<uint32_t, double>> cases{{2, 44.274},
                                                         {4, 66.412},
                                                         {8, 77.480},
                                                         {16, 83.015}};
    for (const auto& [machines, ms] : cases)
    {
        EXPECT_NEAR(GetRingAllReduceS(bytes, machines, rate) * 1e3, ms, 5e-4);
        EXPECT_NEAR(GetParameterServerS(bytes, machines, machines, ServerPlace::WORKER_HOSTS, rate),
                    GetRingAllReduceS(bytes, machines, rate),
                    1e-12);
        EXPECT_NEAR(GetParameterServerS(bytes, machines, machines, ServerPlace::OWN_HOSTS, rate) *
                        1e3,
                    44.274,
                    5e-4);
    }
    // Half as many servers are the bottleneck.
    EXPECT_NEAR(GetParameterServerS(bytes, 16, 8, ServerPlace::OWN_HOSTS, rate) * 1e3,
                88.549,
                5e-4);
    EXPECT_NEAR(GetParameterServerS(bytes, 1, 1, ServerPlace::WORKER_HOSTS, rate), 0, 1e-12);
    EXPECT_THROW(GetParameterServerS(bytes, 2, 3, ServerPlace::WORKER_HOSTS, rate),
                 std::invalid_argument);
    EXPECT_THROW(GetParameterServerS(bytes, 2, 0, ServerPlace::OWN_HOSTS, rate),
                 std::invalid_argument);
}
