/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PARTIAL_FILE_H
#define PROTEUS_PARTIAL_FILE_H

#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A file that is written, and gets its name when it is whole: until then it has another one beside
 * it, NAME.partial-N. If it is not finished, it is deleted, and what had the name before is still
 * there. A symbolic link is followed. What is no regular file, such as /dev/stdout or a pipe, is
 * written to directly: to replace it would be a disaster.
 */
class PartialFile
{
  public:
    /**
     * @param path the name it will have
     * @throw OutputError "PATH: cannot be written: CAUSE" if no file can have it
     */
    explicit PartialFile(const std::string& path);
    ~PartialFile();

    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;

    /// @return where to write to
    const std::string& GetPath() const
    {
        return m_path;
    }

    /// @return whether that is the name itself
    bool IsDirect() const
    {
        return m_target.empty();
    }

    /**
     * Gives the file its name, after it was closed or flushed.
     * @throw OutputError "PATH: cannot be written: CAUSE"
     */
    void Finish();

  private:
    std::string m_name;       //!< as it was given
    std::string m_target;     //!< what the file becomes; empty for what is written to directly
    std::string m_path;       //!< where it is written
    bool m_isFinished{false}; //!< Finish()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PARTIAL_FILE_H
