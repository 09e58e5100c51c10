/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-protobuf.h"

#include "proteus-graph-protobuf-ids.h"

#include "ns3/proteus-graph.pb.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/message.h>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Bytes that are read at a time: memory grows with what is there, not with what a length claims.
constexpr std::size_t PIECE_BYTES = 1 << 20;

// The file has the numbers of our enumerators.
static_assert(static_cast<int>(TaskKind::MEMORY) == pb::GraphTaskBlock::MEMORY, "");
static_assert(pb::GraphTaskBlock::Kind_MAX == pb::GraphTaskBlock::MEMORY, "");
static_assert(static_cast<int>(Collective::ALL_TO_ALL) == pb::GraphTaskBlock::ALL_TO_ALL, "");
static_assert(pb::GraphTaskBlock::Collective_MAX == pb::GraphTaskBlock::ALL_TO_ALL, "");
static_assert(static_cast<int>(Parallelism::EXPERT) == pb::GraphTaskBlock::EXPERT, "");
static_assert(pb::GraphTaskBlock::Parallelism_MAX == pb::GraphTaskBlock::EXPERT, "");
static_assert(static_cast<int>(DataType::FP4) == pb::GraphTaskBlock::FP4, "");
static_assert(pb::GraphTaskBlock::DataType_MAX == pb::GraphTaskBlock::FP4, "");

bool
HasUnknownFields(const google::protobuf::Message& message)
{
    const google::protobuf::Reflection* reflection = message.GetReflection();
    if (!reflection->GetUnknownFields(message).empty())
    {
        return true;
    }
    std::vector<const google::protobuf::FieldDescriptor*> fields;
    reflection->ListFields(message, &fields);
    for (const auto* field : fields)
    {
        if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE)
        {
            continue;
        }
        const int size = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
        for (int i = 0; i < size; i++)
        {
            if (HasUnknownFields(field->is_repeated()
                                     ? reflection->GetRepeatedMessage(message, field, i)
                                     : reflection->GetMessage(message, field)))
            {
                return true;
            }
        }
    }
    return false;
}

/// Reads the fields of the message pb::Graph one after the other.
class GraphReader
{
  public:
    GraphReader(std::istream& in, const std::string& file)
        : m_file(file),
          m_in(&in)
    {
    }

    ExecutionGraph Read()
    {
        try
        {
            while (ReadField())
            {
            }
            CheckEnd();
            BeginTasks();
            AddRest();
            return m_builder->Build();
        }
        catch (const Damage&)
        {
            throw;
        }
        catch (const std::invalid_argument& error) // of the graph, which knows no file
        {
            throw std::invalid_argument(m_file + ": " + error.what());
        }
    }

  private:
    using Block = pb::GraphTaskBlock;

    /// An error of the file, not of the graph in it.
    class Damage : public std::invalid_argument
    {
        using std::invalid_argument::invalid_argument;
    };

    /// An error in the field that is being read.
    [[noreturn]] void Fail(const std::string& cause) const
    {
        throw Damage(m_file + ": byte " + std::to_string(m_start) + ": " + cause);
    }

    void Require(bool condition, const char* cause) const
    {
        if (!condition)
        {
            Fail(cause);
        }
    }

    void CheckEnd()
    {
        m_start = m_in.ByteCount();
        if (m_lastField !=
            pb::Graph::descriptor()->FindFieldByNumber(pb::Graph::kEndFieldNumber)->index())
        {
            Fail("the file ends too early; it was cut off, or is no graph");
        }
        if (m_head.end().tasks() != m_nTasks)
        {
            Fail("the file should have " + std::to_string(m_head.end().tasks()) +
                 " tasks, but has " + std::to_string(m_nTasks));
        }
    }

