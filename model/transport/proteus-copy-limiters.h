/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COPY_LIMITERS_H
#define PROTEUS_COPY_LIMITERS_H

#include "proteus-active-queues.h"
#include "proteus-queue-pair.h"

#include "ns3/proteus-cluster.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What an endpoint can read and write of its memory, as a server that copies pass one by one.
struct CopyLimiter
{
    double psPerByte{0};       //!< of the memory; 0: no limit
    double enginePsPerByte{0}; //!< of all copy engines together, for CopyMethod::DMA; 0: no limit
    bool memory{false};        //!< the memory can be a limit; if not, only copy engines are
    double freePs{0};          //!< when the last reservation ends
    double unitPs{0};          //!< what a reservation takes: that of the last unit
};

/**
 * @ingroup proteus
 * Limits what all queue pairs of an endpoint copy together, to what its memory and its copy engines
 * can move. A port that has to wait reserves its turn, so that ports come in the order in which
 * they asked.
 *
 * A memory that is at least as fast as all links of the endpoint in both directions cannot be a
 * limit, nor can copy engines that are as fast as all links in one direction; there is no limiter
 * for them.
 */
class CopyLimiters
{
  public:
    /// No limit.
    static constexpr uint32_t NONE = UINT32_MAX;

    /// @param cluster whose vertices say what they can copy; once
    void SetUp(const Cluster& cluster);

    /// @param vertex an endpoint @return its limiter, for ActiveQueues::limiter; or NONE
    uint32_t Find(VertexId vertex) const
    {
        return m_limiterOf.empty() ? NONE : m_limiterOf[vertex];
    }

    /// @param vertex an endpoint @return whether its memory can be a limit
    bool LimitsMemory(VertexId vertex) const
    {
        const uint32_t limiter = Find(vertex);
        return limiter != NONE && m_limiters[limiter].memory;
    }

    /// @param port of an endpoint @param sender of a copy @return whether it is limited there
    bool Concerns(const ActiveQueues& port, const SenderState& sender) const
    {
        return port.limiter != NONE &&
               (m_limiters[port.limiter].memory || (sender.flags & SenderState::COPY_ENGINE) != 0);
    }

    /**
     * @param port of a limited endpoint
     * @param now present time
     * @param nextPs set to the time of its turn if that is still to come
     * @return whether its turn is now
     */
    bool TakeTurn(ActiveQueues& port, int64_t now, int64_t& nextPs)
    {
        CopyLimiter& limiter = m_limiters[port.limiter];
        if (port.reservedPs < 0)
        {
            if (limiter.freePs <= static_cast<double>(now))
            {
                return true;
            }
            port.reservedPs = static_cast<int64_t>(std::ceil(limiter.freePs));
            limiter.freePs += limiter.unitPs;
        }
        nextPs = port.reservedPs;
        return port.reservedPs <= now;
    }

    /**
     * A packet leaves a limited endpoint.
     * @param port that it leaves by
     * @param sender of the copy
     * @param now present time
     * @param payloadBytes that it takes from the limit
     */
    void CountCopy(ActiveQueues& port,
                   const SenderState& sender,
                   int64_t now,
                   uint32_t payloadBytes)
    {
        CopyLimiter& limiter = m_limiters[port.limiter];
        double psPerByte = limiter.psPerByte;
        if ((sender.flags & SenderState::COPY_ENGINE) != 0)
        {
            psPerByte = std::max(psPerByte, limiter.enginePsPerByte);
        }
        if (port.reservedPs >= 0)
        {
            port.reservedPs = -1;
            limiter.freePs += payloadBytes * psPerByte - limiter.unitPs;
        }
        else
        {
            limiter.freePs =
                std::max(limiter.freePs, static_cast<double>(now)) + payloadBytes * psPerByte;
        }
        limiter.unitPs = sender.unitBytes * psPerByte;
    }

    /// A packet has arrived at a limited endpoint. @param vertex the endpoint
    /// @param now present time @param payloadBytes that its memory takes
    void CountArrival(VertexId vertex, int64_t now, uint32_t payloadBytes)
    {
        CopyLimiter& limiter = m_limiters[m_limiterOf[vertex]];
        limiter.freePs =
            std::max(limiter.freePs, static_cast<double>(now)) + payloadBytes * limiter.psPerByte;
    }

  private:
    std::vector<CopyLimiter> m_limiters; //!< of limited endpoints
    std::vector<uint32_t> m_limiterOf;   //!< by vertex; empty if there are none
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COPY_LIMITERS_H
