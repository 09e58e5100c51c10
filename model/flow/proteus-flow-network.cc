/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-network.h"

#include "proteus-congested-flows.h"
#include "proteus-meeting-replays.h"

#include "ns3/proteus-graph-representative.h"
#include "ns3/proteus-server-hosts.h"

#include <algorithm>
#include <cmath>
#include <limits>
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
/// Messages that are replayed beside a run at most: some 15 seconds of CPU time.
constexpr uint64_t MOST_MESSAGES = 2000000;

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
      m_profiles(graph, cluster, paths, parameters, settings),
      m_isStoodFor(FindStoodFor(graph)),
      m_messagesLeft(MOST_MESSAGES)
{
    const std::size_t resources = m_profiles.GetResources().size();
    for (const FlowResource& resource : m_profiles.GetResources())
    {
        m_shares.AddResource(resource.capacity, resource.sharing);
    }
    m_shares.SetInputBuffer(m_profiles.GetWays().GetInputBuffer());
    m_peaks.resize(resources);
    m_wireBytes.assign(resources, 0);
    m_payloadBytes.assign(resources, 0);
    m_isComputing.assign(graph.GetNDevices(), false);
    m_underWay.resize(graph.GetNDevices());
    if (parameters.congestion)
    {
        m_congested = std::make_unique<CongestedFlows>(
            *m_parameters.congestion,
            m_profiles.GetResources(),
            parameters.pathSeed,
            [this](uint32_t resource, const std::vector<uint32_t>& owners) {
                return FindLeft(resource, owners);
            });
    }
}

FlowNetwork::~FlowNetwork() = default;

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
        made.late = nullptr;
        made.isReplayed = false;
        made.isEarly = false;
        made.isWaiting = false;
        made.ready.clear();
        made.ended.clear();
        made.left.clear();
        made.ahead = nullptr;
        made.parts.clear();
        made.isMeeting = false;
        made.isHeld = false;
        made.held.clear();
        made.members.clear();
        made.members.reserve(group.size());
    }
    const uint32_t id = place->second;
    Communication& communication = m_communications[id];
    const auto rank =
        static_cast<uint32_t>(std::find(group.begin(), group.end(), device) - group.begin());
    communication.members.push_back({device, rank, m_clock.GetTimePs(), std::move(done)});
    if (communication.members.size() == group.size())
    {
        communication.profile = &m_profiles.Get(task);
        m_clock.Schedule(device, communication.profile->launchPs, [this, id]() { Begin(id); });
    }
    else if (m_isStoodFor.empty() && group.size() > 2 &&
             (m_congested || HasRoot(m_graph.GetTask(task).collective)))
    {
        communication.profile = &m_profiles.Get(task);
        m_clock.Schedule(device, communication.profile->launchPs, [this, id, rank]() {
            BeginEarly(id, rank);
        });
    }
}

void
FlowNetwork::Begin(uint32_t id)
{
    Communication& communication = m_communications[id];
    std::sort(communication.members.begin(),
              communication.members.end(),
              [](const auto& a, const auto& b) { return a.rank < b.rank; });
    JoinWithRepresentatives(communication);
    const auto& classes = communication.profile->classes;
    const uint32_t paired = m_congested ? FindPaired(*communication.profile) : NO_ID;
    communication.ahead = nullptr;
    if (communication.isWaiting)
    {
        m_congested->StopAwaiting(classes[paired]);
        m_waiting.erase(std::find(m_waiting.begin(), m_waiting.end(), id));
    }
    // Latencies are in the replay of what is replayed.
    communication.isReplayed = communication.isEarly || (m_congested && paired != NO_ID &&
                                                         m_congested->IsWanted(classes[paired]) &&
                                                         m_profiles.GetWhole(communication.task));
    communication.late =
        communication.isReplayed && classes.size() == 1 ? nullptr : FindLate(communication);
    communication.parts.resize(classes.size(), Communication::Part::WAITS);
    communication.beginPs = m_clock.GetTimePs();
    communication.number = m_collectives;
    communication.left.assign(communication.members.size(), 0);
    communication.endsPs.assign(communication.members.size(), 0);
    communication.classesLeft = static_cast<uint32_t>(classes.size());
    for (std::size_t i = 0; i < classes.size(); ++i)
    {
        for (std::size_t rank = 0; rank < communication.left.size(); ++rank)
        {
            communication.left[rank] += GetAfterPs(communication, i)[rank] >= 0;
        }
    }
    m_sentBytes += communication.profile->sentBytes;
    ++m_collectives;
    const auto hasEnded = [&ended = communication.ended](uint32_t rank) {
        return std::find(ended.begin(), ended.end(), rank) != ended.end();
    };
    for (const auto& member : communication.members)
    {
        if (m_listener && !hasEnded(member.rank))
        {
            m_listener->ChangeCommunication(member.device, 1);
        }
        communication.computing += m_isComputing[member.device];
        m_underWay[member.device].push_back(id);
    }
    for (const auto& member : communication.members)
    {
        if (hasEnded(member.rank))
        {
            communication.left[member.rank] = 0;
        }
        else if (communication.left[member.rank] == 0)
        {
            EndRank(id, member.rank, 0);
        }
    }
    for (uint32_t i = 0; i < classes.size(); ++i)
    {
        if (communication.isEarly && i == paired)
        {
            continue;
        }
        const LateClass* const late = FindLateClass(communication, i);
        const int64_t beforePs = late ? late->beforePs : classes[i].beforePs;
        if (communication.isMeeting)
        {
            break; // the first one has met others
        }
        if (beforePs == 0 || (communication.isReplayed && i == paired))
        {
            Admit(id, i);
        }
        else
        {
            m_clock.Schedule(0, beforePs, [this, id, i, number = communication.number]() {
                const Communication& waiting = m_communications[id];
                if (waiting.number == number && !waiting.isMeeting)
                {
                    Admit(id, i);
                }
            });
        }
    }
    if (communication.isEarly)
    {
        JoinLast(communication);
    }
    if (classes.empty())
    {
        Forget(id);
    }
}

