/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OUTPUT_PLAN_H
#define PROTEUS_OUTPUT_PLAN_H

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Files that a program is going to write.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param path of a file or folder, which need not be there
/// @return its one name, links followed, without a slash at its end
std::string FindRealPath(const std::string& path);

/**
 * @ingroup proteus
 * While one lives, this process reads no file that it is going to write over: a file may be named
 * inside of another one, where no option tells. Of several the newest gets what is added. It is
 * made and filled before threads are.
 */
class OutputPlan
{
  public:
    /// Gets the FindRealPath() of a file, and says what would be written over it, as the user has
    /// called it, or an empty text.
    using Finder = std::function<std::string(const std::string& path)>;

    OutputPlan();
    ~OutputPlan();

    OutputPlan(const OutputPlan&) = delete;
    OutputPlan& operator=(const OutputPlan&) = delete;

    /// @param find about outputs; forgotten where no plan lives
    static void Add(Finder find);

    /// @param folder that is about to be made: if nothing is in it when the plan ends, it is taken
    /// away again, and so are those around it that are not there yet; forgotten where no plan lives
    static void AddFolder(const std::string& folder);

    /// Does at once what the newest plan does at its end with AddFolder(), for a handler of signals
    /// that ends the process: it takes no memory and waits for nothing. Where a signal meets
    /// AddFolder(), the folders stay.
    static void RemoveEmptyFolders() noexcept;

    /// @param path of a file that is to be read
    /// @throw std::invalid_argument "PATH: cause" if it is to be written over
    static void CheckInput(const std::string& path);

  private:
    std::vector<Finder> m_finders;
    std::vector<std::filesystem::path> m_folders; //!< AddFolder(), of one the innermost first
    OutputPlan* m_before;                         //!< the one that was the newest, or null
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OUTPUT_PLAN_H
