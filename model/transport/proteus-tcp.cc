/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-tcp.h"

#include <cmath>
#include <limits>

namespace ns3
{
namespace proteus
{

Tcp::Tcp(const TcpParameters& parameters, const CongestionPath& path)
    : m_parameters(parameters),
      m_packet(path.packetBytes),
      m_window(parameters.initialWindow * path.packetBytes),
      m_threshold(std::numeric_limits<double>::infinity())
{
    m_retransmissionTimeoutPs = parameters.initialTimeoutPs;
    SetWindow(m_window);
}

void
Tcp::SetWindow(double window)
{
    m_window = std::max(window, m_packet);
    if (m_parameters.maximumWindow > 0)
    {
        m_window =
            std::min(m_window, std::max(m_packet, static_cast<double>(m_parameters.maximumWindow)));
    }
    m_windowBytes = static_cast<uint64_t>(m_window);
}

void
Tcp::UpdateTimeout(int64_t rttPs)
{
    const auto rtt = static_cast<double>(rttPs);
    if (m_smoothedRtt < 0)
    {
        m_smoothedRtt = rtt;
        m_rttVariation = rtt / 2;
    }
    else
    {
        m_rttVariation = 0.75 * m_rttVariation + 0.25 * std::abs(m_smoothedRtt - rtt);
        m_smoothedRtt = 0.875 * m_smoothedRtt + 0.125 * rtt;
    }
    m_retransmissionTimeoutPs = std::max(m_parameters.minimumTimeoutPs,
                                         static_cast<int64_t>(m_smoothedRtt + 4 * m_rttVariation));
}

void
Tcp::OnAcknowledgement(const CongestionFeedback& feedback)
{
    if (feedback.rttPs >= 0)
    {
        UpdateTimeout(feedback.rttPs);
    }
    const auto acked = static_cast<double>(feedback.ackedBytes);
    if (m_window < m_threshold)
    {
        SetWindow(m_window + acked); // slow start, with byte counting (RFC 3465, L = all of it)
    }
    else
    {
        AvoidCongestion(feedback.timePs, acked);
    }
}

void
Tcp::AvoidCongestion(int64_t timePs, double ackedBytes)
{
    if (!m_parameters.cubic)
    {
        SetWindow(m_window + m_packet * ackedBytes / m_window);
        return;
    }
    const double window = m_window / m_packet;
    if (m_epochPs < 0)
    {
        m_epochPs = timePs;
        m_renoWindow = window;
        m_windowMax = std::max(m_windowMax, window);
        m_plateau = std::cbrt((m_windowMax - window) / m_parameters.cubicC);
    }
    const double rtt = std::max(0.0, m_smoothedRtt) * 1e-12;
    const double t = static_cast<double>(timePs - m_epochPs) * 1e-12 + rtt;
    const double cubic =
        m_parameters.cubicC * std::pow(t - m_plateau, 3) + m_windowMax; // section 4.2
    const double segments = ackedBytes / m_packet;
    const double beta = m_parameters.cubicBeta;
    // Section 4.3: as fast as Reno at least.
    const double alpha = m_renoWindow >= m_windowMax ? 1 : 3 * (1 - beta) / (1 + beta);
    m_renoWindow += alpha * segments / window;
    const double target = std::min(std::max(cubic, window), 1.5 * window);
    SetWindow(m_packet * std::max(m_renoWindow, window + (target - window) * segments / window));
}

void
Tcp::OnLoss(int64_t /* timePs */, uint64_t inFlightBytes)
{
    const auto flight = static_cast<double>(inFlightBytes);
    m_epochPs = -1;
    if (m_parameters.cubic)
    {
        const double window = m_window / m_packet;
        // Section 4.7, fast convergence: leave room to flows that have just come.
        m_windowMax = window < m_windowMax ? window * (1 + m_parameters.cubicBeta) / 2 : window;
        m_threshold = std::max(flight * m_parameters.cubicBeta, 2 * m_packet);
    }
    else
    {
        m_threshold = std::max(flight / 2, 2 * m_packet);
    }
    SetWindow(m_threshold);
}

void
Tcp::OnTimeout(int64_t timePs, uint64_t inFlightBytes)
{
    OnLoss(timePs, inFlightBytes);
    SetWindow(m_packet);
}

} // namespace proteus
} // namespace ns3
