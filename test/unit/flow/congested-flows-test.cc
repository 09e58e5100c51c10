/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-congested-flows.h"
#include "ns3/proteus-flow-congestion-settings.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr double PS_PER_SECOND = 1e12;
/// Bytes of the wire for one of payload: packets of 4096 with 66 of framing.
constexpr double WIRE = 4162.0 / 4096;
/// Bytes per second of 1 Gb/s.
constexpr double GIGABIT = 1e9 / 8;

/// @param key of the queue pair @param bytes of its message @param line bytes per second of its
/// slowest link @return one that a NIC of 100 Gb/s sends on, which has no way yet
FlowPair
MakePair(uint64_t key, double bytes, double line)
{
    FlowPair pair;
    pair.key = key;
    pair.part = 1;
    pair.messageBytes = bytes;
    pair.source = 100 * GIGABIT / WIRE;
    pair.line = line;
    pair.lineWire = WIRE;
    pair.unitBytes = 4096;
    return pair;
}

/// A rate that stays, and counts notifications.
class FixedRate : public FlowRateControl
{
  public:
    FixedRate(double rate, uint32_t& notifications)
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

/// A rate a little below that of the slowest link, from some time on at it; notes notifications.
class LateRate : public FlowRateControl
{
  public:
    LateRate(double line, int64_t latePs, std::vector<int64_t>& notifiedPs)
        : m_line(line),
          m_latePs(latePs),
          m_notifiedPs(notifiedPs)
    {
    }

    double GetRate() const override
    {
        return m_nowPs < m_latePs ? 0.995 * m_line : m_line;
    }

    void Notify(int64_t timePs) override
    {
        m_notifiedPs.push_back(timePs);
    }

    void Advance(int64_t timePs) override
    {
        m_nowPs = timePs;
    }

    void AddSent(double /* bytes */, int64_t /* timePs */) override
    {
    }

  private:
    double m_line;                      //!< wire bytes per second
    int64_t m_latePs;                   //!< from when on it is at that
    int64_t m_nowPs{0};                 //!< present time
    std::vector<int64_t>& m_notifiedPs; //!< when, all of them
};

/// @param notifications are counted here @param markPs queue from which on packets are marked; all
/// of them are from twice that on @param rate of each sender; 0: as fast as its slowest link
/// @return a congestion control that changes nothing
FlowCongestion
MakeFixed(uint32_t& notifications, double markPs, double rate = 0)
{
    FlowCongestion congestion;
    congestion.make = [&notifications, rate](double line, uint32_t) {
        return std::make_unique<FixedRate>(rate > 0 ? rate : line, notifications);
    };
    congestion.notificationPs = 50'000'000;
    congestion.markPs = markPs;
    congestion.markAllPs = 2 * markPs;
    return congestion;
}

/// Senders with a NIC each, one port that all cross, and a class for each sender, or one for all.
class Incast
{
  public:
    Incast(const FlowCongestion& congestion,
           uint32_t senders,
           double nic,
           double port,
           double bytes,
           bool isOneClass = false,
           uint32_t seed = 1)
        : m_bytes(bytes),
          m_port(port),
          m_alone((isOneClass ? port / senders : std::min(port, nic)) / WIRE)
    {
        // Directions of links: those of NICs, then those of the port.
        for (uint32_t link = 0; link <= senders; ++link)
        {
            const double rate = link < senders ? nic : port;
            m_resources.push_back({rate, 1, {2 * link}});
            m_resources.push_back({rate, 1, {2 * link + 1}});
        }
        m_flows = std::make_unique<CongestedFlows>(congestion, m_resources, seed);
        m_classes.resize(isOneClass ? 1 : senders);
        for (uint32_t i = 0; i < senders; ++i)
        {
            FlowPair pair;
            pair.key = 1000 + i;
            pair.part = 1;
            pair.messageBytes = bytes;
            pair.source = nic / WIRE;
            pair.line = std::min(nic, port);
            pair.lineWire = WIRE;
            pair.latencyPs = 3'000'000;
            pair.toNicPs = 3'000'000;
            pair.returnPs = 2'000'000;
            pair.unitBytes = 4096;
            pair.hops = {{2 * i, WIRE}, {2 * senders, WIRE}};
            FlowClass& flows = m_classes[isOneClass ? 0 : i];
            flows.bytes = bytes;
            flows.pairs.push_back(pair);
        }
    }

