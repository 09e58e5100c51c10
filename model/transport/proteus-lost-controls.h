/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LOST_CONTROLS_H
#define PROTEUS_LOST_CONTROLS_H

#include "proteus-queue-pair-timers.h"
#include "proteus-transport-core.h"

#include "ns3/proteus-packet.h"

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A link has lost a control unit. Inside a server nobody acknowledges control units, but the link
 * sees that one is lost, as PCI Express and NVLink do: it is sent again after
 * Transport::RetransmissionTimeout, at most RetryLimit times in a row, and may come behind what was
 * sent meanwhile. Over a network its acknowledgement will be missing, so that nothing is done here.
 * @param core of the transport
 * @param timers of queue pairs
 * @param record the control unit
 */
void NoteLostControl(TransportCore& core, QueuePairTimers& timers, const PacketRecord& record);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LOST_CONTROLS_H