void
FlowNetwork::JoinWithRepresentatives(Communication& communication) const
{
    if (m_isStoodFor.empty())
    {
        return;
    }
    int64_t lastPs = std::numeric_limits<int64_t>::min();
    for (const auto& member : communication.members)
    {
        lastPs = m_isStoodFor[member.device] ? lastPs : std::max(lastPs, member.joinedPs);
    }
    for (auto& member : communication.members)
    {
        member.joinedPs =
            m_isStoodFor[member.device] ? std::max(member.joinedPs, lastPs) : member.joinedPs;
    }
}

const std::vector<LateClass>*
FlowNetwork::FindLate(const Communication& communication)
{
    const auto& members = communication.members;
    if (members.size() < 3)
    {
        return nullptr; // two have nothing to do without each other
    }
    const auto [first, last] =
        std::minmax_element(members.begin(), members.end(), [](const auto& a, const auto& b) {
            return a.joinedPs < b.joinedPs;
        });
    const int64_t firstPs = first->joinedPs;
    if (static_cast<double>(last->joinedPs - firstPs) <=
        LEAST_LATE * static_cast<double>(communication.profile->alonePs))
    {
        return nullptr;
    }
    std::vector<int64_t> joinsPs;
    for (const auto& member : members)
    {
        joinsPs.push_back(member.joinedPs - firstPs);
    }
    const auto& late = m_profiles.GetLate(communication.task, joinsPs);
    return late.empty() ? nullptr : &late;
}

const LateClass*
FlowNetwork::FindLateClass(const Communication& communication, std::size_t index)
{
    const bool isReplayed =
        communication.isReplayed && !communication.profile->classes[index].pairs.empty();
    return communication.late && !isReplayed ? &(*communication.late)[index] : nullptr;
}

