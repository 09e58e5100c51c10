/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-csv.h"

#include "proteus-hpcc-flows.h"
#include "proteus-htsim-flows.h"
#include "proteus-text-reader.h"

#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-split.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t MAX_LINE = 1 << 20;         //!< characters of a line
constexpr uint32_t MAX_FLOWS = 0x7fffffff;        //!< in a list
constexpr uint64_t MAX_BYTES = uint64_t{1} << 50; //!< of a flow: a pebibyte
constexpr uint64_t MAX_NS = 1000000000000000;     //!< of a start: eleven days
constexpr std::size_t MAX_CYCLE = 8;              //!< flows of a circle that a message names
const std::vector<std::string> COLUMNS{"id", "src", "dst", "bytes", "start_ns", "deps"};

/// Reads a list of flows.
class Reader
{
  public:
    /// @param reader of the file @param ranks that the cluster has
    Reader(TextReader& reader, uint32_t ranks)
        : m_reader(reader),
          m_ranks(ranks)
    {
    }

    /// @return the first line that has something in it, empty for none; Read() goes on with it
    const std::string& Begin()
    {
        if (!ReadLine())
        {
            m_text.clear();
        }
        return m_text;
    }

    /// Reads on after Begin().
    std::vector<FlowSpec> Read()
    {
        bool first = true;
        for (bool isLine = !m_text.empty(); isLine; isLine = ReadLine())
        {
            if (first)
            {
                RequireColumns();
            }
            std::vector<std::string> values = Split(m_text, ',');
            if (first && values[0] == COLUMNS[0])
            {
                CheckHeader(values);
            }
            else
            {
                ReadFlow(values);
            }
            first = false;
        }
        if (m_flows.empty())
        {
            Fail(std::max<uint64_t>(m_line, 1), "there is no flow in the file");
        }
        Resolve();
        return std::move(m_flows);
    }

  private:
    [[noreturn]] void Fail(uint64_t line, const std::string& cause) const
    {
        m_reader.Fail(line, cause);
    }

    /// Says what a file is whose first line has not as many columns as a list of flows, if that is
    /// known.
    void RequireColumns()
    {
        const auto nCommas =
            static_cast<std::size_t>(std::count(m_text.begin(), m_text.end(), ','));
        if (nCommas + 2 < COLUMNS.size())
        {
            const std::string foreign = m_reader.DescribeForeign(m_text);
            const std::string separator = TextReader::DescribeSeparator(m_text);
            if (!foreign.empty() || !separator.empty())
            {
                Fail(m_line, foreign.empty() ? separator : foreign);
            }
        }
    }

    /// @return whether there was another line with something in it
    bool ReadLine()
    {
        while (m_reader.ReadLine(m_text))
        {
            m_line = m_reader.GetLine();
            const std::size_t begin = m_text.find_first_not_of(" \t\r");
            if (begin != std::string::npos && m_text[begin] != '#')
            {
                return true;
            }
        }
        return false;
    }

    /// @param text to cut @param separator where @return the parts, without space and quotes
    std::vector<std::string> Split(const std::string& text, char separator) const
    {
        std::vector<std::string> parts;
        std::size_t begin = 0;
        for (;;)
        {
            const std::size_t end = std::min(text.find(separator, begin), text.size());
            std::string part = Trim(text.substr(begin, end - begin));
            if (part.size() >= 2 && part.front() == '"' && part.back() == '"')
            {
                part = part.substr(1, part.size() - 2);
            }
            if (part.find('"') != std::string::npos)
            {
                Fail(m_line, "a value with a double quote in it: " + QuotedText(part));
            }
            parts.push_back(std::move(part));
            if (end == text.size())
            {
                return parts;
            }
            begin = end + 1;
        }
    }

    void CheckHeader(const std::vector<std::string>& names)
    {
        const bool same = std::equal(names.begin(),
                                     names.end(),
                                     COLUMNS.begin(),
                                     COLUMNS.begin() + std::min(names.size(), COLUMNS.size()));
        if (!same || names.size() + 1 < COLUMNS.size())
        {
            Fail(m_line, "the header must be id,src,dst,bytes,start_ns,deps");
        }
        m_hasDeps = names.size() == COLUMNS.size();
        m_hasHeader = true;
    }

