/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cell-json.h"
#include "proteus-result-layouts.h"
#include "proteus-summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::ordered_json;

/// @return null for 0
Json
OrNull(double value)
{
    return value > 0 ? Json(value) : Json();
}

/// @param name of a number in the table "summary" @return it
Json
GetQuantity(const Summary& summary, const std::string& name)
{
    const auto& quantities = GetSummaryQuantities();
    const auto found =
        std::find_if(quantities.begin(), quantities.end(), [&](const SummaryQuantity& quantity) {
            return quantity.name == name;
        });
    if (found == quantities.end())
    {
        throw std::logic_error("the table \"summary\" has no " + name);
    }
    return CellToJson(found->find(summary));
}

Json
ToJson(const LinkUse& use)
{
    return {{"name", use.name},
            {"technology", ToString(use.technology)},
            {"utilisation", use.utilisation},
            {"payload_bytes_per_s", use.payloadBytesPerSecond},
            {"rate_bytes_per_s", use.rateBytesPerSecond},
            {"credit_stall_share", use.creditStallShare},
            {"max_queue_bytes", use.maxQueueBytes}};
}

Json
ToJson(const CollectiveUse& use)
{
    return {{"collective", ToString(use.collective)},
            {"parallelism", ToString(use.parallelism)},
            {"bytes", use.bytes},
            {"ranks", use.ranks},
            {"servers", use.servers},
            {"count", use.count},
            {"mean_s", use.meanS},
            {"recorded_mean_s", OrNull(use.recordedMeanS)},
            {"recorded_least_s", OrNull(use.recordedLeastS)},
            {"busbw_bytes_per_s", OrNull(use.busBytesPerS)},
            {"ideal_busbw_bytes_per_s", OrNull(use.idealBytesPerS)}};
}

Json
ToJson(const LinkKind& kind)
{
    Json json = ToJson(kind.busiest);
    json["links"] = kind.links;
    json["used_links"] = kind.usedLinks;
    json["mean_utilisation"] = kind.meanUtilisation;
    return json;
}

template <typename List>
Json
ListToJson(const List& uses)
{
    Json list = Json::array();
    for (const auto& use : uses)
    {
        list.push_back(ToJson(use));
    }
    return list;
}

/// @param values by Parallelism @param toJson makes JSON of one of them @return them by name
template <typename Values, typename F>
Json
ByParallelism(const Values& values, F toJson)
{
    Json json = Json::object();
    for (Parallelism parallelism : EXPOSURE_PRIORITY)
    {
        json[ToString(parallelism)] = toJson(values[static_cast<std::size_t>(parallelism)]);
    }
    return json;
}

/// Adds where the time of the devices goes: means, and who has most of what.
void
AddTimes(const Summary& summary, Json& json)
{
    const auto same = [](double seconds) { return seconds; };
    const auto worst = [&](const DeviceTime& time) {
        return Json{{"gpu", summary.gpuNames.at(time.device)}, {"s", time.seconds}};
    };
    const WorstBreakdown& w = summary.worst;
    json["compute_s"] = GetQuantity(summary, "compute");
    json["exposed_communication_s"] = GetQuantity(summary, "exposed communication");
    json["exposed_s"] = ByParallelism(summary.mean.exposedS, same);
    json["waiting_for_peers_s"] = GetQuantity(summary, "waiting for peers");
    json["waiting_s"] = ByParallelism(summary.mean.waitingS, same);
    json["bubble_s"] = GetQuantity(summary, "pipeline bubble");
    json["host_s"] = GetQuantity(summary, "host");
    json["idle_s"] = GetQuantity(summary, "idle");
    json["communication_s"] = GetQuantity(summary, "communication in flight");
    json["worst"] = {{"compute", worst(w.compute)},
                     {"exposed_communication", worst(w.exposedCommunication)},
                     {"exposed", ByParallelism(w.exposed, worst)},
                     {"waiting_for_peers", worst(w.waitingForPeers)},
                     {"waiting", ByParallelism(w.waiting, worst)},
                     {"bubble", worst(w.bubble)},
                     {"host", worst(w.host)},
                     {"idle", worst(w.idle)}};
}

