/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-network.h"

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
/// A rate that changes by less than this part does not change.
constexpr double SAME_RATE = 1e-9;

} // namespace

FlowNetwork::FlowNetwork(const ExecutionGraph& graph,
                         const Cluster& cluster,
                         const Paths& paths,
                         FlowClock& clock,
                         const FlowParameters& parameters,
                         const ProgramSettings& settings)
    : m_graph(graph),
      m_cluster(cluster),
      m_clock(clock),
      m_parameters(parameters),
      m_profiles(graph, cluster, paths, parameters, settings)
{
    const std::size_t resources = m_profiles.GetResources().size();
    m_users.resize(resources);
    m_visited.assign(resources, 0);
    m_numberOf.assign(resources, NO_ID);
    m_wireBytes.assign(resources, 0);
    m_payloadBytes.assign(resources, 0);
    m_isComputing.assign(graph.GetNDevices(), false);
    m_underWay.resize(graph.GetNDevices());
}

void
FlowNetwork::SetListener(FlowListener* listener)
{
    m_listener = listener;
}

void
FlowNetwork::Join(DeviceId device, TaskId task, uint32_t microBatch, std::function<void()> done)
{
    const auto& group = m_graph.GetGroup(m_graph.GetTask(task).place);
    const auto [place, isNew] = m_index.emplace(TaskInstance{task, microBatch}, NO_ID);
    if (isNew)
    {
        place->second = m_communications.Take();
        Communication& made = m_communications[place->second];
        made.task = task;
        made.microBatch = microBatch;
        made.computing = 0;
        made.profile = nullptr;
        made.members.clear();
        made.members.reserve(group.size());
    }
    const uint32_t id = place->second;
    Communication& communication = m_communications[id];
    const auto rank =
        static_cast<uint32_t>(std::find(group.begin(), group.end(), device) - group.begin());
    communication.members.push_back({device, rank, std::move(done)});
    if (communication.members.size() == group.size())
    {
        communication.profile = &m_profiles.Get(task);
        m_clock.Schedule(device, communication.profile->launchPs, [this, id]() { Begin(id); });
    }
}

void
FlowNetwork::Begin(uint32_t id)
{
    Communication& communication = m_communications[id];
    std::sort(communication.members.begin(),
              communication.members.end(),
              [](const auto& a, const auto& b) { return a.rank < b.rank; });
    const auto& classes = communication.profile->classes;
    communication.left.assign(communication.members.size(), 0);
    communication.classesLeft = static_cast<uint32_t>(classes.size());
    for (const FlowClass& flowClass : classes)
    {
        for (std::size_t rank = 0; rank < communication.left.size(); ++rank)
        {
            communication.left[rank] += flowClass.afterPs[rank] >= 0;
        }
    }
    m_sentBytes += communication.profile->sentBytes;
    ++m_collectives;
    for (const auto& member : communication.members)
    {
        if (m_listener)
        {
            m_listener->ChangeCommunication(member.device, 1);
        }
        communication.computing += m_isComputing[member.device];
        m_underWay[member.device].push_back(id);
    }
    for (std::size_t rank = 0; rank < communication.left.size(); ++rank)
    {
        if (communication.left[rank] == 0)
        {
            EndRank(id, static_cast<uint32_t>(rank), 0);
        }
    }
    for (uint32_t i = 0; i < classes.size(); ++i)
    {
        if (classes[i].beforePs == 0)
        {
            Activate(id, i);
        }
        else
        {
            m_clock.Schedule(0, classes[i].beforePs, [this, id, i]() { Activate(id, i); });
        }
    }
    if (classes.empty())
    {
        Forget(id);
    }
}

void
FlowNetwork::Forget(uint32_t id)
{
    const Communication& communication = m_communications[id];
    for (const auto& member : communication.members)
    {
        auto& underWay = m_underWay[member.device];
        underWay.erase(std::find(underWay.begin(), underWay.end(), id));
    }
    m_index.erase({communication.task, communication.microBatch});
    m_communications.GiveBack(id);
}

void
FlowNetwork::Activate(uint32_t id, uint32_t index)
{
    const uint32_t place = m_classes.Take();
    LiveClass& live = m_classes[place];
    live.flows = &m_communications[id].profile->classes[index];
    live.communication = id;
    live.index = index;
    live.left = live.flows->bytes;
    live.rate = 0;
    live.sincePs = m_clock.GetTimePs();
    live.isLive = true;
    m_communications[id].live.push_back(place);
    ++live.version; // whatever was said about the one here before
    for (const FlowUse& use : live.flows->uses)
    {
        m_users[use.resource].push_back(place);
    }
    m_changedClasses.push_back(place);
    RequestShares();
}

