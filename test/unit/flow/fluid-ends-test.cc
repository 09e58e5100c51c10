/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-congested-flows.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr double PS_PER_SECOND = 1e12;
/// Bytes per second of every NIC, and of every port of the switch.
constexpr double RATE = 12.5e9;
/// Payload of every sender.
constexpr double BYTES = 1e8;
/// Number of the resource inside a server.
constexpr uint32_t INSIDE = 8;

/// A rate that stays, a little below that of the link, so that it is always looked at.
class AlmostWhole : public FlowRateControl
{
  public:
    AlmostWhole(double rate, uint32_t& notifications)
        : m_rate(rate),
          m_notifications(notifications)
    {
    }

    double GetRate() const override
    {
        return m_rate;
    }

    void Notify(int64_t /* timePs */) override
    {
        ++m_notifications;
    }

    void Advance(int64_t /* timePs */) override
    {
    }

    void AddSent(double /* bytes */, int64_t /* timePs */) override
    {
    }

  private:
    double m_rate;             //!< wire bytes per second
    uint32_t& m_notifications; //!< so far
};

/// Two senders with a NIC each, to a port and a NIC each: the network holds nobody back. Something
/// inside a server, which some of them need, is as fast as one of the NICs.
class TwoNics
{
  public:
    /// @param part of the rate of the links that congestion control leaves
    explicit TwoNics(double part)
        : m_part(part)
    {
        m_congestion.make = [this](double line, uint32_t) {
            return std::make_unique<AlmostWhole>(m_part * line, m_notifications);
        };
        m_congestion.notificationPs = 50'000'000;
        m_congestion.markPs = 10e6;
        m_congestion.markAllPs = 20e6;
        m_congestion.maxProbability = 1;
        m_congestion.nicBytes = 4e5;
        for (uint32_t port = 0; port < 8; ++port)
        {
            m_resources.push_back({RATE, 1, {port}});
        }
        m_resources.push_back({RATE, 1, {}});
        for (uint32_t i = 0; i < 2; ++i)
        {
            FlowPair pair;
            pair.key = i;
            pair.part = 1;
            pair.messageBytes = BYTES;
            pair.source = RATE;
            pair.line = RATE;
            pair.latencyPs = 2'000'000;
            pair.controlPs = 1'000'000;
            pair.unitBytes = 4096;
            pair.hops = {{2 * i, 1}, {4 + 2 * i, 1}};
            m_classes[i].bytes = BYTES;
            m_classes[i].pairs.push_back(pair);
        }
    }

    /// @param i a sender @return what it carries
    FlowPair& GetPair(uint32_t i)
    {
        return m_classes[i].pairs.front();
    }

    /// @return seconds after which all has come
    double Run()
    {
        CongestedFlows flows(m_congestion, m_resources, 1);
        m_isWanted = flows.IsWanted(m_classes[0]);
        flows.Begin(0, m_classes[0], 0);
        m_isWanted = m_isWanted || flows.IsWanted(m_classes[1]);
        flows.Begin(1, m_classes[1], 0);
        std::vector<double> left(2, BYTES);
        int64_t now = 0;
        while (std::max(left[0], left[1]) > 0 && now < 100'000'000'000)
        {
            const int64_t step = flows.IsBusy() ? flows.GetStepPs() : 10'000'000;
            now += step;
            for (uint32_t id = 0; id < 2; ++id)
            {
                const double rate = std::min(flows.GetCap(id), RATE);
                left[id] =
                    std::max(0.0, left[id] - rate * static_cast<double>(step) / PS_PER_SECOND);
            }
            flows.Advance(now, [&left](uint32_t id) { return left[id]; });
        }
        return static_cast<double>(now) / PS_PER_SECOND;
    }

    /// @return notifications in the run
    uint32_t GetNotifications() const
    {
        return m_notifications;
    }

    /// @return whether more came to a server or a port than it had
    bool IsWanted() const
    {
        return m_isWanted;
    }

  private:
    double m_part;
    uint32_t m_notifications{0};
    bool m_isWanted{false};
    FlowCongestion m_congestion;
    std::vector<FlowResource> m_resources;
    FlowClass m_classes[2];
};

} // namespace

TEST(FluidEnds, NothingInsideHoldsBack)
{
    TwoNics nics(0.999);
    EXPECT_NEAR(nics.Run(), BYTES / RATE, 0.01 * BYTES / RATE);
    EXPECT_EQ(nics.GetNotifications(), 0);
}

TEST(FluidEnds, NicsOfAServerShareWhatTheySend)
{
    // What does not leave memory does not wait in the network.
    TwoNics nics(0.999);
    nics.GetPair(0).before = nics.GetPair(1).before = {{INSIDE, 1}};
    EXPECT_NEAR(nics.Run(), 2 * BYTES / RATE, 0.01 * BYTES / RATE);
    EXPECT_EQ(nics.GetNotifications(), 0);
}

TEST(FluidEnds, WhatAServerDoesNotTakeWaitsAtPorts)
{
    TwoNics nics(1);
    nics.GetPair(0).behind = nics.GetPair(1).behind = {{INSIDE, 1}};
    EXPECT_NEAR(nics.Run(), 2 * BYTES / RATE, 0.01 * BYTES / RATE);
    EXPECT_TRUE(nics.IsWanted());
    EXPECT_GT(nics.GetNotifications(), 10) << "its NICs are full, and pause the ports";
}

TEST(FluidEnds, NicsKeepSomeOfWhatComes)
{
    // A little more than the server takes comes: 250 kB of it wait in each NIC at the end.
    TwoNics nics(0.50125);
    nics.GetPair(0).behind = nics.GetPair(1).behind = {{INSIDE, 1}};
    EXPECT_NEAR(nics.Run(), 2 * BYTES / RATE, 0.01 * BYTES / RATE);
    EXPECT_EQ(nics.GetNotifications(), 0);
}

TEST(FluidEnds, WhatIsSentAndWhatComesShareALink)
{
    TwoNics nics(0.999);
    nics.GetPair(0).before = nics.GetPair(1).behind = {{INSIDE, 1}};
    EXPECT_NEAR(nics.Run(), 2 * BYTES / RATE, 0.02 * BYTES / RATE);
}
