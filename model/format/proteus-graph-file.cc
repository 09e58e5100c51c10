/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-file.h"

#include "proteus-graph-json.h"
#include "proteus-graph-protobuf.h"
#include "proteus-input-file.h"

#include "ns3/proteus-compiler-streams.h"
#include "ns3/proteus-graph-representative.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <istream>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

enum class Format
{
    JSON,
    PROTOBUF,
};

/// What else is no graph file.
const char* const ENDS = "the name of a graph file must end in .json or .pb";

/// @param path of a file @return its format; nothing if its name has no such end
std::optional<Format>
FindFormat(const std::string& path)
{
    if (EndsWith(path, ".json"))
    {
        return Format::JSON;
    }
    if (EndsWith(path, ".pb"))
    {
        return Format::PROTOBUF;
    }
    return std::nullopt;
}

/// @param path of a file that is read @return its format, of what is no regular file and has no
/// name of its own, such as a pipe, by its first character; nothing if that cannot be told
std::optional<Format>
FindFormatToRead(const std::string& path)
{
    const auto named = FindFormat(path);
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (named || !std::filesystem::exists(status) || std::filesystem::is_directory(status) ||
        std::filesystem::is_regular_file(status))
    {
        return named;
    }
    InputFile file(path);
    file.GetStream() >> std::ws;
    return file.GetStream().peek() == '{' ? Format::JSON : Format::PROTOBUF;
}

/// What a graph names, of which a task may be.
class Uses
{
  public:
    /// @param count of what there is
    explicit Uses(std::size_t count)
        : m_isUsed(count, false)
    {
    }

    void Add(std::size_t id)
    {
        m_isUsed.at(id) = true;
    }

    /// @param kind of it @param getName of one @return "stream 'a' and 2 more"; empty if all is
    /// used
    template <typename F>
    std::string DescribeUnused(const std::string& kind, F getName) const
    {
        const auto first = std::find(m_isUsed.begin(), m_isUsed.end(), false);
        if (first == m_isUsed.end())
        {
            return "";
        }
        const auto more = std::count(first + 1, m_isUsed.end(), false);
        return kind + " " + getName(static_cast<std::size_t>(first - m_isUsed.begin())) +
               (more > 0 ? " and " + std::to_string(more) + " more" : "");
    }

  private:
    std::vector<bool> m_isUsed;
};

/// @param name of a stream @return whether the compiler gives it to graphs that may not need it
bool
IsOfCompiler(const std::string& name)
{
    const std::vector<std::string> names = COMPILER_STREAMS.List();
    return name == REPRESENTATIVE_STREAM || name == REPRESENTATIVES_STREAM ||
           std::find(names.begin(), names.end(), name) != names.end();
}

/// Names streams, phases and groups of which no task is. @param graph of a file @param path of it
void
WarnOfUnused(const ExecutionGraph& graph, const std::string& path)
{
    Uses streams(graph.GetStreams().size());
    Uses phases(graph.GetPhases().size());
    Uses groups(graph.GetGroups().size());
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        phases.Add(task.phase);
        if (task.kind != TaskKind::MEMORY)
        {
            streams.Add(task.stream);
        }
        if (task.kind == TaskKind::COMMUNICATION)
        {
            groups.Add(task.place);
        }
    }
    for (StreamId stream = 0; stream < graph.GetStreams().size(); ++stream)
    {
        if (IsOfCompiler(graph.GetStreams()[stream]))
        {
            streams.Add(stream);
        }
    }
    std::string text;
    for (const std::string& unused :
         {streams.DescribeUnused("stream",
                                 [&](std::size_t i) { return QuotedText(graph.GetStreams()[i]); }),
          phases.DescribeUnused(
              "phase",
              [&](std::size_t i) { return QuotedText(graph.GetPhases()[i].name); }),
          groups.DescribeUnused("group", [](std::size_t i) { return std::to_string(i); })})
    {
        text += unused.empty() || text.empty() ? unused : ", " + unused;
    }
    if (!text.empty())
    {
        Warn(path + ": no task is of " + text);
    }
}

} // namespace

void
SaveGraph(const ExecutionGraph& graph, const std::string& path)
{
    const auto format = FindFormat(path);
    if (!format)
    {
        throw OutputError(path, ENDS);
    }
    WriteFile(path, [&](std::ostream& out) {
        format == Format::JSON ? WriteGraphJson(graph, out) : WriteGraphProtobuf(graph, out);
    });
}

ExecutionGraph
LoadGraph(const std::string& path)
{
    const auto format = FindFormatToRead(path);
    if (!format)
    {
        throw std::invalid_argument(path + ": " + ENDS +
                                    "; proteus-run reads traces of other programs with --trace");
    }
    InputFile file(path); // refuses what has no end
    ExecutionGraph graph = format == Format::JSON ? ReadGraphJson(file.GetStream(), path)
                                                  : ReadGraphProtobuf(file.GetStream(), path);
    WarnOfUnused(graph, path);
    return graph;
}

} // namespace proteus
} // namespace ns3
