/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-machine.h"

namespace ns3
{
namespace proteus
{

BlockWaiters
FindWaiters(const CollectiveProgram& program)
{
    BlockWaiters all(program.ranks.size());
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        const auto& blocks = program.ranks[rank].blocks;
        auto& waiters = all[rank];
        waiters.resize(blocks.size());
        for (uint32_t block = 0; block < blocks.size(); ++block)
        {
            for (const Step& step : blocks[block].steps)
            {
                if (step.waitBlock != NO_BLOCK && step.waitBlock != block &&
                    (waiters[step.waitBlock].empty() || waiters[step.waitBlock].back() != block))
                {
                    waiters[step.waitBlock].push_back(block);
                }
            }
        }
    }
    return all;
}

} // namespace proteus
} // namespace ns3
