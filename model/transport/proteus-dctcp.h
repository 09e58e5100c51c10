/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_DCTCP_H
#define PROTEUS_DCTCP_H

#include "proteus-congestion-control.h"

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Parameters of Dctcp.
struct DctcpParameters
{
    double g{1.0 / 16};      //!< weight of a new sample in alpha
    double initialWindow{0}; //!< in packets; 0: the bandwidth-delay product of the path
    double initialAlpha{1};  //!< RFC 8257, section 3.3
};

/**
 * @ingroup proteus
 * A window as in DCTCP (Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.1; RFC
 * 8257). Alpha is a moving average of the share of marked bytes per window (equation 1). A window
 * with marks is cut once, by alpha / 2 (equation 2); otherwise the window grows as TCP Reno's.
 */
class Dctcp : public CongestionControl
{
  public:
    /// @param parameters of the algorithm @param path it is used on
    Dctcp(const DctcpParameters& parameters, const CongestionPath& path);

    // Inherited from CongestionControl
    void OnAcknowledgement(const CongestionFeedback& feedback) override;
    void OnLoss(int64_t timePs, uint64_t inFlightBytes) override;
    void OnTimeout(int64_t timePs, uint64_t inFlightBytes) override;

    /// @return estimate of the congestion, 0 to 1
    double GetAlpha() const
    {
        return m_alpha;
    }

  private:
    /// @param window in bytes
    void SetWindow(double window);

    DctcpParameters m_parameters; //!< of the algorithm
    double m_packet;              //!< bytes of a packet
    double m_window;              //!< in bytes
    double m_threshold;           //!< ssthresh in bytes
    double m_alpha;               //!< alpha
    uint64_t m_windowEnd{0};      //!< position at which the observation window ends
    uint64_t m_acked{0};          //!< packets acknowledged in it
    uint64_t m_marked{0};         //!< marked packets in it
    uint64_t m_reducedUntil{0};   //!< no second cut before this position is acknowledged
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_DCTCP_H
