/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_H
#define PROTEUS_GRAPH_H

#include "proteus-graph-kinds.h"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The execution graph: what every device computes, communicates and stores in one training
 * iteration, and in which order it may do so.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// In which order a stream runs what was admitted to it.
enum class StreamOrder : uint8_t
{
    IN_ORDER, //!< As admitted, one after the other, as a CUDA stream does.
    READY,    //!< Of those whose dependencies are done, the one admitted first, as the feeder of
              //!< Chakra traces does; messages to one receiver follow each other at once. For
              //!< traces whose order nobody wrote down.
};

/**
 * @ingroup proteus
 * One task. Which fields count depends on the kind; the others keep their defaults.
 *
 * A compute task lasts durationPs; if that is negative, the cost model computes its time from its
 * FLOPs and bytes.
 *
 * A memory task is a tensor and does no work. Its producers are the tasks that it depends on, its
 * consumers those that depend on it. It is allocated when the first producer starts, complete when
 * all producers are done, and freed when the last consumer ends.
 */
struct Task
{
    TaskKind kind{TaskKind::COMPUTE};              //!< what it does
    Collective collective{Collective::ALL_REDUCE}; //!< communication only
    Parallelism parallelism{Parallelism::NONE};    //!< communication only
    DataType dataType{DataType::BF16};             //!< compute: which peak rate applies
    StreamId stream{NO_STREAM};                    //!< compute and communication
    PhaseId phase{0};                              //!< decides how often the task runs
    uint16_t root{0};                              //!< if HasRoot(): position in the group
    bool persistent{false};                        //!< memory: there before, never freed
    uint8_t hostPercent{0};                        //!< compute: part of a fixed time in which the
                                                   //!< GPU waits for the host, percent
    uint32_t name{0};                              //!< index for ExecutionGraph::GetName()
    uint32_t place{0};                             //!< device, or group of a communication
    uint32_t threadBlocks{0};                      //!< compute: equal blocks that the time is made
                                                   //!< of, in waves over the GPU; 0: not known.
                                                   //!< Communication: multiprocessors that its
                                                   //!< kernel takes; 0: as NCCL's does
    int64_t durationPs{-1};                        //!< compute: fixed time in picoseconds
    double flops{0};                               //!< compute: floating point operations
    uint64_t bytes{0}; //!< compute: memory traffic; communication: size; memory: size
};

/**
 * @ingroup proteus
 * A phase is a part of the iteration that runs once per micro-batch, e.g. "forward". All tasks of
 * a phase on one device, for one micro-batch, are admitted to the device's streams together.
 */
struct Phase
{
    std::string name;         //!< e.g. "forward"; distinct
    uint32_t microBatches{1}; //!< how often it runs
};

/// @ingroup proteus
/// One admission of a device: the tasks of this phase for this micro-batch.
struct ScheduleEntry
{
    PhaseId phase{0};       //!< which phase
    uint32_t microBatch{0}; //!< for which micro-batch

    /// @param other an entry @return whether both are the same
    bool operator==(const ScheduleEntry& other) const
    {
        return phase == other.phase && microBatch == other.microBatch;
    }

    /// @param other an entry @return whether this one comes first, by phase, then micro-batch
    bool operator<(const ScheduleEntry& other) const
    {
        return phase != other.phase ? phase < other.phase : microBatch < other.microBatch;
    }
};

/**
 * @ingroup proteus
 * A micro-batch gate. On its device, a micro-batch of phase `acquire` is admitted only while fewer
 * than `limit` of the micro-batches admitted before it have compute tasks of phase `release` left
 * to do. With acquire = forward and release = backward it bounds the activations of a pipeline
 * stage that are alive.
 */
struct MicroBatchGate
{
    DeviceId device{0}; //!< whose admission it holds back
    PhaseId acquire{0}; //!< phase whose admission takes a place
    PhaseId release{0}; //!< phase whose last compute task gives it back
    uint32_t limit{1};  //!< places, at least 1
};

/// @ingroup proteus
/// What the graph trains, for rates in reports. Zero where unknown.
struct WorkloadFacts
{
    std::string name;                 //!< e.g. "GPT-3 6.7B"
    double modelFlopsPerIteration{0}; //!< FLOPs that the model needs, recomputation not counted
    uint64_t tokensPerIteration{0};   //!< all replicas together
    uint64_t samplesPerIteration{0};  //!< all replicas together
};

