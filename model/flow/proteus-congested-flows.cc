/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-congested-flows.h"

#include "ns3/proteus-sort-unique.h"

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
/// Steps that may become one while nothing queues and no rate changes by SAME_RATE.
constexpr int64_t MOST_STEPS = 160;
/// Part by which a rate may change in a longer step.
constexpr double SAME_RATE = 0.01;
/// What a queue pair may be ahead of what links inside servers let its class do, where its messages
/// are no longer: a slot of NCCL's buffers (NCCL_BUFFSIZE, 4 MiB, over NCCL_STEPS, 8).
constexpr double SLOT_BYTES = 524288;
} // namespace

CongestedFlows::CongestedFlows(const FlowCongestion& congestion,
                               const std::vector<FlowResource>& resources,
                               uint32_t seed,
                               FluidQueues::FindLeft findLeft)
    : m_queues(congestion, resources, seed, std::move(findLeft))
{
}

void
CongestedFlows::Begin(uint32_t id,
                      const FlowClass& flows,
                      double left,
                      int64_t nowPs,
                      const MakeReplay& make)
{
    m_lastPs = m_live.empty() ? nowPs : m_lastPs;
    m_classes.resize(std::max<std::size_t>(m_classes.size(), id + 1));
    Class& live = m_classes[id];
    live.isLive = true;
    live.left = left;
    live.bytes = flows.bytes;
    live.cap = std::numeric_limits<double>::infinity();
    live.streams.clear();
    live.beginPs = nowPs;
    live.afterPs = 0;
    live.endPs = -1;
    live.leftPart = 1;
    live.replay = nullptr;
    live.isQuiet = false;
    live.ofFlow.clear();
    m_live.push_back(id);
    m_steps = 1;
    live.streams.reserve(flows.pairs.size()); // the queues know where they are
    for (const FlowPair& flow : flows.pairs)
    {
        live.streams.emplace_back();
        live.streams.back().owner = id;
        live.streams.back().reader = m_nReaders++;
        m_queues.Add(live.streams.back(), flow);
        live.streams.back().sent = flow.part * (flows.bytes - left);
    }
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
        FindQuiet(live);
    }
    if (m_isBusy || live.replay)
    {
        Look();
        return;
    }
    // Nothing else can have changed.
    for (const Stream& stream : live.streams)
    {
        m_isBusy |= stream.IsPaced();
    }
    for (const uint32_t port : ListPorts(live))
    {
        m_isBusy |= m_queues.IsWanted(port);
    }
    m_stepPs = m_queues.GetStepPs();
}

void
CongestedFlows::Join(uint32_t id, uint32_t rank, int64_t nowPs)
{
    Class& live = m_classes[id];
    m_steps = 1;
    const auto sincePs = static_cast<double>(nowPs - live.beginPs);
    live.replay->Join(rank, sincePs);
    live.replay->Advance(sincePs);
    Conclude(live);
    FindEnded(id);
    FindQuiet(live);
    Look();
}

void
CongestedFlows::FindEnded(uint32_t id)
{
    const Class& live = m_classes[id];
    for (const RankEnd& ended : live.replay->TakeEnded())
    {
        m_ended.push_back({id, ended.rank, live.beginPs + std::llround(ended.endPs)});
    }
}

void
CongestedFlows::Conclude(Class& live)
{
    if (live.endPs < 0 && live.leftPart <= 0 && live.replay->HasAllRanks())
    {
        // What the other steps take is known.
        live.replay->Advance(std::numeric_limits<double>::infinity());
        live.endPs = live.beginPs + std::llround(live.replay->GetEndPs()) - live.afterPs;
    }
}

void
CongestedFlows::FindQuiet(Class& live)
{
    live.isQuiet = live.endPs < 0 && live.replay->IsIdle() &&
                   std::all_of(live.streams.begin(), live.streams.end(), [](const Stream& stream) {
                       return stream.come + LAST_BYTES >= stream.handed;
                   });
    for (Stream& stream : live.streams)
    {
        stream.isQuiet = live.isQuiet;
    }
}

