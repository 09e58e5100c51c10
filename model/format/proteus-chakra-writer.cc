/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-chakra.h"
#include "proteus-graph-protobuf.h"

#include "ns3/proteus-chakra.pb.h"
#include "ns3/proteus-graph-head.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-output-plan.h"
#include "ns3/proteus-sort-unique.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr int64_t PS_PER_US = 1000000;
/// The schema whose encoding we write.
constexpr const char* SCHEMA = "0.0.4";

/// Everything of a graph but its tasks, as Protobuf.
std::string
HeadOf(const ExecutionGraph& graph)
{
    GraphBuilder builder(graph.GetNDevices());
    CopyHead(graph, builder);
    std::ostringstream out;
    WriteGraphProtobuf(builder.Build(), out);
    return out.str();
}

/// What Chakra calls a collective.
ChakraCollective
ToChakra(Collective collective)
{
    switch (collective)
    {
    case Collective::ALL_REDUCE:
        return ChakraCollective::ALL_REDUCE;
    case Collective::ALL_GATHER:
        return ChakraCollective::ALL_GATHER;
    case Collective::REDUCE_SCATTER:
        return ChakraCollective::REDUCE_SCATTER;
    case Collective::BROADCAST:
        return ChakraCollective::BROADCAST;
    case Collective::REDUCE:
        return ChakraCollective::REDUCE;
    case Collective::GATHER:
        return ChakraCollective::GATHER;
    case Collective::SCATTER:
        return ChakraCollective::SCATTER;
    case Collective::ALL_TO_ALL:
        return ChakraCollective::ALL_TO_ALL;
    case Collective::SEND_RECV:
        break;
    }
    throw std::invalid_argument("a send-recv is no collective of Chakra");
}

/// Writes the files of a graph.
class TraceWriter
{
  public:
    explicit TraceWriter(const ExecutionGraph& graph)
        : m_graph(graph),
          m_tasks(graph.GetNDevices())
    {
        for (TaskId id = 0; id < graph.GetNTasks(); id++)
        {
            const Task& task = graph.GetTask(id);
            if (task.kind != TaskKind::COMMUNICATION)
            {
                m_tasks[task.place].push_back(id);
                continue;
            }
            for (const DeviceId device : graph.GetGroup(task.place))
            {
                m_tasks[device].push_back(id);
            }
            if (task.collective == Collective::SEND_RECV)
            {
                m_tags.emplace(id, m_nTags);
                m_nTags += graph.GetNInstances(task);
            }
        }
        if (m_nTags > std::numeric_limits<int32_t>::max())
        {
            throw std::invalid_argument("the graph cannot be written as a Chakra trace: it has " +
                                        std::to_string(m_nTags) +
                                        " messages, more than comm_tag can number");
        }
    }

    void Write(DeviceId device, std::ostream& out)
    {
        m_device = device;
        const auto& tasks = m_tasks[device];
        uint64_t n = 0;
        m_firstInstance.clear();
        for (const TaskId id : tasks)
        {
            m_firstInstance.push_back(n);
            n += m_graph.GetNInstances(m_graph.GetTask(id));
        }
        if (n > MAX_TRACE_TASKS)
        {
            throw std::invalid_argument("the graph cannot be written as a Chakra trace: device " +
                                        std::to_string(device) + " runs " + std::to_string(n) +
                                        " instances of tasks; the most is " +
                                        std::to_string(MAX_TRACE_TASKS));
        }
        FindIssueOrder(n);
        WriteMetadata(out);
        for (const auto& [local, microBatch] : m_order)
        {
            WriteInstance(local, microBatch, out);
        }
        if (!out.flush())
        {
            FailWrite();
        }
    }

  private:
    /// Task (position in m_tasks[m_device]) and micro-batch.
    using Instance = std::pair<uint32_t, uint32_t>;

    [[noreturn]] static void FailWrite()
    {
        throw std::invalid_argument("the trace cannot be written: the output does not take it");
    }

    static void WriteMessage(const google::protobuf::Message& message, std::ostream& out)
    {
        if (message.ByteSizeLong() > std::numeric_limits<int32_t>::max())
        {
            throw std::invalid_argument(
                "the graph cannot be written as a Chakra trace: a part of it has 2 GiB or more");
        }
        {
            google::protobuf::io::OstreamOutputStream stream(&out);
            google::protobuf::io::CodedOutputStream coded(&stream);
            coded.WriteVarint32(static_cast<uint32_t>(message.ByteSizeLong()));
            message.SerializeWithCachedSizes(&coded);
        }
        if (!out)
        {
            FailWrite();
        }
    }

