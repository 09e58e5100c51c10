/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRANSPORT_CORE_H
#define PROTEUS_TRANSPORT_CORE_H

#include "proteus-queue-pair-table.h"
#include "proteus-transport-settings.h"
#include "proteus-transport-user.h"

#include "ns3/proteus-fabric.h"

#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the parts of a Transport share.
struct TransportCore
{
    const TransportSettings& settings; //!< what its attributes say
    Ptr<Fabric> fabric;                //!< what is sent over; null before Transport::SetFabric()
    TransportUser* user{nullptr};      //!< whom to tell
    QueuePairTable pairs;              //!< all queue pairs

    /// @param queuePair a queue pair @return whom to tell of it
    TransportUser& GetUser(uint32_t queuePair) const
    {
        TransportUser* const own = pairs.GetState(queuePair).user;
        return own ? *own : *user;
    }

    /// @param at a stop of packets @param device an end of a queue pair @return whether it is a NIC
    /// of the device's server, which notifies and heeds for it (DCQCN's notification and reaction
    /// points are NICs: Zhu et al., SIGCOMM 2015, section 3.1)
    bool IsNicOf(VertexId at, VertexId device) const;

    /// @param queuePair a queue pair @return "queue pair 3 from gpu0 to gpu8", for messages
    std::string Describe(uint32_t queuePair) const;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRANSPORT_CORE_H
