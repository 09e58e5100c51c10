/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHILD_PROCESSES_H
#define PROTEUS_CHILD_PROCESSES_H

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A child process that has ended.
struct EndedChild
{
    std::size_t key{0}; //!< as Start() was given it
    int exitCode{0};    //!< of its main(); 0 if a signal ended it
    int signal{0};      //!< that ended it, or 0
    double wallS{0};    //!< seconds that it ran
};

/**
 * @ingroup proteus
 * Child processes. They end when this object goes, and when this process dies (on Linux even if it
 * is killed).
 */
class ChildProcesses
{
  public:
    ChildProcesses() = default;
    ~ChildProcesses();

    ChildProcesses(const ChildProcesses&) = delete;
    ChildProcesses& operator=(const ChildProcesses&) = delete;

    /**
     * Starts a process. Its standard output goes nowhere.
     * @param key by which Poll() names it
     * @param command program with its path, and arguments
     * @param folder that it works in
     * @param errors file for its standard error output
     * @throw std::runtime_error if it cannot be started
     */
    void Start(std::size_t key,
               const std::vector<std::string>& command,
               const std::string& folder,
               const std::string& errors);

    /// @return a child that has ended since the last call, if there is one
    std::optional<EndedChild> Poll();

    /// @return how many run
    std::size_t GetCount() const
    {
        return m_children.size();
    }

  private:
    /// A child that runs.
    struct Child
    {
        std::size_t key{0};     //!< as given
        double startSeconds{0}; //!< of a steady clock
    };

    std::map<pid_t, Child> m_children; //!< by process
};

/// @ingroup proteus
/// @param fallback argv[0] of this program @return the path of its file
std::string GetOwnPath(const std::string& fallback);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHILD_PROCESSES_H