    const Task& GetTask(uint32_t local) const
    {
        return m_graph.GetTask(m_tasks[m_device][local]);
    }

    uint64_t GetIndex(const Instance& instance) const
    {
        return m_firstInstance[instance.first] + instance.second;
    }

    /// Whether the task is the receiving end of a message here.
    bool IsReceive(const Task& task) const
    {
        return task.kind == TaskKind::COMMUNICATION && task.collective == Collective::SEND_RECV &&
               m_graph.GetGroup(task.place).front() != m_device;
    }

    /// A gate of the device.
    struct Gate
    {
        const MicroBatchGate* gate;
        std::vector<uint32_t> admitted; //!< micro-batches, in order
    };

    /// Tasks (positions in m_tasks[m_device]), by phase.
    using TasksOfPhases = std::vector<std::vector<uint32_t>>;

    void Number(const Instance& instance)
    {
        m_idOf[GetIndex(instance)] = static_cast<uint32_t>(m_order.size());
        m_order.push_back(instance);
    }

    /// @return the work of the device
    TasksOfPhases FindTasksOfPhases() const
    {
        TasksOfPhases tasksOf(m_graph.GetPhases().size());
        for (uint32_t local = 0; local < m_tasks[m_device].size(); local++)
        {
            if (GetTask(local).kind != TaskKind::MEMORY)
            {
                tasksOf[GetTask(local).phase].push_back(local);
            }
        }
        return tasksOf;
    }

    /**
     * Numbers the instances: those of the schedule in its order, then the others. Notes what each
     * has to wait for besides its dependencies.
     */
    void FindIssueOrder(uint64_t n)
    {
        m_order.clear();
        m_idOf.assign(n, NO_ID);
        m_control.assign(n, {});
        std::vector<Gate> gates;
        for (const MicroBatchGate& gate : m_graph.GetGates())
        {
            if (gate.device == m_device)
            {
                gates.push_back({&gate, {}});
            }
        }
        const TasksOfPhases tasksOf = FindTasksOfPhases();
        std::map<StreamId, Instance> last; // of streams in order
        for (const ScheduleEntry& entry : m_graph.GetSchedule(m_device))
        {
            const auto opens = PassGates(entry, tasksOf, gates);
            for (const uint32_t local : tasksOf[entry.phase])
            {
                Schedule({local, entry.microBatch}, opens, last);
            }
        }
        for (uint32_t local = 0; local < m_tasks[m_device].size(); local++)
        {
            for (uint32_t k = 0; k < m_graph.GetNInstances(GetTask(local)); k++)
            {
                if (m_idOf[GetIndex({local, k})] == NO_ID)
                {
                    Number({local, k});
                }
            }
        }
    }

    /// Lets an entry of the schedule through the gates. @return what opens them for it
    std::vector<Instance> PassGates(const ScheduleEntry& entry,
                                    const TasksOfPhases& tasksOf,
                                    std::vector<Gate>& gates) const
    {
        std::vector<Instance> opens;
        for (Gate& gate : gates)
        {
            if (gate.gate->acquire != entry.phase)
            {
                continue;
            }
            if (gate.admitted.size() >= gate.gate->limit)
            {
                const uint32_t earlier = gate.admitted[gate.admitted.size() - gate.gate->limit];
                for (const uint32_t local : tasksOf[gate.gate->release])
                {
                    if (GetTask(local).kind == TaskKind::COMPUTE)
                    {
                        opens.emplace_back(local, earlier);
                    }
                }
            }
            gate.admitted.push_back(entry.microBatch);
        }
        return opens;
    }

    /// Numbers an instance. @param opens what it waits for @param last of streams in order
    void Schedule(const Instance& instance,
                  const std::vector<Instance>& opens,
                  std::map<StreamId, Instance>& last)
    {
        const Task& task = GetTask(instance.first);
        Number(instance);
        if (IsReceive(task))
        {
            return;
        }
        auto& control = m_control[GetIndex(instance)];
        control = opens;
        if (m_graph.GetStreamOrder(task.stream) == StreamOrder::IN_ORDER)
        {
            const auto found = last.emplace(task.stream, instance);
            if (!found.second)
            {
                control.push_back(found.first->second);
                found.first->second = instance;
            }
        }
    }

