/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-timely.h"

namespace ns3
{
namespace proteus
{

Timely::Timely(const TimelyParameters& parameters, const CongestionPath& path)
    : m_parameters(parameters),
      m_line(path.bytesPerSecond),
      m_minimumRtt(static_cast<double>(parameters.minimumRttPs > 0 ? parameters.minimumRttPs
                                                                   : path.baseRttPs))
{
    if (m_parameters.referenceBytesPerSecond > 0)
    {
        m_parameters.additiveBytesPerSecond *= m_line / m_parameters.referenceBytesPerSecond;
    }
    m_parameters.minimumBytesPerSecond = std::min(m_parameters.minimumBytesPerSecond, m_line);
    m_bytesPerSecond = m_line;
}

void
Timely::OnAcknowledgement(const CongestionFeedback& feedback)
{
    m_segment += feedback.ackedBytes;
    if (feedback.rttPs >= 0 && m_segment >= m_parameters.segmentBytes)
    {
        m_segment = 0;
        Update(static_cast<double>(feedback.rttPs));
    }
}

void
Timely::Update(double rtt)
{
    if (m_previousRtt < 0)
    {
        m_previousRtt = rtt; // no gradient yet
    }
    const double difference = rtt - m_previousRtt;
    m_previousRtt = rtt;
    m_difference = (1 - m_parameters.ewma) * m_difference + m_parameters.ewma * difference;
    const double gradient = GetGradient();
    const auto low = static_cast<double>(m_parameters.lowPs);
    const auto high = static_cast<double>(m_parameters.highPs);
    double rate = m_bytesPerSecond;
    if (rtt < low)
    {
        rate += m_parameters.additiveBytesPerSecond;
        m_completions = 0;
    }
    else if (rtt > high)
    {
        rate *= 1 - m_parameters.beta * (1 - high / rtt);
        m_completions = 0;
    }
    else if (gradient <= 0)
    {
        ++m_completions;
        const uint32_t steps =
            m_completions >= m_parameters.hyperSteps ? m_parameters.hyperSteps : 1;
        rate += steps * m_parameters.additiveBytesPerSecond;
    }
    else
    {
        // The paper sets no bound, and a steep gradient would make the rate negative: as much at
        // most as above T_high.
        rate *= 1 - m_parameters.beta * std::min(1.0, gradient);
        m_completions = 0;
    }
    m_bytesPerSecond = std::min(std::max(rate, m_parameters.minimumBytesPerSecond), m_line);
}

} // namespace proteus
} // namespace ns3
