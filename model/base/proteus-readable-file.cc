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
    return error ? reason : "it is a link to " + target.string() + ": " + reason;
}

} // namespace proteus
} // namespace ns3
