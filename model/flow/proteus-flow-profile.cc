/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-profile.h"

#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-connection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;
/// Messages of a program that is replayed as a whole.
constexpr uint64_t MAX_MESSAGES = 12000;

uint64_t
CountMessages(const std::vector<ProgramFlow>& flows)
{
    uint64_t messages = 0;
    for (const ProgramFlow& flow : flows)
    {
        messages += flow.messages;
    }
    return messages;
}

/// Classes of flows: one if all depend on each other, otherwise those whose components stay inside
/// servers, and the others.
std::vector<uint32_t>
Classify(const std::vector<ProgramFlow>& flows,
         const std::vector<uint32_t>& routes,
         const FlowRoutes& all)
{
    std::map<uint32_t, bool> isNetwork; // by component
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        isNetwork[flows[i].component] |= all.GetRoute(routes[i]).isNetwork;
    }
    const bool mixed = std::any_of(isNetwork.begin(), isNetwork.end(), [&](const auto& entry) {
        return entry.second != isNetwork.begin()->second;
    });
    std::vector<uint32_t> classes;
    for (const ProgramFlow& flow : flows)
    {
        classes.push_back(mixed && isNetwork[flow.component] ? 1 : 0);
    }
    return classes;
}

/// Adds up what the flows of every class take.
std::vector<FlowClass>
MakeClasses(const std::vector<ProgramFlow>& flows,
            const std::vector<uint32_t>& routes,
            const std::vector<uint32_t>& classOf,
            const std::vector<double>& limits,
            const FlowRoutes& all)
{
    std::vector<FlowClass> classes;
    for (const uint32_t id : classOf)
    {
        classes.resize(std::max<std::size_t>(classes.size(), id + 1));
    }
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        FlowClass& flowClass = classes[classOf[i]];
        flowClass.bytes = std::max(flowClass.bytes, static_cast<double>(flows[i].bytes));
    }
    for (uint32_t id = 0; id < classes.size(); ++id)
    {
        FlowClass& flowClass = classes[id];
        flowClass.linkRate = std::numeric_limits<double>::infinity();
        std::map<uint32_t, FlowUse> uses;
        for (std::size_t i = 0; i < flows.size(); ++i)
        {
            if (classOf[i] != id)
            {
                continue;
            }
            const FlowRoute& route = all.GetRoute(routes[i]);
            const double part = static_cast<double>(flows[i].bytes) / flowClass.bytes;
            flowClass.linkRate = std::min(flowClass.linkRate, route.limit / part);
            if (!limits.empty() && limits[i] > 0)
            {
                flowClass.linkRate = std::min(flowClass.linkRate, limits[i] / part);
            }
            for (const FlowUse& use : route.uses)
            {
                FlowUse& sum = uses[use.resource];
                sum.resource = use.resource;
                sum.amount += part * use.amount;
                sum.payload += part * use.payload;
            }
        }
        for (const auto& entry : uses)
        {
            flowClass.uses.push_back(entry.second);
            flowClass.linkRate =
                std::min(flowClass.linkRate,
                         all.GetResources()[entry.first].capacity / entry.second.amount);
        }
    }
    return classes;
}

/// What a replay says about the classes.
struct ClassTimes
{
    std::vector<double> endPs;                 //!< by class
    std::vector<std::vector<double>> rankEnds; //!< by class and rank; negative: no part
};

ClassTimes
AddUp(const ReplayTimes& times,
      const std::vector<ProgramFlow>& flows,
      const std::vector<uint32_t>& classOf,
      uint32_t nClasses,
      uint32_t ranks)
{
    ClassTimes result;
    result.endPs.assign(nClasses, 0);
    result.rankEnds.assign(nClasses, std::vector<double>(ranks, -1));
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        const auto sent = static_cast<double>(times.sentPs[i]);
        const auto received = static_cast<double>(times.receivedPs[i]);
        auto& ends = result.rankEnds[classOf[i]];
        const auto note = [&ends](uint32_t rank, double end) {
            if (rank != NO_RANK)
            {
                ends[rank] = std::max(ends[rank], end);
            }
        };
        note(flows[i].from, sent);
        note(flows[i].to, received);
        for (const uint32_t member : flows[i].members)
        {
            note(member, flows[i].to == NO_RANK ? received : sent);
        }
        result.endPs[classOf[i]] = std::max({result.endPs[classOf[i]], sent, received});
    }
    if (nClasses == 1)
    {
        // Steps behind the last byte count, too.
        for (uint32_t rank = 0; rank < ranks; ++rank)
        {
            const auto steps = static_cast<double>(times.stepsPs[rank]);
            double& end = result.rankEnds[0][rank];
            end = end < 0 ? end : std::max(end, steps);
            result.endPs[0] = std::max(result.endPs[0], steps);
        }
    }
    return result;
}

} // namespace

