/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-profile.h"

#include "proteus-flow-block-costs.h"
#include "proteus-flow-classes.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-group-trees.h"
#include "ns3/proteus-net-plugin.h"
#include "ns3/proteus-network-exchange.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;
/// Messages of a program that is kept when it has been replayed.
constexpr uint64_t MOST_KEPT_MESSAGES = 100000;
/// Rates whose logarithms differ by less than the inverse are one.
constexpr double RATE_STEPS = 1e5;

} // namespace

FlowProfiles::FlowProfiles(const ExecutionGraph& graph,
                           const Cluster& cluster,
                           const Paths& paths,
                           const FlowParameters& parameters,
                           const ProgramSettings& settings)
    : FlowProfiles(graph,
                   cluster,
                   paths,
                   parameters,
                   std::make_shared<ProgramCache>(graph, cluster, paths, settings))
{
}

FlowProfiles::FlowProfiles(const ExecutionGraph& graph,
                           const Cluster& cluster,
                           const Paths& paths,
                           const FlowParameters& parameters,
                           std::shared_ptr<ProgramCache> programs)
    : m_graph(graph),
      m_cluster(cluster),
      m_paths(paths),
      m_kernelCosts(parameters.kernelCosts),
      m_pluginPs(parameters.pluginLatencyPs +
                 FindNetPlugin(programs->GetSettings().netPlugin).GetChunkPs()),
      m_launchPs(parameters.launchPs),
      m_hasCongestion(parameters.congestion != nullptr),
      m_routes(cluster, paths, parameters),
      m_programs(std::move(programs)),
      m_cpus(ListCpuVendors(m_programs->GetSettings().cpuVendor, cluster)),
      m_rules(MakeTransportRules(MakePreferences(m_programs->GetSettings()))),
      m_nics(cluster, m_rules.pxn),
      m_ofTask(graph.GetNTasks(), nullptr)
{
}

FlowProfiles::ProfileKey
FlowProfiles::NameProfile(TaskId id) const
{
    const Task& task = m_graph.GetTask(id);
    return {task.collective, task.bytes, task.root, task.place};
}

std::shared_ptr<const FlowProfiles::Part>
FlowProfiles::FindWhole(TaskId id)
{
    Shape& shape = FindShape(id);
    if (CountMessages(shape.flows) > MOST_KEPT_MESSAGES)
    {
        return nullptr;
    }
    if (!shape.whole)
    {
        shape.whole = MakePart(id, m_programs->MakeRequest(id), m_programs->Find(id));
    }
    return shape.whole->flows.size() == shape.flows.size() ? shape.whole : nullptr;
}

std::shared_ptr<const ReplayInput>
FlowProfiles::GetWhole(TaskId id)
{
    const auto [place, isNew] = m_wholes.emplace(NameProfile(id), nullptr);
    if (!isNew)
    {
        return place->second;
    }
    const std::shared_ptr<const Part> part = FindWhole(id);
    if (!part)
    {
        return nullptr;
    }
    const auto input = std::make_shared<ReplayInput>();
    input->program = part->program;
    input->flows = part->flows;
    input->routes = PlanRoutes(id, part->flows);
    input->costs = part->costs;
    place->second = input;
    return input;
}

uint64_t
FlowProfiles::CountMessagesOf(TaskId id)
{
    return CountMessages(FindShape(id).flows);
}

std::unique_ptr<LiveReplay>
FlowProfiles::MakeReplay(TaskId id,
                         std::vector<bool> isCarried,
                         LiveReplay::Carry carry,
                         bool isWhole)
{
    return std::make_unique<LiveReplay>(GetWhole(id),
                                        m_routes,
                                        std::move(isCarried),
                                        std::move(carry),
                                        isWhole);
}

const CollectiveProfile&
FlowProfiles::Get(TaskId id)
{
    if (m_ofTask[id] == nullptr)
    {
        const ProfileKey key = NameProfile(id);
        auto place = m_profiles.find(key);
        if (place == m_profiles.end())
        {
            place = m_profiles.emplace(key, Make(id, FindShape(id))).first;
        }
        m_ofTask[id] = &place->second;
    }
    return *m_ofTask[id];
}

const CollectiveKernelCost&
FlowProfiles::GetKernelCost(TaskId id) const
{
    const DeviceId first = m_graph.GetGroup(m_graph.GetTask(id).place).front();
    return CollectiveCosts::Get(m_programs->GetSettings().costs)
        .GetKernel(FindComputeCapability(m_cluster.GetVertices()[m_cluster.GetGpus()[first]].model),
                   m_cpus.at(first));
}

