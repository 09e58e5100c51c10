/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fluid-queues.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
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
/// A receiver that never sent a notification.
constexpr int64_t LONG_AGO = std::numeric_limits<int64_t>::min() / 2;

} // namespace

const std::vector<FlowHost>&
FluidQueues::Coming::GetReads() const
{
    static const std::vector<FlowHost> none;
    return isFirst ? flow->reads : none;
}

double
FluidStream::GetRate() const
{
    const double rate = pair->control->GetRate();
    return rate < pair->line ? std::min(flow->source, rate / flow->lineWire)
                             : flow->source; // the links themselves pace it
}

FluidQueues::FluidQueues(const FlowCongestion& congestion,
                         const std::vector<FlowResource>& resources,
                         uint32_t seed,
                         FindLeft findLeft)
    : m_congestion(congestion),
      m_resources(resources),
      m_seed(seed),
      m_findLeft(std::move(findLeft))
{
}

uint32_t
FluidQueues::FindPort(uint32_t resource)
{
    const auto [place, isNew] =
        m_ofResource.emplace(resource, static_cast<uint32_t>(m_ports.size()));
    if (isNew)
    {
        m_ports.emplace_back();
        m_ports.back().line = m_resources[resource].capacity;
    }
    return place->second;
}

FluidPair&
FluidQueues::FindPair(const FlowPair& flow)
{
    const auto [place, isNew] = m_pairs.try_emplace(flow.key);
    FluidPair& pair = place->second;
    if (isNew)
    {
        pair.control = m_congestion.make(flow.line, flow.unitBytes);
        pair.key = flow.key;
        pair.line = flow.line;
        // Nothing changes faster than a packet passes, or a sender hears of it.
        const double packetPs = flow.unitBytes * flow.lineWire / flow.line * PS_PER_SECOND;
        const auto ownPs = std::max(static_cast<int64_t>(packetPs), flow.toNicPs + flow.returnPs);
        const int64_t slotPs = m_congestion.notificationPs;
        m_stepPs =
            std::min(m_stepPs, slotPs > 0 ? std::clamp(ownPs, slotPs / STEPS, slotPs) : ownPs);
        pair.notifiedPs = LONG_AGO;
        // Packets of equal queue pairs are not in step.
        pair.packets = Draw(pair);
    }
    return pair;
}

void
FluidQueues::Add(FluidStream& stream, const FlowPair& flow)
{
    stream.pair = &FindPair(flow);
    stream.flow = &flow;
    stream.isGone = false;
    stream.isQuiet = false;
    stream.nic = static_cast<uint32_t>(flow.reads.size());
    std::vector<std::pair<uint32_t, double>> hops;
    for (const FlowHost& host : flow.reads)
    {
        hops.emplace_back(host.resource, host.amount);
    }
    hops.insert(hops.end(), flow.hops.begin(), flow.hops.end());
    for (const auto& [resource, wire] : hops)
    {
        FluidHop hop;
        hop.port = FindPort(resource);
        hop.wire = wire;
        const auto number = static_cast<uint32_t>(stream.hops.size());
        Port& port = m_ports[hop.port];
        port.isShared = number <= stream.nic;
        port.level = std::max(port.level, port.isShared ? number : number - stream.nic);
        if (!port.isUsed)
        {
            port.isUsed = true;
            m_used.push_back(hop.port);
        }
        port.places.push_back({&stream, number});
        stream.hops.push_back(hop);
    }
    stream.returns.clear();
    for (const auto& [resource, bytes] : flow.returns)
    {
        stream.returns.emplace_back(FindPort(resource),
                                    bytes / m_resources[resource].capacity * PS_PER_SECOND);
    }
    m_isSorted = false;
}

void
FluidQueues::StartTurns(FluidStream& stream)
{
    stream.hasTurns = true;
    for (uint32_t i = 0; i <= stream.nic; ++i)
    {
        Port& port = m_ports[stream.hops[i].port];
        ++port.nSenders;
        stream.hops[i].turn = ++port.arrivals;
    }
}

void
FluidQueues::StopTurns(FluidStream& stream)
{
    stream.hasTurns = false;
    for (uint32_t i = 0; i <= stream.nic; ++i)
    {
        --m_ports[stream.hops[i].port].nSenders;
    }
}

double
FluidQueues::GetPartBehind(const FluidStream& stream) const
{
    uint32_t most = 1;
    double part = 0;
    for (uint32_t i = 0; stream.hasTurns && i <= stream.nic; ++i)
    {
        const Port& port = m_ports[stream.hops[i].port];
        if (port.busy >= 1 - ROUNDING && port.nSenders > most)
        {
            most = port.nSenders;
            // Those that were there before it are the first to go.
            const uint32_t later = std::min(port.arrivals - stream.hops[i].turn, most - 1);
            part = static_cast<double>(later) / most;
        }
    }
    return part;
}

