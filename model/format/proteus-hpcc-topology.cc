/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-hpcc-topology.h"

#include "ns3/proteus-gpu-model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t MAX_SHOWN = 40; //!< characters of a word that a message shows
constexpr double MOST_SECONDS = 1000; //!< of delay
constexpr double MOST_BYTES_PER_S = 1e15;
constexpr uint32_t MOST_NODES = 1u << 24;

/// A word of the file.
struct Word
{
    std::string text;
    uint64_t line;
};

/// A unit at the end of a number.
struct Unit
{
    const char* name;
    double factor;
};

constexpr Unit TIME_UNITS[] =
    {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}, {"", 1}};

constexpr Unit RATE_UNITS[] = {{"bps", 1}, {"b/s", 1}, {"Bps", 8}, {"B/s", 8}};

constexpr Unit RATE_PREFIXES[] = {{"", 1},
                                  {"k", 1e3},
                                  {"K", 1e3},
                                  {"M", 1e6},
                                  {"G", 1e9},
                                  {"T", 1e12},
                                  {"Ki", 1024.0},
                                  {"Mi", 1048576.0},
                                  {"Gi", 1073741824.0},
                                  {"Ti", 1099511627776.0}};

/// The words of a file, one after the other.
class Words
{
  public:
    Words(std::istream& input, const std::string& fileName)
        : m_input(input),
          m_fileName(fileName)
    {
    }

    /// @param line where @param cause what is wrong @throw std::invalid_argument
    [[noreturn]] void Fail(uint64_t line, const std::string& cause) const
    {
        throw std::invalid_argument(m_fileName + ":" + std::to_string(line) + ": " + cause);
    }

    /// @return all words of the next line that has some; empty at the end of the file
    std::vector<Word> NextLine()
    {
        m_words.clear();
        m_next = 0;
        while (m_words.empty() && ReadLine())
        {
        }
        std::vector<Word> words = m_words;
        m_words.clear();
        return words;
    }

    /// @param what the word must be, for the message @return the next word
    Word Next(const char* what)
    {
        while (m_next == m_words.size())
        {
            m_words.clear();
            m_next = 0;
            if (!ReadLine())
            {
                Fail(std::max<uint64_t>(m_line, 1),
                     std::string("the file ends where ") + what + " must follow");
            }
        }
        return m_words[m_next++];
    }

    /// @param word a number @param what it is @param most largest one @return it
    uint64_t ToWhole(const Word& word, const std::string& what, uint64_t most) const
    {
        const bool isNumber = !word.text.empty() && word.text.size() <= 18 &&
                              std::all_of(word.text.begin(), word.text.end(), [](char c) {
                                  return c >= '0' && c <= '9';
                              });
        const uint64_t value = isNumber ? std::stoull(word.text) : 0;
        if (!isNumber || value > most)
        {
            Fail(word.line,
                 what + " must be a whole number from 0 to " + std::to_string(most) + ", not " +
                     Shown(word));
        }
        return value;
    }

    /// @param word a number and what follows it @param what it is @param unit gets what follows
    /// @return the number
    double ToNumber(const Word& word, const std::string& what, std::string& unit) const
    {
        std::istringstream text(word.text);
        text.imbue(std::locale::classic());
        // A stream takes the E of "1Ebps" and fails; no unit begins with one.
        double value = 0;
        const bool isNumber = static_cast<bool>(text >> value);
        unit.clear();
        text >> unit;
        if (!isNumber || !std::isfinite(value) || value < 0)
        {
            Fail(word.line, what + " must begin with a number, 0 or above, not " + Shown(word));
        }
        return value;
    }

    /// @param word a probability @return it
    double ToProbability(const Word& word) const
    {
        std::string rest;
        const double value = ToNumber(word, "the error rate", rest);
        if (!rest.empty() || value > 1)
        {
            Fail(word.line, "the error rate must be a number from 0 to 1, not " + Shown(word));
        }
        return value;
    }

