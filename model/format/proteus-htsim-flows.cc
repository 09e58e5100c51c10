/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-htsim-flows.h"

#include "proteus-hpcc-words.h"
#include "proteus-htsim-topology.h"

#include "ns3/proteus-nearest-name.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint64_t MAX_FLOWS = 0x7fffffff;
constexpr uint64_t MAX_BYTES = uint64_t{1} << 50;
constexpr double MAX_PS = 1e18; //!< eleven days, as in other lists
const std::vector<std::string> HEAD{"Nodes", "Connections", "Triggers", "Failures"};
const std::vector<std::string>
    KEYS{"id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger", "prio", "msg"};

/// A trigger: what starts connections.
struct Trigger
{
    uint64_t line{0};              //!< where it stands; 0: nowhere
    std::string type;              //!< "oneshot", ...
    uint64_t count{0};             //!< of a barrier
    std::vector<uint32_t> fires;   //!< positions of flows that fire it
    std::vector<uint32_t> started; //!< positions of flows that it starts
};

/// Reads a matrix, line by line.
class Reader
{
  public:
    Reader(TextReader& reader, uint32_t ranks)
        : m_reader(reader),
          m_words(reader),
          m_ranks(ranks)
    {
    }

    std::vector<FlowSpec> Read(const std::string& first)
    {
        for (auto line = m_words.Split(first); !line.empty(); line = m_words.NextLine())
        {
            m_line = line.front().line;
            ReadLine(line);
        }
        CheckCount("Connections", m_flows.size());
        CheckCount("Triggers", m_nTriggers);
        CheckNodes();
        if (m_flows.empty())
        {
            Fail(m_line, "there is no flow in the file");
        }
        for (auto& [id, trigger] : m_triggers)
        {
            Resolve(id, trigger);
        }
        if (const auto cycle = FindFlowCycle(m_flows); !cycle.empty())
        {
            Fail(m_lines[cycle[0]], "the connection waits, by its triggers, for itself");
        }
        if (m_priorityLine > 0)
        {
            m_words.Warn(m_priorityLine, "prio is not read: here all have one traffic class");
        }
        return std::move(m_flows);
    }

  private:
    [[noreturn]] void Fail(uint64_t line, const std::string& cause) const
    {
        m_words.Fail(line, cause);
    }

    void ReadLine(const std::vector<HpccWord>& line)
    {
        const std::string& word = line[0].text;
        if (word.find("->") != std::string::npos)
        {
            ReadConnection(line);
        }
        else if (word == "trigger")
        {
            ReadTrigger(line);
        }
        else if (word == "failure")
        {
            Fail(m_line, "failures of links are not read: proteus-run --scenario has them");
        }
        else if (std::find(HEAD.begin(), HEAD.end(), word) != HEAD.end())
        {
            ReadHead(line);
        }
        else if (IsHtsimTopologyWord(word) || word == "Tier")
        {
            Fail(m_line, "this is a topology of htsim, which --cluster reads");
        }
        else
        {
            Fail(m_line,
                 HpccWords::Shown(line[0]) +
                     " begins none of 'SRC->DST ...', 'trigger ...' and 'Connections N'");
        }
    }

    void ReadHead(const std::vector<HpccWord>& line)
    {
        if (line.size() != 2)
        {
            Fail(m_line, "must be '" + line[0].text + " N'");
        }
        const uint64_t count = m_words.ToWhole(line[1], line[0].text, MAX_FLOWS);
        if (!m_head.emplace(line[0].text, std::make_pair(count, m_line)).second)
        {
            Fail(m_line, line[0].text + " is there already");
        }
        if (line[0].text == "Nodes" && count > m_ranks)
        {
            Fail(m_line,
                 "the matrix is of " + std::to_string(count) + " nodes, and the cluster has " +
                     std::to_string(m_ranks) + " GPUs or hosts");
        }
    }

    /// @param key of the head @param count what there is
    void CheckCount(const std::string& key, uint64_t count) const
    {
        const auto said = m_head.find(key);
        if (said == m_head.end() ? count > 0 : said->second.first != count)
        {
            Fail(said == m_head.end() ? m_line : said->second.second,
                 "there are " + std::to_string(count) + ", and '" + key + "' says " +
                     (said == m_head.end() ? "nothing" : std::to_string(said->second.first)));
        }
    }

    void CheckNodes() const
    {
        const auto nodes = m_head.find("Nodes");
        if (nodes == m_head.end())
        {
            Fail(m_line, "there is no line 'Nodes N'");
        }
        const auto& [n, line] = nodes->second;
        if (n < m_ranks)
        {
            m_words.Warn(line,
                         "the matrix is of " + std::to_string(n) + " nodes, which are the first " +
                             "of the " + std::to_string(m_ranks) + " of the cluster");
        }
    }

