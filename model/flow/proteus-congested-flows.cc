/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-congested-flows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;
/// Part by which more must be wanted than there is.
constexpr double ROUNDING = 1e-6;
/// Steps in the time between two notifications: at 4 and 16 of them incasts take the same.
constexpr int64_t STEPS = 8;
/// Steps that may become one while nothing queues and no rate changes by SAME_RATE.
constexpr int64_t MOST_STEPS = 160;
/// Part by which a rate may change in a longer step.
constexpr double SAME_RATE = 0.01;
/// So little payload that is left has come.
constexpr double LAST_BYTES = 1;
/// A receiver that never sent a notification.
constexpr int64_t LONG_AGO = std::numeric_limits<int64_t>::min() / 2;

} // namespace

CongestedFlows::CongestedFlows(const FlowCongestion& congestion,
                               const std::vector<FlowResource>& resources,
                               uint32_t seed)
    : m_congestion(congestion),
      m_resources(resources),
      m_seed(seed)
{
    for (uint32_t id = 0; id < resources.size(); ++id)
    {
        for (const uint32_t port : resources[id].ports)
        {
            m_ofDirection[port] = id;
        }
    }
}

uint32_t
CongestedFlows::FindPort(uint32_t resource)
{
    const auto [place, isNew] =
        m_ofResource.emplace(resource, static_cast<uint32_t>(m_ports.size()));
    if (isNew)
    {
        m_ports.emplace_back();
        m_ports.back().capacity = m_resources[resource].capacity;
    }
    return place->second;
}

void
CongestedFlows::Begin(uint32_t id, const FlowClass& flows, int64_t nowPs, const MakeReplay& make)
{
    m_lastPs = m_live.empty() ? nowPs : m_lastPs;
    m_classes.resize(std::max<std::size_t>(m_classes.size(), id + 1));
    Class& live = m_classes[id];
    live.isLive = true;
    live.left = flows.bytes;
    live.bytes = flows.bytes;
    live.cap = std::numeric_limits<double>::infinity();
    live.streams.clear();
    live.beginPs = nowPs;
    live.afterPs = 0;
    live.endPs = -1;
    live.leftPart = 1;
    live.replay = nullptr;
    live.ofFlow.clear();
    m_live.push_back(id);
    m_steps = 1;
    for (const FlowPair& flow : flows.pairs)
    {
        const auto [place, isNew] = m_pairs.try_emplace(flow.key);
        Pair& pair = place->second;
        if (isNew)
        {
            pair.control = m_congestion.make(flow.line, flow.unitBytes);
            pair.key = flow.key;
            pair.line = flow.line;
            SetStep(flow);
            pair.notifiedPs = LONG_AGO;
            // Packets of equal queue pairs are not in step.
            pair.packets = Draw(pair);
        }
        Stream stream;
        stream.pair = &pair;
        stream.flow = &flow;
        for (const auto& [resource, wire] : flow.hops)
        {
            Hop hop;
            hop.port = FindPort(resource);
            hop.back = FindPort(m_ofDirection.at(m_resources[resource].ports.front() ^ 1));
            hop.wire = wire;
            const auto level = static_cast<uint32_t>(stream.hops.size());
            Port& port = m_ports[hop.port];
            port.level = std::max(port.level, level);
            if (!port.isUsed)
            {
                port.isUsed = true;
                m_used.push_back(hop.port);
            }
            port.places.push_back({id, static_cast<uint32_t>(live.streams.size()), level});
            stream.hops.push_back(hop);
        }
        live.streams.push_back(std::move(stream));
    }
    m_isSorted = false;
    if (make)
    {
        for (const int64_t afterPs : flows.afterPs)
        {
            live.afterPs = std::max(live.afterPs, afterPs);
        }
        std::vector<bool> isCarried;
        for (uint32_t i = 0; i < flows.pairs.size(); ++i)
        {
            const uint32_t flow = flows.pairs[i].flow;
            live.ofFlow.resize(std::max<std::size_t>(live.ofFlow.size(), flow + 1), NO_ID);
            live.ofFlow[flow] = i;
            isCarried.resize(live.ofFlow.size(), false);
            isCarried[flow] = true;
        }
        live.replay =
            make(std::move(isCarried), [this, id](uint32_t flow, double bytes, double timePs) {
                Take(id, flow, bytes, timePs);
            });
        for (Stream& stream : live.streams)
        {
            stream.whole = live.replay->GetBytes(stream.flow->flow);
        }
        live.replay->Advance(0);
    }
    if (m_isBusy || live.replay)
    {
        Look();
        return;
    }
    // Nothing else can have changed.
    for (const Stream& stream : live.streams)
    {
        m_isBusy |= stream.pair->control->GetRate() < stream.pair->line;
    }
    for (const uint32_t port : ListPorts(live))
    {
        m_isBusy |= GetWanted(m_ports[port]) > m_ports[port].capacity * (1 + ROUNDING);
    }
    m_stepPs = m_basePs;
}