    /// @param name of a column @param text of it @param least value @param most value @return value
    uint64_t ReadNumber(const std::string& name,
                        const std::string& text,
                        uint64_t least,
                        uint64_t most) const
    {
        uint64_t value = 0;
        bool right = !text.empty();
        for (char c : text)
        {
            right = right && c >= '0' && c <= '9';
            const uint64_t digit = static_cast<uint64_t>(c - '0');
            right = right && digit <= most && value <= (most - digit) / 10;
            value = right ? 10 * value + digit : 0;
        }
        if (!right || value < least)
        {
            Fail(m_line,
                 name + ": " + QuotedText(text) + " is not a whole number from " +
                     std::to_string(least) + " to " + std::to_string(most));
        }
        return value;
    }

    /// @param text nanoseconds @return picoseconds
    int64_t ReadTime(const std::string& text) const
    {
        const std::size_t point = text.find('.');
        const std::string whole = text.substr(0, point);
        std::string decimals = point == std::string::npos ? "" : text.substr(point + 1);
        while (!decimals.empty() && decimals.back() == '0')
        {
            decimals.pop_back();
        }
        const bool digits =
            decimals.find_first_not_of("0123456789") == std::string::npos && !whole.empty();
        if (!digits || decimals.size() > 3)
        {
            Fail(m_line,
                 "start_ns: " + QuotedText(text) +
                     (digits ? " is finer than a picosecond"
                             : " is not a number of nanoseconds such as 0 or 12.345"));
        }
        decimals.resize(3, '0');
        return static_cast<int64_t>(ReadNumber("start_ns", whole, 0, MAX_NS) * 1000 +
                                    ReadNumber("start_ns", decimals, 0, 999));
    }

    void ReadFlow(const std::vector<std::string>& values)
    {
        // A last line that may be a part of one needs all that the header has.
        const std::size_t least =
            COLUMNS.size() - (m_hasHeader && m_hasDeps && m_reader.IsCut() ? 0 : 1);
        if (values.size() < least || values.size() > COLUMNS.size())
        {
            Fail(m_line,
                 FormatThings(values.size(), "value") +
                     " instead of the six of id,src,dst,bytes,start_ns,deps");
        }
        if (!m_hasDeps && values.size() == COLUMNS.size() && !values.back().empty())
        {
            Fail(m_line,
                 "deps: " + QuotedText(values.back()) +
                     " stands behind the columns of the header, "
                     "id,src,dst,bytes,start_ns");
        }
        if (m_flows.size() == MAX_FLOWS)
        {
            Fail(m_line, "more than " + std::to_string(MAX_FLOWS) + " flows");
        }
        FlowSpec flow;
        flow.id = values[0];
        if (flow.id.empty() || flow.id.find_first_of(" \t;") != std::string::npos)
        {
            Fail(m_line,
                 "id: " + QuotedText(flow.id) + " is not a name without spaces and semicolons");
        }
        const auto position = static_cast<uint32_t>(m_flows.size());
        const auto inserted = m_positions.emplace(flow.id, position);
        if (!inserted.second)
        {
            Fail(m_line,
                 "id: " + QuotedText(flow.id) + " is used already in line " +
                     std::to_string(m_lines[inserted.first->second]));
        }
        flow.source = static_cast<uint32_t>(ReadNumber("src", values[1], 0, m_ranks - 1));
        flow.destination = static_cast<uint32_t>(ReadNumber("dst", values[2], 0, m_ranks - 1));
        if (flow.source == flow.destination)
        {
            Fail(m_line, "a flow from rank " + values[1] + " to itself");
        }
        flow.bytes = ReadNumber("bytes", values[3], 1, MAX_BYTES);
        flow.startPs = ReadTime(values[4]);
        m_flows.push_back(std::move(flow));
        m_lines.push_back(m_line);
        m_dependencies.push_back(values.size() == COLUMNS.size() ? values.back() : "");
    }

