/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_PART_H
#define PROTEUS_GRAPH_PART_H

#include "proteus-graph.h"

#include <vector>

/**
 * @file
 * @ingroup proteus
 * Graphs in which some devices stand for others that do the same.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Leaves out what devices do that others stand for: their kernels, tensors and transfers, and
 * communications among them alone. In communications with devices that are kept they take part and
 * join as soon as the one before on the same stream is over, so that those that are kept decide
 * when it begins; a stream without tasks (REPRESENTATIVES_STREAM) says that they are not early.
 * Where all devices of a group do the same at the same time, and those that are
 * left out share no link with the others, times of those that are kept do not change.
 * @param graph any
 * @param isKept by device
 * @return the graph, of as many devices
 * @throw std::invalid_argument if the devices are not those of the graph
 */
ExecutionGraph KeepDevices(const ExecutionGraph& graph, const std::vector<bool>& isKept);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_PART_H
