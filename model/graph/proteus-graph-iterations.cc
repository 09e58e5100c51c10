/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-iterations.h"

#include "ns3/proteus-enum-names.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// How many phases a graph can number.
constexpr uint64_t MAX_PHASES = uint64_t{std::numeric_limits<PhaseId>::max()} + 1;

/// Makes the graph of RepeatGraph().
class Repeater
{
  public:
    Repeater(const ExecutionGraph& graph,
             const std::vector<CarriedDependency>& carried,
             uint32_t iterations,
             CrossIteration cross)
        : m_graph(graph),
          m_carried(carried),
          m_cross(iterations > 1 ? cross : CrossIteration::TENSOR),
          m_builder(graph.GetNDevices()),
          m_schedules(graph.GetNDevices())
    {
        m_repeated.iterations = iterations;
        const auto hasMarker = [this](const Phase& phase) {
            return phase.name.find(m_marker) != std::string::npos;
        };
        while (std::any_of(graph.GetPhases().begin(), graph.GetPhases().end(), hasMarker))
        {
            m_marker += '#'; // of a graph that was repeated before
        }
    }

    RepeatedGraph Repeat()
    {
        WorkloadFacts facts = m_graph.GetFacts(); // rates are of the whole run
        facts.modelFlopsPerIteration *= m_repeated.iterations;
        facts.tokensPerIteration *= m_repeated.iterations;
        facts.samplesPerIteration *= m_repeated.iterations;
        m_builder.SetFacts(facts);
        for (StreamId stream = 0; stream < m_graph.GetStreams().size(); ++stream)
        {
            m_builder.AddStream(m_graph.GetStreams()[stream],
                                m_graph.GetStreamOrder(stream),
                                m_graph.IsHostStream(stream));
        }
        for (const auto& group : m_graph.GetGroups())
        {
            m_builder.AddGroup(group);
        }
        if (m_cross == CrossIteration::BARRIER)
        {
            m_barrierName = FindFreeName();
            m_barrierStream = m_builder.AddStream(m_barrierName, StreamOrder::IN_ORDER, true);
            FindEnds();
        }
        std::vector<TaskId> first;
        for (uint32_t iteration = 0; iteration < m_repeated.iterations; ++iteration)
        {
            AddIteration(iteration);
            if (iteration == 0)
            {
                first = m_copies;
            }
        }
        for (const auto& [before, after] : m_carried)
        {
            m_repeated.carried.push_back({m_copies[before], first[after]});
        }
        for (DeviceId device = 0; device < m_graph.GetNDevices(); ++device)
        {
            m_builder.SetSchedule(device, std::move(m_schedules[device]));
        }
        m_repeated.graph = m_builder.Build();
        return std::move(m_repeated);
    }

  private:
    /// What begins and ends an iteration on each device.
    void FindEnds()
    {
        std::vector<bool> isFirst(m_graph.GetNTasks(), true);
        std::vector<bool> isLast(m_graph.GetNTasks(), true);
        for (TaskId after = 0; after < m_graph.GetNTasks(); ++after)
        {
            for (const TaskId before : m_graph.GetDependencies(after))
            {
                // Of a communication it is not known on which of its devices a dependency holds.
                if (!m_graph.GetTask(before).persistent && !IsGroup(after))
                {
                    isFirst[after] = false;
                }
                // Tensors are no work: the barrier waits for who made them.
                if (m_graph.GetTask(after).kind != TaskKind::MEMORY && !IsGroup(before))
                {
                    isLast[before] = false;
                }
            }
        }
        m_first.resize(m_graph.GetNDevices());
        m_last.resize(m_graph.GetNDevices());
        for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
        {
            const Task& task = m_graph.GetTask(id);
            for (const DeviceId device : GetDevices(task))
            {
                if (isFirst[id] && !task.persistent)
                {
                    m_first[device].push_back(id);
                }
                if (isLast[id] && task.kind != TaskKind::MEMORY)
                {
                    m_last[device].push_back(id);
                }
            }
        }
    }

    /// @return a name that no phase and no stream has
    std::string FindFreeName() const
    {
        std::string name = "iteration";
        const auto isTaken = [&] {
            const auto& phases = m_graph.GetPhases();
            const auto& streams = m_graph.GetStreams();
            return std::find(streams.begin(), streams.end(), name) != streams.end() ||
                   std::any_of(phases.begin(), phases.end(), [&name](const Phase& phase) {
                       return phase.name == name;
                   });
        };
        while (isTaken())
        {
            name += "-barrier";
        }
        return name;
    }

    bool IsGroup(TaskId id) const
    {
        return m_graph.GetTask(id).kind == TaskKind::COMMUNICATION;
    }

    std::vector<DeviceId> GetDevices(const Task& task) const
    {
        return task.kind == TaskKind::COMMUNICATION ? m_graph.GetGroup(task.place)
                                                    : std::vector<DeviceId>{task.place};
    }

