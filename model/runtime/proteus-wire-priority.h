/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_WIRE_PRIORITY_H
#define PROTEUS_WIRE_PRIORITY_H

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Traffic classes of communications: priority at NICs and switches.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Traffic classes of the communications of a graph.
struct WirePriority
{
    std::vector<uint8_t> classOf; //!< by task: its traffic class, 1 or more
    uint32_t classes{0};          //!< the largest of them; 0: all communications are alike
    /// Weights of the classes from 1 on, by which they share a link; empty: strictly in order.
    std::vector<uint32_t> weights;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_WIRE_PRIORITY_H
