/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-dcqcn.h"
#include "ns3/proteus-dctcp.h"
#include "ns3/proteus-hpcc.h"
#include "ns3/proteus-swift.h"
#include "ns3/proteus-tcp.h"
#include "ns3/proteus-timely.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace ns3::proteus;

namespace
{

constexpr int64_t MICROSECOND = 1'000'000; // in ps

/// 40 Gb/s, 10 us, packets of 1000 bytes.
CongestionPath
MakePath()
{
    CongestionPath path;
    path.bytesPerSecond = 5e9;
    path.baseRttPs = 10 * MICROSECOND;
    path.packetBytes = 1000;
    path.wireBytes = 1048;
    path.hops = 2;
    return path;
}

/// An acknowledgement of so many packets.
CongestionFeedback
MakeFeedback(int64_t timePs, uint32_t packets, uint64_t unacked, uint64_t next)
{
    CongestionFeedback feedback;
    feedback.timePs = timePs;
    feedback.ackedPackets = packets;
    feedback.ackedBytes = 1000 * packets;
    feedback.unackedPosition = unacked;
    feedback.nextPosition = next;
    return feedback;
}

// ------------------------------------------------------------------ DCQCN

TEST(Dcqcn, FirstNotificationHalvesTheRate)
{
    Dcqcn dcqcn(DcqcnParameters(), MakePath());
    EXPECT_EQ(dcqcn.GetRate(), 5e9);
    EXPECT_EQ(dcqcn.GetTimerPs(), CongestionControl::NEVER) << "nothing to do at line rate";
    dcqcn.OnAcknowledgement({});
    EXPECT_TRUE(dcqcn.IsAsNew());
    dcqcn.OnNotification(0);
    EXPECT_FALSE(dcqcn.IsAsNew());
    EXPECT_DOUBLE_EQ(dcqcn.GetRate(), 2.5e9) << "alpha is 1 at first";
    EXPECT_DOUBLE_EQ(dcqcn.GetTargetRate(), 5e9);
    EXPECT_DOUBLE_EQ(dcqcn.GetAlpha(), 1.0) << "(1 - g) 1 + g";
}

TEST(Dcqcn, AlphaDecays)
{
    DcqcnParameters parameters;
    parameters.increaseTimerPs = 1'000'000 * MICROSECOND;
    Dcqcn dcqcn(parameters, MakePath());
    dcqcn.OnNotification(0);
    for (int k = 1; k <= 100; ++k)
    {
        EXPECT_EQ(dcqcn.GetTimerPs(), k * 55 * MICROSECOND);
        dcqcn.OnTimer(dcqcn.GetTimerPs());
        EXPECT_NEAR(dcqcn.GetAlpha(), std::pow(255.0 / 256, k), 1e-12) << "equation 2";
    }
    const double alpha = dcqcn.GetAlpha();
    const double rate = dcqcn.GetRate();
    dcqcn.OnNotification(5501 * MICROSECOND);
    EXPECT_DOUBLE_EQ(dcqcn.GetRate(), rate * (1 - alpha / 2)) << "equation 1";
    EXPECT_DOUBLE_EQ(dcqcn.GetAlpha(), 255.0 / 256 * alpha + 1.0 / 256);
    // An idle queue pair asks for its timer late; the periods in between count.
    dcqcn.OnTimer((5501 + 55 * 10 + 1) * MICROSECOND);
    EXPECT_NEAR(dcqcn.GetAlpha(),
                (255.0 / 256 * alpha + 1.0 / 256) * std::pow(255.0 / 256, 10),
                1e-12);
}

TEST(Dcqcn, StagesOfIncrease)
{
    DcqcnParameters parameters;
    parameters.alphaTimerPs = 1'000'000'000 * MICROSECOND;
    parameters.clampTarget = true;
    parameters.referenceBytesPerSecond = 0;
    parameters.additiveBytesPerSecond = 5e6;
    parameters.hyperBytesPerSecond = 50e6;
    Dcqcn dcqcn(parameters, MakePath());
    dcqcn.OnNotification(0);
    dcqcn.OnNotification(0);
    double target = 2.5e9;
    double rate = 1.25e9;
    EXPECT_DOUBLE_EQ(dcqcn.GetTargetRate(), target);
    int64_t now = 0;
    // Fast recovery while both counters are below F = 5 (equation 3).
    for (int i = 1; i <= 4; ++i)
    {
        now = dcqcn.GetTimerPs();
        EXPECT_EQ(now, i * 55 * MICROSECOND);
        dcqcn.OnTimer(now);
        rate = (target + rate) / 2;
        EXPECT_DOUBLE_EQ(dcqcn.GetRate(), rate);
    }
    // Additive increase when one of them has reached F (equation 4).
    for (int i = 5; i <= 8; ++i)
    {
        now = dcqcn.GetTimerPs();
        dcqcn.OnTimer(now);
        target += 5e6;
        rate = (target + rate) / 2;
        EXPECT_DOUBLE_EQ(dcqcn.GetRate(), rate);
        EXPECT_DOUBLE_EQ(dcqcn.GetTargetRate(), target);
    }
    // Bytes count as well: still additive up to F of them.
    EXPECT_EQ(dcqcn.GetByteMark(), 10'000'000u);
    for (int i = 1; i <= 5; ++i)
    {
        dcqcn.OnBytesSent(now);
        target += 5e6;
        EXPECT_DOUBLE_EQ(dcqcn.GetTargetRate(), target);
    }
    // Hyper increase when both are above F: by i x R_HAI, i = min(T, BC) - F.
    dcqcn.OnBytesSent(now);
    target += 50e6;
    EXPECT_DOUBLE_EQ(dcqcn.GetTargetRate(), target);
    dcqcn.OnBytesSent(now);
    target += 2 * 50e6;
    EXPECT_DOUBLE_EQ(dcqcn.GetTargetRate(), target);
    // In the end the line rate, and no timer for it any more.
    for (int i = 0; i < 200 && dcqcn.GetTimerPs() < 1'000'000 * MICROSECOND; ++i)
    {
        dcqcn.OnTimer(dcqcn.GetTimerPs());
    }
    EXPECT_EQ(dcqcn.GetRate(), 5e9);
    EXPECT_EQ(dcqcn.GetByteMark(), CongestionControl::UNLIMITED);
}

TEST(Dcqcn, TargetRateMayStay)
{
    for (bool clamp : {false, true})
    {
        DcqcnParameters parameters;
        parameters.clampTarget = clamp;
        Dcqcn dcqcn(parameters, MakePath());
        dcqcn.OnNotification(0);
        dcqcn.OnNotification(50 * MICROSECOND);
        EXPECT_DOUBLE_EQ(dcqcn.GetRate(), 1.25e9);
        EXPECT_DOUBLE_EQ(dcqcn.GetTargetRate(), clamp ? 2.5e9 : 5e9);
        dcqcn.OnTimer(105 * MICROSECOND); // a step of increase in between
        const double rate = dcqcn.GetRate();
        dcqcn.OnNotification(106 * MICROSECOND);
        EXPECT_DOUBLE_EQ(dcqcn.GetTargetRate(), rate);
    }
}

TEST(Dcqcn, StepsGrowWithTheLine)
{
    DcqcnParameters parameters;
    parameters.clampTarget = true;
    parameters.fastRecoverySteps = 0;
    Dcqcn dcqcn(parameters, MakePath()); // 40 Gb/s: 5 Mb/s x 40 / 25
    dcqcn.OnNotification(0);
    dcqcn.OnNotification(0);
    dcqcn.OnTimer(55 * MICROSECOND);
    EXPECT_DOUBLE_EQ(dcqcn.GetTargetRate(), 2.5e9 + 1e6);
}

TEST(Dcqcn, NeverBelowTheMinimum)
{
    Dcqcn dcqcn(DcqcnParameters(), MakePath());
    for (int i = 0; i < 100; ++i)
    {
        dcqcn.OnNotification(i);
    }
    EXPECT_DOUBLE_EQ(dcqcn.GetRate(), 12.5e6);
}

TEST(Dcqcn, SampledNotificationsCutOncePerInterval)
{
    DcqcnParameters parameters;
    parameters.decreaseIntervalPs = 4 * MICROSECOND;
    parameters.alphaTimerPs = 1 * MICROSECOND;
    parameters.increaseTimerPs = 300 * MICROSECOND;
    parameters.byteCounter = 0;
    Dcqcn dcqcn(parameters, MakePath());
    // Notifications all the time: alpha stays 1, however many they are, and the rate is halved
    // every 4 us after the first.
    int64_t nextNotification = 0;
    double rate = 5e9;
    for (int us = 4; us <= 20; us += 4)
    {
        for (; nextNotification < us * MICROSECOND; nextNotification += MICROSECOND / 10)
        {
            dcqcn.OnNotification(nextNotification);
            EXPECT_DOUBLE_EQ(dcqcn.GetRate(), rate) << "only noted";
        }
        EXPECT_EQ(dcqcn.GetTimerPs(), us * MICROSECOND);
        dcqcn.OnTimer(dcqcn.GetTimerPs());
        rate /= 2;
        EXPECT_DOUBLE_EQ(dcqcn.GetRate(), rate);
        EXPECT_DOUBLE_EQ(dcqcn.GetAlpha(), 1);
    }
    EXPECT_DOUBLE_EQ(dcqcn.GetTargetRate(), 5e9) << "no step of increase in between";
    EXPECT_EQ(dcqcn.GetByteMark(), CongestionControl::UNLIMITED);
    // None for a while: no cut. The next one is seen at the next multiple of 4 us; meanwhile alpha
    // has decayed once per microsecond from 20 us on.
    EXPECT_EQ(dcqcn.GetTimerPs(), 320 * MICROSECOND);
    dcqcn.OnNotification(101 * MICROSECOND);
    EXPECT_EQ(dcqcn.GetTimerPs(), 104 * MICROSECOND);
    dcqcn.OnTimer(104 * MICROSECOND);
    // 21 to 101 us: 81 decays. 102 us: raised. 103, 104 us: decays.
    double alpha = std::pow(255.0 / 256, 81);
    alpha = (255.0 / 256 * alpha + 1.0 / 256) * std::pow(255.0 / 256, 2);
    EXPECT_NEAR(dcqcn.GetAlpha(), alpha, 1e-12);
    EXPECT_NEAR(dcqcn.GetRate(), rate * (1 - alpha / 2), 1);
}

TEST(Dcqcn, WithoutAByteCounterTheTimerDecides)
{
    DcqcnParameters parameters;
    parameters.decreaseIntervalPs = 4 * MICROSECOND;
    parameters.increaseTimerPs = 300 * MICROSECOND;
    parameters.byteCounter = 0;
    parameters.referenceBytesPerSecond = 0;
    parameters.fastRecoverySteps = 2;
    Dcqcn dcqcn(parameters, MakePath());
    dcqcn.OnNotification(0);
    dcqcn.OnTimer(4 * MICROSECOND);
    dcqcn.OnNotification(5 * MICROSECOND);
    dcqcn.OnTimer(8 * MICROSECOND);
    double target = dcqcn.GetTargetRate();
    double rate = dcqcn.GetRate();
    // One step of fast recovery, one of additive increase, then hyper increase by the same always;
    // the target is the line rate already, so that it stays there.
    EXPECT_DOUBLE_EQ(target, 5e9);
    for (int step = 1; step <= 5; ++step)
    {
        dcqcn.OnTimer(dcqcn.GetTimerPs());
        EXPECT_EQ(dcqcn.GetTimerSteps(), static_cast<uint32_t>(step));
        rate = (rate + target) / 2;
        EXPECT_DOUBLE_EQ(dcqcn.GetRate(), rate);
    }
    // A cut takes the rate for the target; from there the steps show.
    const int64_t now = dcqcn.GetTimerPs() - MICROSECOND;
    dcqcn.OnNotification(now);
    dcqcn.OnTimer(dcqcn.GetTimerPs());
    EXPECT_DOUBLE_EQ(dcqcn.GetTargetRate(), rate);
    target = rate;
    for (const double step : {0.0, 625e3, 6250e3, 6250e3, 6250e3})
    {
        dcqcn.OnTimer(dcqcn.GetTimerPs());
        target += step;
        EXPECT_DOUBLE_EQ(dcqcn.GetTargetRate(), target);
    }
}

// ------------------------------------------------------------------- HPCC

/// A hop that has sent and holds so much.
HopTelemetry
MakeHop(int64_t timePs, uint64_t sentBytes, uint64_t queueBytes)
{
    HopTelemetry hop;
    hop.timePs = timePs;
    hop.sentBytes = sentBytes;
    hop.queueBytes = queueBytes;
    hop.bytesPerSecond = 5e9;
    hop.port = 1;
    return hop;
}

TEST(Hpcc, WindowIsSteeredToEta)
{
    // W_init = 50,000 bytes, W_AI = 50,000 x 0.05 / 100 = 25 bytes.
    Hpcc hpcc(HpccParameters(), MakePath());
    EXPECT_EQ(hpcc.GetWindow(), 50'000u);
    EXPECT_EQ(hpcc.GetRate(), 5e9);
    HopTelemetry hop = MakeHop(0, 0, 25'000);
    CongestionFeedback feedback = MakeFeedback(0, 1, 1000, 50'000);
    feedback.hops = &hop;
    feedback.nHops = 1;
    hpcc.OnAcknowledgement(feedback);
    EXPECT_EQ(hpcc.GetWindow(), 50'000u) << "one acknowledgement tells no rate";
    // A whole round trip at line rate with half a bandwidth-delay product queued:
    // U = 25,000 / 50,000 + 1 = 1.5, W = 50,000 x 0.95 / 1.5 + 25.
    hop = MakeHop(10 * MICROSECOND, 50'000, 30'000);
    feedback = MakeFeedback(10 * MICROSECOND, 1, 2000, 51'000);
    feedback.hops = &hop;
    feedback.nHops = 1;
    hpcc.OnAcknowledgement(feedback);
    EXPECT_DOUBLE_EQ(hpcc.GetUtilisation(), 1.5) << "the smaller of two queues counts";
    const double window = 50'000 * 0.95 / 1.5 + 25;
    EXPECT_NEAR(static_cast<double>(hpcc.GetWindow()), window, 0.5);
    EXPECT_NEAR(hpcc.GetRate(), window / 10e-6, 1);
    EXPECT_NEAR(hpcc.GetReferenceWindow(), window, 1e-9);
    // Half a round trip later the same again: U = (1 - 1/2) 1.5 + 1/2 x 1.6; the reference stays
    // within one round trip.
    hop = MakeHop(15 * MICROSECOND, 75'000, 30'000);
    feedback = MakeFeedback(15 * MICROSECOND, 1, 3000, 52'000);
    feedback.hops = &hop;
    feedback.nHops = 1;
    hpcc.OnAcknowledgement(feedback);
    EXPECT_DOUBLE_EQ(hpcc.GetUtilisation(), 0.5 * 1.5 + 0.5 * 1.6);
    EXPECT_NEAR(static_cast<double>(hpcc.GetWindow()), window * 0.95 / 1.55 + 25, 0.5);
    EXPECT_NEAR(hpcc.GetReferenceWindow(), window, 1e-9);
}

TEST(Hpcc, AdditiveStagesThenMultiplicative)
{
    HpccParameters parameters;
    parameters.maxStage = 3;
    Hpcc hpcc(parameters, MakePath());
    // First down, so that there is room to grow: U = 2.
    HopTelemetry hop = MakeHop(0, 0, 50'000);
    uint64_t position = 1000;
    const auto acknowledge = [&](int64_t timePs, uint64_t sent, uint64_t queue) {
        hop = MakeHop(timePs, sent, queue);
        CongestionFeedback feedback = MakeFeedback(timePs, 1, position, position + 500);
        position += 1000; // a new round trip every time
        feedback.hops = &hop;
        feedback.nHops = 1;
        hpcc.OnAcknowledgement(feedback);
    };
    acknowledge(0, 0, 50'000);
    acknowledge(10 * MICROSECOND, 50'000, 50'000);
    double window = 50'000 * 0.95 / 2 + 25;
    EXPECT_NEAR(hpcc.GetReferenceWindow(), window, 1e-9);
    // U = 0.5 from now on: three additive steps, then W / (U / eta).
    for (int i = 2; i <= 4; ++i)
    {
        acknowledge(10 * i * MICROSECOND, 50'000 + 25'000 * (i - 1), 0);
        window += 25;
        EXPECT_NEAR(hpcc.GetReferenceWindow(), window, 1e-9) << i;
    }
    acknowledge(50 * MICROSECOND, 150'000, 0);
    window = std::min(window * 0.95 / 0.5 + 25, 50'000.0);
    EXPECT_NEAR(hpcc.GetReferenceWindow(), window, 1e-9);
}

// ----------------------------------------------------------------- TIMELY

TEST(Timely, Regions)
{
    TimelyParameters parameters;
    parameters.referenceBytesPerSecond = 0;
    parameters.segmentBytes = 1000;
    parameters.minimumRttPs = 20 * MICROSECOND;
    Timely timely(parameters, MakePath());
    const auto complete = [&](double microseconds) {
        CongestionFeedback feedback = MakeFeedback(0, 1, 0, 0);
        feedback.rttPs = std::llround(microseconds * MICROSECOND);
        timely.OnAcknowledgement(feedback);
        return timely.GetRate();
    };
    double rate = 5e9;
    EXPECT_DOUBLE_EQ(complete(100), rate) << "no gradient yet, and no more than the line";
    // A rise of 10 us: rtt_diff = 0.875 x 10, gradient = 8.75 / 20, rate x (1 - 0.8 x 0.4375).
    rate *= 1 - 0.8 * 0.4375;
    EXPECT_DOUBLE_EQ(complete(110), rate);
    EXPECT_DOUBLE_EQ(timely.GetGradient(), 0.4375);
    // Above T_high: rate x (1 - 0.8 (1 - 500 / 1000)).
    rate *= 0.6;
    EXPECT_DOUBLE_EQ(complete(1000), rate);
    // Below T_low: + delta, whatever the gradient.
    rate += 1.25e6;
    EXPECT_DOUBLE_EQ(complete(30), rate);
    // Falling round trips: + delta, from the fifth in a row on + 5 delta.
    for (int i = 1; i <= 6; ++i)
    {
        rate += i >= 5 ? 5 * 1.25e6 : 1.25e6;
        EXPECT_DOUBLE_EQ(complete(80 - i), rate) << i;
    }
}

TEST(Timely, OneStepPerSegment)
{
    Timely timely(TimelyParameters(), MakePath());
    CongestionFeedback feedback = MakeFeedback(0, 1, 0, 0);
    feedback.rttPs = 1000 * MICROSECOND;
    for (int i = 0; i < 16; ++i)
    {
        timely.OnAcknowledgement(feedback);
    }
    EXPECT_EQ(timely.GetRate(), 5e9);
    timely.OnAcknowledgement(feedback); // 17,000 bytes
    EXPECT_DOUBLE_EQ(timely.GetRate(), 5e9 * 0.6);
}

// ------------------------------------------------------------------ Swift

TEST(Swift, TargetDelay)
{
    SwiftParameters parameters;
    parameters.baseTargetPs = 25 * MICROSECOND;
    parameters.perHopPs = 2 * MICROSECOND;
    parameters.flowScalingRangePs = 40 * MICROSECOND;
    Swift swift(parameters, MakePath());
    // The window is 50 packets at first: alpha = 40 / (1 / sqrt(0.1) - 0.1) us.
    const double alpha = 40e6 / (1 / std::sqrt(0.1) - 0.1);
    EXPECT_DOUBLE_EQ(swift.GetCongestionWindow(), 50);
    EXPECT_NEAR(swift.GetTargetDelay(), 25e6 + 2 * 2e6 + alpha / std::sqrt(50) - alpha * 0.1, 1);
}

TEST(Swift, GrowsBelowTheTargetAndShrinksOncePerRoundTrip)
{
    SwiftParameters parameters;
    parameters.baseTargetPs = 20 * MICROSECOND;
    parameters.flowScalingRangePs = 0;
    Swift swift(parameters, MakePath());
    EXPECT_DOUBLE_EQ(swift.GetTargetDelay(), 20e6);
    CongestionFeedback feedback = MakeFeedback(0, 2, 0, 0);
    feedback.rttPs = 15 * MICROSECOND;
    swift.OnAcknowledgement(feedback);
    double window = 50 + 2.0 / 50;
    EXPECT_DOUBLE_EQ(swift.GetCongestionWindow(), window);
    EXPECT_EQ(swift.GetWindow(), 50'040u);
    // Delay 40 us: 1 - 0.8 (40 - 20) / 40 = 0.6.
    feedback.timePs = 100 * MICROSECOND;
    feedback.rttPs = 40 * MICROSECOND;
    swift.OnAcknowledgement(feedback);
    window *= 0.6;
    EXPECT_DOUBLE_EQ(swift.GetCongestionWindow(), window);
    feedback.timePs = 139 * MICROSECOND;
    swift.OnAcknowledgement(feedback);
    EXPECT_DOUBLE_EQ(swift.GetCongestionWindow(), window) << "within the same round trip";
    // At most by half.
    feedback.timePs = 1000 * MICROSECOND;
    feedback.rttPs = 900 * MICROSECOND;
    swift.OnAcknowledgement(feedback);
    window *= 0.5;
    EXPECT_DOUBLE_EQ(swift.GetCongestionWindow(), window);
}

TEST(Swift, PacesWindowsBelowOnePacket)
{
    SwiftParameters parameters;
    Swift swift(parameters, MakePath());
    EXPECT_TRUE(std::isinf(swift.GetRate()));
    for (int i = 1; i < 9; ++i)
    {
        swift.OnTimeout(i * 1000 * MICROSECOND, 0);
    }
    EXPECT_DOUBLE_EQ(swift.GetCongestionWindow(), 0.01) << "after RETX_RESET_THRESHOLD timeouts";
    EXPECT_DOUBLE_EQ(swift.GetRate(), 1048 * 0.01 / 10e-6) << "a packet every rtt / cwnd";
    CongestionFeedback feedback = MakeFeedback(9000 * MICROSECOND, 1, 0, 0);
    feedback.rttPs = 5 * MICROSECOND;
    swift.OnAcknowledgement(feedback);
    EXPECT_DOUBLE_EQ(swift.GetCongestionWindow(), 1.01) << "+ ai x acknowledged below 1";
}

// ------------------------------------------------------------------ DCTCP

TEST(Dctcp, AlphaFollowsTheShareOfMarks)
{
    DctcpParameters parameters;
    parameters.initialAlpha = 0;
    Dctcp dctcp(parameters, MakePath());
    double alpha = 0;
    uint64_t position = 0;
    // Coalesced acknowledgements of 10 packets, 4 of them marked, one window each.
    dctcp.OnAcknowledgement(MakeFeedback(0, 10, 1, 1)); // opens the first window
    alpha = 0;
    for (int i = 1; i <= 50; ++i)
    {
        position += 10'000;
        CongestionFeedback feedback = MakeFeedback(i, 10, position, position);
        feedback.markedPackets = 4;
        dctcp.OnAcknowledgement(feedback);
        alpha = 15.0 / 16 * alpha + 1.0 / 16 * 0.4;
        EXPECT_NEAR(dctcp.GetAlpha(), alpha, 1e-12) << i;
    }
    EXPECT_NEAR(dctcp.GetAlpha(), 0.4 * (1 - std::pow(15.0 / 16, 50)), 1e-9) << "closed form";
}

TEST(Dctcp, OneCutPerWindow)
{
    DctcpParameters parameters;
    parameters.initialWindow = 100;
    parameters.initialAlpha = 0.5;
    parameters.g = 0;
    Dctcp dctcp(parameters, MakePath());
    CongestionFeedback feedback = MakeFeedback(0, 1, 1000, 100'000);
    feedback.markedPackets = 1;
    dctcp.OnAcknowledgement(feedback);
    EXPECT_EQ(dctcp.GetWindow(), 75'000u) << "x (1 - alpha / 2)";
    feedback = MakeFeedback(0, 1, 2000, 100'000);
    feedback.markedPackets = 1;
    dctcp.OnAcknowledgement(feedback);
    EXPECT_EQ(dctcp.GetWindow(), 75'013u) << "the same window of data: additive increase";
    feedback = MakeFeedback(0, 1, 101'000, 175'000);
    feedback.markedPackets = 1;
    dctcp.OnAcknowledgement(feedback);
    EXPECT_NEAR(static_cast<double>(dctcp.GetWindow()), 75'013 * 0.75, 1);
}

// -------------------------------------------------------------------- TCP

TEST(Tcp, NewReno)
{
    TcpParameters parameters;
    parameters.cubic = false;
    Tcp tcp(parameters, MakePath());
    EXPECT_EQ(tcp.GetWindow(), 10'000u);
    tcp.OnAcknowledgement(MakeFeedback(0, 10, 10'000, 20'000));
    EXPECT_EQ(tcp.GetWindow(), 20'000u) << "slow start doubles";
    tcp.OnLoss(0, 20'000);
    EXPECT_EQ(tcp.GetWindow(), 10'000u) << "RFC 5681, equation 4";
    tcp.OnAcknowledgement(MakeFeedback(0, 10, 20'000, 30'000));
    EXPECT_EQ(tcp.GetWindow(), 11'000u) << "one segment per window";
    tcp.OnTimeout(0, 11'000);
    EXPECT_EQ(tcp.GetWindow(), 1000u);
    EXPECT_DOUBLE_EQ(tcp.GetThreshold(), 5500);
}

TEST(Tcp, Cubic)
{
    TcpParameters parameters;
    parameters.initialWindow = 1000;
    parameters.maximumWindow = 0;
    Tcp tcp(parameters, MakePath());
    tcp.OnLoss(0, 1'000'000);
    EXPECT_EQ(tcp.GetWindow(), 700'000u) << "beta_cubic";
    // W(t) = C (t - K)^3 + W_max, K = cbrt(W_max (1 - beta) / C) = cbrt(300 / 0.4) = 9.086 s.
    const double k = std::cbrt(300 / 0.4);
    const int64_t rtt = 100'000 * MICROSECOND;
    for (int i = 0; i < 120; ++i)
    {
        const auto packets = static_cast<uint32_t>(tcp.GetWindow() / 1000);
        CongestionFeedback feedback = MakeFeedback(i * rtt, packets, 0, 0);
        feedback.rttPs = rtt;
        tcp.OnAcknowledgement(feedback);
        // The window of the next round trip.
        const double expected = 0.4 * std::pow((i + 1) * 0.1 - k, 3) + 1000;
        EXPECT_NEAR(static_cast<double>(tcp.GetWindow()) / 1000, expected, 0.003 * expected) << i;
    }
    EXPECT_GT(tcp.GetWindow(), 1'005'000u) << "probes beyond W_max";
}

TEST(Tcp, TimeoutFollowsTheRoundTrip)
{
    TcpParameters parameters;
    parameters.minimumTimeoutPs = 1;
    Tcp tcp(parameters, MakePath());
    EXPECT_EQ(tcp.GetRetransmissionTimeoutPs(), 1'000'000 * MICROSECOND);
    CongestionFeedback feedback = MakeFeedback(0, 1, 0, 0);
    feedback.rttPs = 100 * MICROSECOND;
    tcp.OnAcknowledgement(feedback);
    EXPECT_EQ(tcp.GetRetransmissionTimeoutPs(), 300 * MICROSECOND) << "R + 4 R / 2";
    feedback.rttPs = 180 * MICROSECOND;
    tcp.OnAcknowledgement(feedback);
    // RTTVAR = 0.75 x 50 + 0.25 x 80 = 57.5, SRTT = 110.
    EXPECT_EQ(tcp.GetRetransmissionTimeoutPs(), 340 * MICROSECOND);
}

} // namespace
