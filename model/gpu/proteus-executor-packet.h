/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EXECUTOR_PACKET_H
#define PROTEUS_EXECUTOR_PACKET_H

#include "ns3/proteus-executor.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-transport.h"
#include "ns3/ptr.h"

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Hears of runs at packet level, and may connect to what they consist of. Executor "packet" looks
 * whether its observer is one.
 */
class PacketObserver : public RunObserver
{
  public:
    /// Called when everything is installed, before the simulator runs.
    /// @param fabric of the links @param transport of the queue pairs
    virtual void OnInstall(Ptr<Fabric> fabric, Ptr<Transport> transport);
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EXECUTOR_PACKET_H
