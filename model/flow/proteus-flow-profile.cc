/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-profile.h"

#include "ns3/proteus-algorithm-traits.h"
#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-gpu-model.h"

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
constexpr uint64_t MAX_MESSAGES = 2000;
/// Messages of a program that is worth interpolating.
constexpr uint64_t LEAST_MESSAGES = 500;
/// Chunks of every channel and rank of the first program that is made of a family.
constexpr uint64_t FIRST_CHUNKS = 2;
/// Rates whose logarithms differ by less than the inverse are one.
constexpr double RATE_STEPS = 1e5;

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

/// Bytes of a collective of which every channel gets one chunk of every rank.
uint64_t
CountChunkBytes(const CollectiveRequest& request)
{
    const bool isCommon = GetAlgorithmTraits(request.algorithm).hasCommonChunks;
    return request.chunkBytes * std::max<uint64_t>(request.channels, 1) *
           (isCommon ? 2 : request.vertices.size());
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
        const auto sent = static_cast<double>(std::max(times.sentPs[i], times.senderStepPs[i]));
        const auto received =
            static_cast<double>(std::max(times.receivedPs[i], times.receiverStepPs[i]));
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

/**
 * Sets the times of a class.
 * @param alone when it ends, on idle links
 * @param end of what was replayed, which may be shorter
 * @param latency of the steps that depend on each other, with one chunk in each flow
 * @param rankEnds of that, by rank
 * @param flowClass with its uses
 */
void
SetTimes(double alone,
         double end,
         double latency,
         const std::vector<double>& rankEnds,
         FlowClass& flowClass)
{
    const double least = flowClass.bytes / flowClass.linkRate * PS_PER_SECOND;
    flowClass.alonePs = std::llround(alone);
    flowClass.latencyPs = std::llround(latency);
    const double fixed = std::max(0.0, std::min(latency, alone - least));
    flowClass.rate =
        std::min(flowClass.linkRate, flowClass.bytes * PS_PER_SECOND / (alone - fixed));
    // Ranks that end early do so within the latencies behind the last byte.
    double lead = 0;
    for (const double rankEnd : rankEnds)
    {
        lead = rankEnd < 0 ? lead : std::max(lead, end - rankEnd);
    }
    lead = std::min(lead, fixed);
    for (const double rankEnd : rankEnds)
    {
        flowClass.afterPs.push_back(
            rankEnd < 0 ? -1 : std::llround(std::max(0.0, lead - (end - rankEnd))));
    }
    flowClass.beforePs = std::llround(fixed - lead);
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
    const auto& devices = m_graph.GetGroup(m_graph.GetTask(id).place);
    const auto findHop = [&](uint32_t from, uint32_t to) {
        return FindConnection(devices[from], devices[to]).hop;
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
            const BlockShare share = shares.Get(rank, block);
            const auto hop = [&](uint32_t from, uint32_t to) {
                const auto place = hops.find({from, to});
                return place == hops.end() ? std::optional<HopKind>() : place->second;
            };
            costs.blocks.back().push_back(share.part == 0
                                              ? BlockCost()
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
    const std::vector<double>& latencies = FindLatencies(id, FindShape(id));
    const double alpha =
        latencies.empty() ? 0 : *std::max_element(latencies.begin(), latencies.end());
    double beta = 0;
    for (const FlowClass& flowClass : profile.classes)
    {
        beta = std::max(beta, flowClass.bytes / flowClass.linkRate * PS_PER_SECOND);
    }
    return std::llround(alpha + beta);
}

const std::vector<double>&
FlowProfiles::FindLatencies(TaskId id, Shape& shape)
{
    auto& latencies = shape.common->latenciesPs;
    if (latencies.empty() && !shape.flows.empty())
    {
        CollectiveRequest request = m_programs.MakeRequest(id);
        request.bytes = std::min<uint64_t>(request.bytes, request.vertices.size());
        request.channels = 1;
        const std::shared_ptr<Part> part = MakePart(id, request);
        const auto routes = PlanRoutes(id, part->flows);
        const auto classOf = Classify(part->flows, routes, m_routes);
        const uint32_t nClasses = *std::max_element(classOf.begin(), classOf.end()) + 1;
        latencies =
            AddUp(ReplayProgram(part->program, part->flows, routes, m_routes, part->costs, true),
                  part->flows,
                  classOf,
                  nClasses,
                  shape.ranks)
                .endPs;
    }
    return latencies;
}

std::shared_ptr<FlowProfiles::Part>
FlowProfiles::MakePart(TaskId id, const CollectiveRequest& request) const
{
    const auto part = std::make_shared<Part>();
    part->bytes = request.bytes;
    part->program = m_programs.Make(request);
    part->flows = FindFlows(part->program);
    part->costs = FindCosts(id, part->program, part->flows);
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
            shape.family->protocol = longer->program.protocol;
            shape.family->parts = {shorter, longer};
            SetBetween(shape);
            return;
        }
    }
    auto& part = wholes[shape.bytes];
    part = part ? part : MakePart(id, request);
    shape.flows = part->flows;
    shape.family->protocol = part->program.protocol;
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

void
FlowProfiles::MakeParts(TaskId id, CollectiveRequest request, Family& family) const
{
    const uint64_t bytes =
        std::max(static_cast<uint64_t>(family.bytesPerMessage * MAX_MESSAGES), family.leastBytes);
    // The one whose chunks are as long as they get is there already.
    const std::shared_ptr<Part> first = family.parts.front();
    family.parts.clear();
    for (const uint64_t part : {bytes / 2, bytes})
    {
        request.bytes = part;
        family.parts.push_back(part == first->bytes ? first : MakePart(id, request));
    }
    family.protocol = family.parts.back()->program.protocol;
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
    const auto key = m_programs.GetKey(id);
    const auto [place, isNew] = m_shapes.emplace(key, Shape());
    Shape& shape = place->second;
    if (!isNew)
    {
        return shape;
    }
    CollectiveRequest request = m_programs.MakeRequest(id);
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
        family->isWhole = !request.splits.empty();
    }
    shape.common = family;
    if (!family->isWhole && family->bytesPerMessage == 0)
    {
        family->leastBytes = FIRST_CHUNKS * CountChunkBytes(request);
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
        static_cast<double>(shape.bytes) > family->bytesPerMessage * MAX_MESSAGES)
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

const Connection&
FlowProfiles::FindConnection(DeviceId from, DeviceId to) const
{
    const auto [place, isNew] = m_connections.emplace(std::make_pair(from, to), Connection());
    if (isNew)
    {
        place->second = PlanConnection(m_cluster, m_paths, 0, 0, from, to);
    }
    return place->second;
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
        Connection connection = FindConnection(devices[flow.from], devices[flow.to]);
        connection.flow =
            GetConnectionFlow(group, flow.channel, devices[flow.from], devices[flow.to]);
        routes.push_back(m_routes.Plan(connection));
    }
    return routes;
}

const ClassTimes&
FlowProfiles::FindTiming(Part& part,
                         const std::vector<uint32_t>& routes,
                         const std::vector<uint32_t>& classOf,
                         const std::vector<FlowClass>& classes,
                         uint32_t ranks) const
{
    std::vector<int64_t> rates;
    for (const FlowClass& flowClass : classes)
    {
        rates.push_back(std::llround(RATE_STEPS * std::log(flowClass.linkRate)));
    }
    const auto [place, isNew] = part.timed.emplace(rates, ClassTimes());
    if (isNew)
    {
        place->second = AddUp(ReplayProgram(part.program, part.flows, routes, m_routes, part.costs),
                              part.flows,
                              classOf,
                              static_cast<uint32_t>(classes.size()),
                              ranks);
    }
    return place->second;
}

CollectiveProfile
FlowProfiles::Make(TaskId id, Shape& shape)
{
    const std::vector<uint32_t> routes = PlanRoutes(id, shape.flows);
    const std::vector<uint32_t> classOf = Classify(shape.flows, routes, m_routes);
    const auto& parts = shape.family->parts;
    CollectiveProfile profile;
    profile.launchPs = m_launchPs >= 0 ? m_launchPs
                       : m_kernelCosts
                           ? GetKernelCost(id).GetKernelPs(ToNcclProtocol(shape.family->protocol))
                           : 0;
    profile.classes =
        MakeClasses(shape.flows, routes, classOf, parts.back()->costs.limits, m_routes);
    for (const ProgramFlow& flow : shape.flows)
    {
        profile.sentBytes += SentBytes(flow);
    }
    std::vector<const ClassTimes*> timing;
    for (const auto& part : parts)
    {
        timing.push_back(&FindTiming(*part, routes, classOf, profile.classes, shape.ranks));
    }
    const std::vector<double>& latencies = FindLatencies(id, shape);
    for (std::size_t i = 0; i < profile.classes.size(); ++i)
    {
        const ClassTimes& last = *timing.back();
        double alone = last.endPs[i];
        if (timing.size() > 1)
        {
            alone += (last.endPs[i] - timing[0]->endPs[i]) *
                     (static_cast<double>(shape.bytes) - static_cast<double>(parts[1]->bytes)) /
                     (static_cast<double>(parts[1]->bytes) - static_cast<double>(parts[0]->bytes));
        }
        SetTimes(alone,
                 last.endPs[i],
                 latencies[std::min(i, latencies.size() - 1)],
                 last.rankEnds[i],
                 profile.classes[i]);
        profile.alonePs = std::max(profile.alonePs, profile.classes[i].alonePs);
    }
    return profile;
}

} // namespace proteus
} // namespace ns3
