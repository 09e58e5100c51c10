/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-training-job.h"

#include "proteus-stall-watch.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/proteus-compat.h"
#include "ns3/proteus-simulator-time.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusTrainingJob");
NS_OBJECT_ENSURE_REGISTERED(TrainingJob);

namespace
{

/// Lines of a message about a job that does not finish.
constexpr std::size_t MAX_STALL_LINES = 12;

} // namespace

class TrainingJob::SimulatorClock : public Clock
{
  public:
    explicit SimulatorClock(Ptr<Fabric> fabric)
        : m_fabric(fabric)
    {
    }

    int64_t GetTimePs() const override
    {
        return Simulator::Now().GetPicoSeconds();
    }

    void Schedule(DeviceId device, int64_t delayPs, std::function<void()> callback) override
    {
        const VertexId vertex = m_fabric->GetCluster().GetGpus()[device];
        ScheduleFunctionWithContext(m_fabric->GetNodes().Get(vertex)->GetId(),
                                    CeilToStep(delayPs),
                                    std::move(callback));
    }

  private:
    Ptr<Fabric> m_fabric; //!< whose nodes give the contexts
};

TypeId
TrainingJob::GetTypeId()
{
    static TypeId tid = TypeId("ns3::proteus::TrainingJob")
                            .SetParent<Object>()
                            .SetGroupName("Proteus")
                            .AddConstructor<TrainingJob>()
                            .AddAttribute("DeadlockCheckInterval",
                                          "Simulated time between two looks for ports that wait "
                                          "for each other in a circle, which ends the run; 0: look "
                                          "only when nothing moves any more.",
                                          TimeValue(MilliSeconds(1)),
                                          MakeTimeAccessor(&TrainingJob::m_deadlockInterval),
                                          MakeTimeChecker(Seconds(0)));
    return tid;
}

TrainingJob::TrainingJob()
{
    NS_LOG_FUNCTION(this);
}

TrainingJob::~TrainingJob()
{
    NS_LOG_FUNCTION(this);
}

void
TrainingJob::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_report = nullptr;
    m_devices.clear();
    m_applications = ApplicationContainer();
    if (m_network) // Install() may have refused the graph
    {
        m_network->Dispose();
        m_fabric->Dispose();
    }
    Object::DoDispose();
}

void
TrainingJob::Install(std::shared_ptr<const ExecutionGraph> graph,
                     Ptr<Fabric> fabric,
                     Ptr<PacketNetwork> network,
                     const RuntimeOptions& options)
{
    NS_LOG_FUNCTION(this << fabric << network);
    const Cluster& cluster = fabric->GetCluster();
    if (graph->GetNDevices() > cluster.GetGpus().size())
    {
        throw std::invalid_argument("the graph needs " + std::to_string(graph->GetNDevices()) +
                                    " GPUs, and cluster '" + cluster.GetName() + "' has " +
                                    std::to_string(cluster.GetGpus().size()) +
                                    ": add servers, or use a smaller strategy");
    }
    m_graph = graph;
    m_fabric = fabric;
    m_network = network;
    m_clock = std::make_shared<SimulatorClock>(fabric);
    m_network->SetUp(*m_graph, m_fabric);
    m_totalBytes = m_network->GetTotalBytes();
    for (DeviceId device = 0; device < graph->GetNDevices(); ++device)
    {
        const VertexId vertex = cluster.GetGpus()[device];
        auto application = CreateObject<GpuApplication>();
        application->SetRuntime(
            std::make_unique<DeviceRuntime>(*m_graph,
                                            device,
                                            FindGpuDatasheet(cluster.GetVertices()[vertex].model),
                                            options,
                                            *m_clock,
                                            *m_network));
        application->TraceConnectWithoutContext("TaskEnd",
                                                MakeCallback(&TrainingJob::OnTaskEnd, this));
        fabric->GetNodes().Get(vertex)->AddApplication(application);
        m_applications.Add(application);
        m_devices.push_back(application);
    }
    for (const Task& task : graph->GetTasks())
    {
        if (task.kind != TaskKind::MEMORY)
        {
            const auto devices = task.kind == TaskKind::COMPUTE
                                     ? std::size_t{1}
                                     : graph->GetGroup(task.place).size();
            m_totalTasks += devices * graph->GetNInstances(task);
        }
    }
    m_spans.reserve(m_totalTasks);
}

void
TrainingJob::SetProgressReport(std::function<void(const Progress&)> report)
{
    if (!m_report)
    {
        m_fabric->TraceConnectWithoutContext("Progress",
                                             MakeCallback(&TrainingJob::OnFabricProgress, this));
    }
    m_report = std::move(report);
}

TrainingJob::Progress
TrainingJob::GetProgress() const
{
    Progress progress;
    progress.tasks = m_spans.size();
    progress.totalTasks = m_totalTasks;
    progress.bytes = m_network->GetSentBytes();
    progress.totalBytes = m_totalBytes;
    progress.packetHops = m_fabric->GetPacketHops();
    progress.timePs = m_fabric->GetTimePs();
    return progress;
}

void
TrainingJob::OnFabricProgress(uint64_t /* events */)
{
    m_report(GetProgress());
}

void
TrainingJob::OnTaskEnd(const Span& span)
{
    m_spans.push_back(span);
}

void
TrainingJob::Run()
{
    NS_LOG_FUNCTION(this);
    StallWatch::Run(m_fabric, m_deadlockInterval);
    const std::string circle = m_fabric->FindDeadlock();
    if (!circle.empty())
    {
        throw std::runtime_error("the job cannot finish; deadlock: " + circle);
    }
    std::string stall;
    std::size_t lines = 0;
    for (DeviceId device = 0; device < m_devices.size(); ++device)
    {
        if (m_devices[device]->GetRuntime().IsDone())
        {
            continue;
        }
        for (const std::string& line : m_devices[device]->GetRuntime().DescribeStall())
        {
            if (lines++ < MAX_STALL_LINES)
            {
                stall += "\n  device " + std::to_string(device) + ": " + line;
            }
        }
    }
    if (!stall.empty())
    {
        if (lines > MAX_STALL_LINES)
        {
            stall += "\n  and " + std::to_string(lines - MAX_STALL_LINES) + " more";
        }
        throw std::runtime_error("the job cannot finish; waiting are:" + stall);
    }
    const std::string left = m_network->CheckAtRest();
    if (!left.empty())
    {
        throw std::runtime_error("the job is done, but the fabric is not at rest: " + left);
    }
}

Timeline
TrainingJob::GetTimeline() const
{
    Timeline timeline;
    timeline.spans = m_spans;
    std::sort(timeline.spans.begin(), timeline.spans.end(), [](const Span& a, const Span& b) {
        return std::tie(a.endPs, a.device, a.startPs, a.task, a.microBatch) <
               std::tie(b.endPs, b.device, b.startPs, b.task, b.microBatch);
    });
    for (const auto& device : m_devices)
    {
        timeline.memory.push_back(device->GetRuntime().GetMemory());
        timeline.peakMemoryBytes.push_back(device->GetRuntime().GetPeakMemoryBytes());
    }
    timeline.endPs = timeline.spans.empty() ? 0 : timeline.spans.back().endPs;
    return timeline;
}

} // namespace proteus
} // namespace ns3
