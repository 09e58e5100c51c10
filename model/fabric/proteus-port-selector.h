/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PORT_SELECTOR_H
#define PROTEUS_PORT_SELECTOR_H

#include "proteus-fabric-endpoint.h"
#include "proteus-fabric-settings.h"
#include "proteus-port.h"

#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Which of several ports that lead to its destination a unit takes.
 */
class PortSelector
{
  public:
    /// @param mode how to choose @param ports to choose from @param places GetFlowPlaces(); all
    /// must outlive this
    void SetUp(const RoutingMode& mode, const PortTable& ports, const std::vector<uint32_t>& places)
    {
        m_mode = &mode;
        m_ports = &ports;
        m_places = &places;
    }

    /**
     * @param at the vertex of the ports
     * @param record the unit
     * @param choices two ports or more
     * @param endpoint that knows the hash of the unit's flow
     * @param nowPs present time
     * @return one of them
     */
    PortId Choose(VertexId at,
                  const PacketRecord& record,
                  const std::vector<PortId>& choices,
                  const FabricEndpoint& endpoint,
                  int64_t nowPs) const;

  private:
    /// @param choices as Choose() @param first where to begin @param trafficClass of the unit
    /// @param nowPs present time @return the one that is free first, NO_PORT if all have failed
    PortId FindShortest(const std::vector<PortId>& choices,
                        uint32_t first,
                        uint32_t trafficClass,
                        int64_t nowPs) const;

    const RoutingMode* m_mode{nullptr};             //!< how
    const PortTable* m_ports{nullptr};              //!< from what
    const std::vector<uint32_t>* m_places{nullptr}; //!< by vertex: what hashes know it by
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PORT_SELECTOR_H
