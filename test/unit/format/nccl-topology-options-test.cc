/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-nccl-topology.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

using namespace ns3::proteus;

namespace
{

/// @param vendor of the CPU @param options behind the name of the file
/// @return whether the CPU of two GPUs lets them reach each other, and NICs reach them
std::pair<bool, bool>
ReachThroughCpu(const std::string& vendor, const std::string& options)
{
    std::string text = "<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\" vendor=\"" +
                       vendor + "\" familyid=\"6\" modelid=\"143\">";
    for (const std::string bus : {"0000:07:00.0", "0000:08:00.0"})
    {
        text += "<pci busid=\"" + bus +
                "\" class=\"0x030200\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">"
                "<gpu dev=\"0\" sm=\"89\" rank=\"0\" gdr=\"1\"/></pci>";
    }
    std::istringstream file(text + "</cpu></system>");
    const Cluster cluster =
        ReadNcclTopology(file, "t.xml", 1, FabricOptions(), ParseNcclTopologyOptions(options));
    const auto& vertices = cluster.GetVertices();
    const auto cpu = std::find_if(vertices.begin(), vertices.end(), [](const Vertex& vertex) {
        return vertex.kind == VertexKind::CPU;
    });
    return {cpu->peerToPeer, cpu->gpuDirectRdma};
}

using Reach = std::pair<bool, bool>;

} // namespace

TEST(NcclTopologyOptions, CpusLetGpusReachEachOtherAsTheUserSays)
{
    EXPECT_EQ(ReachThroughCpu("GenuineIntel", ""), Reach(false, false));
    EXPECT_EQ(ReachThroughCpu("GenuineIntel", "p2p=on"), Reach(true, true));
    EXPECT_EQ(ReachThroughCpu("AuthenticAMD", ""), Reach(true, true));
    // NICs are no peers.
    EXPECT_EQ(ReachThroughCpu("AuthenticAMD", "p2p=off"), Reach(false, true));
    EXPECT_THROW(ParseNcclTopologyOptions("p2p=1"), std::invalid_argument);
}
