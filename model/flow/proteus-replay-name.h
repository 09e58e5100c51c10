/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPLAY_NAME_H
#define PROTEUS_REPLAY_NAME_H

#include "proteus-program-replay.h"

#include <array>
#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * When two replays are the same. Internal to FlowProfiles.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A digest of 128 bits: equal inputs have equal names, others have different ones but for a chance
/// of some 1e-38.
using ReplayName = std::array<uint64_t, 2>;

/**
 * @ingroup proteus
 * Names a replay by all that it depends on. Resources count by their order of appearance and by
 * what they have, not by their number: groups that stand alike, such as the data parallel groups of
 * the tensor ranks, have one name, and their replays have the same times.
 * @param program to execute
 * @param flows of it, FindFlows()
 * @param routes of the flows
 * @param all where the routes are
 * @param costs of the steps
 * @param classOf by flow: its class
 * @return the name
 */
ReplayName NameReplay(const CollectiveProgram& program,
                      const std::vector<ProgramFlow>& flows,
                      const std::vector<uint32_t>& routes,
                      const FlowRoutes& all,
                      const ReplayCosts& costs,
                      const std::vector<uint32_t>& classOf);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPLAY_NAME_H
