/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TIMED_FRAMEWORKS_H
#define PROTEUS_TIMED_FRAMEWORKS_H

#include "ns3/proteus-compile.h"
#include "ns3/proteus-framework.h"

/**
 * @file
 * @ingroup proteus
 * The framework of a search, for all ways in which its kernels are timed.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// The framework of all plans, by how kernels are timed: they differ in the host.
struct TimedFrameworks
{
    /// Of kernels that are asked for in any order, so that nobody knows how far the host is ahead:
    /// an operator takes the longer of both times.
    Framework inAnyOrder;
    Framework issued;        //!< of kernels in the order in which the host issues them
    Framework issuedOfZero3; //!< the same for plans whose parameters are shared

    /// @param framework that was loaded
    explicit TimedFrameworks(const Framework& framework)
        : inAnyOrder(framework),
          issued(framework),
          issuedOfZero3(framework)
    {
        issued.host = inAnyOrder.host = GetHostCost(framework, 0);
        inAnyOrder.host.isAhead = false;
    }
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TIMED_FRAMEWORKS_H