    void WriteMetadata(std::ostream& out)
    {
        pb::ChakraMetadata metadata;
        metadata.set_version(SCHEMA);
        if (m_device == 0)
        {
            auto* attribute = metadata.add_attr();
            attribute->set_name("proteus_graph");
            attribute->set_bytes_val(HeadOf(m_graph));
        }
        WriteMessage(metadata, out);

        // Who is in which group; group 0 is that of all ranks.
        auto groups = nlohmann::ordered_json::array();
        groups.push_back({{"pg_name", "0"},
                          {"ranks", nlohmann::ordered_json::array()},
                          {"group_size", m_graph.GetNDevices()}});
        for (GroupId id = 0; id < m_graph.GetGroups().size(); id++)
        {
            groups.push_back({{"pg_name", GroupName(id)}, {"ranks", m_graph.GetGroup(id)}});
        }
        pb::ChakraNodeMessage node;
        node.set_id(m_order.size());
        node.set_name("## process_group:init ##");
        node.set_type(pb::CHAKRA_METADATA);
        node.mutable_inputs()->set_values(groups.dump());
        WriteMessage(node, out);
    }

    static std::string GroupName(GroupId id)
    {
        return std::to_string(uint64_t{id} + 1);
    }

    /// Adds the instances that a dependency stands for; of a tensor, those of its producers.
    void AddDependency(const Instance& after, uint32_t before, std::vector<uint64_t>& ids) const
    {
        const uint32_t nAfter = m_graph.GetNInstances(GetTask(after.first));
        const uint32_t nBefore = m_graph.GetNInstances(GetTask(before));
        const uint32_t first = nBefore == nAfter ? after.second : 0;
        const uint32_t end = nBefore == nAfter ? after.second + 1 : nBefore;
        for (uint32_t k = first; k < end; k++)
        {
            const Instance instance{before, k};
            if (GetTask(before).kind != TaskKind::MEMORY)
            {
                ids.push_back(m_idOf[GetIndex(instance)]);
                continue;
            }
            if (std::find(m_tensors.begin(), m_tensors.end(), instance) == m_tensors.end())
            {
                m_tensors.push_back(instance);
            }
        }
    }

    /// @return what an instance waits for, ascending
    std::vector<uint64_t> FindDependencies(const Instance& instance) const
    {
        std::vector<uint64_t> ids;
        m_tensors.assign(1, instance);
        for (std::size_t i = 0; i < m_tensors.size(); i++)
        {
            const Instance at = m_tensors[i];
            for (const TaskId id : m_graph.GetDependencies(m_tasks[m_device][at.first]))
            {
                const auto& tasks = m_tasks[m_device];
                const auto found = std::lower_bound(tasks.begin(), tasks.end(), id);
                if (found != tasks.end() && *found == id)
                {
                    AddDependency(at, static_cast<uint32_t>(found - tasks.begin()), ids);
                }
            }
        }
        SortUnique(ids);
        return ids;
    }

    void WriteInstance(uint32_t local, uint32_t microBatch, std::ostream& out)
    {
        const TaskId id = m_tasks[m_device][local];
        const Task& task = m_graph.GetTask(id);
        const Instance instance{local, microBatch};
        m_node.Clear();
        m_node.set_id(m_idOf[GetIndex(instance)]);
        m_node.set_name(m_graph.GetName(task));
        const bool isHome = task.kind != TaskKind::COMMUNICATION ||
                            m_graph.GetGroup(task.place).front() == m_device;
        if (task.kind == TaskKind::MEMORY)
        {
            // No work: who needs the tensor depends on who makes it.
            m_node.set_type(pb::CHAKRA_METADATA);
        }
        else
        {
            for (const uint64_t before : FindDependencies(instance))
            {
                m_node.add_data_deps(before);
            }
            for (const Instance& before : m_control[GetIndex(instance)])
            {
                m_node.add_ctrl_deps(m_idOf[GetIndex(before)]);
            }
            AddAttribute("is_cpu_op")->set_bool_val(false);
        }
        if (task.kind == TaskKind::COMPUTE)
        {
            SetCompute(task);
        }
        else if (task.kind == TaskKind::COMMUNICATION)
        {
            SetCommunication(id, task, microBatch);
        }
        if (microBatch == 0 && isHome)
        {
            SetRecord(id, task);
        }
        WriteMessage(m_node, out);
    }

    pb::ChakraAttribute* AddAttribute(const char* name)
    {
        auto* attribute = m_node.add_attr();
        attribute->set_name(name);
        return attribute;
    }

    void SetCompute(const Task& task)
    {
        m_node.set_type(pb::CHAKRA_COMP);
        if (task.durationPs >= 0)
        {
            // To the nearest microsecond, but not to nothing.
            m_node.set_duration_micros(
                task.durationPs == 0
                    ? 0
                    : std::max<int64_t>(task.durationPs / PS_PER_US +
                                            (task.durationPs % PS_PER_US >= PS_PER_US / 2),
                                        1));
        }
        constexpr double MOST = 0x1p62;
        AddAttribute("num_ops")->set_int64_val(std::llround(std::min(task.flops, MOST)));
        AddAttribute("tensor_size")->set_uint64_val(task.bytes);
    }

