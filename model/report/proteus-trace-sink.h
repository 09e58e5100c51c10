/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRACE_SINK_H
#define PROTEUS_TRACE_SINK_H

#include "proteus-iteration-use.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-run-record.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The timeline of a run as a stream of what trace viewers show, whatever the file format.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Something that is said of a slice.
struct TraceArgument
{
    const char* name;                                      //!< what
    std::variant<int64_t, double, std::string_view> value; //!< its value
};

/// @ingroup proteus
/// Which end of an arrow is at a slice.
enum class ArrowEnd : uint8_t
{
    NONE, //!< no arrow
    FROM, //!< it begins here
    TO,   //!< it ends here
};

/// @ingroup proteus
/// Something that takes time.
struct TraceSlice
{
    std::string_view name;                //!< what
    std::string_view category;            //!< of which kind
    int64_t startNs{0};                   //!< begin, nanoseconds
    int64_t endNs{0};                     //!< end, nanoseconds
    std::vector<TraceArgument> arguments; //!< more about it
    ArrowEnd arrowEnd{ArrowEnd::NONE};    //!< whether an arrow is bound to it
    uint64_t arrow{0};                    //!< which one
    int64_t arrowNs{0};                   //!< time of its end, within the slice
};

/**
 * @ingroup proteus
 * A trace format. Processes are numbered from 0, tracks and counters together from 0. The slices of
 * a track, and the values of a counter, come right after it, in order of time.
 */
class TraceSink
{
  public:
    virtual ~TraceSink() = default;

    /// @param process its number @param name of it
    virtual void AddProcess(uint32_t process, const std::string& name) = 0;

    /// @param track its number @param process it belongs to @param name of it
    virtual void AddTrack(uint32_t track, uint32_t process, const std::string& name) = 0;

    /// @param track it lies on, free at that time @param slice to add
    virtual void AddSlice(uint32_t track, const TraceSlice& slice) = 0;

    /**
     * @param counter its number
     * @param process it belongs to
     * @param name of it, e.g. "n0.nic0 -> switch0 busy"
     * @param unit of its values: "bytes" or "percent"
     */
    virtual void AddCounter(uint32_t counter,
                            uint32_t process,
                            const std::string& name,
                            const char* unit) = 0;

    /// @param counter that changes @param timeNs when @param value from then on
    virtual void AddValue(uint32_t counter, int64_t timeNs, double value) = 0;
};

/// @ingroup proteus
/// What there is besides streams and memory.
struct TraceContent
{
    bool channels{false};                 //!< a track per channel of every GPU
    bool links{true};                     //!< counters of every direction of a link that was used
    std::vector<IterationUse> iterations; //!< of several; empty for one
};

/**
 * @ingroup proteus
 * Tells a trace format what a run was:
 *
 * - a process per server, and one per network switch with a counter;
 * - a track "iterations" in the first process, with a slice for each of several;
 * - a track per GPU and stream in use, as many more as receives need, which may overlap, and a
 *   track per channel;
 * - a slice per span, its category "compute" or the parallelism it serves, with task id,
 *   micro-batch, exact begin and end in picoseconds, and bytes, FLOPs, collective and group;
 * - an arrow from every send to its receive;
 * - counters: allocated bytes per GPU; and per direction of a link, with its sender, the busy
 *   share, the share held up (paused or without credit), and the queue.
 *
 * Times are rounded down to nanoseconds, which viewers keep, so that slices that follow one another
 * do not overlap.
 *
 * @param graph that was executed
 * @param cluster that it ran on; device i is its GPU of rank i
 * @param result of the run
 * @param content what to tell
 * @param sink to tell it
 * @throw std::invalid_argument if the cluster has fewer GPUs than the graph devices, or the
 * timeline is not one of the graph
 */
void WalkTimeline(const ExecutionGraph& graph,
                  const Cluster& cluster,
                  const RunRecord& result,
                  const TraceContent& content,
                  TraceSink& sink);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRACE_SINK_H