    /// @param word a delay @return picoseconds
    int64_t ToPicoseconds(const Word& word) const
    {
        std::string unit;
        const double value = ToNumber(word, "the delay", unit);
        for (const Unit& known : TIME_UNITS)
        {
            if (unit == known.name && value * known.factor <= MOST_SECONDS)
            {
                return std::llround(value * (known.factor * 1e12));
            }
        }
        Fail(word.line,
             "the delay must be a time of at most 1000 s such as 500ns or 0.0005ms, not " +
                 Shown(word));
    }

    /// @param word a rate @return bytes per second
    double ToBytesPerSecond(const Word& word) const
    {
        std::string unit;
        const double value = ToNumber(word, "the rate", unit);
        for (const Unit& prefix : RATE_PREFIXES)
        {
            for (const Unit& known : RATE_UNITS)
            {
                // To a whole byte per second, as in all files.
                const double bytes = std::round(value * prefix.factor * known.factor / 8);
                if (unit == std::string(prefix.name) + known.name && bytes >= 1 &&
                    bytes <= MOST_BYTES_PER_S)
                {
                    return bytes;
                }
            }
        }
        Fail(word.line, "the rate must be above 0 and like 400Gbps or 50GB/s, not " + Shown(word));
    }

    /// @param word to show @return it, in quotes and short
    static std::string Shown(const Word& word)
    {
        std::string shown = "'";
        for (char c : word.text.substr(0, MAX_SHOWN))
        {
            shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
        }
        return shown + (word.text.size() > MAX_SHOWN ? "...'" : "'");
    }

  private:
    /// Adds the words of one line to m_words. @return whether there was one
    bool ReadLine()
    {
        std::string text;
        if (!std::getline(m_input, text))
        {
            return false;
        }
        ++m_line;
        text.resize(std::min(text.find('#'), text.size()));
        std::string word;
        for (char c : text + " ")
        {
            if (c != ' ' && c != '\t' && c != '\r')
            {
                word += c;
            }
            else if (!word.empty())
            {
                m_words.push_back({word, m_line});
                word.clear();
            }
        }
        return true;
    }

    std::istream& m_input;
    const std::string& m_fileName;
    uint64_t m_line{0};
    std::vector<Word> m_words; //!< of the line
    std::size_t m_next{0};     //!< in it
};

} // namespace

