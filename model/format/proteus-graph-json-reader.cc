/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-json.h"

#include "ns3/proteus-json.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// What the file must say that it is.
constexpr const char* FORMAT = "proteus-graph";
/// Newest version that is known.
constexpr uint32_t VERSION = 1;

/// @param value a number that fits the type @return it
template <typename NUMBER>
NUMBER
ToInteger(JsonValue value)
{
    return static_cast<NUMBER>(
        value.AsUnsigned(0, static_cast<uint64_t>(std::numeric_limits<NUMBER>::max())));
}

/// @param object the object @param key of a field @param otherwise value of an absent field
/// @return the field's number
template <typename NUMBER>
NUMBER
FindInteger(JsonValue object, const char* key, NUMBER otherwise)
{
    const auto value = object.Find(key);
    return value ? ToInteger<NUMBER>(*value) : otherwise;
}

/// @param object the object @param key of a field @return its number, 0 if it is absent
double
FindNumber(JsonValue object, const char* key)
{
    const auto value = object.Find(key);
    return value ? value->AsNumber(0, std::numeric_limits<double>::infinity()) : 0;
}

/// @param value the name of an enumerator @param fromString turns it into one @return that
template <typename ENUM>
ENUM
ToEnum(JsonValue value, ENUM (*fromString)(const std::string&))
{
    const std::string& name = value.AsString();
    return value.Check([&] { return fromString(name); });
}

/// @param object the object @param key of a field, the name of an enumerator
/// @param fromString turns it into one @param result where to; kept if the field is absent
template <typename ENUM>
void
FindEnum(JsonValue object, const char* key, ENUM (*fromString)(const std::string&), ENUM& result)
{
    if (const auto value = object.Find(key))
    {
        result = ToEnum(*value, fromString);
    }
}

/// @param list of integers @return them
template <typename ID>
std::vector<ID>
ToIds(JsonValue list)
{
    std::vector<ID> ids(list.Size());
    for (std::size_t i = 0; i < ids.size(); i++)
    {
        ids[i] = ToInteger<ID>(list.At(i));
    }
    return ids;
}

/// Calls a function with each element of a list in the file, if it has the list.
template <typename FUNCTION>
void
ForEach(JsonValue root, const char* key, FUNCTION function)
{
    if (const auto list = root.Find(key))
    {
        const std::size_t size = list->Size();
        for (std::size_t i = 0; i < size; i++)
        {
            function(i, list->At(i));
        }
    }
}

/// Names of streams or phases, and their ids.
template <typename ID>
class Names
{
  public:
    explicit Names(const char* what)
        : m_what(what)
    {
    }

    void Add(const std::string& name, ID id)
    {
        m_ids.emplace(name, id);
    }

    ID Get(JsonValue value) const
    {
        const auto found = m_ids.find(value.AsString());
        if (found == m_ids.end())
        {
            value.Fail("the graph has no " + m_what + " " + value.Shown());
        }
        return found->second;
    }

  private:
    std::string m_what;
    std::unordered_map<std::string, ID> m_ids;
};

/// Makes the graph of a file: tasks as they come, what refers to nothing before them, the rest
/// afterwards.
class GraphReader : public JsonListReader
{
  public:
    void Begin(JsonValue root) override
    {
        CheckFields(root);
        for (const char* key : {"streams", "ready_streams", "host_streams", "phases"})
        {
            if (!root.Has(key))
            {
                m_late.push_back(key);
            }
        }
        if (!root.Has("devices"))
        {
            root.FailMissing("devices", "it must come before the tasks");
        }
        BeginTasks(root);
    }

    void Add(JsonValue element) override
    {
        const auto givenId = FindInteger<TaskId>(element, "id", m_nTasks);
        if (givenId != m_nTasks)
        {
            element.Get("id").Fail("must be the position in the list, " + std::to_string(m_nTasks) +
                                   ", not " + std::to_string(givenId));
        }
        const std::string& name = element.Get("name").AsString();
        Task task;
        task.kind = ToEnum(element.Get("kind"), TaskKindFromString);
        task.phase = m_phases.Get(element.Get("phase"));
        switch (task.kind)
        {
        case TaskKind::COMPUTE:
            ReadCompute(element, task);
            break;
        case TaskKind::COMMUNICATION:
            ReadCommunication(element, task);
            break;
        case TaskKind::MEMORY:
            ReadMemory(element, task);
            break;
        }
        const auto list = element.Find("dependencies");
        const auto dependencies = list ? ToIds<TaskId>(*list) : std::vector<TaskId>();
        element.Check([&] { return m_builder->AddTask(task, name, dependencies); });
        m_nTasks++;
    }

