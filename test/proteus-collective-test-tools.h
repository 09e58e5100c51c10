/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_TEST_TOOLS_H
#define PROTEUS_COLLECTIVE_TEST_TOOLS_H

#include "proteus-test-ranks.h"

#include "ns3/proteus-collective-run.h"

#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Collectives as tests of them run them.
 */

namespace ns3
{
namespace proteus
{

inline constexpr uint64_t MIB = uint64_t{1} << 20;

/// @param cluster with the GPUs @param gpus how many of them @param collective what is run
/// @return a test without launch costs
inline CollectiveTest
MakeTest(const Cluster& cluster, uint32_t gpus, Collective collective = Collective::ALL_REDUCE)
{
    CollectiveTest test;
    test.collective = collective;
    test.groups = MakeTestGroups(cluster, gpus, 1, false);
    test.launchMode = "stream";
    return test;
}

/// RunCollective() by the processes that there are.
inline std::vector<CollectiveRow>
RunOnRanks(const Cluster& cluster, const CollectiveTest& test, uint64_t bytes)
{
    const TestRanks ranks(cluster);
    return RunCollective(cluster, test, bytes);
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_TEST_TOOLS_H
