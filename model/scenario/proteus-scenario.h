/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCENARIO_H
#define PROTEUS_SCENARIO_H

#include "proteus-job-placement.h"
#include "proteus-scenario-plan.h"
#include "proteus-traffic-source.h"

#include "ns3/proteus-cluster.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Scenarios: what happens on a cluster besides one job that has it to itself.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A time of a scenario: picoseconds, or a part of the time that the first job takes alone.
struct ScenarioTime
{
    int64_t ps{0};       //!< if it is no part
    double share{0};     //!< 0 or more, 1 for all of it; if it is one
    bool isShare{false}; //!< which of both

    /// @param alonePs time of the first job alone @return picoseconds
    int64_t Resolve(int64_t alonePs) const;
};

/// @ingroup proteus
/// What happens at a time, and maybe ends at another.
struct ScenarioEvent
{
    /// What.
    enum class Kind : uint8_t
    {
        DOWN,      //!< links fail
        DEGRADED,  //!< links are slower, or lose units
        PFC_STORM, //!< a NIC or host pauses what sends to it
        SLOW_GPU,  //!< compute tasks of GPUs take longer
        SLOW_HOST, //!< hosts issue work at another pace
    };

    Kind kind{Kind::DOWN};                 //!< what
    std::string name;                      //!< for tables, e.g. "link-down leaf0 - spine1"
    std::vector<LinkId> links;             //!< DOWN, DEGRADED; PFC_STORM: those of the NIC
    VertexId storming{0};                  //!< PFC_STORM: the NIC or host
    std::vector<VertexId> gpus;            //!< SLOW_GPU, SLOW_HOST
    ScenarioTime at;                       //!< when it begins
    std::optional<ScenarioTime> until;     //!< when it ends; none: with the run
    std::optional<double> rateShare;       //!< DEGRADED: part of the rate that is left
    std::optional<double> lossProbability; //!< DEGRADED: of a unit
    std::optional<double> bitErrorRate;    //!< DEGRADED: of a bit
    double factor{1};                      //!< SLOW_GPU: times as long
    int64_t launchIntervalPs{0};           //!< SLOW_HOST: least time of a compute task
};

/// @ingroup proteus
/// Traffic, whose times are not known yet.
struct ScenarioTraffic
{
    TrafficPattern pattern;            //!< times of its messages count from `from`
    ScenarioTime from;                 //!< when it begins
    std::optional<ScenarioTime> until; //!< when it ends; none: when all jobs are done
};

/// @ingroup proteus
/// A job of a scenario.
struct ScenarioJob
{
    std::string name{"job"}; //!< distinct
    std::string model;       //!< as --model
    std::string strategy;    //!< as --strategy
    std::string variables;   //!< as --variables
    std::string graph;       //!< or a file with its graph, as --graph
    int64_t startPs{0};      //!< when it begins
    uint32_t iterations{1};  //!< how many
    JobPlacement placement;  //!< where
};

/// @ingroup proteus
/// A scenario as its file has it, for one cluster.
struct Scenario
{
    std::string name;                     //!< for tables
    uint64_t seed{1};                     //!< of random placement and traffic
    ScenarioJob job;                      //!< where and when the job of the program runs
    std::vector<ScenarioJob> jobs;        //!< its neighbours
    std::vector<ScenarioEvent> events;    //!< in order of the file
    std::vector<ScenarioTraffic> traffic; //!< in order of the file
    bool comparesAlone{true};             //!< whether every job runs alone, too

    /// @return whether a time is a part of that of the first job alone
    bool NeedsAlone() const;

    /// @return whether anything of it is drawn at random, by the seed
    bool IsRandom() const;
};

/**
 * @ingroup proteus
 * @param scenario for the cluster
 * @param cluster whose ranks are devices
 * @param nDevices how many of its GPUs, the first ones, have a device
 * @param alonePs time that the first job takes alone, if NeedsAlone()
 * @return what executors are told
 * @throw std::invalid_argument that names the event or traffic that ends before it begins, or
 * overlaps another one of its kind on a link
 */
ScenarioPlan MakeScenarioPlan(const Scenario& scenario,
                              const Cluster& cluster,
                              uint32_t nDevices,
                              int64_t alonePs);

/**
 * @ingroup proteus
 * Looks whether failures that are never repaired cut jobs in pieces.
 * @param plan with failures
 * @param cluster that they happen to, whose ranks are devices
 * @param nDevices GPUs, the first ones, that jobs use
 * @return an empty text, or which NICs or hosts cannot reach each other any more
 */
std::string FindCutOff(const ScenarioPlan& plan, const Cluster& cluster, uint32_t nDevices);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCENARIO_H
