/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TUNER_PATTERNS_H
#define PROTEUS_TUNER_PATTERNS_H

#include "proteus-channel-search.h"

#include "ns3/proteus-nccl-cost.h"

#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * What NCCL's tuner is told of the channels that were found.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param pattern channels that were found @return the same, as NCCL's tuner takes it
NcclPattern ToNccl(const ChannelPattern& pattern);

/**
 * @ingroup proteus
 * Channels that NCCL works with where switches of the network sum up: half as many again, unless
 * chains are no faster than the NICs or servers have one GPU each; twice as many on Hopper where
 * they are few and fast, as otherwise (NVIDIA/nccl v2.12.12 to v2.30.7, src/graph/connect.cc,
 * ncclTopoPostset(), "Setup CollNet").
 * @param search of the ranks
 * @param system of them
 * @return how many
 */
uint32_t CountSwitchChannels(const ChannelSearch& search, const NcclSystem& system);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TUNER_PATTERNS_H
