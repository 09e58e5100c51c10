/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RUN_NOTES_H
#define PROTEUS_RUN_NOTES_H

#include "proteus-program-options.h"
#include "proteus-typed-network.h"

#include "ns3/proteus-executor.h"
#include "ns3/proteus-loss-account.h"
#include "ns3/proteus-note-counts.h"

#include <cstdint>
#include <functional>
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
 * While it lives, it hears what executors did not honour of what was set. What holds for all runs
 * of one of them is known in the end. As warnings do, it belongs to the process as a whole; runs
 * may end in several threads.
 */
class RunNotes
{
  public:
    /// @param typed about the network, for HearAlone(); Hear() has it from its program
    /// @param workloads the folder workloads/; empty: ListExpected() has no distances from packets
    explicit RunNotes(TypedNetwork typed = {}, std::string workloads = "");
    ~RunNotes();

    RunNotes(const RunNotes&) = delete;
    RunNotes& operator=(const RunNotes&) = delete;

    /**
     * To be called after each run of a program; does what is said above if there is an object.
     * @param options of the program
     * @param executor that has run
     * @param settings of the run
     * @param cluster that it ran on
     * @param graph that was run
     * @param record of the run; its notes get what FindUnusedNetwork() finds, and what else that
     * was typed changes nothing
     */
    static void Hear(const ProgramOptions& options,
                     const Executor& executor,
                     const ExecutorSettings& settings,
                     const Cluster& cluster,
                     const ExecutionGraph& graph,
                     RunRecord& record);

    /**
     * The same for what is run without a graph of ProgramOptions.
     * @param executor name of the executor that has run, or that would send such packets
     * @param settings of the run
     * @param cluster that it ran on
     * @param graph that was run; null: there was none
     * @param record of the run, with links, crossed, network and notes
     * @param printsLosses whether the program does so itself
     */
    static void HearAlone(const std::string& executor,
                          const ExecutorSettings& settings,
                          const Cluster& cluster,
                          const ExecutionGraph* graph,
                          const RunRecord& record,
                          bool printsLosses = false);

    /// To be called for each job of a program whose memory was to be ignored. @param fits whether
    /// it fits into memory
    static void HearMemory(bool fits);

    /// To be called for the job of a run. @param lines what to expect of it, see
    /// ProgramOptions::NotePublishedErrors()
    static void HearExpected(const std::vector<std::string>& lines);

    /// @return what holds for all runs of an executor, each line once, and ListOfJobs(); what runs
    /// lost and sent again; and what their records say beside that, with the number of runs that
    /// do: for programs that do not print the notes of each run
    std::vector<std::string> List() const;

    /// @return what HearExpected() has heard, and, if no run had packets, how far such runs are
    /// from packets, with the number of runs: for the same programs
    std::vector<std::string> ListExpected() const;

    /// @return what holds for all jobs, whatever runs them
    std::vector<std::string> ListOfJobs() const;

    /// @return ListOfJobs() of the object that lives, if there is one
    static std::vector<std::string> FindOfJobs();

  private:
    /// Of one executor, or of jobs.
    struct Heard
    {
        uint32_t runs{0};                         //!< how many there were
        std::map<std::string, uint32_t> of;       //!< by line: in how many of them
        NoteCounts remarks;                       //!< what their records say
        std::map<std::string, uint32_t> settings; //!< by FindComparedSetting(): of how many runs
        uint32_t lossyRuns{0};                    //!< that lost packets, or sent some again
        LossAccount losses;                       //!< of these

        /// @param lines get those of all runs
        void AddCommonTo(std::vector<std::string>& lines) const;

        /// @param executor whose they are @param lines get losses and remarks
        void AddResultsTo(const std::string& executor, std::vector<std::string>& lines) const;

        /// @param executor whose they are @param workloads see RunNotes() @param lines get how far
        /// runs are from packets
        void AddDistancesTo(const std::string& executor,
                            const std::string& workloads,
                            std::vector<std::string>& lines) const;

        /// @param some of the runs @return see DescribePart()
        std::string DescribeCount(uint32_t some) const;
    };

    /// @param executor that has run @param notes of its record, but those that Note() gets
    static void NoteRemarks(const std::string& executor, const std::vector<std::string>& notes);

    /// @param executor that has run @param setting see FindComparedSetting()
    static void NoteSetting(const std::string& executor, const std::string& setting);

    /// @param executor that has run @param links what they carried @param network what endpoints
    /// counted
    static void NoteLosses(const std::string& executor,
                           const std::vector<LinkStatistics>& links,
                           const NetworkStatistics& network);

    /// @param executor that has run; empty: a job, before any runs it @param lines what it did not
    /// honour
    static void Note(const std::string& executor, const std::vector<std::string>& lines);

    mutable std::mutex m_mutex;
    TypedNetwork m_typed;                 //!< see RunNotes()
    std::string m_workloads;              //!< see RunNotes()
    std::map<std::string, Heard> m_heard; //!< by name of the executor
    NoteCounts m_expected;                //!< see HearExpected()
    RunNotes* m_before;                   //!< who heard until then, or null
};

/// @ingroup proteus
/// @param some of what a sentence holds for @param all that there are @param thing one of them
/// @return the begin of the sentence, "in 1 of 3 runs: "; empty if these are all
std::string DescribePart(uint64_t some, uint64_t all, const std::string& thing);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RUN_NOTES_H
