/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-inline.h"
#include "proteus-ranks.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <type_traits>

/**
 * @file
 * @ingroup proteus
 * A fabric that several processes (MPI ranks) simulate together: every one has all ports, and works
 * for those at its own vertices. A cut link, between two ranks, has its sending half in one and its
 * receiving half in the other: a unit is in flight where it will arrive.
 *
 * Nothing that one rank does has an effect in another before the least delay of the cut links has
 * passed, units, pauses and credits alike; and at one picosecond events come in the order of their
 * slots, whoever handles them. So results do not depend on the number of ranks.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// A unit on a cut link; PacketRecord::ingress is the port.
struct UnitWord
{
    PacketRecord record; //!< with the time of its arrival
    uint32_t failures;   //!< of the link, when it was sent
};

/// Room in the receive buffer of a cut link.
struct CreditWord
{
    int64_t timePs;        //!< when the sender knows
    int64_t bytes;         //!< how much
    PortId port;           //!< that sends into it
    uint32_t trafficClass; //!< of the unit that has left
};

/// @param data not aligned @return the record there
template <typename T>
T
Read(const uint8_t* data)
{
    T word;
    std::memcpy(&word, data, sizeof(word));
    return word;
}

} // namespace

void
Fabric::SetUpRanks()
{
    m_rank = GetRank();
    if (GetNRanks() == 1)
    {
        return;
    }
    if (m_settings.forwarding.reference)
    {
        throw std::invalid_argument("ns3::proteus::Fabric::ReferenceMode works with one rank only");
    }
    m_ranks = std::make_unique<FabricRanks>(*m_cluster, [this](uint32_t kind, const uint8_t* data) {
        TakeRankWord(kind, data);
    });
    m_stepper.SetWindow(m_ranks->GetWindowPs());
}

void
Fabric::CreateNodes()
{
    const auto n = static_cast<VertexId>(m_cluster->GetVertices().size());
    if (!m_ranks)
    {
        m_nodes.Create(n);
        return;
    }
    for (VertexId vertex = 0; vertex < n; ++vertex)
    {
        m_nodes.Create(1, m_ranks->GetPartition().rankOf[vertex]);
    }
    m_ranks->Connect();
}

void
Fabric::SendAcross(PortId id)
{
    PortState& port = m_ports[id];
    UnitWord word{};
    word.record = port.flight.At(port.flight.GetTail() - 1);
    word.record.ingress = id;
    word.failures = port.failures;
    m_ranks->Tell(m_ranks->GetPartition().rankOf[port.to], UNIT_WORD, word);
    if (!port.credited)
    {
        port.flight.Clear();
    }
    // With credits, Fail() has to know what is still on the wire.
    while (!port.flight.IsEmpty() && port.GetArrivalPs(port.flight.Front()) < m_stepper.GetNowPs())
    {
        port.flight.PopAndRewind();
    }
    FlushRanks();
}

void
Fabric::ReturnCreditAcross(const PacketRecord& record, int64_t timePs)
{
    const PortState& port = m_ports[record.ingress];
    m_creditHomes.resize(m_ports.GetNLanes(), 0);
    // As CreditControl::Return(): a later one holds an earlier one up.
    int64_t& home = m_creditHomes[m_ports.GetLane(record.ingress, record.trafficClass)];
    home = std::max(home, timePs + port.delayPs);
    CreditWord word{};
    word.timePs = home;
    word.bytes = port.GetWireBytes(record);
    word.port = record.ingress;
    word.trafficClass = record.trafficClass;
    m_ranks->Tell(m_ranks->GetPartition().rankOf[port.from], CREDIT_WORD, word);
    FlushRanks();
}

void
Fabric::FlushRanks()
{
    if (m_ranks && !m_stepper.IsRunning())
    {
        m_ranks->Flush();
    }
}

void
Fabric::TakeRankWord(uint32_t kind, const uint8_t* data)
{
    m_stepper.Synchronize();
    switch (kind)
    {
    case UNIT_WORD:
        TakeUnit(data);
        break;
    case CREDIT_WORD:
        TakeCreditReturn(data);
        break;
    default:
        m_endpoint->HandleRankWord(kind, data);
    }
}

void
Fabric::TakeUnit(const uint8_t* data)
{
    const auto word = Read<UnitWord>(data);
    const PortId id = word.record.ingress;
    PortState& port = m_ports[id];
    if (word.failures != port.failures)
    {
        ++port.statistics.lostPackets; // the link has failed behind it
        Trace(PortEvent::DROP, id, word.record);
        return;
    }
    const bool idle = port.flight.IsEmpty();
    port.flight.Push(word.record);
    if (idle)
    {
        m_stepper.SetEarlier(SLOTS_PER_PORT * id + ARRIVAL, port.GetArrivalPs(word.record));
    }
}

void
Fabric::TakeCreditReturn(const uint8_t* data)
{
    const auto word = Read<CreditWord>(data);
    PortState& port = m_ports[word.port];
    m_ports.Lane(word.port, word.trafficClass).returns.Push({word.timePs, word.bytes});
    const auto bit = static_cast<uint8_t>(1u << word.trafficClass);
    if ((port.starved & bit) != 0)
    {
        port.starved &= ~bit;
        RequestService(word.port, std::max(word.timePs, port.freeAtPs));
    }
}

void
Fabric::GatherStatistics()
{
    if (!m_ranks)
    {
        return;
    }
    // Each figure is counted at one of the two ends, and is 0 in all other ranks.
    std::vector<uint64_t> values{m_packetHops, m_stepper.GetEventCount()};
    const auto visit = [this](auto&& each) {
        for (PortId id = 0; id < GetNPorts(); ++id)
        {
            LinkStatistics& s = m_ports[id].statistics;
            each(s.maxQueueBytes);
            ForEachSum([&](auto member) {
                auto value = static_cast<uint64_t>(s.*member);
                each(value);
                s.*member = static_cast<std::decay_t<decltype(s.*member)>>(value);
            });
        }
    };
    visit([&values](uint64_t value) { values.push_back(value); });
    SumOverRanks(values);
    m_packetHops = values[0];
    m_otherEvents = values[1] - m_stepper.GetEventCount();
    std::vector<int64_t> most{static_cast<int64_t>(m_stepper.GetEventCount())};
    MaxOverRanks(most);
    m_busiestEvents = static_cast<uint64_t>(most[0]);
    std::size_t next = 2;
    visit([&](uint64_t& value) { value = values[next++]; });
}

} // namespace proteus
} // namespace ns3
