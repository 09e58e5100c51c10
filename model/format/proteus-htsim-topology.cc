/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-htsim-topology.h"

#include "proteus-hpcc-words.h"

#include "ns3/proteus-nearest-name.h"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <map>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t MOST_TIERS = 3;
constexpr uint64_t MOST_LINKS = uint64_t{1} << 24;
const std::vector<std::string> HEAD{"nodes", "tiers", "podsize"};

/// What a tier may say, and how much of it at most.
const std::map<std::string, uint64_t> TIER_KEYS{{"downlink_speed_gbps", 100000},
                                                {"radix_down", MAX_SERVERS},
                                                {"radix_up", MAX_SERVERS},
                                                {"downlink_latency_ns", 1000000000},
                                                {"switch_latency_ns", 1000000000},
                                                {"oversubscribed", MAX_SERVERS},
                                                {"bundle", MAX_SERVERS},
                                                {"queue_up", uint64_t{1} << 40},
                                                {"queue_down", uint64_t{1} << 40}};

/// A number of the file, and where it stands.
struct Entry
{
    uint64_t value{0};
    uint64_t line{0};
};

/// Numbers of the head, or of a tier, by their keys in lower case.
using Entries = std::map<std::string, Entry>;

/// Reads a topology, line by line.
class Reader
{
  public:
    Reader(std::istream& input, const std::string& fileName, const HpccTopologyOptions& options)
        : m_reader(input, fileName),
          m_words(m_reader),
          m_fileName(fileName),
          m_options(options)
    {
    }

    Cluster Read()
    {
        for (auto line = m_words.NextLine(); !line.empty(); line = m_words.NextLine())
        {
            m_lastLine = line.front().line;
            ReadLine(line);
        }
        CheckHead();
        for (std::size_t tier = 0; tier < m_nTiers; ++tier)
        {
            CheckTier(tier);
        }
        FindCounts();
        CheckSize();
        WarnOfQueues();
        return Build();
    }

  private:
    [[noreturn]] void Fail(uint64_t line, const std::string& cause) const
    {
        m_words.Fail(line, cause);
    }

    void ReadLine(const std::vector<HpccWord>& line)
    {
        const std::string key = boost::algorithm::to_lower_copy(line[0].text);
        if (key == "connections" || key == "triggers" ||
            line[0].text.find("->") != std::string::npos)
        {
            Fail(line[0].line,
                 "this is a connection matrix of htsim, which proteus-flows --flows reads");
        }
        if (line.size() != 2)
        {
            Fail(line[0].line,
                 std::to_string(line.size()) + " words instead of the two of 'KEY NUMBER'");
        }
        if (key == "tier")
        {
            const uint64_t tier = m_words.ToWhole(line[1], "the tier", MOST_TIERS - 1);
            if (!m_tiers.emplace(tier, Entries()).second)
            {
                Fail(line[0].line, "tier " + line[1].text + " is there already");
            }
            m_tier = &m_tiers[tier];
            m_tierLines[tier] = line[0].line;
            return;
        }
        const bool isHead = std::find(HEAD.begin(), HEAD.end(), key) != HEAD.end();
        const auto known = TIER_KEYS.find(key);
        if (!isHead && known == TIER_KEYS.end())
        {
            std::vector<std::string> names = HEAD;
            names.emplace_back("tier");
            for (const auto& [name, most] : TIER_KEYS)
            {
                names.push_back(name);
            }
            Fail(line[0].line,
                 HpccWords::Shown(line[0]) + " is no key of a topology: " + Suggest(key, names));
        }
        if (!isHead && m_tier == nullptr)
        {
            Fail(line[0].line, HpccWords::Shown(line[0]) + " must stand below a line 'Tier N'");
        }
        Entries& entries = isHead ? m_head : *m_tier;
        const uint64_t most = isHead ? MAX_SERVERS : known->second;
        const Entry entry{m_words.ToWhole(line[1], line[0].text, most), line[0].line};
        const auto [place, isNew] = entries.emplace(key, entry);
        if (!isNew)
        {
            Fail(line[0].line,
                 HpccWords::Shown(line[0]) + " is there already, in line " +
                     std::to_string(place->second.line));
        }
    }

