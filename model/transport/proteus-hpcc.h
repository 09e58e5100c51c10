/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_HPCC_H
#define PROTEUS_HPCC_H

#include "proteus-congestion-control.h"

#include <array>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Parameters of Hpcc; the names in the comments are those of the paper.
struct HpccParameters
{
    double eta{0.95};                     //!< target utilisation
    uint32_t maxStage{5};                 //!< maxStage: additive steps before a multiplicative one
    double flows{100};                    //!< N: W_AI = W_init (1 - eta) / N (section 3.3)
    int64_t baseRttPs{0};                 //!< T; 0: that of the path
    double minimumBytesPerSecond{12.5e6}; //!< no rate below this, 100 Mb/s
};

/**
 * @ingroup proteus
 * HPCC (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, algorithm 1). In-band
 * telemetry tells which link of the path is the most loaded. The window is steered so that this
 * link is used to a share of eta; a reference window follows once per round trip. The rate is
 * window / T, T the base round trip.
 */
class Hpcc : public CongestionControl
{
  public:
    /// Most hops that telemetry is kept of.
    static constexpr uint32_t MAX_HOPS = 8;

    /// @param parameters of the algorithm @param path it is used on
    Hpcc(const HpccParameters& parameters, const CongestionPath& path);

    // Inherited from CongestionControl
    void OnAcknowledgement(const CongestionFeedback& feedback) override;

    /// @return U: estimated bytes in flight on the most loaded link, to its rate x T
    double GetUtilisation() const
    {
        return m_utilisation;
    }

    /// @return W_c, in bytes
    double GetReferenceWindow() const
    {
        return m_reference;
    }

  private:
    /// @param feedback with telemetry of the same path as before; MeasureInflight() of the paper
    void Measure(const CongestionFeedback& feedback);
    /// @param update whether W_c follows; ComputeWind() of the paper @return the window
    double ComputeWindow(bool update);

    HpccParameters m_parameters;               //!< of the algorithm
    double m_baseRtt;                          //!< T in seconds
    double m_initial;                          //!< W_init in bytes
    double m_additive;                         //!< W_AI in bytes
    double m_minimum;                          //!< smallest window in bytes
    double m_reference;                        //!< W_c in bytes
    double m_utilisation{1};                   //!< U
    uint32_t m_stage{0};                       //!< incStage
    uint64_t m_lastUpdate{0};                  //!< lastUpdateSeq
    uint32_t m_nHops{0};                       //!< of m_hops; 0 before the first acknowledgement
    std::array<HopTelemetry, MAX_HOPS> m_hops; //!< L: of the last acknowledgement
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_HPCC_H
