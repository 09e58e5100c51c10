/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-dctcp.h"

#include "proteus-congestion-type.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

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

/// @ingroup proteus
/// Makes Dctcp; its attributes are the parameters.
class DctcpType : public CongestionType
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();
    // Inherited from CongestionType
    std::unique_ptr<CongestionControl> Create(const CongestionPath& path) const override;
    CongestionNeeds GetNeeds() const override;

  private:
    double m_g;                 //!< attribute
    double m_initialWindow;     //!< attribute
    double m_initialAlpha;      //!< attribute
    uint32_t m_ackEveryPackets; //!< attribute
};

NS_OBJECT_ENSURE_REGISTERED(DctcpType);
PROTEUS_REGISTER_CONGESTION_CONTROL("dctcp", DctcpType);

TypeId
DctcpType::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::DctcpType")
            .SetParent<CongestionType>()
            .SetGroupName("Proteus")
            .AddConstructor<DctcpType>()
            .AddAttribute("G",
                          "Weight of a new sample in alpha; 1/16 in the paper.",
                          DoubleValue(1.0 / 16),
                          MakeDoubleAccessor(&DctcpType::m_g),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("InitialWindow",
                          "Window at first, in packets; 0: the bandwidth-delay product of "
                          "the path, as RDMA senders begin at line rate.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&DctcpType::m_initialWindow),
                          MakeDoubleChecker<double>(0, 1000000000.0))
            .AddAttribute("InitialAlpha",
                          "Alpha at first; RFC 8257, section 3.3.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&DctcpType::m_initialAlpha),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("AckEveryPackets",
                          "Packets per acknowledgement. An acknowledgement carries the "
                          "number of marked packets, so that none is lost by coalescing.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&DctcpType::m_ackEveryPackets),
                          MakeUintegerChecker<uint32_t>(1));
    return tid;
}

std::unique_ptr<CongestionControl>
DctcpType::Create(const CongestionPath& path) const
{
    DctcpParameters parameters;
    parameters.g = m_g;
    parameters.initialWindow = m_initialWindow;
    parameters.initialAlpha = m_initialAlpha;
    return std::make_unique<Dctcp>(parameters, path);
}

CongestionNeeds
DctcpType::GetNeeds() const
{
    CongestionNeeds needs;
    needs.ackEveryPackets = m_ackEveryPackets;
    return needs;
}

} // namespace proteus
} // namespace ns3