ReplayCosts
FlowProfiles::FindCosts(TaskId id,
                        const CollectiveProgram& program,
                        const std::vector<ProgramFlow>& flows) const
{
    ReplayCosts costs;
    const CollectiveKernelCost& kernel = GetKernelCost(id);
    const auto& devices = m_graph.GetGroup(m_graph.GetTask(id).place);
    const BlockShares shares(program);
    const std::vector<bool>& reads = FindGdrReads(m_graph.GetTask(id).place);
    const auto find = [&](const ProgramFlow& flow, uint32_t channel) -> const Connection& {
        return FindConnection(devices[flow.from], devices[flow.to], channel, reads[flow.from])
            .connection;
    };
    HostLinkShares hostShares;
    for (const ProgramFlow& flow : flows)
    {
        if (flow.group == NO_GROUP)
        {
            hostShares.Add(find(flow, 0));
        }
    }
    BlockHops hops;
    for (const ProgramFlow& flow : flows)
    {
        const bool isGroup = flow.group != NO_GROUP;
        bool isNetwork = false;
        if (!isGroup)
        {
            const auto [hop, isNew] = hops.try_emplace(NameHop(flow.from, flow.to));
            if (isNew)
            {
                const Connection& connection = find(flow, 0);
                hop->second = {hostShares.GetSendHop(connection),
                               hostShares.GetReceiveHop(connection)};
            }
            isNetwork = hop->second.first.Is(HopKind::NETWORK);
        }
        costs.sendsWhole.push_back(isNetwork);
    }
    costs.limits.assign(flows.size(), 0);
    if (HasNetworkLimits(m_rules, program.protocol))
    {
        LimitNetwork(
            m_rules,
            program,
            flows,
            [&](const ProgramFlow& flow) -> const Connection& { return find(flow, flow.channel); },
            costs);
    }
    if (!m_kernelCosts)
    {
        return costs;
    }
    LimitSenders(kernel, program, shares, flows, costs);
    costs.groupLatencyPs = kernel.Get(HopKind::SWITCH, ToNcclProtocol(program.protocol)).latencyPs;
    const double memoryBytesPerSecond =
        m_cluster.GetVertices()[m_cluster.GetGpus()[devices.front()]].memoryBytesPerSecond;
    costs.blocks = ListBlockCosts(kernel, program, shares, hops, m_pluginPs, memoryBytesPerSecond);
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
        CollectiveRequest request = m_programs->MakeRequest(id);
        if (!m_programs->GetSettings().isMadeWhole)
        {
            request.bytes = std::min<uint64_t>(request.bytes, request.vertices.size());
            request.channels = 1;
        }
        const std::shared_ptr<Part> part = MakePart(id, request);
        const auto routes = PlanRoutes(id, part->flows);
        const auto classOf = ClassifyFlows(part->flows, routes, m_routes);
        const uint32_t nClasses = *std::max_element(classOf.begin(), classOf.end()) + 1;
        latencies = AddUpClasses(ReplayProgram(*part->program,
                                               part->flows,
                                               routes,
                                               m_routes,
                                               part->costs,
                                               true,
                                               m_goOn),
                                 part->flows,
                                 classOf,
                                 nClasses,
                                 shape.ranks)
                        .endPs;
    }
    return latencies;
}

const std::vector<bool>&
FlowProfiles::FindGdrReads(GroupId group) const
{
    const auto [reads, isNew] = m_gdrReads.try_emplace(group);
    if (isNew)
    {
        reads->second = ListGdrReads(m_rules, m_cluster, m_paths, m_graph.GetGroup(group));
    }
    return reads->second;
}

FlowProfiles::PlannedConnection&
FlowProfiles::FindConnection(DeviceId from, DeviceId to, uint32_t channel, bool gdrRead) const
{
    const auto& gpus = m_cluster.GetGpus();
    const auto [place, isNew] = m_connections.try_emplace(
        {from, to, m_nics.Get(gpus[from], channel), m_nics.Get(gpus[to], channel), gdrRead});
    if (isNew)
    {
        place->second.connection = PlanConnection(m_cluster,
                                                  m_paths,
                                                  m_nics,
                                                  0,
                                                  channel,
                                                  from,
                                                  to,
                                                  true,
                                                  m_rules,
                                                  gdrRead);
    }
    return place->second;
}

