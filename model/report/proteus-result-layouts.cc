/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-result-layouts.h"

#include "ns3/proteus-gpu-model.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

double
Seconds(int64_t ps)
{
    constexpr double PS_PER_S = 1e12;
    return static_cast<double>(ps) / PS_PER_S;
}

/// @param part @param whole @return part / whole, 0 where there is no whole
double
Share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/// @return number of bytes or things as it is; nothing for 0
Cell
OrNothing(double value)
{
    return value > 0 ? Cell(value) : Cell();
}

/// @return the first column of most tables
template <typename Row>
Field<Row>
ExecutorField()
{
    return {"executor",
            "",
            "who ran the graph; \"packet\": every packet is simulated",
            [](const Row& row) { return row.result.executor; }};
}

/// @return the columns that say which device a row is about
std::vector<Field<DeviceRow>>
DeviceFields()
{
    return {ExecutorField<DeviceRow>(),
            {"device", "", "rank", [](const DeviceRow& row) { return uint64_t{row.device}; }},
            {"gpu", "", "name in the cluster", [](const DeviceRow& row) { return row.gpu.name; }}};
}

/// @param more columns to put behind @param fields
template <typename Row>
void
Append(std::vector<Field<Row>>& fields, const std::vector<Field<Row>>& more)
{
    fields.insert(fields.end(), more.begin(), more.end());
}

/// @return whether all of a communication is hidden behind computation, as a share
Cell
HiddenShare(const DeviceBreakdown& b)
{
    return b.communicationPs > 0 ? Cell(1 - static_cast<double>(b.GetExposedPs()) /
                                                static_cast<double>(b.communicationPs))
                                 : Cell();
}

/// @return when the peak was first reached; nothing where the level is not known
Cell
FindPeakTime(const DeviceRow& row)
{
    const Timeline& timeline = row.result.timeline;
    if (row.device >= timeline.memory.size())
    {
        return {};
    }
    const auto& samples = timeline.memory[row.device];
    const uint64_t peak = timeline.peakMemoryBytes.at(row.device);
    const auto found = std::find_if(samples.begin(), samples.end(), [peak](const MemorySample& s) {
        return s.bytes >= peak;
    });
    return found == samples.end() ? Cell() : Cell(Seconds(found->timePs));
}

uint64_t
CapacityOf(const DeviceRow& row)
{
    return FindGpuDatasheet(row.gpu.model).memoryBytes;
}

/// @return e.g. "data parallelism", or "other"
std::string
DescribeParallelism(Parallelism parallelism)
{
    return NameInTables(parallelism) + (parallelism == Parallelism::NONE ? "" : " parallelism");
}

/// @param find a number of a link @return it; nothing of an executor that has no packets
template <typename F>
std::function<Cell(const UseRow<LinkUse>&)>
OfPackets(F find)
{
    return [find](const UseRow<LinkUse>& row) {
        return row.use.packets > 0 ? Cell(find(row.use)) : Cell();
    };
}

} // namespace

std::string
NameInTables(Parallelism parallelism)
{
    return parallelism == Parallelism::NONE ? "other" : ToString(parallelism);
}

