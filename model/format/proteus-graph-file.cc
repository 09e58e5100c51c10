/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-file.h"

#include "proteus-graph-json.h"
#include "proteus-graph-protobuf.h"
#include "proteus-input-file.h"

#include "ns3/proteus-output-file.h"

#include <optional>
#include <stdexcept>

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
    const auto format = FindFormat(path);
    if (!format)
    {
        throw std::invalid_argument(path + ": " + ENDS);
    }
    InputFile file(path); // refuses what has no end
    return format == Format::JSON ? ReadGraphJson(file.GetStream(), path)
                                  : ReadGraphProtobuf(file.GetStream(), path);
}

} // namespace proteus
} // namespace ns3
