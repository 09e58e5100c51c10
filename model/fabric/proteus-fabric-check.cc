/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric.h"

#include <algorithm>
#include <functional>
#include <map>

/**
 * @file
 * @ingroup proteus
 * What is left in a fabric that has come to a stop.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// @param cluster of the ports @param from a vertex @param to a vertex @return name of the port
std::string
GetPortName(const Cluster& cluster, VertexId from, VertexId to)
{
    return cluster.GetVertices()[from].name + " -> " + cluster.GetVertices()[to].name;
}

/**
 * @param waitsFor by port: those that wait for it
 * @param nPorts ports to begin with
 * @param isBlocked whether a port waits
 * @return ports of one circle, each of which waits for the next; empty if there is none
 */
std::vector<PortId>
FindCircle(const std::map<PortId, std::vector<PortId>>& waitsFor,
           PortId nPorts,
           const std::function<bool(PortId)>& isBlocked)
{
    enum class State : uint8_t
    {
        NEW,
        ON_THE_WAY,
        DONE
    };

    std::map<PortId, State> states;
    std::vector<PortId> way;
    std::vector<PortId> found;
    const std::function<bool(PortId)> visit = [&](PortId id) {
        states[id] = State::ON_THE_WAY;
        way.push_back(id);
        const auto next = waitsFor.find(id);
        for (PortId other : next == waitsFor.end() ? std::vector<PortId>() : next->second)
        {
            if (!isBlocked(other))
            {
                continue;
            }
            if (states[other] == State::ON_THE_WAY)
            {
                found.assign(std::find(way.begin(), way.end(), other), way.end());
                return true;
            }
            if (states[other] == State::NEW && visit(other))
            {
                return true;
            }
        }
        way.pop_back();
        states[id] = State::DONE;
        return false;
    };
    for (PortId id = 0; id < nPorts; ++id)
    {
        if (isBlocked(id) && states[id] == State::NEW && visit(id))
        {
            break;
        }
    }
    return found;
}

} // namespace

std::string
Fabric::CheckAtRest() const
{
    for (PortId id = 0; id < m_ports.GetSize(); ++id)
    {
        const PortState& port = m_ports[id];
        const std::string name = GetPortName(*m_cluster, port.from, port.to) + ": ";
        if (port.pauseDue != 0)
        {
            return name + "a pause is to be sent";
        }
        if (port.offered)
        {
            return name + "the endpoint has packets to send";
        }
        if (!port.flight.IsEmpty() && IsLocal(port.to)) // elsewhere it says what was sent
        {
            return name + std::to_string(port.flight.GetSize()) + " packets in flight";
        }
        for (uint32_t c = 0; c < m_ports.GetNClasses(); ++c)
        {
            const std::size_t i = m_ports.GetLane(id, c);
            const LaneState& lane = m_ports.Lane(id, c);
            if (!lane.queue.IsEmpty())
            {
                return name + std::to_string(lane.queue.GetSize()) +
                       " packets wait to be sent in traffic class " + std::to_string(c);
            }
            const int64_t credit = CreditControl::GetTotal(lane);
            if (port.credited && credit != port.bufferBytes)
            {
                return name + std::to_string(port.bufferBytes - credit) +
                       " bytes of credit missing in traffic class " + std::to_string(c);
            }
            if (!port.internal && m_buffers.GetBytes(i) != 0)
            {
                return name + std::to_string(m_buffers.GetBytes(i)) +
                       " bytes of buffer occupied by traffic class " + std::to_string(c);
            }
            if (!port.internal && m_inputs.GetSize(i) != 0)
            {
                return name + std::to_string(m_inputs.GetSize(i)) + " packets wait at the input";
            }
        }
        const LinkStatistics& statistics = port.statistics;
        if (!port.internal &&
            statistics.packets != statistics.receivedPackets + statistics.lostPackets)
        {
            return name + "received other than sent";
        }
        if (!port.internal && statistics.lostPackets == 0 &&
            statistics.payloadBytes != statistics.receivedPayloadBytes)
        {
            return name + "received other payload than sent";
        }
    }
    const uint64_t used = m_buffers.GetMostUsedBytes();
    return used == 0 ? ""
                     : "a shared buffer has " + std::to_string(used) + " bytes in use of nobody";
}

std::string
Fabric::FindDeadlock() const
{
    const std::vector<PortId> ports = FindDeadlockPorts();
    std::string text;
    for (PortId id : ports)
    {
        text += GetPortName(*m_cluster, m_ports[id].from, m_ports[id].to) + " waits for ";
    }
    return ports.empty() ? text
                         : text + GetPortName(*m_cluster,
                                              m_ports[ports.front()].from,
                                              m_ports[ports.front()].to);
}

std::vector<PortId>
Fabric::FindDeadlockPorts() const
{
    // Who waits for room at its end, and who holds that room: units of its ingress queues.
    const auto isBlocked = [this](PortId id) {
        return (m_ports[id].waiting & (m_ports[id].paused | m_ports[id].starved)) != 0;
    };
    std::map<PortId, std::vector<PortId>> waitsFor;
    for (PortId id = 0; id < m_ports.GetSize(); ++id)
    {
        if (!isBlocked(id))
        {
            continue;
        }
        for (uint32_t c = 0; c < m_ports.GetNClasses(); ++c)
        {
            const RingBuffer<PacketRecord>& queue = m_ports.Lane(id, c).queue;
            for (uint32_t i = queue.GetHead(); i != queue.GetTail(); ++i)
            {
                const PortId holder = queue.At(i).ingress;
                if (holder == NO_PORT)
                {
                    continue;
                }
                auto& list = waitsFor[holder];
                if (std::find(list.begin(), list.end(), id) == list.end())
                {
                    list.push_back(id);
                }
            }
        }
    }
    return FindCircle(waitsFor, GetNPorts(), isBlocked);
}

} // namespace proteus
} // namespace ns3