/// @ingroup proteus
/// A read-only run of ids inside a graph.
struct IdRange
{
    const uint32_t* first{nullptr}; //!< the first id
    const uint32_t* last{nullptr};  //!< behind the last id

    /// @return the first id
    const uint32_t* begin() const
    {
        return first;
    }

    /// @return behind the last id
    const uint32_t* end() const
    {
        return last;
    }

    /// @return number of ids
    std::size_t size() const
    {
        return last - first;
    }
};

/**
 * @ingroup proteus
 * The compiled form of one training iteration. Immutable; made by a GraphBuilder.
 *
 * Order of execution on a device. Its schedule is a list of entries (phase, micro-batch). Admitting
 * an entry appends the phase's tasks on that device to the streams that they name, in the order of
 * their ids. A stream runs its tasks one after the other in that order, each as soon as its
 * dependencies are done, as a CUDA stream does. In a stream of StreamOrder::READY, a task that is
 * ready overtakes those that still wait.
 *
 * The receiving side of a SEND_RECV occupies no stream. Its buffer is posted when its dependencies
 * on that device are done and the turn of its entry in the schedule, if it has one, has come, even
 * if a gate holds the entry back.
 *
 * Dependencies. "b depends on a" holds on every device on which both live; a communication lives on
 * all devices of its group. A dependency between tasks without a common device is an error, since
 * only communication crosses devices. Between two phases with equally many micro-batches it links
 * the instances of the same micro-batch. Between a phase of n micro-batches and a phase of one it
 * links all n with the one. Other pairs of counts are an error.
 */
class ExecutionGraph
{
  public:
    /// @return number of devices; ids run from 0
    uint32_t GetNDevices() const
    {
        return m_nDevices;
    }

    /// @return number of tasks
    uint32_t GetNTasks() const
    {
        return static_cast<uint32_t>(m_tasks.size());
    }

    /// @param id a task @return the task
    const Task& GetTask(TaskId id) const
    {
        return m_tasks[id];
    }

    /// @return all tasks, by id
    const std::vector<Task>& GetTasks() const
    {
        return m_tasks;
    }

    /// @param id a task @return the tasks it depends on, ascending, without repetition
    IdRange GetDependencies(TaskId id) const
    {
        return {m_dependencies.data() + m_firstDependency[id],
                m_dependencies.data() + m_firstDependency[id + 1]};
    }

    /// @param task a task @return its name
    const std::string& GetName(const Task& task) const
    {
        return m_names[task.name];
    }

    /// @return all groups: lists of distinct devices, in rank order
    const std::vector<std::vector<DeviceId>>& GetGroups() const
    {
        return m_groups;
    }

    /// @param id a group @return its devices in rank order
    const std::vector<DeviceId>& GetGroup(GroupId id) const
    {
        return m_groups[id];
    }

    /// @return names of the streams, by StreamId
    const std::vector<std::string>& GetStreams() const
    {
        return m_streams;
    }

    /// @param stream a stream @return whether its tasks run on the host and leave the GPU free
    bool IsHostStream(StreamId stream) const
    {
        return m_hostStreams[stream];
    }

    /// @param stream a stream @return the order in which it runs its tasks
    StreamOrder GetStreamOrder(StreamId stream) const
    {
        return m_streamOrders[stream];
    }

    /// @return the phases, by PhaseId
    const std::vector<Phase>& GetPhases() const
    {
        return m_phases;
    }

    /// @param task a task @return how often it runs per device
    uint32_t GetNInstances(const Task& task) const
    {
        return m_phases[task.phase].microBatches;
    }

    /**
     * The order in which a device admits its work.
     * @param device a device
     * @return its schedule; where none was set, its phases in the order of their ids, each with
     * all its micro-batches
     */
    const std::vector<ScheduleEntry>& GetSchedule(DeviceId device) const
    {
        return m_schedules[m_scheduleOf[device]];
    }

    /**
     * Which phases a device has to admit. Walks over all tasks.
     * @return by device, the phases with a task that occupies a stream there, ascending
     */
    std::vector<std::vector<PhaseId>> FindPhasesByDevice() const;

    /**
     * Which devices have another schedule than the default one; what files have to hold.
     * @return the devices, those with the same schedule together, ascending by the first of them
     */
    std::vector<std::vector<DeviceId>> FindScheduledDevices() const;

    /// @return all micro-batch gates
    const std::vector<MicroBatchGate>& GetGates() const
    {
        return m_gates;
    }

    /// @return what the graph trains
    const WorkloadFacts& GetFacts() const
    {
        return m_facts;
    }

