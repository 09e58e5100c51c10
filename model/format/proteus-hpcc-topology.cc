/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-hpcc-topology.h"

#include "proteus-hpcc-words.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-shown-name.h"

#include <cctype>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint32_t MOST_NODES = 1u << 24;

/// Reads a text topology, part by part.
class HpccReader
{
  public:
    HpccReader(std::istream& input, const std::string& fileName, const HpccTopologyOptions& options)
        : m_reader(input, fileName),
          m_words(m_reader),
          m_fileName(fileName),
          m_options(options)
    {
    }

    Cluster Read()
    {
        ReadHead();
        ReadSwitches();
        ReadLinks();
        // Before anything is made of each node: so many links there must be to join them.
        if (m_links.size() + 1 < m_nNodes)
        {
            m_words.Fail(m_headLine,
                         std::to_string(m_links.size()) + " links cannot join " +
                             std::to_string(m_nNodes) + " nodes");
        }
        FindKinds();
        FindServers();
        return Build();
    }

  private:
    /// Reads the first line.
    void ReadHead()
    {
        const std::vector<HpccWord> head = m_words.NextLine();
        if (head.size() != 3 && head.size() != 4 && head.size() != 6)
        {
            m_words.Fail(head.empty() ? 1 : head.front().line,
                         "the first line must be 'nodes switches links', 'nodes switches tors "
                         "links', with or without two rates behind, or 'nodes gpus_per_server "
                         "nvswitches switches links gpu_type'");
        }
        const bool hasRates = head.size() == 6 && std::isdigit(head[5].text[0]) != 0 &&
                              std::isdigit(head[5].text.back()) != 0;
        const bool hasTors = head.size() == 4 || hasRates;
        const bool hasServers = head.size() == 6 && !hasRates;
        m_headLine = head.front().line;
        m_nNodes = m_words.ToWhole(head[0], "the number of nodes", MOST_NODES);
        if (hasServers)
        {
            m_gpusPerServer = m_words.ToWhole(head[1], "the number of GPUs per server", MOST_NODES);
            m_nNvSwitches = m_words.ToWhole(head[2], "the number of NVSwitches", m_nNodes);
        }
        m_nSwitches = m_words.ToWhole(head[hasServers ? 3 : 1],
                                      "the number of switches",
                                      m_nNodes - m_nNvSwitches);
        if (hasTors) // which follow from the links
        {
            m_words.ToWhole(head[2], "the number of switches that hosts are at", m_nSwitches);
        }
        if (hasRates)
        {
            m_words.ToBytesPerSecond(head[4]);
            m_words.ToBytesPerSecond(head[5]);
            m_words.Warn(m_headLine,
                         "the rates " + head[4].text + " and " + head[5].text +
                             " are not read: each link has its own");
        }
        m_nLinks = m_words.ToWhole(head[hasServers ? 4
                                        : hasTors  ? 3
                                                   : 2],
                                   "the number of links",
                                   uint64_t{1} << 32);
        const GpuModel* named = hasServers ? MatchGpuModel(head[5].text) : nullptr;
        m_model = named != nullptr ? named->sheet.model : m_options.model;
        if (hasServers && named == nullptr)
        {
            m_words.Warn(m_headLine,
                         "the GPU " + QuotedText(head[5].text) +
                             " has no data sheet: its GPUs are taken for " + m_model);
        }
        CheckHosts();
    }

    /// Hosts must be some, and fit into servers.
    void CheckHosts() const
    {
        const uint64_t nHosts = m_nNodes - m_nNvSwitches - m_nSwitches;
        if (nHosts == 0 || nHosts > MAX_SERVERS)
        {
            m_words.Fail(m_headLine,
                         "there must be 1 to " + std::to_string(MAX_SERVERS) +
                             " nodes that are no switches, not " + std::to_string(nHosts));
        }
        if (m_gpusPerServer == 0 || nHosts % m_gpusPerServer != 0)
        {
            m_words.Fail(m_headLine,
                         "the " + std::to_string(nHosts) +
                             " GPUs cannot be divided into servers of " +
                             std::to_string(m_gpusPerServer));
        }
    }

    void ReadSwitches()
    {
        for (uint64_t i = 0; i < m_nNvSwitches + m_nSwitches; ++i)
        {
            const HpccWord word = m_words.Next("the id of a switch");
            m_switches.emplace_back(m_words.ToWhole(word, "the id of a switch", m_nNodes - 1),
                                    i < m_nNvSwitches ? VertexKind::NVSWITCH : VertexKind::SWITCH);
        }
    }

    /// Reads as many links as the first line says.
    void ReadLinks()
    {
        for (uint64_t i = 0; i < m_nLinks; ++i)
        {
            const HpccWord a = m_words.Next("a link");
            const HpccWord b = m_words.Next("the other end of a link");
            Link link;
            link.a = static_cast<VertexId>(m_words.ToWhole(a, "an end of a link", m_nNodes - 1));
            link.b = static_cast<VertexId>(m_words.ToWhole(b, "an end of a link", m_nNodes - 1));
            const HpccWord rate = m_words.Next("the rate of a link");
            link.bytesPerSecond = m_words.ToBytesPerSecond(rate);
            WarnOfRate(rate);
            const HpccWord delay = m_words.Next("the delay of a link");
            link.delayPs = m_words.ToPicoseconds(delay, "the delay");
            WarnOfUnit(delay, link.delayPs);
            link.lossProbability = m_words.ToProbability(m_words.Next("the error rate of a link"));
            m_links.push_back(link);
            m_linkLines.push_back(a.line);
        }
        m_words.WarnOfRest(m_nLinks, "link");
    }

