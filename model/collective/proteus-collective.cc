/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithms.h"
#include "proteus-program.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

bool
Receives(StepKind kind)
{
    return kind != StepKind::SEND;
}

bool
Sends(StepKind kind)
{
    return kind != StepKind::RECV && kind != StepKind::RECV_REDUCE;
}

bool
Reduces(StepKind kind)
{
    return kind == StepKind::RECV_REDUCE || kind == StepKind::RECV_REDUCE_SEND ||
           kind == StepKind::RECV_REDUCE_COPY_SEND;
}

CollectiveAlgorithm
FindAlgorithm(Collective collective)
{
    switch (collective)
    {
    case Collective::ALL_REDUCE:
    case Collective::ALL_GATHER:
    case Collective::REDUCE_SCATTER:
        return &MakeRingProgram;
    case Collective::BROADCAST:
        return &MakeChainProgram;
    case Collective::SEND_RECV:
        return &MakeSendReceiveProgram;
    }
    throw std::invalid_argument("no algorithm for this collective");
}

Extent
CutExtent(const Extent& whole, uint64_t parts, uint64_t index)
{
    const uint64_t share = whole.bytes / parts;
    const uint64_t longer = whole.bytes % parts;
    return {whole.offset + index * share + std::min(index, longer), share + (index < longer)};
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
    if (request.vertices.size() == 1)
    {
        CollectiveProgram program;
        program.algorithm = "none";
        program.bufferBytes = request.bytes;
        program.ranks.resize(1);
        return program;
    }
    return FindAlgorithm(request.collective)(cluster, paths, request);
}

uint64_t
SentBytes(const RankProgram& program)
{
    uint64_t bytes = 0;
    for (const ThreadBlock& block : program.blocks)
    {
        for (const Step& step : block.steps)
        {
            bytes += Sends(step.kind) ? step.bytes : 0;
        }
    }
    return bytes;
}

} // namespace proteus
} // namespace ns3
