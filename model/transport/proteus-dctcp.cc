/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-dctcp.h"

#include <limits>

namespace ns3
{
namespace proteus
{

Dctcp::Dctcp(const DctcpParameters& parameters, const CongestionPath& path)
    : m_parameters(parameters),
      m_packet(path.packetBytes),
      m_window(parameters.initialWindow > 0 ? parameters.initialWindow * path.packetBytes
                                            : path.GetBandwidthDelayProduct()),
      m_threshold(std::numeric_limits<double>::infinity()),
      m_alpha(parameters.initialAlpha)
{
    SetWindow(m_window);
}

void
Dctcp::SetWindow(double window)
{
    m_window = std::max(window, m_packet);
    m_windowBytes = static_cast<uint64_t>(m_window);
}

void
Dctcp::OnAcknowledgement(const CongestionFeedback& feedback)
{
    m_acked += feedback.ackedPackets;
    m_marked += feedback.markedPackets;
    if (feedback.markedPackets > 0 && feedback.unackedPosition > m_reducedUntil)
    {
        // The cut uses the alpha of the windows before this one (RFC 8257, section 3.3).
        SetWindow(m_window * (1 - m_alpha / 2));
        m_threshold = m_window;
        m_reducedUntil = feedback.nextPosition;
    }
    else if (m_window < m_threshold)
    {
        SetWindow(m_window + static_cast<double>(feedback.ackedBytes));
    }
    else
    {
        SetWindow(m_window + m_packet * static_cast<double>(feedback.ackedBytes) / m_window);
    }
    if (feedback.unackedPosition > m_windowEnd)
    {
        if (m_acked > 0)
        {
            const double share =
                std::min(1.0, static_cast<double>(m_marked) / static_cast<double>(m_acked));
            m_alpha = (1 - m_parameters.g) * m_alpha + m_parameters.g * share;
        }
        m_acked = 0;
        m_marked = 0;
        m_windowEnd = feedback.nextPosition;
    }
}

void
Dctcp::OnLoss(int64_t /* timePs */, uint64_t inFlightBytes)
{
    m_threshold = std::max(static_cast<double>(inFlightBytes) / 2, 2 * m_packet);
    SetWindow(m_threshold);
}

void
Dctcp::OnTimeout(int64_t /* timePs */, uint64_t inFlightBytes)
{
    m_threshold = std::max(static_cast<double>(inFlightBytes) / 2, 2 * m_packet);
    SetWindow(m_packet);
}

} // namespace proteus
} // namespace ns3
