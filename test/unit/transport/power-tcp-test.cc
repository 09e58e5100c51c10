/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport-fixture.h"

#include "ns3/config.h"
#include "ns3/proteus-power-tcp.h"

#include <algorithm>
#include <cmath>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

constexpr int64_t MICROSECOND = 1'000'000; // in ps
constexpr double RATE = 5e9;               // bytes per second
constexpr double PRODUCT = 50'000;         // bytes: RATE x 10 us

/// 40 Gb/s, 10 us, no framing.
CongestionPath
MakePath()
{
    CongestionPath path;
    path.bytesPerSecond = RATE;
    path.baseRttPs = 10 * MICROSECOND;
    path.packetBytes = 1000;
    path.wireBytes = 1000;
    path.hops = 2;
    return path;
}

/// A link as a fluid: flows send window / round trip each, and what is too much waits.
class Link
{
  public:
    explicit Link(const PowerTcpParameters& parameters)
        : m_parameters(parameters)
    {
    }

    void Join()
    {
        flows.push_back(std::make_unique<PowerTcp>(m_parameters, MakePath()));
        m_positions.push_back(0);
    }

    /// Bytes that wait.
    double GetQueue() const
    {
        return m_queue;
    }

    /// A twentieth of the base round trip, in which every flow gets an acknowledgement.
    void Step()
    {
        constexpr double SECONDS = 0.5e-6;
        const double rtt = (PRODUCT + m_queue) / RATE;
        double arrivals = 0;
        for (const auto& flow : flows)
        {
            arrivals += flow->GetCongestionWindow() / rtt;
        }
        const double before = m_queue;
        m_queue = std::max(0.0, m_queue + (arrivals - RATE) * SECONDS);
        m_sent += arrivals * SECONDS - (m_queue - before);
        m_timePs += MICROSECOND / 2;
        HopTelemetry hop;
        hop.timePs = m_timePs;
        hop.sentBytes = static_cast<uint64_t>(std::llround(m_sent));
        hop.queueBytes = static_cast<uint64_t>(std::llround(m_queue));
        hop.bytesPerSecond = RATE;
        hop.port = 1;
        CongestionFeedback feedback;
        feedback.timePs = m_timePs;
        feedback.rttPs = static_cast<int64_t>(std::llround((PRODUCT + m_queue) / RATE * 1e12));
        feedback.hops = &hop;
        feedback.nHops = 1;
        for (std::size_t i = 0; i < flows.size(); ++i)
        {
            const double window = flows[i]->GetCongestionWindow();
            m_positions[i] += window / rtt * SECONDS;
            feedback.unackedPosition = static_cast<uint64_t>(m_positions[i]);
            feedback.nextPosition = static_cast<uint64_t>(m_positions[i] + window);
            flows[i]->OnAcknowledgement(feedback);
        }
    }

    std::vector<std::unique_ptr<PowerTcp>> flows;

  private:
    PowerTcpParameters m_parameters;
    std::vector<double> m_positions; // bytes acknowledged, by flow
    int64_t m_timePs{0};
    double m_queue{0};
    double m_sent{0};
};

TEST(PowerTcp, SteadyState)
{
    // Appendix A: q = n beta, and every window (b tau + n beta) / n, whoever came first.
    for (bool telemetry : {true, false})
    {
        for (uint32_t n : {1u, 2u, 5u, 8u})
        {
            PowerTcpParameters parameters;
            parameters.telemetry = telemetry;
            parameters.flows = 20;
            Link link(parameters);
            const double beta = PRODUCT / 20;
            for (uint32_t i = 0; i < n; ++i)
            {
                link.Join();
                EXPECT_DOUBLE_EQ(link.flows.back()->GetCongestionWindow(), PRODUCT)
                    << "line rate at first";
                EXPECT_DOUBLE_EQ(link.flows.back()->GetAdditiveIncrease(), beta);
                for (int k = 0; k < 140; ++k)
                {
                    link.Step();
                }
            }
            for (int k = 0; k < 20000; ++k)
            {
                link.Step();
            }
            // One flow alone is held back by its first window, the product.
            const double queue = n == 1 ? 0 : n * beta;
            EXPECT_NEAR(link.GetQueue(), queue, 0.01 * PRODUCT) << telemetry << " " << n;
            for (const auto& flow : link.flows)
            {
                const double window = (PRODUCT + queue) / n;
                EXPECT_NEAR(flow->GetCongestionWindow(), window, 0.01 * window)
                    << telemetry << " " << n;
                EXPECT_NEAR(flow->GetRate(), flow->GetCongestionWindow() / 10e-6, 1);
            }
        }
    }
}

TEST(PowerTcp, PowerOfTelemetry)
{
    PowerTcp control(PowerTcpParameters(), MakePath());
    HopTelemetry hop;
    hop.timePs = 0;
    hop.queueBytes = 10'000;
    hop.bytesPerSecond = RATE;
    CongestionFeedback feedback;
    feedback.unackedPosition = 1000;
    feedback.nextPosition = 50'000;
    feedback.hops = &hop;
    feedback.nHops = 1;
    control.OnAcknowledgement(feedback);
    EXPECT_DOUBLE_EQ(control.GetCongestionWindow(), PRODUCT) << "one unit tells no rate";
    // In half a round trip 25,000 bytes have left and 15,000 more wait: current 40,000 / 5 us =
    // 1.6 b; voltage 25,000 + 50,000 = 1.5 b tau; power 2.4, of which half counts.
    hop.timePs = 5 * MICROSECOND;
    hop.sentBytes = 25'000;
    hop.queueBytes = 25'000;
    feedback.timePs = hop.timePs;
    feedback.unackedPosition = 2000;
    control.OnAcknowledgement(feedback);
    EXPECT_DOUBLE_EQ(control.GetPower(), 0.5 + 0.5 * 2.4);
    const double window = 0.9 * (PRODUCT / 1.7 + PRODUCT / 10) + 0.1 * PRODUCT;
    EXPECT_NEAR(control.GetCongestionWindow(), window, 1e-6);
    EXPECT_EQ(control.GetWindow(), static_cast<uint64_t>(std::llround(window)));
    // Another port: nothing to compare with.
    hop.port = 2;
    hop.timePs = 6 * MICROSECOND;
    control.OnAcknowledgement(feedback);
    EXPECT_NEAR(control.GetCongestionWindow(), window, 1e-6);
}

