/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-stall-watch.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

StallWatch::StallWatch(Ptr<Fabric> fabric, Time interval)
    : m_fabric(fabric),
      m_interval(interval)
{
    if (interval.IsStrictlyPositive())
    {
        SampleClock::Add(this, interval, nullptr);
    }
}

StallWatch::~StallWatch()
{
    Stop();
}

void
StallWatch::Stop()
{
    SampleClock::Remove(this);
}

void
StallWatch::TakeSample()
{
    const uint64_t events = m_fabric->GetEventCount();
    if (events == m_events && m_ports.empty())
    {
        Wait(std::min(2 * m_wait, LONGEST_WAIT)); // as it was at the last look
        return;
    }
    m_events = events;
    const std::vector<PortId> ports = m_fabric->FindDeadlockPorts();
    std::vector<uint64_t> packets;
    for (PortId port : ports)
    {
        packets.push_back(m_fabric->GetStatistics(port).packets);
    }
    if (!ports.empty() && ports == m_ports && packets == m_packets)
    {
        std::ostringstream message;
        message << "deadlock, found at " << Simulator::Now().GetSeconds() * 1e3
                << " ms: " << m_fabric->FindDeadlock()
                << "; routes without circles (ns3::proteus::Fabric::Routing=UpDown) prevent it";
        throw std::runtime_error(message.str());
    }
    m_ports = ports;
    m_packets = packets;
    Wait(1);
}

void
StallWatch::Wait(int64_t intervals)
{
    if (intervals != m_wait && !Simulator::IsFinished())
    {
        m_wait = intervals;
        SampleClock::Remove(this);
        SampleClock::Add(this, m_interval * m_wait, nullptr);
    }
}

bool
StallWatch::Run(Ptr<Fabric> fabric, Time interval)
{
    StallWatch watch(fabric, interval);
    try
    {
        Simulator::Run();
    }
    catch (const std::logic_error&) // a file that does not take what is written
    {
        watch.Stop();
        SampleClock::Forget();
        throw;
    }
    catch (const std::runtime_error& error)
    {
        watch.Stop();
        SampleClock::Forget();
        // A queue pair that gives up, perhaps as its packets are in a circle.
        const std::string circle = fabric->FindDeadlock();
        const std::string what = error.what();
        const bool says = circle.empty() || what.find(circle) != std::string::npos;
        throw std::runtime_error(says ? what : what + "; deadlock: " + circle);
    }
    return fabric->HasSimulatorEvents();
}

void
StallWatch::StopAtPresent(Ptr<Fabric> fabric)
{
    // The fabric may be ahead of the simulator's clock.
    fabric->CallAtPresent(fabric->GetFrom(0), [] { Simulator::Stop(); });
}

std::string
DescribeCut(uint64_t done, uint64_t all, const std::string& what)
{
    std::ostringstream text;
    text << "Simulator::Stop() ended the run at " << Simulator::Now().As(Time::US)
         << ", before its end: " << done << " of " << all << ' ' << what;
    return text.str();
}

} // namespace proteus
} // namespace ns3
