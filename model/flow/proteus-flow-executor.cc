/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-executor.h"

#include "ns3/proteus-device-runtimes.h"
#include "ns3/proteus-executor.h"

#include <utility>

namespace ns3
{
namespace proteus
{

FlowExecutor::FlowExecutor(const ExecutionGraph& graph,
                           const Cluster& cluster,
                           const RuntimeOptions& options,
                           FlowClock& clock,
                           Network& network,
                           GpuSharing* sharing,
                           Clock* devices)
    : m_graph(graph),
      m_clock(clock),
      m_control(options.MakeStartControl(graph, clock))
{
    RequireGpus(graph, cluster);
    m_spans.reserve(CountSpans(graph));
    const TasksByDevice tasks(graph);
    for (DeviceId device = 0; device < graph.GetNDevices(); ++device)
    {
        const VertexId vertex = cluster.GetGpus()[device];
        m_devices.push_back(
            std::make_unique<DeviceRuntime>(graph,
                                            device,
                                            FindGpuDatasheet(cluster.GetVertices()[vertex].model),
                                            options,
                                            devices ? *devices : clock,
                                            network,
                                            m_control.get(),
                                            sharing,
                                            &tasks));
        m_devices.back()->SetSpanSink([this](const Span& span) {
            m_spans.push_back(span);
            if (m_report)
            {
                m_report(m_spans.size());
            }
        });
        clock.Schedule(device, 0, [runtime = m_devices.back().get()]() { runtime->Start(); });
    }
}

Timeline
FlowExecutor::Run()
{
    try
    {
        m_clock.Run();
    }
    catch (const RunStopped&) // out of an event that takes long: what is over is known
    {
        if (!m_clock.IsStopped())
        {
            throw;
        }
    }
    std::vector<const DeviceRuntime*> devices;
    for (const auto& device : m_devices)
    {
        devices.push_back(device.get());
    }
    if (m_clock.IsStopped())
    {
        return MakePartialTimeline(m_graph, m_spans, devices, m_clock.GetTimePs());
    }
    RequireDone(m_graph, devices);
    Timeline timeline = MakeTimeline(std::move(m_spans), {});
    for (auto& device : m_devices)
    {
        timeline.memory.push_back(device->TakeMemory()); // not twice in memory
        timeline.peakMemoryBytes.push_back(device->GetPeakMemoryBytes());
        device.reset(); // what comes next can have its memory
    }
    return timeline;
}

} // namespace proteus
} // namespace ns3