    /// Finds the flows that flows depend on.
    void Resolve()
    {
        for (std::size_t i = 0; i < m_flows.size(); ++i)
        {
            if (m_dependencies[i].empty())
            {
                continue;
            }
            m_line = m_lines[i];
            auto& after = m_flows[i].after;
            for (const std::string& id : Split(m_dependencies[i], ';'))
            {
                const auto found = m_positions.find(id);
                if (found == m_positions.end())
                {
                    Fail(m_line, "deps: there is no flow " + QuotedText(id));
                }
                after.push_back(found->second);
            }
            std::sort(after.begin(), after.end());
            const auto twice = std::adjacent_find(after.begin(), after.end());
            if (twice != after.end())
            {
                Fail(m_line, "deps: " + QuotedText(m_flows[*twice].id) + " stands there twice");
            }
        }
        const std::vector<uint32_t> cycle = FindFlowCycle(m_flows);
        if (!cycle.empty())
        {
            std::string names;
            for (std::size_t i = 0; i < std::min(cycle.size(), MAX_CYCLE); ++i)
            {
                names += QuotedText(m_flows[cycle[i]].id) + " waits for ";
            }
            names += cycle.size() > MAX_CYCLE
                         ? std::to_string(cycle.size() - MAX_CYCLE) + " others and "
                         : "";
            Fail(m_lines[cycle[0]], "deps: " + names + QuotedText(m_flows[cycle[0]].id));
        }
    }

    TextReader& m_reader;
    uint32_t m_ranks;
    std::string m_text;      //!< of the present line
    uint64_t m_line{0};      //!< its number
    bool m_hasHeader{false}; //!< names of columns above the flows
    bool m_hasDeps{true};    //!< whether the header, if there is one, has dependencies
    std::vector<FlowSpec> m_flows;
    std::vector<uint64_t> m_lines;           //!< where the flows stand
    std::vector<std::string> m_dependencies; //!< as they stand there
    std::unordered_map<std::string, uint32_t> m_positions;
};

/// @param ps picoseconds, -1 for none @param out gets them as nanoseconds
void
WriteTime(int64_t ps, std::string& out)
{
    out += ',';
    if (ps >= 0)
    {
        const std::string decimals = std::to_string(ps % 1000);
        out += std::to_string(ps / 1000) + "." + std::string(3 - decimals.size(), '0') + decimals;
    }
}

void
CheckRanks(const std::string& fileName, uint32_t ranks)
{
    if (ranks < 2)
    {
        throw std::invalid_argument(fileName + ": flows need a cluster of at least two GPUs");
    }
}

} // namespace

std::vector<FlowSpec>
ReadFlowCsv(std::istream& input, const std::string& fileName, uint32_t ranks)
{
    CheckRanks(fileName, ranks);
    TextReader text(input, fileName, MAX_LINE);
    Reader reader(text, ranks);
    reader.Begin();
    return reader.Read();
}

std::vector<FlowSpec>
LoadFlows(const std::string& path, const Cluster& cluster)
{
    const auto ranks = static_cast<uint32_t>(cluster.GetGpus().size());
    CheckRanks(path, ranks);
    TextReader text(path, MAX_LINE);
    Reader reader(text, ranks);
    const std::string& first = reader.Begin();
    if (IsHtsimMatrix(first))
    {
        return ReadHtsimFlows(text, first, ranks);
    }
    return IsHpccFlowCount(first) ? ReadHpccFlows(text, first, cluster) : reader.Read();
}

void
WriteFlowCsv(const std::vector<FlowSpec>& flows,
             const std::vector<FlowTimes>& times,
             std::ostream& out)
{
    out << "id,src,dst,bytes,start_ns,rx_done_ns,ack_done_ns\n";
    std::string line;
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        line = flows[i].id + "," + std::to_string(flows[i].source) + "," +
               std::to_string(flows[i].destination) + "," + std::to_string(flows[i].bytes);
        WriteTime(times[i].startPs, line);
        WriteTime(times[i].receivedPs, line);
        WriteTime(times[i].acknowledgedPs, line);
        line += '\n';
        out << line;
    }
}

} // namespace proteus
} // namespace ns3
