/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric.h"
#include "proteus-required-arguments.h"

#include <algorithm>

/**
 * @file
 * @ingroup proteus
 * The state of links as words, to see whether they have been in it before.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// @param record a unit @param nowPs present time @param content of it, by whatever its sender
/// knows it @param words that get all of it
void
AppendRecord(const PacketRecord& record,
             int64_t nowPs,
             const Fabric::GetContent& content,
             std::vector<uint64_t>& words)
{
    words.push_back(uint64_t{record.queuePair} << 32 | record.destination);
    words.push_back(uint64_t{record.ingress} << 32 | static_cast<uint64_t>(record.kind) << 24 |
                    uint64_t{record.trafficClass} << 16 | uint64_t{record.flags} << 8 |
                    static_cast<uint64_t>(record.copyMethod));
    words.push_back(static_cast<uint64_t>(record.timePs - nowPs));
    content(record, words);
}

} // namespace

void
Fabric::AppendState(LinkId link, const GetContent& content, std::vector<uint64_t>& words) const
{
    const int64_t nowPs = m_stepper.GetNowPs();
    const auto relative = [&](int64_t timePs) {
        words.push_back(
            static_cast<uint64_t>(timePs == EventTree::NEVER ? timePs : timePs - nowPs));
    };
    const auto add = [&](PortId id) {
        const PortState& port = m_ports[id];
        relative(port.freeAtPs);
        words.push_back(uint64_t{port.fraction} << 32 | port.debtBytes);
        relative(port.serveAtPs);
        relative(m_stepper.GetSlotTime(SLOTS_PER_PORT * id + ARRIVAL));
        relative(m_stepper.GetSlotTime(SLOTS_PER_PORT * id + SERVICE));
        relative(port.offered ? std::max(port.pullAtPs, nowPs) : EventTree::NEVER);
        relative(port.stalledSincePs < 0 ? EventTree::NEVER : port.stalledSincePs);
        words.push_back(uint64_t{port.waiting} << 40 | uint64_t{port.paused} << 32 |
                        uint64_t{port.starved} << 24 | uint64_t{port.pausing} << 16 |
                        uint64_t{port.pauseDue} << 8 | port.inputBusy);
        words.push_back(port.flight.GetSize());
        for (uint32_t i = port.flight.GetHead(); i != port.flight.GetTail(); ++i)
        {
            AppendRecord(port.flight.At(i), nowPs, content, words);
        }
        for (uint32_t c = 0; c < m_ports.GetNClasses(); ++c)
        {
            const LaneState& lane = m_ports.Lane(id, c);
            words.push_back(lane.queuedBytes);
            // Credits that have come home, whether they have been collected or not.
            const std::size_t creditAt = words.size();
            words.push_back(static_cast<uint64_t>(lane.creditBytes));
            words.push_back(0);
            CreditControl::ForEachReturn(lane, [&](int64_t homePs, int64_t bytes) {
                if (homePs <= nowPs)
                {
                    words[creditAt] += static_cast<uint64_t>(bytes);
                    return;
                }
                ++words[creditAt + 1];
                relative(homePs);
                words.push_back(static_cast<uint64_t>(bytes));
            });
            words.push_back(lane.queue.GetSize());
            for (uint32_t i = lane.queue.GetHead(); i != lane.queue.GetTail(); ++i)
            {
                AppendRecord(lane.queue.At(i), nowPs, content, words);
            }
        }
    };
    if (GetRestPs(link) <= nowPs)
    {
        words.push_back(0); // as new
        return;
    }
    for (const PortId id : {2 * link, 2 * link + 1})
    {
        add(id);
        if (!m_internalPorts.empty() && m_internalPorts[id] != NO_PORT)
        {
            add(m_internalPorts[id]);
        }
    }
}

bool
Fabric::HasInputQueue(LinkId link) const
{
    RequireIndex(link, m_ports.GetSize() / 2, "link", "the fabric");
    return m_ports[2 * link].inputQueued || m_ports[2 * link + 1].inputQueued;
}

} // namespace proteus
} // namespace ns3
