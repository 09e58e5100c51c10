/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-repetition.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

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
    const RepetitionRecord& record = *component.record;
    for (const auto& [position, did] : record.ports)
    {
        m_fabric->AddStatistics(2 * component.plan->links[position / 2] + position % 2,
                                did,
                                component.firstPs,
                                component.firstPs + record.restPs);
    }
    for (std::size_t i = 0; i < record.queuePairs.size(); ++i)
    {
        m_transport->AddWork(component.plan->queuePairs[i], record.queuePairs[i]);
    }
    for (const uint32_t id : component.communications)
    {
        for (const uint32_t rank : m_communications[id].ranks)
        {
            m_user.Forget(rank);
        }
    }
    const uint64_t count = component.communications.size();
    (component.hasRehearsed ? m_statistics.recorded : m_statistics.repeated) += count;
    m_statistics.periodPackets +=
        component.hasRehearsed ? record.packets - component.cost.packets : 0;
    m_statistics.packets += record.packets - component.cost.packets;
    m_statistics.packetHops += record.packetHops - component.cost.packetHops;
    m_fabric->AddEvents(component.cost.events);
}

void
Repetition::TakeSnapshot(Component& component)
{
    for (const LinkId link : component.plan->links)
    {
        for (const PortId port : {2 * link, 2 * link + 1})
        {
            if (component.ports.emplace(port, m_fabric->GetStatistics(port)).second)
            {
                m_fabric->ExchangeDrawn(port, false);
                m_fabric->ExchangeMaxQueue(port, 0);
            }
        }
    }
    for (const uint32_t id : component.plan->queuePairs)
    {
        if (component.queuePairs.emplace(id, m_transport->GetWork(id)).second)
        {
            m_transport->ExchangeMinRtt(id, -1);
        }
    }
}

void
Repetition::Restore(const Component& component)
{
    for (const auto& [port, statistics] : component.ports)
    {
        const uint64_t since = m_fabric->GetStatistics(port).maxQueueBytes;
        m_fabric->ExchangeMaxQueue(port, std::max(since, statistics.maxQueueBytes));
    }
    for (const auto& [id, work] : component.queuePairs)
    {
        const int64_t before = work.minRttPs;
        const int64_t since = m_transport->GetWork(id).minRttPs;
        m_transport->ExchangeMinRtt(id,
                                    before < 0 || since < 0 ? std::max(before, since)
                                                            : std::min(before, since));
    }
}

void
Repetition::AppendBlockEnds(const Communication& communication,
                            std::size_t rank,
                            int64_t firstPs,
                            RepetitionRecord& record) const
{
    if (m_user.RecordsBlocks())
    {
        const auto endsPs =
            RepetitionRecord::Shift(communication.blockEndsPs[rank],
                                    communication.program->ranks[rank].blocks.size(),
                                    -firstPs);
        record.blockEndsPs.insert(record.blockEndsPs.end(), endsPs.begin(), endsPs.end());
    }
}

std::shared_ptr<const RepetitionRecord>
Repetition::MakeRecord(const Component& component, int64_t restPs) const
{
    auto record = std::make_shared<RepetitionRecord>();
    for (const uint32_t id : component.communications)
    {
        for (RankWork work : m_communications[id].works)
        {
            work.endPs -= component.firstPs;
            record->ranks.push_back(work);
        }
        for (std::size_t i = 0; i < m_communications[id].works.size(); ++i)
        {
            AppendBlockEnds(m_communications[id], i, component.firstPs, *record);
        }
    }
    record->restPs = restPs - component.firstPs;
    if (IsContended(*component.plan))
    {
        return nullptr;
    }
    for (uint32_t i = 0; i < 2 * component.plan->links.size(); ++i)
    {
        const PortId port = 2 * component.plan->links[i / 2] + i % 2;
        const LinkStatistics did =
            GetDifference(m_fabric->GetStatistics(port), component.ports.at(port));
        if (did.lostPackets != 0 || did.droppedPackets != 0 || did.markedPackets != 0 ||
            did.pauses != 0 || m_fabric->HasDrawn(port))
        {
            return nullptr;
        }
        record->packetHops += did.receivedPackets;
        if (did.packets > 0 || did.receivedPackets > 0)
        {
            record->ports.emplace_back(i, did);
        }
    }
    for (const uint32_t id : component.plan->queuePairs)
    {
        const QueuePairWork& before = component.queuePairs.at(id);
        QueuePairWork did = m_transport->GetWork(id);
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

std::shared_ptr<const RepetitionRecord>
Repetition::MakeRecord(const Past& past) const
{
    auto record = std::make_shared<RepetitionRecord>();
    for (const uint32_t id : past.communications)
    {
        const Communication& communication = m_communications[id];
        for (std::size_t i = 0; i < communication.works.size(); ++i)
        {
            RankWork work;
            work.endPs = RepetitionRecord::NOT_DONE;
            if (communication.isDone[i] && communication.works[i].endPs <= past.untilPs)
            {
                work = communication.works[i];
                work.endPs -= past.firstPs;
            }
            record->ranks.push_back(work);
            AppendBlockEnds(communication, i, past.firstPs, *record);
        }
    }
    record->untilPs = past.untilPs - past.firstPs;
    return record;
}

void
Repetition::Keep(uint32_t id, int64_t restPs)
{
    EndPasts(id);
    Component& component = m_components[id];
    const auto record = MakeRecord(component, restPs);
    Restore(component);
    if (!record)
    {
        Succeed(id);
        return;
    }
    m_statistics.recorded += component.communications.size();
    for (const uint32_t follower : std::exchange(component.followers, {}))
    {
        Repeat(follower, record);
    }
    if (m_mode != RepetitionMode::VERIFY)
    {
        m_records.Add(component.key, record);
        return;
    }
    if (component.rehearsal)
    {
        const RehearsalResult& alone = m_rehearsals.Wait(*component.rehearsal);
        if (alone.isGivenUp)
        {
            return;
        }
        const RepetitionRecord none;
        Verify(component, *record, alone.record ? *alone.record : none, "in another process");
    }
    if (const auto met = m_records.Find(component.key))
    {
        m_statistics.verified += component.communications.size();
        Verify(component, *record, *met, "before");
        return;
    }
    m_records.Add(component.key, record);
}

void
Repetition::Verify(const Component& component,
                   const RepetitionRecord& record,
                   const RepetitionRecord& other,
                   const std::string& when) const
{
    const std::string difference = other.Compare(record);
    if (!difference.empty())
    {
        const Communication& communication = m_communications[component.communications.front()];
        throw std::runtime_error("repetition: task " + std::to_string(communication.task) +
                                 ", micro-batch " + std::to_string(communication.microBatch) +
                                 ", begun at " + std::to_string(component.firstPs) +
                                 " ps, is not what it was " + when + ": " + difference);
    }
}

} // namespace proteus
} // namespace ns3
