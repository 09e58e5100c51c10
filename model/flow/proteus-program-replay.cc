/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-replay.h"

#include "proteus-flow-classes.h"
#include "proteus-replay-part.h"

namespace ns3
{
namespace proteus
{

namespace
{

/// Messages of a program of which it is worth finding a part that stands for it.
constexpr uint64_t LEAST_MESSAGES = 2000;

} // namespace

ReplayTimes
ReplayProgram(const CollectiveProgram& program,
              const std::vector<ProgramFlow>& flows,
              const std::vector<uint32_t>& routes,
              const FlowRoutes& all,
              const ReplayCosts& costs,
              bool isInstant,
              const std::function<void()>& goOn,
              const std::vector<int64_t>& joinsPs)
{
    const ReplayWays ways = all.GetWays();
    if (joinsPs.empty() && CountMessages(flows) >= LEAST_MESSAGES)
    {
        if (const auto part = ReplayPart::Find(program, flows, routes, ways, costs))
        {
            return part->Run(isInstant, goOn);
        }
    }
    return ReplayRun(program,
                     flows,
                     routes,
                     ways,
                     costs,
                     isInstant,
                     FindFlowsOfBlocks(program, flows))
        .Run(goOn, joinsPs);
}

} // namespace proteus
} // namespace ns3
