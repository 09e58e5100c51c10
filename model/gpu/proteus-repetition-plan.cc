/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-repetition-plan.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-sort-unique.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Stands between the parts of a description.
constexpr uint64_t SEPARATOR = UINT64_MAX;

/// @param values to number @param value one of them @return its position, ascending
template <typename T>
uint64_t
FindPosition(const std::vector<T>& values, const T& value)
{
    return static_cast<uint64_t>(std::lower_bound(values.begin(), values.end(), value) -
                                 values.begin());
}

/// @param rank what a rank does @return whether something comes to it
bool
GetsBytes(const RankProgram& rank)
{
    return std::any_of(rank.blocks.begin(), rank.blocks.end(), [](const ThreadBlock& block) {
        return std::any_of(block.steps.begin(), block.steps.end(), [](const Step& step) {
            return step.bytes > 0 && (Receives(step.kind) || step.kind == StepKind::GROUP_RECV);
        });
    });
}

/// @param sender of a block @param block of it that sends @param needed gets the ranks of which
/// something has come to the sender before the block has sent all: what they send is passed on
void
AddPassedOn(const RankProgram& sender, const ThreadBlock& block, std::vector<bool>& needed)
{
    for (const Step& step : block.steps)
    {
        if (step.waitBlock == NO_BLOCK)
        {
            continue;
        }
        const ThreadBlock& before = sender.blocks[step.waitBlock];
        const auto end = before.steps.begin() + step.waitStep + 1;
        if (std::any_of(before.steps.begin(), end, [](const Step& received) {
                return Receives(received.kind);
            }))
        {
            needed[before.receivePeer] = true;
        }
    }
}

/// @param program to look at @return whether something comes to each rank from every other,
/// directly or by one that passes it on
bool
ConnectsAll(const CollectiveProgram& program)
{
    const std::size_t nRanks = program.ranks.size();
    std::vector<std::vector<bool>> needed(nRanks, std::vector<bool>(nRanks, false));
    for (uint32_t rank = 0; rank < nRanks; ++rank)
    {
        needed[rank][rank] = true;
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            if (block.sendPeer != NO_RANK && !block.steps.empty())
            {
                needed[block.sendPeer][rank] = true;
                AddPassedOn(program.ranks[rank], block, needed[block.sendPeer]);
            }
        }
    }
    return std::all_of(needed.begin(), needed.end(), [](const std::vector<bool>& ranks) {
        return std::find(ranks.begin(), ranks.end(), false) == ranks.end();
    });
}

} // namespace

bool
NeedsAllRanks(Collective collective, const CollectiveProgram& program)
{
    switch (collective)
    {
    case Collective::SEND_RECV:
        // The sender needs the room that the receiver grants.
        return program.ranks.size() == 2;
    case Collective::ALL_REDUCE:
    case Collective::ALL_GATHER:
    case Collective::REDUCE_SCATTER:
        // What a rank gets in the end has something of every rank in it, if it gets anything.
        return program.ranks.size() > 1 &&
               std::all_of(program.ranks.begin(), program.ranks.end(), GetsBytes);
    case Collective::ALL_TO_ALL:
        return program.ranks.size() > 1 && ConnectsAll(program);
    default:
        return false; // whoever sends first may be done before the last has begun
    }
}

RepetitionPlans::RepetitionPlans(const ExecutionGraph& graph, Ptr<Transport> transport)
    : m_graph(graph),
      m_transport(transport)
{
}

void
RepetitionPlans::AddLinks(RepetitionPlan& plan) const
{
    std::vector<bool> isUsed(m_transport->GetFabric()->GetNPorts() / 2, false);
    for (const uint32_t id : plan.queuePairs)
    {
        for (const PortId port : m_transport->GetWays(id))
        {
            if (port != NO_PORT && !isUsed[port / 2])
            {
                isUsed[port / 2] = true;
                plan.links.push_back(port / 2);
            }
        }
    }
    SortUnique(plan.links);
    for (const LinkId link : plan.links)
    {
        for (const PortId port : {2 * link, 2 * link + 1})
        {
            if (const uint32_t buffer = m_transport->GetFabric()->GetBuffer(port))
            {
                plan.buffers.push_back(buffer);
            }
        }
    }
    SortUnique(plan.buffers);
}

