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
 * Arrivals of messages against what htsim says of them (github.com/Broadcom/csg-htsim, commit
 * 841d9e7, htsim_roce, which knows no congestion control): four leaves of eight hosts behind one
 * spine, 100 Gb/s and 1 us everywhere, messages of 489 packets of 4096 bytes, which have 64 bytes
 * of headers there, and an acknowledgement of 64 bytes for each. Its sinks were made to say when
 * the last packet comes, as the sender's time counts acknowledgements that wait behind data.
 *
 * There are no choices, so that times can be compared flow by flow. With "-pfc_thresholds 80000
 * 100000" nothing is paused; with 12 and 15 an input pauses its sender at 15 packets and lets it
 * go on at 12.
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

/// A message, and when htsim has it arrive, in microseconds.
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
    {0, 18, 978.525, 1020.740},  {1, 22, 983.553, 1002.310}, {2, 1, 165.461, 165.528},
    {3, 30, 979.862, 1019.390},  {4, 20, 978.858, 1007.370}, {5, 12, 978.193, 1012.560},
    {6, 7, 165.461, 165.476},    {7, 15, 983.886, 1007.720}, {8, 28, 701.426, 738.932},
    {9, 13, 167.535, 167.586},   {10, 11, 165.558, 165.564}, {11, 31, 701.759, 744.292},
    {12, 8, 165.476, 165.558},   {13, 3, 821.116, 743.604},  {14, 16, 651.880, 753.264},
    {15, 9, 167.504, 167.402},   {16, 17, 165.681, 165.666}, {17, 5, 987.183, 1016.750},
    {18, 29, 813.672, 1026.980}, {19, 6, 982.478, 1025.810}, {20, 21, 165.476, 165.487},
    {21, 0, 987.521, 1018.110},  {22, 23, 165.471, 165.497}, {23, 27, 820.707, 1024.720},
    {24, 14, 821.403, 941.902},  {25, 26, 167.535, 167.535}, {26, 19, 821.055, 942.344},
    {27, 4, 983.820, 955.579},   {28, 2, 984.828, 935.273},  {29, 25, 167.509, 167.504},
    {30, 24, 165.456, 165.492},  {31, 10, 817.123, 952.896},
};

/// Two senders share a receiver, and one of them sends to another one, too.
const std::vector<Flow> PARKING_LOT = {
    {0, 1, 653.290, 710.866, 2 * MESSAGE},
    {0, 2, 653.290, 711.198, 2 * MESSAGE},
    {3, 1, 490.550, 590.390, 2 * MESSAGE},
};

/// Sends all at time 0. @return when each has arrived, in microseconds
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
        // Every input has 16 packets, and nothing of what is shared.
        fabric = {{"BufferReserve", std::to_string(16 * PACKET)},
                  {"ThresholdShift", "30"},
                  {"ResumeOffset", std::to_string(4 * PACKET)}};
    }
    else
    {
        fabric = {{"SwitchBuffer", "2000000000"}};
    }
    TransportRig rig(ReadHtsimTopology(input, "one-spine.topo", options),
                     {{"CongestionControl", "none"}, {"AckEveryPackets", "1"}},
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
        times.push_back(rig.GetReceived(pair) * 1e6);
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

TEST(HtsimSimulator, FlowsThatShareLinksArriveWhenTheyDoThere)
{
    EXPECT_LT(FindLargest(PARKING_LOT, false), 0.0001);
    EXPECT_LT(FindLargest(PERMUTATION, false), 0.014);
}

TEST(HtsimSimulator, AndWhereInputsPauseTheirSenders)
{
    EXPECT_LT(FindLargest(PARKING_LOT, true), 0.015);
    EXPECT_LT(FindLargest(PERMUTATION, true), 0.04);
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
    EXPECT_NEAR(*std::min_element(calm.begin(), calm.end()), 1299.25, 0.01);
    EXPECT_NEAR(*std::max_element(calm.begin(), calm.end()), 5047.25, 0.01);
    const std::vector<double> paused = SendAll(flows, true);
    EXPECT_NEAR(*std::max_element(paused.begin(), paused.end()), 5047.25, 0.5);
}
