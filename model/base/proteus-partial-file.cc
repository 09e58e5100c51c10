/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-partial-file.h"

#include "proteus-output-file.h"
#include "proteus-output-plan.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param path a file @return the path that it has in the end, empty where it is written to
/// directly
std::string
FindTarget(const std::string& path)
{
    if (path.empty())
    {
        throw OutputError("''", "cannot be written: the name is empty");
    }
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::is_directory(status))
    {
        throw OutputError(path, "cannot be written: it is a directory");
    }
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    {
        return "";
    }
    return std::filesystem::is_symlink(path, error) ? FindRealPath(path) : path;
}

} // namespace

PartialFile::PartialFile(const std::string& path)
    : m_name(path),
      m_target(FindTarget(path)),
      m_path(m_target.empty() ? path
                              : m_target + ".partial-" + std::to_string(std::random_device()()))
{
}

PartialFile::~PartialFile()
{
    if (!IsDirect() && !m_isFinished)
    {
        std::remove(m_path.c_str());
    }
}

void
PartialFile::Finish()
{
    if (!IsDirect() && std::rename(m_path.c_str(), m_target.c_str()) != 0)
    {
        throw OutputError(m_name, std::string("cannot be written: ") + std::strerror(errno));
    }
    m_isFinished = true;
}

} // namespace proteus
} // namespace ns3