    void CheckHead()
    {
        for (const std::string& key : HEAD)
        {
            if (m_head.count(key) == 0 || m_head[key].value == 0)
            {
                Fail(m_head.count(key) > 0 ? m_head[key].line : std::max<uint64_t>(m_lastLine, 1),
                     "there must be a line '" + key + " N', N above 0");
            }
        }
        const Entry tiers = m_head["tiers"];
        if (tiers.value != 2 && tiers.value != MOST_TIERS)
        {
            Fail(tiers.line, "there are topologies of 2 and 3 tiers");
        }
        m_nTiers = tiers.value;
        for (const auto& [tier, entries] : m_tiers)
        {
            if (tier >= m_nTiers)
            {
                Fail(m_tierLines[tier],
                     "there are " + std::to_string(m_nTiers) + " tiers, from 0 on");
            }
        }
        for (std::size_t tier = 0; tier < m_nTiers; ++tier)
        {
            if (m_tiers.count(tier) == 0)
            {
                Fail(m_lastLine, "there is no tier " + std::to_string(tier));
            }
        }
    }

    /// @param tier which one @param key of it @return its number; 0 if it is left out
    uint64_t Get(std::size_t tier, const std::string& key) const
    {
        const Entries& entries = m_tiers.at(tier);
        const auto found = entries.find(key);
        return found == entries.end() ? 0 : found->second.value;
    }

    /// @param tier which one @return links from one of its switches to the same one below
    uint64_t GetBundle(std::size_t tier) const
    {
        return m_tiers.at(tier).count("bundle") > 0 ? Get(tier, "bundle") : 1;
    }

    /// @param tier which one @param key of it @return the line where it stands, or the tier begins
    uint64_t GetLine(std::size_t tier, const std::string& key) const
    {
        const auto found = m_tiers.at(tier).find(key);
        return found == m_tiers.at(tier).end() ? m_tierLines.at(tier) : found->second.line;
    }

    /// What must be there, and not, in a tier by itself.
    void CheckTier(std::size_t tier) const
    {
        const bool isTop = tier + 1 == m_nTiers;
        for (const char* key : {"downlink_speed_gbps", "radix_down", "radix_up", "bundle"})
        {
            const bool isUp = std::string(key) == "radix_up";
            const bool isThere = m_tiers.at(tier).count(key) > 0;
            if (isUp && isTop && isThere)
            {
                Fail(GetLine(tier, key), "nothing is above the last tier: leave 'Radix_Up' away");
            }
            const bool mayLack = (isUp && isTop) || (std::string(key) == "bundle" && !isThere);
            if (!mayLack && Get(tier, key) == 0)
            {
                Fail(GetLine(tier, key),
                     "tier " + std::to_string(tier) + " needs a '" + key + "' above 0");
            }
        }
        if (m_tiers.at(tier).count("downlink_latency_ns") == 0)
        {
            Fail(m_tierLines.at(tier),
                 "tier " + std::to_string(tier) + " has no 'downlink_latency_ns'");
        }
        if (tier == 0 && GetBundle(0) != 1)
        {
            Fail(GetLine(0, "bundle"), "hosts have one link each: leave 'Bundle' of tier 0 away");
        }
    }

    /// @param number to divide @param divisor of it @param line to blame @param what both are
    /// @return the quotient, which must be whole
    uint64_t Divide(uint64_t number, uint64_t divisor, uint64_t line, const std::string& what) const
    {
        if (number % divisor != 0)
        {
            Fail(line,
                 what + ": " + std::to_string(number) + " is no multiple of " +
                     std::to_string(divisor));
        }
        return number / divisor;
    }

    /// Refuses numbers that contradict each other. @param tier whose it is @param key of it
    /// @param follows what the others say @param from which ones, for the message
    void CheckFollows(std::size_t tier,
                      const std::string& key,
                      uint64_t follows,
                      const std::string& from) const
    {
        if (Get(tier, key) != follows)
        {
            Fail(GetLine(tier, key),
                 key + " of tier " + std::to_string(tier) + " is " +
                     std::to_string(Get(tier, key)) + ", but from " + from + " follows " +
                     std::to_string(follows));
        }
    }

