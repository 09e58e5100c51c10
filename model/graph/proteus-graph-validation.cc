/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-validation.h"

#include "proteus-graph-text.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Tasks that the message about a cycle lists.
constexpr std::size_t MAX_LISTED = 10;

/// Whether the text is UTF-8 as Unicode defines it (no surrogates, no overlong forms): both file
/// formats demand it.
bool
IsUtf8(const std::string& text)
{
    const auto* p = reinterpret_cast<const unsigned char*>(text.data());
    const auto* end = p + text.size();
    while (p < end)
    {
        const unsigned lead = *p++;
        if (lead < 0x80)
        {
            continue;
        }
        const int more = lead >= 0xc2 && lead < 0xe0   ? 1
                         : lead >= 0xe0 && lead < 0xf0 ? 2
                         : lead >= 0xf0 && lead < 0xf5 ? 3
                                                       : 0;
        if (more == 0 || end - p < more)
        {
            return false;
        }
        const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
        const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        if (*p < low || *p > high)
        {
            return false;
        }
        p++;
        for (int i = 1; i < more; i++, p++)
        {
            if ((*p & 0xc0) != 0x80)
            {
                return false;
            }
        }
    }
    return true;
}

/// Checks the name of a stream or a phase.
void
CheckName(std::unordered_map<std::string, std::size_t>& seen,
          const char* what,
          std::size_t id,
          const std::string& name)
{
    if (!IsUtf8(name))
    {
        FailGraph(std::string("the name of ") + what + " " + std::to_string(id) +
                  " is not valid UTF-8");
    }
    const auto found = seen.emplace(name, id);
    if (!found.second)
    {
        FailGraph(std::string(what) + "s " + std::to_string(found.first->second) + " and " +
                  std::to_string(id) + " have the same name '" + ShownName(name) +
                  "'; give them different ones");
    }
}

void
CheckPlace(const ExecutionGraph& graph, TaskId id)
{
    const Task& task = graph.GetTask(id);
    if (task.kind != TaskKind::COMMUNICATION)
    {
        if (task.place >= graph.GetNDevices())
        {
            FailGraph(TaskText(graph, id) + " is on device " + std::to_string(task.place) +
                      MissingText(graph.GetNDevices(), "device"));
        }
        return;
    }
    if (task.place >= graph.GetGroups().size())
    {
        FailGraph(TaskText(graph, id) + " uses group " + std::to_string(task.place) +
                  MissingText(graph.GetGroups().size(), "group"));
    }
    const std::size_t size = graph.GetGroup(task.place).size();
    if (task.collective == Collective::SEND_RECV && size != 2)
    {
        FailGraph(TaskText(graph, id) + " is a send-recv in group " + std::to_string(task.place) +
                  " of " + std::to_string(size) + " devices; it needs exactly two");
    }
    if (task.root >= size)
    {
        FailGraph(TaskText(graph, id) + " has root " + std::to_string(task.root) + " in group " +
                  std::to_string(task.place) + " of " + std::to_string(size) +
                  " devices; the root is a position in the group, from 0");
    }
}

void
CheckStream(const ExecutionGraph& graph, TaskId id)
{
    const Task& task = graph.GetTask(id);
    if (task.kind == TaskKind::MEMORY)
    {
        if (task.stream != NO_STREAM)
        {
            FailGraph(TaskText(graph, id) +
                      " is a memory task and can have no stream, but has stream " +
                      std::to_string(task.stream));
        }
    }
    else if (task.stream == NO_STREAM)
    {
        FailGraph(TaskText(graph, id) + " has no stream; a " + ToString(task.kind) +
                  " task needs one");
    }
    else if (task.stream >= graph.GetStreams().size())
    {
        FailGraph(TaskText(graph, id) + " is on stream " + std::to_string(task.stream) +
                  MissingText(graph.GetStreams().size(), "stream"));
    }
}

