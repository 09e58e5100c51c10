/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-use.h"

#include <algorithm>
#include <set>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param step of a thread block @return how often its bytes pass to or from the device memory
uint32_t
CountAccesses(const Step& step)
{
    const uint32_t arrives = Receives(step.kind) ? 1 : 0;
    return arrives + (ReadsBuffer(step.kind) ? 1 : 0) + (WritesBuffer(step.kind) ? 1 : 0);
}

} // namespace

ProgramUse
FindProgramUse(const CollectiveProgram& program)
{
    ProgramUse use;
    for (const RankProgram& rank : program.ranks)
    {
        std::set<uint16_t> processors;
        uint64_t bytes = 0;
        for (const ThreadBlock& block : rank.blocks)
        {
            if (block.processor != NO_PROCESSOR)
            {
                processors.insert(block.processor);
            }
            for (const Step& step : block.steps)
            {
                bytes += CountAccesses(step) * step.bytes;
            }
        }
        use.processors = std::max(use.processors, static_cast<uint32_t>(processors.size()));
        use.memoryBytes = std::max(use.memoryBytes, bytes);
    }
    return use;
}

} // namespace proteus
} // namespace ns3
