/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-symbolic-layout.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

std::vector<PlacedBytes>
GetInput(const CollectiveProgram& program,
         const CollectiveRequest& request,
         const MessageLayout& /* layout */,
         uint32_t rank,
         RankSets& sets)
{
    const auto n = static_cast<uint32_t>(program.ranks.size());
    const Extent whole{0, request.bytes};
    const uint32_t self = sets.Single(rank);
    std::vector<PlacedBytes> places;
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

namespace
{

/// Every rank's segment, behind `begin`.
std::vector<PlacedBytes>
GetGathered(uint64_t begin, uint64_t bytes, uint32_t n, RankSets& sets)
{
    std::vector<PlacedBytes> places;
    for (uint32_t owner = 0; owner < n; ++owner)
    {
        const Extent segment = CutExtent({0, bytes}, n, owner);
        places.push_back(
            {begin + segment.offset, segment.bytes, segment.offset, sets.Single(owner)});
    }
    return places;
}

/// What all others send to a rank in an all-to-all, behind `begin`.
std::vector<PlacedBytes>
GetSentTo(uint32_t rank,
          uint64_t begin,
          uint64_t bytes,
          uint32_t n,
          const MessageLayout& layout,
          RankSets& sets)
{
    std::vector<PlacedBytes> places;
    for (uint32_t sender = 0; sender < n; ++sender)
    {
        const Extent sent = layout.Sent(sender, rank);
        if (sender != rank) // what need not move
        {
            places.push_back({begin + layout.Received(sender, rank).offset,
                              sent.bytes,
                              sender * bytes + sent.offset,
                              sets.Single(sender)});
        }
    }
    return places;
}

/// See GetOutput(); places may be empty.
std::vector<PlacedBytes>
FindOutput(const CollectiveProgram& program,
           const CollectiveRequest& request,
           const MessageLayout& layout,
           uint32_t rank,
           RankSets& sets)
{
    const auto n = static_cast<uint32_t>(program.ranks.size());
    const uint64_t bytes = request.bytes;
    const uint64_t begin = program.inPlace ? 0 : program.outputOffset;
    const Extent own = CutExtent({0, bytes}, n, rank);
    const uint64_t ownBegin = program.inPlace ? own.offset : begin;
    const bool isAtRoot =
        request.collective == Collective::REDUCE || request.collective == Collective::GATHER;
    if (isAtRoot && rank != request.root)
    {
        return {};
    }
    switch (request.collective)
    {
    case Collective::ALL_REDUCE:
    case Collective::REDUCE:
        return {{begin, bytes, 0, sets.All()}};
    case Collective::REDUCE_SCATTER:
        return {{ownBegin, own.bytes, own.offset, sets.All()}};
    case Collective::SCATTER:
        return {{ownBegin, own.bytes, own.offset, sets.Single(request.root)}};
    case Collective::BROADCAST:
    case Collective::SEND_RECV:
        return {{begin, bytes, 0, sets.Single(request.root)}};
    case Collective::GATHER:
    case Collective::ALL_GATHER:
        return GetGathered(begin, bytes, n, sets);
    case Collective::ALL_TO_ALL:
        return GetSentTo(rank, begin, bytes, n, layout, sets);
    }
    return {};
}

} // namespace

std::vector<PlacedBytes>
GetOutput(const CollectiveProgram& program,
          const CollectiveRequest& request,
          const MessageLayout& layout,
          uint32_t rank,
          RankSets& sets)
{
    std::vector<PlacedBytes> places = FindOutput(program, request, layout, rank, sets);
    places.erase(std::remove_if(places.begin(),
                                places.end(),
                                [](const PlacedBytes& place) { return place.bytes == 0; }),
                 places.end());
    return places;
}

} // namespace proteus
} // namespace ns3