void
RepetitionPlans::DescribePart(const RepetitionPlan& plan,
                              const RepetitionPart& part,
                              const std::vector<DeviceId>& devices,
                              Words& words) const
{
    const Ptr<Fabric> fabric = m_transport->GetFabric();
    const Cluster& cluster = fabric->GetCluster();
    words.push_back(SEPARATOR);
    for (const DeviceId device : m_graph.GetGroup(part.group))
    {
        words.push_back(
            FindComputeCapability(cluster.GetVertices()[cluster.GetGpus()[device]].model));
        words.push_back(FindPosition(devices, device)); // ranks begin in the order of devices
    }
    // How the queue pairs of the program, rank by rank, are numbered.
    for (const uint32_t id : part.queuePairs)
    {
        words.push_back(FindPosition(plan.queuePairs, id));
    }
    words.insert(words.end(), part.more.begin(), part.more.end());
    if (!part.program->groups.empty())
    {
        // Units of network groups come down by other links than they went up.
        for (const LinkId link : plan.links)
        {
            const Link& ends = cluster.GetLinks()[link];
            words.push_back(fabric->GetFlowPlace(ends.a));
            words.push_back(fabric->GetFlowPlace(ends.b));
        }
    }
}

RepetitionPlans::Words
RepetitionPlans::Describe(const RepetitionPlan& plan)
{
    const Ptr<Fabric> fabric = m_transport->GetFabric();
    Words words;
    for (const LinkId link : plan.links)
    {
        for (const PortId id : {2 * link, 2 * link + 1})
        {
            Words port = fabric->DescribePort(id);
            const uint32_t buffer = fabric->GetBuffer(id);
            port.push_back(buffer == 0 ? 0 : fabric->GetBuffers().GetCalmBytes(buffer));
            words.push_back(GetNumber(std::move(port)));
        }
    }
    // Equal times come in the order of ports and of queue pairs.
    for (const uint32_t id : plan.queuePairs)
    {
        words.push_back(SEPARATOR);
        words.push_back(GetNumber(m_transport->Describe(id)));
        for (const PortId port : m_transport->GetWays(id))
        {
            words.push_back(port == NO_PORT ? SEPARATOR
                                            : 2 * FindPosition(plan.links, port / 2) + port % 2);
        }
    }
    std::vector<DeviceId> devices;
    for (const RepetitionPart& part : plan.parts)
    {
        const auto& group = m_graph.GetGroup(part.group);
        devices.insert(devices.end(), group.begin(), group.end());
    }
    SortUnique(devices);
    for (const RepetitionPart& part : plan.parts)
    {
        DescribePart(plan, part, devices, words);
    }
    words.shrink_to_fit();
    return words;
}

uint32_t
RepetitionPlans::GetNumber(Words words)
{
    return m_numbers.emplace(std::move(words), static_cast<uint32_t>(m_numbers.size()))
        .first->second;
}

void
RepetitionPlans::SetShape(RepetitionPlan& plan)
{
    plan.shape =
        m_shapes.emplace(Describe(plan), static_cast<uint32_t>(m_shapes.size())).first->second;
}

std::vector<LinkId>
RepetitionPlans::GetGroupLinks(GroupId group, const NetworkGroup& network) const
{
    // More than they use: all NVLinks of their GPUs.
    const Cluster& cluster = m_transport->GetFabric()->GetCluster();
    const auto& vertices = cluster.GetVertices();
    std::set<VertexId> members;
    std::set<int32_t> servers;
    for (const uint32_t rank : network.members)
    {
        const VertexId gpu = cluster.GetGpus()[m_graph.GetGroup(group)[rank]];
        members.insert(gpu);
        servers.insert(vertices[gpu].server);
    }
    std::vector<LinkId> found;
    if (servers.size() > 1 || *servers.begin() < 0)
    {
        return found;
    }
    const auto isOther = [&](VertexId vertex) {
        return vertices[vertex].server != *servers.begin() ||
               (vertices[vertex].kind == VertexKind::GPU && members.count(vertex) == 0);
    };
    const auto& links = cluster.GetLinks();
    for (LinkId id = 0; id < links.size(); ++id)
    {
        if (links[id].technology == LinkTechnology::NVLINK && !isOther(links[id].a) &&
            !isOther(links[id].b))
        {
            found.push_back(id);
        }
    }
    return found;
}

