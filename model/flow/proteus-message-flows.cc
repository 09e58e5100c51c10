/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-message-flows.h"

#include <algorithm>
#include <cmath>

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
/// Units of a message that pass links one by one. A queue pair that has waited sends two at once.
constexpr double MOST_UNITS = 2;

} // namespace

MessageFlows::MessageFlows(const ReplayWays& ways, ReplayClock& clock, bool isInstant, Sent sent)
    : m_ways(ways),
      m_clock(clock),
      m_isInstant(isInstant),
      m_sent(std::move(sent)),
      m_own(std::make_unique<SharedResources>()),
      m_shares(*m_own),
      m_unit(1)
{
}

MessageFlows::MessageFlows(const ReplayWays& ways,
                           ReplayClock& clock,
                           SharedResources& shares,
                           Sent sent)
    : m_ways(ways),
      m_clock(clock),
      m_isInstant(false),
      m_sent(std::move(sent)),
      m_shares(shares),
      m_unit(PS_PER_SECOND)
{
}

MessageFlows::Kind
MessageFlows::MakeKind(uint32_t id, double limit) const
{
    const FlowRoute& route = m_ways.GetRoute(id);
    limit = limit > 0 ? std::min(route.limit, limit) : route.limit;
    const double rate = std::min(limit, m_ways.GetLinkRate(route));
    Kind kind;
    kind.route = id;
    kind.unitBytes = route.unitBytes;
    kind.stripeBytes = static_cast<double>(route.unitBytes) * route.stripes;
    kind.alone = rate / PS_PER_SECOND;
    kind.limit = limit / PS_PER_SECOND;
    kind.isPaced = limit <= rate;
    kind.psPerByte = route.unitPsPerByte;
    return kind;
}

uint32_t
MessageFlows::AddFlow(uint32_t route, double limit)
{
    if (m_own && m_kinds.empty())
    {
        m_own->SetInputBuffer(m_ways.GetInputBuffer());
        for (const FlowResource& resource : m_ways.GetResources())
        {
            m_own->AddResource(resource.capacity / PS_PER_SECOND);
        }
    }
    auto& kinds = m_kindsOf[route];
    auto place = std::find_if(kinds.begin(), kinds.end(), [limit](const auto& entry) {
        return entry.first == limit;
    });
    if (place == kinds.end())
    {
        kinds.emplace_back(limit, AddKind(route, limit));
        place = kinds.end() - 1;
    }
    ++m_kinds[place->second].nFlows;
    if (m_freeFlows.empty())
    {
        m_flows.emplace_back();
        m_flows.back().kind = place->second;
        return static_cast<uint32_t>(m_flows.size() - 1);
    }
    const uint32_t id = m_freeFlows.back();
    m_freeFlows.pop_back();
    m_flows[id] = Flow();
    m_flows[id].kind = place->second;
    return id;
}

uint32_t
MessageFlows::AddKind(uint32_t route, double limit)
{
    uint32_t id = static_cast<uint32_t>(m_kinds.size());
    if (m_freeKinds.empty())
    {
        m_kinds.emplace_back();
    }
    else
    {
        id = m_freeKinds.back();
        m_freeKinds.pop_back();
    }
    Kind& kind = m_kinds[id];
    kind = MakeKind(route, limit);
    kind.user = m_shares.AddUser(m_ways.GetRoute(route).uses,
                                 kind.alone * m_unit,
                                 &m_ways.GetRoute(route).inputs);
    m_kindOfUser.resize(std::max<std::size_t>(m_kindOfUser.size(), kind.user + 1), NO_ID);
    m_kindOfUser[kind.user] = id;
    return id;
}

bool
MessageFlows::Erase(RingBuffer<Target>& queue, uint32_t id)
{
    bool wasThere = false;
    for (uint32_t n = queue.GetSize(); n > 0; --n)
    {
        const Target target = queue.Front();
        queue.Pop();
        if (target.flow == id)
        {
            wasThere = true;
        }
        else
        {
            queue.Push(target);
        }
    }
    return wasThere;
}

