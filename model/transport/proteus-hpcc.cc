/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-hpcc.h"

#include "proteus-congestion-type.h"

#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/uinteger.h"

#include <cmath>

namespace ns3
{
namespace proteus
{

Hpcc::Hpcc(const HpccParameters& parameters, const CongestionPath& path)
    : m_parameters(parameters),
      m_baseRtt(
          static_cast<double>(parameters.baseRttPs > 0 ? parameters.baseRttPs : path.baseRttPs) *
          1e-12),
      m_initial(path.bytesPerSecond * m_baseRtt),
      m_additive(m_initial * (1 - parameters.eta) / parameters.flows),
      m_minimum(std::min(parameters.minimumBytesPerSecond, path.bytesPerSecond) * m_baseRtt),
      m_reference(m_initial)
{
    m_windowBytes = static_cast<uint64_t>(std::llround(m_initial));
    m_bytesPerSecond = path.bytesPerSecond;
}

void
Hpcc::Measure(const CongestionFeedback& feedback)
{
    double u = 0;
    double tau = m_baseRtt;
    for (uint32_t i = 0; i < m_nHops; ++i)
    {
        const HopTelemetry& now = feedback.hops[i];
        const HopTelemetry& before = m_hops[i];
        const double interval = static_cast<double>(now.timePs - before.timePs) * 1e-12;
        if (interval <= 0)
        {
            continue; // two packets of one train: no rate can be told
        }
        const double txRate = static_cast<double>(now.sentBytes - before.sentBytes) / interval;
        const double queue = static_cast<double>(std::min(now.queueBytes, before.queueBytes));
        const double link = queue / (now.bytesPerSecond * m_baseRtt) + txRate / now.bytesPerSecond;
        if (link > u)
        {
            u = link;
            tau = interval;
        }
    }
    if (u > 0)
    {
        tau = std::min(tau, m_baseRtt);
        m_utilisation = (1 - tau / m_baseRtt) * m_utilisation + tau / m_baseRtt * u;
    }
}

double
Hpcc::ComputeWindow(bool update)
{
    double window = 0;
    if (m_utilisation >= m_parameters.eta || m_stage >= m_parameters.maxStage)
    {
        window = m_reference / (m_utilisation / m_parameters.eta) + m_additive;
        m_stage = update ? 0 : m_stage;
    }
    else
    {
        window = m_reference + m_additive;
        m_stage += update ? 1 : 0;
    }
    window = std::min(std::max(window, m_minimum), m_initial);
    if (update)
    {
        m_reference = window;
    }
    return window;
}

void
Hpcc::OnAcknowledgement(const CongestionFeedback& feedback)
{
    if (feedback.nHops == 0)
    {
        return; // all links of the path are in hosts
    }
    const uint32_t nHops = std::min(feedback.nHops, MAX_HOPS);
    bool samePath = nHops == m_nHops;
    for (uint32_t i = 0; samePath && i < nHops; ++i)
    {
        samePath = feedback.hops[i].port == m_hops[i].port;
    }
    if (samePath)
    {
        Measure(feedback);
        const bool update = feedback.unackedPosition > m_lastUpdate;
        const double window = ComputeWindow(update);
        if (update)
        {
            m_lastUpdate = feedback.nextPosition;
        }
        m_windowBytes = static_cast<uint64_t>(std::llround(window));
        m_bytesPerSecond = window / m_baseRtt;
    }
    m_nHops = nHops;
    std::copy(feedback.hops, feedback.hops + nHops, m_hops.begin());
}

/// @ingroup proteus
/// Makes Hpcc; its attributes are the parameters.
class HpccType : public CongestionType
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();
    // Inherited from CongestionType
    std::unique_ptr<CongestionControl> Create(const CongestionPath& path) const override;
    CongestionNeeds GetNeeds() const override;

  private:
    double m_eta;           //!< attribute
    uint32_t m_maxStage;    //!< attribute
    double m_flows;         //!< attribute
    Time m_baseRtt;         //!< attribute
    DataRate m_minimumRate; //!< attribute
};

NS_OBJECT_ENSURE_REGISTERED(HpccType);
PROTEUS_REGISTER_CONGESTION_CONTROL("hpcc", HpccType);

TypeId
HpccType::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::HpccType")
            .SetParent<CongestionType>()
            .SetGroupName("Proteus")
            .AddConstructor<HpccType>()
            .AddAttribute("Eta",
                          "Target utilisation of the most loaded link; 95 % in the paper.",
                          DoubleValue(0.95),
                          MakeDoubleAccessor(&HpccType::m_eta),
                          MakeDoubleChecker<double>(0.01, 1))
            .AddAttribute("MaxStage",
                          "Additive steps before a multiplicative one; 5 in the paper.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&HpccType::m_maxStage),
                          MakeUintegerChecker<uint32_t>(0))
            .AddAttribute("Flows",
                          "Flows that the additive increase is made for: W_AI = W_init (1 - "
                          "eta) / Flows.",
                          DoubleValue(100),
                          MakeDoubleAccessor(&HpccType::m_flows),
                          MakeDoubleChecker<double>(1, 1000000000.0))
            .AddAttribute("BaseRtt",
                          "Round trip T without queues; 0: that of the path of each queue "
                          "pair.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&HpccType::m_baseRtt),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute("MinimumRate",
                          "No rate falls below this.",
                          DataRateValue(DataRate(100000000)),
                          MakeDataRateAccessor(&HpccType::m_minimumRate),
                          MakeDataRateChecker());
    return tid;
}

std::unique_ptr<CongestionControl>
HpccType::Create(const CongestionPath& path) const
{
    HpccParameters parameters;
    parameters.eta = m_eta;
    parameters.maxStage = m_maxStage;
    parameters.flows = m_flows;
    parameters.baseRttPs = m_baseRtt.GetPicoSeconds();
    parameters.minimumBytesPerSecond = static_cast<double>(m_minimumRate.GetBitRate()) / 8;
    return std::make_unique<Hpcc>(parameters, path);
}

CongestionNeeds
HpccType::GetNeeds() const
{
    CongestionNeeds needs;
    needs.telemetry = true;
    needs.ackEveryPackets = 1;
    needs.utilisation = m_eta;
    needs.utilisationAttribute = "Eta";
    return needs;
}

} // namespace proteus
} // namespace ns3
