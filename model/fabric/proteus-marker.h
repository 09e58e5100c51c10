/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MARKER_H
#define PROTEUS_MARKER_H

#include "proteus-fabric-settings.h"
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
    /// @param port of a switch or NIC @param link it belongs to
    void SetUpPort(PortState& port, const Link& link) const;

    /// @return whether units are marked when they leave the queue, not when they come
    bool MarksAtDequeue() const
    {
        return m_settings->atDequeue;
    }

    /// @param port with thresholds @param queuedBytes that wait for it, above PortState::markBytes
    /// @return whether the unit that comes or leaves gets a mark
    bool Draw(const PortState& port, uint64_t queuedBytes) const
    {
        return queuedBytes >= port.markAllBytes || DrawBetween(port, queuedBytes);
    }

  private:
    /// @param port as Draw() @param queuedBytes below PortState::markAllBytes @return as Draw()
    bool DrawBetween(const PortState& port, uint64_t queuedBytes) const;

    const MarkSettings* m_settings{nullptr}; //!< what to follow
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MARKER_H
