/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EXECUTOR_H
#define PROTEUS_EXECUTOR_H

#include "proteus-device-runtime.h"
#include "proteus-flow-parameters.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-collective-settings.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-run-record.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Executors: what runs an execution graph on a cluster, each with its own way to know how long
 * something takes.
 */

namespace ns3
{
namespace proteus
{

struct ScenarioPlan;

/// @ingroup proteus
/// How far a run is.
struct RunProgress
{
    uint64_t tasks{0};        //!< spans ended
    uint64_t totalTasks{0};   //!< spans that there will be
    uint64_t bytes{0};        //!< payload sent; packets only
    uint64_t totalBytes{0};   //!< payload that there will be; packets only
    uint64_t packetHops{0};   //!< link crossings so far
    uint64_t repeatedHops{0}; //!< of them, those that were not simulated again
    int64_t timePs{0};        //!< simulated
};

/// @ingroup proteus
/// Hears of a run while it goes on. A derived class takes what it wants to know.
class RunObserver
{
  public:
    virtual ~RunObserver() = default;

    /// @param progress of the run, often
    virtual void OnProgress(const RunProgress& progress);
    /// @param step that begins, of a run that consists of several
    virtual void OnStep(const std::string& step);
    /// @param remark a line, without its end, about the run beside its record
    virtual void OnRemark(const std::string& remark);
    /// @return whether the run is to end now; asked often. What is known by then is recorded as a
    /// part of a run, RunRecord::isPartial.
    virtual bool IsStopWanted() const;
};

/// @ingroup proteus
/// A run was stopped before anything was known.
class RunStopped : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/// @ingroup proteus
/// An attribute of the packet engine that was given another value than its own.
struct EngineSetting
{
    std::string name;    //!< e.g. "ns3::proteus::Fabric::Routing"
    std::string value;   //!< it has now
    std::string instead; //!< what a run without packets does in its place; empty: nothing like it
    std::set<LinkTechnology> technologies; //!< of the links that it is about; empty: of all
};

/// @ingroup proteus
/// All that is set about a run, whichever executor does it. ReadExecutorSettings() fills it from
/// the attributes of ns-3; without it the defaults are those of the attributes.
struct ExecutorSettings
{
    RuntimeOptions runtime;         //!< how devices issue their work
    CollectiveSettings collectives; //!< how they communicate
    FlowParameters flow;            //!< of networks without packets; their launch times, kernel
                                    //!< costs and path seed come from the other settings
    std::optional<FlowParameters> calibration; //!< the same, of a calibration, if there is one
    /// Of the published rules: ClassicOptions::overlapFactor; negative: as published.
    double overlapFactor{-1};
    bool sharesLinks{true};            //!< of the published rules: whether communications
                                       //!< slow each other down
    int64_t stream{1};                 //!< random stream of path choice, marks and losses
    uint32_t pathSeed{0};              //!< what packets draw from the stream for path choice
    std::vector<EngineSetting> engine; //!< attributes of the packet engine that were changed
    bool recordsSeries{false};         //!< whether links over time are wanted
    bool recordsChannels{false};       //!< whether spans of channels are wanted
    std::shared_ptr<const ScenarioPlan> scenario; //!< what happens besides the graph, or null
};

/// @ingroup proteus
/// What is known of an executor before it runs.
struct ExecutorTraits
{
    std::string name;         //!< on command lines, in records and tables
    std::string description;  //!< how it knows how long something takes, in a few words
    uint32_t position{0};     //!< in lists: finer ones first
    bool isExact{false};      //!< every packet of the whole run: files of what happens on links
                              //!< can be written
    bool hasPackets{false};   //!< attributes of fabric, transport and collectives count
    bool hasStreams{true};    //!< RuntimeOptions count, communication schedules among them
    bool hasSlowdowns{false}; //!< FlowParameters::computeSlowdown and communicationSlowdown count
    bool sharesGpus{false};   //!< RuntimeOptions::sharesGpu counts
    bool hasNetwork{true};    //!< links count of which no server has an end
    bool hasPaths{false};     //!< ExecutorSettings::stream counts: one of several paths is taken
    bool hasOverlapFactor{false}; //!< ExecutorSettings::overlapFactor and sharesLinks count
    bool isHtae{false};           //!< one of those that HTAE may stand for
    bool hasCongestion{false};    //!< FlowParameters::congestion counts
    bool needsCalibration{false}; //!< ExecutorSettings::calibration has to be there
    std::string refines;          //!< executor that it is a calibrated form of; may be empty
    std::string repeats; //!< executor whose communications it times one by one; may be empty
    std::set<std::string> collectiveFields; //!< CollectiveField::name that count, without packets
    std::set<std::string> scenarioParts;    //!< of ScenarioPlan::ListParts(), that it honours
};

/**
 * @ingroup proteus
 * Runs execution graphs. A new executor is a derived class in a file of its own, which registers it
 * by an ExecutorRegistration.
 */
class Executor
{
  public:
    /// @param traits of it
    explicit Executor(ExecutorTraits traits);
    virtual ~Executor() = default;

    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    /// @return what is known of it
    const ExecutorTraits& GetTraits() const
    {
        return m_traits;
    }

