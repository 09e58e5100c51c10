/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NVLS_HEADS_H
#define PROTEUS_NVLS_HEADS_H

#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * How many GPUs of a server NCCL's NVLS works with.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// GPUs of a server that sum up and multicast at most. What has a segment for every rank
/// (all-gather, reduce-scatter) does without NVLS where there are more (NCCL_MAX_NVLS_ARITY of
/// NVIDIA/nccl v2.30.7, src/include/device.h, and updateCollCostTable() of src/enqueue.cc; 8
/// until 2.20, when no domain had more). In an all-reduce all ranks are heads here: see "Sixth
/// set" in doc/measured-collectives-sets.rst.
constexpr uint32_t MOST_NVLS_HEADS = 32;

/// @ingroup proteus
/// @param least GPUs of a server that has fewest; 0: all have equally many
/// @param ranks in all servers @param servers how many, 1 or more
/// @return GPUs of a server that NVLS counts on
constexpr uint32_t
GetNvlsRanks(uint32_t least, uint32_t ranks, uint32_t servers)
{
    return least > 0 ? least : ranks / servers;
}

/// @ingroup proteus
/// @param version of NCCL, e.g. 218 @return GPUs of a server from which on there is NVLS, in one
/// and across servers (NVIDIA/nccl, src/transport/nvls.cc, ncclNvlsInit() of v2.18.3 to v2.27.7 and
/// of v2.28.7; ncclNvlsSetup() of v2.17.1)
constexpr uint32_t
GetLeastNvlsRanks(uint32_t version)
{
    constexpr uint32_t firstOfThree = 218;
    constexpr uint32_t firstOfTwoAgain = 228;
    return version >= firstOfThree && version < firstOfTwoAgain ? 3 : 2;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NVLS_HEADS_H