    /// @return whether there was one
    bool ReadField()
    {
        using google::protobuf::io::CodedInputStream;
        m_start = m_in.ByteCount();
        // One per field, since it reads no more than 2 GiB; a file may be longer.
        CodedInputStream in(&m_in);
        const uint32_t tag = in.ReadTag();
        if (tag == 0 && in.ConsumedEntireMessage())
        {
            return false;
        }
        // Protobuf's encoding: a tag is the number of the field and the type on the wire.
        const auto number = static_cast<int>(tag >> 3);
        const auto* field = pb::Graph::descriptor()->FindFieldByNumber(number);
        const bool isNumber =
            field != nullptr && field->type() == field->TYPE_UINT32 && !field->is_repeated();
        constexpr uint32_t VARINT = 0;
        constexpr uint32_t BYTES = 2;
        if (field == nullptr || (tag & 7) != (isNumber ? VARINT : BYTES))
        {
            Fail("this is no field of a graph; the file is damaged, or is no graph");
        }
        if (field->index() < m_lastField ||
            (field->index() == m_lastField && !field->is_repeated()))
        {
            Fail("field " + field->name() + " is repeated or in the wrong place");
        }
        m_lastField = field->index();

        m_text.clear();
        uint32_t value = 0;
        if (!in.ReadVarint32(&value))
        {
            Fail("the file ends in field " + field->name());
        }
        if (!isNumber)
        {
            ReadBytes(in, value, *field);
        }
        if (number == pb::Graph::kTasksFieldNumber)
        {
            ReadBlock();
            return true;
        }
        m_piece.clear();
        {
            google::protobuf::io::StringOutputStream string(&m_piece);
            google::protobuf::io::CodedOutputStream out(&string);
            out.WriteTag(tag);
            out.WriteVarint32(value);
            out.WriteString(m_text);
        }
        pb::Graph part;
        if (!part.ParseFromString(m_piece) || HasUnknownFields(part))
        {
            Fail("field " + field->name() + " is damaged");
        }
        m_head.MergeFrom(part);
        return true;
    }

    void ReadBytes(google::protobuf::io::CodedInputStream& in,
                   std::size_t size,
                   const google::protobuf::FieldDescriptor& field)
    {
        while (m_text.size() < size)
        {
            const std::size_t had = m_text.size();
            const std::size_t more = std::min(size - had, PIECE_BYTES);
            m_text.resize(had + more);
            if (!in.ReadRaw(&m_text[had], static_cast<int>(more)))
            {
                Fail("the file ends in field " + field.name());
            }
        }
    }

    /// Before the first task, or at the end of a file without tasks.
    void BeginTasks()
    {
        if (m_builder != nullptr)
        {
            return;
        }
        if (m_head.format() != GRAPH_PROTOBUF_FORMAT)
        {
            Fail("the format must be 'proteus-graph'; this is no graph");
        }
        if (m_head.version() != GRAPH_PROTOBUF_VERSION)
        {
            Fail("the version must be " + std::to_string(GRAPH_PROTOBUF_VERSION) + ", not " +
                 std::to_string(m_head.version()));
        }
        m_builder = std::make_unique<GraphBuilder>(m_head.devices());
    }

    /// Checks the length of a list of a block.
    template <typename LIST>
    void CheckLength(const LIST& list, int length, bool mayBeEmpty, const char* name) const
    {
        if (list.size() != length && !(mayBeEmpty && list.size() == 0))
        {
            Fail(std::string("list ") + name + " of a block of tasks has " +
                 std::to_string(list.size()) + " entries instead of " + std::to_string(length));
        }
    }

    /// @return an entry of a list that may be empty
    template <typename LIST, typename VALUE>
    static VALUE At(const LIST& list, int index, VALUE otherwise)
    {
        return list.size() == 0 ? otherwise : static_cast<VALUE>(list.Get(index));
    }

    template <typename ID>
    ID ToId(uint32_t value, const char* what) const
    {
        if (value > std::numeric_limits<ID>::max())
        {
            Fail(std::string(what) + " " + std::to_string(value) + " is out of range");
        }
        return static_cast<ID>(value);
    }

    void CheckBlock() const
    {
        int counts[Block::Kind_MAX + 1] = {};
        for (const int kind : m_block.kinds())
        {
            Require(Block::Kind_IsValid(kind), "a task has an unknown kind");
            counts[kind]++;
        }
        const int all = m_block.kinds_size();
        const int compute = counts[Block::COMPUTE];
        const int communication = counts[Block::COMMUNICATION];
        CheckLength(m_block.name_steps(), all, false, "name_steps");
        CheckLength(m_block.phases(), all, true, "phases");
        CheckLength(m_block.place_steps(), all, false, "place_steps");
        CheckLength(m_block.streams(), compute + communication, false, "streams");
        CheckLength(m_block.bytes(), all, true, "bytes");
        CheckLength(m_block.durations_ps(), compute, true, "durations_ps");
        CheckLength(m_block.flops(), compute, true, "flops");
        CheckLength(m_block.data_types(), compute, true, "data_types");
        CheckLength(m_block.thread_blocks(), compute, true, "thread_blocks");
        CheckLength(m_block.host_percents(), compute, true, "host_percents");
        CheckLength(m_block.collectives(), communication, false, "collectives");
        CheckLength(m_block.parallelisms(), communication, true, "parallelisms");
        CheckLength(m_block.roots(), communication, true, "roots");
        CheckLength(m_block.multiprocessors(), communication, true, "multiprocessors");
        CheckLength(m_block.persistent(), counts[Block::MEMORY], true, "persistent");
        CheckLength(m_block.dependency_counts(), all, true, "dependency_counts");
        uint64_t dependencies = 0;
        for (const uint32_t count : m_block.dependency_counts())
        {
            dependencies += count;
        }
        Require(dependencies == static_cast<uint64_t>(m_block.dependency_steps_size()),
                "list dependency_steps of a block of tasks has a wrong length");
    }

