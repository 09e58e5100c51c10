/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-distsim.h"

#include "ns3/proteus-executor.h"
#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-number-text.h"

#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Passes on to the run of a lone communication that the whole is to stop.
class StopObserver : public RunObserver
{
  public:
    /// @param whole who knows
    explicit StopObserver(const RunObserver& whole)
        : m_whole(whole)
    {
    }

    bool IsStopWanted() const override
    {
        return m_whole.IsStopWanted();
    }

  private:
    const RunObserver& m_whole;
};

/// @param isPacketLevel whether communications are timed packet by packet, or as flows
/// @return what the executor is
ExecutorTraits
DescribeDistSim(bool isPacketLevel)
{
    ExecutorTraits traits;
    traits.name = isPacketLevel ? "distsim" : "distsim-flow";
    traits.description = std::string("each communication alone") +
                         (isPacketLevel ? "" : " at flow level") + ", replayed";
    traits.position = isPacketLevel ? 7 : 8;
    traits.hasPackets = isPacketLevel;
    traits.hasPaths = true;
    traits.hasCongestion = !isPacketLevel;
    traits.repeats = isPacketLevel ? "packet" : "flow";
    traits.collectiveFields = GetFlowCollectiveFields();
    return traits;
}

/// A graph with one communication.
ExecutionGraph
MakeLoneCommunication(const Task& task, const std::vector<DeviceId>& group, uint32_t nDevices)
{
    GraphBuilder builder(nDevices);
    builder.AddCommunication(builder.AddPhase("iteration"),
                             builder.AddGroup(group),
                             builder.AddStream("communication"),
                             ToString(task.collective),
                             task.collective,
                             task.bytes,
                             task.parallelism,
                             {},
                             task.root);
    return builder.Build();
}

void
AddWork(NetworkStatistics& sum, const NetworkStatistics& more)
{
    sum.packets += more.packets;
    sum.controlPackets += more.controlPackets;
    sum.packetHops += more.packetHops;
    sum.events += more.events;
    sum.messages += more.messages;
    sum.queuePairs += more.queuePairs;
    sum.dropped += more.dropped;
    sum.repeated += more.repeated;
    sum.pauses += more.pauses;
    sum.marked += more.marked;
    sum.timeouts += more.timeouts;
}

/// DistSim, see RunDistSim(): communications are timed alone by another executor, each in a network
/// of its own, with the settings of the whole run.
class DistSimExecutor : public Executor
{
  public:
    /// @param isPacketLevel whether communications are timed packet by packet, or as flows
    explicit DistSimExecutor(bool isPacketLevel)
        : Executor(DescribeDistSim(isPacketLevel))
    {
    }

  private:
    RunRecord DoRun(const ExecutionGraph& graph,
                    const Cluster& cluster,
                    const ExecutorSettings& settings,
                    RunObserver& observer) const override
    {
        const Executor& alone = FindExecutor(GetTraits().repeats);
        ExecutorSettings quiet = settings;
        quiet.recordsSeries = false;
        quiet.recordsChannels = false;
        quiet.runtime.startControl = nullptr; // a lone communication waits for no other
        DistSimOptions options;
        options.runtime = settings.runtime;
        RunRecord record;
        uint64_t timed = 0;
        const IsolatedRun run = [&](const Task& task, const std::vector<DeviceId>& group) {
            ++timed;
            observer.OnStep("communication " + std::to_string(timed) + " alone, " +
                            ToString(task.collective) + " of " + FormatCount(task.bytes) +
                            " bytes among " + std::to_string(group.size()));
            StopObserver stop(observer);
            const RunRecord lone =
                alone.Run(MakeLoneCommunication(task, group, graph.GetNDevices()),
                          cluster,
                          quiet,
                          &stop);
            if (lone.isPartial)
            {
                throw RunStopped("DistSim was stopped before all communications were timed");
            }
            AddWork(record.network, lone.network);
            std::vector<int64_t> ends;
            for (const DeviceId device : group)
            {
                for (const Span& span : lone.timeline.spans)
                {
                    if (span.device == device)
                    {
                        ends.push_back(span.endPs);
                    }
                }
            }
            return ends;
        };
        DistSimResult replay = RunDistSim(graph, cluster, run, options);
        uint64_t instances = 0;
        for (const UniqueEvent& event : replay.events)
        {
            instances += event.instances;
        }
        observer.OnRemark("DistSim: " + FormatCount(instances) + " events, " +
                          std::to_string(replay.events.size()) + " of them unique, " +
                          std::to_string(timed) + " communications timed alone at " +
                          GetTraits().repeats + " level");
        record.timeline = std::move(replay.timeline);
        return record;
    }
};

const ExecutorRegistration DISTSIM(std::make_unique<DistSimExecutor>(true));
const ExecutorRegistration DISTSIM_FLOW(std::make_unique<DistSimExecutor>(false));

} // namespace

} // namespace proteus
} // namespace ns3
