/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithms.h"
#include "proteus-message-blocks.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace proteus
{

void
AppendOwnParts(CollectiveProgram& program, const Cluster& cluster, const CollectiveRequest& request)
{
    program.warpRule = request.warpRule;
    const MessageLayout layout(request);
    const MessageBlocks spread(cluster, request);
    const uint32_t channels = std::max(request.channels, 1u);
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        const Extent sent = layout.Sent(rank, rank);
        Extent received = layout.Received(rank, rank);
        received.offset += program.outputOffset;
        for (uint32_t channel = 0; channel < channels; ++channel)
        {
            const Extent from = CutExtent(sent, channels, channel);
            const Extent to = CutExtent(received, channels, channel);
            if (from.bytes == 0)
            {
                continue;
            }
            Step copy{StepKind::COPY, to.offset, to.bytes};
            copy.source = from.offset;
            ThreadBlock block;
            block.channel = static_cast<uint16_t>(channel);
            block.processor = static_cast<uint16_t>(spread.GetProcessor(rank, rank, channel));
            block.steps.push_back(copy);
            program.ranks[rank].blocks.push_back(std::move(block));
        }
    }
}

} // namespace proteus
} // namespace ns3
