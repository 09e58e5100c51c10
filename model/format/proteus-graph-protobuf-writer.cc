/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-protobuf-ids.h"
#include "proteus-graph-protobuf.h"

#include "ns3/proteus-graph.pb.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <google/protobuf/message.h>
#include <limits>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// A block ends after so many tasks ...
constexpr int BLOCK_TASKS = 4096;
/// ... or when their names and dependencies are so many bytes.
constexpr std::size_t BLOCK_BYTES = 1 << 20;

void
WriteMessage(const google::protobuf::Message& message, std::ostream& out)
{
    if (message.ByteSizeLong() > std::numeric_limits<int32_t>::max())
    {
        throw std::invalid_argument(
            "the graph cannot be written as Protobuf: a part of it has 2 GiB or more");
    }
    if (!message.SerializeToOstream(&out) || !out)
    {
        throw std::invalid_argument("the graph cannot be written: the output does not take it");
    }
}

/// Makes blocks of tasks and writes them.
class TaskWriter
{
  public:
    TaskWriter(const ExecutionGraph& graph, std::ostream& out)
        : m_graph(graph),
          m_out(out)
    {
    }

    void WriteAll()
    {
        for (TaskId id = 0; id < m_graph.GetNTasks(); id++)
        {
            Add(id);
            if (m_block->kinds_size() >= BLOCK_TASKS || m_bytes >= BLOCK_BYTES)
            {
                Flush();
            }
        }
        Flush();
    }

  private:
    void Add(TaskId id)
    {
        const Task& task = m_graph.GetTask(id);
        pb::GraphTaskBlock& block = *m_block;
        if (task.name >= m_nNames) // names are numbered in the order of their first use
        {
            block.add_names(m_graph.GetName(task));
            m_bytes += m_graph.GetName(task).size();
            m_nNames = task.name + 1;
        }
        block.add_kinds(static_cast<pb::GraphTaskBlock::Kind>(task.kind));
        block.add_name_steps(m_nameSteps.ToStep(task.name));
        block.add_phases(task.phase);
        block.add_bytes(task.bytes);
        switch (task.kind)
        {
        case TaskKind::COMPUTE:
            block.add_place_steps(m_deviceSteps.ToStep(task.place));
            block.add_streams(task.stream);
            block.add_durations_ps(task.durationPs);
            block.add_flops(task.flops);
            block.add_thread_blocks(task.threadBlocks);
            block.add_host_percents(task.hostPercent);
            block.add_data_types(static_cast<pb::GraphTaskBlock::DataType>(task.dataType));
            break;
        case TaskKind::COMMUNICATION:
            block.add_place_steps(m_groupSteps.ToStep(task.place));
            block.add_streams(task.stream);
            block.add_collectives(static_cast<pb::GraphTaskBlock::Collective>(task.collective));
            block.add_parallelisms(static_cast<pb::GraphTaskBlock::Parallelism>(task.parallelism));
            block.add_roots(task.root);
            block.add_multiprocessors(task.threadBlocks);
            break;
        case TaskKind::MEMORY:
            block.add_place_steps(m_deviceSteps.ToStep(task.place));
            block.add_persistent(task.persistent);
            break;
        }
        const IdRange dependencies = m_graph.GetDependencies(id);
        block.add_dependency_counts(static_cast<uint32_t>(dependencies.size()));
        IdSteps steps;
        steps.StartAt(id);
        for (const TaskId before : dependencies)
        {
            block.add_dependency_steps(steps.ToStep(before));
        }
        m_bytes += dependencies.size();
    }

    template <typename LIST, typename VALUE>
    static void ClearIfAll(LIST* list, VALUE value)
    {
        if (std::all_of(list->begin(), list->end(), [value](auto entry) { return entry == value; }))
        {
            list->Clear();
        }
    }

