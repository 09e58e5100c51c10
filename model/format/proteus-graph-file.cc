/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-file.h"

#include "proteus-graph-json.h"
#include "proteus-graph-protobuf.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
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

bool
EndsWith(const std::string& text, const std::string& end)
{
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

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

[[noreturn]] void
FailToWrite(const std::string& path, const std::string& cause)
{
    throw std::invalid_argument(path + ": cannot be written: " + cause);
}

/// A new file next to the one that is to be written; deleted unless it was renamed.
class TemporaryFile
{
  public:
    explicit TemporaryFile(const std::string& path)
        : m_target(path),
          m_path(path + ".partial-" + std::to_string(std::random_device()()))
    {
    }

    ~TemporaryFile()
    {
        if (!m_isRenamed)
        {
            std::remove(m_path.c_str());
        }
    }

    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::string& GetPath() const
    {
        return m_path;
    }

    void Rename()
    {
        if (std::rename(m_path.c_str(), m_target.c_str()) != 0)
        {
            FailToWrite(m_target, std::strerror(errno));
        }
        m_isRenamed = true;
    }

  private:
    std::string m_target;
    std::string m_path;
    bool m_isRenamed{false};
};

} // namespace

void
SaveGraph(const ExecutionGraph& graph, const std::string& path)
{
    const Format format = FormatOf(path);
    if (IsDirectory(path))
    {
        FailToWrite(path, "it is a directory");
    }
    TemporaryFile file(path);
    errno = 0;
    std::ofstream out(file.GetPath(), std::ios::binary | std::ios::trunc);
    if (!out)
    {
        FailToWrite(path, std::strerror(errno));
    }
    try
    {
        format == Format::JSON ? WriteGraphJson(graph, out) : WriteGraphProtobuf(graph, out);
    }
    catch (const std::invalid_argument& error)
    {
        FailToWrite(path, errno != 0 ? std::strerror(errno) : error.what());
    }
    out.close();
    if (!out)
    {
        FailToWrite(path, errno != 0 ? std::strerror(errno) : "the output does not take it");
    }
    file.Rename();
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
    return format == Format::JSON ? ReadGraphJson(in, path) : ReadGraphProtobuf(in, path);
}

} // namespace proteus
} // namespace ns3
