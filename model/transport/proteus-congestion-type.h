/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CONGESTION_TYPE_H
#define PROTEUS_CONGESTION_TYPE_H

#include "proteus-congestion-control.h"
#include "proteus-dcqcn.h"
#include "proteus-dctcp.h"
#include "proteus-hpcc.h"
#include "proteus-swift.h"
#include "proteus-tcp.h"
#include "proteus-timely.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/object.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A kind of congestion control: its parameters as attributes, of which queue pairs' controls are
 * made. A new kind derives from this, is registered with NS_OBJECT_ENSURE_REGISTERED, and is known
 * to the transport by the name of its TypeId from then on.
 */
class CongestionType : public Object
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();

    /// @param path of a queue pair @return its control; null where only credits hold it back
    virtual std::unique_ptr<CongestionControl> Create(const CongestionPath& path) const = 0;

    /// @return what the controls need
    virtual CongestionNeeds GetNeeds() const = 0;
};

/**
 * @ingroup proteus
 * Finds a kind of congestion control.
 * @param name "none", "dcqcn", "hpcc", "timely", "swift", "dctcp" or "tcp", or the full name of a
 * TypeId derived from CongestionType
 * @return a new object of the kind, with the attributes' default values
 * @throw std::invalid_argument that lists the known names
 */
Ptr<CongestionType> MakeCongestionType(const std::string& name);

/// @ingroup proteus
/// @return the short names that MakeCongestionType() knows
std::vector<std::string> GetCongestionNames();

/// @ingroup proteus
/// No congestion control: credits, pauses and the transport's window only.
class NoCongestionControl : public CongestionType
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();
    // Inherited from CongestionType
    std::unique_ptr<CongestionControl> Create(const CongestionPath& path) const override;
    CongestionNeeds GetNeeds() const override;
};

/// @ingroup proteus
/// Makes Dcqcn.
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
};

/// @ingroup proteus
/// Makes Hpcc.
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

/// @ingroup proteus
/// Makes Timely.
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

/// @ingroup proteus
/// Makes Swift.
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

/// @ingroup proteus
/// Makes Dctcp.
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

/// @ingroup proteus
/// Makes Tcp.
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

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CONGESTION_TYPE_H