    /// What comes next in the lists of a block.
    struct BlockPosition
    {
        IdSteps nameSteps;
        IdSteps deviceSteps;
        IdSteps groupSteps;
        int stream{0};
        int dependency{0};
        int compute{0};
        int communication{0};
        int memory{0};
    };

    void ReadBlock()
    {
        BeginTasks();
        if (!m_block.ParseFromString(m_text) || HasUnknownFields(m_block))
        {
            Fail("a block of tasks is damaged");
        }
        CheckBlock();
        m_names.insert(m_names.end(), m_block.names().begin(), m_block.names().end());

        BlockPosition at;
        for (int i = 0; i < m_block.kinds_size(); i++)
        {
            uint32_t name = 0;
            Require(at.nameSteps.FromStep(m_block.name_steps(i), name) && name < m_names.size(),
                    "a task has a name that does not exist");
            const Task task = ReadTask(i, at);
            ReadDependencies(i, at);
            m_builder->AddTask(task, m_names[name], m_dependencies);
            m_nTasks++;
        }
    }

    /// @param i position in the block @param at what comes next in its lists @return the task
    Task ReadTask(int i, BlockPosition& at) const
    {
        Task task;
        task.kind = static_cast<TaskKind>(m_block.kinds(i));
        const bool isCommunication = task.kind == TaskKind::COMMUNICATION;
        Require((isCommunication ? at.groupSteps : at.deviceSteps)
                    .FromStep(m_block.place_steps(i), task.place),
                "a task has a device or group that does not exist");
        task.phase = ToId<PhaseId>(At(m_block.phases(), i, 0U), "phase");
        task.bytes = At(m_block.bytes(), i, uint64_t{0});
        if (task.kind != TaskKind::MEMORY)
        {
            task.stream = ToId<StreamId>(m_block.streams(at.stream++), "stream");
        }
        switch (task.kind)
        {
        case TaskKind::COMPUTE:
            ReadCompute(task, at.compute++);
            break;
        case TaskKind::COMMUNICATION:
            ReadCommunication(task, at.communication++);
            break;
        case TaskKind::MEMORY:
            task.persistent = At(m_block.persistent(), at.memory++, false);
            break;
        }
        return task;
    }

    /// Reads into m_dependencies those of the task at a position in the block.
    void ReadDependencies(int i, BlockPosition& at)
    {
        const uint32_t count = At(m_block.dependency_counts(), i, 0U);
        IdSteps steps;
        steps.StartAt(m_nTasks);
        m_dependencies.clear();
        for (uint32_t k = 0; k < count; k++)
        {
            const int64_t step = m_block.dependency_steps(at.dependency++);
            TaskId before = 0;
            Require(steps.FromStep(step, before) && (k == 0 || step > 0),
                    "the dependencies of a task do not exist or do not ascend");
            m_dependencies.push_back(before);
        }
    }

    void ReadCompute(Task& task, int i) const
    {
        task.durationPs = At(m_block.durations_ps(), i, int64_t{-1});
        Require(task.durationPs >= -1, "a task has a negative duration");
        task.flops = At(m_block.flops(), i, 0.0);
        task.threadBlocks = At(m_block.thread_blocks(), i, 0U);
        const uint32_t hostPercent = At(m_block.host_percents(), i, 0U);
        Require(hostPercent <= 100, "a task waits for the host for more than all of its time");
        task.hostPercent = static_cast<uint8_t>(hostPercent);
        if (m_block.data_types_size() != 0)
        {
            Require(Block::DataType_IsValid(m_block.data_types().Get(i)),
                    "a task has an unknown data type");
            task.dataType = static_cast<DataType>(m_block.data_types(i));
        }
    }

