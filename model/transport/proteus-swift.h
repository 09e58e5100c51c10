/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SWIFT_H
#define PROTEUS_SWIFT_H

#include "proteus-congestion-control.h"

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Parameters of Swift; the names in the comments are those of the paper.
struct SwiftParameters
{
    double additiveIncrease{1};     //!< ai, in packets per round trip
    double beta{0.8};               //!< multiplicative decrease
    double maxDecrease{0.5};        //!< max_mdf
    int64_t baseTargetPs{0};        //!< base target delay; 0: 1.25 x base round trip of the path
    int64_t perHopPs{0};            //!< h-bar: added for every hop
    double flowScalingMin{0.1};     //!< fs_min_cwnd, in packets
    double flowScalingMax{100};     //!< fs_max_cwnd, in packets
    int64_t flowScalingRangePs{-1}; //!< fs_range; 0: no flow scaling; below 0: base target delay
    double minimumWindow{0.01};     //!< min_cwnd, in packets
    uint32_t retransmitReset{5};    //!< RETX_RESET_THRESHOLD
};

/**
 * @ingroup proteus
 * Swift (Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
 * Datacenter", SIGCOMM 2020, algorithm 1 and section 3.5). The window grows while the delay is
 * below a target; above it, it shrinks in proportion to the excess, at most once per round trip.
 * The target grows with the hops of the path, and for small windows. Windows below one packet are
 * paced. Only the delay of the fabric counts: the hosts of the model take no time.
 */
class Swift : public CongestionControl
{
  public:
    /// @param parameters of the algorithm @param path it is used on
    Swift(const SwiftParameters& parameters, const CongestionPath& path);

    // Inherited from CongestionControl
    void OnAcknowledgement(const CongestionFeedback& feedback) override;
    void OnLoss(int64_t timePs, uint64_t inFlightBytes) override;
    void OnTimeout(int64_t timePs, uint64_t inFlightBytes) override;

    /// @return target delay for the present window, in picoseconds
    double GetTargetDelay() const;

    /// @return window in packets
    double GetCongestionWindow() const
    {
        return m_window;
    }

  private:
    /// @param timePs present time @param factor to multiply the window by, if it is time
    void Decrease(int64_t timePs, double factor);
    /// Sets window and rate from m_window.
    void Apply();

    SwiftParameters m_parameters;            //!< of the algorithm
    CongestionPath m_path;                   //!< it is used on
    double m_baseTarget;                     //!< in picoseconds
    double m_flowScaling;                    //!< fs_range in picoseconds
    double m_maximum;                        //!< max_cwnd in packets
    double m_window;                         //!< cwnd in packets
    double m_rtt;                            //!< last round trip in picoseconds
    int64_t m_lastDecreasePs{INT64_MIN / 2}; //!< t_last_decrease
    uint32_t m_retransmissions{0};           //!< retransmit_cnt
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SWIFT_H
