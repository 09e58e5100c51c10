/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TCP_H
#define PROTEUS_TCP_H

#include "proteus-congestion-control.h"

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Parameters of Tcp.
struct TcpParameters
{
    bool cubic{true};                            //!< CUBIC; false: NewReno
    double initialWindow{10};                    //!< in packets, RFC 6928
    double cubicC{0.4};                          //!< C of RFC 9438, section 4.1
    double cubicBeta{0.7};                       //!< beta_cubic of RFC 9438, section 4.6
    int64_t minimumTimeoutPs{200'000'000'000};   //!< 200 ms, as Linux; RFC 6298 says 1 s
    int64_t initialTimeoutPs{1'000'000'000'000}; //!< RFC 6298, (2.1)
    uint64_t maximumWindow{6'291'456}; //!< bytes, the default of Linux' tcp_rmem; 0: no limit
};

/**
 * @ingroup proteus
 * TCP's congestion control for socket transports: slow start, congestion avoidance and fast
 * recovery of NewReno (RFC 5681, RFC 6582) or CUBIC (RFC 9438), and the retransmission timeout of
 * RFC 6298. Losses are repaired by the transport's selective repeat, as with TCP's SACK.
 */
class Tcp : public CongestionControl
{
  public:
    /// @param parameters of the algorithm @param path it is used on
    Tcp(const TcpParameters& parameters, const CongestionPath& path);

    // Inherited from CongestionControl
    void OnAcknowledgement(const CongestionFeedback& feedback) override;
    void OnLoss(int64_t timePs, uint64_t inFlightBytes) override;
    void OnTimeout(int64_t timePs, uint64_t inFlightBytes) override;

    /// @return slow start threshold in bytes, infinity before the first loss
    double GetThreshold() const
    {
        return m_threshold;
    }

  private:
    /// @param rttPs a sample
    void UpdateTimeout(int64_t rttPs);
    /// @param timePs present time @param ackedBytes newly acknowledged
    void AvoidCongestion(int64_t timePs, double ackedBytes);
    /// @param window in bytes
    void SetWindow(double window);

    TcpParameters m_parameters; //!< of the algorithm
    double m_packet;            //!< SMSS in bytes
    double m_window;            //!< cwnd in bytes
    double m_threshold;         //!< ssthresh in bytes
    double m_smoothedRtt{-1};   //!< SRTT in ps, negative before the first sample
    double m_rttVariation{0};   //!< RTTVAR in ps
    double m_windowMax{0};      //!< W_max of CUBIC, in packets
    double m_renoWindow{0};     //!< W_est of CUBIC, in packets
    int64_t m_epochPs{-1};      //!< start of the congestion avoidance stage, negative: none
    double m_plateau{0};        //!< K of CUBIC, in seconds
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TCP_H