    /// @param line of a connection @param i position in it @param key what it must be a value of
    /// @return the value @throw std::invalid_argument if there is none
    const HpccWord& GetValue(const std::vector<HpccWord>& line,
                             std::size_t i,
                             const std::string& key) const
    {
        if (i >= line.size())
        {
            Fail(m_line, "'" + key + "' has no value");
        }
        return line[i];
    }

    /// @param text of a node @return its rank
    uint32_t ToRank(const std::string& text) const
    {
        const auto nodes = m_head.find("Nodes");
        const uint64_t n = nodes == m_head.end() ? m_ranks : nodes->second.first;
        const uint64_t rank = m_words.ToWhole({text, m_line}, "an end of a connection", MAX_FLOWS);
        if (rank >= n || rank >= m_ranks)
        {
            Fail(m_line,
                 "there is no node " + text + ": there are " +
                     std::to_string(std::min<uint64_t>(n, m_ranks)) + ", from 0 on");
        }
        return static_cast<uint32_t>(rank);
    }

    /// @param word a start @return it, picoseconds
    int64_t ToPs(const HpccWord& word) const
    {
        const double start = m_reader.ToNumber(word.text, "start", MAX_PS);
        if (start != std::floor(start))
        {
            Fail(m_line,
                 "start: " + HpccWords::Shown(word) +
                     " is no whole number of picoseconds, in which htsim reads it");
        }
        return static_cast<int64_t>(start);
    }

    /// @param word an id @param what of which thing @return it
    uint64_t ToId(const HpccWord& word, const std::string& what) const
    {
        const uint64_t id = m_words.ToWhole(word, "the id of a " + what, 0xffffffff);
        if (id == 0)
        {
            Fail(m_line, "the id of a " + what + " must be above 0");
        }
        return id;
    }

    void ReadConnection(const std::vector<HpccWord>& line)
    {
        const auto position = static_cast<uint32_t>(m_flows.size());
        const std::string& ends = line[0].text;
        const std::size_t arrow = ends.find("->");
        FlowSpec flow;
        flow.id = "line" + std::to_string(m_line);
        flow.source = ToRank(ends.substr(0, arrow));
        flow.destination = ToRank(ends.substr(arrow + 2));
        if (flow.source == flow.destination)
        {
            Fail(m_line, "a connection from node " + std::to_string(flow.source) + " to itself");
        }
        std::set<std::string> seen;
        for (std::size_t i = 1; i < line.size(); i += 2)
        {
            const std::string& key = line[i].text;
            if (std::find(KEYS.begin(), KEYS.end(), key) == KEYS.end())
            {
                Fail(m_line,
                     HpccWords::Shown(line[i]) +
                         " is no key of a connection: " + Suggest(key, KEYS));
            }
            if (!seen.insert(key).second)
            {
                Fail(m_line, "'" + key + "' stands there twice");
            }
            ReadKey(key, GetValue(line, i + 1, key), position, flow);
        }
        CheckConnection(seen, flow);
        if (!m_ids.insert(flow.id).second)
        {
            Fail(m_line, "the id " + flow.id + " is used already");
        }
        m_flows.push_back(std::move(flow));
        m_lines.push_back(m_line);
    }

    /// @param key of a connection @param value of it @param position of the flow @param flow to set
    void ReadKey(const std::string& key, const HpccWord& value, uint32_t position, FlowSpec& flow)
    {
        if (key == "id")
        {
            flow.id = std::to_string(ToId(value, "connection"));
        }
        else if (key == "start")
        {
            flow.startPs = ToPs(value);
        }
        else if (key == "size")
        {
            flow.bytes = m_words.ToWhole(value, "the size", MAX_BYTES);
        }
        else if (key == "trigger")
        {
            m_triggers[ToId(value, "trigger")].started.push_back(position);
        }
        else if (key == "send_done_trigger" || key == "recv_done_trigger")
        {
            m_triggers[ToId(value, "trigger")].fires.push_back(position);
            flow.release =
                key == "send_done_trigger" ? FlowRelease::ACKNOWLEDGEMENT : FlowRelease::RECEIVE;
        }
        else if (key == "prio")
        {
            m_words.ToWhole(value, "prio", 0xffffffff);
            m_priorityLine = m_priorityLine == 0 ? m_line : m_priorityLine;
        }
        else
        {
            Fail(m_line, "messages of a connection (msg) are not read: make each a connection");
        }
    }