void
MessageFlows::TakeAway(Kind& kind, const Flow& flow, uint32_t id)
{
    if (flow.bytes == 0)
    {
        return;
    }
    for (auto* const queue : {&kind.messages, &kind.untold})
    {
        std::priority_queue<Target> kept;
        for (; !queue->empty(); queue->pop())
        {
            if (queue->top().flow != id)
            {
                kept.push(queue->top());
            }
        }
        *queue = std::move(kept);
    }
    Erase(kind.turns, id);
    Erase(kind.units, id);
    kind.expected = -1;
    m_shares.ChangeCount(kind.user, -1);
    m_shares.ChangeBytes(kind.user, -flow.bytes);
    if (flow.isLong)
    {
        CountLong(kind, -1);
    }
}

void
MessageFlows::RemoveFlow(uint32_t id)
{
    Flow& flow = m_flows[id];
    const uint32_t number = flow.kind;
    Kind& kind = m_kinds[number];
    if (!flow.isReading)
    {
        m_freeFlows.push_back(id); // else something will still say that it leaves
        TakeAway(kind, flow, id);
    }
    flow.isReading = false;
    if (--kind.nFlows > 0)
    {
        return;
    }
    auto& kinds = m_kindsOf[kind.route];
    kinds.erase(std::find_if(kinds.begin(), kinds.end(), [number](const auto& entry) {
        return entry.second == number;
    }));
    m_clock.TakeBack(number);
    m_shares.RemoveUser(kind.user);
    m_kindOfUser[kind.user] = NO_ID;
    m_freeKinds.push_back(number);
}

void
MessageFlows::HandOver(const Left& left)
{
    std::vector<double> rest(m_flows.size(), 0);
    for (uint32_t id = 0; id < m_flows.size(); ++id)
    {
        rest[id] = m_flows[id].isReading ? m_flows[id].bytes : 0;
    }
    for (uint32_t id = 0; id < m_kinds.size(); ++id)
    {
        // What has been told is there already, but for the pace of its sender.
        Kind& kind = m_kinds[id];
        const auto keepRest = [&](const Target& target) {
            rest[target.flow] = std::clamp(target.bytes - GetMoved(kind),
                                           1.0,
                                           std::max(1.0, m_flows[target.flow].bytes));
        };
        for (auto& untold = kind.untold; !untold.empty(); untold.pop())
        {
            keepRest(untold.top());
        }
        for (auto* const units : {&kind.turns, &kind.units})
        {
            for (; !units->IsEmpty(); units->Pop())
            {
                keepRest(units->Front());
            }
        }
        m_kinds[id].messages = {};
        m_clock.TakeBack(id);
    }
    for (uint32_t id = 0; id < m_flows.size(); ++id)
    {
        Flow& flow = m_flows[id];
        if (rest[id] > 0)
        {
            left(id, rest[id]);
        }
        for (; !flow.waiting.IsEmpty(); flow.waiting.Pop())
        {
            left(id, flow.waiting.Front());
        }
        flow.bytes = 0;
        flow.isReading = false;
    }
}

double
MessageFlows::GetMoved(const Kind& kind) const
{
    return kind.moved + (m_clock.GetNowPs() - kind.sincePs) * kind.rate;
}

double
MessageFlows::GetAheadPs(const Kind& kind, double bytes)
{
    const double whole = std::ceil(bytes / kind.unitBytes - 1) * kind.unitBytes;
    const double last = bytes - whole;
    const double ahead = last * (1 / kind.alone - kind.psPerByte);
    if (whole == 0)
    {
        return ahead;
    }
    // The whole unit before it may come later, by another link of the stripe.
    return std::min(ahead, last / kind.alone + kind.unitBytes * (1 / kind.alone - kind.psPerByte));
}

double
MessageFlows::GetLeastPs(const Kind& kind, double bytes)
{
    return kind.psPerByte *
           std::max(std::min(bytes, kind.unitBytes), bytes * kind.unitBytes / kind.stripeBytes);
}

