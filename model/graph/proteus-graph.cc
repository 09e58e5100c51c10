/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph.h"

#include "proteus-graph-text.h"
#include "proteus-graph-validation.h"

#include "ns3/proteus-enum-names.h"
#include "ns3/proteus-other-names.h"
#include "ns3/proteus-sort-unique.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr EnumNames<TaskKind, 3> TASK_KINDS{"kind of task",
                                            {{TaskKind::COMPUTE, "compute"},
                                             {TaskKind::COMMUNICATION, "communication"},
                                             {TaskKind::MEMORY, "memory"}}};

constexpr EnumNames<Collective, 9> COLLECTIVES{"collective",
                                               {{Collective::ALL_REDUCE, "all-reduce"},
                                                {Collective::ALL_GATHER, "all-gather"},
                                                {Collective::REDUCE_SCATTER, "reduce-scatter"},
                                                {Collective::BROADCAST, "broadcast"},
                                                {Collective::SEND_RECV, "send-recv"},
                                                {Collective::REDUCE, "reduce"},
                                                {Collective::GATHER, "gather"},
                                                {Collective::SCATTER, "scatter"},
                                                {Collective::ALL_TO_ALL, "all-to-all"}}};

constexpr EnumNames<Parallelism, 8> PARALLELISMS{"parallelism",
                                                 {{Parallelism::NONE, "none"},
                                                  {Parallelism::TENSOR, "tensor"},
                                                  {Parallelism::PIPELINE, "pipeline"},
                                                  {Parallelism::DATA, "data"},
                                                  {Parallelism::EMBEDDING, "embedding"},
                                                  {Parallelism::SEQUENCE, "sequence"},
                                                  {Parallelism::CONTEXT, "context"},
                                                  {Parallelism::EXPERT, "expert"}}};

constexpr EnumNames<DataType, 6> DATA_TYPES{"data type",
                                            {{DataType::FP32, "fp32"},
                                             {DataType::TF32, "tf32"},
                                             {DataType::BF16, "bf16"},
                                             {DataType::FP16, "fp16"},
                                             {DataType::FP8, "fp8"},
                                             {DataType::FP4, "fp4"}}};

// What PyTorch, CUDA and the papers call them, and those that there are none of.
using Words = OtherNamesRegistry::Registration;
const Words FP32_WORDS("fp32", {{"float32", "float", "f32", "single"}});
const Words TF32_WORDS("tf32", {{"tensorFloat32"}});
const Words BF16_WORDS("bf16", {{"bfloat16"}});
const Words FP16_WORDS("fp16", {{"float16", "half", "f16"}});
const Words FP8_WORDS("fp8", {{"float8", "e4m3", "fp8E4m3"}});
const Words FP4_WORDS("fp4", {{"nvfp4", "float4"}});

const MissingThingRegistry::Registration FOUR_BITS(
    "data type mxfp4",
    {"data type",
     {"mxfp4", "mxfp6", "fp6"},
     "of formats below 8 bits fp4 (NVFP4) alone has kernels that quantise for it here"});
const MissingThingRegistry::Registration BLOCK_SCALES(
    "data type mxfp8",
    {"data type",
     {"mxfp8", "fp8Blockwise"},
     "fp8 has one scale for a tensor, not one for a block of 32; its products have the same rate, "
     "and quantising moves 4 bytes in place of 4.06 with Megatron's frameworks"});
const MissingThingRegistry::Registration DOUBLES(
    "data type fp64",
    {"data type",
     {"fp64", "float64", "double", "int8", "int4"},
     "training here multiplies in 32 bits at most, and in floating point"});

/// @return what a value is called, of a graph that was not checked yet, too
template <typename NAMES, typename ENUM>
const char*
NameOf(const NAMES& names, ENUM value)
{
    const char* name = names.Find(value);
    return name == nullptr ? "unknown" : name;
}

bool
IsSame(const Task& a, const Task& b)
{
    const auto tie = [](const Task& t) {
        return std::tie(t.kind,
                        t.collective,
                        t.parallelism,
                        t.dataType,
                        t.stream,
                        t.phase,
                        t.root,
                        t.persistent,
                        t.name,
                        t.place,
                        t.threadBlocks,
                        t.hostPercent,
                        t.durationPs,
                        t.flops,
                        t.bytes);
    };
    return tie(a) == tie(b);
}

} // namespace

const char*
ToString(TaskKind kind)
{
    return NameOf(TASK_KINDS, kind);
}

const char*
ToString(Collective collective)
{
    return NameOf(COLLECTIVES, collective);
}

const char*
ToString(Parallelism parallelism)
{
    return NameOf(PARALLELISMS, parallelism);
}

const char*
ToString(DataType type)
{
    return NameOf(DATA_TYPES, type);
}

bool
HasRoot(Collective collective)
{
    return collective == Collective::BROADCAST || collective == Collective::REDUCE ||
           collective == Collective::GATHER || collective == Collective::SCATTER;
}

TaskKind
TaskKindFromString(const std::string& text)
{
    return TASK_KINDS.Parse(text);
}

