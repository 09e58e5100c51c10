/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-cluster.h"

#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>

using namespace ns3::proteus;

namespace
{

/// @return payload bytes per second of a long transfer over a link, one way
double
OneWay(const Link& link, CopyMethod method)
{
    const LinkFraming framing = link.framing.For(method);
    const uint64_t payload = framing.unitBytes;
    return link.bytesPerSecond * static_cast<double>(payload) /
           static_cast<double>(framing.WireBytes(payload));
}

/// @return the same of each of two transfers against each other: each wire carries payload of one
/// and what goes back of the other
double
EachOfTwoWays(const Link& link, CopyMethod method)
{
    const LinkFraming framing = link.framing.For(method);
    const uint64_t payload = framing.unitBytes;
    return link.bytesPerSecond * static_cast<double>(payload) /
           static_cast<double>(framing.WireBytes(payload) + framing.ReverseBytes(payload));
}

/// @return the first link between two vertices
const Link&
LinkBetween(const Cluster& cluster, const char* a, const char* b)
{
    const VertexId other = cluster.FindVertex(b);
    for (const Port& port : cluster.GetPorts(cluster.FindVertex(a)))
    {
        if (port.neighbor == other)
        {
            return cluster.GetLinks()[port.link];
        }
    }
    throw std::invalid_argument(std::string("no link from ") + a + " to " + b);
}

/// Expects a value within 5 % of what was measured, which is what the presets promise.
void
ExpectMeasured(double value, double measured, const char* what)
{
    EXPECT_NEAR(value, measured, 0.05 * measured) << what;
}

/// @return what all NVLinks of a GPU carry together
double
OverNvlinks(const Cluster& cluster, double (*rate)(const Link&, CopyMethod), CopyMethod method)
{
    double sum = 0;
    for (const Port& port : cluster.GetPorts(cluster.GetGpus().front()))
    {
        const Link& link = cluster.GetLinks()[port.link];
        sum += link.technology == LinkTechnology::NVLINK ? rate(link, method) : 0;
    }
    return sum;
}

} // namespace

TEST(LinkFraming, Methods)
{
    LinkFraming framing;
    framing.packetBytes = 256;
    framing.packetHeaderBytes = 16;
    framing.reverseBytes = 8;
    framing.smPacketHeaderBytes = 32;
    const LinkFraming dma = framing.For(CopyMethod::DMA);
    const LinkFraming sm = framing.For(CopyMethod::SM);
    EXPECT_EQ(dma.WireBytes(257), 257u + 2 * 16);
    EXPECT_EQ(sm.WireBytes(257), 257u + 2 * 32);
    EXPECT_EQ(dma.ReverseBytes(257), 16u);
    EXPECT_EQ(sm.ReverseBytes(257), 16u); // the same, since nothing else is said
    EXPECT_EQ(dma.ReverseBytes(0), 0u);
    EXPECT_EQ(sm.For(CopyMethod::DMA).packetHeaderBytes, 32u); // chosen once
}

TEST(LinkFraming, Multimem)
{
    LinkFraming framing;
    framing.smPacketHeaderBytes = 32;
    framing.smReverseBytes = 16;
    // Nothing said: as other copies of kernels.
    EXPECT_EQ(framing.For(CopyMethod::SM_REDUCE).WireBytes(4096), 4096u + 32);
    framing.multimemPacketBytes = 128;
    framing.reduceHeaderBytes = 1;
    framing.reduceReverseBytes = 2;
    framing.multicastHeaderBytes = 3;
    framing.multicastReverseBytes = 4;
    EXPECT_EQ(framing.For(CopyMethod::SM_REDUCE).WireBytes(129), 129u + 2 * 1);
    EXPECT_EQ(framing.For(CopyMethod::SM_REDUCE).ReverseBytes(129), 2u * 2);
    EXPECT_EQ(framing.For(CopyMethod::SM_MULTICAST).WireBytes(129), 129u + 2 * 3);
    EXPECT_EQ(framing.For(CopyMethod::SM_MULTICAST).ReverseBytes(129), 2u * 4);
    EXPECT_EQ(framing.For(CopyMethod::SM).WireBytes(4096), 4096u + 32);
}