double
MessageFlows::PassAtOnce(const Kind& kind, double bytes, double fromPs)
{
    const auto& resources = m_ways.GetResources();
    double waits = 0;
    for (const FlowUse& use : m_ways.GetRoute(kind.route).uses)
    {
        if (use.payload > 0 && !use.comesFirst)
        {
            double& passedPs = m_passing[use.resource].untilPs;
            waits = std::max(waits, passedPs - fromPs);
            passedPs = std::max(passedPs, fromPs) +
                       bytes * use.amount / resources[use.resource].capacity * PS_PER_SECOND;
        }
    }
    return waits;
}

void
MessageFlows::BeginUnits(Flow& flow, const Kind& kind, double bytes, double fromPs, double creditPs)
{
    m_passing.resize(m_ways.GetResources().size());
    flow.leastPs = 0;
    flow.rest = 0;
    flow.isLong = true;
    if (kind.stripeBytes > kind.unitBytes)
    {
        return;
    }
    flow.isLong = bytes > MOST_UNITS * kind.unitBytes;
    if (flow.isLong)
    {
        const double atOnce = kind.unitBytes + creditPs * kind.alone;
        flow.leastPs = fromPs + bytes / kind.alone - flow.leadPs + PassAtOnce(kind, atOnce, fromPs);
        return;
    }
    const double first = std::min(bytes, kind.unitBytes);
    const double waits = PassAtOnce(kind, first, fromPs);
    flow.leastPs = fromPs + first * kind.psPerByte + waits;
    flow.rest = bytes - first;
    // Behind what has come when the first one leaves the sender. Before a network it waits further
    // on, at a NIC.
    const double leavesPs = m_ways.GetRoute(kind.route).isNetwork ? 0 : waits;
    flow.restPs = fromPs + std::max(leavesPs, first / kind.alone - creditPs);
}

void
MessageFlows::PassRest(Flow& flow, const Kind& kind)
{
    flow.leastPs =
        flow.restPs + flow.rest * kind.psPerByte + PassAtOnce(kind, flow.rest, flow.restPs);
    flow.rest = 0;
}

void
MessageFlows::CountLong(const Kind& kind, int change)
{
    for (const FlowUse& use : m_ways.GetRoute(kind.route).uses)
    {
        m_passing[use.resource].nLong += change;
    }
}

bool
MessageFlows::IsAmongShort(const Kind& kind) const
{
    const auto& uses = m_ways.GetRoute(kind.route).uses;
    return m_own && std::none_of(uses.begin(), uses.end(), [this](const FlowUse& use) {
               return use.payload > 0 && !use.comesFirst && m_passing[use.resource].nLong > 0;
           });
}

void
MessageFlows::Send(uint32_t id, double bytes)
{
    Flow& flow = m_flows[id];
    if (!m_isInstant)
    {
        m_shares.ChangeBytes(m_kinds[flow.kind].user, bytes);
    }
    const Kind& kind = m_kinds[flow.kind];
    const FlowReading& reading = m_ways.GetRoute(kind.route).reading;
    const bool isRead = reading.port != NO_ID && !m_isInstant;
    const double now = m_clock.GetNowPs();
    if (flow.bytes > 0)
    {
        flow.waiting.Push(bytes);
        if (isRead)
        {
            m_nics.Add(id, reading, kind.limit, bytes, now);
        }
        return;
    }
    const double waits = isRead ? m_nics.Begin(id, reading, kind.limit, bytes, now) : 0;
    if (waits > 0)
    {
        flow.bytes = bytes;
        flow.isReading = true;
        m_clock.Push(now + waits, ReplayEvent::LEAVE, id, 1);
    }
    else
    {
        Begin(id, bytes);
    }
}

