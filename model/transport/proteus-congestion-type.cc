/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-congestion-type.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/uinteger.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

NS_OBJECT_ENSURE_REGISTERED(CongestionType);
NS_OBJECT_ENSURE_REGISTERED(NoCongestionControl);
NS_OBJECT_ENSURE_REGISTERED(DcqcnType);
NS_OBJECT_ENSURE_REGISTERED(HpccType);
NS_OBJECT_ENSURE_REGISTERED(TimelyType);
NS_OBJECT_ENSURE_REGISTERED(SwiftType);
NS_OBJECT_ENSURE_REGISTERED(DctcpType);
NS_OBJECT_ENSURE_REGISTERED(TcpType);

namespace
{

/// A short name and the kind it stands for.
struct NamedType
{
    const char* name;
    TypeId (*getTypeId)();
};

/// All kinds that come with the module.
constexpr NamedType TYPES[] = {{"none", &NoCongestionControl::GetTypeId},
                               {"dcqcn", &DcqcnType::GetTypeId},
                               {"hpcc", &HpccType::GetTypeId},
                               {"timely", &TimelyType::GetTypeId},
                               {"swift", &SwiftType::GetTypeId},
                               {"dctcp", &DctcpType::GetTypeId},
                               {"tcp", &TcpType::GetTypeId}};

} // namespace

std::vector<std::string>
GetCongestionNames()
{
    std::vector<std::string> names;
    for (const NamedType& type : TYPES)
    {
        names.push_back(type.name);
    }
    return names;
}

Ptr<CongestionType>
MakeCongestionType(const std::string& name)
{
    TypeId tid;
    bool found = false;
    std::string known;
    for (const NamedType& type : TYPES)
    {
        known += std::string(known.empty() ? "" : ", ") + type.name;
        if (name == type.name)
        {
            tid = type.getTypeId();
            found = true;
        }
    }
    if (!found && TypeId::LookupByNameFailSafe(name, &tid))
    {
        found = tid.IsChildOf(CongestionType::GetTypeId()) && tid.HasConstructor();
    }
    if (!found)
    {
        throw std::invalid_argument("unknown congestion control '" + name + "'; known: " + known +
                                    ", and TypeIds derived from ns3::proteus::CongestionType");
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    return factory.Create<CongestionType>();
}

TypeId
CongestionType::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::CongestionType").SetParent<Object>().SetGroupName("Proteus");
    return tid;
}

TypeId
NoCongestionControl::GetTypeId()
{
    static TypeId tid = TypeId("ns3::proteus::NoCongestionControl")
                            .SetParent<CongestionType>()
                            .SetGroupName("Proteus")
                            .AddConstructor<NoCongestionControl>();
    return tid;
}

std::unique_ptr<CongestionControl>
NoCongestionControl::Create(const CongestionPath& /* path */) const
{
    return nullptr;
}

CongestionNeeds
NoCongestionControl::GetNeeds() const
{
    return CongestionNeeds();
}

TypeId
DcqcnType::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::DcqcnType")
            .SetParent<CongestionType>()
            .SetGroupName("Proteus")
            .AddConstructor<DcqcnType>()
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
                          "MB in the paper.",
                          UintegerValue(10000000),
                          MakeUintegerAccessor(&DcqcnType::m_byteCounter),
                          MakeUintegerChecker<uint64_t>(1))
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
                          "notification in this time; 50 us in the paper.",
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
    needs.notificationPs = m_notificationInterval.GetPicoSeconds();
    return needs;
}

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
    return needs;
}

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
                          TimeValue(PicoSeconds(-1)),
                          MakeTimeAccessor(&SwiftType::m_flowScalingRange),
                          MakeTimeChecker(PicoSeconds(-1)))
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