/// Fields that the kind does not have must keep their defaults: files do not hold them.
void
CheckFields(const ExecutionGraph& graph, TaskId id)
{
    const Task defaults;
    const Task& task = graph.GetTask(id);
    const bool isCompute = task.kind == TaskKind::COMPUTE;
    const bool isCommunication = task.kind == TaskKind::COMMUNICATION;
    const bool hasRoot = isCommunication && HasRoot(task.collective);
    const auto check = [&](bool applies, bool isDefault, const char* field) {
        if (!applies && !isDefault)
        {
            FailGraph(TaskText(graph, id) + " is a " + ToString(task.kind) + " task" +
                      (isCommunication ? std::string(" (") + ToString(task.collective) + ")" : "") +
                      " and can have no " + field);
        }
    };
    check(isCompute, task.durationPs == defaults.durationPs, "duration");
    check(isCompute, task.flops == defaults.flops, "FLOPs");
    check(isCompute || isCommunication,
          task.threadBlocks == defaults.threadBlocks,
          "thread blocks");
    check(isCompute, task.hostPercent == defaults.hostPercent, "time of the host");
    check(isCompute, task.dataType == defaults.dataType, "data type");
    check(isCommunication, task.collective == defaults.collective, "collective");
    check(isCommunication, task.parallelism == defaults.parallelism, "parallelism");
    check(hasRoot, task.root == defaults.root, "root");
    check(task.kind == TaskKind::MEMORY, task.persistent == defaults.persistent, "persistence");
    if (!std::isfinite(task.flops) || task.flops < 0)
    {
        FailGraph(TaskText(graph, id) + " has FLOPs that are negative or not finite");
    }
    if (task.hostPercent > 100)
    {
        FailGraph(TaskText(graph, id) +
                  " waits for the host for more than 100 percent of its time");
    }
    if (isCommunication && task.bytes == 0)
    {
        FailGraph(TaskText(graph, id) + " communicates 0 bytes; leave it out");
    }
}

/// Tells whether two tasks have a device in common.
class CommonDevice
{
  public:
    explicit CommonDevice(std::vector<std::vector<DeviceId>> sortedGroups)
        : m_groups(std::move(sortedGroups))
    {
    }

    bool operator()(const Task& a, const Task& b)
    {
        const bool isGroupA = a.kind == TaskKind::COMMUNICATION;
        const bool isGroupB = b.kind == TaskKind::COMMUNICATION;
        if (isGroupA == isGroupB && a.place == b.place)
        {
            return true;
        }
        if (isGroupA && isGroupB)
        {
            return Overlap(std::min(a.place, b.place), std::max(a.place, b.place));
        }
        return (isGroupA && Contains(a.place, b.place)) || (isGroupB && Contains(b.place, a.place));
    }

  private:
    bool Contains(GroupId group, DeviceId device) const
    {
        return std::binary_search(m_groups[group].begin(), m_groups[group].end(), device);
    }

    bool Overlap(GroupId a, GroupId b)
    {
        const auto asked = m_overlaps.emplace(uint64_t{a} << 32 | b, false);
        if (asked.second)
        {
            const bool aIsSmall = m_groups[a].size() < m_groups[b].size();
            const auto& small = m_groups[aIsSmall ? a : b];
            const GroupId big = aIsSmall ? b : a;
            asked.first->second = std::any_of(small.begin(), small.end(), [&](DeviceId device) {
                return Contains(big, device);
            });
        }
        return asked.first->second;
    }

    std::vector<std::vector<DeviceId>> m_groups;   //!< devices ascending
    std::unordered_map<uint64_t, bool> m_overlaps; //!< pairs of groups that were asked for
};

[[noreturn]] void
FailWithCycle(const ExecutionGraph& graph, std::vector<TaskId> cycle)
{
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
    std::string message = "the dependencies form a cycle of " + std::to_string(cycle.size()) +
                          (cycle.size() == 1 ? " task: " : " tasks: ");
    for (std::size_t i = 0; i < std::min(cycle.size(), MAX_LISTED); i++)
    {
        message += TaskText(graph, cycle[i]) + " waits for ";
    }
    message += cycle.size() > MAX_LISTED ? std::string("...") : TaskText(graph, cycle.front());
    FailGraph(message + "; remove one of these dependencies");
}

