/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_RUN_H
#define PROTEUS_FLOW_RUN_H

#include "proteus-flow-profile.h"

#include "ns3/proteus-device-runtime.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-flow-parameters.h"
#include "ns3/proteus-link-series.h"
#include "ns3/proteus-link-statistics.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-program-cache.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// The rungs below full packet level.
enum class FlowRung : uint8_t
{
    FLOW,       //!< FlowNetwork
    ALPHA_BETA, //!< AlphaBetaNetwork
};

/// @ingroup proteus
/// What a run without a simulator leaves behind.
struct FlowRun
{
    Timeline timeline;                 //!< what happened
    std::vector<LinkStatistics> links; //!< what they carried; FLOW only
    NetworkStatistics network;         //!< work of the network
    SharingStatistics sharing;         //!< kernels beside communication; nothing if
                                       //!< RuntimeOptions::sharesGpu is off
    uint64_t notifications{0};         //!< of congestion control; FLOW only
    uint64_t notReplayed{0};           //!< FlowNetwork::GetNNotReplayed(); FLOW only
    LinkSeries series;                 //!< links over time; FLOW only, and if it was asked for
    bool isPartial{false};             //!< the report did not want it to go on
};

/// @ingroup proteus
/// Told how far a run is: spans that have ended, spans that there will be, time in picoseconds.
/// Returns whether the run is to go on.
using FlowReport = std::function<bool(uint64_t ended, uint64_t total, int64_t timePs)>;

/**
 * @ingroup proteus
 * Runs an execution graph on a cluster at flow level.
 * @param graph to execute
 * @param cluster to execute it on
 * @param options how devices issue their work
 * @param parameters of the flow network
 * @param settings of the programs of the collectives
 * @param rung which network
 * @param report called at the end of every span, or none
 * @return what happened
 * @throw std::invalid_argument if the graph does not fit the cluster
 * @throw std::runtime_error if it cannot finish
 */
FlowRun RunFlow(const ExecutionGraph& graph,
                const Cluster& cluster,
                const RuntimeOptions& options = RuntimeOptions(),
                const FlowParameters& parameters = FlowParameters(),
                const ProgramSettings& settings = ProgramSettings(),
                FlowRung rung = FlowRung::FLOW,
                const FlowReport& report = nullptr);

/**
 * @ingroup proteus
 * RunFlow() with paths of the cluster that exist already, for many runs on one cluster.
 * @param graph to execute
 * @param cluster to execute it on
 * @param paths of the cluster
 * @param options how devices issue their work
 * @param parameters of the flow network
 * @param settings of the programs of the collectives
 * @param rung which network
 * @param report told how far the run is, or null
 * @param recordsSeries whether links over time are wanted
 * @return what happened
 * @throw std::invalid_argument if the graph does not fit the cluster
 * @throw std::runtime_error if it cannot finish
 */
FlowRun RunFlow(const ExecutionGraph& graph,
                const Cluster& cluster,
                const Paths& paths,
                const RuntimeOptions& options,
                const FlowParameters& parameters,
                const ProgramSettings& settings,
                FlowRung rung = FlowRung::FLOW,
                const FlowReport& report = nullptr,
                bool recordsSeries = false);

/**
 * @ingroup proteus
 * Parameters of the flow network that do what the packet network does.
 * @param settings of a run
 * @param isCalibrated whether links are as ExecutorSettings::calibration has them
 * @return the parameters, with launch time, kernel costs and path seed of the settings
 * @throw std::invalid_argument for a launch mode other than stream
 */
FlowParameters MakeFlowParameters(const ExecutorSettings& settings, bool isCalibrated);

/// @ingroup proteus
/// @param graph that is executed @param cluster that executes it @param profiles of the graph's
/// collectives; all must outlive the function
/// @return what GpuSharing wants to know of communications
std::function<CommunicationUse(TaskId)> MakeCommunicationUse(const ExecutionGraph& graph,
                                                             const Cluster& cluster,
                                                             FlowProfiles& profiles);

/// @ingroup proteus
/// @return CollectiveField::name of the settings that flows know
std::set<std::string> GetFlowCollectiveFields();

/**
 * @ingroup proteus
 * RunFlow() with the settings of executors.
 * @param graph to execute
 * @param cluster to execute it on
 * @param settings of the run
 * @param isCalibrated whether links are as ExecutorSettings::calibration has them
 * @param rung which network
 * @param observer told at the end of every span
 * @return what the run leaves behind
 * @throw std::invalid_argument as RunFlow() and MakeFlowParameters()
 * @throw std::runtime_error as RunFlow()
 */
RunRecord RunFlowRung(const ExecutionGraph& graph,
                      const Cluster& cluster,
                      const ExecutorSettings& settings,
                      bool isCalibrated,
                      FlowRung rung,
                      RunObserver& observer);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_RUN_H