FlowProfiles::FlowProfiles(const ExecutionGraph& graph,
                           const Cluster& cluster,
                           const Paths& paths,
                           const FlowParameters& parameters,
                           const ProgramSettings& settings)
    : m_graph(graph),
      m_cluster(cluster),
      m_paths(paths),
      m_kernelCosts(parameters.kernelCosts),
      m_launchPs(parameters.launchPs),
      m_routes(cluster, paths, parameters),
      m_programs(graph, cluster, paths, settings),
      m_ofTask(graph.GetNTasks(), nullptr)
{
}

const CollectiveProfile&
FlowProfiles::Get(TaskId id)
{
    if (m_ofTask[id] == nullptr)
    {
        const Task& task = m_graph.GetTask(id);
        const auto [place, isNew] = m_profiles.emplace(
            std::make_tuple(task.collective, task.bytes, uint32_t{task.root}, task.place),
            CollectiveProfile());
        if (isNew)
        {
            place->second = Make(id, FindShape(id));
        }
        m_ofTask[id] = &place->second;
    }
    return *m_ofTask[id];
}

const CollectiveKernelCost&
FlowProfiles::GetKernelCost(TaskId id) const
{
    const DeviceId first = m_graph.GetGroup(m_graph.GetTask(id).place).front();
    return GetCollectiveKernelCost(
        FindComputeCapability(m_cluster.GetVertices()[m_cluster.GetGpus()[first]].model));
}

ReplayCosts
FlowProfiles::FindCosts(TaskId id,
                        const CollectiveProgram& program,
                        const std::vector<ProgramFlow>& flows) const
{
    ReplayCosts costs;
    const CollectiveKernelCost& kernel = GetKernelCost(id);
    const GroupId group = m_graph.GetTask(id).place;
    const auto& devices = m_graph.GetGroup(group);
    const auto findHop = [&](uint32_t from, uint32_t to) {
        return PlanConnection(m_cluster, m_paths, group, 0, devices[from], devices[to]).hop;
    };
    const BlockShares shares(program);
    std::map<std::pair<uint32_t, uint32_t>, HopKind> hops;
    for (const ProgramFlow& flow : flows)
    {
        const bool isGroup = flow.group != NO_GROUP;
        if (!isGroup)
        {
            hops.emplace(std::make_pair(flow.from, flow.to), findHop(flow.from, flow.to));
        }
        costs.sendsWhole.push_back(!isGroup && hops.at({flow.from, flow.to}) == HopKind::NETWORK);
        double limit = 0;
        if (m_kernelCosts && !isGroup && !costs.sendsWhole.back())
        {
            const auto& blocks = program.ranks[flow.from].blocks;
            const auto sender =
                std::find_if(blocks.begin(), blocks.end(), [&flow](const ThreadBlock& block) {
                    return block.channel == flow.channel && block.sendPeer == flow.to;
                });
            limit = GetBlockWireRate(kernel, program.protocol, shares.Get(flow.from, *sender));
        }
        costs.limits.push_back(limit);
    }
    if (!m_kernelCosts)
    {
        return costs;
    }
    costs.groupLatencyPs = kernel.Get(HopKind::SWITCH, ToNcclProtocol(program.protocol)).latencyPs;
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        costs.blocks.emplace_back();
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            const double share = shares.Get(rank, block);
            const auto hop = [&](uint32_t from, uint32_t to) {
                const auto place = hops.find({from, to});
                return place == hops.end() ? std::optional<HopKind>() : place->second;
            };
            costs.blocks.back().push_back(share == 0 ? BlockCost()
                                                     : GetBlockCost(kernel,
                                                                    program.protocol,
                                                                    share,
                                                                    block.group != NO_GROUP,
                                                                    hop(block.receivePeer, rank),
                                                                    hop(rank, block.sendPeer)));
        }
    }
    return costs;
}

