/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_DEVICE_ROWS_H
#define PROTEUS_DEVICE_ROWS_H

#include "ns3/proteus-graph.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Devices that did the same at the same times, which a picture shows as one row.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Devices that did the same.
struct AlikeDevices
{
    std::vector<DeviceId> devices; //!< in order; the first one stands for all
    int64_t differencePs{0};       //!< most that a begin or end differs from that of the first one
};

/**
 * @ingroup proteus
 * Finds devices whose spans have the same names, micro-batches, streams and kinds, and begin and
 * end at the same times but for a tolerance.
 * @param graph that was executed
 * @param timeline of the run
 * @param tolerancePs most that a begin or end may differ, picoseconds
 * @return the groups, in the order of their first devices; every device is in one
 */
std::vector<AlikeDevices> FindAlikeDevices(const ExecutionGraph& graph,
                                           const Timeline& timeline,
                                           int64_t tolerancePs);

/// @ingroup proteus
/// @param graph that was executed @param timeline of the run @return the rows of its picture:
/// devices that begin and end all things within a thousandth of the run are one
std::vector<AlikeDevices> FindRows(const ExecutionGraph& graph, const Timeline& timeline);

/// @ingroup proteus
/// @param rows of a picture @param most to be shown @return equally many from all parts of it
std::vector<AlikeDevices> ChooseRows(const std::vector<AlikeDevices>& rows, std::size_t most);

/// @ingroup proteus
/// What a device is in the job, as far as its communications tell.
struct DeviceRole
{
    uint32_t stage{0};   //!< of the pipeline: what is handed on first goes from 0 on
    uint32_t replica{0}; //!< its place in its group of data parallelism
};

/**
 * @ingroup proteus
 * @param graph that was executed
 * @param timeline of the run: who has sent first is nearer to the begin of the pipeline
 * @return by device
 */
std::vector<DeviceRole> FindRoles(const ExecutionGraph& graph, const Timeline& timeline);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_DEVICE_ROWS_H
