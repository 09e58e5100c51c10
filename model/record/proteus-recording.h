/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RECORDING_H
#define PROTEUS_RECORDING_H

#include "ns3/proteus-graph-kinds.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Collectives of one kind in a recording: same collective, parallelism, size and number of ranks.
struct RecordedCollective
{
    Collective collective{Collective::ALL_REDUCE}; //!< what
    Parallelism parallelism{Parallelism::NONE};    //!< for which
    uint64_t bytes{0};                             //!< as the Collective counts them
    uint64_t ranks{0};                             //!< of a group
    uint64_t count{0};                             //!< how many, all groups
    /// Mean of the times of the ranks that took least for it, seconds: the last to join waits least
    /// for the others. Of a recording of one rank, its own times, with its waiting.
    double meanS{0};
    double leastS{0}; //!< the least of these times, which has least waiting in it
};

/// @ingroup proteus
/// What a trace says of the run that it was recorded of, to hold a simulation against.
struct Recording
{
    /// From the first event to the end of the last that is run again, of the rank that took
    /// longest, seconds; 0: not known.
    double lengthS{0};
    /// Whether it is of one rank, which stands for all: what it waited for the others is in its
    /// times, and is not simulated.
    bool isOneForAll{false};
    std::vector<RecordedCollective> collectives; //!< by kind; those whose times are known
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RECORDING_H