Cluster
ReadHpccTopology(std::istream& input,
                 const std::string& fileName,
                 const HpccTopologyOptions& options)
{
    Words words(input, fileName);
    const std::vector<Word> head = words.NextLine();
    if (head.size() != 3 && head.size() != 6)
    {
        words.Fail(head.empty() ? 1 : head.front().line,
                   "the first line must be 'nodes switches links', or 'nodes gpus_per_server "
                   "nvswitches switches links gpu_type'");
    }
    const bool hasServers = head.size() == 6;
    const uint64_t line = head.front().line;
    const uint64_t nNodes = words.ToWhole(head[0], "the number of nodes", MOST_NODES);
    const uint64_t gpusPerServer =
        hasServers ? words.ToWhole(head[1], "the number of GPUs per server", MOST_NODES) : 1;
    const uint64_t nNvSwitches =
        hasServers ? words.ToWhole(head[2], "the number of NVSwitches", nNodes) : 0;
    const uint64_t nSwitches =
        words.ToWhole(head[hasServers ? 3 : 1], "the number of switches", nNodes - nNvSwitches);
    const uint64_t nLinks =
        words.ToWhole(head[hasServers ? 4 : 2], "the number of links", uint64_t{1} << 32);
    const uint64_t nHosts = nNodes - nNvSwitches - nSwitches;
    if (nHosts == 0 || nHosts > MAX_SERVERS)
    {
        words.Fail(line,
                   "there must be 1 to " + std::to_string(MAX_SERVERS) +
                       " nodes that are no switches, not " + std::to_string(nHosts));
    }
    if (gpusPerServer == 0 || nHosts % gpusPerServer != 0)
    {
        words.Fail(line,
                   "the " + std::to_string(nHosts) + " GPUs cannot be divided into servers of " +
                       std::to_string(gpusPerServer));
    }

    std::vector<std::pair<uint64_t, VertexKind>> switches;
    for (uint64_t i = 0; i < nNvSwitches + nSwitches; ++i)
    {
        const Word word = words.Next("the id of a switch");
        switches.emplace_back(words.ToWhole(word, "the id of a switch", nNodes - 1),
                              i < nNvSwitches ? VertexKind::NVSWITCH : VertexKind::SWITCH);
    }
    std::vector<Link> links;
    std::vector<uint64_t> lines; // of the links
    for (uint64_t i = 0; i < nLinks; ++i)
    {
        const Word a = words.Next("a link");
        Link link;
        link.a = static_cast<VertexId>(words.ToWhole(a, "an end of a link", nNodes - 1));
        link.b = static_cast<VertexId>(
            words.ToWhole(words.Next("the other end of a link"), "an end of a link", nNodes - 1));
        link.bytesPerSecond = words.ToBytesPerSecond(words.Next("the rate of a link"));
        link.delayPs = words.ToPicoseconds(words.Next("the delay of a link"));
        link.lossProbability = words.ToProbability(words.Next("the error rate of a link"));
        links.push_back(link);
        lines.push_back(a.line);
    }
    const std::vector<Word> rest = words.NextLine();
    if (!rest.empty())
    {
        words.Fail(rest.front().line,
                   "there is more than the " + std::to_string(nLinks) +
                       " links of the first line: " + Words::Shown(rest.front()));
    }
    // Before anything is made of each node: so many links there must be to join them.
    if (nLinks + 1 < nNodes)
    {
        words.Fail(line,
                   std::to_string(nLinks) + " links cannot join " + std::to_string(nNodes) +
                       " nodes");
    }

    std::vector<VertexKind> kinds(nNodes, VertexKind::GPU);
    for (const auto& [id, kind] : switches)
    {
        if (kinds[id] != VertexKind::GPU)
        {
            words.Fail(line, "switch " + std::to_string(id) + " is listed twice");
        }
        kinds[id] = kind;
    }
    const GpuModel* named = hasServers ? MatchGpuModel(head[5].text) : nullptr;
    const std::string model = named != nullptr ? named->sheet.model : options.model;
    std::vector<int32_t> servers(nNodes, -1);
    uint64_t rank = 0;
    for (std::size_t id = 0; id < kinds.size(); ++id)
    {
        if (kinds[id] == VertexKind::GPU)
        {
            servers[id] = static_cast<int32_t>(rank++ / gpusPerServer);
        }
    }
    // An NVSwitch is in the server of its first GPU.
    for (const Link& link : links)
    {
        for (const auto& [end, other] : {std::pair{link.a, link.b}, {link.b, link.a}})
        {
            if (kinds[end] == VertexKind::NVSWITCH && kinds[other] == VertexKind::GPU &&
                servers[end] < 0)
            {
                servers[end] = servers[other];
            }
        }
    }

    std::string name = fileName.substr(fileName.find_last_of('/') + 1);
    Cluster cluster(name);
    for (std::size_t id = 0; id < kinds.size(); ++id)
    {
        Vertex vertex;
        vertex.name = "node" + std::to_string(id);
        vertex.kind = kinds[id];
        vertex.server = servers[id];
        vertex.model = kinds[id] == VertexKind::GPU ? model : "";
        cluster.AddVertex(vertex);
    }
    for (std::size_t i = 0; i < links.size(); ++i)
    {
        Link& link = links[i];
        const bool isNvlink =
            kinds[link.a] == VertexKind::NVSWITCH || kinds[link.b] == VertexKind::NVSWITCH;
        link.technology = isNvlink ? LinkTechnology::NVLINK : LinkTechnology::ROCE;
        link.cost = DefaultCost(link.technology);
        link.framing = DefaultFraming(link.technology);
        if (!isNvlink)
        {
            link.framing.unitBytes = options.payloadBytes;
            link.framing.packetBytes = options.payloadBytes;
            link.framing.packetHeaderBytes = options.overheadBytes;
            link.framing.controlBytes = options.controlBytes;
        }
        try
        {
            cluster.AddLink(link);
        }
        catch (const std::invalid_argument& error)
        {
            words.Fail(lines[i], error.what());
        }
    }
    try
    {
        cluster.Validate();
    }
    catch (const std::invalid_argument& error)
    {
        words.Fail(line, error.what());
    }
    return cluster;
}

} // namespace proteus
} // namespace ns3
