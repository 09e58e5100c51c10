/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-summary.h"

#include "proteus-plural.h"
#include "proteus-report-input.h"
#include "proteus-tables.h"

#include "ns3/proteus-operator-cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_S = 1e12;
constexpr std::size_t N_BUSIEST_LINKS = 10;

using Row = std::vector<std::string>;

/// @param breakdowns by device, at least one @param get what to compare
template <typename F>
DeviceTime
FindWorst(const std::vector<DeviceBreakdown>& breakdowns, F get)
{
    DeviceId worst = 0;
    for (DeviceId device = 1; device < breakdowns.size(); ++device)
    {
        if (get(breakdowns[device]) > get(breakdowns[worst]))
        {
            worst = device;
        }
    }
    return {worst, static_cast<double>(get(breakdowns[worst])) / PS_PER_S};
}

WorstBreakdown
FindWorstOf(const std::vector<DeviceBreakdown>& breakdowns)
{
    using B = DeviceBreakdown;
    const auto find = [&](auto get) { return FindWorst(breakdowns, get); };
    WorstBreakdown worst;
    worst.compute = find([](const B& b) { return b.computePs; });
    worst.exposedCommunication = find([](const B& b) { return b.GetExposedPs(); });
    worst.waitingForPeers = find([](const B& b) { return b.GetWaitingPs(); });
    worst.bubble = find([](const B& b) { return b.bubblePs; });
    worst.host = find([](const B& b) { return b.hostPs; });
    worst.idle = find([](const B& b) { return b.idlePs; });
    for (std::size_t i = 0; i < N_PARALLELISMS; ++i)
    {
        worst.exposed[i] = find([i](const B& b) { return b.exposedPs[i]; });
        worst.waiting[i] = find([i](const B& b) { return b.waitingPs[i]; });
    }
    return worst;
}

/// @param part @param whole @return part / whole, 0 where there is no whole
double
Share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

std::string
FormatFlops(double flopsPerS)
{
    constexpr double PETA = 1e15;
    constexpr double TERA = 1e12;
    return flopsPerS >= PETA ? FormatNumber(flopsPerS / PETA, 2) + " PFLOP/s"
                             : FormatNumber(flopsPerS / TERA, 2) + " TFLOP/s";
}

std::string
FormatGpus(std::size_t n)
{
    return FormatThings(n, "GPU");
}

/// Fills in what the devices' data sheets and memory say.
void
AddDevices(Summary& summary, const Cluster& cluster, const Timeline& timeline)
{
    std::vector<std::string> models;
    double fullest = -1;
    for (DeviceId device = 0; device < summary.devices; ++device)
    {
        const Vertex& vertex = cluster.GetVertices()[cluster.GetGpus()[device]];
        const GpuDatasheet& sheet = FindGpuDatasheet(vertex.model);
        summary.gpuNames.push_back(vertex.name);
        if (std::find(models.begin(), models.end(), vertex.model) == models.end())
        {
            models.push_back(vertex.model);
            summary.gpu += (summary.gpu.empty() ? "" : " + ") + vertex.model;
        }
        const uint64_t peakBytes = timeline.peakMemoryBytes[device];
        const double fill = static_cast<double>(peakBytes) / static_cast<double>(sheet.memoryBytes);
        if (fill > fullest)
        {
            fullest = fill;
            summary.peakMemoryBytes = peakBytes;
            summary.peakMemoryDevice = device;
            summary.memoryCapacityBytes = sheet.memoryBytes;
        }
        if (peakBytes > sheet.memoryBytes)
        {
            summary.outOfMemoryDevices.push_back(device);
        }
    }
    summary.outOfMemory = !summary.outOfMemoryDevices.empty();
    const auto peaks = ListPeakFlops(cluster, summary.devices, summary.dataType);
    summary.peakFlops = std::accumulate(peaks.begin(), peaks.end(), 0.0);
}

/// @param more rows that are left out @param thing what one of them is @param table that has all
/// @return a line that says so; nothing for none
std::string
NameRest(std::size_t more, const std::string& thing, const std::string& table)
{
    return more > 0 ? "  and " + FormatThings(more, thing) + ": all are in the table \"" + table +
                          "\" of --tables and --json\n"
                    : "";
}

