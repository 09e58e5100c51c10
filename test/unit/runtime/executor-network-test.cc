/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-executor.h"

#include <gtest/gtest.h>
#include <string>

using namespace ns3::proteus;

// Options of the network are named as not modelled where this says so: alpha-beta and distsim
// record no links, but know those between switches.
TEST(ExecutorTraits, SomeKnowOnlyTheLinksOfServers)
{
    for (const std::string name : {"packet", "flow", "alpha-beta", "distsim", "distsim-flow"})
    {
        EXPECT_TRUE(FindExecutor(name).GetTraits().hasNetwork) << name;
    }
    for (const std::string name : {"ideal", "classic", "classic-plain"})
    {
        EXPECT_FALSE(FindExecutor(name).GetTraits().hasNetwork) << name;
    }
}
