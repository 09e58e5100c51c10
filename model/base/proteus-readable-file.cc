/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-readable-file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace ns3
{
namespace proteus
{

bool
IsReadable(const std::string& path)
{
    return access(path.c_str(), R_OK) == 0;
}

std::string
DescribeUnreadable(const std::string& path)
{
    errno = 0;
    const std::string reason = IsReadable(path) ? "" : std::strerror(errno);
    std::error_code error;
    const auto target = std::filesystem::read_symlink(path, error);
    if (const std::string home = DescribeHome(path); !home.empty())
    {
        return reason + "; " + home;
    }
    return error ? reason : "it is a link to " + target.string() + ": " + reason;
}

std::string
DescribeHome(const std::string& path)
{
    std::error_code none; // what cannot be looked at is not there
    const bool isHome = path == "~" || path.compare(0, 2, "~/") == 0;
    return isHome && !std::filesystem::exists("~", none)
               ? "the shell puts the home folder only in the place of a ~ that begins a word: "
                 "write $HOME" +
                     path.substr(1)
               : "";
}

} // namespace proteus
} // namespace ns3
