/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MARKER_H
#define PROTEUS_MARKER_H

#include "proteus-fabric-settings.h"
#include "proteus-place-random.h"
#include "proteus-port.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * ECN marks by random early detection on the instantaneous queue, as DCQCN sets it (Zhu et al.,
 * "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3.1).
 */
class Marker
{
  public:
    /**
     * @param settings to follow; must outlive this
     * @throw std::invalid_argument for thresholds in the wrong order
     */
    void SetUp(const MarkSettings& settings);

    /// Sets the thresholds of a port, which grow with its rate.
    /// @param port of a switch @param link it belongs to
    void SetUpPort(PortState& port, const Link& link) const;

    /// @return whether units are marked when they leave the queue, not when they come
    bool MarksAtDequeue() const
    {
        return m_settings->atDequeue;
    }

    /// @param port with thresholds @param queuedBytes that wait for it, above PortState::markBytes
    /// @param lane number of its lane @param number of the unit at the port, modulo 2^32
    /// @return whether the unit that comes or leaves gets a mark
    bool Draw(const PortState& port, uint64_t queuedBytes, uint64_t lane, uint32_t number) const
    {
        return queuedBytes >= port.markAllBytes || DrawBetween(port, queuedBytes, lane, number);
    }

    /// The stream of the random variable has been set.
    void Reset()
    {
        m_random.Reset();
    }

  private:
    /// @param port as Draw() @param queuedBytes below PortState::markAllBytes
    /// @param lane as Draw() @param number as Draw() @return as Draw()
    bool DrawBetween(const PortState& port,
                     uint64_t queuedBytes,
                     uint64_t lane,
                     uint32_t number) const;

    const MarkSettings* m_settings{nullptr}; //!< what to follow
    PlaceRandom m_random;                    //!< decides about marks
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MARKER_H