void
MessageFlows::Begin(uint32_t id, double bytes)
{
    m_flows[id].bytes = bytes;
    if (m_isInstant)
    {
        Tell(id);
        End(id);
        return;
    }
    Flow& flow = m_flows[id];
    Kind& kind = m_kinds[flow.kind];
    const double now = m_clock.GetNowPs();
    // A queue pair that has waited may catch up by one unit.
    const double unitPs = std::min(kind.unitBytes, bytes) / kind.alone;
    const double credit = kind.isPaced ? std::clamp(now - flow.pacedPs, 0.0, unitPs) : 0;
    const double caughtUp = bytes > kind.unitBytes ? credit : 0;
    // Whatever it catches up, its units are no faster than their links.
    flow.leadPs = std::min(std::max(0.0, GetAheadPs(kind, bytes)) + caughtUp,
                           std::max(0.0, bytes / kind.alone - GetLeastPs(kind, bytes)));
    // Over striped links it waits for each of them in turn, however far it is behind its pace.
    flow.creditPs = kind.stripeBytes > kind.unitBytes ? 0 : std::min(caughtUp, flow.leadPs);
    const double waits = std::max(0.0, flow.pacedPs - now);
    const Target target{GetMoved(kind) + bytes + waits * kind.alone, id};
    kind.messages.push(target);
    flow.pacedPs = now + waits + bytes / kind.alone - credit;
    BeginUnits(flow, kind, bytes, now + waits, credit);
    if (flow.isLong)
    {
        CountLong(kind, 1);
        kind.untold.push(target);
    }
    else
    {
        (flow.rest > 0 ? kind.turns : kind.units).Push(target);
    }
    // Its last unit may go before messages that have gone, but for the pace of their senders, end.
    if (!flow.isLong || kind.messages.top().flow == id || kind.untold.top().flow == id)
    {
        kind.expected = -1;
    }
    m_shares.ChangeCount(kind.user, 1);
    m_shares.NotePlaces(kind.user, flow.places);
}

void
MessageFlows::Tell(uint32_t id)
{
    const Flow& flow = m_flows[id];
    m_sent(id,
           m_isInstant ? 0
                       : std::max({0.0,
                                   -GetAheadPs(m_kinds[flow.kind], flow.bytes),
                                   flow.leastPs - m_clock.GetNowPs()}));
}

void
MessageFlows::TellIfUntold(Kind& kind, uint32_t id)
{
    // A short unit moves its bytes sooner than a longer one that has come before it.
    if (Erase(kind.turns, id))
    {
        PassRest(m_flows[id], kind);
        Tell(id);
    }
    else if (Erase(kind.units, id))
    {
        Tell(id);
    }
}

void
MessageFlows::End(uint32_t id)
{
    Flow& flow = m_flows[id];
    flow.bytes = 0;
    if (!flow.waiting.IsEmpty())
    {
        const double next = flow.waiting.Front();
        flow.waiting.Pop();
        Begin(id, next);
    }
}

void
MessageFlows::Share()
{
    if (!m_shares.HasChanged())
    {
        return;
    }
    for (const SharedResources::Share& share : m_shares.Solve())
    {
        SetRate(m_kindOfUser[share.user], share.rate);
    }
}

bool
MessageFlows::TakeShare(const SharedResources::Share& share)
{
    if (share.user >= m_kindOfUser.size() || m_kindOfUser[share.user] == NO_ID)
    {
        return false;
    }
    SetRate(m_kindOfUser[share.user], share.rate / m_unit);
    return true;
}

bool
MessageFlows::IsAtFullRate(const Kind& kind)
{
    return kind.rate >= kind.alone * (1 - SAME_RATE);
}

double
MessageFlows::GetMovedPs(const Kind& kind, const Target& target)
{
    return kind.sincePs + std::max(0.0, target.bytes - kind.moved) / kind.rate;
}

double
MessageFlows::GetEndPs(const Kind& kind, const Target& target) const
{
    return GetMovedPs(kind, target) - (IsAtFullRate(kind) ? m_flows[target.flow].creditPs : 0);
}