    /// Says once what a rate without a unit is taken for. @param rate as it stands there
    void WarnOfRate(const HpccWord& rate)
    {
        if (!m_hasWarnedOfRate && std::isalpha(rate.text.back()) == 0)
        {
            m_hasWarnedOfRate = true;
            m_words.Warn(rate.line,
                         "the rate " + rate.text +
                             " has no unit and is in bits per second, as ns-3 takes it");
        }
    }

    /// Says once what a delay without a unit is taken for. @param delay as it stands there
    /// @param delayPs what it is
    void WarnOfUnit(const HpccWord& delay, int64_t delayPs)
    {
        if (!m_hasWarnedOfUnit && delayPs > 0 && std::isdigit(delay.text.back()) != 0)
        {
            m_hasWarnedOfUnit = true;
            m_words.Warn(delay.line,
                         "the delay " + delay.text +
                             " has no unit and is in seconds, as ns-3 takes it; 500ns is 5e-7");
        }
    }

    void FindKinds()
    {
        m_kinds.assign(m_nNodes, VertexKind::GPU);
        for (const auto& [id, kind] : m_switches)
        {
            if (m_kinds[id] != VertexKind::GPU)
            {
                m_words.Fail(m_headLine, "switch " + std::to_string(id) + " is listed twice");
            }
            m_kinds[id] = kind;
        }
    }

    /// Consecutive GPUs share a server; an NVSwitch is in the server of its first GPU.
    void FindServers()
    {
        m_servers.assign(m_nNodes, -1);
        uint64_t rank = 0;
        for (std::size_t id = 0; id < m_kinds.size(); ++id)
        {
            if (m_kinds[id] == VertexKind::GPU)
            {
                m_servers[id] = static_cast<int32_t>(rank++ / m_gpusPerServer);
            }
        }
        for (const Link& link : m_links)
        {
            for (const auto& [end, other] : {std::pair{link.a, link.b}, {link.b, link.a}})
            {
                if (m_kinds[end] == VertexKind::NVSWITCH && m_kinds[other] == VertexKind::GPU &&
                    m_servers[end] < 0)
                {
                    m_servers[end] = m_servers[other];
                }
            }
        }
    }

    /// @param link of the file @return it with all that the file does not say
    Link Complete(Link link) const
    {
        const bool isNvlink =
            m_kinds[link.a] == VertexKind::NVSWITCH || m_kinds[link.b] == VertexKind::NVSWITCH;
        link.technology = isNvlink ? LinkTechnology::NVLINK : LinkTechnology::ROCE;
        link.cost = DefaultCost(link.technology);
        link.framing = isNvlink ? DefaultFraming(link.technology) : MakeNetworkFraming(m_options);
        return link;
    }

    Cluster Build() const
    {
        Cluster cluster(m_fileName.substr(m_fileName.find_last_of('/') + 1));
        for (std::size_t id = 0; id < m_kinds.size(); ++id)
        {
            Vertex vertex;
            vertex.name = "node" + std::to_string(id);
            vertex.kind = m_kinds[id];
            vertex.server = m_servers[id];
            vertex.model = m_kinds[id] == VertexKind::GPU ? m_model : "";
            cluster.AddVertex(vertex);
        }
        for (std::size_t i = 0; i < m_links.size(); ++i)
        {
            Try(m_linkLines[i], [&] { cluster.AddLink(Complete(m_links[i])); });
        }
        Try(m_headLine, [&] { cluster.Validate(); });
        return cluster;
    }

    /// @param line to blame if @param action throws
    template <typename F>
    void Try(uint64_t line, F action) const
    {
        try
        {
            action();
        }
        catch (const std::invalid_argument& error)
        {
            m_words.Fail(line, error.what());
        }
    }

    TextReader m_reader;
    HpccWords m_words;
    const std::string& m_fileName;
    const HpccTopologyOptions& m_options;
    uint64_t m_headLine{1};
    uint64_t m_nNodes{0};
    uint64_t m_gpusPerServer{1};
    uint64_t m_nNvSwitches{0};
    uint64_t m_nSwitches{0};
    uint64_t m_nLinks{0};
    std::string m_model; //!< data sheet of the GPUs
    std::vector<std::pair<uint64_t, VertexKind>> m_switches;
    std::vector<Link> m_links;
    std::vector<uint64_t> m_linkLines; //!< where the links stand
    bool m_hasWarnedOfUnit{false};     //!< WarnOfUnit()
    bool m_hasWarnedOfRate{false};     //!< WarnOfRate()
    std::vector<VertexKind> m_kinds;   //!< by node
    std::vector<int32_t> m_servers;    //!< by node
};

} // namespace

LinkFraming
MakeNetworkFraming(const HpccTopologyOptions& options)
{
    LinkFraming framing = DefaultFraming(LinkTechnology::ROCE);
    framing.unitBytes = options.payloadBytes;
    framing.packetBytes = options.payloadBytes;
    framing.packetHeaderBytes = options.overheadBytes;
    framing.controlBytes = options.controlBytes;
    return framing;
}

Cluster
ReadHpccTopology(std::istream& input,
                 const std::string& fileName,
                 const HpccTopologyOptions& options)
{
    return HpccReader(input, fileName, options).Read();
}

} // namespace proteus
} // namespace ns3