/// Fills in how long the run, and an iteration, takes, and how much is done in a second.
/// @param facts of all iterations together
void
AddRates(Summary& summary,
         const WorkloadFacts& facts,
         int64_t endPs,
         const std::vector<IterationUse>& iterations)
{
    const uint64_t n = std::max<std::size_t>(iterations.size(), 1);
    const int64_t lengthPs = iterations.empty() ? endPs
                                                : iterations[FindSteady(iterations)].endPs -
                                                      iterations[FindSteady(iterations)].startPs;
    summary.iterations = iterations;
    summary.runS = static_cast<double>(endPs) / PS_PER_S;
    summary.iterationS = static_cast<double>(lengthPs) / PS_PER_S;
    summary.tokensPerIteration = facts.tokensPerIteration / n;
    summary.modelFlops = facts.modelFlopsPerIteration / static_cast<double>(n);
    if (!summary.isPartial) // nothing can be said of how long the whole takes
    {
        summary.tokensPerS =
            Share(static_cast<double>(summary.tokensPerIteration), summary.iterationS);
        summary.samplesPerS =
            Share(static_cast<double>(facts.samplesPerIteration / n), summary.iterationS);
        summary.modelFlopUtilisation =
            Share(summary.modelFlops, summary.iterationS * summary.peakFlops);
    }
}

std::string
DescribeTimes(const Summary& summary)
{
    std::vector<Row> rows{{"time per GPU", "mean", "", "worst", "", ""}};
    const auto add = [&](const std::string& name, double mean, const DeviceTime& worst) {
        rows.push_back({name,
                        FormatTime(mean),
                        FormatPercent(Share(mean, summary.mean.totalS)),
                        FormatTime(worst.seconds),
                        FormatPercent(Share(worst.seconds, summary.mean.totalS)),
                        worst.seconds > 0 ? summary.gpuNames.at(worst.device) : ""});
    };
    const auto addParts = [&](const std::array<double, N_PARALLELISMS>& means,
                              const std::array<DeviceTime, N_PARALLELISMS>& worst) {
        for (Parallelism parallelism : EXPOSURE_PRIORITY)
        {
            const auto i = static_cast<std::size_t>(parallelism);
            if (worst[i].seconds > 0)
            {
                const bool isNone = parallelism == Parallelism::NONE;
                add(std::string("  ") + (isNone ? "other" : ToString(parallelism)),
                    means[i],
                    worst[i]);
            }
        }
    };
    const MeanBreakdown& mean = summary.mean;
    const WorstBreakdown& worst = summary.worst;
    add("compute", mean.computeS, worst.compute);
    add("exposed communication", mean.exposedCommunicationS, worst.exposedCommunication);
    addParts(mean.exposedS, worst.exposed);
    if (worst.waitingForPeers.seconds > 0)
    {
        add("waiting for peers", mean.waitingForPeersS, worst.waitingForPeers);
        addParts(mean.waitingS, worst.waiting);
    }
    if (worst.bubble.seconds > 0)
    {
        add("pipeline bubble", mean.bubbleS, worst.bubble);
    }
    if (worst.host.seconds > 0)
    {
        add("host", mean.hostS, worst.host);
    }
    add("idle", mean.idleS, worst.idle);
    return FormatTable(rows, "lrrrrl");
}

std::string
DescribeMemory(const Summary& summary)
{
    if (summary.peakMemoryBytes == 0)
    {
        return "not known, the graph says nothing of it";
    }
    const std::string usage =
        FormatBytes(static_cast<double>(summary.peakMemoryBytes)) + " of " +
        FormatBytes(static_cast<double>(summary.memoryCapacityBytes)) + " (" +
        FormatPercent(Share(static_cast<double>(summary.peakMemoryBytes),
                            static_cast<double>(summary.memoryCapacityBytes))) +
        ")";
    const std::string& gpu = summary.gpuNames.at(summary.peakMemoryDevice);
    return summary.outOfMemory
               ? "OUT OF MEMORY on " + FormatCount(summary.outOfMemoryDevices.size()) + " of " +
                     FormatGpus(summary.devices) + ": " + gpu + " needs " + usage
               : (summary.isPartial ? "fits so far: " : "fits: ") + gpu + ", the fullest, needs " +
                     usage;
}

