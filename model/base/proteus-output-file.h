/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OUTPUT_FILE_H
#define PROTEUS_OUTPUT_FILE_H

#include <functional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>

/**
 * @file
 * @ingroup proteus
 * Files that are written whole or not at all.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A file or a folder that cannot be written. What it says begins with the path.
class OutputError : public std::invalid_argument
{
  public:
    /// @param path of it @param cause follows the path
    OutputError(std::string path, const std::string& cause)
        : std::invalid_argument(path + ": " + cause),
          m_path(std::move(path))
    {
    }

    /// @return the path of it
    const std::string& GetPath() const
    {
        return m_path;
    }

  private:
    std::string m_path;
};

/**
 * @ingroup proteus
 * Writes a file, which appears, or replaces another one, only when it is whole. The content goes to
 * a temporary file beside it, which is renamed in the end, or deleted after an error. A symbolic
 * link is followed. What is no regular file, such as /dev/stdout or a pipe, is written to directly.
 * @param path the file
 * @param write writes the content to the stream, which is in binary mode
 * @throw OutputError "PATH: cannot be written: CAUSE"; the cause may be an exception of
 * `write`
 */
void WriteFile(const std::string& path, const std::function<void(std::ostream&)>& write);

/**
 * @ingroup proteus
 * Checks a stream to a file that grows while a program runs.
 * @param out that was written to, just now
 * @param path of the file
 * @throw OutputError "PATH: cannot be written: CAUSE" if something got lost
 */
void RequireWritten(const std::ostream& out, const std::string& path);

/**
 * @ingroup proteus
 * Finds out, before the work whose result it is for, whether WriteFile() could create a file.
 * Nothing is left behind.
 * @param path the file
 * @throw OutputError "PATH: cannot be written: CAUSE"
 */
void CheckWritable(const std::string& path);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OUTPUT_FILE_H
