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
#include "ns3/proteus-device-runtimes.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-link-losses.h"
#include "ns3/proteus-ranks.h"
#include "ns3/proteus-required-arguments.h"
#include "ns3/proteus-simulator-time.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusTrainingJob");
NS_OBJECT_ENSURE_REGISTERED(TrainingJob);

bool
TrainingJob::HasKernels(const ExecutionGraph& graph)
{
    const auto& tasks = graph.GetTasks();
    return std::any_of(tasks.begin(), tasks.end(), [](const Task& task) {
        return task.kind == TaskKind::COMPUTE &&
               (task.flops > 0 || task.bytes > 0 || task.threadBlocks > 0);
    });
}

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
                                          "for each other in a circle, which ends the run, longer "
                                          "while no packet moves; 0: look only when nothing moves "
                                          "any more.",
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
    m_doneReport = nullptr;
    for (uint32_t i = 0; i < m_applications.GetN(); ++i)
    {
        m_applications.Get(i)->Dispose(); // nodes keep them, and would start them
    }
    m_devices.clear();
    m_applications = ApplicationContainer();
    m_control = nullptr;
    m_sharing = nullptr;
    m_profiles = nullptr;
    if (m_network) // Install() may have refused the graph
    {
        m_network->Dispose();
        m_fabric->Dispose();
    }
    Object::DoDispose();
}

void
TrainingJob::RequireInstalled(const std::string& function) const
{
    if (m_devices.empty())
    {
        throw std::logic_error("TrainingJob::" + function +
                               "(): nothing is installed, or Dispose() was called");
    }
}

void
TrainingJob::Install(std::shared_ptr<const ExecutionGraph> graph,
                     Ptr<Fabric> fabric,
                     Ptr<PacketNetwork> network,
                     const RuntimeOptions& options)
{
    NS_LOG_FUNCTION(this << fabric << network);
    if (m_graph)
    {
        throw std::logic_error("TrainingJob::Install(): was called before");
    }
    RequireThere(graph, "the graph");
    RequireThere(fabric, "the fabric");
    RequireThere(network, "the network");
    RequireCluster(*fabric);
    if (graph->GetNDevices() == 0)
    {
        throw std::invalid_argument("the graph has no devices: GraphBuilder or LoadGraph() makes "
                                    "one");
    }
    const Cluster& cluster = fabric->GetCluster();
    RequireGpus(*graph, cluster);
    RequireRealSizes(*graph);
    network->SetUp(*graph, fabric); // what it refuses stays the caller's, who may go on with it
    m_graph = graph;
    m_fabric = fabric;
    m_network = network;
    m_clock = std::make_shared<SimulatorClock>(fabric);
    if (options.startControl)
    {
        RequireOneProcess("a schedule of communication, which decides for all devices at once,",
                          "the schedule");
    }
    m_network->MakeQueuePairs();
    m_totalBytes = m_network->GetTotalBytes();
    m_control = options.MakeStartControl(*m_graph, *m_clock);
    if (options.sharesGpu && HasKernels(*graph))
    {
        InstallSharing(options);
        if (m_fabric->GetRanks())
        {
            ShareAcrossRanks();
        }
    }
    const TasksByDevice tasks(*graph);
    m_devices.resize(graph->GetNDevices());
    for (DeviceId device = 0; device < graph->GetNDevices(); ++device)
    {
        if (fabric->IsLocal(cluster.GetGpus()[device]))
        {
            InstallDevice(device, options, tasks);
        }
    }
    for (const Ptr<const Object>& object : {Ptr<const Object>(m_fabric),
                                            Ptr<const Object>(m_network),
                                            Ptr<const Object>(m_network->GetTransport())})
    {
        m_settled.Add(object);
    }
    m_totalTasks = CountSpans(*graph);
    m_spans.reserve(m_totalTasks);
}