const std::vector<SummaryQuantity>&
GetSummaryQuantities()
{
    using S = Summary;
    static const std::vector<SummaryQuantity> quantities{
        {"iteration time",
         "s",
         [](const S& s) { return OrNothing(s.isPartial ? 0 : s.iterationS); }},
        {"recorded time", "s", [](const S& s) { return OrNothing(s.recordedS); }},
        {"iterations",
         "",
         [](const S& s) { return uint64_t{std::max<std::size_t>(s.iterations.size(), 1)}; }},
        {"all iterations", "s", [](const S& s) { return OrNothing(s.isPartial ? 0 : s.runS); }},
        {"tokens", "1/s", [](const S& s) { return OrNothing(s.tokensPerS); }},
        {"samples", "1/s", [](const S& s) { return OrNothing(s.samplesPerS); }},
        {"model FLOP utilisation",
         "share",
         [](const S& s) { return OrNothing(s.modelFlopUtilisation); }},
        {"model FLOPs per iteration", "FLOP", [](const S& s) { return OrNothing(s.modelFlops); }},
        {"peak of all GPUs", "FLOP/s", [](const S& s) { return s.peakFlops; }},
        {"compute", "s", [](const S& s) { return s.mean.computeS; }},
        {"exposed communication", "s", [](const S& s) { return s.mean.exposedCommunicationS; }},
        {"waiting for peers", "s", [](const S& s) { return s.mean.waitingForPeersS; }},
        {"pipeline bubble", "s", [](const S& s) { return s.mean.bubbleS; }},
        {"host", "s", [](const S& s) { return s.mean.hostS; }},
        {"idle", "s", [](const S& s) { return s.mean.idleS; }},
        {"communication in flight", "s", [](const S& s) { return s.mean.communicationS; }},
        {"communication hidden behind compute",
         "share",
         [](const S& s) {
             return s.mean.communicationS > 0
                        ? Cell(1 - Share(s.mean.exposedCommunicationS, s.mean.communicationS))
                        : Cell();
         }},
        {"peak memory of the fullest GPU", "B", [](const S& s) { return s.peakMemoryBytes; }},
        {"memory of that GPU", "B", [](const S& s) { return s.memoryCapacityBytes; }},
        {"fullest GPU", "", [](const S& s) { return s.gpuNames.at(s.peakMemoryDevice); }},
        {"fits in memory",
         "",
         [](const S& s) {
             return std::string(s.outOfMemory            ? "no"
                                : s.peakMemoryBytes == 0 ? "not known"
                                                         : "yes");
         }},
        {"packets", "", [](const S& s) { return s.network.packets; }},
        {"control packets", "", [](const S& s) { return s.network.controlPackets; }},
        {"packet-hops", "", [](const S& s) { return s.network.packetHops; }},
        {"events", "", [](const S& s) { return s.network.events; }},
        {"messages", "", [](const S& s) { return s.network.messages; }},
        {"queue pairs", "", [](const S& s) { return s.network.queuePairs; }},
        {"dropped packets", "", [](const S& s) { return s.losses.droppedPackets; }},
        {"lost packets", "", [](const S& s) { return s.losses.lostPackets; }},
        {"repeated packets", "", [](const S& s) { return s.losses.repeatedPackets; }},
        {"timeouts", "", [](const S& s) { return s.losses.timeouts; }},
        {"pauses", "", [](const S& s) { return s.losses.pauses; }},
        {"marked packets", "", [](const S& s) { return s.losses.markedPackets; }},
        {"wall time", "s", [](const S& s) { return s.wallS; }},
        {"congestion", "", [](const S& s) { return s.congestion; }},
    };
    return quantities;
}

TableLayout<FactRow>
GetRunLayout()
{
    return {"run",
            "Run",
            "What was run, and how.",
            {{"item", "", "what", [](const FactRow& row) { return row.item; }},
             {"value", "", "its value", [](const FactRow& row) { return row.value; }}}};
}

TableLayout<SummaryRow>
GetSummaryLayout()
{
    using R = SummaryRow;
    return {"summary",
            "Summary",
            "One number each; times and shares are means over the GPUs where they differ.",
            {ExecutorField<R>(),
             {"quantity", "", "what", [](const R& row) { return row.quantity.name; }},
             {"value",
              "",
              "a number, or text",
              [](const R& row) { return row.quantity.find(row.summary); }},
             {"unit", "", "of the number", [](const R& row) { return row.quantity.unit; }}}};
}

