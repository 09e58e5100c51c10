/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-dcqcn.h"

#include "proteus-congestion-type.h"
#include "proteus-dcqcn-use.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/uinteger.h"

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
    m_isNotified = true;
    if (!IsSampled())
    {
        Cut(timePs);
        m_alpha = (1 - m_parameters.g) * m_alpha + m_parameters.g;
        m_alphaAtPs = timePs + m_parameters.alphaTimerPs;
        SetTimer();
        return;
    }
    if (m_firstPs == NEVER)
    {
        m_firstPs = timePs; // alpha is 1 already
        m_alphaAtPs = timePs + m_parameters.alphaTimerPs;
    }
    else
    {
        AdvanceAlpha(timePs);
        m_alphaNoted = true;
    }
    if (!m_cutNoted)
    {
        m_cutNoted = true;
        const int64_t interval = m_parameters.decreaseIntervalPs;
        m_decreaseAtPs = m_firstPs + ((timePs - m_firstPs) / interval + 1) * interval;
        SetTimer();
    }
}

void
Dcqcn::Cut(int64_t timePs)
{
    if (m_parameters.clampTarget || m_timerSteps + m_byteSteps > 0 || m_increaseAtPs == NEVER)
    {
        m_target = m_current;
    }
    SetMark(GetDcqcnUse().cuts);
    m_current *= 1 - m_alpha / 2;
    if (m_current < m_parameters.minimumBytesPerSecond)
    {
        SetMark(GetDcqcnUse().minimum);
        m_current = m_parameters.minimumBytesPerSecond;
    }
    m_timerSteps = 0;
    m_byteSteps = 0;
    m_increaseAtPs = timePs + m_parameters.increaseTimerPs;
    m_byteMark = m_parameters.byteCounter > 0 ? m_parameters.byteCounter : UNLIMITED;
    ++m_byteEpoch;
}

void
Dcqcn::AdvanceAlpha(int64_t timePs)
{
    while (m_alphaAtPs <= timePs)
    {
        m_alpha = (1 - m_parameters.g) * m_alpha + (m_alphaNoted ? m_parameters.g : 0);
        m_alphaNoted = false;
        m_alphaAtPs += m_parameters.alphaTimerPs;
    }
}

void
Dcqcn::CheckDecrease(int64_t timePs)
{
    AdvanceAlpha(timePs);
    m_cutNoted = false;
    m_decreaseAtPs = NEVER; // until the next notification
    Cut(timePs);
}