std::vector<uint32_t>
FlowProfiles::PlanRoutes(TaskId id, const std::vector<ProgramFlow>& flows)
{
    const GroupId group = m_graph.GetTask(id).place;
    const auto& devices = m_graph.GetGroup(group);
    const std::vector<bool>& reads = FindGdrReads(group);
    std::vector<uint32_t> routes;
    routes.reserve(flows.size());
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
            connection.flow = GetGroupFlow(m_cluster, connection.members, flow.ordinal);
            routes.push_back(m_routes.PlanGroup(connection));
            continue;
        }
        const DeviceId from = devices[flow.from];
        const DeviceId to = devices[flow.to];
        PlannedConnection& known = FindConnection(from, to, flow.channel, reads[flow.from]);
        const double mean = static_cast<double>(flow.bytes) /
                            static_cast<double>(std::max<uint64_t>(flow.messages, 1));
        const auto messageBytes =
            FlowRoutes::IsShort(mean) ? static_cast<uint32_t>(std::ceil(mean)) : 0;
        if (known.route != NO_ID && known.messageBytes == messageBytes)
        {
            routes.push_back(known.route);
            continue;
        }
        const FlowRoutes::Planned planned =
            m_routes.Plan(known.connection,
                          GetConnectionFlow(m_cluster, group, flow.channel, from, to),
                          messageBytes);
        known.messageBytes = messageBytes;
        known.route = planned.isForAnyFlow ? planned.route : NO_ID;
        routes.push_back(planned.route);
    }
    return routes;
}

const ClassTimes&
FlowProfiles::Replay(Part& part,
                     const std::vector<uint32_t>& routes,
                     const std::vector<uint32_t>& classOf,
                     std::size_t nClasses,
                     uint32_t ranks)
{
    if (!part.program)
    {
        part.program = std::make_shared<CollectiveProgram>(m_programs->Make(part.request));
    }
    const CollectiveProgram& program = *part.program;
    const ReplayName name = NameReplay(program, part.flows, routes, m_routes, part.costs, classOf);
    auto place = m_replays.find(name);
    if (place == m_replays.end())
    {
        const ReplayTimes times =
            ReplayProgram(program, part.flows, routes, m_routes, part.costs, false, m_goOn);
        place = m_replays
                    .emplace(name,
                             AddUpClasses(times,
                                          part.flows,
                                          classOf,
                                          static_cast<uint32_t>(nClasses),
                                          ranks))
                    .first;
    }
    // The steps of rings of hundreds of GPUs take hundreds of megabytes, and are seldom needed
    // again.
    if (CountMessages(part.flows) > MOST_KEPT_MESSAGES)
    {
        part.program = nullptr;
    }
    return place->second;
}

const ClassTimes&
FlowProfiles::FindTiming(Part& part,
                         const std::vector<uint32_t>& routes,
                         const std::vector<uint32_t>& classOf,
                         const std::vector<FlowClass>& classes,
                         uint32_t ranks)
{
    std::vector<int64_t> rates;
    for (const FlowClass& flowClass : classes)
    {
        rates.push_back(std::llround(RATE_STEPS * std::log(flowClass.linkRate)));
    }
    const ClassTimes*& times = part.timed[rates];
    if (times == nullptr)
    {
        times = &Replay(part, routes, classOf, classes.size(), ranks);
    }
    return *times;
}

CollectiveProfile
FlowProfiles::Make(TaskId id, Shape& shape)
{
    const std::vector<uint32_t> routes = PlanRoutes(id, shape.flows);
    const std::vector<uint32_t> classOf = ClassifyFlows(shape.flows, routes, m_routes);
    const auto& parts = shape.family->parts;
    CollectiveProfile profile;
    profile.multiprocessors = parts.back()->use.processors;
    const bool hasKernel =
        profile.multiprocessors > 0 || m_graph.GetTask(id).collective != Collective::SEND_RECV;
    profile.launchPs = !hasKernel        ? 0
                       : m_launchPs >= 0 ? m_launchPs
                       : m_kernelCosts
                           ? GetKernelCost(id).GetKernelPs(ToNcclProtocol(shape.family->protocol))
                           : 0;
    profile.classes =
        MakeFlowClasses(shape.flows, routes, classOf, parts.back()->costs.limits, m_routes);
    AddPairs(id, shape, routes, classOf, profile.classes);
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
        SetClassTimes(alone,
                      last.endPs[i],
                      latencies[std::min(i, latencies.size() - 1)],
                      last.rankEnds[i],
                      profile.classes[i]);
        profile.alonePs = std::max(profile.alonePs, profile.classes[i].alonePs);
    }
    const Part& longest = *parts.back();
    // Copies without a kernel share what PCI Express carries, a few percent of what a memory moves;
    // kernels beside several of them would feel it several times.
    if (profile.alonePs > 0 && hasKernel)
    {
        profile.memoryBytesPerSecond = static_cast<double>(longest.use.memoryBytes) *
                                       static_cast<double>(shape.bytes) /
                                       static_cast<double>(longest.bytes) * PS_PER_SECOND /
                                       static_cast<double>(profile.alonePs);
    }
    return profile;
}

} // namespace proteus
} // namespace ns3
