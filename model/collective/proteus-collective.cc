/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithms.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @throw std::invalid_argument if the splits of an all-to-all make no sense
void
CheckSplits(const CollectiveRequest& request, const std::string& name)
{
    const std::size_t n = request.vertices.size();
    if (request.splits.empty())
    {
        return;
    }
    if (request.collective != Collective::ALL_TO_ALL || request.splits.size() != n * n)
    {
        throw std::invalid_argument(name +
                                    ": splits must be one number for each pair of ranks of "
                                    "an all-to-all, " +
                                    std::to_string(n * n) + " of them");
    }
    for (std::size_t from = 0; from < n; ++from)
    {
        uint64_t left = request.bytes;
        for (std::size_t to = 0; to < n; ++to)
        {
            const uint64_t bytes = request.splits[from * n + to];
            if (bytes > left)
            {
                throw std::invalid_argument(name + ": the splits of rank " + std::to_string(from) +
                                            " sum up to more than " +
                                            std::to_string(request.bytes) + " bytes");
            }
            left -= bytes;
        }
    }
}

} // namespace

bool
Reduces(StepKind kind)
{
    return kind == StepKind::RECV_REDUCE || kind == StepKind::RECV_REDUCE_SEND ||
           kind == StepKind::RECV_REDUCE_COPY_SEND || kind == StepKind::REDUCE;
}

bool
SendsToGroup(StepKind kind)
{
    return kind == StepKind::GROUP_REDUCE || kind == StepKind::GROUP_ALL_REDUCE ||
           kind == StepKind::GROUP_MULTICAST;
}

bool
ReadsBuffer(StepKind kind)
{
    return kind == StepKind::SEND || kind == StepKind::COPY || Reduces(kind) || SendsToGroup(kind);
}

bool
WritesBuffer(StepKind kind)
{
    switch (kind)
    {
    case StepKind::RECV:
    case StepKind::RECV_REDUCE:
    case StepKind::RECV_COPY_SEND:
    case StepKind::RECV_REDUCE_COPY_SEND:
    case StepKind::COPY:
    case StepKind::REDUCE:
    case StepKind::GROUP_RECV:
        return true;
    default:
        return false;
    }
}

Extent
CutExtent(const Extent& whole, uint64_t parts, uint64_t index)
{
    const uint64_t share = whole.bytes / parts;
    const uint64_t longer = whole.bytes % parts;
    return {whole.offset + index * share + std::min(index, longer), share + (index < longer)};
}

CollectiveRequest
MakeBarrierRequest(const std::vector<VertexId>& vertices)
{
    CollectiveRequest request;
    request.collective = Collective::ALL_REDUCE;
    request.bytes = BARRIER_ELEMENT_BYTES;
    request.channels = 1;
    request.vertices = vertices;
    return request;
}

CollectiveProgram
MakeProgram(const Cluster& cluster, const Paths& paths, const CollectiveRequest& request)
{
    const std::string name = ToString(request.collective);
    if (request.vertices.empty())
    {
        throw std::invalid_argument(name + ": the group has no members");
    }
    if (request.bytes == 0 || request.chunkBytes == 0)
    {
        throw std::invalid_argument(name + ": size and chunk size must be at least one byte");
    }
    if (request.slots < 2)
    {
        // With one, all ranks of a ring could hold a chunk and wait for each other.
        throw std::invalid_argument(name + ": a receiver needs room for two chunks or more");
    }
    if (request.root >= request.vertices.size())
    {
        throw std::invalid_argument(name + ": root " + std::to_string(request.root) +
                                    " is not one of " + std::to_string(request.vertices.size()) +
                                    " ranks");
    }
    if (request.collective == Collective::SEND_RECV && request.vertices.size() != 2)
    {
        throw std::invalid_argument(name + ": needs two ranks, a sender and a receiver");
    }
    CheckSplits(request, name);
    const CollectiveAlgorithm make = FindAlgorithm(request.collective, request.algorithm);
    CollectiveProgram program;
    if (request.vertices.size() == 1)
    {
        program.algorithm = "none";
        program.bufferBytes = request.bytes;
        program.ranks.resize(1);
    }
    else
    {
        program = make(cluster, paths, request);
    }
    program.protocol = request.protocol;
    program.slots = request.slots;
    return program;
}

uint64_t
SentBytes(const RankProgram& program)
{
    uint64_t bytes = 0;
    for (const ThreadBlock& block : program.blocks)
    {
        for (const Step& step : block.steps)
        {
            bytes += Sends(step.kind) || SendsToGroup(step.kind) ? step.bytes : 0;
        }
    }
    return bytes;
}

uint64_t
ReceivedBytes(const RankProgram& program)
{
    uint64_t bytes = 0;
    for (const ThreadBlock& block : program.blocks)
    {
        for (const Step& step : block.steps)
        {
            bytes += Receives(step.kind) || step.kind == StepKind::GROUP_RECV ? step.bytes : 0;
        }
    }
    return bytes;
}

} // namespace proteus
} // namespace ns3