    /// All senders are GPUs of a server, behind something slow. @param rate payload bytes per
    /// second of that
    void ShareReads(double rate)
    {
        m_resources.push_back({rate, 1, {}});
        for (FlowClass& flows : m_classes)
        {
            for (FlowPair& pair : flows.pairs)
            {
                pair.reads = {{static_cast<uint32_t>(m_resources.size() - 1), 1, rate, 0}};
            }
        }
    }

    /// NICs of the senders read over one link, or that of the receiver writes over it. @param
    /// isRead which @param rate of the link, wire bytes per second @param host what is left there,
    /// and what the class takes of it @param number of which sender only; NO_ID: of all
    void LimitNics(bool isRead, double rate, FlowHost host, uint32_t number = NO_ID)
    {
        host.resource = static_cast<uint32_t>(m_resources.size());
        host.amount = WIRE;
        m_resources.push_back({rate, 1, {}});
        for (FlowClass& flows : m_classes)
        {
            for (FlowPair& pair : flows.pairs)
            {
                if (number == NO_ID || pair.key == 1000 + number)
                {
                    (isRead ? pair.reads : pair.writes).push_back(host);
                }
            }
        }
    }

    /// @param mostPs end of the run @return when each class was done, seconds; 0: not at all
    std::vector<double> Run(int64_t mostPs = 10'000'000'000'000)
    {
        std::vector<double> left(m_classes.size(), m_bytes);
        std::vector<double> rates(m_classes.size(), m_alone);
        std::vector<double> ends(m_classes.size(), 0);
        for (uint32_t id = 0; id < m_classes.size(); ++id)
        {
            m_flows->Begin(id, m_classes[id], m_classes[id].bytes, 0);
        }
        for (int64_t now = 0; !m_flows->GetLive().empty() && now < mostPs;)
        {
            const int64_t step = m_flows->GetStepPs();
            now += step;
            for (const uint32_t id : m_flows->GetLive())
            {
                left[id] -= rates[id] * static_cast<double>(step) / PS_PER_SECOND;
            }
            m_flows->Advance(now, [&](uint32_t id) { return std::max(0.0, left[id]); });
            const std::vector<uint32_t> live = m_flows->GetLive();
            for (const uint32_t id : live)
            {
                if (left[id] <= 0) // within the step
                {
                    ends[id] = static_cast<double>(now) / PS_PER_SECOND + left[id] / rates[id];
                    m_flows->End(id);
                }
                rates[id] = std::min(m_alone, m_flows->GetCap(id));
            }
        }
        return ends;
    }

    const CongestedFlows& GetFlows() const
    {
        return *m_flows;
    }

    /// @return seconds that the port takes at least
    double GetLeast() const
    {
        const double pairs =
            m_classes.size() > 1 ? m_classes.size() : m_classes.front().pairs.size();
        return pairs * m_bytes * WIRE / m_port;
    }