void
FluidQueues::Remove(const std::vector<uint32_t>& ports)
{
    for (const uint32_t id : ports)
    {
        auto& places = m_ports[id].places;
        places.erase(std::remove_if(places.begin(),
                                    places.end(),
                                    [](const Place& place) { return place.stream->isGone; }),
                     places.end());
        m_ports[id].busy = 0;
    }
    m_isSorted = false;
}

bool
FluidQueues::IsWanted(uint32_t port)
{
    return IsWanted(m_ports[port], {});
}

bool
FluidQueues::IsWanted(const std::vector<FlowPair>& pairs)
{
    std::map<uint32_t, std::vector<Coming>> more; // by port
    for (const FlowPair& flow : pairs)
    {
        const auto pair = m_pairs.find(flow.key);
        if (pair != m_pairs.end() && pair->second.control->GetRate() < pair->second.line)
        {
            return true;
        }
    }
    ListComing(pairs,
               [&more](uint32_t port, const Coming& coming) { more[port].push_back(coming); });
    return std::any_of(more.begin(), more.end(), [this](auto& entry) {
        const Port& port = m_ports[entry.first];
        entry.second.insert(entry.second.end(), port.awaited.begin(), port.awaited.end());
        return IsWanted(port, entry.second);
    });
}

template <class See>
void
FluidQueues::ListComing(const std::vector<FlowPair>& pairs, const See& see)
{
    for (const FlowPair& flow : pairs)
    {
        for (std::size_t i = 1; i < flow.hops.size(); ++i)
        {
            const auto [resource, wire] = flow.hops[i];
            const uint32_t from = FindPort(flow.hops[i - 1].first);
            see(FindPort(resource),
                Coming{from, flow.source, wire, i == 1, i + 1 == flow.hops.size(), NO_ID, &flow});
        }
    }
}

void
FluidQueues::Await(const std::vector<FlowPair>& pairs)
{
    ListComing(pairs, [this](uint32_t port, const Coming& coming) {
        m_ports[port].awaited.push_back(coming);
    });
}

void
FluidQueues::StopAwaiting(const std::vector<FlowPair>& pairs)
{
    ListComing(pairs, [this](uint32_t port, const Coming& coming) {
        auto& awaited = m_ports[port].awaited;
        awaited.erase(std::find(awaited.begin(), awaited.end(), coming));
    });
}

bool
FluidQueues::IsAnyWanted()
{
    SortPorts();
    return std::any_of(m_used.begin(), m_used.end(), [this](uint32_t id) { return IsWanted(id); });
}

void
FluidQueues::SortPorts()
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
        port.held = port.isUsed ? port.held : 0;
        return !port.isUsed;
    };
    m_used.erase(std::remove_if(m_used.begin(), m_used.end(), isIdle), m_used.end());
    std::sort(m_used.begin(), m_used.end(), [this](uint32_t a, uint32_t b) {
        const auto order = [this](uint32_t id) {
            return std::make_tuple(!m_ports[id].isShared, m_ports[id].level, id);
        };
        return order(a) < order(b);
    });
}

bool
FluidQueues::IsWanted(const Port& port, const std::vector<Coming>& more)
{
    m_coming = more;
    for (const Place& place : port.places)
    {
        const FluidStream& stream = *place.stream;
        if (place.hop > stream.nic && !stream.isQuiet)
        {
            m_coming.push_back({stream.hops[place.hop - 1].port,
                                stream.GetRate(),
                                stream.hops[place.hop].wire,
                                place.hop == stream.nic + 1,
                                place.hop + 1 == stream.hops.size(),
                                stream.owner,
                                stream.flow});
        }
    }
    std::sort(m_coming.begin(), m_coming.end(), [](const Coming& a, const Coming& b) {
        return std::tie(a.from, a.flow->key, a.payload) < std::tie(b.from, b.flow->key, b.payload);
    });
    m_loads.clear();
    m_owners.clear();
    double wanted = 0;
    for (std::size_t first = 0; first < m_coming.size();)
    {
        std::size_t last = first;
        while (last < m_coming.size() && m_coming[last].from == m_coming[first].from)
        {
            ++last;
        }
        LimitComing(first, last);
        for (; first < last; ++first)
        {
            const Coming& coming = m_coming[first];
            wanted += coming.payload * coming.wire;
            if (coming.isLast)
            {
                for (const FlowHost& host : coming.flow->writes)
                {
                    AddLoad(host, coming.payload, 0);
                }
                m_owners.push_back(coming.owner);
            }
        }
    }
    return wanted > port.line * (1 + ROUNDING) ||
           std::any_of(m_loads.begin(), m_loads.end(), [this](const Load& load) {
               const double part = GetLeft(load) / m_resources[load.resource].capacity;
               return load.amount > load.least * part * (1 + ROUNDING);
           });
}

