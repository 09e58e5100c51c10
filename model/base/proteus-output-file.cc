/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-output-file.h"

#include "proteus-output-follower.h"
#include "proteus-partial-file.h"

#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>

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
    const PartialFile file(path);
    if (!file.IsDirect())
    {
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
    PartialFile file(path);
    WriteTo(path, file.GetPath(), write);
    file.Finish();
}

} // namespace proteus
} // namespace ns3