/// What a gate asks of a schedule.
struct GateResult
{
    uint32_t needed{0};     //!< smallest limit with which the schedule can go on
    std::size_t blocked{0}; //!< first entry that the limit stops forever, else the length
};

GateResult
WalkGate(const ExecutionGraph& graph,
         const std::vector<ScheduleEntry>& schedule,
         const MicroBatchGate& gate)
{
    enum class State : uint8_t
    {
        UNSEEN,
        ALIVE,
        RELEASED,
    };

    std::vector<State> states(graph.GetPhases()[gate.acquire].microBatches, State::UNSEEN);
    GateResult result{0, schedule.size()};
    uint32_t alive = 0;
    for (std::size_t i = 0; i < schedule.size(); i++)
    {
        if (schedule[i].phase != gate.acquire && schedule[i].phase != gate.release)
        {
            continue;
        }
        State& state = states[schedule[i].microBatch];
        if (schedule[i].phase == gate.acquire)
        {
            result.needed = std::max(result.needed, alive + 1);
            if (alive >= gate.limit && result.blocked == schedule.size())
            {
                result.blocked = i;
            }
            if (state == State::UNSEEN) // a micro-batch that was released before counts no more
            {
                state = State::ALIVE;
                alive++;
            }
        }
        if (schedule[i].phase == gate.release)
        {
            alive -= state == State::ALIVE ? 1 : 0;
            state = State::RELEASED;
        }
    }
    return result;
}

} // namespace

void
CheckStreamsAndPhases(const ExecutionGraph& graph)
{
    std::unordered_map<std::string, std::size_t> seen;
    for (std::size_t id = 0; id < graph.GetStreams().size(); id++)
    {
        CheckName(seen, "stream", id, graph.GetStreams()[id]);
    }
    seen.clear();
    for (std::size_t id = 0; id < graph.GetPhases().size(); id++)
    {
        const Phase& phase = graph.GetPhases()[id];
        CheckName(seen, "phase", id, phase.name);
        if (phase.microBatches == 0 || phase.microBatches > MAX_MICRO_BATCHES)
        {
            FailGraph("phase " + IdText(id, phase.name) + " has " +
                      std::to_string(phase.microBatches) + " micro-batches; it must have 1 to " +
                      std::to_string(MAX_MICRO_BATCHES));
        }
    }
}

void
CheckFacts(const WorkloadFacts& facts)
{
    if (!IsUtf8(facts.name))
    {
        FailGraph("the name of the workload is not valid UTF-8");
    }
    if (!std::isfinite(facts.modelFlopsPerIteration) || facts.modelFlopsPerIteration < 0)
    {
        FailGraph("the model FLOPs per iteration of workload '" + ShownName(facts.name) +
                  "' must be a finite number, 0 or more");
    }
}

std::vector<std::vector<DeviceId>>
CheckGroups(const ExecutionGraph& graph)
{
    std::vector<std::vector<DeviceId>> sorted = graph.GetGroups();
    for (GroupId id = 0; id < sorted.size(); id++)
    {
        auto& devices = sorted[id];
        std::sort(devices.begin(), devices.end());
        const std::string who = "group " + std::to_string(id);
        if (devices.empty())
        {
            FailGraph(who + " has no device");
        }
        if (devices.back() >= graph.GetNDevices())
        {
            FailGraph(who + " names device " + std::to_string(devices.back()) +
                      MissingText(graph.GetNDevices(), "device"));
        }
        const auto twice = std::adjacent_find(devices.begin(), devices.end());
        if (twice != devices.end())
        {
            FailGraph(who + " repeats device " + std::to_string(*twice));
        }
    }
    return sorted;
}

void
CheckTaskNames(const ExecutionGraph& graph, const std::vector<std::string>& names)
{
    const auto bad = std::find_if_not(names.begin(), names.end(), IsUtf8);
    if (bad != names.end())
    {
        const auto index = static_cast<uint32_t>(bad - names.begin());
        const auto& tasks = graph.GetTasks();
        const auto first = std::find_if(tasks.begin(), tasks.end(), [index](const Task& task) {
            return task.name == index;
        });
        FailGraph("the name of task " + std::to_string(first - tasks.begin()) +
                  " is not valid UTF-8");
    }
}