const std::vector<int64_t>&
FlowNetwork::GetAfterPs(const Communication& communication, std::size_t index)
{
    const LateClass* const late = FindLateClass(communication, index);
    return late ? late->afterPs : communication.profile->classes[index].afterPs;
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

bool
FlowNetwork::IsMessage(const Communication& communication) const
{
    const Task& task = m_graph.GetTask(communication.task);
    const auto& group = m_graph.GetGroup(task.place);
    const auto& gpus = m_cluster.GetGpus();
    return task.collective == Collective::SEND_RECV && group.size() == 2 &&
           communication.profile->classes.size() == 1 &&
           MovesWithoutKernel(m_cluster, gpus[group[0]], gpus[group[1]]);
}

void
FlowNetwork::Admit(uint32_t id, uint32_t index)
{
    const Communication& communication = m_communications[id];
    if (IsMessage(communication))
    {
        auto& messages = m_messages[m_graph.GetTask(communication.task).place];
        messages.push_back(id);
        if (messages.size() > 1)
        {
            return;
        }
    }
    Activate(id, index);
}

void
FlowNetwork::AdmitNext(uint32_t id)
{
    const Communication& communication = m_communications[id];
    if (!IsMessage(communication))
    {
        return;
    }
    auto& messages = m_messages[m_graph.GetTask(communication.task).place];
    messages.pop_front();
    if (!messages.empty())
    {
        Activate(messages.front(), 0);
    }
}

void
FlowNetwork::Activate(uint32_t id, uint32_t index)
{
    const FlowClass& flows = m_communications[id].profile->classes[index];
    const bool isEarly = m_communications[id].isEarly && !flows.pairs.empty();
    const uint32_t place =
        m_shares.AddUser(flows.uses, isEarly ? LEAST_RATE : GetLimit(m_communications[id], flows));
    m_classes.resize(std::max<std::size_t>(m_classes.size(), place + 1));
    LiveClass& live = m_classes[place];
    live.flows = &flows;
    live.communication = id;
    live.index = index;
    const LateClass* const late = FindLateClass(m_communications[id], index);
    live.left = late ? late->bytes : flows.bytes;
    live.rate = 0;
    live.sincePs = m_clock.GetTimePs();
    live.cap = isEarly ? LEAST_RATE : std::numeric_limits<double>::infinity();
    live.endPs = NEVER;
    live.nEarly = 0;
    m_communications[id].live.push_back(place);
    m_communications[id].parts.resize(m_communications[id].profile->classes.size(),
                                      Communication::Part::WAITS);
    m_communications[id].parts[index] = Communication::Part::LIVE;
    ChangePeaks(m_communications[id], index, 1);
    const bool isWanted = m_congested && !flows.pairs.empty() && BeginCongestion(place);
    m_hasOthers |= flows.pairs.empty();
    ++live.version; // whatever was said about the one here before
    m_shares.ChangeCount(place, 1);
    RequestShares();
    if (isWanted)
    {
        BeginWaiting();
    }
    Meet(id, index);
}

void
FlowNetwork::Finish(uint32_t id, uint32_t version)
{
    LiveClass& live = m_classes[id];
    if (live.version != version)
    {
        return; // it has got another rate since
    }
    Record(live);
    if (m_congested && !live.flows->pairs.empty())
    {
        AdvanceCongestion();
        m_congested->End(id);
    }
    for (const FlowUse& use : live.flows->uses)
    {
        m_wireBytes[use.resource] += use.amount * live.flows->bytes;
        m_payloadBytes[use.resource] += use.payload * live.flows->bytes;
    }
    ++live.version;
    m_shares.RemoveUser(id);
    if (m_shares.HasChanged())
    {
        RequestShares();
    }
    const int64_t latePs = live.endPs == NEVER ? 0 : m_clock.GetTimePs() - live.endPs;
    const uint32_t place = live.communication;
    Communication& communication = m_communications[place];
    communication.parts[live.index] = Communication::Part::DONE;
    ChangePeaks(communication, live.index, -1);
    const auto& afterPs = GetAfterPs(communication, live.index);
    communication.live.erase(std::find(communication.live.begin(), communication.live.end(), id));
    std::vector<bool> isDone(afterPs.size(), false);
    for (uint32_t i = 0; i < live.nEarly; ++i)
    {
        isDone[GetEarly(live)[i].rank] = true;
    }
    if (communication.isReplayed && !live.flows->pairs.empty())
    {
        for (const uint32_t rank : communication.ended)
        {
            isDone[rank] = true;
        }
    }
    for (uint32_t rank = 0; rank < afterPs.size(); ++rank)
    {
        if (afterPs[rank] >= 0 && !isDone[rank])
        {
            EndPart(place, rank, std::max<int64_t>(0, afterPs[rank] - latePs));
        }
    }
    live.flows = nullptr;
    if (--communication.classesLeft == 0)
    {
        AdmitNext(place);
        Forget(place);
    }
}

void
FlowNetwork::EndPart(uint32_t id, uint32_t rank, int64_t afterPs)
{
    Communication& communication = m_communications[id];
    if (communication.left[rank] == 0)
    {
        return;
    }
    int64_t& endPs = communication.endsPs[rank];
    endPs = std::max(endPs, m_clock.GetTimePs() + afterPs);
    if (--communication.left[rank] == 0)
    {
        EndRank(id, rank, endPs - m_clock.GetTimePs());
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
            m_shares.SetLimit(
                place,
                std::min(GetLimit(communication, *m_classes[place].flows), m_classes[place].cap));
        }
    }
    if (m_shares.HasChanged())
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
            if (m_meeting)
            {
                m_meeting->GoTo(static_cast<double>(m_clock.GetTimePs()));
            }
            ComputeShares();
            ScheduleMeeting();
        });
    }
}

