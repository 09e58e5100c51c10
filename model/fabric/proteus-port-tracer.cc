/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-port-tracer.h"

#include <algorithm>
#include <iterator>

namespace ns3
{
namespace proteus
{

void
PortTracer::SetObserver(PortId port, PortObserver* observer)
{
    m_observers.resize(m_nPorts, nullptr);
    m_observers[port] = observer;
    if (std::all_of(m_observers.begin(), m_observers.end(), [](PortObserver* o) { return !o; }))
    {
        m_observers.clear();
    }
}

void
PortTracer::Update()
{
    m_on = !m_observers.empty() || !queueSource.IsEmpty() ||
           std::any_of(std::begin(sources), std::end(sources), [](const PacketTrace& source) {
               return !source.IsEmpty();
           });
}

void
PortTracer::Trace(PortEvent event, PortId port, const PacketRecord& record, int64_t timePs)
{
    if (port >= m_nPorts)
    {
        return; // inside a device
    }
    if (!m_observers.empty() && m_observers[port] != nullptr)
    {
        m_observers[port]->Observe(event, port, record, timePs);
    }
    sources[static_cast<std::size_t>(event)](port, record, timePs);
}

void
PortTracer::TraceQueue(PortId port, uint32_t trafficClass, uint64_t bytes, int64_t timePs)
{
    if (port < m_nPorts)
    {
        queueSource(port, trafficClass, bytes, timePs);
    }
}

} // namespace proteus
} // namespace ns3