    /**
     * Runs a graph.
     * @param graph to execute
     * @param cluster to execute it on; device i is its GPU of rank i
     * @param settings see there; what this executor does not model is named in RunRecord::notes
     * @param observer hears of the run; may be null
     * @return what the run leaves behind
     * @throw std::invalid_argument if the graph does not fit the cluster, or a setting is refused,
     * a part of the scenario among them
     * @throw std::runtime_error if the graph cannot finish
     * @throw RunStopped if the observer wants a stop before anything is known
     */
    RunRecord Run(const ExecutionGraph& graph,
                  const Cluster& cluster,
                  const ExecutorSettings& settings = ExecutorSettings(),
                  RunObserver* observer = nullptr) const;

  private:
    /// Runs the graph. Run() fills in name, notes and, if this leaves it at 0, wall time.
    /// @param graph as Run() @param cluster as Run() @param settings as Run()
    /// @param observer hears of the run @return as Run()
    virtual RunRecord DoRun(const ExecutionGraph& graph,
                            const Cluster& cluster,
                            const ExecutorSettings& settings,
                            RunObserver& observer) const = 0;

    ExecutorTraits m_traits;
};

/**
 * @ingroup proteus
 * Puts an executor on the list: a constant of this type stands in the executor's file, see
 * Registry. The list is sorted by ExecutorTraits::position.
 *
 * Constants of one library are made before main(), in any order, and the list is sorted by
 * ExecutorTraits::position, so that no order matters. A static build keeps them because ns-3 links
 * its modules as a whole then (--whole-archive), on which its own TypeIds depend as well.
 */
class ExecutorRegistration
{
  public:
    /// @param executor to put on the list @throw std::logic_error if there is one of that name
    explicit ExecutorRegistration(std::unique_ptr<const Executor> executor);
};

/// @ingroup proteus
/// @param graph to execute
/// @throw std::invalid_argument that names a task with more bytes, time or FLOPs than can be
void RequireRealSizes(const ExecutionGraph& graph);

/// @ingroup proteus
/// @return all executors, the finest first
std::vector<const Executor*> GetExecutors();

/// @ingroup proteus
/// @return names of all executors, separated by commas
std::string ListExecutorNames();

/// @ingroup proteus
/// @param name of an executor @return the executor
/// @throw std::invalid_argument for another name, with those that there are
const Executor& FindExecutor(const std::string& name);

/**
 * @ingroup proteus
 * Lists the settings that an executor does not model, though they were given.
 * @param traits of the executor
 * @param settings of a run
 * @return a sentence for each such setting, beginning with the executor's name
 */
std::vector<std::string> ListIgnoredSettings(const ExecutorTraits& traits,
                                             const ExecutorSettings& settings);

/**
 * @ingroup proteus
 * Lists the settings that an executor does model, and that have had nothing to act on: they are
 * about links that nothing has crossed.
 * @param traits of the executor
 * @param settings of a run
 * @param cluster it was on
 * @param crossed links that carried something, see RunRecord::crossed; nothing: unknown, any may
 * have
 * @return a sentence for each such setting, beginning with the executor's name
 */
std::vector<std::string> ListIdleSettings(const ExecutorTraits& traits,
                                          const ExecutorSettings& settings,
                                          const Cluster& cluster,
                                          const std::optional<std::vector<LinkId>>& crossed);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EXECUTOR_H
