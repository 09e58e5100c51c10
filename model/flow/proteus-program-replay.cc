/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-replay.h"

#include "proteus-replay-run.h"

namespace ns3
{
namespace proteus
{

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
    return ReplayRun(program, flows, routes, all, costs, isInstant).Run(goOn, joinsPs);
}

} // namespace proteus
} // namespace ns3