std::string
DescribeLinks(const Summary& summary)
{
    constexpr double GIGA = 1e9;
    // Flows do not queue.
    const bool hasQueues = summary.network.packets > 0;
    constexpr std::size_t MOST_KINDS = 12;
    std::vector<Row> rows{{"busiest links", "technology", "busy", "payload GB/s", "of GB/s"}};
    if (hasQueues)
    {
        rows[0].insert(rows[0].end(), {"stalled", "queue"});
    }
    rows[0].insert(rows[0].end(), {"alike", "mean"});
    for (const LinkKind& kind : summary.linkKinds)
    {
        if (rows.size() > MOST_KINDS)
        {
            break;
        }
        const LinkUse& use = kind.busiest;
        Row row{use.name,
                ToString(use.technology),
                FormatPercent(use.utilisation),
                FormatNumber(use.payloadBytesPerSecond / GIGA, 2),
                FormatNumber(use.rateBytesPerSecond / GIGA, 2)};
        if (hasQueues)
        {
            row.push_back(FormatPercent(use.creditStallShare));
            row.push_back(FormatBytes(static_cast<double>(use.maxQueueBytes)));
        }
        row.push_back(FormatCount(kind.usedLinks) +
                      (kind.usedLinks < kind.links ? " of " + FormatCount(kind.links) : ""));
        row.push_back(FormatPercent(kind.meanUtilisation));
        rows.push_back(std::move(row));
    }
    return FormatTable(rows, "llr") +
           NameRest(summary.linkKinds.size() + 1 - rows.size(), "more kind", "links") +
           "  of each kind the busiest; busy, payload: over " +
           (summary.iterations.empty() ? "the iteration; " : "all iterations; ") +
           "GB = 1e9 bytes;\n" +
           (hasQueues ? "  stalled: a packet ready, the receiver's buffer full; queue: most bytes "
                        "that waited\n  at once; "
                      : "  ") +
           "alike: how many of its kind carry something; mean: how busy these are\n";
}

std::string
DescribeCollectives(const Summary& summary)
{
    constexpr double GIGA = 1e9;
    constexpr std::size_t MOST_KINDS = 6;
    const bool isRecorded =
        std::any_of(summary.collectives.begin(),
                    summary.collectives.end(),
                    [](const CollectiveUse& use) { return use.recordedLeastS > 0; });
    std::vector<Row> rows{
        {"collectives", "for", "size", "ranks", "count", "mean", "busbw GB/s", "of ideal"}};
    if (isRecorded)
    {
        rows.front().emplace_back("recorded");
    }
    bool isIdealExceeded = false;
    for (const CollectiveUse& use : summary.collectives)
    {
        if (rows.size() > MOST_KINDS)
        {
            break;
        }
        isIdealExceeded |= use.idealBytesPerS > 0 && use.busBytesPerS > use.idealBytesPerS;
        rows.push_back(
            {ToString(use.collective),
             use.parallelism == Parallelism::NONE ? "" : ToString(use.parallelism),
             FormatBytes(static_cast<double>(use.bytes)),
             FormatCount(use.ranks) + (use.servers > 1 ? " in " + FormatCount(use.servers) : ""),
             FormatCount(use.count),
             FormatTime(use.meanS),
             FormatNumber(use.busBytesPerS / GIGA, 2),
             use.idealBytesPerS > 0 ? FormatPercent(Share(use.busBytesPerS, use.idealBytesPerS))
                                    : ""});
        if (isRecorded)
        {
            rows.back().push_back(use.recordedLeastS > 0 ? FormatTime(use.recordedLeastS) : "");
        }
    }
    return FormatTable(rows, isRecorded ? "llrlrrrrr" : "llrlrrrr") +
           NameRest(summary.collectives.size() + 1 - rows.size(), "more kind", "collectives") +
           "  ranks: \"in\" how many servers; mean: from the last rank's joining; ideal: what the "
           "links of\n  one group allow, headers not deducted\n" +
           (isRecorded ? "  recorded: the shortest in the trace, which has least waiting for other "
                         "ranks in it\n"
                       : "") +
           (isIdealExceeded ? "  more than the ideal of a ring: summed or copied in switches, or "
                              "inside servers first\n"
                            : "");
}

/// @return which iteration of several stands for all
std::string
DescribeSteady(const Summary& summary)
{
    if (summary.iterations.empty())
    {
        return "";
    }
    return ", iteration " + std::to_string(FindSteady(summary.iterations) + 1) + " of " +
           std::to_string(summary.iterations.size()) +
           ", the median of those after the first; together " + FormatTime(summary.runS);
}

