/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-tcp.h"

#include "proteus-congestion-type.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/uinteger.h"

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

/// @ingroup proteus
/// Makes Tcp; its attributes are the parameters.
class TcpType : public CongestionType
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();
    // Inherited from CongestionType
    std::unique_ptr<CongestionControl> Create(const CongestionPath& path) const override;
    CongestionNeeds GetNeeds() const override;

  private:
    bool m_cubic;             //!< attribute
    double m_initialWindow;   //!< attribute
    double m_cubicC;          //!< attribute
    double m_cubicBeta;       //!< attribute
    Time m_minimumTimeout;    //!< attribute
    Time m_initialTimeout;    //!< attribute
    uint64_t m_maximumWindow; //!< attribute
    Time m_ackDelay;          //!< attribute
};

NS_OBJECT_ENSURE_REGISTERED(TcpType);
PROTEUS_REGISTER_CONGESTION_CONTROL("tcp", TcpType);

TypeId
TcpType::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::TcpType")
            .SetParent<CongestionType>()
            .SetGroupName("Proteus")
            .AddConstructor<TcpType>()
            .AddAttribute("Cubic",
                          "CUBIC (RFC 9438); false: NewReno (RFC 5681, RFC 6582).",
                          BooleanValue(true),
                          MakeBooleanAccessor(&TcpType::m_cubic),
                          MakeBooleanChecker())
            .AddAttribute("InitialWindow",
                          "Window at first, in packets; RFC 6928.",
                          DoubleValue(10),
                          MakeDoubleAccessor(&TcpType::m_initialWindow),
                          MakeDoubleChecker<double>(1, 1000000.0))
            .AddAttribute("CubicC",
                          "C of CUBIC.",
                          DoubleValue(0.4),
                          MakeDoubleAccessor(&TcpType::m_cubicC),
                          MakeDoubleChecker<double>(1e-06, 1000.0))
            .AddAttribute("CubicBeta",
                          "Multiplicative decrease of CUBIC.",
                          DoubleValue(0.7),
                          MakeDoubleAccessor(&TcpType::m_cubicBeta),
                          MakeDoubleChecker<double>(0.01, 0.99))
            .AddAttribute("MinimumTimeout",
                          "Least retransmission timeout; 200 ms in Linux, 1 s in RFC 6298.",
                          TimeValue(MilliSeconds(200)),
                          MakeTimeAccessor(&TcpType::m_minimumTimeout),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddAttribute("InitialTimeout",
                          "Retransmission timeout before the first round trip is known; RFC "
                          "6298.",
                          TimeValue(Seconds(1)),
                          MakeTimeAccessor(&TcpType::m_initialTimeout),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddAttribute("MaximumWindow",
                          "Most bytes in flight, the socket buffer; 0: no limit.",
                          UintegerValue(6291456),
                          MakeUintegerAccessor(&TcpType::m_maximumWindow),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("AckDelay",
                          "Every second packet is acknowledged, and a single one after this "
                          "time; 40 ms in Linux.",
                          TimeValue(MilliSeconds(40)),
                          MakeTimeAccessor(&TcpType::m_ackDelay),
                          MakeTimeChecker(PicoSeconds(1)));
    return tid;
}

std::unique_ptr<CongestionControl>
TcpType::Create(const CongestionPath& path) const
{
    TcpParameters parameters;
    parameters.cubic = m_cubic;
    parameters.initialWindow = m_initialWindow;
    parameters.cubicC = m_cubicC;
    parameters.cubicBeta = m_cubicBeta;
    parameters.minimumTimeoutPs = m_minimumTimeout.GetPicoSeconds();
    parameters.initialTimeoutPs = m_initialTimeout.GetPicoSeconds();
    parameters.maximumWindow = m_maximumWindow;
    return std::make_unique<Tcp>(parameters, path);
}

CongestionNeeds
TcpType::GetNeeds() const
{
    CongestionNeeds needs;
    needs.sendTimes = true;
    needs.ackEveryPackets = 2;
    needs.ackDelayPs = m_ackDelay.GetPicoSeconds();
    needs.selectiveRepeat = true;
    needs.reorderingDistance = 3;
    return needs;
}

} // namespace proteus
} // namespace ns3
