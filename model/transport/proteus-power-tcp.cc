/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-power-tcp.h"

#include "proteus-congestion-type.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/nstime.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace proteus
{

PowerTcp::PowerTcp(const PowerTcpParameters& parameters, const CongestionPath& path)
    : m_parameters(parameters),
      m_wirePerPayload(static_cast<double>(path.wireBytes) / path.packetBytes),
      m_baseRtt(
          static_cast<double>(parameters.baseRttPs > 0 ? parameters.baseRttPs : path.baseRttPs) *
          1e-12),
      m_measuredRtt(parameters.baseRttPs > 0
                        ? m_baseRtt
                        : static_cast<double>(path.GetMeasuredRttPs()) * 1e-12),
      m_initial(path.bytesPerSecond * m_baseRtt / m_wirePerPayload),
      m_additive(m_initial / parameters.flows),
      m_minimum(std::min(parameters.minimumBytesPerSecond, path.bytesPerSecond) * m_baseRtt /
                m_wirePerPayload),
      m_window(m_initial),
      m_oldWindow(m_initial)
{
    Apply();
}

void
PowerTcp::Smooth(double power, double seconds)
{
    const double share = std::min(1.0, seconds / m_baseRtt);
    m_power = m_power * (1 - share) + power * share;
}

bool
PowerTcp::MeasureTelemetry(const CongestionFeedback& feedback)
{
    const uint32_t nHops = std::min(feedback.nHops, MAX_HOPS);
    bool samePath = nHops == m_nHops && nHops > 0;
    for (uint32_t i = 0; samePath && i < nHops; ++i)
    {
        samePath = feedback.hops[i].port == m_hops[i].port;
    }
    double power = 0;
    double interval = 0;
    for (uint32_t i = 0; samePath && i < nHops; ++i)
    {
        const HopTelemetry& now = feedback.hops[i];
        const HopTelemetry& before = m_hops[i];
        const double seconds = static_cast<double>(now.timePs - before.timePs) * 1e-12;
        if (seconds <= 0)
        {
            continue; // two packets of one train: no rate can be told
        }
        const auto queue = static_cast<double>(now.queueBytes);
        const double growth = queue - static_cast<double>(before.queueBytes);
        const auto sent = static_cast<double>(now.sentBytes - before.sentBytes);
        const double product = now.bytesPerSecond * m_baseRtt;
        const double current = (growth + sent) / seconds;
        const double voltage = queue + product;
        const double hop = current * voltage / (now.bytesPerSecond * product);
        if (hop > power)
        {
            power = hop;
            interval = seconds;
        }
    }
    m_nHops = nHops;
    std::copy(feedback.hops, feedback.hops + nHops, m_hops.begin());
    if (power > 0)
    {
        Smooth(power, interval);
    }
    return power > 0;
}

bool
PowerTcp::MeasureDelay(const CongestionFeedback& feedback)
{
    if (feedback.rttPs < 0)
    {
        return false;
    }
    const bool isFirst = m_lastRttPs < 0;
    const auto elapsed = static_cast<double>(feedback.timePs - m_lastPs);
    if (!isFirst && elapsed <= 0)
    {
        return false; // two acknowledgements at once: no gradient
    }
    if (!isFirst)
    {
        const double gradient = static_cast<double>(feedback.rttPs - m_lastRttPs) / elapsed;
        const double delay = static_cast<double>(feedback.rttPs) * 1e-12 / m_measuredRtt;
        Smooth((gradient + 1) * delay, elapsed * 1e-12);
    }
    m_lastRttPs = feedback.rttPs;
    m_lastPs = feedback.timePs;
    return !isFirst;
}

void
PowerTcp::OnAcknowledgement(const CongestionFeedback& feedback)
{
    const bool measured =
        m_parameters.telemetry ? MeasureTelemetry(feedback) : MeasureDelay(feedback);
    if (!measured)
    {
        return;
    }
    const bool isNewRound = feedback.unackedPosition > m_roundEnd;
    if (m_parameters.telemetry || isNewRound)
    {
        const double update = m_oldWindow / m_power + m_additive;
        m_window = m_parameters.gamma * update + (1 - m_parameters.gamma) * m_window;
        m_window = std::min(std::max(m_window, m_minimum), m_initial);
        Apply();
    }
    if (isNewRound)
    {
        m_oldWindow = m_window;
        m_roundEnd = feedback.nextPosition;
    }
}

void
PowerTcp::Apply()
{
    m_windowBytes = std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(m_window)));
    m_bytesPerSecond = m_window * m_wirePerPayload / m_baseRtt;
}

