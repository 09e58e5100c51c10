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
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_S = 1e12;
constexpr std::size_t N_BUSIEST_LINKS = 10;

using Json = nlohmann::ordered_json;
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
        summary.peakFlops += sheet.PeakFlops(summary.dataType);
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
               : "fits: " + gpu + ", the fullest, needs " + usage;
}

std::string
DescribeLinks(const Summary& summary)
{
    constexpr double GIGA = 1e9;
    // Flows do not queue.
    const bool hasQueues = summary.network.packets > 0;
    std::vector<Row> rows{{"busiest links", "technology", "busy", "payload GB/s", "of GB/s"}};
    if (hasQueues)
    {
        rows[0].insert(rows[0].end(), {"stalled", "queue"});
    }
    for (const LinkUse& use : summary.busiestLinks)
    {
        rows.push_back({use.name,
                        ToString(use.technology),
                        FormatPercent(use.utilisation),
                        FormatNumber(use.payloadBytesPerSecond / GIGA, 2),
                        FormatNumber(use.rateBytesPerSecond / GIGA, 2)});
        if (hasQueues)
        {
            rows.back().push_back(FormatPercent(use.creditStallShare));
            rows.back().push_back(FormatBytes(static_cast<double>(use.maxQueueBytes)));
        }
    }
    return FormatTable(rows, "llr") + "  busy, payload: over the iteration; " +
           (hasQueues ? "stalled: a packet ready, the receiver's buffer full;\n  queue: most bytes "
                        "that waited at once; "
                      : "") +
           "GB = 1e9 bytes\n";
}

std::string
DescribeCollectives(const Summary& summary)
{
    constexpr double GIGA = 1e9;
    constexpr std::size_t MOST_KINDS = 6;
    std::vector<Row> rows{
        {"collectives", "for", "size", "ranks", "count", "mean", "busbw GB/s", "of ideal"}};
    for (const CollectiveUse& use : summary.collectives)
    {
        if (rows.size() > MOST_KINDS)
        {
            break;
        }
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
    }
    const std::size_t more = summary.collectives.size() + 1 - rows.size();
    return FormatTable(rows, "llrlrrrr") +
           (more > 0 ? "  and " + FormatThings(more, "more kind") +
                           ": all are in the table \"collectives\" of --tables and --json\n"
                     : "") +
           "  ranks: \"in\" how many servers; mean: from the last rank's joining; ideal: what the "
           "links of\n  one group allow, headers not deducted\n";
}

} // namespace

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

    summary.iterationS = static_cast<double>(timeline.endPs) / PS_PER_S;
    summary.tokensPerIteration = facts.tokensPerIteration;
    summary.modelFlops = facts.modelFlopsPerIteration;
    summary.tokensPerS = Share(static_cast<double>(facts.tokensPerIteration), summary.iterationS);
    summary.samplesPerS = Share(static_cast<double>(facts.samplesPerIteration), summary.iterationS);
    summary.modelFlopUtilisation =
        Share(facts.modelFlopsPerIteration, summary.iterationS * summary.peakFlops);

    summary.mean = MeanOf(parts.breakdowns);
    summary.worst = FindWorstOf(parts.breakdowns);
    summary.network = result.network;
    summary.losses = SumLosses(parts.links, result.network);
    summary.wallS = result.wallS;
    summary.notes = result.notes;
    summary.collectives = SummarizeCollectives(graph, cluster, timeline);
    summary.congestion = DescribeCongestion(parts.links, parts.hotSpots);
    summary.busiestLinks.assign(
        parts.links.begin(),
        parts.links.begin() +
            static_cast<std::ptrdiff_t>(std::min(parts.links.size(), N_BUSIEST_LINKS)));
    return summary;
}

