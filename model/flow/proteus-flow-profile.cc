/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-profile.h"

#include "proteus-flow-block-costs.h"
#include "proteus-flow-classes.h"

#include "ns3/proteus-algorithm-traits.h"
#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-net-plugin.h"

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
/// Messages of a program that is replayed as a whole.
constexpr uint64_t MAX_MESSAGES = 2000;
/// Of every flow of a program that has come to its pace there are so many messages for each slot of
/// a connection.
constexpr uint64_t STEADY_ROUNDS = 2;
/// Loops of a ring that has come to its pace: the first ones go by with links that are idle.
constexpr uint64_t STEADY_LOOPS = 4;
/// Messages of a program that is worth interpolating.
constexpr uint64_t LEAST_MESSAGES = 500;
/// Messages of a program that is kept when it has been replayed.
constexpr uint64_t MOST_KEPT_MESSAGES = 100000;
/// Chunks of every channel and rank of the first program that is made of a family.
constexpr uint64_t FIRST_CHUNKS = 2;
/// Rates whose logarithms differ by less than the inverse are one.
constexpr double RATE_STEPS = 1e5;

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
    if (m_rules.LimitsNetwork(program.protocol))
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