bool
RepetitionPlans::AddGroupLinks(RepetitionPlan& plan,
                               GroupId group,
                               const CollectiveProgram& program) const
{
    bool isLocal = true;
    std::set<std::vector<uint32_t>> seen; // channels have a network group each, of the same ranks
    for (const NetworkGroup& network : program.groups)
    {
        if (seen.insert(network.members).second)
        {
            const std::vector<LinkId> found = GetGroupLinks(group, network);
            plan.links.insert(plan.links.end(), found.begin(), found.end());
            isLocal = isLocal && !found.empty();
        }
    }
    if (!isLocal)
    {
        plan.links.resize(m_transport->GetFabric()->GetCluster().GetLinks().size());
        std::iota(plan.links.begin(), plan.links.end(), 0);
    }
    SortUnique(plan.links);
    return isLocal;
}

const RepetitionPlan&
RepetitionPlans::Add(Collective collective,
                     GroupId group,
                     const CollectiveProgram& program,
                     const std::vector<uint32_t>& queuePairs,
                     const std::vector<uint64_t>& more)
{
    std::unique_ptr<RepetitionPlan>& place = m_plans[{group, &program}];
    place = std::make_unique<RepetitionPlan>();
    RepetitionPlan& plan = *place;
    plan.parts.push_back({group, m_programs.Find(program), queuePairs, more});
    plan.queuePairs = queuePairs;
    SortUnique(plan.queuePairs);
    for (const RankProgram& rank : program.ranks)
    {
        plan.sentBytes += SentBytes(rank);
    }
    AddLinks(plan);
    const bool isOfServers = program.groups.empty() || AddGroupLinks(plan, group, program);
    const Ptr<Fabric> fabric = m_transport->GetFabric();
    plan.crosses = std::any_of(plan.links.begin(), plan.links.end(), [&](LinkId link) {
        const Link& ends = fabric->GetCluster().GetLinks()[link];
        return !fabric->IsLocal(ends.a) || !fabric->IsLocal(ends.b);
    });
    // Who shares a buffer with it from another process is not known here.
    const bool hasAllBuffers = plan.buffers.empty() || !fabric->GetRanks();
    plan.repeats = isOfServers && !plan.crosses && hasAllBuffers &&
                   NeedsAllRanks(collective, program) &&
                   std::all_of(plan.links.begin(),
                               plan.links.end(),
                               [&](LinkId link) { return fabric->IsSelfContained(link); }) &&
                   std::all_of(plan.queuePairs.begin(), plan.queuePairs.end(), [&](uint32_t id) {
                       return m_transport->IsSelfContained(id) &&
                              (plan.buffers.empty() || m_transport->IsLossless(id));
                   });
    if (plan.repeats)
    {
        SetShape(plan);
    }
    return plan;
}

const RepetitionPlan&
RepetitionPlans::Combine(const std::vector<const RepetitionPlan*>& plans)
{
    std::unique_ptr<RepetitionPlan>& place = m_combined[plans];
    if (!place)
    {
        place = std::make_unique<RepetitionPlan>();
        for (const RepetitionPlan* plan : plans)
        {
            place->sentBytes += plan->sentBytes;
            place->parts.insert(place->parts.end(), plan->parts.begin(), plan->parts.end());
            place->links.insert(place->links.end(), plan->links.begin(), plan->links.end());
            place->queuePairs.insert(place->queuePairs.end(),
                                     plan->queuePairs.begin(),
                                     plan->queuePairs.end());
            place->buffers.insert(place->buffers.end(), plan->buffers.begin(), plan->buffers.end());
        }
        SortUnique(place->links);
        SortUnique(place->queuePairs);
        SortUnique(place->buffers);
        place->repeats = true;
        SetShape(*place);
    }
    return *place;
}

void
RepetitionPlans::ExcludeCrossing()
{
    std::vector<bool> isCrossed(m_transport->GetFabric()->GetNPorts() / 2, false);
    for (const auto& it : m_plans)
    {
        for (const LinkId link : it.second->links)
        {
            isCrossed[link] = isCrossed[link] || it.second->crosses;
        }
    }
    for (const auto& it : m_plans)
    {
        RepetitionPlan& plan = *it.second;
        plan.repeats = plan.repeats && std::none_of(plan.links.begin(),
                                                    plan.links.end(),
                                                    [&](LinkId link) { return isCrossed[link]; });
    }
}

} // namespace proteus
} // namespace ns3
