/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-repetition.h"

#include <algorithm>
#include <stdexcept>

/**
 * @file
 * @ingroup proteus
 * How records are made, compared, and counted again.
 */

namespace ns3
{
namespace proteus
{

void
Repetition::Count(const Component& component)
{
    const Communication& communication = m_communications[component.communications.front()];
    const RepetitionRecord& record = *component.record;
    const std::vector<LinkId>& links = communication.plan->links;
    for (const auto& [position, did] : record.ports)
    {
        m_fabric->AddStatistics(2 * links[position / 2] + position % 2, did);
    }
    for (std::size_t i = 0; i < record.queuePairs.size(); ++i)
    {
        m_transport->AddWork(communication.plan->queuePairs[i], record.queuePairs[i]);
    }
    for (const uint32_t rank : communication.ranks)
    {
        m_user.Forget(rank);
    }
    m_statistics.packets += record.packets;
    m_statistics.packetHops += record.packetHops;
}

void
Repetition::TakeSnapshot(Component& component)
{
    const RepetitionPlan& plan = *m_communications[component.communications.front()].plan;
    for (const LinkId link : plan.links)
    {
        for (const PortId port : {2 * link, 2 * link + 1})
        {
            component.ports.push_back(m_fabric->GetStatistics(port));
            m_fabric->ExchangeMaxQueue(port, 0);
        }
    }
    for (const uint32_t id : plan.queuePairs)
    {
        component.queuePairs.push_back(m_transport->GetWork(id));
        m_transport->ExchangeMinRtt(id, -1);
    }
}

void
Repetition::Restore(const Component& component)
{
    const RepetitionPlan& plan = *m_communications[component.communications.front()].plan;
    for (std::size_t i = 0; i < component.ports.size(); ++i)
    {
        const PortId port = 2 * plan.links[i / 2] + i % 2;
        const uint64_t since = m_fabric->GetStatistics(port).maxQueueBytes;
        m_fabric->ExchangeMaxQueue(port, std::max(since, component.ports[i].maxQueueBytes));
    }
    for (std::size_t i = 0; i < component.queuePairs.size(); ++i)
    {
        const uint32_t id = plan.queuePairs[i];
        const int64_t before = component.queuePairs[i].minRttPs;
        const int64_t since = m_transport->GetWork(id).minRttPs;
        m_transport->ExchangeMinRtt(id,
                                    before < 0 || since < 0 ? std::max(before, since)
                                                            : std::min(before, since));
    }
}

std::shared_ptr<const RepetitionRecord>
Repetition::MakeRecord(const Component& component, int64_t restPs) const
{
    const Communication& communication = m_communications[component.communications.front()];
    const RepetitionPlan& plan = *communication.plan;
    auto record = std::make_shared<RepetitionRecord>();
    record->ranks = communication.works;
    for (RankWork& work : record->ranks)
    {
        work.endPs -= component.firstPs;
    }
    record->restPs = restPs - component.firstPs;
    for (uint32_t i = 0; i < component.ports.size(); ++i)
    {
        const LinkStatistics& before = component.ports[i];
        const LinkStatistics did =
            GetDifference(m_fabric->GetStatistics(2 * plan.links[i / 2] + i % 2), before);
        if (did.lostPackets != 0 || did.droppedPackets != 0 || did.markedPackets != 0 ||
            did.pauses != 0)
        {
            return nullptr;
        }
        record->packetHops += did.receivedPackets;
        if (did.packets > 0 || did.receivedPackets > 0)
        {
            record->ports.emplace_back(i, did);
        }
    }
    for (std::size_t i = 0; i < component.queuePairs.size(); ++i)
    {
        const QueuePairWork& before = component.queuePairs[i];
        QueuePairWork did = m_transport->GetWork(plan.queuePairs[i]);
        if (did.repairs != before.repairs)
        {
            return nullptr;
        }
        did.bytes -= before.bytes;
        did.packets -= before.packets;
        did.messages -= before.messages;
        did.controlPackets -= before.controlPackets;
        did.lastRttPs = did.minRttPs < 0 ? -1 : did.lastRttPs;
        record->packets += did.packets;
        record->queuePairs.push_back(did);
    }
    return record;
}

void
Repetition::Keep(uint32_t id, int64_t restPs)
{
    Component& component = m_components[id];
    const auto record = MakeRecord(component, restPs);
    Restore(component);
    if (!record)
    {
        Succeed(id);
        return;
    }
    ++m_statistics.recorded;
    for (const uint32_t follower : component.followers)
    {
        m_components[follower].state = State::REPEATED;
        m_components[follower].record = record;
        m_components[follower].leader = NO_ID;
    }
    component.followers.clear();
    const auto met = m_mode == RepetitionMode::VERIFY ? m_records.Find(component.key) : nullptr;
    if (!met)
    {
        m_records.Add(component.key, record);
        return;
    }
    const std::string difference = met->Compare(*record);
    ++m_statistics.verified;
    if (!difference.empty())
    {
        const Communication& communication = m_communications[component.communications.front()];
        throw std::runtime_error("repetition: task " + std::to_string(communication.task) +
                                 ", micro-batch " + std::to_string(communication.microBatch) +
                                 ", begun at " + std::to_string(component.firstPs) +
                                 " ps, is not what it was before: " + difference);
    }
}

} // namespace proteus
} // namespace ns3