    /// @param document the file, read to its end @return the graph
    ExecutionGraph Finish(const JsonDocument& document)
    {
        document.CheckFormat(FORMAT, VERSION);
        const JsonValue root = document.GetRoot();
        CheckFields(root);
        if (m_builder == nullptr)
        {
            BeginTasks(root);
        }
        for (const char* key : m_late)
        {
            if (const auto value = root.Find(key))
            {
                value->Fail("must come before the tasks");
            }
        }
        ReadFacts(root);
        ReadGroups(root);
        ReadSchedules(root);
        ReadGates(root);
        return root.Check([&] { return m_builder->Build(); });
    }

  private:
    static void CheckFields(JsonValue root)
    {
        root.AllowKeys("a graph",
                       {"format",
                        "version",
                        "facts",
                        "devices",
                        "streams",
                        "ready_streams",
                        "host_streams",
                        "phases",
                        "groups",
                        "schedules",
                        "gates",
                        "tasks"});
    }

    /// Reads what tasks refer to by name.
    void BeginTasks(JsonValue root)
    {
        const JsonValue devices = root.Get("devices");
        const auto nDevices = ToInteger<uint32_t>(devices);
        m_builder = devices.Check([&] { return std::make_unique<GraphBuilder>(nDevices); });
        // Names that are not known to be streams yet.
        std::map<std::string, std::set<std::string>> special;
        for (const char* key : {"ready_streams", "host_streams"})
        {
            ForEach(root, key, [&](std::size_t, JsonValue json) {
                if (!special[key].insert(json.AsString()).second)
                {
                    json.Fail("appears twice");
                }
            });
        }
        ForEach(root, "streams", [&](std::size_t, JsonValue json) {
            const std::string& name = json.AsString();
            const auto order = special["ready_streams"].count(name) > 0 ? StreamOrder::READY
                                                                        : StreamOrder::IN_ORDER;
            const bool isHost = special["host_streams"].count(name) > 0;
            m_streams.Add(name,
                          json.Check([&] { return m_builder->AddStream(name, order, isHost); }));
        });
        for (const char* key : {"ready_streams", "host_streams"})
        {
            ForEach(root, key, [&](std::size_t, JsonValue json) { m_streams.Get(json); });
        }
        ForEach(root, "phases", [&](std::size_t, JsonValue json) {
            json.AllowKeys("a phase", {"name", "micro_batches"});
            const std::string& name = json.Get("name").AsString();
            const auto microBatches = FindInteger<uint32_t>(json, "micro_batches", 1);
            m_phases.Add(name, json.Check([&] { return m_builder->AddPhase(name, microBatches); }));
        });
    }

    void ReadCompute(JsonValue json, Task& task) const
    {
        json.AllowKeys("a compute task",
                       {"id",
                        "name",
                        "kind",
                        "phase",
                        "device",
                        "stream",
                        "duration_ps",
                        "flops",
                        "bytes",
                        "data_type",
                        "thread_blocks",
                        "host_percent",
                        "dependencies"});
        task.place = ToInteger<DeviceId>(json.Get("device"));
        task.stream = m_streams.Get(json.Get("stream"));
        task.durationPs = FindInteger<int64_t>(json, "duration_ps", task.durationPs);
        task.flops = FindNumber(json, "flops");
        task.bytes = FindInteger<uint64_t>(json, "bytes", 0);
        FindEnum(json, "data_type", DataTypeFromString, task.dataType);
        task.threadBlocks = FindInteger<uint32_t>(json, "thread_blocks", 0);
        task.hostPercent = FindInteger<uint8_t>(json, "host_percent", 0);
    }

    void ReadCommunication(JsonValue json, Task& task) const
    {
        json.AllowKeys("a communication task",
                       {"id",
                        "name",
                        "kind",
                        "phase",
                        "group",
                        "stream",
                        "collective",
                        "bytes",
                        "parallelism",
                        "root",
                        "thread_blocks",
                        "dependencies"});
        task.place = ToInteger<GroupId>(json.Get("group"));
        task.stream = m_streams.Get(json.Get("stream"));
        task.collective = ToEnum(json.Get("collective"), CollectiveFromString);
        task.bytes = ToInteger<uint64_t>(json.Get("bytes"));
        FindEnum(json, "parallelism", ParallelismFromString, task.parallelism);
        task.root = FindInteger<uint16_t>(json, "root", 0);
        task.threadBlocks = FindInteger<uint32_t>(json, "thread_blocks", 0);
    }