bool
CongestedFlows::IsWanted(const FlowClass& flows)
{
    return m_isBusy || m_queues.IsWanted(flows.pairs);
}

std::vector<uint32_t>
CongestedFlows::ListPorts(const Class& flows)
{
    std::vector<uint32_t> ports;
    for (const Stream& stream : flows.streams)
    {
        for (const FluidHop& hop : stream.hops)
        {
            ports.push_back(hop.port);
        }
    }
    SortUnique(ports);
    return ports;
}

void
CongestedFlows::End(uint32_t flows)
{
    Class& live = m_classes[flows];
    live.isLive = false;
    m_live.erase(std::find(m_live.begin(), m_live.end(), flows));
    for (Stream& stream : live.streams)
    {
        stream.isGone = true;
        if (stream.hasTurns)
        {
            m_queues.StopTurns(stream);
        }
    }
    m_queues.Remove(ListPorts(live));
    live.streams.clear();
    live.replay = nullptr;
    if (m_isBusy)
    {
        Look();
    }
}

void
CongestedFlows::Look()
{
    // What could come, if every queue pair sent as fast as it may.
    m_isBusy = false;
    bool isCalm = true;
    for (const uint32_t id : m_live)
    {
        if (m_classes[id].isQuiet)
        {
            continue;
        }
        m_isBusy |= m_classes[id].replay != nullptr;
        for (const Stream& stream : m_classes[id].streams)
        {
            m_isBusy |= stream.IsPaced();
            for (const FluidHop& hop : stream.hops)
            {
                isCalm &= hop.waiting <= 0;
            }
        }
    }
    isCalm = !m_queues.IsAnyWanted() && isCalm;
    m_isBusy |= !isCalm;
    if (!m_isBusy)
    {
        Arrive();
    }
    m_steps = isCalm ? m_steps : 1;
    m_stepPs = m_queues.GetStepPs() * m_steps;
}

void
CongestedFlows::Arrive()
{
    for (const uint32_t id : m_live)
    {
        for (Stream& stream : m_classes[id].streams)
        {
            for (FluidHop& hop : stream.hops)
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
    if (id >= m_classes.size() || !m_classes[id].isLive)
    {
        return std::numeric_limits<double>::infinity();
    }
    const Class& live = m_classes[id];
    return live.isQuiet ? 0 : m_isBusy ? live.cap : std::numeric_limits<double>::infinity();
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
            if (live.replay)
            {
                continue; // it waits for ranks that have not joined
            }
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
            // A mean, as what it takes inside servers changes what it gets, and that this.
            stream.progress = (stream.progress + progress) / 2;
            if (live.replay && !stream.hasTurns && stream.HasMore() && stream.handedPs <= nowPs)
            {
                m_queues.StartTurns(stream);
            }
            stream.sends = FindSends(live, stream, seconds);
            m_queues.Hear(stream, nowPs);
            stream.read = live.replay && stream.HasMore() ? FindRead(stream, nowPs) : 0;
            stream.lead -= stream.flow->part * progress * seconds;
        }
    }
    m_queues.Pass(seconds, nowPs);
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
            FindEnded(id);
            FindQuiet(live);
        }
        live.cap = FindCap(live, seconds);
        isSteady &=
            live.isQuiet || (!live.replay && std::abs(live.cap - before) <= SAME_RATE * before);
    }
    m_steps = isSteady ? std::min(2 * m_steps, MOST_STEPS) : 1;
    Look();
}