TEST(LinkFraming, HeadersOfTheNetwork)
{
    const LinkFraming infiniband = DefaultFraming(LinkTechnology::INFINIBAND);
    EXPECT_EQ(infiniband.unitBytes, 4096u);
    EXPECT_EQ(infiniband.WireBytes(4096), 4096u + 8 + 12 + 4 + 2); // LRH, BTH, ICRC, VCRC
    EXPECT_EQ(infiniband.WireBytes(0), 30u);                       // and AETH
    const LinkFraming roce = DefaultFraming(LinkTechnology::ROCE);
    EXPECT_EQ(roce.WireBytes(4096), 4096u + 14 + 4 + 20 + 20 + 8 + 12 + 4);
    EXPECT_EQ(roce.WireBytes(0), 86u);
    // Only what was measured has a gap, and only at NICs.
    EXPECT_EQ(NicFraming(LinkTechnology::INFINIBAND, 12.5e9).WireBytes(4096), 4096u + 26);
    EXPECT_GT(NicFraming(LinkTechnology::INFINIBAND, 25e9).WireBytes(4096), 4096u + 26);
    EXPECT_EQ(NicFraming(LinkTechnology::ROCE, 50e9).WireBytes(4096), 4096u + 82);
}

TEST(LinkFraming, Generations)
{
    EXPECT_EQ(DefaultFraming(LinkTechnology::NVLINK).packetHeaderBytes,
              DefaultFraming(LinkTechnology::NVLINK, 3).packetHeaderBytes);
    EXPECT_EQ(DefaultFraming(LinkTechnology::PCIE).packetBytes,
              DefaultFraming(LinkTechnology::PCIE, 4).packetBytes);
    for (uint32_t generation = 2; generation <= 5; ++generation)
    {
        // Flits and half flits.
        const LinkFraming framing = DefaultFraming(LinkTechnology::NVLINK, generation);
        EXPECT_EQ(framing.packetHeaderBytes % 8, 0u);
        EXPECT_EQ(framing.reverseBytes % 8, 0u);
        EXPECT_EQ(framing.unitBytes, 4096u);
    }
    // Two packets of stores for one of a DMA.
    const LinkFraming dma = DefaultFraming(LinkTechnology::NVLINK, 5).For(CopyMethod::DMA);
    const LinkFraming sm = DefaultFraming(LinkTechnology::NVLINK, 5).For(CopyMethod::SM);
    EXPECT_EQ(sm.WireBytes(256) - 256, 2 * (dma.WireBytes(256) - 256));
    EXPECT_EQ(sm.ReverseBytes(256), 2 * dma.ReverseBytes(256));
    EXPECT_DOUBLE_EQ(256.0 / sm.WireBytes(256), 0.8);
    EXPECT_THROW(DefaultFraming(LinkTechnology::NVLINK, 1), std::invalid_argument);
    EXPECT_THROW(DefaultFraming(LinkTechnology::NVLINK, 6), std::invalid_argument);
    EXPECT_THROW(DefaultFraming(LinkTechnology::PCIE, 2), std::invalid_argument);
}

/// All-reduce of NVLS among eight GPUs: what links to GPUs carry for every byte of the buffer
/// limits the peak bus bandwidth, of `dgxh100_8_ar` 480 GB/s and of `b200_ar_8` 843 GB/s in the
/// measured tables.
TEST(Anchors, Nvls)
{
    const auto busBandwidth = [](const char* preset) {
        const Cluster cluster = MakeCluster(preset, 1);
        double raw = 0;
        LinkFraming framing;
        for (const Port& port : cluster.GetPorts(cluster.GetGpus().front()))
        {
            const Link& link = cluster.GetLinks()[port.link];
            if (link.technology == LinkTechnology::NVLINK)
            {
                raw += link.bytesPerSecond;
                framing = link.framing;
            }
        }
        const LinkFraming reduce = framing.For(CopyMethod::SM_REDUCE);
        const LinkFraming multicast = framing.For(CopyMethod::SM_MULTICAST);
        constexpr double LINE = 4096;
        const double n = 8;
        const double down = reduce.ReverseBytes(4096) + multicast.WireBytes(4096) +
                            (reduce.WireBytes(4096) + multicast.ReverseBytes(4096)) / n;
        const double up = reduce.WireBytes(4096) + multicast.ReverseBytes(4096) +
                          (reduce.ReverseBytes(4096) + multicast.WireBytes(4096)) / n;
        EXPECT_GT(down, up) << preset;
        return raw * LINE / down * 2 * (n - 1) / n;
    };
    EXPECT_NEAR(busBandwidth("dgx-h100"), 480e9, 0.05 * 480e9);
    EXPECT_NEAR(busBandwidth("hgx-b200"), 843e9, 0.05 * 843e9);
}

