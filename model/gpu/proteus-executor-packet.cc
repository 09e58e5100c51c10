/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-executor-packet.h"

#include "proteus-attribute-defaults.h"
#include "proteus-executor-settings.h"
#include "proteus-gpu-application.h"
#include "proteus-rank-work.h"
#include "proteus-scenario-player.h"
#include "proteus-training-job.h"

#include "ns3/callback.h"
#include "ns3/nstime.h"
#include "ns3/proteus-fabric-setup.h"
#include "ns3/proteus-link-recorder.h"
#include "ns3/proteus-number-text.h"
#include "ns3/proteus-ranks.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

void
PacketObserver::OnInstall(Ptr<Fabric> /* fabric */, Ptr<Transport> /* transport */)
{
}

namespace
{

/// @return what the executor is
ExecutorTraits
DescribePacket()
{
    ExecutorTraits traits;
    traits.name = "packet";
    traits.description = "every packet";
    traits.position = 1;
    traits.isExact = true;
    traits.hasPackets = true;
    traits.sharesGpus = true;
    traits.hasPaths = true;
    traits.scenarioParts = {"link failures",
                            "link rates",
                            "link losses",
                            "PFC storms",
                            "background traffic",
                            "slow devices"};
    return traits;
}

/// Gives communications their traffic classes. @param priority of them, with classes
/// @param fabric not set up yet @param network not set up yet
void
ApplyWirePriority(const WirePriority& priority, Ptr<Fabric> fabric, Ptr<PacketNetwork> network)
{
    UintegerValue known;
    fabric->GetAttribute("TrafficClasses", known);
    fabric->SetAttribute("TrafficClasses",
                         UintegerValue(std::max<uint64_t>(known.Get(), priority.classes + 1)));
    if (!priority.weights.empty())
    {
        std::string weights = "0"; // acknowledgements go first, as ever
        for (const uint32_t weight : priority.weights)
        {
            weights += ',' + std::to_string(weight);
        }
        fabric->SetAttribute("ClassWeights", StringValue(weights));
    }
    network->SetTrafficClasses(std::make_shared<const std::vector<uint8_t>>(priority.classOf));
    network->SetAttribute("Repetition", StringValue("off"));
}

/// @param graph to run @param cluster to run on; both must outlive the job
/// @param settings of the run @param priority of its communications @return the job, ready to run
Ptr<TrainingJob>
InstallJob(const ExecutionGraph& graph,
           const Cluster& cluster,
           const ExecutorSettings& settings,
           const WirePriority& priority)
{
    Ptr<Fabric> fabric = CreateObject<Fabric>();
    Ptr<PacketNetwork> network = CreateObject<PacketNetwork>();
    ApplyCollectiveSettings(settings.collectives, network);
    if (priority.classes > 0)
    {
        ApplyWirePriority(priority, fabric, network);
    }
    SetUpFabric(fabric, std::shared_ptr<const Cluster>(std::shared_ptr<void>(), &cluster));
    if (settings.scenario &&
        !(settings.scenario->changes.empty() && settings.scenario->traffic.empty()))
    {
        // Communications then depend on more than on what they themselves do.
        network->SetAttribute("Repetition", StringValue("off"));
    }
    const int64_t used = network->AssignStreams(settings.stream);
    fabric->AssignStreams(settings.stream + used);
    Ptr<TrainingJob> job = CreateObject<TrainingJob>();
    const std::shared_ptr<const ExecutionGraph> borrowed(std::shared_ptr<void>(), &graph);
    job->Install(borrowed, fabric, network, settings.runtime);
    return job;
}

/// Adds what a reader should know of a run by several processes (MPI ranks), if it was one.
/// @param job that was run @param settings of it @param record gets notes
void
AddRankNotes(Ptr<TrainingJob> job, const ExecutorSettings& settings, RunRecord& record)
{
    const Ptr<Fabric> fabric = job->GetFabric();
    if (!fabric->GetRanks())
    {
        return;
    }
    record.notes.push_back("packet: " + std::to_string(GetNRanks()) + " MPI ranks, " +
                           DescribeRankWork(fabric) +
                           "; what crosses between ranks, and what shares links with that, is not "
                           "repeated");
    if (settings.recordsSeries)
    {
        record.notes.push_back("packet: links over time are left out, as one process only can "
                               "record them");
    }
}

/// Has an observer hear of a run, which it may stop. @param job that is run @param observer of it;
/// must outlive the run
void
ReportProgress(Ptr<TrainingJob> job, RunObserver& observer)
{
    job->SetProgressReport([&observer, raw = PeekPointer(job)](const RunProgress& progress) {
        observer.OnProgress(progress);
        if (observer.IsStopWanted())
        {
            raw->Stop();
        }
    });
}

/// Adds what a reader should know of a run, if there is anything. @param job that was run
/// @param settings of it @param record gets notes
void
AddNotes(Ptr<TrainingJob> job, const ExecutorSettings& settings, RunRecord& record)
{
    AddRankNotes(job, settings, record);
    if (const Time start = ReadDefault<TimeValue>(GpuApplication::GetTypeId(), "StartTime").Get();
        start.IsStrictlyPositive())
    {
        record.notes.push_back("packet: the GPUs begin " + FormatTime(start.GetSeconds()) +
                               " after time 0, from which the iteration time is counted "
                               "(ns3::Application::StartTime)");
    }
    if (settings.recordsSeries && GetNRanks() == 1 && record.network.repetition.repeated > 0)
    {
        record.notes.push_back("packet: links over time have what was repeated spread evenly over "
                               "its time, with its longest queue; --repetition=off samples all");
    }
    AddSharingNote(job->GetSharing(), job->GetGraph().GetNDevices(), record);
    const std::string obstacle = GetFirstTextOfRanks(job->GetNetwork()->GetRepetitionObstacle());
    if (!obstacle.empty())
    {
        record.notes.push_back("packet: communications that are alike were all executed, and "
                               "none repeated, because " +
                               obstacle);
    }
}

/// Puts together what channels did in all processes, in an order that does not depend on these.
/// @param channels of this process; gets those of all
void
GatherChannels(std::vector<ChannelSpan>& channels)
{
    channels = JoinRecordsOfRanks(channels);
    std::sort(channels.begin(), channels.end(), [](const ChannelSpan& a, const ChannelSpan& b) {
        return std::tie(a.endPs, a.device, a.task, a.microBatch, a.block) <
               std::tie(b.endPs, b.device, b.task, b.microBatch, b.block);
    });
}

/// @param plan of a scenario @param job that it happens to @return what makes it happen
std::unique_ptr<ScenarioPlayer>
MakePlayer(const ScenarioPlan& plan, Ptr<TrainingJob> job)
{
    return std::make_unique<ScenarioPlayer>(plan,
                                            job->GetFabric(),
                                            job->GetNetwork()->GetTransport(),
                                            [job] {
                                                const RunProgress progress = job->GetProgress();
                                                return progress.tasks == progress.totalTasks;
                                            });
}

/// Sends every packet: ns-3's events are those of the fabric. The simulator is destroyed in the
/// end, so that several runs may follow each other.
class PacketExecutor : public Executor
{
  public:
    /// @param priority of communications
    explicit PacketExecutor(WirePriority priority = WirePriority())
        : Executor(DescribePacket()),
          m_priority(std::move(priority))
    {
    }

