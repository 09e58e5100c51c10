/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Most entries that schedules made by Build() may have together (half a gibibyte): a graph that
/// sets no schedule cannot ask for more memory than that.
constexpr uint64_t MAX_DEFAULT_ENTRIES = 1ULL << 26;
/// Tasks that the message about a cycle lists.
constexpr std::size_t MAX_LISTED = 10;
/// Bytes of a name that a message shows.
constexpr std::size_t MAX_SHOWN = 80;

constexpr std::array<const char*, 3> TASK_KINDS{"compute", "communication", "memory"};
constexpr std::array<const char*, 5> COLLECTIVES{"all-reduce",
                                                 "all-gather",
                                                 "reduce-scatter",
                                                 "broadcast",
                                                 "send-recv"};
constexpr std::array<const char*, 8> PARALLELISMS{"none",
                                                  "tensor",
                                                  "pipeline",
                                                  "data",
                                                  "embedding",
                                                  "sequence",
                                                  "context",
                                                  "expert"};
constexpr std::array<const char*, 5> DATA_TYPES{"fp32", "tf32", "bf16", "fp16", "fp8"};

[[noreturn]] void
Fail(const std::string& message)
{
    throw std::invalid_argument(message);
}

/// A name as a message shows it: on one line and not too long.
std::string
Shown(const std::string& name)
{
    std::string shown = name.substr(0, MAX_SHOWN);
    for (auto& c : shown)
    {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        {
            c = '?';
        }
    }
    return name.size() > MAX_SHOWN ? shown + "..." : shown;
}

template <std::size_t N, typename ENUM>
const char*
NameOf(const std::array<const char*, N>& names, ENUM value)
{
    const auto index = static_cast<std::size_t>(value);
    return index < N ? names[index] : "unknown";
}

template <typename ENUM, std::size_t N>
ENUM
FromName(const std::array<const char*, N>& names, const std::string& text, const char* what)
{
    for (std::size_t i = 0; i < N; i++)
    {
        if (text == names[i])
        {
            return static_cast<ENUM>(i);
        }
    }
    std::string message = std::string("unknown ") + what + " '" + Shown(text) + "'; known are";
    for (std::size_t i = 0; i < N; i++)
    {
        message += std::string(i == 0 ? " " : ", ") + names[i];
    }
    Fail(message);
}

std::string
Id(uint64_t id, const std::string& name)
{
    return std::to_string(id) + " (" + Shown(name) + ")";
}

std::string
TaskText(const ExecutionGraph& graph, TaskId id)
{
    return "task " + Id(id, graph.GetName(graph.GetTask(id)));
}

std::string
PhaseText(const ExecutionGraph& graph, PhaseId id)
{
    return "phase " + Id(id, graph.GetPhases()[id].name);
}

std::string
PlaceText(const Task& task)
{
    return (task.kind == TaskKind::COMMUNICATION ? "group " : "device ") +
           std::to_string(task.place);
}

/// ", which does not exist; ..." for an id out of range.
std::string
MissingText(std::size_t number, const char* what)
{
    return ", which does not exist; the graph has " + std::to_string(number) + " " + what +
           (number == 1 ? "" : "s");
}

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
        Fail(std::string("the name of ") + what + " " + std::to_string(id) + " is not valid UTF-8");
    }
    const auto found = seen.emplace(name, id);
    if (!found.second)
    {
        Fail(std::string(what) + "s " + std::to_string(found.first->second) + " and " +
             std::to_string(id) + " have the same name '" + Shown(name) +
             "'; give them different ones");
    }
}

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
            Fail("phase " + Id(id, phase.name) + " has " + std::to_string(phase.microBatches) +
                 " micro-batches; it must have 1 to " + std::to_string(MAX_MICRO_BATCHES));
        }
    }
}

void
CheckFacts(const WorkloadFacts& facts)
{
    if (!IsUtf8(facts.name))
    {
        Fail("the name of the workload is not valid UTF-8");
    }
    if (!std::isfinite(facts.modelFlopsPerIteration) || facts.modelFlopsPerIteration < 0)
    {
        Fail("the model FLOPs per iteration of workload '" + Shown(facts.name) +
             "' must be a finite number, 0 or more");
    }
}

