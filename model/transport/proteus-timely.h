/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TIMELY_H
#define PROTEUS_TIMELY_H

#include "proteus-congestion-control.h"

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Parameters of Timely; the names in the comments are those of the paper.
struct TimelyParameters
{
    double ewma{0.875};                     //!< alpha: weight of a new difference of round trips
    double beta{0.8};                       //!< multiplicative decrease
    double additiveBytesPerSecond{1.25e6};  //!< delta, 10 Mb/s
    double referenceBytesPerSecond{1.25e9}; //!< delta grows with the line rate from this one (10
                                            //!< Gb/s, the paper's) on; 0: it is what it is
    int64_t lowPs{50'000'000};              //!< T_low
    int64_t highPs{500'000'000};            //!< T_high
    int64_t minimumRttPs{20'000'000};       //!< minRTT; 0: the base round trip of the path
    uint32_t hyperSteps{5};                 //!< N: after so many completions, N deltas at a time
    uint64_t segmentBytes{16384};           //!< one completion for so many bytes
    double minimumBytesPerSecond{12.5e6};   //!< no rate below this, 100 Mb/s
};

/**
 * @ingroup proteus
 * TIMELY (Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015,
 * algorithm 1 and section 4.3): the rate follows the gradient of the round-trip time between T_low
 * and T_high, grows below T_low and shrinks above T_high. One step per completed segment.
 */
class Timely : public CongestionControl
{
  public:
    /// @param parameters of the algorithm @param path it is used on
    Timely(const TimelyParameters& parameters, const CongestionPath& path);

    // Inherited from CongestionControl
    void OnAcknowledgement(const CongestionFeedback& feedback) override;

    /// @return normalised gradient of the round-trip time
    double GetGradient() const
    {
        return m_difference / m_minimumRtt;
    }

  private:
    /// @param rtt of a completion, in picoseconds
    void Update(double rtt);

    TimelyParameters m_parameters; //!< scaled to the line rate
    double m_line;                 //!< rate of the path
    double m_minimumRtt;           //!< in picoseconds
    double m_previousRtt{-1};      //!< in picoseconds, negative before the first
    double m_difference{0};        //!< rtt_diff, in picoseconds
    uint32_t m_completions{0};     //!< in a row without a rise of the round trip
    uint64_t m_segment{0};         //!< bytes acknowledged of the present segment
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TIMELY_H
