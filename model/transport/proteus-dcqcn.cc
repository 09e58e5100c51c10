/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-dcqcn.h"

namespace ns3
{
namespace proteus
{

Dcqcn::Dcqcn(const DcqcnParameters& parameters, const CongestionPath& path)
    : m_parameters(parameters),
      m_line(path.bytesPerSecond),
      m_target(path.bytesPerSecond),
      m_current(path.bytesPerSecond)
{
    if (m_parameters.referenceBytesPerSecond > 0)
    {
        const double scale = m_line / m_parameters.referenceBytesPerSecond;
        m_parameters.additiveBytesPerSecond *= scale;
        m_parameters.hyperBytesPerSecond *= scale;
    }
    m_parameters.minimumBytesPerSecond = std::min(m_parameters.minimumBytesPerSecond, m_line);
    m_bytesPerSecond = m_current;
}

void
Dcqcn::OnAcknowledgement(const CongestionFeedback& /* feedback */)
{
}

void
Dcqcn::OnNotification(int64_t timePs)
{
    if (m_parameters.clampTarget || m_timerSteps + m_byteSteps > 0 || m_increaseAtPs == NEVER)
    {
        m_target = m_current;
    }
    m_current = std::max(m_current * (1 - m_alpha / 2), m_parameters.minimumBytesPerSecond);
    m_alpha = (1 - m_parameters.g) * m_alpha + m_parameters.g;
    m_timerSteps = 0;
    m_byteSteps = 0;
    m_alphaAtPs = timePs + m_parameters.alphaTimerPs;
    m_increaseAtPs = timePs + m_parameters.increaseTimerPs;
    m_byteMark = m_parameters.byteCounter;
    ++m_byteEpoch;
    SetTimer();
}

void
Dcqcn::OnTimer(int64_t timePs)
{
    while (m_timerPs <= timePs)
    {
        if (m_alphaAtPs <= m_increaseAtPs)
        {
            m_alpha *= 1 - m_parameters.g;
            m_alphaAtPs += m_parameters.alphaTimerPs;
        }
        else
        {
            ++m_timerSteps;
            m_increaseAtPs += m_parameters.increaseTimerPs;
            Increase();
        }
        SetTimer();
    }
}

void
Dcqcn::OnBytesSent(int64_t timePs)
{
    OnTimer(timePs);
    if (m_increaseAtPs != NEVER)
    {
        ++m_byteSteps;
        Increase();
        SetTimer();
    }
}

void
Dcqcn::Increase()
{
    const uint32_t steps = m_parameters.fastRecoverySteps;
    if (std::max(m_timerSteps, m_byteSteps) >= steps)
    {
        const uint32_t both = std::min(m_timerSteps, m_byteSteps);
        m_target += both > steps ? (both - steps) * m_parameters.hyperBytesPerSecond
                                 : m_parameters.additiveBytesPerSecond;
        m_target = std::min(m_target, m_line);
    }
    m_current = (m_target + m_current) / 2;
    // Halving the distance for ever would never reach the line rate.
    if (m_current > m_line * (1 - 1e-6))
    {
        m_current = m_line;
        m_target = m_line;
        m_increaseAtPs = NEVER;
        m_byteMark = UNLIMITED;
    }
}

void
Dcqcn::SetTimer()
{
    // Below this, a cut by alpha / 2 is not a cut any more.
    if (m_alpha < 1e-9)
    {
        m_alphaAtPs = NEVER;
    }
    m_bytesPerSecond = m_current;
    m_timerPs = std::min(m_alphaAtPs, m_increaseAtPs);
}

} // namespace proteus
} // namespace ns3