    void ReadCommunication(Task& task, int i) const
    {
        Require(Block::Collective_IsValid(m_block.collectives().Get(i)),
                "a task has an unknown collective");
        task.collective = static_cast<Collective>(m_block.collectives(i));
        if (m_block.parallelisms_size() != 0)
        {
            Require(Block::Parallelism_IsValid(m_block.parallelisms().Get(i)),
                    "a task has an unknown parallelism");
            task.parallelism = static_cast<Parallelism>(m_block.parallelisms(i));
        }
        task.root = ToId<uint16_t>(At(m_block.roots(), i, 0U), "root");
        task.threadBlocks = At(m_block.multiprocessors(), i, 0U);
    }

    std::vector<DeviceId> ToDevices(const google::protobuf::RepeatedField<int64_t>& list) const
    {
        std::vector<DeviceId> devices;
        IdSteps steps;
        for (const int64_t step : list)
        {
            devices.emplace_back();
            Require(steps.FromStep(step, devices.back()), "a device does not exist");
        }
        return devices;
    }

    void AddRest()
    {
        WorkloadFacts facts;
        facts.name = m_head.facts().name();
        facts.modelFlopsPerIteration = m_head.facts().model_flops_per_iteration();
        facts.tokensPerIteration = m_head.facts().tokens_per_iteration();
        facts.samplesPerIteration = m_head.facts().samples_per_iteration();
        m_builder->SetFacts(facts);
        int nextReady = 0;
        int nextHost = 0;
        for (int i = 0; i < m_head.streams_size(); i++)
        {
            const bool isReady = nextReady < m_head.ready_streams_size() &&
                                 m_head.ready_streams(nextReady) == static_cast<uint32_t>(i);
            nextReady += isReady;
            const bool isHost = nextHost < m_head.host_streams_size() &&
                                m_head.host_streams(nextHost) == static_cast<uint32_t>(i);
            nextHost += isHost;
            m_builder->AddStream(m_head.streams(i),
                                 isReady ? StreamOrder::READY : StreamOrder::IN_ORDER,
                                 isHost);
        }
        Require(nextReady == m_head.ready_streams_size() && nextHost == m_head.host_streams_size(),
                "the ready streams or those of the host do not exist or do not ascend");
        for (const auto& phase : m_head.phases())
        {
            m_builder->AddPhase(phase.name(), phase.micro_batches());
        }
        for (int i = 0; i < m_head.groups_size(); i++)
        {
            const GroupId id = m_builder->AddGroup(ToDevices(m_head.groups(i).device_steps()));
            if (id != static_cast<GroupId>(i))
            {
                Fail("group " + std::to_string(i) + " is the same as group " + std::to_string(id));
            }
        }
        AddSchedules();
        for (const auto& gate : m_head.gates())
        {
            m_builder->AddGate({gate.device(),
                                ToId<PhaseId>(gate.acquire(), "phase"),
                                ToId<PhaseId>(gate.release(), "phase"),
                                gate.limit()});
        }
    }

    void AddSchedules()
    {
        std::set<DeviceId> scheduled;
        for (const auto& schedule : m_head.schedules())
        {
            Require(schedule.phases_size() == schedule.micro_batches_size(),
                    "a schedule has lists of unequal length");
            const auto devices = ToDevices(schedule.device_steps());
            for (const DeviceId device : devices)
            {
                if (!scheduled.insert(device).second)
                {
                    Fail("device " + std::to_string(device) + " has two schedules");
                }
            }
            std::vector<ScheduleEntry> order;
            order.reserve(schedule.phases_size());
            for (int i = 0; i < schedule.phases_size(); i++)
            {
                order.push_back(
                    {ToId<PhaseId>(schedule.phases(i), "phase"), schedule.micro_batches(i)});
            }
            m_builder->SetSchedule(devices, std::move(order));
        }
    }

    const std::string& m_file;
    google::protobuf::io::IstreamInputStream m_in;
    int64_t m_start{0};  //!< byte at which the field begins
    int m_lastField{-1}; //!< position in the message of the field that was read last
    std::string m_text;  //!< content of the field
    std::string m_piece; //!< the field as a message
    pb::Graph m_head;    //!< everything but the tasks
    Block m_block;       //!< the block that is being read
    std::vector<std::string> m_names;
    std::vector<TaskId> m_dependencies; //!< of the task that is being read
    std::unique_ptr<GraphBuilder> m_builder;
    TaskId m_nTasks{0};
};

} // namespace

ExecutionGraph
ReadGraphProtobuf(std::istream& in, const std::string& fileName)
{
    return GraphReader(in, fileName).Read();
}

} // namespace proteus
} // namespace ns3
