/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_EXECUTOR_H
#define PROTEUS_FLOW_EXECUTOR_H

#include "proteus-flow-clock.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-device-runtime.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Runs an execution graph without a simulator: a DeviceRuntime for every device, on a FlowClock
 * and some Network. Device i of the graph is the GPU of rank i.
 */
class FlowExecutor
{
  public:
    /**
     * @param graph to execute; must outlive this object
     * @param cluster whose GPUs compute; must outlive this object
     * @param options how devices issue their work
     * @param clock that Run() runs; must outlive this object
     * @param network that calls back on that clock; must outlive this object
     * @param sharing what is between kernels and communication, or null; must outlive this object
     * @param devices clock that the runtimes see instead of `clock`, on which it is based, or null;
     * for a model in which computation takes longer while something else goes on
     * @throw std::invalid_argument if the graph has more devices than the cluster has GPUs, or a
     * GPU has no data sheet
     */
    FlowExecutor(const ExecutionGraph& graph,
                 const Cluster& cluster,
                 const RuntimeOptions& options,
                 FlowClock& clock,
                 Network& network,
                 GpuSharing* sharing = nullptr,
                 Clock* devices = nullptr);

    /// @param report called with the number of spans so far at the end of each
    void SetSpanReport(std::function<void(uint64_t ended)> report)
    {
        m_report = std::move(report);
    }

    /**
     * Runs the iteration, once.
     * @return what happened; until FlowClock::Stop() if that was called, behind which an event may
     * throw RunStopped
     * @throw std::runtime_error if it cannot finish: who waits for whom
     */
    Timeline Run();

  private:
    const ExecutionGraph& m_graph;
    FlowClock& m_clock;
    std::unique_ptr<StartControl> m_control; //!< may be null
    std::vector<std::unique_ptr<DeviceRuntime>> m_devices;
    std::vector<Span> m_spans;
    std::function<void(uint64_t)> m_report; //!< may be empty
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_EXECUTOR_H
