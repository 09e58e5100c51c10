/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nvls-plan.h"

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint64_t KIB = 1024;
constexpr uint32_t BLACKWELL = 100; // compute capability, ten times
// NICs of 400 and 800 Gb/s, 1e9 bytes per second, as NCCL tells them apart.
constexpr double CARD_OF_400G = 48;
constexpr double CARD_OF_800G = 96;
// Versions of NCCL in which a rule begins.
constexpr uint32_t FIRST_SHORT_TREE_CHUNKS = 219;
constexpr uint32_t FIRST_FEWER_IN_ONE_SERVER = 227;
constexpr uint32_t FIRST_TUNED_BY_CARD = 230;

/// What suits Blackwell across servers (ncclNvlsTreeSm100Tuning()).
/// @param question what is wanted @param plan to change
void
TuneByCard(const NvlsQuestion& question, NvlsPlan& plan)
{
    const bool isNear = question.toCard <= PathType::PXB;
    const uint32_t ranks = question.ranksOfServer;
    if (question.servers == 2 && question.cardGBps >= CARD_OF_400G)
    {
        if (ranks <= 4)
        {
            plan.chunkBytes = plan.treeChunkBytes = 256 * KIB;
        }
        else if (ranks >= 16 || (ranks <= 8 && isNear && question.cardGBps < CARD_OF_800G))
        {
            plan.treeChunkBytes = 64 * KIB;
        }
        else
        {
            plan.treeChunkBytes = 128 * KIB;
        }
    }
    else if (question.cardGBps >= CARD_OF_800G)
    {
        if (ranks <= 8)
        {
            plan.channels = 24;
            plan.chunkBytes = plan.treeChunkBytes = 256 * KIB;
        }
        else
        {
            plan.treeChunkBytes = (ranks < 32 ? 128 : 64) * KIB;
        }
    }
    else if (question.cardGBps >= CARD_OF_400G)
    {
        plan.channels = 24;
        plan.treeChunkBytes = (isNear ? 64 : 128) * KIB;
    }
}

} // namespace

NvlsPlan
PlanNvls(const NvlsQuestion& question)
{
    const bool isBlackwell = question.computeCapability >= BLACKWELL;
    NvlsPlan plan;
    if (isBlackwell)
    {
        plan.channels =
            question.servers == 1 && question.version >= FIRST_FEWER_IN_ONE_SERVER ? 24 : 32;
    }
    if (question.version < FIRST_CHUNKS_OF_NVLS)
    {
        plan.treeChunkBytes = WHOLE_SLOT_BYTES;
    }
    if (question.servers >= 4 && question.version >= FIRST_SHORT_TREE_CHUNKS)
    {
        plan.treeChunkBytes = 64 * KIB;
    }
    if (isBlackwell && question.servers > 1 && question.version >= FIRST_TUNED_BY_CARD)
    {
        TuneByCard(question, plan);
    }
    return plan;
}

} // namespace proteus
} // namespace ns3
