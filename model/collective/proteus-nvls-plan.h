/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NVLS_PLAN_H
#define PROTEUS_NVLS_PLAN_H

#include "proteus-channel-search.h"

#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * Channels and chunks of collectives whose sums NVSwitches do.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What channels and chunks of NVLS depend on.
struct NvlsQuestion
{
    uint32_t version{230};          //!< of NCCL, 100 times the major plus the minor number
    uint32_t computeCapability{90}; //!< of the GPUs, ten times
    uint32_t servers{1};            //!< that the ranks are in, or domains of NVLink
    uint32_t ranksOfServer{8};      //!< least of all servers
    double cardGBps{0};             //!< of one NIC, 1e9 bytes per second
    PathType toCard{PathType::PIX}; //!< worst way to a NIC
};

/// @ingroup proteus
/// Stands for a chunk of as many bytes as a slot has.
constexpr uint64_t WHOLE_SLOT_BYTES = uint64_t{1} << 40;
/// @ingroup proteus
/// The first version whose trees have no longer chunks than NVLS in one server.
constexpr uint32_t FIRST_CHUNKS_OF_NVLS = 221;

/// @ingroup proteus
/// Channels and chunks of NVLS.
struct NvlsPlan
{
    uint32_t channels{16};           //!< of algorithms nvls and nvls-tree
    uint64_t chunkBytes{131072};     //!< most of a chunk with nvls
    uint64_t treeChunkBytes{131072}; //!< most of a chunk with nvls-tree
};

/**
 * @ingroup proteus
 * What NCCL takes: 16 channels on Hopper; on Blackwell 32, from 2.27 on 24 in one server or domain
 * of NVLink; chunks of 128 KiB, of trees up to 2.20 whole slots, from 2.19 on trees of four and
 * more servers 64 KiB (v2.18.3 to v2.20.5, src/enqueue.cc, NCCL_ALGO_NVLS_TREE; v2.21.5 has
 * NCCL_NVLS_CHUNKSIZE for both); from 2.30 on
 * Blackwell across servers both depend on the NICs (NVIDIA/nccl v2.30.7, src/transport/nvls.cc,
 * ncclNvlsTuning(); v2.27.3, ncclNvlsInit(); v2.19.3, src/enqueue.cc).
 * @param question what is wanted
 * @return the plan
 */
NvlsPlan PlanNvls(const NvlsQuestion& question);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NVLS_PLAN_H
