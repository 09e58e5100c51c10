/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-swift.h"

#include "proteus-congestion-type.h"

#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/uinteger.h"

#include <cmath>

namespace ns3
{
namespace proteus
{

Swift::Swift(const SwiftParameters& parameters, const CongestionPath& path)
    : m_parameters(parameters),
      m_path(path),
      m_baseTarget(parameters.baseTargetPs > 0
                       ? static_cast<double>(parameters.baseTargetPs)
                       : 1.25 * static_cast<double>(path.GetMeasuredRttPs())),
      m_flowScaling(parameters.flowScalingRangePs >= 0
                        ? static_cast<double>(parameters.flowScalingRangePs)
                        : m_baseTarget),
      m_maximum(std::max(1.0,
                         path.bytesPerSecond *
                             (m_baseTarget + path.hops * static_cast<double>(parameters.perHopPs)) *
                             1e-12 / path.packetBytes)),
      m_window(std::max(1.0, path.GetBandwidthDelayProduct() / path.packetBytes)),
      m_rtt(static_cast<double>(path.GetMeasuredRttPs()))
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

/// @ingroup proteus
/// Makes Swift; its attributes are the parameters.
class SwiftType : public CongestionType
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();
    // Inherited from CongestionType
    std::unique_ptr<CongestionControl> Create(const CongestionPath& path) const override;
    CongestionNeeds GetNeeds() const override;

  private:
    double m_additiveIncrease;   //!< attribute
    double m_beta;               //!< attribute
    double m_maximumDecrease;    //!< attribute
    Time m_baseTarget;           //!< attribute
    Time m_perHop;               //!< attribute
    double m_flowScalingMinimum; //!< attribute
    double m_flowScalingMaximum; //!< attribute
    Time m_flowScalingRange;     //!< attribute
    double m_minimumWindow;      //!< attribute
    uint32_t m_retransmitReset;  //!< attribute
};

NS_OBJECT_ENSURE_REGISTERED(SwiftType);
PROTEUS_REGISTER_CONGESTION_CONTROL("swift", SwiftType);

TypeId
SwiftType::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::SwiftType")
            .SetParent<CongestionType>()
            .SetGroupName("Proteus")
            .AddConstructor<SwiftType>()
            .AddAttribute("AdditiveIncrease",
                          "Packets that the window grows by in a round trip.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&SwiftType::m_additiveIncrease),
                          MakeDoubleChecker<double>(0, 1000000.0))
            .AddAttribute("Beta",
                          "Multiplicative decrease.",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&SwiftType::m_beta),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("MaximumDecrease",
                          "Most that the window shrinks by at once.",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&SwiftType::m_maximumDecrease),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("BaseTarget",
                          "Base target delay; 0: 1.25 times the round trip of the path "
                          "without queues.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&SwiftType::m_baseTarget),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute("PerHop",
                          "Added to the target delay for every link of the path. The round "
                          "trip of the path, from which the default of BaseTarget comes, has "
                          "its hops in it already.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&SwiftType::m_perHop),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute("FlowScalingMinimum",
                          "Window in packets below which the target delay stops to grow.",
                          DoubleValue(0.1),
                          MakeDoubleAccessor(&SwiftType::m_flowScalingMinimum),
                          MakeDoubleChecker<double>(1e-06, 1000000.0))
            .AddAttribute("FlowScalingMaximum",
                          "Window in packets above which the target delay is not scaled.",
                          DoubleValue(100),
                          MakeDoubleAccessor(&SwiftType::m_flowScalingMaximum),
                          MakeDoubleChecker<double>(1e-06, 1000000.0))
            .AddAttribute("FlowScalingRange",
                          "Most that flow scaling adds to the target delay; 0: no scaling; "
                          "below 0: the base target delay.",
                          TimeValue(NanoSeconds(-1)),
                          MakeTimeAccessor(&SwiftType::m_flowScalingRange),
                          MakeTimeChecker(NanoSeconds(-1)))
            .AddAttribute("MinimumWindow",
                          "Smallest window in packets.",
                          DoubleValue(0.01),
                          MakeDoubleAccessor(&SwiftType::m_minimumWindow),
                          MakeDoubleChecker<double>(1e-09, 1))
            .AddAttribute("RetransmitReset",
                          "Timeouts in a row after which the window is the smallest.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&SwiftType::m_retransmitReset),
                          MakeUintegerChecker<uint32_t>(1));
    return tid;
}

std::unique_ptr<CongestionControl>
SwiftType::Create(const CongestionPath& path) const
{
    SwiftParameters parameters;
    parameters.additiveIncrease = m_additiveIncrease;
    parameters.beta = m_beta;
    parameters.maxDecrease = m_maximumDecrease;
    parameters.baseTargetPs = m_baseTarget.GetPicoSeconds();
    parameters.perHopPs = m_perHop.GetPicoSeconds();
    parameters.flowScalingMin = m_flowScalingMinimum;
    parameters.flowScalingMax = m_flowScalingMaximum;
    parameters.flowScalingRangePs = m_flowScalingRange.GetPicoSeconds();
    parameters.minimumWindow = m_minimumWindow;
    parameters.retransmitReset = m_retransmitReset;
    return std::make_unique<Swift>(parameters, path);
}

CongestionNeeds
SwiftType::GetNeeds() const
{
    CongestionNeeds needs;
    needs.sendTimes = true;
    needs.ackEveryPackets = 1;
    return needs;
}

} // namespace proteus
} // namespace ns3