void
FluidQueues::LimitComing(std::size_t first, std::size_t last)
{
    m_reads.clear();
    double all = 0;
    for (std::size_t i = first; i < last; ++i)
    {
        for (const FlowHost& host : m_coming[i].GetReads())
        {
            auto read = std::find_if(m_reads.begin(), m_reads.end(), [&host](const auto& other) {
                return other.first == host.resource;
            });
            read = read == m_reads.end() ? m_reads.insert(read, {host.resource, 0}) : read;
            read->second += m_coming[i].payload * host.amount;
        }
    }
    for (std::size_t i = first; i < last; ++i)
    {
        Coming& coming = m_coming[i];
        double part = 1;
        for (const FlowHost& host : coming.GetReads())
        {
            const auto read =
                std::find_if(m_reads.begin(), m_reads.end(), [&host](const auto& other) {
                    return other.first == host.resource;
                });
            part = std::min(part, m_resources[host.resource].capacity / read->second);
        }
        coming.payload *= part;
        all += coming.payload * coming.wire;
    }
    const double line = m_ports[m_coming[first].from].line;
    for (std::size_t i = first; i < last && all > line; ++i)
    {
        m_coming[i].payload *= line / all;
    }
}

void
FluidQueues::Pass(double seconds, int64_t nowPs)
{
    SortPorts();
    for (const uint32_t id : m_used)
    {
        PassPort(m_ports[id], seconds, nowPs);
    }
}

double
FluidQueues::FindCredit(const Port& port, bool atNic)
{
    double creditS = 0;
    for (const Place& place : port.places)
    {
        creditS = port.isShared == atNic ? std::max(creditS, -place.stream->fromS) : creditS;
    }
    return port.queue > 0 ? 0 : std::min(creditS, port.idleS);
}

void
FluidQueues::SharePort(Port& port, double seconds, int64_t nowPs)
{
    // Those that a NIC sends for take turns: what does not fit is taken from the fastest.
    const double capacity = FindCapacity(port);
    port.busy = 0;
    std::vector<Place> places(port.places);
    for (const Place& place : places)
    {
        if (place.hop == 0)
        {
            FluidStream& stream = *place.stream;
            stream.fromS = stream.handedPs > 0
                               ? std::min(seconds,
                                          seconds - static_cast<double>(nowPs - stream.handedPs) /
                                                        PS_PER_SECOND)
                               : 0;
        }
    }
    const double wholeS = seconds + FindCredit(port, true);
    double left = capacity * wholeS / seconds;
    std::sort(places.begin(), places.end(), [this](const Place& a, const Place& b) {
        return a.stream->sends < b.stream->sends;
    });
    std::size_t behind = places.size();
    for (const Place& place : places)
    {
        FluidStream& stream = *place.stream;
        FluidHop& hop = stream.hops[place.hop];
        stream.sends = std::min(stream.sends, left / static_cast<double>(behind) / hop.wire);
        left -= stream.sends * hop.wire;
        port.busy += stream.sends * hop.wire / capacity;
        hop.gone += place.hop == stream.nic ? stream.sends * seconds : 0;
        --behind;
    }
    port.idleS = std::max(0.0, wholeS - port.busy * seconds);
    for (const Place& place : places)
    {
        FluidStream& stream = *place.stream;
        const double takesS =
            std::max(stream.sends * seconds / stream.GetRate(), port.busy * seconds);
        stream.toS = std::min(seconds, stream.fromS + takesS);
    }
    port.busy = std::min(1.0, port.busy);
}

double
FluidQueues::FindCapacity(const Port& port)
{
    m_loads.clear();
    m_owners.clear();
    for (const Place& place : port.places)
    {
        const FluidStream& stream = *place.stream;
        if (place.hop < stream.nic)
        {
            AddLoad(stream.flow->reads[place.hop], 0, stream.progress);
            m_owners.push_back(stream.owner);
        }
    }
    return m_loads.empty() ? port.line : GetRoom(m_loads.front());
}