    void Flush()
    {
        pb::GraphTaskBlock& block = *m_block;
        if (block.kinds_size() == 0)
        {
            return;
        }
        ClearIfAll(block.mutable_phases(), 0U);
        ClearIfAll(block.mutable_bytes(), 0U);
        ClearIfAll(block.mutable_durations_ps(), -1);
        ClearIfAll(block.mutable_flops(), 0.0);
        ClearIfAll(block.mutable_data_types(), static_cast<int>(pb::GraphTaskBlock::BF16));
        ClearIfAll(block.mutable_thread_blocks(), 0U);
        ClearIfAll(block.mutable_host_percents(), 0U);
        ClearIfAll(block.mutable_parallelisms(), static_cast<int>(pb::GraphTaskBlock::NONE));
        ClearIfAll(block.mutable_roots(), 0U);
        ClearIfAll(block.mutable_multiprocessors(), 0U);
        ClearIfAll(block.mutable_persistent(), false);
        ClearIfAll(block.mutable_dependency_counts(), 0U);
        WriteMessage(m_part, m_out);
        block.Clear();
        m_bytes = 0;
        m_nameSteps = IdSteps();
        m_deviceSteps = IdSteps();
        m_groupSteps = IdSteps();
    }

    const ExecutionGraph& m_graph;
    std::ostream& m_out;
    pb::Graph m_part; //!< holds the block and nothing else
    pb::GraphTaskBlock* m_block{m_part.add_tasks()};
    std::size_t m_bytes{0};
    uint32_t m_nNames{0};
    IdSteps m_nameSteps;
    IdSteps m_deviceSteps;
    IdSteps m_groupSteps;
};

void
SetFacts(const WorkloadFacts& facts, pb::Graph& head)
{
    head.mutable_facts()->set_name(facts.name);
    head.mutable_facts()->set_model_flops_per_iteration(facts.modelFlopsPerIteration);
    head.mutable_facts()->set_tokens_per_iteration(facts.tokensPerIteration);
    head.mutable_facts()->set_samples_per_iteration(facts.samplesPerIteration);
}

void
AddStreams(const ExecutionGraph& graph, pb::Graph& head)
{
    for (const auto& stream : graph.GetStreams())
    {
        head.add_streams(stream);
    }
    for (std::size_t i = 0; i < graph.GetStreams().size(); i++)
    {
        if (graph.GetStreamOrder(static_cast<StreamId>(i)) == StreamOrder::READY)
        {
            head.add_ready_streams(static_cast<uint32_t>(i));
        }
        if (graph.IsHostStream(static_cast<StreamId>(i)))
        {
            head.add_host_streams(static_cast<uint32_t>(i));
        }
    }
}

void
AddSteps(const std::vector<DeviceId>& devices, google::protobuf::RepeatedField<int64_t>& list)
{
    IdSteps steps;
    for (const DeviceId device : devices)
    {
        list.Add(steps.ToStep(device));
    }
}

void
AddSchedules(const ExecutionGraph& graph, pb::Graph& head)
{
    for (const auto& devices : graph.FindScheduledDevices())
    {
        auto* message = head.add_schedules();
        AddSteps(devices, *message->mutable_device_steps());
        for (const auto& entry : graph.GetSchedule(devices.front()))
        {
            message->add_phases(entry.phase);
            message->add_micro_batches(entry.microBatch);
        }
    }
    for (const auto& gate : graph.GetGates())
    {
        auto* message = head.add_gates();
        message->set_device(gate.device);
        message->set_acquire(gate.acquire);
        message->set_release(gate.release);
        message->set_limit(gate.limit);
    }
}

} // namespace

void
WriteGraphProtobuf(const ExecutionGraph& graph, std::ostream& out)
{
    pb::Graph head;
    head.set_format(GRAPH_PROTOBUF_FORMAT);
    head.set_version(GRAPH_PROTOBUF_VERSION);
    SetFacts(graph.GetFacts(), head);
    head.set_devices(graph.GetNDevices());
    AddStreams(graph, head);
    for (const auto& phase : graph.GetPhases())
    {
        auto* message = head.add_phases();
        message->set_name(phase.name);
        message->set_micro_batches(phase.microBatches);
    }
    for (const auto& group : graph.GetGroups())
    {
        AddSteps(group, *head.add_groups()->mutable_device_steps());
    }
    AddSchedules(graph, head);
    WriteMessage(head, out);
    TaskWriter(graph, out).WriteAll();
    pb::Graph tail;
    tail.mutable_end()->set_tasks(graph.GetNTasks());
    WriteMessage(tail, out);
    if (!out.flush())
    {
        throw std::invalid_argument("the graph cannot be written: the output does not take it");
    }
}

} // namespace proteus
} // namespace ns3
