/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-timely.h"

#include "proteus-congestion-type.h"

#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace proteus
{

Timely::Timely(const TimelyParameters& parameters, const CongestionPath& path)
    : m_parameters(parameters),
      m_line(path.bytesPerSecond),
      m_minimumRtt(static_cast<double>(parameters.minimumRttPs > 0 ? parameters.minimumRttPs
                                                                   : path.GetMeasuredRttPs()))
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

/// @ingroup proteus
/// Makes Timely; its attributes are the parameters.
class TimelyType : public CongestionType
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();
    // Inherited from CongestionType
    std::unique_ptr<CongestionControl> Create(const CongestionPath& path) const override;
    CongestionNeeds GetNeeds() const override;

  private:
    double m_alpha;              //!< attribute
    double m_beta;               //!< attribute
    DataRate m_additiveIncrease; //!< attribute
    DataRate m_referenceRate;    //!< attribute
    Time m_lowRtt;               //!< attribute
    Time m_highRtt;              //!< attribute
    Time m_minimumRtt;           //!< attribute
    uint32_t m_hyperSteps;       //!< attribute
    uint64_t m_segmentBytes;     //!< attribute
    DataRate m_minimumRate;      //!< attribute
};

NS_OBJECT_ENSURE_REGISTERED(TimelyType);
PROTEUS_REGISTER_CONGESTION_CONTROL("timely", TimelyType);

TypeId
TimelyType::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::TimelyType")
            .SetParent<CongestionType>()
            .SetGroupName("Proteus")
            .AddConstructor<TimelyType>()
            .AddAttribute("Alpha",
                          "Weight of a new round-trip difference; 0.875 in the paper.",
                          DoubleValue(0.875),
                          MakeDoubleAccessor(&TimelyType::m_alpha),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("Beta",
                          "Multiplicative decrease; 0.8 in the paper.",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&TimelyType::m_beta),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("AdditiveIncrease",
                          "Rate added in a step, per ReferenceRate of the line; 10 Mb/s in "
                          "the paper.",
                          DataRateValue(DataRate(10000000)),
                          MakeDataRateAccessor(&TimelyType::m_additiveIncrease),
                          MakeDataRateChecker())
            .AddAttribute("ReferenceRate",
                          "Line rate that AdditiveIncrease is for; it grows with the line "
                          "rate. 0: it is used as it is.",
                          DataRateValue(DataRate(10000000000ULL)),
                          MakeDataRateAccessor(&TimelyType::m_referenceRate),
                          MakeDataRateChecker())
            .AddAttribute("LowRtt",
                          "Below this round trip the rate always grows; 50 us in the paper.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&TimelyType::m_lowRtt),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddAttribute("HighRtt",
                          "Above this round trip the rate always shrinks; 500 us in the "
                          "paper.",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&TimelyType::m_highRtt),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddAttribute("MinimumRtt",
                          "Round trip that gradients are divided by; 0: that of the path "
                          "without queues.",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&TimelyType::m_minimumRtt),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute("HyperSteps",
                          "Completions without a rising round trip after which so many steps "
                          "are added at a time; 5 in the paper.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&TimelyType::m_hyperSteps),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("SegmentBytes",
                          "Bytes of a completion, for which the rate is updated once; 16 to "
                          "64 KB in the paper.",
                          UintegerValue(16384),
                          MakeUintegerAccessor(&TimelyType::m_segmentBytes),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("MinimumRate",
                          "No rate falls below this.",
                          DataRateValue(DataRate(100000000)),
                          MakeDataRateAccessor(&TimelyType::m_minimumRate),
                          MakeDataRateChecker());
    return tid;
}

std::unique_ptr<CongestionControl>
TimelyType::Create(const CongestionPath& path) const
{
    TimelyParameters parameters;
    parameters.ewma = m_alpha;
    parameters.beta = m_beta;
    parameters.additiveBytesPerSecond = static_cast<double>(m_additiveIncrease.GetBitRate()) / 8;
    parameters.referenceBytesPerSecond = static_cast<double>(m_referenceRate.GetBitRate()) / 8;
    parameters.lowPs = m_lowRtt.GetPicoSeconds();
    parameters.highPs = m_highRtt.GetPicoSeconds();
    parameters.minimumRttPs = m_minimumRtt.GetPicoSeconds();
    parameters.hyperSteps = m_hyperSteps;
    parameters.segmentBytes = m_segmentBytes;
    parameters.minimumBytesPerSecond = static_cast<double>(m_minimumRate.GetBitRate()) / 8;
    return std::make_unique<Timely>(parameters, path);
}

CongestionNeeds
TimelyType::GetNeeds() const
{
    CongestionNeeds needs;
    needs.sendTimes = true;
    needs.ackEveryPackets = 1;
    return needs;
}

} // namespace proteus
} // namespace ns3
