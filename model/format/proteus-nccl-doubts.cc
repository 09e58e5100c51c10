/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-doubts.h"

#include "proteus-nccl-values.h"

#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-whole-number.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param element any @return where it begins, for a warning
std::string
GetPlace(const XmlElement& element)
{
    return "line " + std::to_string(element.line);
}

/// @param pci a device @param name of elements @return whether there is one right below it
bool
Has(const XmlElement& pci, const std::string& name)
{
    return std::any_of(pci.children.begin(), pci.children.end(), [&name](const XmlElement& child) {
        return child.name == name;
    });
}

/// Of a kind of doubt: how many, and the first one.
class Doubt
{
  public:
    /// @param what it is about, of the first one
    void Add(const std::string& what)
    {
        if (m_count++ == 0)
        {
            m_first = what;
        }
    }

    /// @param lines get a line if there was one @param thing one of them @param rest of the line
    void AddTo(std::vector<std::string>& lines,
               const std::string& thing,
               const std::string& rest) const
    {
        if (m_count > 0)
        {
            lines.push_back(FormatThings(m_count, thing) + rest + ": " +
                            (m_count > 1 ? "the first is that of " : "that of ") + m_first);
        }
    }

  private:
    uint64_t m_count{0};
    std::string m_first;
};

/// Walks through a file.
class Finder
{
  public:
    explicit Finder(const XmlDocument& document)
        : m_document(document)
    {
        Look(document.GetRoot());
    }

    std::vector<std::string> List()
    {
        std::vector<std::string> lines;
        m_sameNets.AddTo(lines,
                         "NIC",
                         " with the dev of another one, numbered in the order of the file");
        m_sameCpus.AddTo(lines, "CPU", " with the numaid of another one, which counts besides");
        m_sameBuses.AddTo(lines, "device", " with the busid of another one");
        m_otherKinds.AddTo(
            lines,
            "PCI device",
            " whose class is that of another thing than it has inside, which counts");
        m_hidden.AddTo(lines, "element", " not read, since it is beside a GPU or a NIC");
        m_leftOut.AddTo(lines, "PCI device", " left out, neither a GPU, a NIC nor a switch");
        m_unknownSpeeds.AddTo(lines,
                              "PCI device",
                              " of unknown speed, taken for 8 GT/s as in NCCL");
        m_unknownWidths.AddTo(lines, "PCI device", " of unknown lanes, taken for 16 as in NCCL");
        m_noLinks.AddTo(lines, "NVLink", " with a count of 0 left out");
        m_latencies.AddTo(lines,
                          "NIC",
                          " whose latency is not heeded; --netPlugin, or the attribute "
                          "PluginLatency, says what a plug-in takes");
        m_fewConnections.AddTo(lines,
                               "NIC",
                               " whose maxconn, of fewer than the 64 channels that NCCL may have, "
                               "is not heeded");
        m_sockets.AddTo(lines,
                        "interface",
                        " that NCCL used by sockets (port 0, maxconn 65536), simulated as a NIC "
                        "with RDMA of that speed");
        m_oddSpeeds.AddTo(lines,
                          "NIC",
                          " of less than 1 or more than 1600 Gb/s (speed is in Mb/s, 100000 for "
                          "100 Gb/s)");
        m_otherRdma.AddTo(lines, "device", " whose gdr is neither 0 nor 1, taken for 1");
        m_sameRanks.AddTo(lines, "GPU", " with the rank of another one, whose devs count");
        if (m_hosts.size() > 1)
        {
            lines.push_back("has the host_hash of " + std::to_string(m_hosts.size()) +
                            " servers, and is read as one");
        }
        std::stable_sort(m_ranks.begin(), m_ranks.end(), [](const auto& x, const auto& y) {
            return x.first < y.first;
        });
        if (!std::is_sorted(m_ranks.begin(), m_ranks.end(), [](const auto& x, const auto& y) {
                return x.second < y.second;
            }))
        {
            lines.emplace_back("the ranks of GPUs are in another order than their devs, which "
                               "count");
        }
        return lines;
    }

