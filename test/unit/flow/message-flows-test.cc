/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-message-flows.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <utility>
#include <vector>

// Short messages pass links unit by unit: what is expected of them is counted by hand.

using namespace ns3::proteus;

namespace
{

constexpr uint32_t UNIT = 4096;
/// Picoseconds of a unit on a link of 10 GB/s.
constexpr double UNIT_PS = 100.0 * UNIT;
/// Bytes per second of a sender: a quarter of the link.
constexpr double PACE = 2.5e9;
/// What ReplayClock takes together, and rounding.
constexpr double TOLERANCE_PS = 2 * ReplayClock::TOGETHER_PS;

/// A message that a flow has to send.
struct Message
{
    double timePs;
    double bytes;
};

/// @param messages of flows that share a way, in the order in which the flows are made
/// @param stripes links of the way, each of 10 GB/s @param pace of each flow; 0: none
/// @return when the last unit of each message is there, by flow
std::vector<double>
Send(const std::vector<Message>& messages, uint32_t stripes = 1, double pace = PACE)
{
    const std::vector<FlowResource> resources{{1e10 * stripes, 1, {}}};
    FlowRouteTable routes;
    FlowRoute route;
    route.uses = {{0, 1, 1}};
    route.limit = std::numeric_limits<double>::infinity();
    route.unitBytes = UNIT;
    route.unitPsPerByte = 100;
    route.stripes = stripes;
    const uint32_t id = routes.Add(route);
    ReplayClock clock;
    std::vector<double> ends(messages.size(), -1);
    MessageFlows flows(
        ReplayWays(resources, routes, 0),
        clock,
        false,
        [&](uint32_t flow, double behindPs) { ends[flow] = clock.GetNowPs() + behindPs; });
    for (uint32_t flow = 0; flow < messages.size(); ++flow)
    {
        flows.AddFlow(id, pace);
        clock.Push(messages[flow].timePs, ReplayEvent::USE, flow, 0);
    }
    while (clock.Step([&](const ReplayEvent& event) {
        if (event.what == ReplayEvent::USE)
        {
            flows.Send(event.id, messages[event.id].bytes);
        }
        else if (event.what == ReplayEvent::SENT)
        {
            flows.Finish(event.id);
        }
    }))
    {
        flows.Share();
    }
    return ends;
}

} // namespace

TEST(MessageFlows, UnitsThatCatchUpAreNoFasterThanTheirLink)
{
    // A sender that has waited sends two units at once, and each later one at its pace.
    EXPECT_NEAR(Send({{0, 1000}})[0], 100.0 * 1000, TOLERANCE_PS);
    EXPECT_NEAR(Send({{0, UNIT}})[0], UNIT_PS, TOLERANCE_PS);
    EXPECT_NEAR(Send({{0, UNIT + 100}})[0], UNIT_PS + 100 * 100, TOLERANCE_PS);
    EXPECT_NEAR(Send({{0, 2 * UNIT}})[0], 2 * UNIT_PS, TOLERANCE_PS);
    EXPECT_NEAR(Send({{0, 3 * UNIT}})[0], (4 + 1) * UNIT_PS, TOLERANCE_PS);
    EXPECT_NEAR(Send({{0, 4 * UNIT}})[0], (8 + 1) * UNIT_PS, TOLERANCE_PS);
}

TEST(MessageFlows, OfSingleUnitsTheFirstGoesFirst)
{
    // Whatever their numbers, and though fair shares would have all end at the same time.
    const auto ends = Send({{200, UNIT}, {100, UNIT}, {0, UNIT}, {UNIT_PS * 3.5, 500}});
    EXPECT_NEAR(ends[2], UNIT_PS, TOLERANCE_PS);
    EXPECT_NEAR(ends[1], 2 * UNIT_PS, TOLERANCE_PS);
    EXPECT_NEAR(ends[0], 3 * UNIT_PS, TOLERANCE_PS);
    EXPECT_NEAR(ends[3], 3.5 * UNIT_PS + 100.0 * 500, TOLERANCE_PS);
}

TEST(MessageFlows, MessagesOfTwoUnitsTakeTurns)
{
    const auto together = Send({{0, 2 * UNIT}, {0, 2 * UNIT}});
    EXPECT_NEAR(together[0], 3 * UNIT_PS, TOLERANCE_PS);
    EXPECT_NEAR(together[1], 4 * UNIT_PS, TOLERANCE_PS);
    // Who comes when the first unit has begun is behind the second one.
    const auto later = Send({{0, 2 * UNIT}, {UNIT_PS / 2, 2 * UNIT}});
    EXPECT_NEAR(later[0], 2 * UNIT_PS, TOLERANCE_PS);
    EXPECT_NEAR(later[1], 4 * UNIT_PS, TOLERANCE_PS);
}

TEST(MessageFlows, AWholeUnitBeforeTheLastOneMayComeLaterByItsStripe)
{
    // At the rate of both links 4,097 bytes would be there in half the time of a unit.
    EXPECT_NEAR(Send({{0, UNIT + 1}}, 2, 0)[0], UNIT_PS, TOLERANCE_PS);
    EXPECT_NEAR(Send({{0, 2 * UNIT}}, 2, 0)[0], 1.5 * UNIT_PS, TOLERANCE_PS);
    EXPECT_NEAR(Send({{0, UNIT}}, 2, 0)[0], UNIT_PS, TOLERANCE_PS);
}