    void AddIteration(uint32_t iteration)
    {
        const std::string suffix = iteration == 0 ? "" : m_marker + std::to_string(iteration + 1);
        const std::vector<TaskId> barriers = iteration > 0 && m_cross == CrossIteration::BARRIER
                                                 ? AddBarriers(iteration, suffix)
                                                 : std::vector<TaskId>();
        const auto firstPhase = static_cast<PhaseId>(m_repeated.iterationOf.size());
        for (const Phase& phase : m_graph.GetPhases())
        {
            m_builder.AddPhase(phase.name + suffix, phase.microBatches);
            m_repeated.iterationOf.push_back(iteration);
        }
        const std::vector<TaskId> before = m_copies;
        AddTasks(firstPhase, iteration);
        for (DeviceId device = 0; device < barriers.size(); ++device)
        {
            for (const TaskId first : m_first[device])
            {
                m_builder.AddDependency(barriers[device], m_copies[first]);
            }
        }
        for (std::size_t i = 0; iteration > 0 && i < m_carried.size(); ++i)
        {
            m_builder.AddDependency(before[m_carried[i].before], m_copies[m_carried[i].after]);
        }
        for (DeviceId device = 0; device < m_graph.GetNDevices(); ++device)
        {
            for (ScheduleEntry entry : m_graph.GetSchedule(device))
            {
                entry.phase = static_cast<PhaseId>(entry.phase + firstPhase);
                m_schedules[device].push_back(entry);
            }
        }
        for (MicroBatchGate gate : m_graph.GetGates())
        {
            gate.acquire = static_cast<PhaseId>(gate.acquire + firstPhase);
            gate.release = static_cast<PhaseId>(gate.release + firstPhase);
            m_builder.AddGate(gate);
        }
    }

    void AddTasks(PhaseId firstPhase, uint32_t iteration)
    {
        const bool isFirst = iteration == 0;
        m_copies.resize(m_graph.GetNTasks());
        for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
        {
            Task task = m_graph.GetTask(id);
            if (task.persistent && !isFirst)
            {
                continue;
            }
            const std::string& name = m_graph.GetName(task);
            task.phase = static_cast<PhaseId>(task.phase + firstPhase);
            m_copies[id] = m_builder.AddTask(task, name);
            m_repeated.original.push_back(id);
        }
        for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
        {
            if (m_graph.GetTask(id).persistent && !isFirst)
            {
                continue;
            }
            for (const TaskId dependency : m_graph.GetDependencies(id))
            {
                m_builder.AddDependency(m_copies[dependency], m_copies[id]);
            }
        }
    }

    /// One task per device that waits for all of the iteration before.
    std::vector<TaskId> AddBarriers(uint32_t iteration, const std::string& suffix)
    {
        const PhaseId phase = m_builder.AddPhase(m_barrierName + suffix);
        m_repeated.iterationOf.push_back(iteration);
        std::vector<TaskId> barriers;
        for (DeviceId device = 0; device < m_graph.GetNDevices(); ++device)
        {
            std::vector<TaskId> last;
            for (const TaskId id : m_last[device])
            {
                last.push_back(m_copies[id]);
            }
            barriers.push_back(m_builder.AddCompute(phase,
                                                    device,
                                                    m_barrierStream,
                                                    m_barrierName + suffix,
                                                    int64_t{0},
                                                    last));
            m_repeated.original.push_back(NO_ID);
            m_schedules[device].push_back({phase, 0});
        }
        return barriers;
    }

    const ExecutionGraph& m_graph;
    const std::vector<CarriedDependency>& m_carried;
    CrossIteration m_cross;
    GraphBuilder m_builder;
    RepeatedGraph m_repeated;
    std::string m_marker{"#"}; //!< of the phases of later iterations
    std::string m_barrierName; //!< of the barriers, their phases, and their stream
    StreamId m_barrierStream{0};
    std::vector<std::vector<TaskId>> m_first; //!< by device: what nothing comes before
    std::vector<std::vector<TaskId>> m_last;  //!< by device: what nothing comes behind
    std::vector<TaskId> m_copies;             //!< by task of one iteration: its latest copy
    std::vector<std::vector<ScheduleEntry>> m_schedules; //!< by device
};

constexpr EnumNames<CrossIteration, 2> CROSS_ITERATIONS{
    "dependency between iterations",
    {{CrossIteration::BARRIER, "barrier"}, {CrossIteration::TENSOR, "tensor"}}};

} // namespace

const char*
ToString(CrossIteration value)
{
    return CROSS_ITERATIONS.Get(value);
}

CrossIteration
CrossIterationFromString(const std::string& text)
{
    return CROSS_ITERATIONS.Parse(text);
}

std::vector<std::string>
GetCrossIterationNames()
{
    return CROSS_ITERATIONS.List();
}

RepeatedGraph
RepeatGraph(const ExecutionGraph& graph,
            const std::vector<CarriedDependency>& carried,
            uint32_t iterations,
            CrossIteration cross)
{
    if (iterations == 0 || uint64_t{iterations} * graph.GetNTasks() >= NO_ID)
    {
        throw std::invalid_argument(std::to_string(iterations) + " iterations of " +
                                    std::to_string(graph.GetNTasks()) + " tasks: give 1 to " +
                                    std::to_string(NO_ID / std::max(graph.GetNTasks(), 1U)));
    }
    // Before every iteration but the first is a phase of barriers.
    const uint64_t barriers = cross == CrossIteration::BARRIER ? 1 : 0;
    const uint64_t each = graph.GetPhases().size() + barriers;
    const uint64_t room = MAX_PHASES + barriers;
    if (iterations * each > room)
    {
        throw std::invalid_argument(
            std::to_string(iterations) + " iterations of " + std::to_string(each) +
            " phases, barriers included: a graph "
            "has at most " +
            std::to_string(MAX_PHASES) + " phases; give 1 to " + std::to_string(room / each));
    }
    for (const auto& [before, after] : carried)
    {
        if (before >= graph.GetNTasks() || after >= graph.GetNTasks())
        {
            throw std::invalid_argument("task " + std::to_string(after) + " is said to need task " +
                                        std::to_string(before) +
                                        " of the iteration before; the graph has " +
                                        std::to_string(graph.GetNTasks()) + " tasks");
        }
    }
    return Repeater(graph, carried, iterations, cross).Repeat();
}

} // namespace proteus
} // namespace ns3