    void SetCommunication(TaskId id, const Task& task, uint32_t microBatch)
    {
        const auto& group = m_graph.GetGroup(task.place);
        uint64_t bytes = task.bytes;
        if (task.collective == Collective::SEND_RECV)
        {
            const bool isReceive = IsReceive(task);
            m_node.set_type(isReceive ? pb::CHAKRA_COMM_RECV : pb::CHAKRA_COMM_SEND);
            AddAttribute("comm_src")->set_int32_val(static_cast<int32_t>(group.front()));
            AddAttribute("comm_dst")->set_int32_val(static_cast<int32_t>(group.back()));
            AddAttribute("comm_tag")
                ->set_int32_val(static_cast<int32_t>(m_tags.at(id) + microBatch));
        }
        else
        {
            m_node.set_type(pb::CHAKRA_COMM_COLL);
            AddAttribute("comm_type")
                ->set_int64_val(static_cast<int64_t>(ToChakra(task.collective)));
            if (HasRoot(task.collective))
            {
                AddAttribute("root_rank")->set_int32_val(static_cast<int32_t>(group[task.root]));
            }
            AddAttribute("pg_name")->set_string_val(GroupName(task.place));
            if (task.collective == Collective::ALL_GATHER || task.collective == Collective::GATHER)
            {
                bytes = bytes / group.size() + (bytes % group.size() != 0); // of one rank
            }
        }
        constexpr auto MOST = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
        AddAttribute("comm_size")->set_int64_val(static_cast<int64_t>(std::min(bytes, MOST)));
    }

    void SetRecord(TaskId id, const Task& task)
    {
        pb::ChakraTaskRecord record;
        record.set_id(id);
        record.set_kind(static_cast<uint32_t>(task.kind));
        record.set_collective(static_cast<uint32_t>(task.collective));
        record.set_parallelism(static_cast<uint32_t>(task.parallelism));
        record.set_data_type(static_cast<uint32_t>(task.dataType));
        record.set_stream(task.stream);
        record.set_phase(task.phase);
        record.set_root(task.root);
        record.set_persistent(task.persistent);
        record.set_place(task.place);
        record.set_duration_ps(task.durationPs);
        record.set_flops(task.flops);
        record.set_thread_blocks(task.threadBlocks);
        record.set_host_percent(task.hostPercent);
        record.set_bytes(task.bytes);
        for (const TaskId before : m_graph.GetDependencies(id))
        {
            record.add_dependencies(before);
        }
        record.SerializeToString(&m_text);
        AddAttribute("proteus_task")->set_bytes_val(m_text);
    }

    const ExecutionGraph& m_graph;
    std::vector<std::vector<TaskId>> m_tasks; //!< by device
    std::map<TaskId, uint64_t> m_tags;        //!< first tag of the instances of a message
    uint64_t m_nTags{0};
    DeviceId m_device{0};
    std::vector<uint64_t> m_firstInstance;        //!< by local task
    std::vector<Instance> m_order;                //!< by id of the node
    std::vector<uint32_t> m_idOf;                 //!< by instance: id of its node
    std::vector<std::vector<Instance>> m_control; //!< by instance: what it waits for in its stream
    mutable std::vector<Instance> m_tensors;      //!< work list of FindDependencies()
    pb::ChakraNodeMessage m_node;
    std::string m_text;
};

} // namespace

void
WriteChakra(const ExecutionGraph& graph, DeviceId device, std::ostream& out)
{
    TraceWriter(graph).Write(device, out);
}

void
SaveChakra(const ExecutionGraph& graph, const std::string& prefix)
{
    TraceWriter writer(graph);
    for (DeviceId device = 0; device < graph.GetNDevices(); device++)
    {
        WriteFile(prefix + "." + std::to_string(device) + ".et",
                  [&](std::ostream& out) { writer.Write(device, out); });
    }
}

void
SaveChakraFolder(const ExecutionGraph& graph, const std::string& folder)
{
    OutputPlan::AddFolder(folder); // gone again if nothing can be written to it
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error || !std::filesystem::is_directory(folder))
    {
        throw OutputError(folder,
                          "is no folder and cannot be made one" +
                              (error ? ": " + error.message() : ""));
    }
    const std::string prefix = folder + "/trace";
    SaveChakra(graph, prefix);
    for (DeviceId rank = graph.GetNDevices();
         std::filesystem::remove(prefix + "." + std::to_string(rank) + ".et", error);
         ++rank)
    {
    }
}

} // namespace proteus
} // namespace ns3
