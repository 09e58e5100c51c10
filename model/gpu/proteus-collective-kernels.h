/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_KERNELS_H
#define PROTEUS_COLLECTIVE_KERNELS_H

#include "proteus-program-facts.h"

#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-collective-settings.h"
#include "ns3/proteus-cpu-vendor.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-launch-mode.h"
#include "ns3/proteus-program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param settings of all collectives @return whether a host that is far ahead launches kernels,
/// and in some time. Kernels wait for each other only then: in other launch modes, how far apart
/// hosts launch them is what is modelled, and those launched in no time could wait only too long.
bool AreLaunchedAhead(const CollectiveSettings& settings);

/**
 * @ingroup proteus
 * The kernels that execute collectives: when the host has launched them, and what their steps cost.
 */
class CollectiveKernels
{
  public:
    /**
     * @param graph whose collectives are executed; must outlive this object
     * @param cluster that has the GPUs; must outlive this object
     * @param settings of all collectives
     * @throw std::invalid_argument for a launch mode that there is not
     */
    CollectiveKernels(const ExecutionGraph& graph,
                      const Cluster& cluster,
                      const CollectiveSettings& settings);

    /**
     * A device joins a communication: the host launches its kernel.
     * @param device that joins
     * @param task which communication
     * @param program of the task
     * @param rank of the device in its group
     * @param nowPs present time
     * @return when the kernel begins its first step, picoseconds
     */
    int64_t Launch(DeviceId device,
                   TaskId task,
                   const CollectiveProgram& program,
                   uint32_t rank,
                   int64_t nowPs);

    /**
     * @param device whose kernel sends
     * @param program of it
     * @param facts of the program
     * @param from sending rank
     * @param to receiving rank
     * @param channel of the connection
     * @return what the thread block puts on the wire, bytes per second; 0: no limit
     */
    double GetWireRate(DeviceId device,
                       const CollectiveProgram& program,
                       const ProgramFacts& facts,
                       uint32_t from,
                       uint32_t to,
                       uint16_t channel) const;

    /**
     * @param device whose kernel has the block
     * @param protocol of the program
     * @param share of the block
     * @param inGroup whether it works with a network group
     * @param receive what its chunks cross, if it receives any
     * @param send what it sends crosses, if it sends
     * @return what its steps cost
     */
    BlockCost GetCost(DeviceId device,
                      Protocol protocol,
                      BlockShare share,
                      bool inGroup,
                      std::optional<BlockHop> receive,
                      std::optional<BlockHop> send) const;

    /// @param device that gets something from a network group @param protocol of the program
    /// @return time from its arrival to its use, picoseconds
    int64_t GetGroupLatencyPs(DeviceId device, Protocol protocol) const;

    /// @return what is set about all collectives
    const CollectiveSettings& GetSettings() const
    {
        return m_settings;
    }

  private:
    /// @param device a device @return what its kernels cost
    const CollectiveKernelCost& GetKernelCost(DeviceId device) const;

    /// @param device a device @return compute capability of its GPU, ten times; 0: not known
    uint32_t GetCapability(DeviceId device) const
    {
        return m_capabilities[device];
    }

    /// GPUs of one process know each other's addresses, so that senders store into the buffer of
    /// the user (NVIDIA/nccl v2.22.3, src/transport/p2p.cc, P2P_DIRECT; src/device/prims_simple.h).
    /// @param device that receives @param hop what the chunks cross @return whether it is so
    bool IsDirect(DeviceId device, const BlockHop& hop) const;
    /// @param task which communication @param program of it @param rank a rank of it
    /// @return what the host needs to launch the kernel of one GPU, picoseconds
    int64_t GetHostPs(const Task& task, const CollectiveProgram& program, uint32_t rank) const;

    /// @param task a communication @param device one of its GPUs
    /// @return of the kernels that one thread launches for all GPUs of its server, messages of the
    /// whole communicator among them: how many come before that of the GPU, and how many there are
    std::pair<int64_t, int64_t> FindTurn(const Task& task, DeviceId device) const;

    const ExecutionGraph& m_graph;        //!< whose collectives are executed
    const Cluster& m_cluster;             //!< that has the GPUs
    const CollectiveSettings m_settings;  //!< of all collectives
    const LaunchMode m_launchMode;        //!< who launches kernels
    std::vector<int64_t> m_hostPs;        //!< by device: when its last launch was through
    std::vector<uint32_t> m_capabilities; //!< by device: see GetCapability()
    std::vector<CpuVendor> m_cpus;        //!< by device: of its server
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_KERNELS_H
