/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Which programs FlowProfiles replays for a collective: its own, or two short ones of its family,
// whose difference tells what longer ones take.

#include "proteus-flow-classes.h"
#include "proteus-flow-profile.h"

#include "ns3/proteus-algorithm-traits.h"
#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-nccl-tuner.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Messages of a program that is replayed as a whole.
constexpr uint64_t MAX_MESSAGES = 2000;
/// Of every flow of a program that has come to its pace there are so many messages for each slot of
/// a connection.
constexpr uint64_t STEADY_ROUNDS = 2;
/// Loops of a ring that has come to its pace: the first ones go by with links that are idle.
constexpr uint64_t STEADY_LOOPS = 4;
/// Messages of a program that is worth interpolating.
constexpr uint64_t LEAST_MESSAGES = 500;
/// Chunks of every channel and rank of the first program that is made of a family.
constexpr uint64_t FIRST_CHUNKS = 2;

/// Bytes of a collective of which every channel gets one chunk of every rank.
uint64_t
CountChunkBytes(const Cluster& cluster, const CollectiveRequest& request)
{
    const AlgorithmTraits& traits = GetAlgorithmTraits(request.algorithm);
    uint64_t chunks = request.vertices.size();
    if (traits.hasNvlsChannels)
    {
        // Every head of a server has a chunk, which is one for all servers.
        chunks = CountLeastRanks(GroupByServer(cluster, request.vertices));
    }
    else if (traits.hasCommonChunks)
    {
        chunks = 2;
    }
    return request.chunkBytes * std::max<uint64_t>(request.channels, 1) * chunks;
}

} // namespace

std::shared_ptr<FlowProfiles::Part>
FlowProfiles::MakePart(TaskId id,
                       const CollectiveRequest& request,
                       std::shared_ptr<const CollectiveProgram> program) const
{
    if (m_goOn)
    {
        m_goOn();
    }
    const auto part = std::make_shared<Part>();
    part->bytes = request.bytes;
    part->request = request;
    part->program = program ? std::move(program)
                            : std::make_shared<CollectiveProgram>(m_programs->Make(request));
    part->protocol = part->program->protocol;
    part->use = FindProgramUse(*part->program);
    part->flows = FindFlows(*part->program);
    part->costs = FindCosts(id, *part->program, part->flows);
    return part;
}

void
FlowProfiles::SetWhole(TaskId id, const CollectiveRequest& request, Shape& shape) const
{
    auto& wholes = shape.common->wholes;
    const auto above = wholes.lower_bound(shape.bytes);
    shape.family = std::make_shared<Family>();
    if (above != wholes.end() && above != wholes.begin() && above->first != shape.bytes)
    {
        const auto& longer = above->second;
        const auto& shorter = std::prev(above)->second;
        const uint64_t messages = CountMessages(longer->flows);
        if (messages >= LEAST_MESSAGES && messages == CountMessages(shorter->flows) &&
            longer->flows.size() == shorter->flows.size())
        {
            shape.family->protocol = longer->protocol;
            shape.family->parts = {shorter, longer};
            SetBetween(shape);
            return;
        }
    }
    auto& part = wholes[shape.bytes];
    part = part ? part : MakePart(id, request, m_programs->Find(id));
    shape.flows = part->flows;
    shape.family->protocol = part->protocol;
    shape.family->parts = {part};
}

void
FlowProfiles::SetBetween(Shape& shape)
{
    const Part& shorter = *shape.family->parts.front();
    const Part& longer = *shape.family->parts.back();
    const double times = (static_cast<double>(shape.bytes) - static_cast<double>(longer.bytes)) /
                         (static_cast<double>(longer.bytes) - static_cast<double>(shorter.bytes));
    const auto grow = [times](uint64_t less, uint64_t more) {
        return more + std::llround(times * (static_cast<double>(more) - static_cast<double>(less)));
    };
    shape.flows = longer.flows;
    for (std::size_t i = 0; i < shape.flows.size(); ++i)
    {
        shape.flows[i].bytes = grow(shorter.flows[i].bytes, longer.flows[i].bytes);
        shape.flows[i].messages = grow(shorter.flows[i].messages, longer.flows[i].messages);
    }
}

