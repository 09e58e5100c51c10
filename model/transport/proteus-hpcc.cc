/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-hpcc.h"

#include <cmath>

namespace ns3
{
namespace proteus
{

Hpcc::Hpcc(const HpccParameters& parameters, const CongestionPath& path)
    : m_parameters(parameters),
      m_baseRtt(
          static_cast<double>(parameters.baseRttPs > 0 ? parameters.baseRttPs : path.baseRttPs) *
          1e-12),
      m_initial(path.bytesPerSecond * m_baseRtt),
      m_additive(m_initial * (1 - parameters.eta) / parameters.flows),
      m_minimum(std::min(parameters.minimumBytesPerSecond, path.bytesPerSecond) * m_baseRtt),
      m_reference(m_initial)
{
    m_windowBytes = static_cast<uint64_t>(std::llround(m_initial));
    m_bytesPerSecond = path.bytesPerSecond;
}

void
Hpcc::Measure(const CongestionFeedback& feedback)
{
    double u = 0;
    double tau = m_baseRtt;
    for (uint32_t i = 0; i < m_nHops; ++i)
    {
        const HopTelemetry& now = feedback.hops[i];
        const HopTelemetry& before = m_hops[i];
        const double interval = static_cast<double>(now.timePs - before.timePs) * 1e-12;
        if (interval <= 0)
        {
            continue; // two packets of one train: no rate can be told
        }
        const double txRate = static_cast<double>(now.sentBytes - before.sentBytes) / interval;
        const double queue = static_cast<double>(std::min(now.queueBytes, before.queueBytes));
        const double link = queue / (now.bytesPerSecond * m_baseRtt) + txRate / now.bytesPerSecond;
        if (link > u)
        {
            u = link;
            tau = interval;
        }
    }
    if (u > 0)
    {
        tau = std::min(tau, m_baseRtt);
        m_utilisation = (1 - tau / m_baseRtt) * m_utilisation + tau / m_baseRtt * u;
    }
}

double
Hpcc::ComputeWindow(bool update)
{
    double window = 0;
    if (m_utilisation >= m_parameters.eta || m_stage >= m_parameters.maxStage)
    {
        window = m_reference / (m_utilisation / m_parameters.eta) + m_additive;
        m_stage = update ? 0 : m_stage;
    }
    else
    {
        window = m_reference + m_additive;
        m_stage += update ? 1 : 0;
    }
    window = std::min(std::max(window, m_minimum), m_initial);
    if (update)
    {
        m_reference = window;
    }
    return window;
}

void
Hpcc::OnAcknowledgement(const CongestionFeedback& feedback)
{
    if (feedback.nHops == 0)
    {
        return; // all links of the path are in hosts
    }
    const uint32_t nHops = std::min(feedback.nHops, MAX_HOPS);
    bool samePath = nHops == m_nHops;
    for (uint32_t i = 0; samePath && i < nHops; ++i)
    {
        samePath = feedback.hops[i].port == m_hops[i].port;
    }
    if (samePath)
    {
        Measure(feedback);
        const bool update = feedback.unackedPosition > m_lastUpdate;
        const double window = ComputeWindow(update);
        if (update)
        {
            m_lastUpdate = feedback.nextPosition;
        }
        m_windowBytes = static_cast<uint64_t>(std::llround(window));
        m_bytesPerSecond = window / m_baseRtt;
    }
    m_nHops = nHops;
    std::copy(feedback.hops, feedback.hops + nHops, m_hops.begin());
}

} // namespace proteus
} // namespace ns3
