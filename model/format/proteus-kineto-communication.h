/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KINETO_COMMUNICATION_H
#define PROTEUS_KINETO_COMMUNICATION_H

#include "proteus-kineto-events.h"
#include "proteus-trace-graph.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a kernel of NCCL in a Kineto trace communicates.
 */

namespace ns3
{
namespace proteus
{
namespace kineto
{

/// Makes nodes of the kernels of NCCL of a rank.
class CommunicationMaker
{
  public:
    /**
     * @param events of the rank, which get counts of what is odd; outlive this object
     * @param graph gets the groups; outlives this object
     * @param standsForAll whether the rank is the only one whose trace is there
     */
    CommunicationMaker(Rank& events, TraceGraph& graph, bool standsForAll);

    /**
     * @param event a kernel that communicates
     * @param node gets what it does: kind, collective, bytes, root and peer
     * @throw std::invalid_argument that names file, kernel and cause
     */
    void Set(const GpuEvent& event, TraceNode& node);

  private:
    [[noreturn]] void Fail(const GpuEvent& event, const std::string& cause) const;
    /// @return name of the collective without underscores before it
    static std::string GetName(const Communication& it);
    Collective FindCollective(const GpuEvent& event, const Communication& it) const;
    uint64_t GetElementBytes(const GpuEvent& event, const Communication& it) const;
    /// @return bytes of n ranks
    uint64_t MultiplyBytes(const GpuEvent& event, uint64_t bytes, uint64_t n) const;
    std::vector<DeviceId> FindRanks(const GpuEvent& event, const Communication& it) const;
    void SetMessage(const GpuEvent& event,
                    const Communication& it,
                    bool isSend,
                    uint64_t bytes,
                    TraceNode& node);
    /// Counts a collective whose result does not follow from its input.
    /// @param n ranks of its group
    void CheckSizes(const Communication& it, Collective collective, uint64_t n);

    Rank& m_events;
    TraceGraph& m_graph;
    const bool m_standsForAll;
};

} // namespace kineto
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KINETO_COMMUNICATION_H