TableLayout<DeviceRow>
GetBreakdownLayout()
{
    using B = DeviceBreakdown;
    TableLayout<DeviceRow> layout{
        "breakdown",
        "Iteration by GPU",
        "compute_s + exposed_communication_s + waiting_for_peers_s + bubble_s + host_s + idle_s = "
        "iteration_s for every GPU. Of what happens at a moment, the first of these counts. Of "
        "several iterations it is the steady one, see the table iterations.",
        DeviceFields()};
    const auto add = [&](const std::string& name, const std::string& meaning, auto find) {
        layout.fields.push_back({name, "s", meaning, [find](const DeviceRow& row) {
                                     return Seconds(find(row.analysis.breakdowns[row.device]));
                                 }});
    };
    add("iteration_s",
        "from the start to the end of the last task of all GPUs; of several, of the steady one",
        [](const B& b) { return b.totalPs; });
    add("compute_s", "a compute task runs on the GPU", [](const B& b) { return b.computePs; });
    add("exposed_communication_s",
        "none runs, and bytes of a communication that all its ranks have joined move",
        [](const B& b) { return b.GetExposedPs(); });
    add("waiting_for_peers_s",
        "neither, and a communication waits for other ranks to join",
        [](const B& b) { return b.GetWaitingPs(); });
    add("bubble_s",
        "none of these, and another stage of the pipeline is waited for",
        [](const B& b) { return b.bubblePs; });
    add("host_s", "none of these, and a task of the host runs", [](const B& b) {
        return b.hostPs;
    });
    add("idle_s", "none of these", [](const B& b) { return b.idlePs; });
    add("communication_s", "bytes of a communication move, exposed or not", [](const B& b) {
        return b.communicationPs;
    });
    layout.fields.push_back(
        {"hidden_share",
         "share",
         "of communication_s: a compute task runs meanwhile",
         [](const DeviceRow& row) { return HiddenShare(row.analysis.breakdowns[row.device]); }});
    add("activity_s", "from the begin of the first to the end of the last kernel", [](const B& b) {
        return b.activityPs;
    });
    add("idle_between_s", "without any kernel, within activity_s", [](const B& b) {
        return b.GetIdleBetweenPs();
    });
    for (Parallelism parallelism : EXPOSURE_PRIORITY)
    {
        add("exposed_" + NameInTables(parallelism) + "_s",
            "of exposed_communication_s: for " + DescribeParallelism(parallelism),
            [parallelism](const B& b) { return b.GetExposedPs(parallelism); });
    }
    for (Parallelism parallelism : EXPOSURE_PRIORITY)
    {
        add("waiting_" + NameInTables(parallelism) + "_s",
            "of waiting_for_peers_s: for " + DescribeParallelism(parallelism),
            [parallelism](const B& b) { return b.GetWaitingPs(parallelism); });
    }
    return layout;
}

TableLayout<IterationRow>
GetIterationLayout()
{
    using R = IterationRow;
    using M = MeanBreakdown;
    TableLayout<R> layout{
        "iterations",
        "Iterations",
        "With --iterations: one after the other, means over the GPUs. The steady one has the "
        "median time of those after the first.",
        {ExecutorField<R>(),
         {"iteration", "", "its number", [](const R& row) { return uint64_t{row.use.number}; }},
         {"is_steady",
          "",
          "1: it stands for all, and what other tables say of an iteration is of it",
          [](const R& row) { return uint64_t{row.use.isSteady}; }},
         {"start_s",
          "s",
          "end of the one before",
          [](const R& row) { return Seconds(row.use.startPs); }},
         {"end_s", "s", "end of its last kernel", [](const R& row) {
              return Seconds(row.use.endPs);
          }}}};
    const auto add = [&](const std::string& name, const std::string& meaning, auto find) {
        layout.fields.push_back(
            {name, "s", meaning, [find](const R& row) { return find(row.use.mean); }});
    };
    add("iteration_s", "from start_s to end_s", [](const M& m) { return m.totalS; });
    add("compute_s", "a compute task runs", [](const M& m) { return m.computeS; });
    add("exposed_communication_s", "none runs, and bytes of a communication move", [](const M& m) {
        return m.exposedCommunicationS;
    });
    add("waiting_for_peers_s",
        "neither, and a communication waits for other ranks",
        [](const M& m) { return m.waitingForPeersS; });
    add("bubble_s",
        "none of these, and another stage of the pipeline is waited for",
        [](const M& m) { return m.bubbleS; });
    add("host_s", "none of these, and a task of the host runs", [](const M& m) { return m.hostS; });
    add("idle_s", "none of these", [](const M& m) { return m.idleS; });
    add("communication_s", "bytes of a communication move, exposed or not", [](const M& m) {
        return m.communicationS;
    });
    layout.fields.push_back(
        {"tokens_per_s", "1/s", "tokens of an iteration / iteration_s", [](const R& row) {
             return OrNothing(
                 Share(static_cast<double>(row.summary.tokensPerIteration), row.use.mean.totalS));
         }});
    return layout;
}

TableLayout<UseRow<PhaseUse>>
GetPhaseLayout()
{
    using R = UseRow<PhaseUse>;
    return {
        "phases",
        "Phases",
        "Times of a phase add up its tasks, and may overlap; means over the GPUs that have any.",
        {ExecutorField<R>(),
         {"phase", "", "name in the graph", [](const R& row) { return row.use.name; }},
         {"micro_batches",
          "",
          "how often it runs",
          [](const R& row) { return uint64_t{row.use.microBatches}; }},
         {"gpus",
          "",
          "that have tasks of it",
          [](const R& row) { return uint64_t{row.use.devices}; }},
         {"compute_s",
          "s",
          "sum of its compute tasks on a GPU",
          [](const R& row) { return row.use.computeS; }},
         {"communication_s",
          "s",
          "sum of its communications on a GPU, waiting for others included",
          [](const R& row) { return row.use.communicationS; }},
         {"start_s",
          "s",
          "begin of its first task",
          [](const R& row) { return Seconds(row.use.startPs); }},
         {"end_s", "s", "end of its last task", [](const R& row) {
              return Seconds(row.use.endPs);
          }}}};
}