/// @ingroup proteus
/// Makes PowerTcp; its attributes are the parameters.
class PowerTcpType : public CongestionType
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();
    // Inherited from CongestionType
    std::unique_ptr<CongestionControl> Create(const CongestionPath& path) const override;
    CongestionNeeds GetNeeds() const override;

  private:
    bool m_telemetry;       //!< attribute
    double m_gamma;         //!< attribute
    double m_flows;         //!< attribute
    Time m_baseRtt;         //!< attribute
    DataRate m_minimumRate; //!< attribute
};

NS_OBJECT_ENSURE_REGISTERED(PowerTcpType);
PROTEUS_REGISTER_CONGESTION_CONTROL("powertcp", PowerTcpType);

TypeId
PowerTcpType::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::PowerTcpType")
            .SetParent<CongestionType>()
            .SetGroupName("Proteus")
            .AddConstructor<PowerTcpType>()
            .AddAttribute("Telemetry",
                          "Whether switches tell queue and rate (PowerTCP, algorithm 1); false: "
                          "round-trip times do (theta-PowerTCP, algorithm 2).",
                          BooleanValue(true),
                          MakeBooleanAccessor(&PowerTcpType::m_telemetry),
                          MakeBooleanChecker())
            .AddAttribute("Gamma",
                          "Weight of a new window; 0.9 in the paper.",
                          DoubleValue(0.9),
                          MakeDoubleAccessor(&PowerTcpType::m_gamma),
                          MakeDoubleChecker<double>(0.01, 1))
            .AddAttribute("Flows",
                          "Flows that are expected to share the NIC of a host, N in the paper, "
                          "which gives no number: the additive increase is the bandwidth-delay "
                          "product / N, and n flows on one link keep a queue of n such steps.",
                          DoubleValue(10),
                          MakeDoubleAccessor(&PowerTcpType::m_flows),
                          MakeDoubleChecker<double>(1, 1000000000.0))
            .AddAttribute("BaseRtt",
                          "Round trip tau without queues; 0: that of the path of each queue pair. "
                          "The paper takes the longest of the network.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&PowerTcpType::m_baseRtt),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute("MinimumRate",
                          "No rate falls below this.",
                          DataRateValue(DataRate(100000000)),
                          MakeDataRateAccessor(&PowerTcpType::m_minimumRate),
                          MakeDataRateChecker());
    return tid;
}

std::unique_ptr<CongestionControl>
PowerTcpType::Create(const CongestionPath& path) const
{
    PowerTcpParameters parameters;
    parameters.telemetry = m_telemetry;
    parameters.gamma = m_gamma;
    parameters.flows = m_flows;
    parameters.baseRttPs = m_baseRtt.GetPicoSeconds();
    parameters.minimumBytesPerSecond = static_cast<double>(m_minimumRate.GetBitRate()) / 8;
    return std::make_unique<PowerTcp>(parameters, path);
}

CongestionNeeds
PowerTcpType::GetNeeds() const
{
    CongestionNeeds needs;
    needs.telemetry = m_telemetry;
    needs.sendTimes = !m_telemetry;
    needs.ackEveryPackets = 1;
    return needs;
}

} // namespace proteus
} // namespace ns3
