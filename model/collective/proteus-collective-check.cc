/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program.h"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <deque>
#include <map>
#include <sstream>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

/// Ranks whose contribution a byte holds.
using Contributions = boost::dynamic_bitset<>;

/// What travels between two thread blocks: a chunk, cut at every boundary that any step has.
using Chunk = std::vector<Contributions>;

/// A thread block under way.
struct BlockState
{
    const ThreadBlock* block;
    uint32_t rank;
    std::size_t next{0};         //!< step
    std::deque<Chunk>* incoming; //!< null where nothing is received
    std::deque<Chunk>* outgoing; //!< null where nothing is sent
};

/// Says which step of which rank something is about.
std::string
At(const BlockState& state)
{
    std::ostringstream text;
    text << "rank " << state.rank << ", channel " << state.block->channel << ", step " << state.next
         << ": ";
    return text.str();
}

} // namespace

std::string
CheckProgram(const CollectiveProgram& program, const CollectiveRequest& request)
{
    const auto n = static_cast<uint32_t>(program.ranks.size());
    if (n != request.vertices.size())
    {
        return "the program is for another number of ranks";
    }

    // Between two boundaries all bytes fare alike.
    std::vector<uint64_t> boundaries{0, request.bytes};
    for (uint32_t rank = 0; rank <= n; ++rank)
    {
        const Extent segment = CutExtent({0, request.bytes}, n, std::min(rank, n - 1));
        boundaries.push_back(rank < n ? segment.offset : segment.offset + segment.bytes);
    }
    for (const RankProgram& rank : program.ranks)
    {
        for (const ThreadBlock& block : rank.blocks)
        {
            for (const Step& step : block.steps)
            {
                if (step.bytes == 0 || step.offset + step.bytes > request.bytes)
                {
                    return "a step is empty or reaches past the buffer";
                }
                boundaries.push_back(step.offset);
                boundaries.push_back(step.offset + step.bytes);
            }
        }
    }
    std::sort(boundaries.begin(), boundaries.end());
    boundaries.erase(std::unique(boundaries.begin(), boundaries.end()), boundaries.end());
    const std::size_t nPieces = boundaries.size() - 1;
    const auto piece = [&](uint64_t offset) {
        return static_cast<std::size_t>(
            std::lower_bound(boundaries.begin(), boundaries.end(), offset) - boundaries.begin());
    };
    const auto ownPieces = [&](uint32_t rank) {
        const Extent own = CutExtent({0, request.bytes}, n, rank);
        return std::make_pair(piece(own.offset), piece(own.offset + own.bytes));
    };

    // What every rank has at the beginning.
    std::vector<Chunk> buffers(n, Chunk(nPieces, Contributions(n)));
    for (uint32_t rank = 0; rank < n; ++rank)
    {
        auto [first, last] = std::make_pair(std::size_t{0}, nPieces);
        switch (request.collective)
        {
        case Collective::ALL_REDUCE:
        case Collective::REDUCE_SCATTER:
            break;
        case Collective::ALL_GATHER:
            std::tie(first, last) = ownPieces(rank);
            break;
        case Collective::BROADCAST:
        case Collective::SEND_RECV:
            last = rank == request.root ? nPieces : 0;
            break;
        }
        for (std::size_t i = first; i < last; ++i)
        {
            buffers[rank][i].set(rank);
        }
    }

    // One queue per (sender, receiver, channel).
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::deque<Chunk>> queues;
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::pair<int, int>> ends;
    std::vector<BlockState> states;
    for (uint32_t rank = 0; rank < n; ++rank)
    {
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            BlockState state{&block, rank, 0, nullptr, nullptr};
            if (block.receivePeer != NO_RANK)
            {
                const auto key = std::make_tuple(block.receivePeer, rank, block.channel);
                state.incoming = &queues[key];
                ++ends[key].second;
            }
            if (block.sendPeer != NO_RANK)
            {
                const auto key = std::make_tuple(rank, block.sendPeer, block.channel);
                state.outgoing = &queues[key];
                ++ends[key].first;
            }
            states.push_back(state);
        }
    }
    for (const auto& [key, count] : ends)
    {
        if (count != std::make_pair(1, 1))
        {
            std::ostringstream text;
            text << "connection from rank " << std::get<0>(key) << " to rank " << std::get<1>(key)
                 << " on channel " << std::get<2>(key) << " has " << count.first << " senders and "
                 << count.second << " receivers";
            return text.str();
        }
    }

    for (bool progress = true; progress;)
    {
        progress = false;
        for (BlockState& state : states)
        {
            while (state.next < state.block->steps.size())
            {
                const Step& step = state.block->steps[state.next];
                if ((Receives(step.kind) && !state.incoming) ||
                    (Sends(step.kind) && !state.outgoing))
                {
                    return At(state) + "no peer";
                }
                if ((Receives(step.kind) && state.incoming->empty()) ||
                    (Sends(step.kind) && state.outgoing->size() >= CHUNK_SLOTS))
                {
                    break;
                }
                const auto first = buffers[state.rank].begin() + piece(step.offset);
                const auto last = buffers[state.rank].begin() + piece(step.offset + step.bytes);
                Chunk chunk(first, last);
                if (Receives(step.kind))
                {
                    Chunk received = std::move(state.incoming->front());
                    state.incoming->pop_front();
                    if (received.size() != chunk.size())
                    {
                        return At(state) + "receives a chunk of another size";
                    }
                    for (std::size_t i = 0; i < chunk.size() && Reduces(step.kind); ++i)
                    {
                        if (received[i].intersects(chunk[i]))
                        {
                            return At(state) + "adds a contribution twice";
                        }
                        received[i] |= chunk[i];
                    }
                    chunk = std::move(received);
                }
                if (Receives(step.kind) && step.kind != StepKind::RECV_REDUCE_SEND)
                {
                    std::copy(chunk.begin(), chunk.end(), first);
                }
                if (Sends(step.kind))
                {
                    state.outgoing->push_back(std::move(chunk));
                }
                ++state.next;
                progress = true;
            }
        }
    }
    for (const BlockState& state : states)
    {
        if (state.next < state.block->steps.size())
        {
            return At(state) + "waits for ever";
        }
    }
    for (const auto& [key, queue] : queues)
    {
        if (!queue.empty())
        {
            return "rank " + std::to_string(std::get<1>(key)) + " leaves chunks of rank " +
                   std::to_string(std::get<0>(key)) + " unread";
        }
    }

    // What every rank must have at the end.
    Contributions all(n);
    all.set();
    for (uint32_t rank = 0; rank < n; ++rank)
    {
        const auto own = ownPieces(rank);
        for (std::size_t i = 0; i < nPieces; ++i)
        {
            Contributions expected(n);
            switch (request.collective)
            {
            case Collective::ALL_REDUCE:
                expected = all;
                break;
            case Collective::REDUCE_SCATTER:
                if (i < own.first || i >= own.second)
                {
                    continue; // scratch
                }
                expected = all;
                break;
            case Collective::ALL_GATHER:
                for (uint32_t owner = 0; owner < n; ++owner)
                {
                    const auto pieces = ownPieces(owner);
                    expected[owner] = i >= pieces.first && i < pieces.second;
                }
                break;
            case Collective::BROADCAST:
            case Collective::SEND_RECV:
                expected.set(request.root);
                break;
            }
            if (buffers[rank][i] != expected)
            {
                std::ostringstream text;
                text << "rank " << rank << " ends with the wrong contributions at byte "
                     << boundaries[i];
                return text.str();
            }
        }
    }
    return "";
}

} // namespace proteus
} // namespace ns3