TableLayout<UseRow<CollectiveUse>>
GetCollectiveLayout()
{
    using R = UseRow<CollectiveUse>;
    return {
        "collectives",
        "Collectives",
        "Communication by kind. Times count from the moment the last rank joins. Bandwidth "
        "as nccl-tests defines it; the ideal is what the links of a group alone allow. Of "
        "several iterations, those of the steady one.",
        {ExecutorField<R>(),
         {"collective",
          "",
          "what",
          [](const R& row) { return std::string(ToString(row.use.collective)); }},
         {"parallelism",
          "",
          "that it serves",
          [](const R& row) { return NameInTables(row.use.parallelism); }},
         {"bytes", "B", "size as nccl-tests counts it", [](const R& row) { return row.use.bytes; }},
         {"ranks", "", "of a group", [](const R& row) { return uint64_t{row.use.ranks}; }},
         {"servers",
          "",
          "that a group is spread over",
          [](const R& row) { return uint64_t{row.use.servers}; }},
         {"count",
          "",
          "how often, all groups and micro-batches",
          [](const R& row) { return row.use.count; }},
         {"mean_s",
          "s",
          "from the last rank's joining to the last rank's end, mean",
          [](const R& row) { return row.use.meanS; }},
         {"least_s", "s", "the shortest", [](const R& row) { return row.use.leastS; }},
         {"most_s", "s", "the longest", [](const R& row) { return row.use.mostS; }},
         {"wait_s",
          "s",
          "from a rank's joining to the last rank's, mean",
          [](const R& row) { return row.use.waitS; }},
         {"recorded_mean_s",
          "s",
          "in the trace that was run, on the rank that took least, mean",
          [](const R& row) { return OrNothing(row.use.recordedMeanS); }},
         {"recorded_least_s",
          "s",
          "the least of these",
          [](const R& row) { return OrNothing(row.use.recordedLeastS); }},
         {"algbw_bytes_per_s",
          "B/s",
          "bytes / mean_s",
          [](const R& row) { return OrNothing(row.use.algorithmBytesPerS); }},
         {"busbw_bytes_per_s",
          "B/s",
          "algbw times the factor of the collective",
          [](const R& row) { return OrNothing(row.use.busBytesPerS); }},
         {"ideal_busbw_bytes_per_s",
          "B/s",
          "of the group's links for a ring, headers not deducted",
          [](const R& row) { return OrNothing(row.use.idealBytesPerS); }},
         {"ideal_share", "share", "busbw / ideal", [](const R& row) {
              return OrNothing(Share(row.use.busBytesPerS, row.use.idealBytesPerS));
          }}}};
}

TableLayout<UseRow<LinkUse>>
GetLinkLayout()
{
    using R = UseRow<LinkUse>;
    using U = LinkUse;
    return {
        "links",
        "Links",
        "Every direction of a link that carried something, busiest first. Shares are of "
        "the run, all iterations. An executor without packets knows no packets, stalls and queues.",
        {ExecutorField<R>(),
         {"link", "", "from -> to", [](const R& row) { return row.use.name; }},
         {"technology",
          "",
          "of the link",
          [](const R& row) { return std::string(ToString(row.use.technology)); }},
         {"rate_bytes_per_s",
          "B/s",
          "raw rate of the direction",
          [](const R& row) { return row.use.rateBytesPerSecond; }},
         {"busy_share", "share", "transmitting", [](const R& row) { return row.use.utilisation; }},
         {"payload_bytes_per_s",
          "B/s",
          "mean over the run",
          [](const R& row) { return row.use.payloadBytesPerSecond; }},
         {"payload_bytes", "B", "sent", [](const R& row) { return row.use.payloadBytes; }},
         {"wire_bytes",
          "B",
          "sent, headers included; by packets without the acknowledgements and credits that units "
          "of "
          "the opposite direction take (reverse_bytes), which busy_share counts, and flows count",
          [](const R& row) { return row.use.wireBytes; }},
         {"packets", "", "units sent, control units included", OfPackets([](const U& use) {
              return use.packets;
          })},
         {"stalled_share",
          "share",
          "a unit ready, and the receiver's buffer full",
          OfPackets([](const U& use) { return use.creditStallShare; })},
         {"paused_share",
          "share",
          "at least one traffic class paused by PFC",
          OfPackets([](const U& use) { return use.pausedShare; })},
         {"pauses", "", "PFC pauses received", OfPackets([](const U& use) { return use.pauses; })},
         {"marked_packets",
          "",
          "marked by ECN while they waited for the link",
          OfPackets([](const U& use) { return use.markedPackets; })},
         {"lost_packets", "", "on the wire", OfPackets([](const U& use) {
              return use.lostPackets;
          })},
         {"dropped_packets",
          "",
          "for want of room or of a way at its end",
          OfPackets([](const U& use) { return use.droppedPackets; })},
         {"max_queue_bytes",
          "B",
          "most wire bytes that waited for the link at once",
          OfPackets([](const U& use) { return use.maxQueueBytes; })}}};
}