double
CongestedFlows::FindSends(const Class& live, const Stream& stream, double seconds) const
{
    const double may = std::min(stream.GetRate() + stream.read / seconds, stream.flow->source);
    if (live.replay)
    {
        // What came to an idle queue pair within the last step has begun there, or begins later.
        const double sinceS = static_cast<double>(m_lastPs - stream.handedPs) / PS_PER_SECOND;
        const double whole = stream.handedPs > 0 ? std::max(0.0, sinceS) : seconds;
        // The class may be held back by others.
        const double ahead = (live.left - live.leftPart * live.bytes) * stream.flow->part;
        if (ahead > std::min(stream.flow->slots * stream.flow->messageBytes,
                             std::max(stream.flow->messageBytes, SLOT_BYTES)))
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

double
CongestedFlows::GetReadRate(const Stream& stream)
{
    return (stream.IsPaced() ? stream.GetRate() : stream.flow->sender) / PS_PER_SECOND;
}

double
CongestedFlows::FindRead(const Stream& stream, int64_t nowPs)
{
    const FlowReading& reading = stream.flow->reading;
    if (reading.port == NO_ID)
    {
        return 0;
    }
    const double unread =
        m_nics.SetRate(stream.reader, reading, GetReadRate(stream), static_cast<double>(nowPs));
    const double queued = m_nics.GetQueued(reading.port, static_cast<double>(nowPs));
    return stream.IsPaced() ? std::clamp(stream.handed - stream.sent - unread, 0.0, queued) : 0;
}

void
CongestedFlows::Take(uint32_t id, uint32_t flow, double bytes, double timePs)
{
    Class& live = m_classes[id];
    Stream& stream = live.streams[live.ofFlow[flow]];
    const FlowReading& reading = stream.flow->reading;
    const double rate = GetReadRate(stream);
    const double atPs = static_cast<double>(live.beginPs) + timePs;
    const bool isRead = reading.port != NO_ID;
    if (!stream.HasMore())
    {
        const double waitsPs = isRead ? m_nics.Begin(stream.reader, reading, rate, bytes, atPs) : 0;
        stream.handedPs = std::llround(atPs + waitsPs);
        if (waitsPs <= 0)
        {
            m_queues.StartTurns(stream);
        }
    }
    else if (isRead)
    {
        m_nics.Add(stream.reader, reading, rate, bytes, atPs);
    }
    stream.handed += bytes;
    const double unit = stream.flow->unitBytes;
    stream.messages.push_back({stream.handed, bytes - std::ceil(bytes / unit - 1) * unit});
}

void
CongestedFlows::GoOn(Class& live, double seconds, int64_t nowPs)
{
    live.leftPart = 0;
    for (Stream& stream : live.streams)
    {
        live.leftPart =
            std::max(live.leftPart, (stream.whole - stream.come - LAST_BYTES) / stream.whole);
        // Of those that take turns, one is done with its last unit, not with its fluid.
        const double ahead = m_queues.GetPartBehind(stream);
        for (Message& message : stream.messages)
        {
            const double end = message.end - ahead * message.last;
            if (end > stream.sent + LAST_BYTES)
            {
                break;
            }
            message = {end, 0};
        }
        while (!stream.messages.empty() && stream.messages.front().end <= stream.come + LAST_BYTES)
        {
            const double end = stream.messages.front().end;
            const double part =
                stream.arrives > 0 ? std::clamp((stream.come - end) / stream.arrives, 0.0, 1.0) : 0;
            const double sinceS = seconds - stream.toS + part * (stream.toS - stream.fromS);
            live.replay->Deliver(
                stream.flow->flow,
                static_cast<double>(nowPs - live.beginPs + stream.flow->latencyPs) -
                    sinceS * PS_PER_SECOND);
            stream.messages.pop_front();
        }
        if (stream.hasTurns && !stream.HasMore())
        {
            m_queues.StopTurns(stream);
        }
        if (stream.HasMore() && stream.handedPs <= nowPs)
        {
            stream.handedPs = 0;
        }
    }
    live.replay->Advance(static_cast<double>(nowPs - live.beginPs));
    Conclude(live);
}

double
CongestedFlows::FindCap(const Class& live, double seconds) const
{
    const double horizon =
        std::max(seconds, 2 * static_cast<double>(m_queues.GetStepPs()) / PS_PER_SECOND);
    if (live.endPs >= 0)
    {
        return std::numeric_limits<double>::infinity(); // all of it has come
    }
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

} // namespace proteus
} // namespace ns3