uint64_t
FlowProfiles::CountSteadyBytes(const CollectiveRequest& request, const Family& family) const
{
    const uint64_t most =
        std::max(MAX_MESSAGES, STEADY_ROUNDS * request.slots * family.parts.front()->flows.size());
    // LL and LL128 cut a chunk into parts that follow each other: the shorter program has a whole
    // chunk, since parts of the next one cost less than those of the first.
    uint64_t least = family.leastBytes * request.GetStepsOfMessage();
    if (GetAlgorithmTraits(request.algorithm).tunable == NcclAlgorithm::RING &&
        !HasRoot(request.collective))
    {
        // It goes round the ring in loops, each of which waits for the one before.
        least = std::max(least,
                         STEADY_LOOPS * (request.slots / 2) * CountChunkBytes(m_cluster, request));
    }
    // Whole chunks and loops: a short one costs more for a byte.
    const double times =
        family.bytesPerMessage * static_cast<double>(most) / static_cast<double>(least);
    return std::max<uint64_t>(std::llround(times), 1) * least;
}

void
FlowProfiles::MakeParts(TaskId id, CollectiveRequest request, Family& family) const
{
    // The one whose chunks are as long as they get is there already.
    const std::shared_ptr<Part> first = family.parts.front();
    const uint64_t bytes = CountSteadyBytes(request, family);
    family.parts.clear();
    for (const uint64_t part : {bytes / 2, bytes})
    {
        request.bytes = part;
        family.parts.push_back(part == first->bytes ? first : MakePart(id, request));
    }
    family.protocol = family.parts.back()->protocol;
    if (family.parts.front()->flows.size() != family.parts.back()->flows.size())
    {
        // Some connections have nothing to do in a short one: no way round the whole.
        family.parts.clear();
        family.isWhole = true;
    }
}

FlowProfiles::Shape&
FlowProfiles::FindShape(TaskId id)
{
    const auto key = m_programs->GetKey(id);
    const auto [place, isNew] = m_shapes.emplace(key, Shape());
    Shape& shape = place->second;
    if (!isNew)
    {
        return shape;
    }
    CollectiveRequest request = m_programs->MakeRequest(id);
    shape.bytes = request.bytes;
    shape.ranks = static_cast<uint32_t>(request.vertices.size());
    auto& family = m_families[FamilyKey{request.collective,
                                        request.root,
                                        std::get<3>(key),
                                        request.algorithm,
                                        request.protocol,
                                        request.channels,
                                        request.chunkBytes,
                                        request.slots,
                                        request.stepsPerChunk,
                                        request.leastStepBytes,
                                        request.networkChannels}];
    if (!family)
    {
        family = std::make_shared<Family>();
        family->isWhole = !request.splits.empty() || m_programs->GetSettings().isMadeWhole;
    }
    shape.common = family;
    if (!family->isWhole && family->bytesPerMessage == 0)
    {
        family->leastBytes = FIRST_CHUNKS * CountChunkBytes(m_cluster, request);
        request.bytes = std::min(shape.bytes, family->leastBytes);
        if (request.bytes == shape.bytes)
        {
            SetWhole(id, request, shape);
            return shape;
        }
        family->parts.push_back(MakePart(id, request));
        const uint64_t messages = CountMessages(family->parts.back()->flows);
        request.bytes = shape.bytes;
        family->bytesPerMessage = static_cast<double>(family->leastBytes) /
                                  static_cast<double>(std::max<uint64_t>(messages, 1));
    }
    if (!family->isWhole && family->parts.size() == 1 && shape.bytes > family->leastBytes &&
        shape.bytes > CountSteadyBytes(request, *family))
    {
        MakeParts(id, request, *family);
    }
    if (family->isWhole || family->parts.size() < 2 || shape.bytes <= family->parts.back()->bytes)
    {
        SetWhole(id, request, shape);
        return shape;
    }
    shape.family = family;
    SetBetween(shape);
    return shape;
}

} // namespace proteus
} // namespace ns3