/// Adds a list of several iterations.
void
AddIterations(const Summary& summary, Json& json)
{
    if (summary.iterations.empty())
    {
        return;
    }
    json["run_s"] = summary.runS;
    json["iterations"] = Json::array();
    for (const IterationUse& use : summary.iterations)
    {
        const MeanBreakdown& mean = use.mean;
        json["iterations"].push_back({{"iteration", use.number},
                                      {"is_steady", use.isSteady},
                                      {"iteration_s", mean.totalS},
                                      {"compute_s", mean.computeS},
                                      {"exposed_communication_s", mean.exposedCommunicationS},
                                      {"waiting_for_peers_s", mean.waitingForPeersS},
                                      {"bubble_s", mean.bubbleS},
                                      {"host_s", mean.hostS},
                                      {"idle_s", mean.idleS},
                                      {"communication_s", mean.communicationS}});
    }
}

void
AddMemory(const Summary& summary, Json& json)
{
    json["peak_memory_bytes"] = GetQuantity(summary, "peak memory of the fullest GPU");
    json["peak_memory_gpu"] = GetQuantity(summary, "fullest GPU");
    json["memory_capacity_bytes"] = GetQuantity(summary, "memory of that GPU");
    json["out_of_memory"] = summary.outOfMemory;
    json["out_of_memory_gpus"] = Json::array();
    for (DeviceId device : summary.outOfMemoryDevices)
    {
        json["out_of_memory_gpus"].push_back(summary.gpuNames.at(device));
    }
}

void
AddNetwork(const Summary& summary, Json& json)
{
    json["packets"] = GetQuantity(summary, "packets");
    json["control_packets"] = GetQuantity(summary, "control packets");
    json["packet_hops"] = GetQuantity(summary, "packet-hops");
    const RepetitionStatistics& repetition = summary.network.repetition;
    json["repetition"] = {{"communications", repetition.communications},
                          {"recorded", repetition.recorded},
                          {"repeated", repetition.repeated},
                          {"verified", repetition.verified},
                          {"packets", repetition.packets},
                          {"period_packets", repetition.periodPackets},
                          {"packet_hops", repetition.packetHops},
                          {"vain_packet_hops", repetition.vainHops}};
    json["events"] = GetQuantity(summary, "events");
    json["messages"] = GetQuantity(summary, "messages");
    json["queue_pairs"] = GetQuantity(summary, "queue pairs");
    json["losses"] = {{"lost_packets", GetQuantity(summary, "lost packets")},
                      {"dropped_packets", GetQuantity(summary, "dropped packets")},
                      {"repeated_packets", GetQuantity(summary, "repeated packets")},
                      {"timeouts", GetQuantity(summary, "timeouts")},
                      {"pauses", GetQuantity(summary, "pauses")},
                      {"marked_packets", GetQuantity(summary, "marked packets")}};
}

} // namespace

void
WriteSummaryJson(const Summary& summary, std::ostream& out, const Configuration& configuration)
{
    Json json;
    json["graph"] = summary.graph;
    json["cluster"] = summary.cluster;
    json["gpu"] = summary.gpu;
    json["devices"] = summary.devices;
    json["data_type"] = ToString(summary.dataType);
    json["iteration_s"] = GetQuantity(summary, "iteration time");
    json["recorded_s"] = GetQuantity(summary, "recorded time");
    json["tokens_per_s"] = GetQuantity(summary, "tokens");
    json["samples_per_s"] = GetQuantity(summary, "samples");
    json["model_flop_utilisation"] = GetQuantity(summary, "model FLOP utilisation");
    json["model_flops"] = summary.modelFlops; // 0, not null, where the graph does not say
    json["peak_flops_per_s"] = GetQuantity(summary, "peak of all GPUs");
    AddIterations(summary, json);
    AddTimes(summary, json);
    AddMemory(summary, json);
    AddNetwork(summary, json);
    json["wall_s"] = GetQuantity(summary, "wall time");
    json["busiest_links"] = ListToJson(summary.busiestLinks);
    json["link_kinds"] = ListToJson(summary.linkKinds);
    json["congestion"] = GetQuantity(summary, "congestion");
    json["collectives"] = ListToJson(summary.collectives);
    if (!summary.notes.empty())
    {
        json["notes"] = summary.notes;
    }
    for (const auto& [name, value] : configuration)
    {
        json["configuration"][name] = value;
    }
    if (summary.isPartial)
    {
        json["partial"] = true;
        json["stopped_s"] = summary.iterationS;
    }
    out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

} // namespace proteus
} // namespace ns3
