/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPORT_INPUT_H
#define PROTEUS_REPORT_INPUT_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <unordered_map>

/**
 * @file
 * @ingroup proteus
 * What all reports ask of the graph, cluster and timeline they are given.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param graph that was executed
 * @param cluster that it ran on
 * @throw std::invalid_argument if the cluster has fewer GPUs than the graph devices
 */
void RequireGpuPerDevice(const ExecutionGraph& graph, const Cluster& cluster);

/**
 * @ingroup proteus
 * @param graph that was executed
 * @param timeline of it
 * @throw std::invalid_argument if a span is of a device, task or micro-batch that the graph does
 * not have, or not within 0 to timeline.endPs
 */
void RequireTimelineOf(const ExecutionGraph& graph, const Timeline& timeline);

/**
 * @ingroup proteus
 * @param graph that was executed
 * @param span of it
 * @return whether the span is the receiving side of a SEND_RECV, which occupies no stream
 */
bool IsReceive(const ExecutionGraph& graph, const Span& span);

/// @ingroup proteus
/// The sending side of every SEND_RECV of a timeline.
class Sends
{
  public:
    /// One of them.
    struct Send
    {
        int64_t startPs{0};   //!< when the sender joined
        uint64_t number{0};   //!< counts the sends of the timeline from 0
        bool received{false}; //!< whether the timeline has the receiving side
    };

    /**
     * @param graph that was executed; must outlive this object
     * @param timeline of it, for which RequireTimelineOf() holds
     * @throw std::invalid_argument for a send without its receive, or the reverse, or one that
     * happens twice
     */
    Sends(const ExecutionGraph& graph, const Timeline& timeline);

    /// @param span of the timeline, either side of a SEND_RECV @return its sending side
    const Send& Find(const Span& span) const
    {
        return m_sends.at(span.GetInstance());
    }

  private:
    std::unordered_map<TaskInstance, Send> m_sends; //!< by communication
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPORT_INPUT_H