/// @return a row for each of several iterations
std::string
DescribeIterations(const Summary& summary)
{
    constexpr std::size_t MOST_ROWS = 12;
    std::vector<Row> rows{
        {"iteration", "time", "compute", "exposed", "waiting", "bubble", "host", "idle", ""}};
    for (const IterationUse& use : summary.iterations)
    {
        const MeanBreakdown& mean = use.mean;
        if (rows.size() <= MOST_ROWS || use.isSteady)
        {
            rows.push_back({std::to_string(use.number),
                            FormatTime(mean.totalS),
                            FormatTime(mean.computeS),
                            FormatTime(mean.exposedCommunicationS),
                            FormatTime(mean.waitingForPeersS),
                            FormatTime(mean.bubbleS),
                            FormatTime(mean.hostS),
                            FormatTime(mean.idleS),
                            use.isSteady ? "steady" : ""});
        }
    }
    return FormatTable(rows, "rrrrrrrrl") +
           NameRest(summary.iterations.size() + 1 - rows.size(), "more iteration", "iterations") +
           "  from the last kernel of the iteration before to its own; means of the GPUs; exposed: "
           "to "
           "communication;\n  waiting: for peers; all but links and network is about the steady "
           "one\n";
}

/// @return the main numbers, a row each
std::vector<Row>
DescribeIteration(const Summary& summary)
{
    std::vector<Row> rows{{summary.isPartial ? "PARTIAL, up to" : "iteration time",
                           FormatTime(summary.iterationS) + DescribeSteady(summary)}};
    if (summary.recordedS > 0 && !summary.isPartial)
    {
        const double more = Share(summary.iterationS, summary.recordedS) - 1;
        rows.push_back(
            {"recorded",
             FormatTime(summary.recordedS) + ": the simulation takes " +
                 FormatPercent(std::abs(more)) + (more < 0 ? " less" : " more") +
                 (summary.isRecordedOneForAll ? "; one rank stands for all, and waits for none"
                                              : "")});
    }
    if (summary.tokensPerS > 0)
    {
        rows.push_back(
            {"throughput",
             FormatNumber(summary.tokensPerS, 0) +
                 (summary.tokensPerS == summary.samplesPerS ? " samples/s" : " tokens/s")});
    }
    if (summary.modelFlopUtilisation > 0)
    {
        rows.push_back({"MFU",
                        FormatPercent(summary.modelFlopUtilisation) +
                            ": model FLOPs over the dense " + ToString(summary.dataType) +
                            " peak of " + FormatGpus(summary.devices) + ", " +
                            FormatFlops(summary.peakFlops)});
    }
    if (summary.mean.communicationS > 0)
    {
        const double hidden = 1 - summary.mean.exposedCommunicationS / summary.mean.communicationS;
        rows.push_back({"communication",
                        FormatTime(summary.mean.communicationS) + " in flight per GPU, " +
                            FormatPercent(hidden) + " of it hidden behind compute"});
    }
    rows.push_back({"peak memory", DescribeMemory(summary)});
    return rows;
}

/// @param repetition of a packet network @return what was not simulated again
std::string
DescribeRepetition(const RepetitionStatistics& repetition)
{
    return std::to_string(repetition.repeated) + " of " +
           FormatThings(repetition.communications, "communication") + ", " +
           FormatThings(repetition.packets, "packet") + "; " + std::to_string(repetition.recorded) +
           " recorded" +
           (repetition.periodPackets > 0
                ? ", but for " + FormatThings(repetition.periodPackets, "packet") +
                      " in equal periods"
                : "") +
           (repetition.vainHops > 0 ? ", " + FormatThings(repetition.vainHops, "packet-hop") +
                                          " executed once more with others that were met"
                                    : "") +
           (repetition.verified > 0
                ? ", " + std::to_string(repetition.verified) + " compared with a record, and equal"
                : "");
}

