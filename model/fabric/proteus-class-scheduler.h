/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLASS_SCHEDULER_H
#define PROTEUS_CLASS_SCHEDULER_H

#include "proteus-port.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Decides which traffic class of a port is served next: strictly in order (0 first), or by weight
 * with self-clocked fair queueing (Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband
 * Applications", INFOCOM 1994).
 */
class ClassScheduler
{
  public:
    /**
     * @param weights by traffic class; classes of weight 0 go before all that have a weight, in
     * order; classes beyond the list have weight 1. Empty: all strict
     * @param ports to serve
     */
    void SetUp(std::vector<uint32_t> weights, const PortTable& ports)
    {
        m_weights = std::move(weights);
        if (m_weights.empty())
        {
            return;
        }
        m_weights.resize(ports.GetNClasses(), 1);
        m_served.resize(ports.GetNLanes(), 0);
        m_virtualNow.resize(ports.GetSize(), 0);
    }

    /// @return whether any class has a weight
    bool IsWeighted() const
    {
        return !m_weights.empty();
    }

    /// @param ports of the fabric @param port one of them @param classes bits of traffic classes,
    /// not 0 @return which one is next
    uint32_t Pick(const PortTable& ports, PortId port, uint32_t classes) const
    {
        const auto first = static_cast<uint32_t>(__builtin_ctz(classes));
        return m_weights.empty() || m_weights[first] == 0
                   ? first
                   : PickByWeight(&m_served[ports.GetLane(port, 0)], first, classes);
    }

    /// @param ports of the fabric @param port one of them @param trafficClass that it serves now
    /// @param wireBytes that it sends
    void Count(const PortTable& ports, PortId port, uint32_t trafficClass, uint32_t wireBytes)
    {
        if (m_weights.empty() || m_weights[trafficClass] == 0)
        {
            return;
        }
        // A class that comes back starts from the virtual time of the one in service.
        uint64_t& served = m_served[ports.GetLane(port, trafficClass)];
        uint64_t& now = m_virtualNow[port];
        served = std::max(served, now);
        now = served;
        served += (uint64_t{wireBytes} << 16) / m_weights[trafficClass];
    }

  private:
    /// @param served of the port's classes @param first of the classes @param classes as Pick()
    /// @return which one is next
    uint32_t PickByWeight(const uint64_t* served, uint32_t first, uint32_t classes) const
    {
        uint32_t best = first;
        for (uint32_t c = first + 1; c < m_weights.size(); ++c)
        {
            if ((classes >> c & 1) == 0)
            {
                continue;
            }
            if (m_weights[c] == 0)
            {
                return c; // strict priority over those with a weight
            }
            best = served[c] < served[best] ? c : best;
        }
        return best;
    }

    std::vector<uint32_t> m_weights;    //!< by traffic class; empty for strict priority
    std::vector<uint64_t> m_served;     //!< by lane, if weighted: virtual time
    std::vector<uint64_t> m_virtualNow; //!< by port, if weighted: virtual time in service
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLASS_SCHEDULER_H
