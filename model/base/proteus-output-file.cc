/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-output-file.h"

#include "proteus-output-follower.h"
#include "proteus-output-plan.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <random>
#include <system_error>

namespace ns3
{
namespace proteus
{

namespace
{

[[noreturn]] void
FailToWrite(const std::string& path, const std::string& cause)
{
    throw OutputError(path, "cannot be written: " + cause);
}

/// @return why the last call of the system failed
std::string
GetCause()
{
    return errno != 0 ? std::string(std::strerror(errno))
                      : std::string("the output does not take it");
}

/// @param path for errors @param opened file that is written @param write writes the content
void
WriteTo(const std::string& path,
        const std::string& opened,
        const std::function<void(std::ostream&)>& write)
{
    errno = 0;
    std::ofstream out(opened, std::ios::binary | std::ios::trunc);
    if (!out)
    {
        FailToWrite(path, GetCause());
    }
    errno = 0;
    try
    {
        write(out);
    }
    catch (const std::exception& error)
    {
        FailToWrite(path, !out && errno != 0 ? GetCause() : error.what());
    }
    if (out)
    {
        errno = 0; // whatever `write` did with it was no failure to write
        out.close();
    }
    if (!out)
    {
        FailToWrite(path, GetCause());
    }
}

/// A new file next to the one that is to be written; deleted unless it was renamed.
class TemporaryFile
{
  public:
    explicit TemporaryFile(const std::string& target)
        : m_target(target),
          m_path(target + ".partial-" + std::to_string(std::random_device()()))
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

    /// @param path for errors
    void Rename(const std::string& path)
    {
        if (std::rename(m_path.c_str(), m_target.c_str()) != 0)
        {
            FailToWrite(path, std::strerror(errno));
        }
        m_isRenamed = true;
    }

  private:
    std::string m_target;
    std::string m_path;
    bool m_isRenamed{false};
};

/// @param path a file @return the path to write to, empty where it is written to directly
std::string
FindTarget(const std::string& path)
{
    if (path.empty())
    {
        FailToWrite("''", "the name is empty");
    }
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::is_directory(status))
    {
        FailToWrite(path, "it is a directory");
    }
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    {
        return ""; // to replace a device or a pipe by a file would be a disaster
    }
    return std::filesystem::is_symlink(path, error) ? FindRealPath(path) : path;
}

} // namespace

void
RequireWritten(const std::ostream& out, const std::string& path)
{
    if (!out)
    {
        FailToWrite(path, GetCause());
    }
}

void
CheckWritable(const std::string& path)
{
    if (OutputFollower::IsThere())
    {
        return;
    }
    const std::string target = FindTarget(path);
    if (!target.empty())
    {
        const TemporaryFile file(target);
        WriteTo(path, file.GetPath(), [](std::ostream&) {});
    }
}

void
WriteFile(const std::string& path, const std::function<void(std::ostream&)>& write)
{
    if (OutputFollower::IsThere())
    {
        return;
    }
    const std::string target = FindTarget(path);
    if (target.empty())
    {
        WriteTo(path, path, write);
        return;
    }
    TemporaryFile file(target);
    WriteTo(path, file.GetPath(), write);
    file.Rename(path);
}

} // namespace proteus
} // namespace ns3