  private:
    RunRecord DoRun(const ExecutionGraph& graph,
                    const Cluster& cluster,
                    const ExecutorSettings& settings,
                    RunObserver& observer) const override
    {
        if (settings.scenario)
        {
            RequireRanks(*settings.scenario);
        }
        const Ptr<TrainingJob> job = InstallJob(graph, cluster, settings, m_priority);
        if (auto* packets = dynamic_cast<PacketObserver*>(&observer))
        {
            packets->OnInstall(job->GetFabric(), job->GetNetwork()->GetTransport());
        }
        std::unique_ptr<ScenarioPlayer> player;
        if (settings.scenario)
        {
            player = MakePlayer(*settings.scenario, job);
        }
        std::unique_ptr<LinkRecorder> recorder;
        if (settings.recordsSeries && GetNRanks() == 1)
        {
            recorder = std::make_unique<LinkRecorder>(job->GetFabric());
        }
        RunRecord record;
        if (settings.scenario && !settings.scenario->traffic.empty())
        {
            // Messages of traffic that are under way by then are no part of the jobs' time.
            job->SetDoneReport([fabric = job->GetFabric(), &record] {
                for (PortId port = 0; port < fabric->GetNPorts(); ++port)
                {
                    record.links.push_back(fabric->GetStatisticsNow(port));
                }
            });
        }
        if (settings.recordsChannels)
        {
            job->GetNetwork()->RecordChannels(&record.channels);
        }
        ReportProgress(job, observer);
        const auto start = std::chrono::steady_clock::now();
        job->Run();
        record.wallS =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        record.timeline = job->GetTimeline();
        record.isPartial = job->IsStopped();
        GatherChannels(record.channels);
        if (record.links.empty())
        {
            record.links = job->GetFabric()->GetLinkStatistics();
        }
        record.network = job->GetNetwork()->GetStatistics();
        AddNotes(job, settings, record);
        if (player)
        {
            record.traffic = player->GetTraffic();
        }
        if (recorder)
        {
            record.series = recorder->GetSeries();
            recorder.reset();
        }
        job->Dispose();
        DestroySimulation();
        return record;
    }

    WirePriority m_priority; //!< of communications
};

const ExecutorRegistration PACKET(std::make_unique<PacketExecutor>());

} // namespace

void
RequireRanks(const ScenarioPlan& plan)
{
    for (const std::string& part : plan.ListParts())
    {
        if (part == "background traffic" || part == "PFC storms")
        {
            RequireOneProcess(part + " of a scenario", "that part of it");
        }
    }
}

RunRecord
RunPacketsByClass(const ExecutionGraph& graph,
                  const Cluster& cluster,
                  const ExecutorSettings& settings,
                  const WirePriority& priority,
                  RunObserver* observer)
{
    return PacketExecutor(priority).Run(graph, cluster, settings, observer);
}

} // namespace proteus
} // namespace ns3