std::vector<uint32_t>
CongestedFlows::ListPorts(const Class& flows)
{
    std::vector<uint32_t> ports;
    for (const Stream& stream : flows.streams)
    {
        for (const Hop& hop : stream.hops)
        {
            ports.push_back(hop.port);
        }
    }
    std::sort(ports.begin(), ports.end());
    ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
    return ports;
}

void
CongestedFlows::SetStep(const FlowPair& flow)
{
    // Nothing changes faster than a packet passes, or a sender hears of it.
    const double packetPs = flow.unitBytes * flow.lineWire / flow.line * PS_PER_SECOND;
    const auto ownPs = std::max(static_cast<int64_t>(packetPs), flow.latencyPs + flow.controlPs);
    const int64_t slotPs = m_congestion.notificationPs;
    m_basePs = std::min(m_basePs, slotPs > 0 ? std::clamp(ownPs, slotPs / STEPS, slotPs) : ownPs);
}

void
CongestedFlows::End(uint32_t flows)
{
    Class& live = m_classes[flows];
    live.isLive = false;
    m_live.erase(std::find(m_live.begin(), m_live.end(), flows));
    for (const uint32_t id : ListPorts(live))
    {
        auto& places = m_ports[id].places;
        places.erase(std::remove_if(places.begin(),
                                    places.end(),
                                    [flows](const Place& place) { return place.flows == flows; }),
                     places.end());
        m_ports[id].busy = 0;
    }
    live.streams.clear();
    live.replay = nullptr;
    m_isSorted = false;
    if (m_isBusy)
    {
        Look();
    }
}

bool
CongestedFlows::IsWanted(const FlowClass& flows)
{
    if (m_isBusy)
    {
        return true;
    }
    std::map<uint32_t, std::vector<std::pair<uint32_t, double>>> more; // to a port, by that before
    for (const FlowPair& flow : flows.pairs)
    {
        const auto pair = m_pairs.find(flow.key);
        if (pair != m_pairs.end() && pair->second.control->GetRate() < pair->second.line)
        {
            return true;
        }
        for (std::size_t i = 1; i < flow.hops.size(); ++i)
        {
            more[FindPort(flow.hops[i].first)].emplace_back(FindPort(flow.hops[i - 1].first),
                                                            flow.source * flow.hops[i].second);
        }
    }
    return std::any_of(more.begin(), more.end(), [this](const auto& entry) {
        const Port& port = m_ports[entry.first];
        return GetWanted(port, entry.second) > port.capacity * (1 + ROUNDING);
    });
}

void
CongestedFlows::SortPorts()
{
    if (m_isSorted)
    {
        return;
    }
    m_isSorted = true;
    const auto isIdle = [this](uint32_t id) {
        Port& port = m_ports[id];
        port.isUsed = !port.places.empty();
        port.queue = port.isUsed ? port.queue : 0;
        return !port.isUsed;
    };
    m_used.erase(std::remove_if(m_used.begin(), m_used.end(), isIdle), m_used.end());
    std::sort(m_used.begin(), m_used.end(), [this](uint32_t a, uint32_t b) {
        return m_ports[a].level != m_ports[b].level ? m_ports[a].level < m_ports[b].level : a < b;
    });
}

double
CongestedFlows::GetRate(const Stream& stream)
{
    const double rate = stream.pair->control->GetRate();
    return rate < stream.pair->line ? std::min(stream.flow->source, rate / stream.flow->lineWire)
                                    : stream.flow->source; // the links themselves pace it
}

double
CongestedFlows::GetWanted(const Port& port, const std::vector<std::pair<uint32_t, double>>& more)
{
    m_from = more;
    for (const Place& place : port.places)
    {
        if (place.hop == 0)
        {
            continue;
        }
        const Stream& stream = Get(place);
        m_from.emplace_back(stream.hops[place.hop - 1].port,
                            GetRate(stream) * stream.hops[place.hop].wire);
    }
    std::sort(m_from.begin(), m_from.end());
    double wanted = 0;
    for (auto first = m_from.begin(); first != m_from.end();)
    {
        double rate = 0;
        auto last = first;
        for (; last != m_from.end() && last->first == first->first; ++last)
        {
            rate += last->second;
        }
        wanted += std::min(rate, m_ports[first->first].capacity);
        first = last;
    }
    return wanted;
}

