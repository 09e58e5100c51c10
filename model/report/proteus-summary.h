/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SUMMARY_H
#define PROTEUS_SUMMARY_H

#include "proteus-breakdown.h"
#include "proteus-collective-use.h"
#include "proteus-hot-spots.h"
#include "proteus-iteration-use.h"
#include "proteus-link-kinds.h"
#include "proteus-link-use.h"
#include "proteus-loss-account.h"
#include "proteus-run-information.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-link-statistics.h"
#include "ns3/proteus-run-record.h"
#include "ns3/proteus-timeline.h"

#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The report of a run: for people, and as JSON.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A device and a time.
struct DeviceTime
{
    DeviceId device{0}; //!< which one
    double seconds{0};  //!< how long
};

/// @ingroup proteus
/// By kind of time, the device that has most of it, the first of several with equally much. See
/// DeviceBreakdown.
struct WorstBreakdown
{
    DeviceTime compute;                             //!< a compute task runs
    std::array<DeviceTime, N_PARALLELISMS> exposed; //!< bytes move; by Parallelism
    DeviceTime exposedCommunication;                //!< of all parallelisms together
    std::array<DeviceTime, N_PARALLELISMS> waiting; //!< for other ranks; by Parallelism
    DeviceTime waitingForPeers;                     //!< of all parallelisms together
    DeviceTime bubble;                              //!< another stage is waited for
    DeviceTime host;                                //!< a task of the host runs
    DeviceTime idle;                                //!< none of these
};

/// @ingroup proteus
/// The numbers of one run. Times are seconds of simulated time unless they say otherwise.
struct Summary
{
    std::string graph;                 //!< name of the workload
    std::string cluster;               //!< name of the cluster
    std::string gpu;                   //!< model; several are joined by " + "
    uint32_t devices{0};               //!< GPUs that the graph uses
    DataType dataType{DataType::BF16}; //!< whose peak rate the utilisation refers to

    double iterationS{0};            //!< from the start of the run to the end of the last task; of
                                     //!< a run that was stopped to the stop; of several iterations
                                     //!< the steady one
    double recordedS{0};             //!< Recording::lengthS of the trace; 0: not known
    bool isRecordedOneForAll{false}; //!< Recording::isOneForAll
    double runS{0};                  //!< of all iterations, to the end of the last task
    /// of several iterations; all that can be told apart is of the steady one: times, collectives
    std::vector<IterationUse> iterations;
    uint64_t tokensPerIteration{0}; //!< 0 where the graph does not say
    double tokensPerS{0};           //!< 0 where the graph does not say
    double samplesPerS{0};          //!< 0 where the graph does not say
    double modelFlops{0};           //!< per iteration, recomputation not counted; 0: not said
    double peakFlops{0};            //!< FLOP/s of all devices by their data sheets, dense
    /// model FLOPs / (iteration * peak FLOP/s of all devices); 0 where the graph does not say
    double modelFlopUtilisation{0};

    MeanBreakdown mean;   //!< over the devices
    WorstBreakdown worst; //!< by kind of time

    uint64_t peakMemoryBytes{0};              //!< of the fullest device: highest peak to capacity
    DeviceId peakMemoryDevice{0};             //!< which one that is, the first of several
    uint64_t memoryCapacityBytes{0};          //!< of that device, by its data sheet
    bool outOfMemory{false};                  //!< whether any device exceeds its capacity
    std::vector<DeviceId> outOfMemoryDevices; //!< those that do

    NetworkStatistics network;              //!< work of the simulator
    LossAccount losses;                     //!< what the network lost, paused and marked
    std::vector<LinkUse> busiestLinks;      //!< ten at most
    std::vector<LinkKind> linkKinds;        //!< all that carried something, busiest first
    std::string congestion;                 //!< which link is to blame, see DescribeCongestion()
    std::vector<CollectiveUse> collectives; //!< by kind, most time first
    double wallS{0};                        //!< time the simulation took
    std::vector<std::string> gpuNames;      //!< by device, names in the cluster
    std::vector<std::string> notes;         //!< RunRecord::notes
    bool isPartial{false};                  //!< RunRecord::isPartial
};

/// @ingroup proteus
/// What a summary is made of besides the result itself, see RunAnalysis.
struct SummaryParts
{
    const std::vector<DeviceBreakdown>& breakdowns; //!< by device
    const std::vector<LinkUse>& links;              //!< all that carried something, busiest first
    const std::vector<HotSpot>& hotSpots;           //!< worst first
    const std::vector<IterationUse>& iterations;    //!< of several; empty for one
    std::vector<uint32_t> iterationOf;              //!< of several, see ReportedRun
};

/**
 * @ingroup proteus
 * @param cluster that has at least so many GPUs
 * @param devices how many of its GPUs count, from the first on
 * @param type of what they compute
 * @return what their data sheets promise, FLOP/s, by device
 * @throw std::invalid_argument if one has no data sheet
 */
std::vector<double> ListPeakFlops(const Cluster& cluster, std::size_t devices, DataType type);

/**
 * @ingroup proteus
 * Adds a run up; Analyze() is what calls it.
 * @param graph that was executed
 * @param cluster that it ran on; device i is its GPU of rank i
 * @param result of the execution
 * @param dataType whose peak rate the model FLOP utilisation refers to
 * @param parts derived from the same result
 * @return the numbers
 * @throw std::invalid_argument if the cluster has fewer GPUs than the graph devices, the timeline
 * is not one of the graph, or a GPU has no data sheet
 */
Summary Summarize(const ExecutionGraph& graph,
                  const Cluster& cluster,
                  const RunRecord& result,
                  DataType dataType,
                  const SummaryParts& parts);

/**
 * @ingroup proteus
 * Writes a summary as one JSON object. Times are in seconds (`_s`), sizes in bytes; `compute_s`,
 * `exposed_communication_s`, `waiting_for_peers_s`, `bubble_s`, `host_s` and `idle_s` are means
 * over the devices and add up to `iteration_s`; `exposed_s` and `waiting_s` divide two of them by
 * parallelism; those in `worst` are of the device that has most. Of several iterations they are of
 * the steady one, `iterations` has all, and `run_s` is their time together. `collectives` are as in
 * the table of this name, see MakeResultTables(); `losses` are as LossAccount has them.
 * `tokens_per_s`, `samples_per_s` and `model_flop_utilisation` are null where the graph does not
 * say what it trains. Of a run that was stopped, `iteration_s` is null, too, `stopped_s` is there,
 * and `partial` is true. Bytes of a name that are no UTF-8 become U+FFFD.
 * @param summary to write
 * @param out where to; its state tells whether all was written
 * @param configuration of the run, the object `configuration`
 */
void WriteSummaryJson(const Summary& summary,
                      std::ostream& out,
                      const Configuration& configuration = {});

/**
 * @ingroup proteus
 * Prints the report for people, at most 100 columns wide unless names are very long.
 * @param summary to print
 * @param out where to
 */
void PrintSummary(const Summary& summary, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SUMMARY_H