void
CheckTasks(const ExecutionGraph& graph)
{
    for (TaskId id = 0; id < graph.GetNTasks(); id++)
    {
        const Task& task = graph.GetTask(id);
        if (!AreEnumsKnown(task))
        {
            FailGraph(TaskText(graph, id) +
                      " has an unknown kind, collective, parallelism or data type");
        }
        if (task.phase >= graph.GetPhases().size())
        {
            FailGraph(TaskText(graph, id) + " is in phase " + std::to_string(task.phase) +
                      MissingText(graph.GetPhases().size(), "phase"));
        }
        CheckPlace(graph, id);
        CheckStream(graph, id);
        CheckFields(graph, id);
    }
}

void
CheckDependencies(const ExecutionGraph& graph, std::vector<std::vector<DeviceId>> sortedGroups)
{
    CommonDevice share(std::move(sortedGroups));
    for (TaskId after = 0; after < graph.GetNTasks(); after++)
    {
        const Task& task = graph.GetTask(after);
        const uint32_t instances = graph.GetNInstances(task);
        for (const TaskId before : graph.GetDependencies(after))
        {
            const Task& producer = graph.GetTask(before);
            if (!share(task, producer))
            {
                FailGraph(TaskText(graph, after) + " in " + PlaceText(task) + " depends on " +
                          TaskText(graph, before) + " in " + PlaceText(producer) +
                          ", but they have no device in common; put a communication between them");
            }
            const uint32_t others = graph.GetNInstances(producer);
            if (instances != others && instances != 1 && others != 1)
            {
                FailGraph(TaskText(graph, after) + " in " + PhaseText(graph, task.phase) + " of " +
                          std::to_string(instances) + " micro-batches depends on " +
                          TaskText(graph, before) + " in " + PhaseText(graph, producer.phase) +
                          " of " + std::to_string(others) +
                          "; the numbers must be equal, or one of them 1");
            }
        }
    }
}

void
CheckAcyclic(const ExecutionGraph& graph)
{
    // Depth-first search without recursion.
    // A cycle has a task that depends on itself or on a later one. Most graphs have no such task,
    // for they were built in an order that respects the dependencies.
    TaskId root = 0;
    while (root < graph.GetNTasks() && (graph.GetDependencies(root).size() == 0 ||
                                        *(graph.GetDependencies(root).last - 1) < root))
    {
        root++;
    }
    if (root == graph.GetNTasks())
    {
        return;
    }

    enum class Mark : uint8_t
    {
        UNSEEN,
        ON_PATH,
        DONE,
    };

    std::vector<Mark> marks(graph.GetNTasks(), Mark::UNSEEN);
    std::vector<TaskId> path;
    std::vector<const TaskId*> next; // of each task on the path, the dependency to follow
    for (; root < graph.GetNTasks(); root++)
    {
        TaskId task = root;
        if (marks[root] != Mark::UNSEEN)
        {
            continue;
        }
        for (;;)
        {
            if (marks[task] == Mark::UNSEEN)
            {
                marks[task] = Mark::ON_PATH;
                path.push_back(task);
                next.push_back(graph.GetDependencies(task).first);
            }
            else if (marks[task] == Mark::ON_PATH)
            {
                const auto first = std::find(path.begin(), path.end(), task);
                FailWithCycle(graph, std::vector<TaskId>(first, path.end()));
            }
            while (!path.empty() && next.back() == graph.GetDependencies(path.back()).last)
            {
                marks[path.back()] = Mark::DONE;
                path.pop_back();
                next.pop_back();
            }
            if (path.empty())
            {
                break;
            }
            task = *next.back()++;
        }
    }
}