TEST(PowerTcp, PowerOfDelays)
{
    PowerTcpParameters parameters;
    parameters.telemetry = false;
    PowerTcp control(parameters, MakePath());
    CongestionFeedback feedback;
    feedback.timePs = 0;
    feedback.rttPs = 10 * MICROSECOND;
    feedback.unackedPosition = 1000;
    feedback.nextPosition = 50'000;
    control.OnAcknowledgement(feedback);
    EXPECT_DOUBLE_EQ(control.GetPower(), 1) << "one round trip tells no gradient";
    // The round trip grows by 4 us in 8 us, to 14 us: power (0.5 + 1) x 1.4, of which 0.8 count.
    feedback.timePs = 8 * MICROSECOND;
    feedback.rttPs = 14 * MICROSECOND;
    feedback.unackedPosition = 2000;
    control.OnAcknowledgement(feedback);
    const double power = 0.2 + 0.8 * 2.1;
    EXPECT_DOUBLE_EQ(control.GetPower(), power);
    const double window = 0.9 * (PRODUCT / power + PRODUCT / 10) + 0.1 * PRODUCT;
    EXPECT_NEAR(control.GetCongestionWindow(), window, 1e-6);
    // The same round trip of data: measured, but no second step.
    feedback.timePs = 18 * MICROSECOND;
    feedback.unackedPosition = 3000;
    control.OnAcknowledgement(feedback);
    EXPECT_DOUBLE_EQ(control.GetPower(), 1.4) << "a whole round trip without growth";
    EXPECT_NEAR(control.GetCongestionWindow(), window, 1e-6);
}

TEST(PowerTcp, NeverBelowTheMinimum)
{
    PowerTcpParameters parameters;
    parameters.telemetry = false;
    parameters.flows = 1e6;
    PowerTcp control(parameters, MakePath());
    CongestionFeedback feedback;
    for (int i = 1; i <= 100; ++i)
    {
        feedback.timePs += 1000 * MICROSECOND;
        feedback.rttPs = 1000 * MICROSECOND;
        feedback.unackedPosition = i * 1000;
        feedback.nextPosition = i * 1000;
        control.OnAcknowledgement(feedback);
    }
    EXPECT_NEAR(control.GetRate(), parameters.minimumBytesPerSecond, 1);
}

TEST(PowerTcp, IncastIsFairAndFillsTheLink)
{
    for (bool telemetry : {true, false})
    {
        Config::SetDefault("ns3::proteus::PowerTcpType::Telemetry", BooleanValue(telemetry));
        const uint64_t bytes = 2'500'000;
        const double rate = 12.5e9;
        TransportRig rig(MakeStar(9, LinkTechnology::ROCE, rate, 1'000'000, MakeFraming(1000, 48)),
                         {{"CongestionControl", "powertcp"}});
        for (uint32_t i = 1; i < 9; ++i)
        {
            rig.Send(rig.Connect(i, 0), bytes);
        }
        // Well after the first round trips, and before the first flow ends: the queue is 8 beta.
        const uint64_t product =
            static_cast<uint64_t>(rig.transport->GetPath(0).GetBandwidthDelayProduct());
        double mean = 0;
        PortId last = NO_PORT;
        for (PortId port = 0; port < rig.fabric->GetNPorts(); ++port)
        {
            if (rig.fabric->GetTo(port) == rig.transport->GetDestination(0))
            {
                last = port;
            }
        }
        for (int us = 500; us < 1000; ++us)
        {
            Simulator::Schedule(MicroSeconds(us), [&rig, &mean, last] {
                mean += static_cast<double>(rig.fabric->GetQueueBytes(last)) / 500;
            });
        }
        rig.Run();
        double first = 1;
        double end = 0;
        for (uint32_t pair = 0; pair < 8; ++pair)
        {
            first = std::min(first, rig.GetReceived(pair));
            end = std::max(end, rig.GetReceived(pair));
        }
        // Telemetry takes 42 bytes of every packet.
        const double bound = 8.0 * static_cast<double>(bytes) * (telemetry ? 1.090 : 1.048) / rate;
        EXPECT_GT(end, bound);
        EXPECT_LT(end, 1.02 * bound) << "the link is used; telemetry " << telemetry;
        // With delays alone, each flow looks at the queue once per round trip, at its own phase of
        // the bursts that all send, so that shares differ.
        EXPECT_GT(first, (telemetry ? 0.95 : 0.6) * end) << "shares; telemetry " << telemetry;
        EXPECT_NEAR(mean, 0.8 * static_cast<double>(product), 0.25 * static_cast<double>(product))
            << "n beta, telemetry " << telemetry;
    }
    Config::SetDefault("ns3::proteus::PowerTcpType::Telemetry", BooleanValue(true));
}

} // namespace