/// @return what the simulator did, a row each
std::vector<Row>
DescribeSimulation(const Summary& summary)
{
    const NetworkStatistics& network = summary.network;
    std::vector<Row> rows;
    if (network.packets > 0)
    {
        const RepetitionStatistics& repetition = network.repetition;
        if (repetition.communications > 0)
        {
            rows.push_back({"stands for",
                            FormatThings(network.packets, "packet") + ", " +
                                FormatThings(network.packetHops, "packet-hop")});
            rows.push_back({"repeated", DescribeRepetition(repetition)});
        }
        rows.push_back({"simulated",
                        FormatThings(network.packets - repetition.packets, "packet") + ", " +
                            FormatThings(network.packetHops - repetition.packetHops, "packet-hop") +
                            ", " + FormatThings(network.events, "event")});
        rows.push_back({"network", DescribeLosses(summary.losses)});
    }
    else if (network.messages > 0) // see FlowNetwork::GetStatistics()
    {
        rows.push_back(
            {"simulated",
             FormatThings(network.messages, "collective") +
                 (network.messages == 1 ? " as a flow" : " as flows") +
                 (network.events > 0 ? ", shares computed " + FormatThings(network.events, "time")
                                     : ", none of which share links")});
    }
    if (summary.wallS > 0)
    {
        constexpr double MEGA = 1e6;
        const double pace = static_cast<double>(network.packetHops) / summary.wallS / MEGA;
        rows.push_back(
            {"wall time",
             FormatTime(summary.wallS) +
                 (network.packets > 0 ? ", " + FormatNumber(pace, 2) + " million packet-hops/s"
                                      : "")});
    }
    return rows;
}

} // namespace

std::vector<double>
ListPeakFlops(const Cluster& cluster, std::size_t devices, DataType type)
{
    std::vector<double> peaks;
    for (DeviceId device = 0; device < devices; ++device)
    {
        const Vertex& gpu = cluster.GetVertices()[cluster.GetGpus()[device]];
        peaks.push_back(FindGpuDatasheet(gpu.model).PeakFlops(type));
    }
    return peaks;
}

Summary
Summarize(const ExecutionGraph& graph,
          const Cluster& cluster,
          const RunRecord& result,
          DataType dataType,
          const SummaryParts& parts)
{
    const Timeline& timeline = result.timeline;
    RequireGpuPerDevice(graph, cluster);
    if (timeline.peakMemoryBytes.size() != graph.GetNDevices())
    {
        throw std::invalid_argument(
            "timeline: peak memory of " + std::to_string(timeline.peakMemoryBytes.size()) +
            " devices, the graph has " + std::to_string(graph.GetNDevices()));
    }
    const WorkloadFacts& facts = graph.GetFacts();
    Summary summary;
    summary.graph = facts.name;
    summary.cluster = cluster.GetName();
    summary.devices = graph.GetNDevices();
    summary.dataType = dataType;
    AddDevices(summary, cluster, timeline);

    summary.isPartial = result.isPartial;
    AddRates(summary, facts, timeline.endPs, parts.iterations);
    summary.mean = MeanOf(parts.breakdowns);
    summary.worst = FindWorstOf(parts.breakdowns);
    summary.network = result.network;
    summary.losses = SumLosses(parts.links, result.network);
    summary.wallS = result.wallS;
    summary.notes = result.notes;
    const uint32_t steady = FindSteady(parts.iterations);
    summary.collectives =
        SummarizeCollectives(graph, cluster, timeline, [&parts, steady](PhaseId phase) {
            return parts.iterationOf.empty() || parts.iterationOf.at(phase) == steady;
        });
    summary.congestion = DescribeCongestion(parts.links, parts.hotSpots);
    summary.linkKinds = FindLinkKinds(cluster, parts.links);
    summary.busiestLinks.assign(
        parts.links.begin(),
        parts.links.begin() +
            static_cast<std::ptrdiff_t>(std::min(parts.links.size(), N_BUSIEST_LINKS)));
    return summary;
}

void
PrintSummary(const Summary& summary, std::ostream& out)
{
    out << (summary.graph.empty() ? "One iteration" : summary.graph) << " on " << summary.cluster
        << (summary.cluster.empty() ? "" : ", ") << FormatGpus(summary.devices) << " ("
        << summary.gpu << ")\n\n"
        << FormatTable(DescribeIteration(summary), "ll") << '\n'
        << DescribeTimes(summary) << '\n';
    if (!summary.iterations.empty())
    {
        out << DescribeIterations(summary) << '\n';
    }
    if (!summary.collectives.empty())
    {
        out << DescribeCollectives(summary) << '\n';
    }
    if (!summary.linkKinds.empty())
    {
        out << DescribeLinks(summary) << '\n' << WrapText(summary.congestion) << '\n';
    }
    out << FormatTable(DescribeSimulation(summary), "ll");
}

} // namespace proteus
} // namespace ns3
