/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TIME_ACCOUNT_H
#define PROTEUS_TIME_ACCOUNT_H

#include "ns3/proteus-graph.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Where the time of a device goes. The four add up to the iteration, to the picosecond.
struct TimeAccount
{
    int64_t busyPs{0}; //!< a compute task runs
    int64_t dataPs{0}; //!< none does, and bytes of a communication that all have joined are awaited
    int64_t peersPs{0}; //!< neither, and a communication waits for others to join
    int64_t idlePs{0};  //!< none of these

    /// @return all together
    int64_t GetTotalPs() const
    {
        return busyPs + dataPs + peersPs + idlePs;
    }
};

/**
 * @ingroup proteus
 * Accounts for every picosecond of every device between 0 and Timeline::endPs.
 * @param graph that was executed
 * @param timeline of it
 * @return by device
 */
std::vector<TimeAccount> AccountTime(const ExecutionGraph& graph, const Timeline& timeline);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TIME_ACCOUNT_H
