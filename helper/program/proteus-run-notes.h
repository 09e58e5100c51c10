/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RUN_NOTES_H
#define PROTEUS_RUN_NOTES_H

#include "proteus-program-options.h"

#include "ns3/proteus-executor.h"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the runs of a program did not come to, of what was set.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param options of a program, with the words that were typed
 * @param traits of an executor that has run
 * @param cluster that it ran on
 * @param links that the run recorded; empty: the executor knows no single link
 * @return a line for each option of the network between servers, and for --stream, that was typed
 * and changes nothing in this run
 */
std::vector<std::string> FindUnusedNetwork(const ProgramOptions& options,
                                           const ExecutorTraits& traits,
                                           const Cluster& cluster,
                                           const std::vector<LinkStatistics>& links);

/**
 * @ingroup proteus
 * While it lives, it hears what executors did not honour of what was set. What holds for all runs
 * of one of them is known in the end. As warnings do, it belongs to the process as a whole; runs
 * may end in several threads.
 */
class RunNotes
{
  public:
    RunNotes();
    ~RunNotes();

    RunNotes(const RunNotes&) = delete;
    RunNotes& operator=(const RunNotes&) = delete;

    /**
     * To be called after each run of a program; does what is said above if there is an object.
     * @param options of the program
     * @param executor that has run
     * @param settings of the run
     * @param cluster that it ran on
     * @param record of the run; its notes get what FindUnusedNetwork() finds
     */
    static void Hear(const ProgramOptions& options,
                     const Executor& executor,
                     const ExecutorSettings& settings,
                     const Cluster& cluster,
                     RunRecord& record);

    /**
     * The same for what sends packets without an executor.
     * @param settings of the run
     * @param cluster that it ran on
     * @param links what they carried
     */
    static void HearPackets(const ExecutorSettings& settings,
                            const Cluster& cluster,
                            const std::vector<LinkStatistics>& links);

    /// @return what holds for all runs of an executor, each line once
    std::vector<std::string> List() const;

  private:
    /// Of one executor.
    struct Heard
    {
        uint32_t runs{0};                   //!< how many there were
        std::map<std::string, uint32_t> of; //!< by line: in how many of them
    };

    /// @param executor that has run @param lines what it did not honour
    static void Note(const std::string& executor, const std::vector<std::string>& lines);

    mutable std::mutex m_mutex;
    std::map<std::string, Heard> m_heard; //!< by name of the executor
    RunNotes* m_before;                   //!< who heard until then, or null
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RUN_NOTES_H
