/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_WALKER_H
#define PROTEUS_FLOW_WALKER_H

#include "proteus-flow-routes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * What FlowRoutes know of a flow on its way through a cluster.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A flow, or a part of one, that goes from vertex to vertex.
struct FlowRoutes::Walker
{
    uint64_t hash{0};                   //!< of the flow
    VertexId source{0};                 //!< where the flow begins
    VertexId at{0};                     //!< where it is
    bool arrivedDown{false};            //!< see Paths
    double share{1};                    //!< of the flow, that goes this way
    bool isOfFlow{false};               //!< whether the hash has decided between links that differ
    CopyMethod method{CopyMethod::DMA}; //!< who moves the bytes
    PerLink<uint32_t> ports;            //!< directions of links that it has taken
    PerLink<VertexId> forwarders;       //!< vertices that it has passed
    PerLink<std::size_t> memories;      //!< positions of those whose memory takes it in
    PerLink<std::size_t> stops;         //!< links up to each stop, which has all of a unit first

    /// @param position of a vertex that it has passed @return whether its memory takes the flow in
    bool IsInMemory(std::size_t position) const
    {
        return std::find(memories.begin(), memories.end(), position) != memories.end();
    }
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_WALKER_H