void
CongestedFlows::Look()
{
    // What could come, if every queue pair sent as fast as it may.
    m_isBusy = false;
    bool isCalm = true;
    for (const uint32_t id : m_live)
    {
        m_isBusy |= m_classes[id].replay != nullptr;
        for (const Stream& stream : m_classes[id].streams)
        {
            m_isBusy |= stream.pair->control->GetRate() < stream.pair->line;
            for (const Hop& hop : stream.hops)
            {
                isCalm &= hop.waiting <= 0;
            }
        }
    }
    SortPorts();
    for (const uint32_t id : m_used)
    {
        isCalm &= GetWanted(m_ports[id]) <= m_ports[id].capacity * (1 + ROUNDING);
    }
    m_isBusy |= !isCalm;
    if (!m_isBusy)
    {
        Arrive();
    }
    m_steps = isCalm ? m_steps : 1;
    m_stepPs = m_basePs * m_steps;
}

void
CongestedFlows::Arrive()
{
    for (const uint32_t id : m_live)
    {
        for (Stream& stream : m_classes[id].streams)
        {
            for (Hop& hop : stream.hops)
            {
                stream.lead += hop.gone;
                hop.gone = 0;
            }
        }
    }
}

double
CongestedFlows::GetCap(uint32_t id) const
{
    return m_isBusy && id < m_classes.size() && m_classes[id].isLive
               ? m_classes[id].cap
               : std::numeric_limits<double>::infinity();
}

void
CongestedFlows::Advance(int64_t nowPs, const std::function<double(uint32_t)>& getLeft)
{
    const int64_t sincePs = nowPs - m_lastPs;
    if (sincePs <= 0)
    {
        return;
    }
    m_lastPs = nowPs;
    if (!m_isBusy)
    {
        for (const uint32_t id : m_live)
        {
            Class& live = m_classes[id];
            live.left = getLeft(id);
            for (Stream& stream : live.streams)
            {
                stream.sent = stream.flow->part * (live.bytes - live.left);
                stream.lead = 0;
            }
        }
        return;
    }
    const double seconds = static_cast<double>(sincePs) / PS_PER_SECOND;
    for (const uint32_t id : m_live)
    {
        Class& live = m_classes[id];
        const double left = getLeft(id);
        const double progress = (live.left - left) / seconds;
        live.left = left;
        for (Stream& stream : live.streams)
        {
            stream.sends = FindSends(live, stream, seconds);
            Hear(*stream.pair, nowPs);
            stream.lead -= stream.flow->part * progress * seconds;
        }
    }
    SortPorts();
    for (const uint32_t id : m_used)
    {
        PassPort(m_ports[id], seconds, nowPs);
    }
    bool isSteady = true;
    for (const uint32_t id : m_live)
    {
        Class& live = m_classes[id];
        const double before = live.cap;
        for (Stream& stream : live.streams)
        {
            stream.arrives = std::exchange(stream.hops.back().gone, 0);
            stream.lead += stream.arrives;
            stream.come += stream.arrives;
            stream.sent += stream.sends * seconds;
            stream.pair->control->AddSent(stream.sends * seconds, nowPs);
            const double rate = stream.pair->control->GetRate();
            isSteady &= rate >= stream.pair->line || rate < (1 - SAME_RATE) * stream.pair->line;
        }
        if (live.replay)
        {
            GoOn(live, seconds, nowPs);
        }
        live.cap = FindCap(live, seconds);
        isSteady &= !live.replay && std::abs(live.cap - before) <= SAME_RATE * before;
    }
    m_steps = isSteady ? std::min(2 * m_steps, MOST_STEPS) : 1;
    Look();
}

double
CongestedFlows::FindSends(const Class& live, const Stream& stream, double seconds) const
{
    const double may = GetRate(stream);
    if (live.replay)
    {
        // What came to an idle queue pair within the last step has begun there.
        const auto sincePs = stream.handedPs > 0 ? m_lastPs - stream.handedPs : 0;
        const double whole = std::max(seconds, static_cast<double>(sincePs) / PS_PER_SECOND);
        // The class may be held back by others.
        const double ahead = (live.left - live.leftPart * live.bytes) * stream.flow->part;
        if (ahead > stream.flow->slots * stream.flow->messageBytes)
        {
            return 0;
        }
        return std::clamp((stream.handed - stream.sent) / seconds, 0.0, may * whole / seconds);
    }
    // A message goes at once when the one before in its slot has been used.
    const FlowPair& flow = *stream.flow;
    const double used = std::floor(flow.part * (live.bytes - live.left) / flow.messageBytes);
    const double allowed =
        std::min(flow.part * live.bytes, (used + flow.slots) * flow.messageBytes);
    return std::clamp((allowed - stream.sent) / seconds, 0.0, may);
}

