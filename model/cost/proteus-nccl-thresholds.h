/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_THRESHOLDS_H
#define PROTEUS_NCCL_THRESHOLDS_H

#include "ns3/proteus-graph-kinds.h"

#include <cstdint>
#include <optional>

/**
 * @file
 * @ingroup proteus
 * How NCCL chose before 2.5, when its tuner got a model: by thresholds of bytes (NVIDIA/nccl
 * v2.4.8, src/init.cc, ncclTreeThreshold() and ncclThreadThreshold(); src/enqueue.cc,
 * getPatternInfo() and getKernelInfo(). v2.3.7, src/include/common_coll.h, has no trees and the
 * same thresholds of LL).
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the thresholds depend on.
struct NcclThresholdQuestion
{
    Collective collective{Collective::ALL_REDUCE}; //!< which one
    uint64_t bytes{0};                             //!< as the Collective counts them
    uint32_t ranks{2};                             //!< how many
    uint32_t servers{1};                           //!< that the ranks are in
    uint32_t channels{1};                          //!< of the communicator
    uint32_t computeCapability{70};                //!< of the GPUs, ten times
    bool hasNvlink{true};                          //!< whether the GPUs have NVLinks
    std::optional<uint64_t> treeBytes;             //!< NCCL_TREE_THRESHOLD
    std::optional<uint64_t> llBytes;               //!< NCCL_LL_THRESHOLD
};

/// @ingroup proteus
/// What there is of LL.
struct NcclLlPlan
{
    bool isTaken{false};  //!< otherwise Simple by all channels
    uint32_t channels{1}; //!< of LL
};

/// @ingroup proteus
/// @param question about a collective @return whether it goes by trees; otherwise by rings
bool IsTreeByThreshold(const NcclThresholdQuestion& question);

/// @ingroup proteus
/// @param question about a collective @param isTree whether it goes by trees
/// @return whether it takes LL, and how many channels LL takes
NcclLlPlan PlanLlByThreshold(const NcclThresholdQuestion& question, bool isTree);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_THRESHOLDS_H
