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

} // namespace

MessageFlows::MessageFlows(const FlowRoutes& routes, ReplayClock& clock, bool isInstant, Sent sent)
    : m_routes(routes),
      m_clock(clock),
      m_isInstant(isInstant),
      m_sent(std::move(sent))
{
    for (const FlowResource& resource : routes.GetResources())
    {
        m_shares.AddResource(resource.capacity / PS_PER_SECOND);
    }
}

MessageFlows::Kind
MessageFlows::MakeKind(uint32_t id, double limit) const
{
    const FlowRoute& route = m_routes.GetRoute(id);
    limit = limit > 0 ? std::min(route.limit, limit) : route.limit;
    double rate = limit;
    for (const FlowUse& use : route.uses)
    {
        rate = std::min(rate, m_routes.GetResources()[use.resource].capacity / use.amount);
    }
    Kind kind;
    kind.route = id;
    kind.unitBytes = route.unitBytes;
    kind.alone = rate / PS_PER_SECOND;
    kind.isPaced = limit <= rate;
    kind.aheadPs = 1 / kind.alone - route.unitPsPerByte;
    return kind;
}

uint32_t
MessageFlows::AddFlow(uint32_t route, double limit)
{
    const auto [place, isNew] = m_kindOf.emplace(std::make_pair(route, limit), NO_ID);
    if (isNew)
    {
        m_kinds.push_back(MakeKind(route, limit));
        place->second = m_shares.AddUser(m_routes.GetRoute(route).uses, m_kinds.back().alone);
    }
    m_flows.emplace_back();
    m_flows.back().kind = place->second;
    return static_cast<uint32_t>(m_flows.size() - 1);
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
    return (bytes - whole) * kind.aheadPs;
}

void
MessageFlows::Send(uint32_t id, double bytes)
{
    Flow& flow = m_flows[id];
    flow.queue.push_back(bytes);
    if (flow.queue.size() == flow.sending + 1)
    {
        Begin(id);
    }
}

void
MessageFlows::Begin(uint32_t id)
{
    if (m_isInstant)
    {
        End(id);
        return;
    }
    Flow& flow = m_flows[id];
    Kind& kind = m_kinds[flow.kind];
    const double now = m_clock.GetNowPs();
    const double bytes = flow.queue[flow.sending];
    // A queue pair that has waited may catch up by one unit.
    const double unitPs = std::min(kind.unitBytes, bytes) / kind.alone;
    const double credit = kind.isPaced ? std::clamp(now - flow.pacedPs, 0.0, unitPs) : 0;
    const double earlier = bytes > kind.unitBytes ? credit : 0;
    const double ahead = std::max(0.0, GetAheadPs(kind, bytes)) + earlier;
    const double waits = std::max(0.0, flow.pacedPs - now);
    // A message that begins at a port where n others send waits for one unit of each of them. At
    // its share of the port, 1 / (n + 1), it would move n / (n + 1) of a unit in that time.
    const uint32_t others = m_shares.CountRivals(flow.kind);
    const double turn = static_cast<double>(others) / (others + 1);
    const double behind = turn * std::min(kind.unitBytes, bytes);
    kind.messages.push({GetMoved(kind) + bytes + behind + (waits - ahead) * kind.alone, id});
    flow.pacedPs = now + waits + bytes / kind.alone - credit;
    m_shares.ChangeCount(flow.kind, 1);
}

void
MessageFlows::End(uint32_t id)
{
    const Flow& flow = m_flows[id];
    m_sent(id,
           m_isInstant ? 0
                       : std::max(0.0, -GetAheadPs(m_kinds[flow.kind], flow.queue[flow.sending])));
    if (++m_flows[id].sending < m_flows[id].queue.size())
    {
        Begin(id);
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
        SetRate(share.user, share.rate);
    }
}

void
MessageFlows::SetRate(uint32_t id, double rate)
{
    Kind& kind = m_kinds[id];
    if (!kind.messages.empty() && kind.messages.top().bytes == kind.expected &&
        std::abs(rate - kind.rate) <= SAME_RATE * rate)
    {
        return;
    }
    const double now = m_clock.GetNowPs();
    kind.moved = GetMoved(kind);
    kind.sincePs = now;
    kind.rate = rate;
    kind.expected = -1;
    ++kind.version;
    if (!kind.messages.empty())
    {
        kind.expected = kind.messages.top().bytes;
        const double left = std::max(0.0, kind.expected - kind.moved);
        m_clock.Push(now + left / rate, ReplayEvent::SENT, id, kind.version);
    }
}

void
MessageFlows::Finish(uint32_t id, uint32_t version)
{
    Kind& kind = m_kinds[id];
    if (kind.version != version)
    {
        return; // it has got another rate since
    }
    const double moved = GetMoved(kind) + ReplayClock::TOGETHER_PS * kind.rate;
    m_shares.NoteChange(id);
    kind.expected = -1;
    while (!kind.messages.empty() && kind.messages.top().bytes <= moved)
    {
        const uint32_t flow = kind.messages.top().flow;
        kind.messages.pop();
        m_shares.ChangeCount(id, -1);
        End(flow);
    }
}

} // namespace proteus
} // namespace ns3