void
CongestedFlows::Take(uint32_t id, uint32_t flow, double bytes, double timePs)
{
    Class& live = m_classes[id];
    Stream& stream = live.streams[live.ofFlow[flow]];
    if (stream.sent + LAST_BYTES >= stream.handed)
    {
        stream.handedPs = live.beginPs + std::llround(timePs);
    }
    stream.handed += bytes;
    stream.ends.push_back(stream.handed);
}

void
CongestedFlows::GoOn(Class& live, double seconds, int64_t nowPs)
{
    live.leftPart = 0;
    for (Stream& stream : live.streams)
    {
        live.leftPart =
            std::max(live.leftPart, (stream.whole - stream.come - LAST_BYTES) / stream.whole);
        while (!stream.ends.empty() && stream.ends.front() <= stream.come + LAST_BYTES)
        {
            const double part =
                stream.arrives > 0
                    ? std::clamp((stream.come - stream.ends.front()) / stream.arrives, 0.0, 1.0)
                    : 0;
            const double sinceS = seconds - stream.toS + part * (stream.toS - stream.fromS);
            live.replay->Deliver(
                stream.flow->flow,
                static_cast<double>(nowPs - live.beginPs + stream.flow->latencyPs) -
                    sinceS * PS_PER_SECOND);
            stream.ends.pop_front();
        }
        if (stream.sent + LAST_BYTES < stream.handed)
        {
            stream.handedPs = 0;
        }
    }
    live.replay->Advance(static_cast<double>(nowPs - live.beginPs));
    if (live.endPs < 0 && live.leftPart <= 0)
    {
        // Nothing is left to carry: what the other steps take is known.
        live.replay->Advance(std::numeric_limits<double>::infinity());
        live.endPs = live.beginPs + std::llround(live.replay->GetEndPs()) - live.afterPs;
    }
}

double
CongestedFlows::FindCap(const Class& live, double seconds) const
{
    const double horizon = std::max(seconds, 2 * static_cast<double>(m_basePs) / PS_PER_SECOND);
    if (live.replay)
    {
        return std::max(0.0, live.left - live.leftPart * live.bytes) / horizon;
    }
    double cap = std::numeric_limits<double>::infinity();
    for (const Stream& stream : live.streams)
    {
        if (stream.lead + LAST_BYTES < stream.flow->part * live.left)
        {
            const double out = stream.arrives / seconds;
            cap = std::min(cap, std::max(0.0, out + stream.lead / horizon) / stream.flow->part);
        } // else all of it has come
    }
    return cap;
}

double
CongestedFlows::FindCredit(const Port& port, bool atNic)
{
    double creditS = 0;
    for (const Place& place : port.places)
    {
        creditS = (place.hop == 0) == atNic ? std::max(creditS, -Get(place).fromS) : creditS;
    }
    return port.queue > 0 ? 0 : std::min(creditS, port.idleS);
}

void
CongestedFlows::SharePort(Port& port, double seconds, int64_t nowPs)
{
    // Those that a NIC sends for take turns: what does not fit is taken from the fastest.
    port.busy = 0;
    std::vector<Place> places;
    for (const Place& place : port.places)
    {
        if (place.hop == 0)
        {
            places.push_back(place);
            Stream& stream = Get(place);
            stream.fromS = stream.handedPs > 0
                               ? std::min(0.0,
                                          seconds - static_cast<double>(nowPs - stream.handedPs) /
                                                        PS_PER_SECOND)
                               : 0;
        }
    }
    const double wholeS = seconds + FindCredit(port, true);
    double left = port.capacity * wholeS / seconds;
    std::sort(places.begin(), places.end(), [this](const Place& a, const Place& b) {
        return Get(a).sends < Get(b).sends;
    });
    std::size_t behind = places.size();
    for (const Place& place : places)
    {
        Stream& stream = Get(place);
        Hop& hop = stream.hops[0];
        stream.sends = std::min(stream.sends, left / static_cast<double>(behind) / hop.wire);
        left -= stream.sends * hop.wire;
        port.busy += stream.sends * hop.wire / port.capacity;
        hop.gone += stream.sends * seconds;
        --behind;
    }
    port.idleS = std::max(0.0, wholeS - port.busy * seconds);
    for (const Place& place : places)
    {
        Stream& stream = Get(place);
        const double takesS =
            std::max(stream.sends * seconds / GetRate(stream), port.busy * seconds);
        stream.toS = std::min(seconds, stream.fromS + takesS);
    }
    port.busy = std::min(1.0, port.busy);
}