Collective
CollectiveFromString(const std::string& text)
{
    return COLLECTIVES.Parse(text);
}

Parallelism
ParallelismFromString(const std::string& text)
{
    return PARALLELISMS.Parse(text);
}

DataType
DataTypeFromString(const std::string& text)
{
    return DATA_TYPES.Parse(text);
}

std::vector<std::string>
GetDataTypeNames()
{
    return DATA_TYPES.List();
}

bool
AreEnumsKnown(const Task& task)
{
    return TASK_KINDS.Find(task.kind) != nullptr && COLLECTIVES.Find(task.collective) != nullptr &&
           PARALLELISMS.Find(task.parallelism) != nullptr &&
           DATA_TYPES.Find(task.dataType) != nullptr;
}

std::vector<std::vector<PhaseId>>
ExecutionGraph::FindPhasesByDevice() const
{
    std::vector<std::vector<PhaseId>> phases(m_nDevices);
    std::unordered_set<uint64_t> seen; // place, phase and which devices of the place
    for (const auto& task : m_tasks)
    {
        if (task.stream == NO_STREAM)
        {
            continue;
        }
        const bool isGroup = task.kind == TaskKind::COMMUNICATION;
        const bool isSend = isGroup && task.collective == Collective::SEND_RECV;
        const uint64_t who = isSend ? 2 : isGroup ? 1 : 0;
        if (!seen.insert(who << 48 | uint64_t{task.place} << 16 | task.phase).second)
        {
            continue;
        }
        if (!isGroup)
        {
            phases[task.place].push_back(task.phase);
            continue;
        }
        const auto& group = m_groups[task.place];
        for (std::size_t i = 0; i < (isSend ? 1 : group.size()); i++)
        {
            phases[group[i]].push_back(task.phase);
        }
    }
    for (auto& list : phases)
    {
        SortUnique(list);
    }
    return phases;
}

std::vector<std::vector<DeviceId>>
ExecutionGraph::FindScheduledDevices() const
{
    const std::vector<std::vector<PhaseId>> phases = FindPhasesByDevice();
    std::vector<std::vector<DeviceId>> devices;
    std::unordered_map<uint32_t, std::size_t> positions; // schedule to its place in the result
    for (DeviceId device = 0; device < m_nDevices; device++)
    {
        const auto& schedule = GetSchedule(device);
        std::size_t i = 0;
        bool isDefault = true;
        for (const PhaseId phase : phases[device])
        {
            for (uint32_t k = 0; isDefault && k < m_phases[phase].microBatches; k++, i++)
            {
                isDefault = i < schedule.size() && schedule[i] == ScheduleEntry{phase, k};
            }
        }
        if (isDefault && i == schedule.size())
        {
            continue;
        }
        const auto found = positions.emplace(m_scheduleOf[device], devices.size());
        if (found.second)
        {
            devices.emplace_back();
        }
        devices[found.first->second].push_back(device);
    }
    return devices;
}

bool
ExecutionGraph::operator==(const ExecutionGraph& other) const
{
    const auto samePhase = [](const Phase& a, const Phase& b) {
        return a.name == b.name && a.microBatches == b.microBatches;
    };
    const auto sameGate = [](const MicroBatchGate& a, const MicroBatchGate& b) {
        return a.device == b.device && a.acquire == b.acquire && a.release == b.release &&
               a.limit == b.limit;
    };
    const auto sameFacts = [](const WorkloadFacts& a, const WorkloadFacts& b) {
        return a.name == b.name && a.modelFlopsPerIteration == b.modelFlopsPerIteration &&
               a.tokensPerIteration == b.tokensPerIteration &&
               a.samplesPerIteration == b.samplesPerIteration;
    };
    // Names are numbered in the order in which the tasks use them, so equal graphs number them
    // equally.
    if (m_nDevices != other.m_nDevices || m_tasks.size() != other.m_tasks.size() ||
        m_names != other.m_names || m_firstDependency != other.m_firstDependency ||
        m_dependencies != other.m_dependencies || m_groups != other.m_groups ||
        m_streams != other.m_streams || m_streamOrders != other.m_streamOrders ||
        m_hostStreams != other.m_hostStreams || !sameFacts(m_facts, other.m_facts) ||
        !std::equal(m_tasks.begin(), m_tasks.end(), other.m_tasks.begin(), IsSame) ||
        !std::equal(m_phases.begin(),
                    m_phases.end(),
                    other.m_phases.begin(),
                    other.m_phases.end(),
                    samePhase) ||
        !std::equal(m_gates.begin(),
                    m_gates.end(),
                    other.m_gates.begin(),
                    other.m_gates.end(),
                    sameGate))
    {
        return false;
    }
    std::unordered_set<uint64_t> compared; // pairs of schedules
    for (DeviceId device = 0; device < m_nDevices; device++)
    {
        const uint64_t pair = uint64_t{m_scheduleOf[device]} << 32 | other.m_scheduleOf[device];
        if (compared.insert(pair).second && !(GetSchedule(device) == other.GetSchedule(device)))
        {
            return false;
        }
    }
    return true;
}

} // namespace proteus
} // namespace ns3
