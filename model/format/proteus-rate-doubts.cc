/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-rate-doubts.h"

#include "proteus-nccl-values.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-server-preset.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double GBYTE = 1e9;
constexpr double MUCH = 4; //!< between what may differ and bits for bytes
constexpr double ROUNDING = 1.01;

/// The fastest network ports on sale, 800 Gb/s (NVIDIA ConnectX-8, 2025), and 1 Gb/s.
constexpr double MOST_NETWORK = 100e9;
constexpr double LEAST_NETWORK = 0.125e9;

/// One lane of PCI Express 1.0; 16 of 4.0, and of 6.0 (16 and 64 GT/s per lane), whose packets are
/// taken for those of 5.0.
constexpr double LEAST_PCIE = 0.25e9;
constexpr double MOST_PCIE_4 = 32e9;
constexpr double MOST_PCIE = 128e9;

/// Between processors: one link of Intel's QPI at 6.4 GT/s has 12.8 GB/s, and the 900 GB/s of both
/// directions in NVIDIA's Grace CPU Superchip (NVLink-C2C) are the most on sale.
constexpr double LEAST_CPU = 12.8e9 / MUCH;
constexpr double MOST_CPU = 450e9;

/// Memory of a processor: a channel of DDR-400 has 3.2 GB/s, 12 of MRDIMMs with 8800 MT/s (Xeon 6)
/// have 845.
constexpr double LEAST_MEMORY = 3.2e9;
constexpr double MOST_MEMORY = 1000e9;

/// 20 km of fibre, and 0.2 mm of it.
constexpr int64_t MOST_DELAY_PS = 100000000;
constexpr int64_t LEAST_DELAY_PS = 1000;

/// @param bytesPerSecond a rate @return it as files write it
std::string
FormatRate(double bytesPerSecond)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.6g GB/s", bytesPerSecond / GBYTE);
    return text;
}

/// Collects doubts: of each kind how many there are, and the first one.
class Doubts
{
  public:
    /// @param kind what is odd, in the plural @param first what it is about @param reason why
    void Add(const std::string& kind, const std::string& first, const std::string& reason)
    {
        auto& doubt = m_doubts[kind];
        if (doubt.count++ == 0)
        {
            doubt.text = first + ": " + reason;
        }
    }

    /// @return a line of each kind
    std::vector<std::string> GetLines() const
    {
        std::vector<std::string> lines;
        for (const auto& [kind, doubt] : m_doubts)
        {
            lines.push_back(kind + " (" + std::to_string(doubt.count) + "), the first " +
                            doubt.text);
        }
        return lines;
    }

  private:
    struct Doubt
    {
        uint64_t count{0};
        std::string text;
    };

    std::map<std::string, Doubt> m_doubts;
};

/// Looks through a cluster.
class Finder
{
  public:
    explicit Finder(const Cluster& cluster)
        : m_cluster(cluster)
    {
    }

    std::vector<std::string> Find()
    {
        for (VertexId id = 0; id < m_cluster.GetVertices().size(); ++id)
        {
            if (Get(id).kind == VertexKind::GPU)
            {
                LookAtGpu(id);
            }
            else if (Get(id).kind == VertexKind::NIC)
            {
                LookAtNic(id);
            }
            else if (Get(id).kind == VertexKind::CPU)
            {
                LookAtHost(id);
            }
        }
        for (const Link& link : m_cluster.GetLinks())
        {
            LookAtLink(link);
        }
        return m_doubts.GetLines();
    }

  private:
    const Vertex& Get(VertexId id) const
    {
        return m_cluster.GetVertices()[id];
    }

    /// @return summed rate of a vertex's links of a technology
    double GetRate(VertexId id, LinkTechnology technology) const
    {
        double sum = 0;
        for (const Port& port : m_cluster.GetPorts(id))
        {
            const Link& link = m_cluster.GetLinks()[port.link];
            sum += link.technology == technology ? link.bytesPerSecond : 0;
        }
        return sum;
    }

    void LookAtGpu(VertexId id)
    {
        const Vertex& gpu = Get(id);
        const GpuModel& model = FindGpuModel(gpu.model);
        const double most = CountNvlinks(model.nvlinkGeneration) * model.nvlinkBytesPerSecond;
        const double nvlinks = GetRate(id, LinkTechnology::NVLINK);
        if (nvlinks > most * ROUNDING)
        {
            m_doubts.Add("GPUs with faster NVLinks than their data sheet has",
                         gpu.name,
                         FormatRate(nvlinks) + " in each direction, a " + model.sheet.model +
                             " has " + FormatRate(most));
        }
        const double memory = gpu.memoryBytesPerSecond;
        if (memory != 0 && (memory > model.sheet.memoryBytesPerSecond * ROUNDING ||
                            memory * MUCH < model.sheet.memoryBytesPerSecond))
        {
            m_doubts.Add("GPUs whose memory_gbytes_per_s is far from their data sheet",
                         gpu.name,
                         FormatRate(memory) + ", a " + model.sheet.model + " has " +
                             FormatRate(model.sheet.memoryBytesPerSecond));
        }
        else if (memory != 0 && memory * ROUNDING < model.sheet.memoryBytesPerSecond)
        {
            m_doubts.Add("GPUs whose memory_gbytes_per_s is below their data sheet, which kernels "
                         "take all the same: it limits communication alone",
                         gpu.name,
                         FormatRate(memory) + ", a " + model.sheet.model + " has " +
                             FormatRate(model.sheet.memoryBytesPerSecond));
        }
        for (const double rate : {gpu.copyEngineBytesPerSecond, gpu.smCopyBytesPerSecond})
        {
            if (rate > model.sheet.memoryBytesPerSecond)
            {
                m_doubts.Add("GPUs that copy faster than their memory is",
                             gpu.name,
                             FormatRate(rate) + ", the memory of a " + model.sheet.model + " has " +
                                 FormatRate(model.sheet.memoryBytesPerSecond));
            }
            else if (rate > 0 && rate < LEAST_PCIE)
            {
                m_doubts.Add("GPUs that copy slower than one lane of PCI Express",
                             gpu.name,
                             FormatRate(rate));
            }
        }
    }