void
Dcqcn::OnTimer(int64_t timePs)
{
    while (m_timerPs <= timePs)
    {
        if (m_timerPs == m_decreaseAtPs)
        {
            CheckDecrease(m_decreaseAtPs);
        }
        else if (m_timerPs == m_alphaAtPs && !IsSampled())
        {
            m_alpha *= 1 - m_parameters.g;
            m_alphaAtPs += m_parameters.alphaTimerPs;
        }
        else
        {
            SetMark(GetDcqcnUse().timer);
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
        SetMark(GetDcqcnUse().bytes);
        ++m_byteSteps;
        Increase();
        SetTimer();
    }
}

bool
Dcqcn::IsAsNew() const
{
    return !m_isNotified; // nothing else begins a timer or a count of bytes
}

void
Dcqcn::Increase()
{
    const uint32_t steps = m_parameters.fastRecoverySteps;
    if (std::max(m_timerSteps, m_byteSteps) >= steps)
    {
        const uint32_t both =
            m_parameters.byteCounter > 0 ? std::min(m_timerSteps, m_byteSteps) : m_timerSteps;
        const uint32_t times = IsSampled() ? 1 : both - steps;
        const bool isHyper = both > steps;
        SetMark(isHyper ? GetDcqcnUse().hypers : GetDcqcnUse().additives);
        m_target += isHyper ? times * m_parameters.hyperBytesPerSecond
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
    if (m_alpha < 1e-9 && !IsSampled())
    {
        m_alphaAtPs = NEVER;
    }
    m_bytesPerSecond = m_current;
    m_timerPs = IsSampled() ? std::min(m_decreaseAtPs, m_increaseAtPs)
                            : std::min(m_alphaAtPs, m_increaseAtPs);
}

/// @ingroup proteus
/// Makes Dcqcn; its attributes are the parameters.
class DcqcnType : public CongestionType
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();
    // Inherited from CongestionType
    std::unique_ptr<CongestionControl> Create(const CongestionPath& path) const override;
    CongestionNeeds GetNeeds() const override;

  private:
    double m_g;                   //!< attribute
    Time m_alphaTimer;            //!< attribute
    Time m_increaseTimer;         //!< attribute
    uint64_t m_byteCounter;       //!< attribute
    bool m_clampTargetRate;       //!< attribute
    uint32_t m_fastRecoverySteps; //!< attribute
    DataRate m_additiveIncrease;  //!< attribute
    DataRate m_hyperIncrease;     //!< attribute
    DataRate m_referenceRate;     //!< attribute
    DataRate m_minimumRate;       //!< attribute
    Time m_notificationInterval;  //!< attribute
    Time m_decreaseInterval;      //!< attribute
};

NS_OBJECT_ENSURE_REGISTERED(DcqcnType);
PROTEUS_REGISTER_CONGESTION_CONTROL("dcqcn", DcqcnType);

TypeId
DcqcnType::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::DcqcnType")
            .SetParent<CongestionType>()
            .SetGroupName("Proteus")
            .AddConstructor<DcqcnType>()
            .AddAttribute("RateDecreaseInterval",
                          "0: every notification cuts the rate and raises alpha, as in the paper, "
                          "whose constants all defaults are. Otherwise as in ConnectX NICs and the "
                          "simulator of HPCC's authors: the sender looks for notifications so "
                          "often (4 us there) and cuts the rate once if any has come; alpha is "
                          "raised or decays once per AlphaTimer. Their other constants are "
                          "AlphaTimer 1 us, IncreaseTimer 300 us, NotificationInterval 0, "
                          "ByteCounter 0 and FastRecoverySteps 2 (they count from 0).",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&DcqcnType::m_decreaseInterval),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute("G",
                          "Weight of a new sample in alpha; 1/256 in the paper.",
                          DoubleValue(1.0 / 256),
                          MakeDoubleAccessor(&DcqcnType::m_g),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("AlphaTimer",
                          "Alpha decays when no notification has come for this long; 55 us "
                          "in the paper.",
                          TimeValue(MicroSeconds(55)),
                          MakeTimeAccessor(&DcqcnType::m_alphaTimer),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddAttribute("IncreaseTimer",
                          "Period of the rate increase timer; 55 us in the paper.",
                          TimeValue(MicroSeconds(55)),
                          MakeTimeAccessor(&DcqcnType::m_increaseTimer),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddAttribute("ByteCounter",
                          "Bytes between two steps of rate increase by the byte counter; 10 "
                          "MB in the paper. 0: no byte counter, the timer decides alone.",
                          UintegerValue(10000000),
                          MakeUintegerAccessor(&DcqcnType::m_byteCounter),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("ClampTargetRate",
                          "Whether every notification lowers the target rate to the current one, "
                          "as in the paper; if not, only the first after a step of increase does, "
                          "as ConnectX NICs do by default (clamp_tgt_rate).",
                          BooleanValue(false),
                          MakeBooleanAccessor(&DcqcnType::m_clampTargetRate),
                          MakeBooleanChecker())
            .AddAttribute("FastRecoverySteps",
                          "Steps of fast recovery before additive increase; F = 5 in the "
                          "paper.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&DcqcnType::m_fastRecoverySteps),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("AdditiveIncrease",
                          "Rate added to the target rate in a step of additive increase, per "
                          "ReferenceRate of the line.",
                          DataRateValue(DataRate(5000000)),
                          MakeDataRateAccessor(&DcqcnType::m_additiveIncrease),
                          MakeDataRateChecker())
            .AddAttribute("HyperIncrease",
                          "The same in a step of hyper increase.",
                          DataRateValue(DataRate(50000000)),
                          MakeDataRateAccessor(&DcqcnType::m_hyperIncrease),
                          MakeDataRateChecker())
            .AddAttribute("ReferenceRate",
                          "Line rate that AdditiveIncrease and HyperIncrease are for; they "
                          "grow with the line rate. 0: they are used as they are.",
                          DataRateValue(DataRate(25000000000ULL)),
                          MakeDataRateAccessor(&DcqcnType::m_referenceRate),
                          MakeDataRateChecker())
            .AddAttribute("MinimumRate",
                          "No rate falls below this.",
                          DataRateValue(DataRate(100000000)),
                          MakeDataRateAccessor(&DcqcnType::m_minimumRate),
                          MakeDataRateChecker())
            .AddAttribute("NotificationInterval",
                          "The receiver of a queue pair sends at most one congestion "
                          "notification in this time; 50 us in the paper. 0: one for every marked "
                          "packet.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&DcqcnType::m_notificationInterval),
                          MakeTimeChecker(Seconds(0)));
    return tid;
}

std::unique_ptr<CongestionControl>
DcqcnType::Create(const CongestionPath& path) const
{
    DcqcnParameters parameters;
    parameters.g = m_g;
    parameters.alphaTimerPs = m_alphaTimer.GetPicoSeconds();
    parameters.increaseTimerPs = m_increaseTimer.GetPicoSeconds();
    parameters.decreaseIntervalPs = m_decreaseInterval.GetPicoSeconds();
    parameters.byteCounter = m_byteCounter;
    parameters.clampTarget = m_clampTargetRate;
    parameters.fastRecoverySteps = m_fastRecoverySteps;
    parameters.additiveBytesPerSecond = static_cast<double>(m_additiveIncrease.GetBitRate()) / 8;
    parameters.hyperBytesPerSecond = static_cast<double>(m_hyperIncrease.GetBitRate()) / 8;
    parameters.referenceBytesPerSecond = static_cast<double>(m_referenceRate.GetBitRate()) / 8;
    parameters.minimumBytesPerSecond = static_cast<double>(m_minimumRate.GetBitRate()) / 8;
    return std::make_unique<Dcqcn>(parameters, path);
}

CongestionNeeds
DcqcnType::GetNeeds() const
{
    CongestionNeeds needs;
    needs.notifications = true;
    needs.notificationPs = m_notificationInterval.GetPicoSeconds();
    return needs;
}

} // namespace proteus
} // namespace ns3