void
WriteSummaryJson(const Summary& summary, std::ostream& out)
{
    const auto orNull = [](double value) { return value > 0 ? Json(value) : Json(); };
    const auto worst = [&](const DeviceTime& time) {
        return Json{{"gpu", summary.gpuNames.at(time.device)}, {"s", time.seconds}};
    };
    Json exposed = Json::object();
    Json waiting = Json::object();
    Json worstExposed = Json::object();
    Json worstWaiting = Json::object();
    for (Parallelism parallelism : EXPOSURE_PRIORITY)
    {
        const auto i = static_cast<std::size_t>(parallelism);
        exposed[ToString(parallelism)] = summary.mean.exposedS[i];
        waiting[ToString(parallelism)] = summary.mean.waitingS[i];
        worstExposed[ToString(parallelism)] = worst(summary.worst.exposed[i]);
        worstWaiting[ToString(parallelism)] = worst(summary.worst.waiting[i]);
    }
    Json outOfMemoryGpus = Json::array();
    for (DeviceId device : summary.outOfMemoryDevices)
    {
        outOfMemoryGpus.push_back(summary.gpuNames.at(device));
    }
    Json links = Json::array();
    for (const LinkUse& use : summary.busiestLinks)
    {
        links.push_back({{"name", use.name},
                         {"technology", ToString(use.technology)},
                         {"utilisation", use.utilisation},
                         {"payload_bytes_per_s", use.payloadBytesPerSecond},
                         {"rate_bytes_per_s", use.rateBytesPerSecond},
                         {"credit_stall_share", use.creditStallShare},
                         {"max_queue_bytes", use.maxQueueBytes}});
    }
    Json collectives = Json::array();
    for (const CollectiveUse& use : summary.collectives)
    {
        collectives.push_back({{"collective", ToString(use.collective)},
                               {"parallelism", ToString(use.parallelism)},
                               {"bytes", use.bytes},
                               {"ranks", use.ranks},
                               {"servers", use.servers},
                               {"count", use.count},
                               {"mean_s", use.meanS},
                               {"busbw_bytes_per_s", orNull(use.busBytesPerS)},
                               {"ideal_busbw_bytes_per_s", orNull(use.idealBytesPerS)}});
    }
    Json json{
        {"graph", summary.graph},
        {"cluster", summary.cluster},
        {"gpu", summary.gpu},
        {"devices", summary.devices},
        {"data_type", ToString(summary.dataType)},
        {"iteration_s", summary.iterationS},
        {"tokens_per_s", orNull(summary.tokensPerS)},
        {"samples_per_s", orNull(summary.samplesPerS)},
        {"model_flop_utilisation", orNull(summary.modelFlopUtilisation)},
        {"model_flops", summary.modelFlops},
        {"peak_flops_per_s", summary.peakFlops},
        {"compute_s", summary.mean.computeS},
        {"exposed_communication_s", summary.mean.exposedCommunicationS},
        {"exposed_s", exposed},
        {"waiting_for_peers_s", summary.mean.waitingForPeersS},
        {"waiting_s", waiting},
        {"bubble_s", summary.mean.bubbleS},
        {"host_s", summary.mean.hostS},
        {"idle_s", summary.mean.idleS},
        {"communication_s", summary.mean.communicationS},
        {"worst",
         {{"compute", worst(summary.worst.compute)},
          {"exposed_communication", worst(summary.worst.exposedCommunication)},
          {"exposed", worstExposed},
          {"waiting_for_peers", worst(summary.worst.waitingForPeers)},
          {"waiting", worstWaiting},
          {"bubble", worst(summary.worst.bubble)},
          {"host", worst(summary.worst.host)},
          {"idle", worst(summary.worst.idle)}}},
        {"peak_memory_bytes", summary.peakMemoryBytes},
        {"peak_memory_gpu", summary.gpuNames.at(summary.peakMemoryDevice)},
        {"memory_capacity_bytes", summary.memoryCapacityBytes},
        {"out_of_memory", summary.outOfMemory},
        {"out_of_memory_gpus", outOfMemoryGpus},
        {"packets", summary.network.packets},
        {"control_packets", summary.network.controlPackets},
        {"packet_hops", summary.network.packetHops},
        {"events", summary.network.events},
        {"messages", summary.network.messages},
        {"queue_pairs", summary.network.queuePairs},
        {"losses",
         {{"lost_packets", summary.losses.lostPackets},
          {"dropped_packets", summary.losses.droppedPackets},
          {"repeated_packets", summary.losses.repeatedPackets},
          {"timeouts", summary.losses.timeouts},
          {"pauses", summary.losses.pauses},
          {"marked_packets", summary.losses.markedPackets}}},
        {"wall_s", summary.wallS},
        {"busiest_links", links},
        {"congestion", summary.congestion},
        {"collectives", collectives},
    };
    if (!summary.notes.empty())
    {
        json["notes"] = summary.notes;
    }
    out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

void
PrintSummary(const Summary& summary, std::ostream& out)
{
    const std::string gpus = FormatGpus(summary.devices);
    out << (summary.graph.empty() ? "One iteration" : summary.graph) << " on " << summary.cluster
        << (summary.cluster.empty() ? "" : ", ") << gpus << " (" << summary.gpu << ")\n\n";

    std::vector<Row> rows{{"iteration time", FormatTime(summary.iterationS)}};
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
                            " peak of " + gpus + ", " + FormatFlops(summary.peakFlops)});
    }
    if (summary.mean.communicationS > 0)
    {
        const double hidden = 1 - summary.mean.exposedCommunicationS / summary.mean.communicationS;
        rows.push_back({"communication",
                        FormatTime(summary.mean.communicationS) + " in flight per GPU, " +
                            FormatPercent(hidden) + " of it hidden behind compute"});
    }
    rows.push_back({"peak memory", DescribeMemory(summary)});
    out << FormatTable(rows, "ll") << '\n' << DescribeTimes(summary) << '\n';
    if (!summary.collectives.empty())
    {
        out << DescribeCollectives(summary) << '\n';
    }
    if (!summary.busiestLinks.empty())
    {
        out << DescribeLinks(summary) << '\n' << WrapText(summary.congestion) << '\n';
    }
    const NetworkStatistics& network = summary.network;
    rows.clear();
    if (network.packets > 0)
    {
        rows.push_back({"simulated",
                        FormatThings(network.packets, "packet") + ", " +
                            FormatThings(network.packetHops, "packet-hop") + ", " +
                            FormatThings(network.events, "event")});
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
    out << FormatTable(rows, "ll");
}

} // namespace proteus
} // namespace ns3