TEST(Anchors, Nvlink)
{
    const Cluster a100 = MakeCluster("dgx-a100", 1);
    ExpectMeasured(OverNvlinks(a100, &OneWay, CopyMethod::DMA), 279.3e9, "A100 DMA");
    ExpectMeasured(2 * OverNvlinks(a100, &EachOfTwoWays, CopyMethod::DMA), 531e9, "A100 DMA both");
    ExpectMeasured(OverNvlinks(a100, &OneWay, CopyMethod::SM), 258.4e9, "A100 SM");
    ExpectMeasured(2 * OverNvlinks(a100, &EachOfTwoWays, CopyMethod::SM), 440e9, "A100 SM both");

    // An H200 has the NVLinks of an H100.
    const Cluster h100 = MakeCluster("dgx-h100", 1);
    ExpectMeasured(OverNvlinks(h100, &OneWay, CopyMethod::DMA), 396e9, "H200");
    ExpectMeasured(2 * OverNvlinks(h100, &EachOfTwoWays, CopyMethod::DMA), 784e9, "H200 both");

    const Cluster v100 = MakeCluster("dgx1-v100", 1);
    const Link& single = LinkBetween(v100, "n0.gpu0", "n0.gpu1");
    EXPECT_EQ(single.bytesPerSecond, 25e9);
    ExpectMeasured(OneWay(single, CopyMethod::DMA), 22.5e9, "V100");
    ExpectMeasured(OneWay(single, CopyMethod::SM), 22.5e9, "V100 SM");
}

TEST(Anchors, NothingBelowWhatNcclReachesOnIt)
{
    // Bus bandwidths of rings, the same in both directions on every link: what comes out of a
    // simulation cannot be above what is computed here.
    auto ring = [](const char* preset) {
        return OverNvlinks(MakeCluster(preset, 1), &EachOfTwoWays, CopyMethod::SM);
    };
    EXPECT_GT(ring("dgx1-v100"), 134.6e9);
    EXPECT_GT(ring("dgx2"), 123.6e9);
    EXPECT_NEAR(ring("dgx-a100"), 229e9, 0.01 * 229e9);
    EXPECT_GT(ring("hgx-b200"), 663e9);
}

TEST(Anchors, Pcie)
{
    const Cluster a100 = MakeCluster("dgx-a100", 1);
    const Link& gen4 = LinkBetween(a100, "n0.gpu0", "n0.pcie0");
    ExpectMeasured(OneWay(gen4, CopyMethod::DMA), 26.2e9, "Gen4");
    ExpectMeasured(2 * EachOfTwoWays(gen4, CopyMethod::DMA), 49.5e9, "Gen4 both");
    const Cluster h100 = MakeCluster("dgx-h100", 1);
    ExpectMeasured(OneWay(LinkBetween(h100, "n0.gpu0", "n0.pcie0"), CopyMethod::DMA),
                   55.4e9,
                   "Gen5");
    // Stores, to host memory and into the root of a gather; one card of GeForce has them, too.
    for (const char* card : {"4xRTX-PRO-6000", "4xRTX-5090"})
    {
        const Cluster cards = MakeCluster(card, 1);
        const Link& gen5 = LinkBetween(cards, "n0.gpu0", "n0.cpu0");
        ExpectMeasured(OneWay(gen5, CopyMethod::SM), 52.8e9, card);
        ExpectMeasured(OneWay(gen5, CopyMethod::SM), 51.5e9, card);
    }
    // Two HDR NICs under one uplink, and a copy from a GPU to its CPU, take the same link.
    const Link& uplink = LinkBetween(a100, "n0.pcie0", "n0.cpu0");
    ExpectMeasured(OneWay(uplink, CopyMethod::DMA), 24e9, "uplink");
    ExpectMeasured(OneWay(uplink, CopyMethod::DMA), 26.2e9, "GPU to CPU");
    ExpectMeasured(2 * EachOfTwoWays(uplink, CopyMethod::DMA), 49.5e9, "GPU to CPU both");
    // A NIC behind the root complex.
    EXPECT_EQ(a100.GetVertices()[a100.FindVertex("n0.cpu1")].forwardBytesPerSecond, 16e9);
}

TEST(Anchors, Network)
{
    const Cluster hdr = MakeCluster("dgx-a100", 2);
    ExpectMeasured(OneWay(LinkBetween(hdr, "n0.nic0", "switch0"), CopyMethod::DMA), 23.3e9, "HDR");
    const Cluster ndr = MakeCluster("dgx-h100", 2);
    ExpectMeasured(OneWay(LinkBetween(ndr, "n0.nic0", "switch0"), CopyMethod::DMA), 45.1e9, "NDR");
    // PCIe is no bottleneck of a NIC, not even both ways.
    for (const char* preset : {"dgx1-v100", "dgx2", "dgx-a100", "dgx-h100", "hgx-b200"})
    {
        const Cluster cluster = MakeCluster(preset, 2);
        EXPECT_GT(EachOfTwoWays(LinkBetween(cluster, "n0.nic0", "n0.pcie0"), CopyMethod::DMA),
                  OneWay(LinkBetween(cluster, "n0.nic0", "switch0"), CopyMethod::DMA))
            << preset;
    }
}
