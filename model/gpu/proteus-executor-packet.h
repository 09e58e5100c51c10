/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EXECUTOR_PACKET_H
#define PROTEUS_EXECUTOR_PACKET_H

#include "ns3/proteus-executor.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-scenario-plan.h"
#include "ns3/proteus-transport.h"
#include "ns3/proteus-wire-priority.h"
#include "ns3/ptr.h"

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * An observer of runs at packet level, which may connect to the objects of a run. The executor
 * "packet" looks whether its observer is one.
 */
class PacketObserver : public RunObserver
{
  public:
    /// Called when everything is installed, before the simulator runs.
    /// @param fabric of the links @param transport of the queue pairs
    virtual void OnInstall(Ptr<Fabric> fabric, Ptr<Transport> transport);
};

/// @ingroup proteus
/// @param plan of a scenario
/// @throw std::invalid_argument if several processes (MPI ranks) cannot play it: what happens to
/// links and devices is known to all of them, but not when the job is done, nor who has paused whom
void RequireRanks(const ScenarioPlan& plan);

/**
 * @ingroup proteus
 * Executor "packet" with communications in traffic classes. The fabric has as many classes as it
 * takes, and nothing is repeated (attribute Repetition): what a communication takes depends on the
 * class of those beside it.
 * @param graph as Executor::Run()
 * @param cluster as Executor::Run()
 * @param settings as Executor::Run()
 * @param priority of its communications
 * @param observer hears of the run; may be null
 * @return as Executor::Run()
 */
RunRecord RunPacketsByClass(const ExecutionGraph& graph,
                            const Cluster& cluster,
                            const ExecutorSettings& settings,
                            const WirePriority& priority,
                            RunObserver* observer = nullptr);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EXECUTOR_PACKET_H