    /// @param tier below another one; its 'Oversubscribed' must be what the rest says
    void CheckRatio(std::size_t tier) const
    {
        const uint64_t down = Get(tier, "radix_down") * Get(tier, "downlink_speed_gbps");
        const uint64_t up = Get(tier, "radix_up") * Get(tier + 1, "downlink_speed_gbps");
        if (m_tiers.at(tier).count("oversubscribed") > 0 &&
            down != up * Get(tier, "oversubscribed"))
        {
            Fail(GetLine(tier, "oversubscribed"),
                 "a switch of tier " + std::to_string(tier) + " has " + std::to_string(down) +
                     " Gb/s down and " + std::to_string(up) + " up, which is not " +
                     std::to_string(Get(tier, "oversubscribed")) + " to 1");
        }
    }

    void FindCounts()
    {
        const uint64_t podSize = m_head["podsize"].value;
        const uint64_t line = m_head["podsize"].line;
        m_nHosts = m_head["nodes"].value;
        m_nPods = Divide(m_nHosts, podSize, line, "nodes and podsize");
        m_torsPerPod =
            Divide(podSize, Get(0, "radix_down"), line, "podsize and radix_down of tier 0");
        m_aggsPerPod = Divide(Get(0, "radix_up"),
                              GetBundle(1),
                              GetLine(0, "radix_up"),
                              "radix_up of tier 0 and bundle of tier 1");
        CheckFollows(1,
                     "radix_down",
                     m_torsPerPod * GetBundle(1),
                     "podsize, radix_down of tier 0 and bundle");
        for (std::size_t tier = 0; tier + 1 < m_nTiers; ++tier)
        {
            CheckRatio(tier);
        }
        if (m_nTiers == 2)
        {
            if (m_nPods > 1)
            {
                Fail(line,
                     "nothing joins the " + std::to_string(m_nPods) + " pods: there are 2 tiers");
            }
            return;
        }
        m_coresPerAgg = Divide(Get(1, "radix_up"),
                               GetBundle(2),
                               GetLine(1, "radix_up"),
                               "radix_up of tier 1 and bundle of tier 2");
        CheckFollows(2, "radix_down", m_nPods * GetBundle(2), "nodes, podsize and bundle");
    }

    /// Before anything is made of them.
    void CheckSize() const
    {
        const uint64_t nLinks = m_nHosts + m_nPods * m_torsPerPod * Get(0, "radix_up") +
                                (m_nTiers == 3 ? m_nPods * m_aggsPerPod * Get(1, "radix_up") : 0);
        if (nLinks > MOST_LINKS)
        {
            Fail(m_head.at("nodes").line,
                 "there would be " + std::to_string(nLinks) + " links, more than " +
                     std::to_string(MOST_LINKS));
        }
    }

    void WarnOfQueues() const
    {
        for (const auto& [tier, entries] : m_tiers)
        {
            for (const char* key : {"queue_up", "queue_down"})
            {
                if (entries.count(key) > 0)
                {
                    m_words.Warn(entries.at(key).line,
                                 std::string(key) +
                                     " is not read: buffers of switches are attributes of "
                                     "ns3::proteus::Fabric");
                    return; // one stands for all
                }
            }
        }
    }

    /// @param cluster to extend @param name of the vertices @param n of them @param kind of them
    /// @return the first one
    VertexId AddVertices(Cluster& cluster,
                         const std::string& name,
                         uint64_t n,
                         VertexKind kind) const
    {
        const auto first = static_cast<VertexId>(cluster.GetVertices().size());
        for (uint64_t i = 0; i < n; ++i)
        {
            Vertex vertex;
            vertex.name = name + std::to_string(i);
            vertex.kind = kind;
            if (kind == VertexKind::GPU)
            {
                vertex.server = static_cast<int32_t>(i);
                vertex.model = m_options.model;
            }
            cluster.AddVertex(vertex);
        }
        return first;
    }