    /// @param seen keys of a connection @param flow what they say
    void CheckConnection(const std::set<std::string>& seen, const FlowSpec& flow) const
    {
        if (seen.count("size") == 0 || flow.bytes == 0)
        {
            Fail(m_line,
                 seen.count("size") == 0
                     ? "the connection has no size"
                     : "a connection of no bytes: htsim sends without end then; give its size");
        }
        if (seen.count("start") == seen.count("trigger"))
        {
            Fail(m_line, "a connection must have one of 'start' and 'trigger'");
        }
        if (seen.count("send_done_trigger") > 0 && seen.count("recv_done_trigger") > 0)
        {
            Fail(m_line,
                 "a connection that fires triggers both when it is sent and when it is received "
                 "is not read");
        }
    }

    void ReadTrigger(const std::vector<HpccWord>& line)
    {
        uint64_t id = 0;
        Trigger read;
        read.line = m_line;
        for (std::size_t i = 1; i < line.size(); ++i)
        {
            const std::string& word = line[i].text;
            if (word == "id" && id == 0)
            {
                id = ToId(GetValue(line, ++i, word), "trigger");
            }
            else if (word == "count" && read.count == 0)
            {
                read.count = m_words.ToWhole(GetValue(line, ++i, word), word, MAX_FLOWS);
            }
            else if ((word == "oneshot" || word == "multishot" || word == "barrier") &&
                     read.type.empty())
            {
                read.type = word;
            }
            else
            {
                Fail(m_line,
                     HpccWords::Shown(line[i]) +
                         ": a trigger has 'id N', one of oneshot, multishot and barrier, and, of "
                         "a barrier, 'count N'");
            }
        }
        if (id == 0 || read.type.empty() || (read.type == "barrier") != (read.count > 0))
        {
            Fail(m_line,
                 "a trigger must have 'id N', one of oneshot, multishot and barrier, and, of a "
                 "barrier alone, 'count N'");
        }
        Trigger& trigger = m_triggers[id];
        if (trigger.line > 0)
        {
            Fail(m_line,
                 "trigger " + std::to_string(id) + " is there already, in line " +
                     std::to_string(trigger.line));
        }
        trigger.line = read.line;
        trigger.type = read.type;
        trigger.count = read.count;
        ++m_nTriggers;
    }

    /// @param id of a trigger @param trigger whose connections get their dependencies
    void Resolve(uint64_t id, const Trigger& trigger)
    {
        const std::string name = "trigger " + std::to_string(id);
        if (trigger.line == 0)
        {
            const uint32_t user =
                trigger.started.empty() ? trigger.fires.front() : trigger.started.front();
            Fail(m_lines[user], "there is no " + name);
        }
        if (trigger.started.empty())
        {
            m_words.Warn(trigger.line, name + " starts nothing");
            return;
        }
        const std::size_t n = trigger.fires.size();
        if (n == 0)
        {
            Fail(trigger.line, "nothing fires " + name + ", for which connections wait");
        }
        if (trigger.type == "barrier" && trigger.count != n)
        {
            Fail(trigger.line,
                 name + " counts " + std::to_string(trigger.count) + ", and " + std::to_string(n) +
                     " connections fire it: " +
                     (trigger.count > n ? "it never fires"
                                        : "that only some of them count is not read"));
        }
        if (trigger.type != "barrier" && n > 1)
        {
            Fail(trigger.line,
                 std::to_string(n) + " connections fire " + name + " (" + trigger.type +
                     "), which " +
                     (trigger.type == "oneshot" ? "waits for the first of them"
                                                : "starts others each time") +
                     "; only a barrier that counts them all is read");
        }
        for (const uint32_t flow : trigger.started)
        {
            m_flows[flow].after = trigger.fires;
        }
    }

    TextReader& m_reader;
    HpccWords m_words;
    const uint32_t m_ranks;
    uint64_t m_line{0};                                          //!< the present one
    std::map<std::string, std::pair<uint64_t, uint64_t>> m_head; //!< numbers and their lines
    std::map<uint64_t, Trigger> m_triggers;                      //!< by their ids
    uint64_t m_nTriggers{0};                                     //!< those that stand there
    uint64_t m_priorityLine{0};                                  //!< the first with a priority
    std::vector<FlowSpec> m_flows;
    std::vector<uint64_t> m_lines; //!< where the flows stand
    std::set<std::string> m_ids;
};

} // namespace

bool
IsHtsimMatrix(const std::string& line)
{
    const std::string word = line.substr(0, line.find_first_of(" \t\r"));
    return std::find(HEAD.begin(), HEAD.end(), word) != HEAD.end() || IsHtsimTopologyWord(word);
}

std::vector<FlowSpec>
ReadHtsimFlows(TextReader& reader, const std::string& first, uint32_t ranks)
{
    return Reader(reader, ranks).Read(first);
}

} // namespace proteus
} // namespace ns3