    /// A processor that forwards what its memory or a lane cannot have.
    void LookAtHost(VertexId id)
    {
        const double rate = Get(id).forwardBytesPerSecond;
        if (rate > 0 && (rate < LEAST_PCIE || rate > MOST_CPU))
        {
            m_doubts.Add("processors that forward less than one lane of PCI Express or more than "
                         "450 GB/s",
                         Get(id).name,
                         FormatRate(rate));
        }
        const double memory = Get(id).memoryBytesPerSecond;
        if (Get(id).kind == VertexKind::CPU && memory > 0 &&
            (memory < LEAST_MEMORY || memory > MOST_MEMORY))
        {
            m_doubts.Add("processors whose memory has less than 3.2 or more than 1000 GB/s",
                         Get(id).name,
                         FormatRate(memory));
        }
    }

    /// A NIC that is much faster than its slot is in bits, or its slot is not.
    void LookAtNic(VertexId id)
    {
        const double slot = GetRate(id, LinkTechnology::PCIE);
        const double network =
            std::max(GetRate(id, LinkTechnology::INFINIBAND), GetRate(id, LinkTechnology::ROCE));
        if (slot > 0 && network > slot * MUCH)
        {
            m_doubts.Add("NICs whose network is far faster than their PCI Express",
                         Get(id).name,
                         FormatRate(network) + " and " + FormatRate(slot));
        }
        else if (slot > 0 && network > slot * ROUNDING)
        {
            m_doubts.Add("NICs whose network is faster than their PCI Express, which bounds them",
                         Get(id).name,
                         FormatRate(network) + " and " + FormatRate(slot));
        }
    }

    void LookAtLink(const Link& link)
    {
        const std::string name = Get(link.a).name + " -> " + Get(link.b).name;
        const double rate = link.bytesPerSecond;
        const bool isInServer = link.technology == LinkTechnology::PCIE ||
                                link.technology == LinkTechnology::CPU_INTERCONNECT;
        if (isInServer && Get(link.a).server != Get(link.b).server)
        {
            m_doubts.Add("links of PCI Express or between processors from one server to another",
                         name,
                         "servers " + std::to_string(Get(link.a).server) + " and " +
                             std::to_string(Get(link.b).server));
        }
        const std::string is = FormatRate(rate) + " in each direction";
        switch (link.technology)
        {
        case LinkTechnology::INFINIBAND:
        case LinkTechnology::ROCE: {
            const bool isPort =
                Get(link.a).kind != VertexKind::SWITCH || Get(link.b).kind != VertexKind::SWITCH;
            if (rate < LEAST_NETWORK || (isPort && rate > MOST_NETWORK))
            {
                m_doubts.Add("network links of less than 1 or hosts' ones of more than 800 Gb/s",
                             name,
                             is);
            }
            break;
        }
        case LinkTechnology::PCIE: {
            const bool isLater =
                link.framing.packetBytes > DefaultFraming(LinkTechnology::PCIE).packetBytes;
            if (rate < LEAST_PCIE || rate > (isLater ? MOST_PCIE : MOST_PCIE_4))
            {
                m_doubts.Add(
                    "PCI Express slower than one lane or faster than x16 of its generation "
                    "(4 where none is given)",
                    name,
                    is);
            }
            break;
        }
        case LinkTechnology::NVLINK:
            for (const VertexId end : {link.a, link.b})
            {
                const double one = Get(end).kind == VertexKind::GPU
                                       ? FindGpuModel(Get(end).model).nvlinkBytesPerSecond
                                       : 0;
                if (rate * MUCH < one)
                {
                    m_doubts.Add("NVLinks that are far slower than one of the GPU's data sheet",
                                 name,
                                 is + ", one link of a " + Get(end).model + " has " +
                                     FormatRate(one));
                    break;
                }
            }
            break;
        case LinkTechnology::CPU_INTERCONNECT:
            if (rate < LEAST_CPU || rate > MOST_CPU)
            {
                m_doubts.Add("links of processors of less than 3.2 or more than 450 GB/s",
                             name,
                             is);
            }
            break;
        }
        if (link.delayPs > MOST_DELAY_PS || (link.delayPs > 0 && link.delayPs < LEAST_DELAY_PS))
        {
            m_doubts.Add("links with a delay below 1 ns or above 100 us",
                         name,
                         std::to_string(link.delayPs) + " ps");
        }
    }

    const Cluster& m_cluster;
    Doubts m_doubts;
};

} // namespace

std::vector<std::string>
FindRateDoubts(const Cluster& cluster)
{
    return Finder(cluster).Find();
}

} // namespace proteus
} // namespace ns3
