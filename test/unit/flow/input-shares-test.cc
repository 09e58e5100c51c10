/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-input-shares.h"
#include "ns3/proteus-shared-resources.h"

#include <algorithm>
#include <deque>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr double BUFFER_BYTES = 1 << 17;
constexpr double LONG_BYTES = 1 << 30;

/// The links of a small network: numbers below 100 lead out of switches, others to them.
constexpr uint32_t OUTPUT = 7;
constexpr uint32_t UPLINK = 8;

/// @param from the way into the switch of OUTPUT, links out of switches below 100
/// @return inputs on the way
std::vector<FlowInput>
ToOutput(const std::vector<uint32_t>& from)
{
    std::vector<FlowInput> inputs;
    for (std::size_t i = 1; i < from.size(); ++i)
    {
        inputs.push_back({from[i], from[i - 1]});
    }
    inputs.push_back({OUTPUT, from.back()});
    return inputs;
}

/// Flows that OUTPUT holds, each by itself.
class Held
{
  public:
    /// @param ways of the flows @param bytes that each has to send
    Held(const std::vector<std::vector<uint32_t>>& ways, double bytes)
    {
        m_shares.SetBuffer(BUFFER_BYTES);
        for (const auto& way : ways)
        {
            m_inputs.push_back(ToOutput(way));
            m_shares.AddFlows(1, bytes, m_inputs.back(), OUTPUT);
        }
        m_isUneven = m_shares.Find();
        for (uint32_t flow = 0; flow < ways.size(); ++flow)
        {
            weights.push_back(m_shares.GetWeight(flow));
        }
    }

    /// @return whether some weight is not 1
    bool IsUneven() const
    {
        return m_isUneven;
    }

    std::vector<double> weights; //!< of the flows

  private:
    std::deque<std::vector<FlowInput>> m_inputs;
    InputShares m_shares;
    bool m_isUneven;
};

void
ExpectNear(const std::vector<double>& found, const std::vector<double>& wanted)
{
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i)
    {
        EXPECT_NEAR(found[i], wanted[i], 1e-12) << "flow " << i;
    }
}

} // namespace

TEST(InputShares, InputsTakeTurnsAndTheirFlowsShareThem)
{
    // Half of the output for the first flow, a sixth for each of the others.
    const Held held({{100}, {101}, {101}, {101}}, LONG_BYTES);
    EXPECT_TRUE(held.IsUneven());
    ExpectNear(held.weights, {2, 2. / 3, 2. / 3, 2. / 3});
}

TEST(InputShares, SharesGoBackToTheSenders)
{
    // A half for the first flow; of what comes by the uplink a half for the second one.
    const Held held({{100}, {101, UPLINK}, {102, UPLINK}, {102, UPLINK}}, LONG_BYTES);
    ExpectNear(held.weights, {2, 1, 0.5, 0.5});
}

TEST(InputShares, EvenInputsChangeNothing)
{
    EXPECT_FALSE(Held({{100}, {100}, {101}, {101}}, LONG_BYTES).IsUneven());
    EXPECT_FALSE(Held({{101, UPLINK}, {102, UPLINK}}, LONG_BYTES).IsUneven());
    EXPECT_FALSE(Held({{100}, {100}, {100}}, LONG_BYTES).IsUneven());
}

TEST(InputShares, WhatBuffersHoldTakesTurnsByFlow)
{
    // All that the flows of an input have to send is in its buffer at once.
    const std::vector<std::vector<uint32_t>> ways{{100}, {101}, {101}, {101}};
    EXPECT_FALSE(Held(ways, BUFFER_BYTES / 3).IsUneven());
    // It holds that of two: the input with three has two turns for one of the other.
    ExpectNear(Held(ways, BUFFER_BYTES / 2).weights, {4. / 3, 8. / 9, 8. / 9, 8. / 9});
    // One buffer and a half take two turns, three quarters of a buffer each in the mean.
    ExpectNear(Held({{100}, {101}, {101}}, 1.5 * BUFFER_BYTES).weights, {9. / 7, 6. / 7, 6. / 7});
}

TEST(InputShares, OnlyWhatTheOutputHoldsCounts)
{
    const auto alone = ToOutput({100});
    const auto other = ToOutput({101});
    InputShares shares;
    shares.SetBuffer(BUFFER_BYTES);
    shares.AddFlows(1, LONG_BYTES, alone, OUTPUT);
    shares.AddFlows(3, LONG_BYTES, other, NO_ID); // their limit holds them
    shares.AddFlows(1, LONG_BYTES, other, OUTPUT);
    EXPECT_FALSE(shares.Find());
    // A resource that no switch leads to knows no inputs.
    shares.Clear();
    shares.AddFlows(1, LONG_BYTES, alone, 12345);
    shares.AddFlows(2, LONG_BYTES, other, 12345);
    EXPECT_FALSE(shares.Find());
}

TEST(InputShares, TheMeanWeightIsOneWhateverTheOrder)
{
    std::mt19937_64 random(17);
    for (int turn = 0; turn < 200; ++turn)
    {
        std::vector<std::vector<uint32_t>> ways;
        const std::size_t nFlows = 2 + random() % 12;
        for (std::size_t i = 0; i < nFlows; ++i)
        {
            const uint32_t nic = 100 + random() % 4;
            ways.push_back(random() % 2 == 0 ? std::vector<uint32_t>{nic}
                                             : std::vector<uint32_t>{nic + 4, UPLINK});
        }
        const double bytes = BUFFER_BYTES * (0.1 + static_cast<double>(random() % 40) / 10);
        const Held held(ways, bytes);
        double sum = 0;
        for (const double weight : held.weights)
        {
            EXPECT_GT(weight, 0);
            sum += weight;
        }
        EXPECT_NEAR(sum, static_cast<double>(nFlows), 1e-9);
        std::reverse(ways.begin(), ways.end());
        std::vector<double> back = Held(ways, bytes).weights;
        std::reverse(back.begin(), back.end());
        ExpectNear(back, held.weights);
    }
}

TEST(InputShares, RatesFollowFromTheInputs)
{
    SharedResources shares;
    shares.SetInputBuffer(BUFFER_BYTES);
    const uint32_t output = shares.AddResource(12);
    const std::vector<FlowUse> uses{{output, 1, 1, false}};
    const std::vector<FlowInput> alone{{output, 100}};
    const std::vector<FlowInput> crowded{{output, 101}};
    const auto add = [&](const std::vector<FlowInput>& inputs, int count, double limit) {
        const uint32_t user = shares.AddUser(uses, limit, &inputs);
        shares.ChangeCount(user, count);
        shares.ChangeBytes(user, count * LONG_BYTES);
        return user;
    };
    const auto getRate = [](const std::vector<SharedResources::Share>& found, uint32_t user) {
        return std::find_if(found.begin(),
                            found.end(),
                            [user](const auto& share) { return share.user == user; })
            ->rate;
    };
    const uint32_t first = add(alone, 1, 12);
    const uint32_t others = add(crowded, 3, 12);
    auto rates = shares.Solve();
    EXPECT_NEAR(getRate(rates, first), 6, 1e-9);
    EXPECT_NEAR(getRate(rates, others), 2, 1e-9);
    // What the first one cannot use goes to the others.
    shares.SetLimit(first, 3);
    rates = shares.Solve();
    EXPECT_NEAR(getRate(rates, first), 3, 1e-9);
    EXPECT_NEAR(getRate(rates, others), 3, 1e-9);
}