/// @return the groups with their devices ascending
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
            Fail(who + " has no device");
        }
        if (devices.back() >= graph.GetNDevices())
        {
            Fail(who + " names device " + std::to_string(devices.back()) +
                 MissingText(graph.GetNDevices(), "device"));
        }
        const auto twice = std::adjacent_find(devices.begin(), devices.end());
        if (twice != devices.end())
        {
            Fail(who + " repeats device " + std::to_string(*twice));
        }
    }
    return sorted;
}

void
CheckPlace(const ExecutionGraph& graph, TaskId id)
{
    const Task& task = graph.GetTask(id);
    if (task.kind != TaskKind::COMMUNICATION)
    {
        if (task.place >= graph.GetNDevices())
        {
            Fail(TaskText(graph, id) + " is on device " + std::to_string(task.place) +
                 MissingText(graph.GetNDevices(), "device"));
        }
        return;
    }
    if (task.place >= graph.GetGroups().size())
    {
        Fail(TaskText(graph, id) + " uses group " + std::to_string(task.place) +
             MissingText(graph.GetGroups().size(), "group"));
    }
    const std::size_t size = graph.GetGroup(task.place).size();
    if (task.collective == Collective::SEND_RECV && size != 2)
    {
        Fail(TaskText(graph, id) + " is a send-recv in group " + std::to_string(task.place) +
             " of " + std::to_string(size) + " devices; it needs exactly two");
    }
    if (task.root >= size)
    {
        Fail(TaskText(graph, id) + " has root " + std::to_string(task.root) + " in group " +
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
            Fail(TaskText(graph, id) + " is a memory task and can have no stream, but has stream " +
                 std::to_string(task.stream));
        }
    }
    else if (task.stream == NO_STREAM)
    {
        Fail(TaskText(graph, id) + " has no stream; a " + ToString(task.kind) + " task needs one");
    }
    else if (task.stream >= graph.GetStreams().size())
    {
        Fail(TaskText(graph, id) + " is on stream " + std::to_string(task.stream) +
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
    const bool isBroadcast = isCommunication && task.collective == Collective::BROADCAST;
    const auto check = [&](bool applies, bool isDefault, const char* field) {
        if (!applies && !isDefault)
        {
            Fail(TaskText(graph, id) + " is a " + ToString(task.kind) + " task" +
                 (isCommunication ? std::string(" (") + ToString(task.collective) + ")" : "") +
                 " and can have no " + field);
        }
    };
    check(isCompute, task.durationPs == defaults.durationPs, "duration");
    check(isCompute, task.flops == defaults.flops, "FLOPs");
    check(isCompute, task.dataType == defaults.dataType, "data type");
    check(isCommunication, task.collective == defaults.collective, "collective");
    check(isCommunication, task.parallelism == defaults.parallelism, "parallelism");
    check(isBroadcast, task.root == defaults.root, "root");
    check(task.kind == TaskKind::MEMORY, task.persistent == defaults.persistent, "persistence");
    if (!std::isfinite(task.flops) || task.flops < 0)
    {
        Fail(TaskText(graph, id) + " has FLOPs that are negative or not finite");
    }
    if (isCommunication && task.bytes == 0)
    {
        Fail(TaskText(graph, id) + " communicates 0 bytes; leave it out");
    }
}

void
CheckTasks(const ExecutionGraph& graph)
{
    for (TaskId id = 0; id < graph.GetNTasks(); id++)
    {
        const Task& task = graph.GetTask(id);
        if (static_cast<std::size_t>(task.kind) >= TASK_KINDS.size() ||
            static_cast<std::size_t>(task.collective) >= COLLECTIVES.size() ||
            static_cast<std::size_t>(task.parallelism) >= PARALLELISMS.size() ||
            static_cast<std::size_t>(task.dataType) >= DATA_TYPES.size())
        {
            Fail(TaskText(graph, id) +
                 " has an unknown kind, collective, parallelism or data type");
        }
        if (task.phase >= graph.GetPhases().size())
        {
            Fail(TaskText(graph, id) + " is in phase " + std::to_string(task.phase) +
                 MissingText(graph.GetPhases().size(), "phase"));
        }
        CheckPlace(graph, id);
        CheckStream(graph, id);
        CheckFields(graph, id);
    }
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
        Fail("the name of task " + std::to_string(first - tasks.begin()) + " is not valid UTF-8");
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
                Fail(TaskText(graph, after) + " in " + PlaceText(task) + " depends on " +
                     TaskText(graph, before) + " in " + PlaceText(producer) +
                     ", but they have no device in common; put a communication between them");
            }
            const uint32_t others = graph.GetNInstances(producer);
            if (instances != others && instances != 1 && others != 1)
            {
                Fail(TaskText(graph, after) + " in " + PhaseText(graph, task.phase) + " of " +
                     std::to_string(instances) + " micro-batches depends on " +
                     TaskText(graph, before) + " in " + PhaseText(graph, producer.phase) + " of " +
                     std::to_string(others) + "; the numbers must be equal, or one of them 1");
            }
        }
    }
}

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
    Fail(message + "; remove one of these dependencies");
}

