/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPETITION_TEST_TOOLS_H
#define PROTEUS_REPETITION_TEST_TOOLS_H

#include "proteus-test-ranks.h"

#include "ns3/proteus-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * What the tests of repetition share.
 */

namespace ns3
{
namespace proteus
{
namespace repetitiontest
{

/// How a job is run.
struct Way
{
    std::string mode{"on"};                                           //!< of repetition
    uint64_t memoryBytes{1 << 30};                                    //!< of records
    RepetitionRecords::Field without{RepetitionRecords::Field::NONE}; //!< of keys
    std::function<void(Ptr<TrainingJob>)> prepare;                    //!< before the run
    std::string window{"20us"};                                       //!< JoinWindow
    std::string algorithm;                                            //!< empty: NCCL's choice
    std::map<std::string, std::string> transport; //!< attributes of Transport, by name
    std::map<std::string, std::string> fabric;    //!< attributes of Fabric, by name
    bool inProcesses{false}; //!< all that may is executed in processes of its own, three at a time
};

/// What a run says of itself, and how much of it was not done again.
struct Outcome
{
    std::string results;             //!< all that must not depend on repetition
    std::string error;               //!< what ended the run; empty
    RepetitionStatistics repetition; //!< what was not done again
    uint64_t packetHops{0};          //!< link crossings, whether done or not
    uint64_t timeouts{0};            //!< of senders
    uint64_t marksAndPauses{0};      //!< of the network
};

/// All numbers of links and queue pairs.
inline void
WriteNetwork(Ptr<TrainingJob> job, std::ostream& out)
{
    for (const LinkStatistics& s : job->GetFabric()->GetLinkStatistics())
    {
        out << "link " << s.link << ' ' << s.forward << ' ' << s.packets << ' ' << s.payloadBytes
            << ' ' << s.wireBytes << ' ' << s.receivedPackets << ' ' << s.receivedPayloadBytes
            << ' ' << s.busyPs << ' ' << s.maxQueueBytes << ' ' << s.creditStallPs << ' '
            << s.lostPackets << ' ' << s.droppedPackets << ' ' << s.markedPackets << ' ' << s.pauses
            << ' ' << s.pausedPs << '\n';
    }
    const Ptr<Transport> transport = job->GetNetwork()->GetTransport();
    for (uint32_t id = 0; id < transport->GetNQueuePairs(); ++id)
    {
        const QueuePairStatistics s = transport->GetStatistics(id);
        out << "pair " << id << ' ' << s.sentBytes << ' ' << s.receivedBytes << ' '
            << s.acknowledgedBytes << ' ' << s.messages << ' ' << s.retransmittedPackets << ' '
            << s.markedPackets << ' ' << s.controlPackets << ' ' << s.lastRttPs << ' ' << s.minRttPs
            << '\n';
    }
    const NetworkStatistics network = job->GetNetwork()->GetStatistics();
    out << "network " << network.packets << ' ' << network.controlPackets << ' '
        << network.packetHops << ' ' << network.messages << ' ' << network.queuePairs << ' '
        << network.dropped << ' ' << network.marked << ' ' << network.pauses << '\n';
    for (const CommunicationStatistics& s : job->GetNetwork()->GetCommunicationStatistics())
    {
        out << "task " << s.task << ' ' << s.sentBytes << ' ' << s.expectedBytes << ' '
            << s.receivedBytes << '\n';
    }
}

/// What thread blocks have done, in an order of their own.
inline void
WriteChannels(std::vector<ChannelSpan> channels, std::ostream& out)
{
    const auto getKey = [](const ChannelSpan& span) {
        return std::tie(span.device, span.task, span.microBatch, span.block);
    };
    std::sort(channels.begin(), channels.end(), [&](const ChannelSpan& a, const ChannelSpan& b) {
        return getKey(a) < getKey(b);
    });
    for (const ChannelSpan& span : channels)
    {
        out << "block " << span.device << ' ' << span.task << ' ' << span.microBatch << ' '
            << span.channel << ' ' << span.block << ' ' << span.startPs << ' ' << span.endPs
            << '\n';
    }
}

/// Runs a graph.
inline Outcome
RunGraph(const Cluster& cluster, const ExecutionGraph& graph, const Way& way)
{
    if (Time::GetResolution() != Time::PS)
    {
        Time::SetResolution(Time::PS); // at a coarser one nothing is repeated
    }
    // What fails ends one process only.
    const TestRanks ranks(cluster, way.without == RepetitionRecords::Field::NONE);
    ProteusHelper helper;
    helper.SetNetworkAttribute("Repetition", StringValue(way.mode));
    helper.SetNetworkAttribute("RepetitionMemory", UintegerValue(way.memoryBytes));
    helper.SetNetworkAttribute("JoinWindow", StringValue(way.window));
    helper.SetNetworkAttribute("Algorithm", StringValue(way.algorithm));
    for (const auto& [name, value] : way.transport)
    {
        helper.SetTransportAttribute(name, StringValue(value));
    }
    for (const auto& [name, value] : way.fabric)
    {
        helper.SetFabricAttribute(name, StringValue(value));
    }
    if (way.inProcesses)
    {
        helper.SetNetworkAttribute("Threads", UintegerValue(3));
        helper.SetNetworkAttribute("LongCommunication", UintegerValue(0));
    }
    helper.AssignStreams(1);
    Outcome outcome;
    Ptr<TrainingJob> job = helper.Install(cluster, graph);
    job->GetNetwork()->GetRepetitionRecords().SetPassedOver(way.without);
    std::vector<ChannelSpan> channels;
    job->GetNetwork()->RecordChannels(&channels);
    if (way.prepare)
    {
        way.prepare(job);
    }
    try
    {
        job->Run();
    }
    catch (const std::exception& error)
    {
        outcome.error = error.what();
    }
    std::ostringstream out;
    const Timeline timeline = job->GetTimeline();
    for (const Span& span : timeline.spans)
    {
        out << "span " << span.device << ' ' << span.task << ' ' << span.microBatch << ' '
            << span.startPs << ' ' << span.endPs << '\n';
    }
    WriteChannels(channels, out);
    WriteNetwork(job, out);
    outcome.results = out.str();
    outcome.repetition = job->GetNetwork()->GetStatistics().repetition;
    outcome.packetHops = job->GetNetwork()->GetStatistics().packetHops;
    outcome.marksAndPauses =
        job->GetNetwork()->GetStatistics().marked + job->GetNetwork()->GetStatistics().pauses;
    outcome.timeouts = job->GetNetwork()->GetStatistics().timeouts;
    job->Dispose();
    Simulator::Destroy();
    return outcome;
}

/// The first line in which two texts differ.
inline std::string
FindDifference(const std::string& a, const std::string& b)
{
    std::istringstream one(a);
    std::istringstream two(b);
    std::string x;
    std::string y;
    while (std::getline(one, x) && std::getline(two, y))
    {
        if (x != y)
        {
            return "'" + x + "' against '" + y + "'";
        }
    }
    return a == b ? "" : "one is longer";
}

/// What the runs of one graph with and without repetition say.
struct AllWays
{
    Outcome off;            //!< without
    Outcome on;             //!< with
    Outcome verify;         //!< every repetition is done again, and compared
    Outcome processes;      //!< with, and what is executed is so in processes of its own
    std::string difference; //!< what is not the same in all of them; empty
};

/// Runs a graph without repetition, with it, with every repetition verified, and with processes.
/// @param way else
inline AllWays
RunAllWays(const Cluster& cluster, const ExecutionGraph& graph, Way way = Way())
{
    AllWays ways;
    for (const auto& [mode, outcome] : {std::pair{"off", &ways.off},
                                        std::pair{"on", &ways.on},
                                        std::pair{"verify", &ways.verify},
                                        std::pair{"on", &ways.processes}})
    {
        way.mode = mode;
        way.inProcesses = outcome == &ways.processes || outcome == &ways.verify;
        *outcome = RunGraph(cluster, graph, way);
        const std::string different = FindDifference(ways.off.results, outcome->results);
        if (ways.difference.empty() && (!different.empty() || outcome->error != ways.off.error))
        {
            ways.difference = std::string("off and ") + mode +
                              (way.inProcesses ? " in processes: " : ": ") + different +
                              ", error '" + ways.off.error + "' against '" + outcome->error + "'";
        }
    }
    return ways;
}

} // namespace repetitiontest
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPETITION_TEST_TOOLS_H