double
FlowNetwork::GetLimit(const Communication& communication, const FlowClass& flows) const
{
    // A replay itself has steps wait for each other, and what others of the collective do not take
    // is left to a class.
    const bool isLimited = flows.pairs.empty() ? !communication.isHeld : !communication.isReplayed;
    const double rate = isLimited ? flows.rate : flows.linkRate;
    return communication.computing == 0 ? rate : rate / (1 + m_parameters.communicationSlowdown);
}

double
FlowNetwork::GetLeft(const LiveClass& live) const
{
    const auto since = static_cast<double>(m_clock.GetTimePs() - live.sincePs);
    return std::max(0.0, live.left - live.rate * since / PS_PER_SECOND);
}

void
FlowNetwork::ComputeShares()
{
    ++m_computations;
    for (const SharedResources::Share& share : m_shares.Solve())
    {
        if (!m_meeting || !m_meeting->TakeShare(share))
        {
            SetRate(share.user, share.rate);
        }
    }
    if (std::exchange(m_hasOthers, false) && m_congested && !m_congested->GetLive().empty())
    {
        AdvanceCongestion();
        m_congested->NoteOthers();
        RequestStep();
    }
}

void
FlowNetwork::SetRate(uint32_t id, double rate)
{
    LiveClass& live = m_classes[id];
    if (m_communications[live.communication].isMeeting)
    {
        return; // its messages have rates of their own
    }
    if (live.rate > 0 && std::abs(rate - live.rate) <= SAME_RATE * live.rate)
    {
        return;
    }
    const int64_t now = m_clock.GetTimePs();
    Record(live);
    live.left = GetLeft(live);
    live.sincePs = now;
    live.rate = rate;
    Foretell(id);
}

void
FlowNetwork::Foretell(uint32_t id)
{
    LiveClass& live = m_classes[id];
    const uint32_t version = ++live.version;
    if (live.endPs == WAITS)
    {
        return;
    }
    const auto& early = GetEarly(live);
    if (live.endPs == NEVER && live.nEarly < early.size())
    {
        const double moves = std::max(0.0, live.left - early[live.nEarly].left);
        m_clock.Schedule(0,
                         static_cast<int64_t>(std::ceil(moves / live.rate * PS_PER_SECOND)),
                         [this, id, version]() { GoOn(id, version); });
        return;
    }
    const int64_t movesPs =
        live.rate > 0 ? static_cast<int64_t>(std::ceil(live.left / live.rate * PS_PER_SECOND)) : 0;
    const bool isBeside = m_communications[live.communication].profile->classes.size() > 1;
    const int64_t delay =
        live.endPs == NEVER
            ? movesPs
            : std::max(
                  {isBeside ? movesPs : 0, live.endPs - m_clock.GetTimePs(), FindBeside(live, 0)});
    m_clock.Schedule(0, delay, [this, id, version]() { Finish(id, version); });
}

int64_t
FlowNetwork::FindBeside(const LiveClass& live, double left) const
{
    const Communication& communication = m_communications[live.communication];
    if (communication.profile->classes.size() == 1 || communication.isEarly)
    {
        return 0;
    }
    const FlowClass& flows = *live.flows;
    const auto alonePs =
        static_cast<int64_t>((flows.bytes - left) / flows.rate * PS_PER_SECOND) + flows.beforePs;
    return std::max<int64_t>(0, communication.beginPs + alonePs - m_clock.GetTimePs());
}

const std::vector<EarlyRank>&
FlowNetwork::GetEarly(const LiveClass& live) const
{
    const LateClass* const late = FindLateClass(m_communications[live.communication], live.index);
    return late ? late->early : live.flows->early;
}

void
FlowNetwork::EndEarly(LiveClass& live, double left)
{
    const auto& early = GetEarly(live);
    while (live.nEarly < early.size() && early[live.nEarly].left >= left)
    {
        EndPart(live.communication, early[live.nEarly++].rank, 0);
    }
}

void
FlowNetwork::GoOn(uint32_t id, uint32_t version)
{
    LiveClass& live = m_classes[id];
    if (live.version != version)
    {
        return; // it has got another rate since
    }
    Record(live);
    live.left = GetLeft(live);
    live.sincePs = m_clock.GetTimePs();
    // Rounding of times is less than what moves in a picosecond.
    EndEarly(live, live.left - live.rate / PS_PER_SECOND);
    Foretell(id);
}

} // namespace proteus
} // namespace ns3