void
FlowNetwork::Finish(uint32_t id, uint32_t version)
{
    LiveClass& live = m_classes[id];
    if (live.version != version)
    {
        return; // it has got another rate since
    }
    for (const FlowUse& use : live.flows->uses)
    {
        auto& users = m_users[use.resource];
        users.erase(std::find(users.begin(), users.end(), id));
        if (!users.empty())
        {
            m_changedResources.push_back(use.resource);
        }
        m_wireBytes[use.resource] += use.amount * live.flows->bytes;
        m_payloadBytes[use.resource] += use.payload * live.flows->bytes;
    }
    live.isLive = false;
    ++live.version;
    m_classes.GiveBack(id);
    if (!m_changedResources.empty())
    {
        RequestShares();
    }
    const uint32_t place = live.communication;
    const auto& afterPs = live.flows->afterPs;
    Communication& communication = m_communications[place];
    communication.live.erase(std::find(communication.live.begin(), communication.live.end(), id));
    for (uint32_t rank = 0; rank < afterPs.size(); ++rank)
    {
        if (afterPs[rank] >= 0 && --communication.left[rank] == 0)
        {
            // Of several classes, the latencies behind the last one count.
            EndRank(place, rank, afterPs[rank]);
        }
    }
    if (--communication.classesLeft == 0)
    {
        Forget(place);
    }
}

void
FlowNetwork::EndRank(uint32_t id, uint32_t rank, int64_t afterPs)
{
    Communication::Member& member = m_communications[id].members[rank];
    if (m_listener)
    {
        m_listener->ChangeCommunication(member.device, -1);
    }
    m_clock.Schedule(member.device, afterPs, std::move(member.done));
}

void
FlowNetwork::SetComputing(DeviceId device, bool isComputing)
{
    if (m_isComputing[device] == isComputing)
    {
        return;
    }
    m_isComputing[device] = isComputing;
    for (const uint32_t id : m_underWay[device])
    {
        Communication& communication = m_communications[id];
        communication.computing += isComputing ? 1 : -1;
        for (const uint32_t place : communication.live)
        {
            m_changedClasses.push_back(place);
            for (const FlowUse& use : m_classes[place].flows->uses)
            {
                m_changedResources.push_back(use.resource);
            }
        }
    }
    if (!m_changedClasses.empty())
    {
        RequestShares();
    }
}

void
FlowNetwork::RequestShares()
{
    if (!m_isRequested)
    {
        m_isRequested = true;
        m_clock.Schedule(0, 0, [this]() {
            m_isRequested = false;
            ComputeShares();
        });
    }
}

double
FlowNetwork::GetLimit(const LiveClass& live) const
{
    const Communication& communication = m_communications[live.communication];
    return communication.computing == 0
               ? live.flows->rate
               : live.flows->rate / (1 + m_parameters.communicationSlowdown);
}

double
FlowNetwork::GetCapacity(uint32_t resource) const
{
    const FlowResource& shared = m_profiles.GetResources()[resource];
    return m_users[resource].size() > 1 ? shared.capacity * shared.sharing : shared.capacity;
}

void
FlowNetwork::FindComponent()
{
    ++m_search;
    m_component.clear();
    m_constraints.clear();
    const auto visit = [this](uint32_t id) {
        if (m_classes[id].isLive && m_classes[id].visit != m_search)
        {
            m_classes[id].visit = m_search;
            m_component.push_back(id);
        }
    };
    const auto look = [&](uint32_t resource) {
        if (m_visited[resource] == m_search || m_users[resource].size() < 2)
        {
            return;
        }
        m_visited[resource] = m_search;
        double wanted = 0;
        for (const uint32_t id : m_users[resource])
        {
            const auto& uses = m_classes[id].flows->uses;
            const auto use =
                std::lower_bound(uses.begin(),
                                 uses.end(),
                                 resource,
                                 [](const FlowUse& a, uint32_t b) { return a.resource < b; });
            wanted += use->amount * GetLimit(m_classes[id]);
        }
        if (wanted > GetCapacity(resource))
        {
            m_constraints.push_back(resource);
        }
    };
    for (const uint32_t id : m_changedClasses)
    {
        visit(id);
    }
    for (const uint32_t resource : m_changedResources)
    {
        // What shared it with those that have gone may have been held back by it.
        for (const uint32_t id : m_users[resource])
        {
            visit(id);
        }
    }
    m_changedClasses.clear();
    m_changedResources.clear();
    std::size_t expanded = 0;
    for (std::size_t next = 0; next < m_component.size(); ++next)
    {
        for (const FlowUse& use : m_classes[m_component[next]].flows->uses)
        {
            look(use.resource);
        }
        for (; expanded < m_constraints.size(); ++expanded)
        {
            for (const uint32_t id : m_users[m_constraints[expanded]])
            {
                visit(id);
            }
        }
    }
}