    /// @param other a graph @return whether both describe the same work, ids included
    bool operator==(const ExecutionGraph& other) const;

  private:
    friend class GraphBuilder;
    friend ExecutionGraph StretchComputation(const ExecutionGraph& graph, int64_t computePs);

    uint32_t m_nDevices{0};                              //!< number of devices
    std::vector<Task> m_tasks;                           //!< by TaskId
    std::vector<uint32_t> m_firstDependency{0};          //!< per task, start in m_dependencies
    std::vector<TaskId> m_dependencies;                  //!< of all tasks, one after the other
    std::vector<std::string> m_names;                    //!< distinct task names
    std::vector<std::vector<DeviceId>> m_groups;         //!< by GroupId
    std::vector<std::string> m_streams;                  //!< by StreamId
    std::vector<StreamOrder> m_streamOrders;             //!< by StreamId
    std::vector<bool> m_hostStreams;                     //!< by StreamId
    std::vector<Phase> m_phases;                         //!< by PhaseId
    std::vector<std::vector<ScheduleEntry>> m_schedules; //!< distinct schedules
    std::vector<uint32_t> m_scheduleOf;                  //!< by DeviceId, index in m_schedules
    std::vector<MicroBatchGate> m_gates;                 //!< in order of addition
    WorkloadFacts m_facts;                               //!< what is trained
};

/**
 * @ingroup proteus
 * Makes an ExecutionGraph.
 *
 * @code
 * GraphBuilder builder(2); // devices
 * const StreamId compute = builder.AddStream("compute");
 * const StreamId communication = builder.AddStream("communication");
 * const PhaseId phase = builder.AddPhase("iteration");
 * const TaskId product = builder.AddCompute(phase, 0, compute, "product", 1000000); // 1 us
 * const GroupId pair = builder.AddGroup({0, 1});
 * builder.AddCommunication(phase, pair, communication, "sum", Collective::ALL_REDUCE, 4096,
 *                          Parallelism::DATA, {product});
 * const ExecutionGraph graph = builder.Build();
 * @endcode
 */
class GraphBuilder
{
  public:
    /// @param nDevices number of devices of the graph, 1 to MAX_DEVICES
    explicit GraphBuilder(uint32_t nDevices);

    /// @param facts what the graph trains
    void SetFacts(const WorkloadFacts& facts);

    /// @param name of the stream, distinct
    /// @param order in which it runs its tasks
    /// @param isHost whether its tasks run on the host: reports do not count them as computation
    /// @return its id
    StreamId AddStream(const std::string& name,
                       StreamOrder order = StreamOrder::IN_ORDER,
                       bool isHost = false);

    /// @param name of the phase, distinct
    /// @param microBatches how often it runs, 1 to MAX_MICRO_BATCHES
    /// @return its id
    PhaseId AddPhase(const std::string& name, uint32_t microBatches = 1);

    /// @param devices distinct devices in rank order @return id of the group; equal lists share it
    GroupId AddGroup(const std::vector<DeviceId>& devices);

    /**
     * Adds a compute task of fixed length.
     * @param phase when it runs
     * @param device where
     * @param stream on which stream
     * @param name what reports call it
     * @param durationPs how long, in picoseconds, 0 or more
     * @param dependencies tasks that must be done before
     * @return its id
     */
    TaskId AddCompute(PhaseId phase,
                      DeviceId device,
                      StreamId stream,
                      const std::string& name,
                      int64_t durationPs,
                      const std::vector<TaskId>& dependencies = {});

    /**
     * Adds a compute task that the cost model times.
     * @param phase when it runs
     * @param device where
     * @param stream on which stream
     * @param name what reports call it
     * @param flops floating point operations
     * @param bytes bytes read and written in device memory
     * @param type number format of the operands
     * @param dependencies tasks that must be done before
     * @return its id
     */
    TaskId AddCompute(PhaseId phase,
                      DeviceId device,
                      StreamId stream,
                      const std::string& name,
                      double flops,
                      uint64_t bytes,
                      DataType type,
                      const std::vector<TaskId>& dependencies = {});

    /**
     * Adds a communication task.
     * @param phase when it runs
     * @param group who takes part
     * @param stream on which stream of every member (of the sender alone for SEND_RECV)
     * @param name what reports call it
     * @param collective what it computes
     * @param bytes size as the Collective defines it
     * @param parallelism what it serves
     * @param dependencies tasks that must be done before
     * @param root position of the root in the group, if HasRoot()
     * @return its id
     */
    TaskId AddCommunication(PhaseId phase,
                            GroupId group,
                            StreamId stream,
                            const std::string& name,
                            Collective collective,
                            uint64_t bytes,
                            Parallelism parallelism,
                            const std::vector<TaskId>& dependencies = {},
                            uint16_t root = 0);