/// Depth-first search without recursion.
void
CheckAcyclic(const ExecutionGraph& graph)
{
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

/**
 * Checks what a schedule says by itself.
 * @param graph the graph
 * @param device one that has this schedule, for messages
 * @param schedule the schedule
 * @return by phase that it names, its first missing micro-batch (their number if none is missing)
 */
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
            Fail(who + " names phase " + std::to_string(entry.phase) + " in entry " +
                 std::to_string(i) + MissingText(graph.GetPhases().size(), "phase"));
        }
        const uint32_t microBatches = graph.GetPhases()[entry.phase].microBatches;
        if (entry.microBatch >= microBatches)
        {
            Fail(who + " names micro-batch " + std::to_string(entry.microBatch) + " of " +
                 PhaseText(graph, entry.phase) + " in entry " + std::to_string(i) +
                 ", but the phase has " + std::to_string(microBatches) + " micro-batches, from 0");
        }
    }
    std::vector<ScheduleEntry> sorted = schedule;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
    {
        Fail(who + " repeats micro-batch " + std::to_string(twice->microBatch) + " of " +
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
            Fail(who + " is on device " + std::to_string(gate.device) +
                 MissingText(graph.GetNDevices(), "device"));
        }
        for (const PhaseId phase : {gate.acquire, gate.release})
        {
            if (phase >= graph.GetPhases().size())
            {
                Fail(who + " on device " + std::to_string(gate.device) + " names phase " +
                     std::to_string(phase) + MissingText(graph.GetPhases().size(), "phase"));
            }
        }
        if (gate.limit == 0)
        {
            Fail(who + " on device " + std::to_string(gate.device) +
                 " has limit 0, which admits nothing; it must be 1 or more");
        }
        const uint32_t acquired = graph.GetPhases()[gate.acquire].microBatches;
        const uint32_t released = graph.GetPhases()[gate.release].microBatches;
        if (acquired != released)
        {
            Fail(who + " on device " + std::to_string(gate.device) + " acquires " +
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
            Fail(who + " stops device " + std::to_string(gate.device) + " forever at entry " +
                 std::to_string(blocked) + " of its schedule (micro-batch " +
                 std::to_string(schedule[blocked].microBatch) + " of " +
                 PhaseText(graph, gate.acquire) + "): " + std::to_string(gate.limit) +
                 " micro-batches are in flight then, which is the limit, and none of them is in " +
                 PhaseText(graph, gate.release) + " before; raise the limit to " +
                 std::to_string(asked.first->second) + " or change the schedule");
        }
    }
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

TaskKind
TaskKindFromString(const std::string& text)
{
    return FromName<TaskKind>(TASK_KINDS, text, "kind of task");
}

Collective
CollectiveFromString(const std::string& text)
{
    return FromName<Collective>(COLLECTIVES, text, "collective");
}

Parallelism
ParallelismFromString(const std::string& text)
{
    return FromName<Parallelism>(PARALLELISMS, text, "parallelism");
}

DataType
DataTypeFromString(const std::string& text)
{
    return FromName<DataType>(DATA_TYPES, text, "data type");
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
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
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
        m_streams != other.m_streams || !sameFacts(m_facts, other.m_facts) ||
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

GraphBuilder::GraphBuilder(uint32_t nDevices)
{
    if (nDevices == 0 || nDevices > MAX_DEVICES)
    {
        Fail("a graph has 1 to " + std::to_string(MAX_DEVICES) + " devices, not " +
             std::to_string(nDevices));
    }
    m_graph.m_nDevices = nDevices;
}

void
GraphBuilder::SetFacts(const WorkloadFacts& facts)
{
    m_graph.m_facts = facts;
}

StreamId
GraphBuilder::AddStream(const std::string& name)
{
    if (m_graph.m_streams.size() >= NO_STREAM)
    {
        Fail("stream '" + Shown(name) + "' is one too many; a graph has at most " +
             std::to_string(NO_STREAM) + " streams");
    }
    m_graph.m_streams.push_back(name);
    return static_cast<StreamId>(m_graph.m_streams.size() - 1);
}

PhaseId
GraphBuilder::AddPhase(const std::string& name, uint32_t microBatches)
{
    if (m_graph.m_phases.size() > std::numeric_limits<PhaseId>::max())
    {
        Fail("phase '" + Shown(name) + "' is one too many; a graph has at most " +
             std::to_string(m_graph.m_phases.size()) + " phases");
    }
    m_graph.m_phases.push_back({name, microBatches});
    return static_cast<PhaseId>(m_graph.m_phases.size() - 1);
}

GroupId
GraphBuilder::AddGroup(const std::vector<DeviceId>& devices)
{
    const auto id = static_cast<GroupId>(m_graph.m_groups.size());
    const auto found = m_groupIndex.emplace(devices, id);
    if (found.second)
    {
        m_graph.m_groups.push_back(devices);
    }
    return found.first->second;
}

TaskId
GraphBuilder::AddCompute(PhaseId phase,
                         DeviceId device,
                         StreamId stream,
                         const std::string& name,
                         int64_t durationPs,
                         const std::vector<TaskId>& dependencies)
{
    if (durationPs < 0)
    {
        Fail("task " + Id(m_graph.m_tasks.size(), name) + " has the negative duration " +
             std::to_string(durationPs) + " ps");
    }
    Task task;
    task.kind = TaskKind::COMPUTE;
    task.phase = phase;
    task.place = device;
    task.stream = stream;
    task.durationPs = durationPs;
    return AddTask(task, name, dependencies);
}

TaskId
GraphBuilder::AddCompute(PhaseId phase,
                         DeviceId device,
                         StreamId stream,
                         const std::string& name,
                         double flops,
                         uint64_t bytes,
                         DataType type,
                         const std::vector<TaskId>& dependencies)
{
    Task task;
    task.kind = TaskKind::COMPUTE;
    task.phase = phase;
    task.place = device;
    task.stream = stream;
    task.flops = flops;
    task.bytes = bytes;
    task.dataType = type;
    return AddTask(task, name, dependencies);
}

TaskId
GraphBuilder::AddCommunication(PhaseId phase,
                               GroupId group,
                               StreamId stream,
                               const std::string& name,
                               Collective collective,
                               uint64_t bytes,
                               Parallelism parallelism,
                               const std::vector<TaskId>& dependencies,
                               uint16_t root)
{
    Task task;
    task.kind = TaskKind::COMMUNICATION;
    task.phase = phase;
    task.place = group;
    task.stream = stream;
    task.collective = collective;
    task.bytes = bytes;
    task.parallelism = parallelism;
    task.root = root;
    return AddTask(task, name, dependencies);
}

TaskId
GraphBuilder::AddMemory(PhaseId phase,
                        DeviceId device,
                        const std::string& name,
                        uint64_t bytes,
                        const std::vector<TaskId>& producers,
                        bool persistent)
{
    Task task;
    task.kind = TaskKind::MEMORY;
    task.phase = phase;
    task.place = device;
    task.bytes = bytes;
    task.persistent = persistent;
    return AddTask(task, name, producers);
}

TaskId
GraphBuilder::AddTask(Task task, const std::string& name, const std::vector<TaskId>& dependencies)
{
    if (m_graph.m_tasks.size() >= NO_ID)
    {
        Fail("task '" + Shown(name) + "' is one too many; a graph has at most " +
             std::to_string(NO_ID) + " tasks");
    }
    const auto id = static_cast<TaskId>(m_graph.m_tasks.size());
    const auto found = m_nameIndex.emplace(name, static_cast<uint32_t>(m_graph.m_names.size()));
    if (found.second)
    {
        m_graph.m_names.push_back(name);
    }
    task.name = found.first->second;
    task.durationPs = std::max<int64_t>(task.durationPs, -1);
    m_graph.m_tasks.push_back(task);
    for (const TaskId before : dependencies)
    {
        AddDependency(before, id);
    }
    return id;
}

void
GraphBuilder::AddDependency(TaskId before, TaskId after)
{
    m_edges.emplace_back(after, before);
}

void
GraphBuilder::SetSchedule(DeviceId device, std::vector<ScheduleEntry> schedule)
{
    SetSchedule(std::vector<DeviceId>{device}, std::move(schedule));
}

void
GraphBuilder::SetSchedule(const std::vector<DeviceId>& devices, std::vector<ScheduleEntry> schedule)
{
    const auto index = static_cast<uint32_t>(m_orders.size());
    const auto found = m_orders.emplace(std::move(schedule), index);
    for (const DeviceId device : devices)
    {
        m_orderOf[device] = found.first->second;
    }
}

void
GraphBuilder::AddGate(const MicroBatchGate& gate)
{
    m_graph.m_gates.push_back(gate);
}

ExecutionGraph
GraphBuilder::Build()
{
    GraphBuilder made(m_graph.m_nDevices);
    std::swap(*this, made);
    made.m_nameIndex.clear();
    made.m_groupIndex.clear();

    ExecutionGraph& graph = made.m_graph;
    CheckStreamsAndPhases(graph);
    CheckFacts(graph.m_facts);
    std::vector<std::vector<DeviceId>> sortedGroups = CheckGroups(graph);
    CheckTaskNames(graph, graph.m_names);
    CheckTasks(graph);
    made.LinkDependencies();
    CheckDependencies(graph, std::move(sortedGroups));
    CheckAcyclic(graph);
    made.AssignSchedules();
    CheckGates(graph);
    return std::move(made.m_graph);
}

void
GraphBuilder::LinkDependencies()
{
    const uint32_t nTasks = m_graph.GetNTasks();
    if (m_edges.size() > NO_ID)
    {
        Fail("the graph has " + std::to_string(m_edges.size()) + " dependencies; it can have " +
             std::to_string(NO_ID));
    }
    auto& first = m_graph.m_firstDependency;
    auto& all = m_graph.m_dependencies;
    first.assign(std::size_t{nTasks} + 1, 0);
    for (const auto& [after, before] : m_edges)
    {
        if (after >= nTasks)
        {
            Fail("task " + std::to_string(after) + " is said to depend on task " +
                 std::to_string(before) + ", but task " + std::to_string(after) +
                 " does not exist; the graph has " + std::to_string(nTasks) + " tasks");
        }
        if (before >= nTasks)
        {
            Fail(TaskText(m_graph, after) + " depends on task " + std::to_string(before) +
                 MissingText(nTasks, "task"));
        }
        first[after + 1]++;
    }
    for (TaskId id = 0; id < nTasks; id++)
    {
        first[id + 1] += first[id];
    }
    // Filling advances first[id] to the end of the task's run, which is where the next one starts;
    // shifting by one place restores it.
    all.resize(m_edges.size());
    for (const auto& [after, before] : m_edges)
    {
        all[first[after]++] = before;
    }
    std::vector<std::pair<TaskId, TaskId>>().swap(m_edges);
    uint32_t begin = 0;
    uint32_t kept = 0;
    for (TaskId id = 0; id < nTasks; id++)
    {
        const uint32_t end = first[id];
        std::sort(all.begin() + begin, all.begin() + end);
        first[id] = kept;
        for (uint32_t i = begin; i < end; i++)
        {
            if (i == begin || all[i] != all[kept - 1])
            {
                all[kept++] = all[i];
            }
        }
        begin = end;
    }
    first[nTasks] = kept;
    all.resize(kept);
    all.shrink_to_fit();
}

void
GraphBuilder::AssignSchedules()
{
    auto& schedules = m_graph.m_schedules;
    schedules.resize(m_orders.size());
    while (!m_orders.empty())
    {
        auto node = m_orders.extract(m_orders.begin());
        schedules[node.mapped()] = std::move(node.key());
    }
    if (!m_orderOf.empty() && m_orderOf.rbegin()->first >= m_graph.m_nDevices)
    {
        Fail("a schedule is set for device " + std::to_string(m_orderOf.rbegin()->first) +
             MissingText(m_graph.m_nDevices, "device"));
    }

    std::vector<std::map<PhaseId, uint32_t>> missing(schedules.size());
    std::vector<bool> isChecked(schedules.size(), false);
    std::map<std::vector<PhaseId>, uint32_t> defaults; // phases to their schedule
    uint64_t nDefaultEntries = 0;
    const std::vector<std::vector<PhaseId>> phases = m_graph.FindPhasesByDevice();
    m_graph.m_scheduleOf.resize(m_graph.m_nDevices);
    for (DeviceId device = 0; device < m_graph.m_nDevices; device++)
    {
        const auto set = m_orderOf.find(device);
        if (set == m_orderOf.end())
        {
            const auto index = static_cast<uint32_t>(schedules.size());
            const auto found = defaults.emplace(phases[device], index);
            m_graph.m_scheduleOf[device] = found.first->second;
            if (!found.second)
            {
                continue;
            }
            for (const PhaseId phase : phases[device])
            {
                nDefaultEntries += m_graph.m_phases[phase].microBatches;
            }
            if (nDefaultEntries > MAX_DEFAULT_ENTRIES)
            {
                Fail("device " + std::to_string(device) + " has no schedule, and its " +
                     std::to_string(phases[device].size()) +
                     " phases have too many micro-batches to make one; set a schedule or lower "
                     "the micro-batches");
            }
            schedules.emplace_back();
            for (const PhaseId phase : phases[device])
            {
                for (uint32_t k = 0; k < m_graph.m_phases[phase].microBatches; k++)
                {
                    schedules.back().push_back({phase, k});
                }
            }
            continue;
        }
        const uint32_t index = set->second;
        m_graph.m_scheduleOf[device] = index;
        if (!isChecked[index])
        {
            missing[index] = CheckSchedule(m_graph, device, schedules[index]);
            isChecked[index] = true;
        }
        for (const PhaseId phase : phases[device])
        {
            const auto entry = missing[index].find(phase);
            const uint32_t first = entry == missing[index].end() ? 0 : entry->second;
            if (first < m_graph.m_phases[phase].microBatches)
            {
                Fail("the schedule of device " + std::to_string(device) + " misses micro-batch " +
                     std::to_string(first) + " of " + PhaseText(m_graph, phase) +
                     ", which has tasks there; add it");
            }
        }
    }
}

std::vector<ScheduleEntry>
MakePipelineSchedule(PipelineSchedule kind,
                     uint32_t stages,
                     uint32_t stage,
                     uint32_t microBatches,
                     PhaseId forward,
                     PhaseId backward)
{
    if (stage >= stages)
    {
        Fail("pipeline stage " + std::to_string(stage) + " does not exist; there are " +
             std::to_string(stages) + " stages, from 0");
    }
    if (microBatches == 0 || microBatches > MAX_MICRO_BATCHES)
    {
        Fail("a pipeline schedule has 1 to " + std::to_string(MAX_MICRO_BATCHES) +
             " micro-batches, not " + std::to_string(microBatches));
    }
    const uint32_t warmUp =
        kind == PipelineSchedule::GPIPE ? microBatches : std::min(microBatches, stages - 1 - stage);
    std::vector<ScheduleEntry> schedule;
    schedule.reserve(std::size_t{2} * microBatches);
    for (uint32_t k = 0; k < warmUp; k++)
    {
        schedule.push_back({forward, k});
    }
    for (uint32_t k = warmUp; k < microBatches; k++)
    {
        schedule.push_back({forward, k});
        schedule.push_back({backward, k - warmUp});
    }
    for (uint32_t k = microBatches - warmUp; k < microBatches; k++)
    {
        schedule.push_back({backward, k});
    }
    return schedule;
}

} // namespace proteus
} // namespace ns3