void
TrainingJob::InstallDevice(DeviceId device,
                           const RuntimeOptions& options,
                           const TasksByDevice& tasks)
{
    const Cluster& cluster = m_fabric->GetCluster();
    const VertexId vertex = cluster.GetGpus()[device];
    auto application = CreateObject<GpuApplication>();
    application->SetRuntime(
        std::make_unique<DeviceRuntime>(*m_graph,
                                        device,
                                        FindGpuDatasheet(cluster.GetVertices()[vertex].model),
                                        options,
                                        *m_clock,
                                        *m_network,
                                        m_control.get(),
                                        m_sharing.get(),
                                        &tasks));
    application->TraceConnectWithoutContext("TaskEnd", MakeCallback(&TrainingJob::OnTaskEnd, this));
    m_fabric->GetNodes().Get(vertex)->AddApplication(application);
    m_applications.Add(application);
    m_devices[device] = application;
}

void
TrainingJob::InstallSharing(const RuntimeOptions& options)
{
    const Cluster& cluster = m_fabric->GetCluster();
    const CollectiveSettings settings = m_network->MakeSettings();
    FlowParameters parameters;
    parameters.kernelCosts = settings.kernelCosts;
    parameters.pluginLatencyPs = settings.pluginLatencyPs;
    m_paths = m_fabric->SharePaths();
    m_profiles = std::make_shared<FlowProfiles>(*m_graph,
                                                cluster,
                                                *m_paths,
                                                parameters,
                                                m_network->SharePrograms());
    m_profiles->SetStopCheck([this] {
        if (m_report)
        {
            OnFabricProgress(0);
        }
        if (m_isStopped)
        {
            throw RunStopped("stopped while a collective was timed");
        }
    });
    const auto use = [use = MakeCommunicationUse(*m_graph, cluster, *m_profiles)](TaskId task) {
        try
        {
            return use(task);
        }
        catch (const RunStopped&)
        {
            return CommunicationUse(); // the run ends at the present time: nobody will feel it
        }
    };
    m_sharing = std::make_shared<GpuSharing>(
        *m_graph,
        FindDatasheets(*m_graph, cluster),
        options.roofline,
        *m_clock,
        [this, &cluster, use, kernelCopies = settings.kernelCopies](TaskId task) {
            CommunicationUse taken = use(task);
            const auto& group = m_graph->GetGroup(m_graph->GetTask(task).place);
            const bool isLocal = std::all_of(group.begin(), group.end(), [&](DeviceId device) {
                return cluster.GetServer(device) == cluster.GetServer(group.front());
            });
            // Copy engines need no multiprocessors.
            const bool isCopied =
                isLocal && !kernelCopies && m_graph->GetTask(task).threadBlocks == 0;
            taken.multiprocessors = isCopied ? 0 : taken.multiprocessors;
            return taken;
        });
}

SharingStatistics
TrainingJob::GetSharing() const
{
    SharingStatistics statistics = m_sharingOfOthers;
    if (m_sharing)
    {
        statistics.besidePs += m_sharing->GetStatistics().besidePs;
        statistics.addedPs += m_sharing->GetStatistics().addedPs;
    }
    return statistics;
}

void
TrainingJob::SetProgressReport(std::function<void(const Progress&)> report)
{
    RequireInstalled("SetProgressReport");
    if (!m_report)
    {
        m_rankProgress = std::make_unique<RankProgress>();
        m_fabric->TraceConnectWithoutContext("Progress",
                                             MakeCallback(&TrainingJob::OnFabricProgress, this));
        m_network->SetWaitCheck([this] {
            OnFabricProgress(0);
            return !m_isStopped;
        });
    }
    m_report = std::move(report);
}

TrainingJob::Progress
TrainingJob::GetProgress() const
{
    RequireInstalled("GetProgress");
    Progress progress;
    progress.tasks = m_spans.size();
    progress.totalTasks = m_totalTasks;
    progress.bytes = m_network->GetSentBytes();
    progress.totalBytes = m_totalBytes;
    progress.packetHops = m_fabric->GetPacketHops();
    progress.repeatedHops = m_network->GetRepetition().packetHops;
    // What is executed late lies behind the simulator's clock.
    progress.timePs = std::max(m_fabric->GetTimePs(), Simulator::Now().GetPicoSeconds());
    return progress;
}