TableLayout<UseRow<HotSpot>>
GetHotSpotLayout()
{
    using R = UseRow<HotSpot>;
    return {
        "hot_spots",
        "Hot spots",
        "Links that lost packets, then those that were held up (paused, or without room at "
        "their end), then long queues in switches; and who is to blame.",
        {ExecutorField<R>(),
         {"link", "", "from -> to", [](const R& row) { return row.use.link.name; }},
         {"missing_packets",
          "",
          "lost on the wire, or dropped at its end",
          [](const R& row) { return row.use.missingPackets; }},
         {"held_share",
          "share",
          "of the run: paused, or waiting for room",
          [](const R& row) { return row.use.heldShare; }},
         {"max_queue_bytes",
          "B",
          "most wire bytes that waited at once",
          [](const R& row) { return row.use.link.maxQueueBytes; }},
         {"drain_s",
          "s",
          "that the longest queue of a switch takes to leave",
          [](const R& row) { return row.use.drainS; }},
         {"cause",
          "",
          "link or device that is to blame",
          [](const R& row) { return row.use.cause; }},
         {"sentence", "", "all of it in words", [](const R& row) { return row.use.sentence; }}}};
}

TableLayout<DeviceRow>
GetMemoryLayout()
{
    using R = DeviceRow;
    TableLayout<R> layout{"memory", "Memory", "Allocated bytes of every GPU.", DeviceFields()};
    Append<R>(layout.fields,
              {{"model", "", "data sheet of the GPU", [](const R& row) { return row.gpu.model; }},
               {"peak_bytes",
                "B",
                "most bytes allocated at once",
                [](const R& row) { return row.result.timeline.peakMemoryBytes.at(row.device); }},
               {"peak_s", "s", "when that was first so", FindPeakTime},
               {"capacity_bytes", "B", "of the data sheet", CapacityOf},
               {"used_share", "share", "peak / capacity", [](const R& row) {
                    return Share(
                        static_cast<double>(row.result.timeline.peakMemoryBytes.at(row.device)),
                        static_cast<double>(CapacityOf(row)));
                }}});
    return layout;
}

TableLayout<ComparisonRow>
GetComparisonLayout(const std::vector<std::string>& executors)
{
    using R = ComparisonRow;
    const std::string& reference = executors.front();
    TableLayout<R> layout{
        "comparison",
        "Executors side by side",
        "The same graph on the same cluster, by several executors.",
        {{"quantity", "", "what", [](const R& row) { return row.quantity; }},
         {reference + "_s", "s", "by the executor " + reference, [](const R& row) {
              return row.values.front();
          }}}};
    for (std::size_t i = 1; i < executors.size(); ++i)
    {
        layout.fields.push_back(
            {executors[i] + "_s", "s", "by the executor " + executors[i], [i](const R& row) {
                 return row.values[i];
             }});
        layout.fields.push_back({executors[i] + "_difference",
                                 "share",
                                 "how much more that is than by the executor " + reference,
                                 [i](const R& row) {
                                     const double first = row.values.front();
                                     return first > 0 ? Cell(row.values[i] / first - 1) : Cell();
                                 }});
    }
    return layout;
}

} // namespace proteus
} // namespace ns3
