/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-scenario-player.h"

#include "proteus-message-pair.h"

#include "ns3/proteus-compat.h"
#include "ns3/proteus-flow-hash.h"
#include "ns3/proteus-simulator-time.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

/// Tells queue pairs of traffic from those of collectives and flows between the same ends.
constexpr uint64_t TRAFFIC_SALT = 0x7472616666696321;

} // namespace

ScenarioPlayer::ScenarioPlayer(const ScenarioPlan& plan,
                               Ptr<Fabric> fabric,
                               Ptr<Transport> transport,
                               std::function<bool()> isDone)
    : m_plan(plan),
      m_fabric(fabric),
      m_transport(transport),
      m_isDone(std::move(isDone))
{
    for (const LinkChange& change : plan.changes)
    {
        ScheduleFunction(CeilToStep(change.timePs), [this, &change] { Change(change); });
    }
    for (uint32_t source = 0; source < plan.traffic.size(); ++source)
    {
        m_fabric->UseTrafficClass(plan.traffic[source].trafficClass);
        m_sources.push_back(std::make_unique<TrafficSource>(plan.traffic[source]));
        Arm(source);
    }
}

ScenarioPlayer::~ScenarioPlayer() = default;

void
ScenarioPlayer::Change(const LinkChange& change)
{
    switch (change.kind)
    {
    case LinkChange::Kind::DOWN:
    case LinkChange::Kind::UP:
        m_fabric->SetLinkUp(change.link, change.kind == LinkChange::Kind::UP);
        break;
    case LinkChange::Kind::RATE:
        m_fabric->SetLinkRate(change.link, change.bytesPerSecond);
        break;
    case LinkChange::Kind::LOSS:
        m_fabric->SetLinkLoss(change.link, change.lossProbability, change.bitErrorRate);
        break;
    case LinkChange::Kind::STORM_BEGIN:
    case LinkChange::Kind::STORM_END:
        m_fabric->SetPauseStorm(2 * change.link + (change.isFromA ? 0 : 1),
                                change.kind == LinkChange::Kind::STORM_BEGIN);
        break;
    }
}

void
ScenarioPlayer::Arm(uint32_t source)
{
    if (const auto message = m_sources[source]->Next())
    {
        const Time delay = CeilToStep(message->startPs) - Simulator::Now();
        ScheduleFunction(std::max(delay, Time(0)), [this, source, message = *message] {
            if (!m_isDone())
            {
                Send(source, message);
                Arm(source);
            }
        });
    }
}

bool
ScenarioPlayer::HasWay(VertexId from, VertexId to) const
{
    const QueuePairOptions options = MakeMessagePair(m_fabric, from, to, 0);
    std::vector<VertexId> stops = options.waypoints;
    stops.push_back(to);
    VertexId at = from;
    for (const VertexId stop : stops)
    {
        if (m_fabric->GetPaths().NextPorts(at, stop).empty())
        {
            return false;
        }
        at = stop;
    }
    return true;
}

void
ScenarioPlayer::Send(uint32_t source, const TrafficMessage& message)
{
    const uint64_t tag = m_traffic.size();
    m_traffic.push_back(
        {source, message.from, message.to, message.bytes, Simulator::Now().GetPicoSeconds(), -1});
    if (!HasWay(message.from, message.to))
    {
        return; // cut off by a failure: it counts as one that did not arrive
    }
    const uint64_t ends = MixHash(message.from, message.to);
    QueuePairOptions options = MakeMessagePair(m_fabric,
                                               message.from,
                                               message.to,
                                               MixHash(MixHash(ends, TRAFFIC_SALT), tag));
    options.trafficClass = m_plan.traffic[source].trafficClass;
    options.user = this;
    m_transport->Send(m_transport->CreateQueuePair(options), message.bytes, tag);
}

void
ScenarioPlayer::ReceiveMessage(uint32_t /* queuePair */, uint64_t tag, uint64_t /* bytes */)
{
    m_traffic[tag].receivedPs = m_fabric->GetTimePs();
}

void
ScenarioPlayer::ReceiveAcknowledgement(uint32_t /* queuePair */, uint64_t /* tag */)
{
}

} // namespace proteus
} // namespace ns3