    /**
     * Adds a tensor. The tasks that it depends on are its producers, those that depend on it its
     * consumers.
     * @param phase when it is produced
     * @param device where it is kept
     * @param name what reports call it
     * @param bytes its size
     * @param producers tasks that write it
     * @param persistent whether it is there from the beginning and never freed
     * @return its id
     */
    TaskId AddMemory(PhaseId phase,
                     DeviceId device,
                     const std::string& name,
                     uint64_t bytes,
                     const std::vector<TaskId>& producers = {},
                     bool persistent = false);

    /**
     * Adds a task as it stands; the readers of files use this.
     * @param task the task; its name index is set here; a negative duration becomes -1
     * @param name its name
     * @param dependencies tasks that must be done before; more may be added later
     * @return its id
     */
    TaskId AddTask(Task task,
                   const std::string& name,
                   const std::vector<TaskId>& dependencies = {});

    /// @param before must be done first @param after a task that exists
    void AddDependency(TaskId before, TaskId after);

    /// @param device a device @param schedule the order in which it admits its work
    void SetSchedule(DeviceId device, std::vector<ScheduleEntry> schedule);

    /// @param devices some devices @param schedule the order in which each admits its work
    void SetSchedule(const std::vector<DeviceId>& devices, std::vector<ScheduleEntry> schedule);

    /// @param gate a bound on the micro-batches in flight
    void AddGate(const MicroBatchGate& gate);

    /**
     * Checks everything and hands the graph over; the builder is empty afterwards, also after an
     * error.
     * @return the graph
     * @throw std::invalid_argument that names the offending ids: a task, group, phase, stream or
     * device that does not exist, a name that is used twice (streams, phases) or is not UTF-8, a
     * group that is empty or repeats a device, a send-receive without exactly two devices, a
     * field that the kind of the task does not have, an empty communication, negative or
     * infinite FLOPs, a dependency between tasks without a common device or with unequal
     * micro-batches, a cycle (with the tasks on it), a schedule that misses or repeats an entry,
     * a gate of limit 0, one whose phases have unequal micro-batches, or one at which the
     * schedule can never go on
     */
    ExecutionGraph Build();

  private:
    /// Turns the edges into the graph's dependencies, sorted and without repetition.
    void LinkDependencies();
    /// Gives each device the schedule that was set, after checks, or the default one.
    void AssignSchedules();

    ExecutionGraph m_graph;                                  //!< what is being made
    std::vector<std::pair<TaskId, TaskId>> m_edges;          //!< (after, before)
    std::unordered_map<std::string, uint32_t> m_nameIndex;   //!< name to its index
    std::map<std::vector<DeviceId>, GroupId> m_groupIndex;   //!< devices to their group
    std::map<std::vector<ScheduleEntry>, uint32_t> m_orders; //!< distinct schedules that were set
    std::map<DeviceId, uint32_t> m_orderOf;                  //!< device to its schedule in m_orders
};

/**
 * @ingroup proteus
 * Order in which a pipeline stage runs its micro-batches.
 */
enum class PipelineSchedule : uint8_t
{
    GPIPE,                    //!< all forward, then all backward
    ONE_FORWARD_ONE_BACKWARD, //!< 1F1B (DAPPLE, Megatron-LM)
};

/**
 * @ingroup proteus
 * The schedule of one stage of a pipeline.
 *
 * GPipe runs all forward passes, then all backward passes. 1F1B begins with min(m, p - 1 - s)
 * forward passes, goes on with a forward and a backward pass in turn, and ends with the remaining
 * backward passes; at most min(m, p - s) micro-batches are alive (DistSim, A.1 and A3).
 *
 * @param kind GPipe or 1F1B
 * @param stages number of stages p
 * @param stage this stage s, from 0
 * @param microBatches number of micro-batches m
 * @param forward phase of the forward pass
 * @param backward phase of the backward pass
 * @return 2 m entries
 */
std::vector<ScheduleEntry> MakePipelineSchedule(PipelineSchedule kind,
                                                uint32_t stages,
                                                uint32_t stage,
                                                uint32_t microBatches,
                                                PhaseId forward,
                                                PhaseId backward);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_H
