/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-json.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

using OrderedJson = nlohmann::ordered_json;

/// What the file says that it is.
constexpr const char* FORMAT = "proteus-graph";
/// Its version.
constexpr uint32_t VERSION = 1;

/// Writes a list with one element per line.
class LineList
{
  public:
    LineList(std::ostream& out, const char* field)
        : m_out(out)
    {
        m_out << ",\n\"" << field << "\": [";
    }

    void Add(const OrderedJson& element)
    {
        m_out << (m_isEmpty ? "\n" : ",\n") << element.dump();
        m_isEmpty = false;
    }

    void Close()
    {
        m_out << "\n]";
    }

  private:
    std::ostream& m_out;
    bool m_isEmpty{true};
};

OrderedJson
ToJson(const WorkloadFacts& facts)
{
    OrderedJson json = OrderedJson::object();
    if (!facts.name.empty())
    {
        json["name"] = facts.name;
    }
    if (facts.modelFlopsPerIteration != 0)
    {
        json["model_flops_per_iteration"] = facts.modelFlopsPerIteration;
    }
    if (facts.tokensPerIteration != 0)
    {
        json["tokens_per_iteration"] = facts.tokensPerIteration;
    }
    if (facts.samplesPerIteration != 0)
    {
        json["samples_per_iteration"] = facts.samplesPerIteration;
    }
    return json;
}

/// Adds how much work a task is.
void
AddWork(const Task& task, OrderedJson& json)
{
    const Task defaults;
    if (task.durationPs >= 0)
    {
        json["duration_ps"] = task.durationPs;
    }
    if (task.flops != 0)
    {
        json["flops"] = task.flops;
    }
    if (task.bytes != 0 || task.kind != TaskKind::COMPUTE)
    {
        json["bytes"] = task.bytes;
    }
    if (task.dataType != defaults.dataType)
    {
        json["data_type"] = ToString(task.dataType);
    }
    if (task.threadBlocks != defaults.threadBlocks)
    {
        json["thread_blocks"] = task.threadBlocks;
    }
    if (task.hostPercent != defaults.hostPercent)
    {
        json["host_percent"] = task.hostPercent;
    }
}

OrderedJson
ToJson(const ExecutionGraph& graph, TaskId id)
{
    const Task defaults;
    const Task& task = graph.GetTask(id);
    OrderedJson json;
    json["id"] = id;
    json["name"] = graph.GetName(task);
    json["kind"] = ToString(task.kind);
    json["phase"] = graph.GetPhases()[task.phase].name;
    json[task.kind == TaskKind::COMMUNICATION ? "group" : "device"] = task.place;
    if (task.stream != NO_STREAM)
    {
        json["stream"] = graph.GetStreams()[task.stream];
    }
    if (task.kind == TaskKind::COMMUNICATION)
    {
        json["collective"] = ToString(task.collective);
    }
    AddWork(task, json);
    if (task.parallelism != defaults.parallelism)
    {
        json["parallelism"] = ToString(task.parallelism);
    }
    if (task.root != 0)
    {
        json["root"] = task.root;
    }
    if (task.persistent)
    {
        json["persistent"] = true;
    }
    const IdRange dependencies = graph.GetDependencies(id);
    if (dependencies.size() != 0)
    {
        json["dependencies"] = std::vector<TaskId>(dependencies.begin(), dependencies.end());
    }
    return json;
}

/// Writes names of streams, unless there are none.
void
WriteNames(const OrderedJson& names, const char* field, std::ostream& out)
{
    if (!names.empty())
    {
        out << ",\n\"" << field << "\": " << names.dump();
    }
}

void
WriteStreams(const ExecutionGraph& graph, std::ostream& out)
{
    OrderedJson all = OrderedJson::array();
    OrderedJson ready = OrderedJson::array();
    OrderedJson host = OrderedJson::array();
    for (std::size_t i = 0; i < graph.GetStreams().size(); i++)
    {
        const auto id = static_cast<StreamId>(i);
        all.push_back(graph.GetStreams()[i]);
        if (graph.GetStreamOrder(id) == StreamOrder::READY)
        {
            ready.push_back(graph.GetStreams()[i]);
        }
        if (graph.IsHostStream(id))
        {
            host.push_back(graph.GetStreams()[i]);
        }
    }
    WriteNames(all, "streams", out);
    WriteNames(ready, "ready_streams", out);
    WriteNames(host, "host_streams", out);
}

OrderedJson
ToJson(const Phase& phase)
{
    OrderedJson json;
    json["name"] = phase.name;
    if (phase.microBatches != 1)
    {
        json["micro_batches"] = phase.microBatches;
    }
    return json;
}

OrderedJson
ToJson(const ExecutionGraph& graph, const MicroBatchGate& gate)
{
    OrderedJson json;
    json["device"] = gate.device;
    json["acquire"] = graph.GetPhases()[gate.acquire].name;
    json["release"] = graph.GetPhases()[gate.release].name;
    json["limit"] = gate.limit;
    return json;
}

/// @param devices that share their schedule
OrderedJson
ToJson(const ExecutionGraph& graph, const std::vector<DeviceId>& devices)
{
    OrderedJson order = OrderedJson::array();
    for (const auto& entry : graph.GetSchedule(devices.front()))
    {
        order.push_back(
            OrderedJson::array({graph.GetPhases()[entry.phase].name, entry.microBatch}));
    }
    OrderedJson json;
    json["devices"] = devices;
    json["order"] = std::move(order);
    return json;
}

/// Writes a list, unless it is empty. @param toJson makes JSON of an element
template <typename List, typename F>
void
WriteList(const List& elements, const char* field, std::ostream& out, F toJson)
{
    if (elements.empty())
    {
        return;
    }
    LineList list(out, field);
    for (const auto& element : elements)
    {
        list.Add(toJson(element));
    }
    list.Close();
}

void
WriteTasks(const ExecutionGraph& graph, std::ostream& out)
{
    if (graph.GetNTasks() == 0)
    {
        return;
    }
    LineList list(out, "tasks");
    for (TaskId id = 0; id < graph.GetNTasks() && out; id++)
    {
        list.Add(ToJson(graph, id));
    }
    list.Close();
}

} // namespace

void
WriteGraphJson(const ExecutionGraph& graph, std::ostream& out)
{
    const auto ofGraph = [&](const auto& element) { return ToJson(graph, element); };
    out << "{\n\"format\": \"" << FORMAT << "\",\n\"version\": " << std::to_string(VERSION);
    const OrderedJson facts = ToJson(graph.GetFacts());
    if (!facts.empty())
    {
        out << ",\n\"facts\": " << facts.dump();
    }
    out << ",\n\"devices\": " << std::to_string(graph.GetNDevices());
    WriteStreams(graph, out);
    WriteList(graph.GetPhases(), "phases", out, [](const Phase& phase) { return ToJson(phase); });
    WriteList(graph.GetGroups(), "groups", out, [](const auto& group) {
        return OrderedJson(group);
    });
    WriteList(graph.FindScheduledDevices(), "schedules", out, ofGraph);
    WriteList(graph.GetGates(), "gates", out, ofGraph);
    WriteTasks(graph, out);
    out << "\n}\n";
    if (!out.flush())
    {
        throw std::invalid_argument("the graph cannot be written: the output does not take it");
    }
}

} // namespace proteus
} // namespace ns3
