/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/nstime.h"

#include <gtest/gtest.h>

namespace
{

/// Times are in picoseconds, as programs have them. ns-3 lets nobody change that when a simulation
/// has run, so it is done before all tests.
class TimeResolution : public testing::Environment
{
  public:
    void SetUp() override
    {
        ns3::Time::SetResolution(ns3::Time::PS);
    }
};

const testing::Environment* const g_timeResolution =
    testing::AddGlobalTestEnvironment(new TimeResolution); //!< registers itself

} // namespace
