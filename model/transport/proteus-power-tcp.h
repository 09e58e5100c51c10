/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_POWER_TCP_H
#define PROTEUS_POWER_TCP_H

#include "proteus-congestion-control.h"

#include <array>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Parameters of PowerTcp; the names in the comments are those of the paper.
struct PowerTcpParameters
{
    bool telemetry{true}; //!< PowerTCP, algorithm 1; false: theta-PowerTCP, algorithm 2
    double gamma{0.9};    //!< gamma: weight of a new window
    double flows{10};     //!< N: beta = host bandwidth x tau / N
    int64_t baseRttPs{0}; //!< tau; 0: that of the path
    double minimumBytesPerSecond{12.5e6}; //!< no rate below this, 100 Mb/s
};

/**
 * @ingroup proteus
 * PowerTCP (Addanki, Michel and Schmid, "PowerTCP: Pushing the Performance Limits of Datacenter
 * Networks", NSDI 2022). The window is divided by the power of the bottleneck, which is its voltage
 * (queue plus bandwidth-delay product) times its current (the rate at which data comes), both
 * relative to their values at full use without a queue. So it reacts at once to how long the queue
 * is and how fast it grows. Queue and rate come from in-band telemetry (algorithm 1, a step with
 * every acknowledgement), or from the round-trip time and its gradient (theta-PowerTCP, algorithm
 * 2, a step per round trip). If n flows of this kind share a bottleneck of rate b, in the steady
 * state the queue is n beta and each window (b tau + n beta) / n (appendix A, theorems 1, 3). The
 * rate is window / tau.
 */
class PowerTcp : public CongestionControl
{
  public:
    /// Most hops that telemetry is kept of.
    static constexpr uint32_t MAX_HOPS = 8;

    /// @param parameters of the algorithm @param path it is used on
    PowerTcp(const PowerTcpParameters& parameters, const CongestionPath& path);

    // Inherited from CongestionControl
    void OnAcknowledgement(const CongestionFeedback& feedback) override;

    /// @return Gamma_smooth: smoothed power of the bottleneck; 1 for full use without a queue
    double GetPower() const
    {
        return m_power;
    }

    /// @return beta, in payload bytes
    double GetAdditiveIncrease() const
    {
        return m_additive;
    }

    /// @return cwnd, in payload bytes
    double GetCongestionWindow() const
    {
        return m_window;
    }

  private:
    /// @param feedback with telemetry @return whether it has told the power
    bool MeasureTelemetry(const CongestionFeedback& feedback);
    /// @param feedback with a round trip @return whether it has told the power
    bool MeasureDelay(const CongestionFeedback& feedback);
    /// @param power of the bottleneck, normalised @param seconds that it is measured over
    void Smooth(double power, double seconds);
    /// Sets window and rate from m_window.
    void Apply();

    PowerTcpParameters m_parameters;           //!< of the algorithm
    double m_wirePerPayload;                   //!< bytes on the wire for a byte of payload
    double m_baseRtt;                          //!< tau in seconds
    double m_measuredRtt;                      //!< round trip of a packet when nothing queues
    double m_initial;                          //!< cwnd_init in payload bytes
    double m_additive;                         //!< beta in payload bytes
    double m_minimum;                          //!< smallest window in payload bytes
    double m_window;                           //!< cwnd in payload bytes
    double m_oldWindow;                        //!< cwnd_old: a round trip ago
    double m_power{1};                         //!< Gamma_smooth
    uint64_t m_roundEnd{0};                    //!< position that ends the present round trip
    int64_t m_lastPs{0};                       //!< time of the last acknowledgement
    int64_t m_lastRttPs{-1};                   //!< its round trip; -1 before the first
    uint32_t m_nHops{0};                       //!< of m_hops; 0 before the first acknowledgement
    std::array<HopTelemetry, MAX_HOPS> m_hops; //!< of the last acknowledgement
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_POWER_TCP_H