void
CongestedFlows::PassPort(Port& port, double seconds, int64_t nowPs)
{
    if (port.level == 0)
    {
        SharePort(port, seconds, nowPs);
        return;
    }
    double comes = 0;
    for (const Place& place : port.places)
    {
        Stream& stream = Get(place);
        Hop& hop = stream.hops[place.hop];
        hop.comes = std::exchange(stream.hops[place.hop - 1].gone, 0);
        comes += hop.comes * hop.wire;
    }
    const double whole = port.queue + comes;
    const double room = port.capacity * (seconds + FindCredit(port, false));
    const double part = whole > 0 ? std::min(1.0, room / whole) : 1;
    port.busy = std::min(1.0, whole / (port.capacity * seconds));
    port.idleS = std::max(0.0, (room - whole) / port.capacity);
    const double before = port.queue;
    port.queue = 0;
    for (const Place& place : port.places)
    {
        Stream& stream = Get(place);
        Hop& hop = stream.hops[place.hop];
        const double all = hop.waiting + hop.comes;
        hop.out = part * all;
        hop.gone += hop.out;
        hop.waiting = part < 1 ? all - part * all : 0;
        port.queue += hop.waiting * hop.wire;
        stream.fromS = before > 0 ? 0 : stream.fromS;
        stream.toS = std::min(seconds, std::max(stream.toS, stream.fromS + whole / port.capacity));
    }
    const double toPs = PS_PER_SECOND / port.capacity;
    if (std::max(before, port.queue) * toPs < m_congestion.markPs)
    {
        return;
    }
    const double perPs = seconds * PS_PER_SECOND;
    for (const Place& place : port.places)
    {
        Stream& stream = Get(place);
        const Hop& hop = stream.hops[place.hop];
        const double bytes = m_congestion.marksAtDequeue ? hop.out : hop.comes;
        Mark(stream,
             {static_cast<double>(nowPs) - perPs,
              perPs,
              before * toPs,
              (port.queue - before) * toPs,
              bytes / stream.flow->unitBytes});
    }
}

void
CongestedFlows::Mark(Stream& stream, const Passage& passage)
{
    Pair& pair = *stream.pair;
    const double all = pair.packets + passage.packets;
    for (double number = 1; number <= all; ++number)
    {
        const double part = (number - pair.packets) / passage.packets;
        const double queuePs = passage.queuePs + part * passage.risePs;
        const double probability = queuePs >= m_congestion.markAllPs ? 1
                                   : queuePs <= m_congestion.markPs
                                       ? 0
                                       : m_congestion.maxProbability *
                                             (queuePs - m_congestion.markPs) /
                                             (m_congestion.markAllPs - m_congestion.markPs);
        if (probability > 0 && Draw(pair) < probability)
        {
            const double waitsPs = m_congestion.marksAtDequeue ? 0 : queuePs;
            const int64_t arrivalPs =
                std::llround(passage.fromPs + part * passage.perPs + waitsPs) +
                stream.flow->latencyPs;
            if (arrivalPs - pair.notifiedPs >= m_congestion.notificationPs)
            {
                pair.notifiedPs = arrivalPs;
                pair.notificationsPs.push_back(arrivalPs + stream.flow->controlPs +
                                               std::llround(DrawWait(stream)));
            }
        }
    }
    pair.packets = all - std::floor(all);
}

double
CongestedFlows::Draw(Pair& pair) const
{
    return static_cast<double>(MixHash(pair.key ^ m_seed, ++pair.draws) >> 11) * 0x1p-53;
}

double
CongestedFlows::DrawWait(const Stream& stream) const
{
    double waitPs = 0;
    for (const Hop& hop : stream.hops)
    {
        const Port& back = m_ports[hop.back];
        const double draw = back.busy > 0 ? Draw(*stream.pair) : 1;
        if (draw < back.busy)
        {
            waitPs += draw / back.busy * stream.flow->unitBytes * hop.wire / back.capacity *
                      PS_PER_SECOND;
        }
    }
    return waitPs;
}

void
CongestedFlows::Hear(Pair& pair, int64_t nowPs)
{
    while (!pair.notificationsPs.empty() && pair.notificationsPs.front() <= nowPs)
    {
        pair.control->Notify(pair.notificationsPs.front());
        pair.notificationsPs.pop_front();
        ++m_notifications;
    }
    pair.control->Advance(nowPs);
}

} // namespace proteus
} // namespace ns3