std::map<PhaseId, uint32_t>
CheckSchedule(const ExecutionGraph& graph,
              DeviceId device,
              const std::vector<ScheduleEntry>& schedule)
{
    const std::string who = "the schedule of device " + std::to_string(device);
    for (std::size_t i = 0; i < schedule.size(); i++)
    {
        const ScheduleEntry& entry = schedule[i];
        if (entry.phase >= graph.GetPhases().size())
        {
            FailGraph(who + " names phase " + std::to_string(entry.phase) + " in entry " +
                      std::to_string(i) + MissingText(graph.GetPhases().size(), "phase"));
        }
        const uint32_t microBatches = graph.GetPhases()[entry.phase].microBatches;
        if (entry.microBatch >= microBatches)
        {
            FailGraph(who + " names micro-batch " + std::to_string(entry.microBatch) + " of " +
                      PhaseText(graph, entry.phase) + " in entry " + std::to_string(i) +
                      ", but the phase has " + std::to_string(microBatches) +
                      " micro-batches, from 0");
        }
    }
    std::vector<ScheduleEntry> sorted = schedule;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
    {
        FailGraph(who + " repeats micro-batch " + std::to_string(twice->microBatch) + " of " +
                  PhaseText(graph, twice->phase));
    }
    std::map<PhaseId, uint32_t> missing;
    for (const auto& entry : sorted)
    {
        uint32_t& first = missing[entry.phase];
        first += entry.microBatch == first ? 1 : 0;
    }
    return missing;
}

void
CheckGates(const ExecutionGraph& graph)
{
    // By schedule, acquired and released phase, the limit that is needed: a graph has few
    // schedules but a gate for each device.
    std::map<std::tuple<const std::vector<ScheduleEntry>*, PhaseId, PhaseId>, uint32_t> known;
    for (std::size_t i = 0; i < graph.GetGates().size(); i++)
    {
        const MicroBatchGate& gate = graph.GetGates()[i];
        const std::string who = "gate " + std::to_string(i);
        if (gate.device >= graph.GetNDevices())
        {
            FailGraph(who + " is on device " + std::to_string(gate.device) +
                      MissingText(graph.GetNDevices(), "device"));
        }
        for (const PhaseId phase : {gate.acquire, gate.release})
        {
            if (phase >= graph.GetPhases().size())
            {
                FailGraph(who + " on device " + std::to_string(gate.device) + " names phase " +
                          std::to_string(phase) + MissingText(graph.GetPhases().size(), "phase"));
            }
        }
        if (gate.limit == 0)
        {
            FailGraph(who + " on device " + std::to_string(gate.device) +
                      " has limit 0, which admits nothing; it must be 1 or more");
        }
        const uint32_t acquired = graph.GetPhases()[gate.acquire].microBatches;
        const uint32_t released = graph.GetPhases()[gate.release].microBatches;
        if (acquired != released)
        {
            FailGraph(who + " on device " + std::to_string(gate.device) + " acquires " +
                      PhaseText(graph, gate.acquire) + " of " + std::to_string(acquired) +
                      " micro-batches and releases " + PhaseText(graph, gate.release) + " of " +
                      std::to_string(released) + "; the numbers must be equal");
        }
        const auto& schedule = graph.GetSchedule(gate.device);
        const auto asked = known.emplace(std::make_tuple(&schedule, gate.acquire, gate.release), 0);
        if (asked.second)
        {
            asked.first->second = WalkGate(graph, schedule, gate).needed;
        }
        if (gate.limit < asked.first->second)
        {
            const std::size_t blocked = WalkGate(graph, schedule, gate).blocked;
            FailGraph(
                who + " stops device " + std::to_string(gate.device) + " forever at entry " +
                std::to_string(blocked) + " of its schedule (micro-batch " +
                std::to_string(schedule[blocked].microBatch) + " of " +
                PhaseText(graph, gate.acquire) + "): " + std::to_string(gate.limit) +
                " micro-batches are in flight then, which is the limit, and none of them is in " +
                PhaseText(graph, gate.release) + " before; raise the limit to " +
                std::to_string(asked.first->second) + " or change the schedule");
        }
    }
}

} // namespace proteus
} // namespace ns3