double
MessageFlows::GetLastTurnPs(const Kind& kind, const Target& target) const
{
    const double endPs = GetMovedPs(kind, target);
    const Flow& flow = m_flows[target.flow];
    const auto notBefore = [&](double turnPs) {
        return std::min(std::max(turnPs, flow.leastPs), GetEndPs(kind, target));
    };
    if (IsAtFullRate(kind))
    {
        return notBefore(endPs - flow.leadPs);
    }
    if (!flow.isLong && IsAmongShort(kind))
    {
        // Whoever comes first goes first, and does not share with those behind it.
        return std::min(flow.leastPs, GetEndPs(kind, target));
    }
    // Of flows that take turns at a port, one is done with its last turn, while its share of the
    // port would still carry the last turns of those behind it.
    const double bytes = flow.bytes;
    const bool isStriped = kind.stripeBytes > kind.unitBytes;
    // A stripe's links are not in step: its message ends anywhere within a turn of all of them.
    const double last = isStriped ? std::min(bytes, kind.stripeBytes)
                                  : bytes - std::ceil(bytes / kind.unitBytes - 1) * kind.unitBytes;
    return notBefore(endPs - m_shares.GetPartBehind(kind.user, flow.places) * last / kind.rate);
}

void
MessageFlows::SetRate(uint32_t id, double rate)
{
    Kind& kind = m_kinds[id];
    if (kind.expected >= 0 && std::abs(rate - kind.rate) <= SAME_RATE * rate)
    {
        return;
    }
    kind.moved = GetMoved(kind);
    kind.sincePs = m_clock.GetNowPs();
    kind.rate = rate;
    Predict(id);
}

void
MessageFlows::Predict(uint32_t id)
{
    Kind& kind = m_kinds[id];
    kind.expected = -1;
    if (kind.messages.empty())
    {
        m_clock.TakeBack(id);
        return;
    }
    const Target& first = kind.messages.top();
    kind.expected = GetEndPs(kind, first);
    if (!kind.untold.empty())
    {
        kind.expected = std::min(kind.expected, GetLastTurnPs(kind, kind.untold.top()));
    }
    if (!kind.turns.IsEmpty())
    {
        kind.expected = std::min(kind.expected, m_flows[kind.turns.Front().flow].restPs);
    }
    if (!kind.units.IsEmpty())
    {
        kind.expected = std::min(kind.expected, GetLastTurnPs(kind, kind.units.Front()));
    }
    kind.expected = std::max(kind.expected, m_clock.GetNowPs());
    m_clock.Foretell(id, kind.expected);
}

void
MessageFlows::Finish(uint32_t id)
{
    Kind& kind = m_kinds[id];
    const double latestPs = m_clock.GetNowPs() + ReplayClock::TOGETHER_PS;
    while (!kind.untold.empty() && GetLastTurnPs(kind, kind.untold.top()) <= latestPs)
    {
        const uint32_t flow = kind.untold.top().flow;
        kind.untold.pop();
        Tell(flow);
    }
    while (!kind.turns.IsEmpty() && m_flows[kind.turns.Front().flow].restPs <= latestPs)
    {
        PassRest(m_flows[kind.turns.Front().flow], kind);
        kind.units.Push(kind.turns.Front());
        kind.turns.Pop();
    }
    while (!kind.units.IsEmpty() && GetLastTurnPs(kind, kind.units.Front()) <= latestPs)
    {
        const uint32_t flow = kind.units.Front().flow;
        kind.units.Pop();
        Tell(flow);
    }
    // By the same sum as in Predict(): were one of them rounded otherwise, this would never end.
    bool hasEnded = false;
    while (!kind.messages.empty() && GetEndPs(kind, kind.messages.top()) <= latestPs)
    {
        const uint32_t flow = kind.messages.top().flow;
        kind.messages.pop();
        TellIfUntold(kind, flow);
        m_shares.ChangeCount(kind.user, -1);
        m_shares.ChangeBytes(kind.user, -m_flows[flow].bytes);
        if (m_flows[flow].isLong)
        {
            CountLong(kind, -1);
        }
        End(flow);
        hasEnded = true;
    }
    kind.expected = -1;
    if (!hasEnded)
    {
        Predict(id);
    }
}

} // namespace proteus
} // namespace ns3