  private:
    double m_bytes; //!< of every sender
    double m_port;  //!< bytes per second of the port
    double m_alone; //!< bytes per second of a class
    std::vector<FlowResource> m_resources;
    std::unique_ptr<CongestedFlows> m_flows;
    std::vector<FlowClass> m_classes;
};

double
GetMean(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

} // namespace

TEST(CongestedFlows, NothingWithoutCongestion)
{
    // A port that is as fast as the only NIC that sends over it.
    const auto congestion = ReadFlowCongestion();
    Incast incast(*congestion, 1, 100 * GIGABIT, 100 * GIGABIT, 1e8);
    const std::vector<double> ends = incast.Run();
    EXPECT_EQ(incast.GetFlows().GetNotifications(), 0);
    EXPECT_FALSE(incast.GetFlows().IsBusy());
    EXPECT_NEAR(ends[0], incast.GetLeast(), 0.001 * incast.GetLeast());
}

TEST(CongestedFlows, SharesAPortByTheRatesThatCome)
{
    // No marks: a queue grows, and what leaves it is composed as what comes.
    uint32_t notifications = 0;
    const FlowCongestion congestion = MakeFixed(notifications, 1e15);
    Incast incast(congestion, 4, 100 * GIGABIT, 100 * GIGABIT, 1e8);
    for (const double end : incast.Run())
    {
        EXPECT_NEAR(end, incast.GetLeast(), 0.01 * incast.GetLeast());
    }
    EXPECT_EQ(notifications, 0);
}

TEST(CongestedFlows, GoesAtTheRateOfTheControl)
{
    uint32_t notifications = 0;
    const double rate = 10 * GIGABIT;
    const FlowCongestion congestion = MakeFixed(notifications, 1e6, rate);
    Incast incast(congestion, 2, 100 * GIGABIT, 100 * GIGABIT, 1e8);
    for (const double end : incast.Run())
    {
        EXPECT_NEAR(end, 1e8 * WIRE / rate, 0.002 * 1e8 * WIRE / rate);
    }
    EXPECT_EQ(notifications, 0) << "2 times 10 Gb/s do not fill 100";
}

TEST(CongestedFlows, QueuePairsShareWhatIsBeforeTheirNics)
{
    // Two of 100 Gb/s would fill the port, but what they read comes at 60 Gb/s for both.
    uint32_t notifications = 0;
    const FlowCongestion congestion = MakeFixed(notifications, 1e6);
    Incast incast(congestion, 2, 100 * GIGABIT, 100 * GIGABIT, 1e8);
    incast.ShareReads(60 * GIGABIT);
    const double end = 2 * 1e8 / (60 * GIGABIT);
    for (const double found : incast.Run())
    {
        EXPECT_NEAR(found, end, 0.002 * end);
    }
    EXPECT_EQ(notifications, 0);
}

TEST(CongestedFlows, ANicHoldsWhatItCannotWriteBeforeItPauses)
{
    uint32_t notifications = 0;
    FlowCongestion congestion = MakeFixed(notifications, 1e6);
    congestion.maxProbability = 1;
    congestion.nicBytes = 1e6;
    // Half of what the port brings waits: 0.75 MB, then five.
    for (const auto& [bytes, areMarked] : {std::make_pair(1.5e6, false), std::make_pair(1e7, true)})
    {
        SCOPED_TRACE(bytes);
        notifications = 0;
        Incast incast(congestion, 1, 100 * GIGABIT, 100 * GIGABIT, bytes);
        incast.LimitNics(false, 50 * GIGABIT, {0, 1, 50 * GIGABIT, 0});
        const double end = bytes * WIRE / (50 * GIGABIT);
        EXPECT_NEAR(incast.Run()[0], end, 0.01 * end + 20e-6);
        EXPECT_EQ(notifications > 0, areMarked);
    }
}

TEST(CongestedFlows, ANicIsNoSlowerThanWhatComesMakesIt)
{
    // Two senders of 40 Gb/s each; what one of them sends passes a link of 20 behind the receiver's
    // NIC, where the other waits for it: what both have sent takes as long as that.
    uint32_t notifications = 0;
    FlowCongestion congestion = MakeFixed(notifications, 1e15);
    Incast incast(congestion, 2, 40 * GIGABIT, 100 * GIGABIT, 1e8);
    incast.LimitNics(false, 20 * GIGABIT, {0, 1, 20 * GIGABIT, 0}, 0);
    const double end = 1e8 * WIRE / (20 * GIGABIT);
    for (const double found : incast.Run())
    {
        EXPECT_NEAR(found, end, 0.01 * end);
    }
}

TEST(CongestedFlows, TheNicOfAReceiverNotifiesBeforeItWrites)
{
    // Half of what comes waits: the first packet behind 1 MB in the NIC is marked when 2 MB have
    // come, and finds nothing before it in the queue of the switch.
    std::vector<int64_t> notifiedPs;
    uint32_t notifications = 0;
    FlowCongestion congestion = MakeFixed(notifications, 1);
    congestion.maxProbability = 1;
    congestion.nicBytes = 1e6;
    congestion.make = [&notifiedPs](double line, uint32_t) {
        return std::make_unique<LateRate>(line, 0, notifiedPs);
    };
    Incast incast(congestion, 1, 100 * GIGABIT, 100 * GIGABIT, 1e7);
    incast.LimitNics(false, 50 * GIGABIT, {0, 1, 50 * GIGABIT, 0});
    incast.Run();
    ASSERT_FALSE(notifiedPs.empty());
    const double markedPs = 2e6 / (100 * GIGABIT) * PS_PER_SECOND;
    const auto stepPs = static_cast<double>(incast.GetFlows().GetStepPs());
    EXPECT_NEAR(notifiedPs.front(), markedPs + 5e6, stepPs);
}

TEST(CongestedFlows, WhatGoesOnInAServerTakesItsPartOfWhatANicMoves)
{
    // For each byte of the class as much goes on there beside it: half of 100 Gb/s is left.
    const FlowHost host = {0, 1, 30 * GIGABIT, WIRE};
    const double end = 1e8 * WIRE / (50 * GIGABIT);
    for (const bool isReceiver : {false, true})
    {
        SCOPED_TRACE(isReceiver);
        uint32_t notifications = 0;
        const FlowCongestion congestion = MakeFixed(notifications, isReceiver ? 1e15 : 1e6);
        // A port that is slower than the NIC, but no slower than what that reads.
        Incast incast(congestion, 1, 100 * GIGABIT, (isReceiver ? 100 : 60) * GIGABIT, 1e8);
        incast.LimitNics(!isReceiver, 100 * GIGABIT, host);
        EXPECT_NEAR(incast.Run()[0], end, 0.01 * end);
    }
}

TEST(CongestedFlows, LosesNothingWhereWaysGoRoundInCircles)
{
    // Two NICs, and two ports that one sender crosses in this order and the other one in that.
    uint32_t notifications = 0;
    const double rate = 10 * GIGABIT;
    const FlowCongestion congestion = MakeFixed(notifications, 1e15, rate);
    std::vector<FlowResource> resources;
    for (uint32_t port = 0; port < 8; ++port)
    {
        resources.push_back({100 * GIGABIT, 1, {port}});
    }
    constexpr double BYTES = 1e6;
    std::vector<FlowClass> classes(2);
    for (uint32_t i = 0; i < 2; ++i)
    {
        FlowPair pair = MakePair(i, BYTES, 100 * GIGABIT);
        pair.hops = {{2 * i, WIRE}, {i == 0 ? 4 : 6, WIRE}, {i == 0 ? 6 : 4, WIRE}};
        classes[i].bytes = BYTES;
        classes[i].pairs.push_back(pair);
    }
    CongestedFlows flows(congestion, resources, 1);
    flows.Begin(0, classes[0], classes[0].bytes, 0);
    flows.Begin(1, classes[1], classes[1].bytes, 0);
    std::vector<double> left(2, BYTES);
    int64_t now = 0;
    for (uint32_t step = 0; step < 2000; ++step)
    {
        const int64_t stepPs = step == 0 ? 10'000'000 : 1'000'000; // others end steps early
        now += stepPs;
        for (uint32_t id = 0; id < 2; ++id)
        {
            const double may = std::min(flows.GetCap(id), rate / WIRE);
            left[id] = std::max(0.0, left[id] - may * static_cast<double>(stepPs) / PS_PER_SECOND);
        }
        flows.Advance(now, [&left](uint32_t id) { return left[id]; });
    }
    EXPECT_LT(left[0], 1);
    EXPECT_LT(left[1], 1);
}

/// Of n that share a full NIC, one has those behind it that have begun later.
TEST(CongestedFlows, ThoseThatANicSendsForTakeTurns)
{
    uint32_t notifications = 0;
    const FlowCongestion congestion = MakeFixed(notifications, 10e6);
    const std::vector<FlowResource> resources{{100 * GIGABIT, 1, {0}}, {100 * GIGABIT, 1, {1}}};
    constexpr uint32_t MANY = 4;
    FluidQueues queues(congestion, resources, 1);
    std::vector<FlowPair> pairs;
    for (uint32_t i = 0; i < MANY; ++i)
    {
        pairs.push_back(MakePair(i, 1e6, 100 * GIGABIT));
        pairs.back().hops = {{0, WIRE}, {1, WIRE}};
    }
    std::vector<FluidStream> streams(MANY);
    for (uint32_t i = 0; i < MANY; ++i)
    {
        queues.Add(streams[i], pairs[i]);
    }
    const auto pass = [&](double part) {
        for (FluidStream& stream : streams)
        {
            stream.sends = part * 100 * GIGABIT / WIRE;
        }
        queues.Pass(1e-6, 1'000'000);
    };
    const std::vector<uint32_t> order{2, 0, 3, 1};
    for (const uint32_t i : order)
    {
        queues.StartTurns(streams[i]);
    }
    pass(1);
    for (uint32_t i = 0; i < MANY; ++i)
    {
        EXPECT_DOUBLE_EQ(queues.GetPartBehind(streams[order[i]]), (MANY - 1.0 - i) / MANY) << i;
    }
    // One that begins again is the last.
    queues.StopTurns(streams[2]);
    EXPECT_EQ(queues.GetPartBehind(streams[2]), 0);
    EXPECT_DOUBLE_EQ(queues.GetPartBehind(streams[0]), 2.0 / 3);
    queues.StartTurns(streams[2]);
    EXPECT_EQ(queues.GetPartBehind(streams[2]), 0);
    EXPECT_DOUBLE_EQ(queues.GetPartBehind(streams[0]), 3.0 / MANY);
    // What is not full makes nobody wait.
    pass(0.5 / MANY);
    EXPECT_EQ(queues.GetPartBehind(streams[0]), 0);
}

TEST(CongestedFlows, NotifiesOncePerInterval)
{
    // The queue grows for ever, so that every packet is marked.
    uint32_t notifications = 0;
    FlowCongestion congestion = MakeFixed(notifications, 1e6);
    congestion.maxProbability = 1;
    Incast incast(congestion, 2, 100 * GIGABIT, 100 * GIGABIT, 1e10);
    incast.Run(20'000'000'000);
    // A packet of each comes every 0.67 us at the receiver, the first one 5 us after it was sent;
    // notifications of what waits in a queue of 10 ms are still under way.
    EXPECT_NEAR(notifications, 2 * 20'000 / 50.7, 0.02 * 2 * 20'000 / 50.7);
}

/// Packets that leave two full ports of one rate follow each other alike: what one of them causes
/// meets those of the other always at the same point, and waits as long each time.
TEST(CongestedFlows, NotificationsMeetPacketsOfAFullPortAlike)
{
    std::vector<int64_t> notifiedPs;
    std::vector<int64_t> others;
    uint32_t notifications = 0;
    FlowCongestion congestion = MakeFixed(notifications, 10e6);
    congestion.maxProbability = 1;
    uint32_t made = 0;
    congestion.make = [&](double line, uint32_t) {
        return std::make_unique<LateRate>(line, 0, made++ == 0 ? notifiedPs : others);
    };
    // NICs, ports and what leads back, two of each.
    std::vector<FlowResource> resources;
    for (uint32_t port = 0; port < 8; ++port)
    {
        resources.push_back({(port < 4 ? 100 : 10) * GIGABIT, 1, {port}});
    }
    constexpr double BYTES = 1e9;
    std::vector<FlowClass> classes(2);
    CongestedFlows flows(congestion, resources, 1);
    for (uint32_t i = 0; i < 2; ++i)
    {
        FlowPair pair = MakePair(i, BYTES, 10 * GIGABIT);
        pair.hops = {{2 * i, WIRE}, {4 + 2 * i, WIRE}};
        pair.returns = {{4 + 2 * (1 - i), 4096 * WIRE}}; // the port of the other one
        classes[i].bytes = BYTES;
        classes[i].pairs.push_back(pair);
    }
    flows.Begin(0, classes[0], BYTES, 0);
    flows.Begin(1, classes[1], BYTES, 0);
    for (int64_t now = 0; now < 5'000'000'000; now += flows.GetStepPs())
    {
        flows.Advance(now, [](uint32_t) { return BYTES; });
    }
    ASSERT_GT(notifiedPs.size(), 20);
    // Every 16th packet, as 15 take less than 50 us.
    constexpr double PERIOD_PS = 16 * 4096 * WIRE / (10 * GIGABIT) * PS_PER_SECOND;
    for (std::size_t i = 10; i + 1 < notifiedPs.size(); ++i)
    {
        EXPECT_NEAR(notifiedPs[i + 1] - notifiedPs[i], PERIOD_PS, 0.01 * PERIOD_PS) << i;
    }
}

TEST(CongestedFlows, IsNotPacedFromWhenItsRateIsReachedOn)
{
    // A long step in which a queue pair reaches the rate of the port would have it send as fast as
    // its NIC in all of that.
    static constexpr int64_t LATE_PS = 5'300'000'000;
    std::vector<int64_t> notifiedPs;
    uint32_t notifications = 0;
    FlowCongestion congestion = MakeFixed(notifications, 10e6);
    congestion.maxProbability = 1;
    congestion.make = [&notifiedPs](double line, uint32_t) {
        return std::make_unique<LateRate>(line, LATE_PS, notifiedPs);
    };
    Incast incast(congestion, 1, 100 * GIGABIT, 10 * GIGABIT, 1e9);
    incast.Run(8'000'000'000);
    ASSERT_FALSE(notifiedPs.empty());
    EXPECT_GE(notifiedPs.front(), LATE_PS);
    EXPECT_LE(notifiedPs.front(), LATE_PS + 100'000'000);
}

TEST(CongestedFlows, TakesAsLongAsPackets)
{
    // 16 MiB of each of N senders with NICs of 100 Gb/s through one port between two switches:
    // means of six runs of proteus-flows (--stream=1 to 6), milliseconds.
    struct Case
    {
        uint32_t senders;
        double gigabits;
        double packetMs;
        double tolerance;
    };

    const auto congestion = ReadFlowCongestion();
    for (const Case& one : {Case{1, 1, 247.4, 0.02},
                            Case{2, 1, 318.2, 0.03},
                            Case{1, 25, 6.94, 0.08},
                            Case{4, 6.25, 117.7, 0.02},
                            Case{8, 6.25, 187.9, 0.02},
                            Case{8, 25, 59.7, 0.02},
                            Case{4, 25, 26.5, 0.3},
                            Case{4, 100, 6.0, 0.15}})
    {
        double sum = 0;
        for (uint32_t seed = 1; seed <= 6; ++seed)
        {
            Incast incast(*congestion,
                          one.senders,
                          100 * GIGABIT,
                          one.gigabits * GIGABIT,
                          16777216,
                          false,
                          seed);
            const double mean = GetMean(incast.Run());
            EXPECT_GE(mean, incast.GetLeast() * 0.5);
            sum += mean / 6;
        }
        EXPECT_NEAR(sum * 1e3, one.packetMs, one.tolerance * one.packetMs)
            << one.senders << " senders, " << one.gigabits << " Gb/s";
    }
}

TEST(CongestedFlows, AClassGoesAsItsSlowestQueuePair)
{
    const auto congestion = ReadFlowCongestion();
    Incast apart(*congestion, 4, 100 * GIGABIT, 25 * GIGABIT, 16777216);
    const std::vector<double> ends = apart.Run();
    Incast together(*congestion, 4, 100 * GIGABIT, 25 * GIGABIT, 16777216, true);
    const double end = together.Run()[0];
    EXPECT_GE(end, together.GetLeast());
    EXPECT_GE(end, GetMean(ends)) << "others may be ahead by what receivers have room for";
}
