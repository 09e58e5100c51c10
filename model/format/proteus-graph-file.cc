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

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <sys/stat.h>

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

Format
FormatOf(const std::string& path)
{
    if (EndsWith(path, ".json"))
    {
        return Format::JSON;
    }
    if (EndsWith(path, ".pb"))
    {
        return Format::PROTOBUF;
    }
    throw std::invalid_argument(path + ": the name of a graph file must end in .json or .pb");
}

bool
IsDirectory(const std::string& path)
{
    struct stat status;
    return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

} // namespace

void
SaveGraph(const ExecutionGraph& graph, const std::string& path)
{
    const Format format = FormatOf(path);
    WriteFile(path, [&](std::ostream& out) {
        format == Format::JSON ? WriteGraphJson(graph, out) : WriteGraphProtobuf(graph, out);
    });
}

ExecutionGraph
LoadGraph(const std::string& path)
{
    const Format format = FormatOf(path);
    if (IsDirectory(path))
    {
        throw std::invalid_argument(path + ": cannot be read: it is a directory");
    }
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in)
    {
        throw std::invalid_argument(path + ": cannot be read: " + std::strerror(errno));
    }
    InputFile file(in, path); // refuses what has no end
    return format == Format::JSON ? ReadGraphJson(file.GetStream(), path)
                                  : ReadGraphProtobuf(file.GetStream(), path);
}

} // namespace proteus
} // namespace ns3