    /// @param cluster to extend @param below one end @param above a switch @param tier of that
    void AddLinks(Cluster& cluster, uint64_t below, uint64_t above, std::size_t tier) const
    {
        constexpr double BYTES_PER_GBIT = 1e9 / 8;
        Link link;
        link.a = static_cast<VertexId>(below);
        link.b = static_cast<VertexId>(above);
        link.technology = LinkTechnology::ROCE;
        link.cost = DefaultCost(link.technology);
        link.framing = MakeNetworkFraming(m_options);
        link.bytesPerSecond =
            static_cast<double>(Get(tier, "downlink_speed_gbps")) * BYTES_PER_GBIT;
        const uint64_t ofSwitches =
            Get(tier, "switch_latency_ns") + (tier > 0 ? Get(tier - 1, "switch_latency_ns") : 0);
        link.delayPs = static_cast<int64_t>(Get(tier, "downlink_latency_ns") * 1000 +
                                            ofSwitches * 500); // half of each
        for (uint64_t i = 0; i < GetBundle(tier); ++i)
        {
            cluster.AddLink(link);
        }
    }

    Cluster Build() const
    {
        Cluster cluster(m_fileName.substr(m_fileName.find_last_of('/') + 1));
        try
        {
            AddAll(cluster);
            cluster.Validate();
        }
        catch (const std::invalid_argument& error)
        {
            Fail(m_head.at("nodes").line, error.what());
        }
        return cluster;
    }

    void AddAll(Cluster& cluster) const
    {
        const uint64_t nTors = m_nPods * m_torsPerPod;
        const uint64_t nAggs = m_nPods * m_aggsPerPod;
        AddVertices(cluster, "host", m_nHosts, VertexKind::GPU);
        const VertexId tors = AddVertices(cluster, "tor", nTors, VertexKind::SWITCH);
        const VertexId aggs = AddVertices(cluster, "agg", nAggs, VertexKind::SWITCH);
        const VertexId cores =
            AddVertices(cluster, "core", m_aggsPerPod * m_coresPerAgg, VertexKind::SWITCH);
        for (uint64_t host = 0; host < m_nHosts; ++host)
        {
            AddLinks(cluster, host, tors + host / Get(0, "radix_down"), 0);
        }
        for (uint64_t tor = 0; tor < nTors; ++tor)
        {
            const uint64_t firstAgg = tor / m_torsPerPod * m_aggsPerPod;
            for (uint64_t k = 0; k < m_aggsPerPod; ++k)
            {
                AddLinks(cluster, tors + tor, aggs + firstAgg + k, 1);
            }
        }
        for (uint64_t agg = 0; agg < nAggs; ++agg)
        {
            for (uint64_t k = 0; k < m_coresPerAgg; ++k)
            {
                AddLinks(cluster, aggs + agg, cores + agg % m_aggsPerPod + k * m_aggsPerPod, 2);
            }
        }
    }

    TextReader m_reader;
    HpccWords m_words;
    const std::string& m_fileName;
    const HpccTopologyOptions& m_options;
    uint64_t m_lastLine{0};
    Entries m_head;
    std::map<std::size_t, Entries> m_tiers;
    std::map<std::size_t, uint64_t> m_tierLines; //!< where they begin
    Entries* m_tier{nullptr};                    //!< of the present line
    std::size_t m_nTiers{0};
    uint64_t m_nHosts{0};
    uint64_t m_nPods{0};
    uint64_t m_torsPerPod{0};
    uint64_t m_aggsPerPod{0};
    uint64_t m_coresPerAgg{0}; //!< 0 of two tiers
};

} // namespace

bool
IsHtsimTopologyWord(const std::string& word)
{
    const std::string key = boost::algorithm::to_lower_copy(word);
    return std::find(HEAD.begin(), HEAD.end(), key) != HEAD.end();
}

Cluster
ReadHtsimTopology(std::istream& input,
                  const std::string& fileName,
                  const HpccTopologyOptions& options)
{
    return Reader(input, fileName, options).Read();
}

} // namespace proteus
} // namespace ns3