int64_t
FlowProfiles::GetAlphaBetaPs(TaskId id)
{
    const CollectiveProfile& profile = Get(id);
    Shape& shape = FindShape(id);
    if (shape.alphaPs < 0)
    {
        CollectiveRequest request = m_programs.MakeRequest(id);
        request.bytes = std::min<uint64_t>(request.bytes, request.vertices.size());
        request.channels = 1;
        const CollectiveProgram program = m_programs.Make(request);
        const auto flows = FindFlows(program);
        shape.alphaPs = ReplayProgram(program,
                                      flows,
                                      PlanRoutes(id, flows),
                                      m_routes,
                                      FindCosts(id, program, flows),
                                      true)
                            .endPs;
    }
    double beta = 0;
    for (const FlowClass& flowClass : profile.classes)
    {
        beta = std::max(beta, flowClass.bytes / flowClass.linkRate * PS_PER_SECOND);
    }
    return shape.alphaPs + std::llround(beta);
}

FlowProfiles::Shape&
FlowProfiles::FindShape(TaskId id)
{
    const auto [place, isNew] = m_shapes.emplace(m_programs.GetKey(id), Shape());
    Shape& shape = place->second;
    if (!isNew)
    {
        return shape;
    }
    CollectiveRequest request = m_programs.MakeRequest(id);
    shape.bytes = request.bytes;
    shape.ranks = static_cast<uint32_t>(request.vertices.size());
    const auto make = [&](uint64_t bytes) {
        request.bytes = bytes;
        Part part;
        part.program = m_programs.Make(request);
        part.flows = FindFlows(part.program);
        return part;
    };
    Part whole = make(shape.bytes);
    shape.flows = whole.flows;
    shape.protocol = whole.program.protocol;
    shape.limits = FindCosts(id, whole.program, whole.flows).limits;
    const uint64_t messages = CountMessages(whole.flows);
    if (messages <= MAX_MESSAGES)
    {
        shape.parts.push_back(std::move(whole));
        shape.partBytes.push_back(shape.bytes);
        return shape;
    }
    const double scale = static_cast<double>(MAX_MESSAGES) / static_cast<double>(messages);
    for (const double part : {0.5, 1.0})
    {
        const auto bytes = static_cast<uint64_t>(static_cast<double>(shape.bytes) * scale * part);
        shape.parts.push_back(make(bytes));
        shape.partBytes.push_back(bytes);
        if (shape.parts.back().flows.size() != shape.flows.size())
        {
            // Some connections have nothing to do in a short one: no way round the whole.
            shape.parts.clear();
            shape.parts.push_back(std::move(whole));
            shape.partBytes.assign(1, shape.bytes);
            break;
        }
    }
    return shape;
}

std::vector<uint32_t>
FlowProfiles::PlanRoutes(TaskId id, const std::vector<ProgramFlow>& flows)
{
    const GroupId group = m_graph.GetTask(id).place;
    const auto& devices = m_graph.GetGroup(group);
    std::vector<uint32_t> routes;
    for (const ProgramFlow& flow : flows)
    {
        if (flow.group != NO_GROUP)
        {
            GroupConnection connection;
            for (const uint32_t member : flow.members)
            {
                connection.members.push_back(m_cluster.GetGpus()[devices[member]]);
            }
            const auto find = [&](uint32_t rank) {
                return rank == NO_RANK ? Cluster::NO_VERTEX : m_cluster.GetGpus()[devices[rank]];
            };
            connection.sender = find(flow.from);
            connection.receiver = find(flow.to);
            routes.push_back(m_routes.PlanGroup(connection));
            continue;
        }
        routes.push_back(m_routes.Plan(PlanConnection(m_cluster,
                                                      m_paths,
                                                      group,
                                                      flow.channel,
                                                      devices[flow.from],
                                                      devices[flow.to])));
    }
    return routes;
}