void
FlowNetwork::ComputeShares()
{
    FindComponent();
    ++m_computations;
    if (m_constraints.empty())
    {
        for (const uint32_t id : m_component)
        {
            SetRate(id, GetLimit(m_classes[id]));
        }
        return;
    }
    // In the order of their numbers, whatever way they were found.
    std::sort(m_component.begin(), m_component.end());
    m_solver.Clear();
    for (const uint32_t resource : m_constraints)
    {
        m_numberOf[resource] = m_solver.AddResource(GetCapacity(resource));
    }
    for (const uint32_t id : m_component)
    {
        m_solver.AddFlow(GetLimit(m_classes[id]));
        for (const FlowUse& use : m_classes[id].flows->uses)
        {
            if (m_numberOf[use.resource] != NO_ID)
            {
                m_solver.AddUse(m_numberOf[use.resource], use.amount);
            }
        }
    }
    m_solver.Solve();
    for (const uint32_t resource : m_constraints)
    {
        m_numberOf[resource] = NO_ID;
    }
    for (uint32_t i = 0; i < m_component.size(); ++i)
    {
        SetRate(m_component[i], m_solver.GetRate(i));
    }
}

void
FlowNetwork::SetRate(uint32_t id, double rate)
{
    LiveClass& live = m_classes[id];
    if (live.rate > 0 && std::abs(rate - live.rate) <= SAME_RATE * live.rate)
    {
        return;
    }
    const int64_t now = m_clock.GetTimePs();
    live.left =
        std::max(0.0,
                 live.left - live.rate * static_cast<double>(now - live.sincePs) / PS_PER_SECOND);
    live.sincePs = now;
    live.rate = rate;
    const uint32_t version = ++live.version;
    const auto delay = static_cast<int64_t>(std::ceil(live.left / rate * PS_PER_SECOND));
    m_clock.Schedule(0, delay, [this, id, version]() { Finish(id, version); });
}

std::string
FlowNetwork::DescribeWait(DeviceId device, TaskId task, uint32_t microBatch) const
{
    const auto found = m_index.find({task, microBatch});
    if (found == m_index.end())
    {
        return "";
    }
    const Communication& communication = m_communications[found->second];
    std::string missing;
    for (const DeviceId other : m_graph.GetGroup(m_graph.GetTask(task).place))
    {
        const auto& members = communication.members;
        if (other != device &&
            std::none_of(members.begin(), members.end(), [other](const auto& member) {
                return member.device == other;
            }))
        {
            missing += (missing.empty() ? "waits for device " : ", ") + std::to_string(other) +
                       " (" + m_cluster.GetVertices()[m_cluster.GetGpus()[other]].name + ")";
        }
    }
    return missing.empty() ? "is under way" : missing + " to join";
}

std::vector<LinkStatistics>
FlowNetwork::GetLinkStatistics() const
{
    const auto& links = m_cluster.GetLinks();
    std::vector<LinkStatistics> statistics(2 * links.size());
    for (uint32_t port = 0; port < statistics.size(); ++port)
    {
        statistics[port].link = port / 2;
        statistics[port].forward = port % 2 == 0;
    }
    for (uint32_t id = 0; id < m_profiles.GetResources().size(); ++id)
    {
        const FlowResource& resource = m_profiles.GetResources()[id];
        double rates = 0;
        for (const uint32_t port : resource.ports)
        {
            rates += links[port / 2].bytesPerSecond;
        }
        for (const uint32_t port : resource.ports)
        {
            const double share = links[port / 2].bytesPerSecond / rates;
            const double wire = m_wireBytes[id] * share;
            LinkStatistics& carried = statistics[port];
            carried.payloadBytes = std::llround(m_payloadBytes[id] * share);
            carried.receivedPayloadBytes = carried.payloadBytes;
            carried.wireBytes = std::llround(wire);
            carried.busyPs = std::llround(wire / links[port / 2].bytesPerSecond * PS_PER_SECOND);
        }
    }
    return statistics;
}

NetworkStatistics
FlowNetwork::GetStatistics() const
{
    NetworkStatistics statistics;
    statistics.messages = m_collectives;
    statistics.events = m_computations;
    return statistics;
}

std::string
FlowNetwork::CheckAtRest() const
{
    if (!m_index.empty())
    {
        return std::to_string(m_index.size()) + " communications under way";
    }
    for (uint32_t id = 0; id < m_users.size(); ++id)
    {
        if (!m_users[id].empty())
        {
            return "resource " + std::to_string(id) + " is used by " +
                   std::to_string(m_users[id].size()) + " flows";
        }
    }
    return "";
}

} // namespace proteus
} // namespace ns3