void
TrainingJob::OnFabricProgress(uint64_t /* events */)
{
    const Progress progress = m_rankProgress->Add(GetProgress());
    if (GetRank() == 0)
    {
        m_report(progress);
    }
}

void
TrainingJob::OnTaskEnd(const Span& span)
{
    m_spans.push_back(span);
    if (m_doneReport && m_spans.size() == m_totalTasks)
    {
        m_doneReport();
    }
}

void
TrainingJob::Run()
{
    NS_LOG_FUNCTION(this);
    RequireInstalled("Run");
    for (uint32_t i = 0; i < m_applications.GetN(); ++i)
    {
        if (!DynamicCast<GpuApplication>(m_applications.Get(i))->HasRuntime())
        {
            throw std::logic_error("TrainingJob::Run(): Simulator::Destroy() was called before");
        }
        TimeValue start;
        m_applications.Get(i)->GetAttribute("StartTime", start);
        if (start.Get().IsStrictlyNegative()) // ns-3 would wait for ever
        {
            throw std::invalid_argument("ns3::Application::StartTime: must not be negative");
        }
    }
    m_settled.RequireUnchanged();
    if (m_fabric->GetRanks())
    {
        RunRanks();
        return;
    }
    const bool isCut = StallWatch::Run(m_fabric, m_deadlockInterval);
    if (isCut && !m_isStopped && m_spans.size() < m_totalTasks)
    {
        throw std::runtime_error(DescribeCut(m_spans.size(), m_totalTasks, "tasks have ended"));
    }
    if (isCut || m_isStopped)
    {
        m_network->Settle(false);
        SampleClock::Finish();
        return;
    }
    m_network->Settle(true);
    if (m_network->ExecuteHeld() || !Simulator::IsFinished())
    {
        // Some rank never comes: what the others do meanwhile says who waits for what.
        StallWatch::Run(m_fabric, m_deadlockInterval);
        m_network->Settle(true);
    }
    const std::string rest = DescribeRest();
    if (!rest.empty())
    {
        throw std::runtime_error(rest);
    }
}

std::string
TrainingJob::DescribeRest() const
{
    const std::string circle = m_fabric->FindDeadlock();
    if (!circle.empty())
    {
        return "the job cannot finish; deadlock: " + circle;
    }
    const std::string stall = DescribeStall(*m_graph, GetRuntimes());
    if (!stall.empty())
    {
        return stall + DescribeLinkFaults(*m_fabric);
    }
    const std::string left = m_network->CheckAtRest();
    return left.empty() ? ""
                        : "the job is done, but the fabric is not at rest: " + left +
                              DescribeLinkFaults(*m_fabric);
}

void
TrainingJob::Stop()
{
    NS_LOG_FUNCTION(this);
    RequireInstalled("Stop");
    RequireOneProcess("a run that is stopped before its end", "let it come to its end");
    if (!m_isStopped)
    {
        m_isStopped = true;
        StallWatch::StopAtPresent(m_fabric);
    }
}

std::vector<const DeviceRuntime*>
TrainingJob::GetRuntimes() const
{
    std::vector<const DeviceRuntime*> runtimes;
    for (const auto& device : m_devices)
    {
        runtimes.push_back(device ? &device->GetRuntime() : nullptr);
    }
    return runtimes;
}

Timeline
TrainingJob::GetTimeline() const
{
    if (m_gathered)
    {
        return *m_gathered;
    }
    return m_isStopped ? MakePartialTimeline(*m_graph,
                                             m_spans,
                                             GetRuntimes(),
                                             Simulator::Now().GetPicoSeconds())
                       : MakeTimeline(m_spans, GetRuntimes());
}

} // namespace proteus
} // namespace ns3