  private:
    void Look(const XmlElement& element)
    {
        if (element.name == "pci")
        {
            LookAtPci(element);
        }
        else if (element.name == "net")
        {
            const std::string* dev = element.Find("dev");
            if (dev != nullptr && !dev->empty() && !m_nets.insert(*dev).second)
            {
                m_sameNets.Add(GetPlace(element));
            }
            constexpr uint64_t LEAST_MBPS = 1000;
            constexpr uint64_t MOST_MBPS = 1600000;
            const uint64_t speed = NcclValues(m_document).GetWhole(element, "speed", 0, UINT32_MAX);
            if (speed != 0 && (speed < LEAST_MBPS || speed > MOST_MBPS))
            {
                m_oddSpeeds.Add(GetPlace(element));
            }
            // Of so many channels no NIC of the model runs out: MAXCHANNELS of NCCL, src/include/
            // device.h.
            constexpr uint64_t MOST_CHANNELS = 64;
            if (NcclValues(m_document).GetWhole(element, "maxconn", MOST_CHANNELS, UINT32_MAX) <
                MOST_CHANNELS)
            {
                m_fewConnections.Add(GetPlace(element));
            }
            // What NCCL's own transport over sockets says of an interface (NVIDIA/nccl v2.30.7,
            // src/transport/net_socket.cc, ncclNetSocketGetProperties). Ports of verbs begin at 1.
            constexpr uint64_t SOCKET_CONNECTIONS = 65536;
            const std::string* port = element.Find("port");
            if (port != nullptr && *port == "0" &&
                NcclValues(m_document).GetWhole(element, "maxconn", 0, UINT32_MAX) ==
                    SOCKET_CONNECTIONS)
            {
                m_sockets.Add(GetPlace(element));
            }
            const std::string* latency = element.Find("latency");
            if (latency != nullptr && latency->find_first_not_of("0.") != std::string::npos)
            {
                m_latencies.Add(GetPlace(element)); // microseconds, as its plug-in told NCCL
            }
        }
        else if (element.name == "cpu")
        {
            const std::string host = GetLower(element, "host_hash");
            const std::string numa = GetLower(element, "numaid");
            for (const char* key : {"numaid", "familyid"})
            {
                CheckNumber(element, key);
            }
            if (!numa.empty() && !m_numas.insert(host + ' ' + numa).second)
            {
                m_sameCpus.Add(GetPlace(element));
            }
            if (!host.empty())
            {
                m_hosts.insert(host);
            }
        }
        else if (element.name == "nvlink")
        {
            constexpr uint64_t MOST = 1000000;
            if (NcclValues(m_document).GetWhole(element, "count", 1, MOST) == 0)
            {
                m_noLinks.Add(GetPlace(element));
            }
        }
        else if (element.name == "gpu")
        {
            constexpr uint64_t MOST = 1000000;
            const NcclValues values(m_document);
            const uint64_t dev = values.GetWhole(element, "dev", m_ranks.size(), MOST);
            const uint64_t rank = values.GetWhole(element, "rank", dev, MOST);
            if (std::any_of(m_ranks.begin(), m_ranks.end(), [rank](const auto& other) {
                    return other.second == rank;
                }))
            {
                m_sameRanks.Add(GetPlace(element));
            }
            m_ranks.emplace_back(dev, rank);
        }
        const std::string* gdr = element.Find("gdr");
        if (gdr != nullptr && *gdr != "0" && *gdr != "1")
        {
            m_otherRdma.Add(GetPlace(element));
        }
        for (const XmlElement& child : element.children)
        {
            Look(child);
        }
    }

    /// A number that nothing is computed of; NCCL writes -1 where it does not know one.
    void CheckNumber(const XmlElement& element, const std::string& attribute) const
    {
        const std::string* text = element.Find(attribute);
        if (text != nullptr && !text->empty() && !ParseWholeNumber<int64_t>(*text))
        {
            m_document.Fail(element,
                            attribute + " must be a whole number, not " + QuotedText(*text));
        }
    }

    void LookAtPci(const XmlElement& pci)
    {
        const std::string deviceClass = GetLower(pci, "class");
        if (!deviceClass.empty() &&
            (deviceClass.size() < 6 || deviceClass.size() > 8 || deviceClass.rfind("0x", 0) != 0 ||
             deviceClass.find_first_not_of("0123456789abcdef", 2) != std::string::npos))
        {
            m_document.Fail(pci,
                            "class must be like 0x030200 (a GPU), 0x020700 (a NIC) or 0x060400 (a "
                            "switch), not " +
                                QuotedText(deviceClass));
        }
        const std::string kind = deviceClass.substr(0, 4);
        const std::string busid = GetLower(pci, "busid");
        if (!busid.empty() && !m_buses.insert(busid).second)
        {
            m_sameBuses.Add(GetPlace(pci));
        }
        const bool isGpu = Has(pci, "gpu");
        const bool isNic = !isGpu && Has(pci, "nic");
        const bool isSwitch = !isGpu && !isNic && Has(pci, "pci");
        if (!kind.empty() && ((isGpu && kind != "0x03") || (isNic && kind != "0x02") ||
                              (isSwitch && (kind == "0x03" || kind == "0x02"))))
        {
            m_otherKinds.Add(GetPlace(pci));
        }
        for (const XmlElement& child : pci.children)
        {
            if ((child.name == "pci" && (isGpu || isNic)) || (child.name == "nic" && isGpu))
            {
                m_hidden.Add(GetPlace(child));
            }
        }
        // What has nothing inside is what its class says. Disks carry nothing here.
        const bool isRead = isGpu || isNic || isSwitch || kind == "0x03" || kind == "0x02";
        if (!isRead && kind != "0x01")
        {
            m_leftOut.Add(GetPlace(pci));
        }
        if (isGpu || isNic || isSwitch)
        {
            const std::string speed = GetLower(pci, "link_speed");
            if (speed.empty() || speed.rfind("unknown", 0) == 0)
            {
                m_unknownSpeeds.Add(GetPlace(pci));
            }
            constexpr uint64_t MOST_LANES = 32;
            if (NcclValues(m_document).GetWhole(pci, "link_width", 0, MOST_LANES) == 0)
            {
                m_unknownWidths.Add(GetPlace(pci));
            }
        }
    }

    const XmlDocument& m_document;
    std::set<std::string> m_nets;                       //!< numbers of ports
    std::set<std::string> m_numas;                      //!< servers and numbers of CPUs
    std::set<std::string> m_buses;                      //!< ids of devices
    std::vector<std::pair<uint64_t, uint64_t>> m_ranks; //!< dev and rank of GPUs
    std::set<std::string> m_hosts;                      //!< hashes of the names of servers
    Doubt m_sameNets;
    Doubt m_sameCpus;
    Doubt m_sameBuses;
    Doubt m_otherKinds;
    Doubt m_hidden;
    Doubt m_leftOut;
    Doubt m_unknownSpeeds;
    Doubt m_unknownWidths;
    Doubt m_noLinks;
    Doubt m_latencies;
    Doubt m_oddSpeeds;
    Doubt m_otherRdma;
    Doubt m_fewConnections;
    Doubt m_sockets;
    Doubt m_sameRanks;
};

} // namespace

std::vector<std::string>
FindNcclDoubts(const XmlDocument& document)
{
    return Finder(document).List();
}

} // namespace proteus
} // namespace ns3
