/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SEARCH_EVALUATION_H
#define PROTEUS_SEARCH_EVALUATION_H

#include "proteus-model-options.h"
#include "proteus-program-options.h"

#include "ns3/proteus-breakdown.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-paths.h"

#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Strategies of a search, compiled and run.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a run of a strategy shows.
struct SearchRun
{
    double seconds{0};              //!< of an iteration
    double modelFlopUtilisation{0}; //!< share of the peak of all GPUs
    uint64_t peakMemoryBytes{0};    //!< of the fullest GPU
    MeanBreakdown mean;             //!< over the GPUs
    std::string failure;            //!< why there is no run; empty where there is one
};

/// @ingroup proteus
/// A small job that stands for a strategy, see ReducePlan().
struct ReducedJob
{
    ParallelPlan plan;                  //!< of the small job
    std::function<TrainingPlan()> make; //!< model and strategy of the small job
    double scale{1};                    //!< time of the strategy by formula, in that of the small
                                        //!< job by formula
    SearchRun estimate;                 //!< of the strategy, by formula
};

/// @ingroup proteus
/// A strategy to evaluate.
struct SearchCandidate
{
    std::string name;                   //!< e.g. "Megatron's recipe"; empty for what was found
    std::string strategy;               //!< in short form
    std::function<TrainingPlan()> make; //!< model and strategy
    std::function<void(std::ostream&)> write; //!< the strategy as JSON
    uint64_t devices{1};                      //!< GPUs
    double analyticS{0};                      //!< time of an iteration by formula
    std::optional<ParallelPlan> plan;         //!< if it is one
    ReducedJob job;                           //!< where a reduced run is wanted
    SearchRun reduced;                        //!< by a reduced run, where evaluated
    SearchRun flow;                           //!< by flows, where evaluated
    SearchRun packet;                         //!< by packets, where evaluated
};

/**
 * @ingroup proteus
 * Compiles and runs candidates, and remembers the results in a file, so that a search that was
 * stopped goes on where it was.
 */
class SearchEvaluation
{
  public:
    /**
     * @param options of the program
     * @param cluster to run on; must outlive this object
     * @param memoryBytes that a GPU has
     * @param log file of earlier results, which gets the new ones; empty: none
     * @param subject what is searched; a log of something else is refused
     * @throw std::invalid_argument if the log is of another search or cannot be written
     */
    SearchEvaluation(const ProgramOptions& options,
                     const Cluster& cluster,
                     uint64_t memoryBytes,
                     const std::string& log,
                     const std::string& subject);

    /// Runs a candidate by flows; several threads may do so at once. @param candidate gets the run
    /// @return its time, nothing where it does not compile or does not fit
    std::optional<double> RunFlows(SearchCandidate& candidate);

    /**
     * Runs the small job of a candidate by flows, and takes its time to be to the formula's as that
     * of the whole is. Devices that do what others do are left out where no two GPUs have the same
     * NIC. Several threads may do so at once.
     * @param candidate gets the run: time, and all else by formula
     * @return its time, nothing where the small job does not compile
     */
    std::optional<double> RunReduced(SearchCandidate& candidate);

    /// Runs a candidate by packets. @param candidate gets the run @return its time
    std::optional<double> RunPackets(SearchCandidate& candidate);

    /// @return what is set about all runs
    const ExecutorSettings& GetSettings() const
    {
        return m_settings;
    }

  private:
    Framework LoadFramework(const Model& model) const;

    ExecutionGraph Compile(const TrainingPlan& plan) const;
    std::unique_ptr<Paths> TakePaths();
    void ReadLog(const std::string& path, const std::string& subject);
    bool Recall(const std::string& rung, const SearchCandidate& candidate, SearchRun& run);
    void Remember(const std::string& rung, const SearchCandidate& candidate, const SearchRun& run);
    SearchRun Measure(const ExecutionGraph& graph,
                      const Timeline& timeline,
                      DataType dataType,
                      uint64_t accountedBytes) const;

    const ProgramOptions& m_options;
    const Cluster& m_cluster;
    uint64_t m_memoryBytes;
    ExecutorSettings m_settings;
    const Executor& m_flow;
    bool m_sharesNics{false};                    //!< whether two GPUs of a server have the same NIC
    std::mutex m_mutex;                          //!< of what follows
    std::vector<std::unique_ptr<Paths>> m_paths; //!< that nobody uses now
    /// By rung and strategy, as GetLogName() has it.
    std::map<std::pair<std::string, std::string>, SearchRun> m_known;
    std::string m_logPath; //!< for errors
    std::ofstream m_log;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SEARCH_EVALUATION_H