    static void ReadMemory(JsonValue json, Task& task)
    {
        json.AllowKeys(
            "a memory task",
            {"id", "name", "kind", "phase", "device", "bytes", "persistent", "dependencies"});
        task.place = ToInteger<DeviceId>(json.Get("device"));
        task.bytes = ToInteger<uint64_t>(json.Get("bytes"));
        const auto persistent = json.Find("persistent");
        task.persistent = persistent && persistent->AsBool();
    }

    void ReadFacts(JsonValue root)
    {
        const auto json = root.Find("facts");
        if (!json)
        {
            return;
        }
        json->AllowKeys(
            "the field facts",
            {"name", "model_flops_per_iteration", "tokens_per_iteration", "samples_per_iteration"});
        WorkloadFacts facts;
        const auto name = json->Find("name");
        facts.name = name ? name->AsString() : "";
        facts.modelFlopsPerIteration = FindNumber(*json, "model_flops_per_iteration");
        facts.tokensPerIteration = FindInteger<uint64_t>(*json, "tokens_per_iteration", 0);
        facts.samplesPerIteration = FindInteger<uint64_t>(*json, "samples_per_iteration", 0);
        m_builder->SetFacts(facts);
    }

    void ReadGroups(JsonValue root)
    {
        ForEach(root, "groups", [&](std::size_t i, JsonValue json) {
            const GroupId id = m_builder->AddGroup(ToIds<DeviceId>(json));
            if (id != i)
            {
                json.Fail("is the same group as /groups/" + std::to_string(id));
            }
        });
    }

    void ReadSchedules(JsonValue root)
    {
        std::map<DeviceId, std::size_t> scheduled;
        ForEach(root, "schedules", [&](std::size_t i, JsonValue json) {
            json.AllowKeys("a schedule", {"devices", "order"});
            const JsonValue list = json.Get("devices");
            const auto devices = ToIds<DeviceId>(list);
            for (std::size_t j = 0; j < devices.size(); j++)
            {
                const auto added = scheduled.emplace(devices[j], i);
                if (!added.second)
                {
                    list.At(j).Fail("device " + std::to_string(devices[j]) +
                                    " already has its schedule in /schedules/" +
                                    std::to_string(added.first->second));
                }
            }
            m_builder->SetSchedule(devices, ReadOrder(json.Get("order")));
        });
    }

    std::vector<ScheduleEntry> ReadOrder(JsonValue list) const
    {
        std::vector<ScheduleEntry> order(list.Size());
        for (std::size_t i = 0; i < order.size(); i++)
        {
            const JsonValue pair = list.At(i);
            if (pair.Size() != 2)
            {
                pair.Fail("must be a pair: phase, micro-batch");
            }
            order[i].phase = m_phases.Get(pair.At(0));
            order[i].microBatch = ToInteger<uint32_t>(pair.At(1));
        }
        return order;
    }

    void ReadGates(JsonValue root)
    {
        ForEach(root, "gates", [&](std::size_t, JsonValue json) {
            json.AllowKeys("a gate", {"device", "acquire", "release", "limit"});
            MicroBatchGate gate;
            gate.device = ToInteger<DeviceId>(json.Get("device"));
            gate.acquire = m_phases.Get(json.Get("acquire"));
            gate.release = m_phases.Get(json.Get("release"));
            gate.limit = ToInteger<uint32_t>(json.Get("limit"));
            m_builder->AddGate(gate);
        });
    }

    std::vector<const char*> m_late;         //!< fields that were not there when the tasks began
    std::unique_ptr<GraphBuilder> m_builder; //!< made when the number of devices is known
    Names<StreamId> m_streams{"stream"};
    Names<PhaseId> m_phases{"phase"};
    TaskId m_nTasks{0};
};

} // namespace

ExecutionGraph
ReadGraphJson(std::istream& in, const std::string& fileName)
{
    GraphReader reader;
    const JsonDocument document(in, fileName, "tasks", reader);
    return reader.Finish(document);
}

} // namespace proteus
} // namespace ns3
