/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-thresholds.h"

#include "ns3/proteus-whole-number.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

bool
IsTreeByThreshold(const NcclThresholdQuestion& question)
{
    if (question.collective != Collective::ALL_REDUCE)
    {
        return false;
    }
    if (question.treeBytes)
    {
        return question.bytes <= *question.treeBytes;
    }
    // ncclTreeThreshold(), whose rates are bytes per microsecond.
    constexpr double CHANNEL_RATE = 5000;
    constexpr double RING_INTER_US = 6;
    constexpr double TREE_INTRA_US = 4;
    constexpr double TREE_INTER_US = 15;
    const double ringRate = question.hasNvlink ? CHANNEL_RATE * question.channels : CHANNEL_RATE;
    const double share = !question.hasNvlink ? 2.0 / 3 : question.servers == 2 ? 1.5 : 0.75;
    const double treeRate = ringRate * share;
    uint32_t depth = 0;
    for (uint32_t n = question.servers; n > 1; n /= 2)
    {
        ++depth;
    }
    const double ringUs = RING_INTER_US * (question.ranks - 1);
    const double treeUs = TREE_INTER_US * depth +
                          TREE_INTRA_US * (question.ranks / std::max(question.servers, 1u) - 1);
    if (question.servers < 2 || ringUs <= treeUs)
    {
        return false;
    }
    return treeRate > ringRate || static_cast<double>(question.bytes) <= ringRate * treeRate /
                                                                             (ringRate - treeRate) *
                                                                             (ringUs - treeUs);
}

NcclLlPlan
PlanLlByThreshold(const NcclThresholdQuestion& question, bool isTree)
{
    constexpr uint64_t MOST_THREADS = 256; // MAXTHREADS
    constexpr uint64_t LEAST_THREADS = 64; // NCCL_LL_MIN_NTHREADS
    constexpr uint64_t CHANNEL_BYTES = 8;  // of a thread: NCCL_LL_CHANNEL_THRESHOLD
    constexpr uint32_t VOLTA = 70;
    // NCCL_THREAD_THRESHOLD and NCCL_THREAD_THRESHOLD_PREVOLTA; four times as much for trees.
    const uint64_t threadBytes = (question.computeCapability < VOLTA ? 32 : 64) *
                                 (question.servers > 1 ? 2 : 1) * (isTree ? 4 : 1);
    const bool hasRoot =
        question.collective == Collective::BROADCAST || question.collective == Collective::REDUCE;
    const uint64_t chunks = isTree || hasRoot ? 1 : question.ranks; // nchunksPerLoop
    uint64_t threads = LEAST_THREADS;
    while (DivideUp(question.bytes, threads * chunks) > CHANNEL_BYTES && threads < MOST_THREADS)
    {
        threads *= 2;
    }
    const uint64_t wanted = DivideUp(question.bytes, threads * chunks * CHANNEL_BYTES);
    NcclLlPlan plan;
    plan.channels =
        static_cast<uint32_t>(std::clamp<uint64_t>(wanted, 1, std::max(question.channels, 1u)));
    plan.isTaken =
        question.bytes <= question.llBytes.value_or(plan.channels * threads * chunks * threadBytes);
    return plan;
}

} // namespace proteus
} // namespace ns3
