/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-symbolic-layout.h"

namespace ns3
{
namespace proteus
{

std::vector<Placement>
GetInput(const CollectiveProgram& program,
         const CollectiveRequest& request,
         const AllToAllLayout& /* layout */,
         uint32_t rank,
         RankSets& sets)
{
    const auto n = static_cast<uint32_t>(program.ranks.size());
    const Extent whole{0, request.bytes};
    const uint32_t self = sets.Single(rank);
    std::vector<Placement> places;
    const auto add = [&](uint64_t offset, uint64_t bytes, uint64_t logical) {
        if (bytes > 0)
        {
            places.push_back({offset, bytes, logical, self});
        }
    };
    switch (request.collective)
    {
    case Collective::ALL_REDUCE:
    case Collective::REDUCE_SCATTER:
    case Collective::REDUCE:
        add(0, whole.bytes, 0);
        break;
    case Collective::ALL_GATHER:
    case Collective::GATHER: {
        const Extent own = CutExtent(whole, n, rank);
        add(program.inPlace ? own.offset : 0, own.bytes, own.offset);
        break;
    }
    case Collective::BROADCAST:
    case Collective::SCATTER:
    case Collective::SEND_RECV:
        if (rank == request.root)
        {
            add(0, whole.bytes, 0);
        }
        break;
    case Collective::ALL_TO_ALL:
        add(0, whole.bytes, rank * whole.bytes);
        break;
    }
    return places;
}

std::vector<Placement>
GetOutput(const CollectiveProgram& program,
          const CollectiveRequest& request,
          const AllToAllLayout& layout,
          uint32_t rank,
          RankSets& sets)
{
    const auto n = static_cast<uint32_t>(program.ranks.size());
    const Extent whole{0, request.bytes};
    const uint64_t begin = program.inPlace ? 0 : program.outputOffset;
    std::vector<Placement> places;
    const auto add = [&](uint64_t offset, uint64_t bytes, uint64_t logical, uint32_t set) {
        if (bytes > 0)
        {
            places.push_back({offset, bytes, logical, set});
        }
    };
    const Extent own = CutExtent(whole, n, rank);
    const uint64_t ownBegin = program.inPlace ? own.offset : begin;
    switch (request.collective)
    {
    case Collective::ALL_REDUCE:
        add(begin, whole.bytes, 0, sets.All());
        break;
    case Collective::REDUCE:
        if (rank == request.root)
        {
            add(begin, whole.bytes, 0, sets.All());
        }
        break;
    case Collective::REDUCE_SCATTER:
        add(ownBegin, own.bytes, own.offset, sets.All());
        break;
    case Collective::SCATTER:
        add(ownBegin, own.bytes, own.offset, sets.Single(request.root));
        break;
    case Collective::BROADCAST:
    case Collective::SEND_RECV:
        add(begin, whole.bytes, 0, sets.Single(request.root));
        break;
    case Collective::GATHER:
        if (rank != request.root)
        {
            break;
        }
        [[fallthrough]];
    case Collective::ALL_GATHER:
        for (uint32_t owner = 0; owner < n; ++owner)
        {
            const Extent segment = CutExtent(whole, n, owner);
            add(begin + segment.offset, segment.bytes, segment.offset, sets.Single(owner));
        }
        break;
    case Collective::ALL_TO_ALL:
        for (uint32_t sender = 0; sender < n; ++sender)
        {
            const Extent sent = layout.Sent(sender, rank);
            if (sender != rank) // what need not move
            {
                add(begin + layout.Received(sender, rank).offset,
                    sent.bytes,
                    sender * whole.bytes + sent.offset,
                    sets.Single(sender));
            }
        }
        break;
    }
    return places;
}

} // namespace proteus
} // namespace ns3