double
FluidQueues::FindWriting(const Port& port, double whole)
{
    m_loads.clear();
    m_owners.clear();
    for (const Place& place : port.places)
    {
        const FluidStream& stream = *place.stream;
        const FluidHop& hop = stream.hops[place.hop];
        if (place.hop + 1 == stream.hops.size())
        {
            for (const FlowHost& host : stream.flow->writes)
            {
                AddLoad(host, hop.waiting + hop.comes, stream.progress);
            }
            m_owners.push_back(stream.owner);
        }
    }
    double rate = std::numeric_limits<double>::infinity();
    for (const Load& load : m_loads)
    {
        rate = load.amount > 0 ? std::min(rate, GetRoom(load) * whole / load.amount) : rate;
    }
    return rate;
}

void
FluidQueues::AddLoad(const FlowHost& host, double payload, double progress)
{
    auto load = std::find_if(m_loads.begin(), m_loads.end(), [&host](const Load& other) {
        return other.resource == host.resource;
    });
    if (load == m_loads.end())
    {
        load = m_loads.insert(load, {host.resource, 0, 0, host.least});
    }
    load->amount += payload * host.amount;
    load->beside += host.beside * progress;
    load->least = std::min(load->least, host.least);
}

double
FluidQueues::GetLeft(const Load& load) const
{
    return m_findLeft ? m_findLeft(load.resource, m_owners) : m_resources[load.resource].capacity;
}

double
FluidQueues::GetRoom(const Load& load) const
{
    const double left = GetLeft(load);
    return std::max(load.least * left / m_resources[load.resource].capacity, left - load.beside);
}

void
FluidQueues::PassPort(Port& port, double seconds, int64_t nowPs)
{
    if (port.isShared)
    {
        SharePort(port, seconds, nowPs);
        return;
    }
    double comes = 0;
    for (const Place& place : port.places)
    {
        FluidStream& stream = *place.stream;
        FluidHop& hop = stream.hops[place.hop];
        hop.comes = std::exchange(stream.hops[place.hop - 1].gone, 0);
        comes += hop.comes * hop.wire;
    }
    const double whole = port.queue + comes;
    const double writing = FindWriting(port, whole);
    const double capacity = std::min(port.line, writing);
    const double wholeS = seconds + FindCredit(port, false);
    const double room = capacity * wholeS;
    // The NIC behind it has what it holds, and what the port brings.
    const double waited = port.queue - port.held;
    const double brings = std::min(whole - port.held, port.line * wholeS);
    const double leaves = std::min(port.held + brings, writing * wholeS);
    port.held = std::min(port.held + brings - leaves, m_congestion.nicBytes);
    const double part = whole > 0 ? leaves / whole : 1;
    port.busy = std::min(1.0, whole / (capacity * seconds));
    port.idleS = std::max(0.0, (room - whole) / capacity);
    const double before = port.queue;
    const double beginPs = static_cast<double>(nowPs) - seconds * PS_PER_SECOND;
    if (before <= 0)
    {
        double fromS = seconds;
        for (const Place& place : port.places)
        {
            const FluidStream& stream = *place.stream;
            fromS = stream.hops[place.hop].comes > 0 ? std::min(fromS, stream.fromS) : fromS;
        }
        port.sincePs = beginPs + fromS * PS_PER_SECOND;
    }
    port.queue = 0;
    for (const Place& place : port.places)
    {
        FluidStream& stream = *place.stream;
        FluidHop& hop = stream.hops[place.hop];
        const double all = hop.waiting + hop.comes;
        hop.out = part * all;
        hop.gone += hop.out;
        hop.waiting = part < 1 ? all - part * all : 0;
        port.queue += hop.waiting * hop.wire;
        stream.fromS = before > 0 ? 0 : stream.fromS;
        stream.toS = std::min(seconds, std::max(stream.toS, stream.fromS + whole / capacity));
    }
    port.held = std::min(port.held, port.queue);
    const double waits = port.queue - port.held;
    const double toPs = PS_PER_SECOND / port.line;
    if (std::max(waited, waits) * toPs < m_congestion.markPs)
    {
        return;
    }
    const double perPs = seconds * PS_PER_SECOND;
    const double slowness = port.held < m_congestion.nicBytes ? 1 : port.line / capacity;
    for (const Place& place : port.places)
    {
        FluidStream& stream = *place.stream;
        const FluidHop& hop = stream.hops[place.hop];
        const double bytes = m_congestion.marksAtDequeue ? hop.out : hop.comes;
        Mark(stream,
             {static_cast<double>(nowPs) - perPs,
              perPs,
              waited * toPs,
              (waits - waited) * toPs,
              slowness,
              bytes / stream.flow->unitBytes});
    }
}

} // namespace proteus
} // namespace ns3
