/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_BREAKDOWN_H
#define PROTEUS_BREAKDOWN_H

#include "ns3/proteus-graph.h"
#include "ns3/proteus-timeline.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the devices spent the iteration on.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Number of values of Parallelism.
constexpr std::size_t N_PARALLELISMS = static_cast<std::size_t>(Parallelism::EXPERT) + 1;

/// @ingroup proteus
/// Which parallelism a moment counts for while several communicate: the first of these. Those that
/// come first serve one operator, and the device cannot go on without them; those that come later
/// are meant to be hidden behind others' work.
constexpr std::array<Parallelism, N_PARALLELISMS> EXPOSURE_PRIORITY{Parallelism::TENSOR,
                                                                    Parallelism::SEQUENCE,
                                                                    Parallelism::CONTEXT,
                                                                    Parallelism::EXPERT,
                                                                    Parallelism::PIPELINE,
                                                                    Parallelism::EMBEDDING,
                                                                    Parallelism::DATA,
                                                                    Parallelism::NONE};

/**
 * @ingroup proteus
 * Where the time of one device went, from 0 to the end of the timeline, in picoseconds.
 * computePs + GetExposedPs() + idlePs = totalPs, exactly.
 */
struct DeviceBreakdown
{
    int64_t computePs{0}; //!< a compute task runs
    /// no compute task runs, a communication is in flight; by Parallelism
    std::array<int64_t, N_PARALLELISMS> exposedPs{};
    int64_t idlePs{0};          //!< neither
    int64_t totalPs{0};         //!< from 0 to the end of the timeline
    int64_t communicationPs{0}; //!< a communication is in flight, whether or not exposed
    int64_t activityPs{0};      //!< from the begin of the first activity to the end of the last

    /// @return time between the first and the last activity with none: what profilers that know
    /// nothing but kernels call idle
    int64_t GetIdleBetweenPs() const
    {
        return activityPs - (totalPs - idlePs);
    }

    /// @return time exposed to communication of any parallelism
    int64_t GetExposedPs() const;

    /// @param parallelism of the communication @return time exposed to it
    int64_t GetExposedPs(Parallelism parallelism) const
    {
        return exposedPs[static_cast<std::size_t>(parallelism)];
    }
};

/// @ingroup proteus
/// Mean of the breakdowns of several devices, in seconds.
struct MeanBreakdown
{
    double computeS{0};                            //!< a compute task runs
    std::array<double, N_PARALLELISMS> exposedS{}; //!< by Parallelism
    double exposedCommunicationS{0};               //!< sum of exposedS
    double idleS{0};                               //!< neither
    double totalS{0};                              //!< from 0 to the end of the timeline
    double communicationS{0};                      //!< in flight, whether or not exposed
};

/**
 * @ingroup proteus
 * Divides the time of every device, from 0 to timeline.endPs, without remainder:
 *
 * - **compute** while a compute task runs, whatever else happens;
 * - else **exposed communication** while a communication of the device is in flight, counted for
 *   one Parallelism: the first in EXPOSURE_PRIORITY of those in flight;
 * - else **idle**.
 *
 * A collective is in flight on a device from the moment the device joins: a rank that is early and
 * waits for its peers is exposed to communication, as a profiler shows it, whose kernel spins on
 * the device. So is a sender whose receiver is late. A receive only posts a buffer, often long
 * before there is anything to receive, and holds no stream. It counts as in flight from the
 * moment the sender has joined too; until then a device with nothing but posted receives is idle,
 * which is the bubble of a pipeline.
 *
 * @param graph that was executed
 * @param timeline of it
 * @return by device
 * @throw std::invalid_argument if the timeline is not one of the graph: a span of a device or task
 * that the graph does not have, outside 0 to endPs, or a send without its receive or the reverse
 */
std::vector<DeviceBreakdown> BreakDown(const ExecutionGraph& graph, const Timeline& timeline);

/// @ingroup proteus
/// @param breakdowns of some devices @return their mean; all zero for none
MeanBreakdown MeanOf(const std::vector<DeviceBreakdown>& breakdowns);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_BREAKDOWN_H
