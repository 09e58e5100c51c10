/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_DCQCN_H
#define PROTEUS_DCQCN_H

#include "proteus-congestion-control.h"

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Parameters of Dcqcn; section and figure numbers are those of the paper.
struct DcqcnParameters
{
    double g{1.0 / 256};                 //!< weight of a new sample in alpha
    int64_t alphaTimerPs{55'000'000};    //!< K: alpha decays after this long without marks
    int64_t increaseTimerPs{55'000'000}; //!< period of the rate increase timer
    int64_t decreaseIntervalPs{0};       //!< the sender looks for notifications so often, and cuts
                                         //!< the rate once at most; 0: every notification cuts
    uint64_t byteCounter{10'000'000}; //!< B: bytes between increases by the byte counter; 0: none
    bool clampTarget{false}; //!< every notification lowers the target rate; else only the first
                             //!< after a step of increase
    uint32_t fastRecoverySteps{5};           //!< F
    double additiveBytesPerSecond{625e3};    //!< R_AI, 5 Mb/s
    double hyperBytesPerSecond{6250e3};      //!< R_HAI, 50 Mb/s
    double referenceBytesPerSecond{3.125e9}; //!< R_AI and R_HAI grow with the line rate from this
                                             //!< one (25 Gb/s) on; 0: they are what they are
    double minimumBytesPerSecond{12.5e6};    //!< no rate below this, 100 Mb/s
};

/**
 * @ingroup proteus
 * DCQCN's reaction point (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments",
 * SIGCOMM 2015, section 3.1). A notification sets the target rate to the current one, cuts the
 * current one by alpha / 2, and raises alpha (equation 1). Without notifications alpha decays
 * (equation 2). The rate recovers in steps, which a timer and a byte counter give: fast recovery
 * (equation 3) while both are below F, hyper increase when both are above F, additive increase
 * (equation 4) in between. Marking is done by the fabric, notifications are sent by the transport.
 *
 * With a decrease interval it is what ConnectX NICs do, as the simulator of HPCC's authors has it
 * (Li et al., SIGCOMM 2019; "Mellanox's version" in its rdma-hw.cc). A notification is only noted.
 * From the first one on, the rate is cut after every decrease interval in which one has come. After
 * every alpha timer alpha is raised if one has come, and decays if not; so it does not matter how
 * many came. Hyper increase adds the same in every step.
 */
class Dcqcn : public CongestionControl
{
  public:
    /// @param parameters of the algorithm @param path it is used on
    Dcqcn(const DcqcnParameters& parameters, const CongestionPath& path);

    // Inherited from CongestionControl
    void OnAcknowledgement(const CongestionFeedback& feedback) override;
    void OnNotification(int64_t timePs) override;
    void OnTimer(int64_t timePs) override;
    void OnBytesSent(int64_t timePs) override;
    bool IsAsNew() const override;

    /// @return estimate of the congestion, 0 to 1
    double GetAlpha() const
    {
        return m_alpha;
    }

    /// @return rate before the last cut, and what the current one recovers to; bytes per second
    double GetTargetRate() const
    {
        return m_target;
    }

    /// @return steps of the increase timer since the last cut
    uint32_t GetTimerSteps() const
    {
        return m_timerSteps;
    }

  private:
    /// One step of rate increase.
    void Increase();
    /// Lowers the rate, and begins recovery anew. @param timePs present time
    void Cut(int64_t timePs);

    /// @return whether notifications are only noted
    bool IsSampled() const
    {
        return m_parameters.decreaseIntervalPs > 0;
    }

    /// Sampled: what alpha is by now. @param timePs present time
    void AdvanceAlpha(int64_t timePs);
    /// Sampled: looks for notifications. @param timePs present time, a multiple of the interval
    /// after the first notification
    void CheckDecrease(int64_t timePs);
    /// Sets the timer, or stops it where the line rate is reached.
    void SetTimer();

    DcqcnParameters m_parameters;  //!< scaled to the line rate
    bool m_isNotified{false};      //!< a notification has come
    double m_line;                 //!< rate of the path
    double m_target;               //!< R_T
    double m_current;              //!< R_C
    double m_alpha{1};             //!< alpha
    uint32_t m_timerSteps{0};      //!< T
    uint32_t m_byteSteps{0};       //!< BC
    int64_t m_alphaAtPs{NEVER};    //!< next decay of alpha
    int64_t m_increaseAtPs{NEVER}; //!< next step by the timer
    int64_t m_firstPs{NEVER};      //!< sampled: first notification
    int64_t m_decreaseAtPs{NEVER}; //!< sampled: next look for notifications
    bool m_alphaNoted{false};      //!< sampled: one has come since the last update of alpha
    bool m_cutNoted{false};        //!< sampled: one has come since the last look
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_DCQCN_H
