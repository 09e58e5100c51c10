/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TEMPORARY_FILE_H
#define PROTEUS_TEMPORARY_FILE_H

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace ns3
{
namespace proteus
{

/// A file that is gone when the test ends.
class TemporaryFile
{
  public:
    /// @param suffix of its name @param text that it holds
    TemporaryFile(const std::string& suffix, const std::string& text)
        : m_path(testing::TempDir() + "proteus-" + std::to_string(getpid()) + "-test" + suffix)
    {
        std::ofstream(m_path) << text;
    }

    ~TemporaryFile()
    {
        std::remove(m_path.c_str());
    }

    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::string& GetPath() const
    {
        return m_path;
    }

  private:
    std::string m_path;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TEMPORARY_FILE_H