CollectiveProfile
FlowProfiles::Make(TaskId id, Shape& shape)
{
    const std::vector<uint32_t> routes = PlanRoutes(id, shape.flows);
    const std::vector<uint32_t> classOf = Classify(shape.flows, routes, m_routes);
    CollectiveProfile profile;
    profile.launchPs = m_launchPs >= 0 ? m_launchPs
                       : m_kernelCosts
                           ? GetKernelCost(id).GetKernelPs(ToNcclProtocol(shape.protocol))
                           : 0;
    profile.classes = MakeClasses(shape.flows, routes, classOf, shape.limits, m_routes);
    for (const ProgramFlow& flow : shape.flows)
    {
        profile.sentBytes += SentBytes(flow);
    }
    // Groups whose flows meet alike take equally long.
    std::vector<int64_t> bottlenecks;
    for (const FlowClass& flowClass : profile.classes)
    {
        bottlenecks.push_back(std::llround(flowClass.bytes / flowClass.linkRate * PS_PER_SECOND));
    }
    auto [place, isNew] = shape.timed.emplace(bottlenecks, std::vector<FlowClass>());
    if (isNew)
    {
        place->second = profile.classes;
        SetTimes(id, shape, classOf, place->second);
    }
    for (std::size_t i = 0; i < profile.classes.size(); ++i)
    {
        FlowClass& flowClass = profile.classes[i];
        std::vector<FlowUse> uses = std::move(flowClass.uses);
        flowClass = place->second[i];
        flowClass.uses = std::move(uses);
        profile.alonePs = std::max(profile.alonePs, flowClass.alonePs);
    }
    return profile;
}

void
FlowProfiles::SetTimes(TaskId id,
                       const Shape& shape,
                       const std::vector<uint32_t>& classOf,
                       std::vector<FlowClass>& classes)
{
    const auto nClasses = static_cast<uint32_t>(classes.size());
    const std::vector<uint32_t> routes = PlanRoutes(id, shape.flows);
    std::vector<ClassTimes> times;
    for (const Part& part : shape.parts)
    {
        times.push_back(AddUp(ReplayProgram(part.program,
                                            part.flows,
                                            routes,
                                            m_routes,
                                            FindCosts(id, part.program, part.flows)),
                              part.flows,
                              classOf,
                              nClasses,
                              shape.ranks));
    }
    const Part& longest = shape.parts.back();
    const ClassTimes instant = AddUp(ReplayProgram(longest.program,
                                                   longest.flows,
                                                   routes,
                                                   m_routes,
                                                   FindCosts(id, longest.program, longest.flows),
                                                   true),
                                     longest.flows,
                                     classOf,
                                     nClasses,
                                     shape.ranks);
    for (uint32_t i = 0; i < nClasses; ++i)
    {
        FlowClass& flowClass = classes[i];
        const ClassTimes& last = times.back();
        double alone = last.endPs[i];
        if (times.size() > 1)
        {
            alone += (last.endPs[i] - times[0].endPs[i]) *
                     static_cast<double>(shape.bytes - shape.partBytes[1]) /
                     static_cast<double>(shape.partBytes[1] - shape.partBytes[0]);
        }
        const double least = flowClass.bytes / flowClass.linkRate * PS_PER_SECOND;
        flowClass.alonePs = std::llround(alone);
        flowClass.latencyPs = std::llround(instant.endPs[i]);
        const double fixed = std::max(0.0, std::min(instant.endPs[i], alone - least));
        flowClass.rate =
            std::min(flowClass.linkRate, flowClass.bytes * PS_PER_SECOND / (alone - fixed));
        // Ranks that end early do so within the latencies behind the last byte.
        double lead = 0;
        for (const double end : last.rankEnds[i])
        {
            lead = end < 0 ? lead : std::max(lead, last.endPs[i] - end);
        }
        lead = std::min(lead, fixed);
        for (const double end : last.rankEnds[i])
        {
            flowClass.afterPs.push_back(
                end < 0 ? -1 : std::llround(std::max(0.0, lead - (last.endPs[i] - end))));
        }
        flowClass.beforePs = std::llround(fixed - lead);
    }
}

} // namespace proteus
} // namespace ns3
