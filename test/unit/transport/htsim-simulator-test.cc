/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport-fixture.h"

#include "ns3/proteus-htsim-topology.h"

#include <algorithm>
#include <cmath>
#include <sstream>

using namespace ns3;
using namespace ns3::proteus;

/**
 * @file
 * Ends of messages against what htsim says of them (github.com/Broadcom/csg-htsim, commit 841d9e7,
 * htsim_roce, which knows no congestion control): four leaves of eight hosts behind one spine, 100
 * Gb/s and 1 us everywhere, messages of 489 packets of 4096 bytes, which have 64 bytes of headers
 * there, and an acknowledgement of 64 bytes for each, which waits behind data. A message has ended
 * when the last one is home.
 *
 * There are no choices, so that times can be compared flow by flow. With "-pfc_thresholds 80000
 * 100000" nothing is paused; with 12 and 15 an input pauses its sender above 15 * 4096 bytes and
 * lets it go on below 12 * 4096. What is being sent counts there, and here no more.
 */

namespace
{

const std::string ONE_SPINE = "Nodes 32\n"
                              "Tiers 2\n"
                              "Podsize 32\n"
                              "Tier 0\n"
                              "Downlink_speed_Gbps 100\n"
                              "Radix_Down 8\n"
                              "Radix_Up 1\n"
                              "Downlink_Latency_ns 1000\n"
                              "Oversubscribed 8\n"
                              "Tier 1\n"
                              "Downlink_speed_Gbps 100\n"
                              "Radix_Down 4\n"
                              "Downlink_Latency_ns 1000\n";

constexpr uint64_t MESSAGE = 489 * 4096;
constexpr uint64_t PACKET = 4096 + 64;

/// A message, and when htsim has it end, in microseconds.
struct Flow
{
    uint32_t from;
    uint32_t to;
    double calm;   //!< nothing is paused
    double paused; //!< inputs pause at 15 packets
    uint64_t bytes{MESSAGE};
};

/// Every host sends to another one, by chance; 20 of the 32 messages cross the spine.
const std::vector<Flow> PERMUTATION = {
    {0, 18, 996.379, 1026.370},  {1, 22, 996.456, 1025.490}, {2, 1, 167.471, 168.973},
    {3, 30, 996.399, 1023.460},  {4, 20, 996.384, 1025.560}, {5, 12, 996.374, 1016.770},
    {6, 7, 167.471, 179.305},    {7, 15, 996.461, 1011.740}, {8, 28, 829.452, 801.696},
    {9, 13, 169.545, 169.823},   {10, 11, 167.569, 178.331}, {11, 31, 829.457, 784.252},
    {12, 8, 167.748, 175.346},   {13, 3, 993.297, 798.332},  {14, 16, 828.197, 787.262},
    {15, 9, 169.514, 169.412},   {16, 17, 167.692, 190.112}, {17, 5, 995.795, 1020.770},
    {18, 29, 831.126, 1031.000}, {19, 6, 995.724, 1029.830}, {20, 21, 167.487, 178.897},
    {21, 0, 995.800, 1022.130},  {22, 23, 167.482, 186.518}, {23, 27, 830.844, 1028.740},
    {24, 14, 825.468, 945.998},  {25, 26, 169.545, 183.753}, {26, 19, 829.472, 999.304},
    {27, 4, 995.744, 1001.720},  {28, 2, 995.759, 973.369},  {29, 25, 169.519, 169.514},
    {30, 24, 167.466, 183.389},  {31, 10, 821.147, 956.917},
};

/// Two senders share a receiver, and one of them sends to another one, too.
const std::vector<Flow> PARKING_LOT = {
    {0, 1, 655.305, 712.876, 2 * MESSAGE},
    {0, 2, 655.300, 713.209, 2 * MESSAGE},
    {3, 1, 492.561, 592.401, 2 * MESSAGE},
};

/// Sends all at time 0. @return when each has ended, in microseconds
std::vector<double>
SendAll(const std::vector<Flow>& flows, bool pauses)
{
    HpccTopologyOptions options;
    options.payloadBytes = 4096;
    options.overheadBytes = 64;
    options.controlBytes = 64;
    std::istringstream input(ONE_SPINE);
    TransportRig::Attributes fabric;
    if (pauses)
    {
        // Every input has 14 packets, and nothing of what is shared.
        fabric = {{"BufferReserve", std::to_string(15 * 4096 - PACKET)},
                  {"ThresholdShift", "30"},
                  {"ResumeOffset", "13600"}};
    }
    else
    {
        fabric = {{"SwitchBuffer", "2000000000"}};
    }
    TransportRig rig(
        ReadHtsimTopology(input, "one-spine.topo", options),
        {{"CongestionControl", "none"}, {"AckEveryPackets", "1"}, {"AckTrafficClass", "1"}},
        fabric);
    for (const Flow& flow : flows)
    {
        rig.Send(rig.Connect(flow.from, flow.to), flow.bytes);
    }
    rig.Run();
    uint64_t seen = 0;
    for (const LinkStatistics& link : rig.fabric->GetLinkStatistics())
    {
        seen += link.pauses;
    }
    EXPECT_EQ(seen > 0, pauses);
    std::vector<double> times;
    for (uint32_t pair = 0; pair < flows.size(); ++pair)
    {
        times.push_back(rig.GetAcknowledged(pair) * 1e6);
    }
    return times;
}

/// Largest difference from htsim, as a share of its time.
double
FindLargest(const std::vector<Flow>& flows, bool pauses)
{
    const std::vector<double> times = SendAll(flows, pauses);
    double largest = 0;
    for (size_t flow = 0; flow < flows.size(); ++flow)
    {
        const double theirs = pauses ? flows[flow].paused : flows[flow].calm;
        largest = std::max(largest, std::abs(times[flow] / theirs - 1));
    }
    return largest;
}

} // namespace

TEST(HtsimSimulator, FlowsThatShareLinksEndWhenTheyDoThere)
{
    EXPECT_LT(FindLargest(PARKING_LOT, false), 0.0001);
    EXPECT_LT(FindLargest(PERMUTATION, false), 0.0005);
}

TEST(HtsimSimulator, AndWhereInputsPauseTheirSenders)
{
    EXPECT_LT(FindLargest(PARKING_LOT, true), 0.01);
    EXPECT_LT(FindLargest(PERMUTATION, true), 0.06);
}

TEST(HtsimSimulator, AnIncastOfThirtyOneHosts)
{
    // The seven of the receiver's own leaf have a link each, the others one together.
    std::vector<Flow> flows;
    for (uint32_t host = 0; host < 31; ++host)
    {
        flows.push_back({host, 31, 0, 0});
    }
    const std::vector<double> calm = SendAll(flows, false);
    EXPECT_NEAR(*std::min_element(calm.begin(), calm.end()), 1301.26, 0.01);
    EXPECT_NEAR(*std::max_element(calm.begin(), calm.end()), 5051.27, 0.01);
    const std::vector<double> paused = SendAll(flows, true);
    EXPECT_NEAR(*std::max_element(paused.begin(), paused.end()), 5051.27, 0.5);
}
