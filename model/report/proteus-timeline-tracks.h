/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TIMELINE_TRACKS_H
#define PROTEUS_TIMELINE_TRACKS_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-timeline.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How a timeline is cut into processes and tracks, for all of its pictures alike.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Slices of one device of which no two overlap.
struct TimelineTrack
{
    std::string name;               //!< stream, "receive", "receive 2", ...
    std::vector<const Span*> spans; //!< in order of their begins
};

/// @ingroup proteus
/// Where a device is shown, and what it is called there.
struct TimelinePlace
{
    uint32_t process{0}; //!< index of its process
    std::string gpu;     //!< name inside the process
};

/**
 * @ingroup proteus
 * Tracks of a timeline: a process per server with a device, and in it a track per GPU and stream in
 * use. A process is named by what the names of its GPUs have in common before their last dot ("n0"
 * of "n0.gpu3"). Receives occupy no stream and may be outstanding together; they get as many tracks
 * as they need.
 */
class TimelineTracks
{
  public:
    /**
     * @param graph that was executed; must outlive this object
     * @param cluster that it ran on; device i is its GPU of rank i
     * @param timeline of the run; must outlive this object
     * @throw std::invalid_argument if the cluster has fewer GPUs than the graph devices, or the
     * timeline is not one of the graph
     */
    TimelineTracks(const ExecutionGraph& graph, const Cluster& cluster, const Timeline& timeline);

    /// @return names of the processes
    const std::vector<std::string>& GetProcesses() const
    {
        return m_processes;
    }

    /// @param device a device @return where it is
    const TimelinePlace& GetPlace(DeviceId device) const
    {
        return m_places[device];
    }

    /// @param server of the cluster @return index of its process; GetProcesses().size() if it has
    /// none
    std::size_t FindProcess(int32_t server) const;

    /// @param device a device @return its tracks with a slice: streams in their order, receives
    /// last
    std::vector<TimelineTrack> MakeTracks(DeviceId device) const;

  private:
    /// Fills places and processes.
    void FindPlaces(const Cluster& cluster);

    const ExecutionGraph& m_graph;
    std::vector<std::vector<const Span*>> m_spans; //!< by device
    std::vector<TimelinePlace> m_places;           //!< by device
    std::vector<std::string> m_processes;
    std::vector<int32_t> m_servers; //!< by process
};

/**
 * @ingroup proteus
 * Cuts slices that may overlap into tracks on which they do not.
 * @param spans of one device and stream, in any order
 * @return as few lists as it takes when every span goes to the first list that is free, each in
 * order of the begins
 */
std::vector<std::vector<const Span*>> MakeLanes(std::vector<const Span*> spans);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TIMELINE_TRACKS_H
