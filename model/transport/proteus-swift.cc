/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-swift.h"

#include <cmath>

namespace ns3
{
namespace proteus
{

Swift::Swift(const SwiftParameters& parameters, const CongestionPath& path)
    : m_parameters(parameters),
      m_path(path),
      m_baseTarget(parameters.baseTargetPs > 0 ? static_cast<double>(parameters.baseTargetPs)
                                               : 1.25 * static_cast<double>(path.baseRttPs)),
      m_flowScaling(parameters.flowScalingRangePs >= 0
                        ? static_cast<double>(parameters.flowScalingRangePs)
                        : m_baseTarget),
      m_maximum(std::max(1.0,
                         path.bytesPerSecond *
                             (m_baseTarget + path.hops * static_cast<double>(parameters.perHopPs)) *
                             1e-12 / path.packetBytes)),
      m_window(std::max(1.0, path.GetBandwidthDelayProduct() / path.packetBytes)),
      m_rtt(static_cast<double>(path.baseRttPs))
{
    m_window = std::min(m_window, m_maximum);
    Apply();
}

double
Swift::GetTargetDelay() const
{
    // Section 3.5: alpha / sqrt(cwnd) + beta is fs_range at fs_min_cwnd and 0 at fs_max_cwnd.
    const double atMin = 1 / std::sqrt(m_parameters.flowScalingMin);
    const double atMax = 1 / std::sqrt(m_parameters.flowScalingMax);
    const double alpha = m_flowScaling / (atMin - atMax);
    const double scaling = alpha / std::sqrt(m_window) - alpha * atMax;
    return m_baseTarget + m_path.hops * static_cast<double>(m_parameters.perHopPs) +
           std::max(0.0, std::min(scaling, m_flowScaling));
}

void
Swift::Decrease(int64_t timePs, double factor)
{
    if (static_cast<double>(timePs - m_lastDecreasePs) >= m_rtt)
    {
        m_window *= factor;
        m_lastDecreasePs = timePs;
    }
}

void
Swift::OnAcknowledgement(const CongestionFeedback& feedback)
{
    if (feedback.rttPs < 0)
    {
        return;
    }
    m_retransmissions = 0;
    m_rtt = static_cast<double>(feedback.rttPs);
    const double target = GetTargetDelay();
    const double acked = feedback.ackedPackets;
    if (m_rtt < target)
    {
        m_window += m_parameters.additiveIncrease * acked / std::max(1.0, m_window);
    }
    else
    {
        Decrease(feedback.timePs,
                 std::max(1 - m_parameters.beta * (m_rtt - target) / m_rtt,
                          1 - m_parameters.maxDecrease));
    }
    Apply();
}

void
Swift::OnLoss(int64_t timePs, uint64_t /* inFlightBytes */)
{
    m_retransmissions = 0;
    Decrease(timePs, 1 - m_parameters.maxDecrease);
    Apply();
}

void
Swift::OnTimeout(int64_t timePs, uint64_t /* inFlightBytes */)
{
    if (++m_retransmissions >= m_parameters.retransmitReset)
    {
        m_window = m_parameters.minimumWindow;
        m_lastDecreasePs = timePs;
    }
    else
    {
        Decrease(timePs, 1 - m_parameters.maxDecrease);
    }
    Apply();
}

void
Swift::Apply()
{
    m_window = std::min(std::max(m_window, m_parameters.minimumWindow), m_maximum);
    m_windowBytes =
        std::max<uint64_t>(1, static_cast<uint64_t>(std::floor(m_window * m_path.packetBytes)));
    // pacing_delay = rtt / cwnd between packets, for windows below one packet only.
    m_bytesPerSecond = m_window < 1 ? m_path.wireBytes * m_window / (m_rtt * 1e-12)
                                    : std::numeric_limits<double>::infinity();
}

} // namespace proteus
} // namespace ns3
