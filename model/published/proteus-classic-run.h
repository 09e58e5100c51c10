/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLASSIC_RUN_H
#define PROTEUS_CLASSIC_RUN_H

#include "proteus-classic-executor.h"

#include "ns3/proteus-gpu-model.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What RunClassic() keeps while it runs.
 */

namespace ns3
{
namespace proteus
{
namespace classic
{

/// @ingroup proteus
/// Position of a task for one micro-batch in the arrays kept per instance.
using InstanceId = uint32_t;

/// @ingroup proteus
/// The queues of a device.
enum QueueKind : uint8_t
{
    KERNELS,   //!< computation
    FEATURES,  //!< communication but the reduction of gradients
    GRADIENTS, //!< the reduction of gradients
    HOST,      //!< what runs on the host
    QUEUES,    //!< how many there are
};

/// @ingroup proteus
/// A queue of a device.
struct Queue
{
    std::deque<InstanceId> waiting; //!< in the order in which they became ready
    double clockMs{0};              //!< when it is free
};

/// @ingroup proteus
/// What is known of a task for one micro-batch.
struct Instance
{
    TaskId task{0};         //!< which task
    uint32_t microBatch{0}; //!< for which micro-batch
    uint32_t pending{0};    //!< dependencies that are not done
    bool admitted{false};   //!< whether its turn has begun
    bool done{false};       //!< whether it has got its end
    double readyMs{0};      //!< when its dependencies end
    double startMs{0};      //!< when it starts
    double endMs{0};        //!< when it ends
    double slowDown{1};     //!< of a reduction, decided when it becomes ready
    double sharers{1};      //!< of a communication, as it was started
};

/// @ingroup proteus
/// What a stage runs at a time: some phases for one micro-batch each.
struct Turn
{
    std::vector<ScheduleEntry> entries; //!< phases and their micro-batches
    bool isLast{false};                 //!< after all other communication of its devices
};

/// @ingroup proteus
/// Devices that run the same schedule together.
struct Stage
{
    std::vector<DeviceId> devices;   //!< ascending
    std::vector<Turn> turns;         //!< in order
    std::size_t next{0};             //!< the first turn that is not over
    std::vector<InstanceId> running; //!< of the turn that is under way, empty if there is none
};

/// @ingroup proteus
/// One run.
class ClassicRun
{
  public:
    /// As RunClassic().
    ClassicRun(const ExecutionGraph& graph, const Cluster& cluster, const ClassicOptions& options);

    /// Runs it, once. @return what happened @throw std::runtime_error if it cannot finish
    Timeline Run();

  private:
    /// @param id an instance @return its task
    const Task& TaskOf(InstanceId id) const
    {
        return m_graph.GetTask(m_instances[id].task);
    }

    /// @param task a task @return whether it reduces gradients
    static bool IsReduction(const Task& task);

    /// @param phase a phase @return whether it runs at the end of an iteration, on all devices
    /// together
    bool IsLastPhase(PhaseId phase) const
    {
        const std::string& name = m_graph.GetPhases()[phase].name;
        return name.substr(0, name.find('#')) == "optimizer";
    }

    /// @param phase a phase @return its iteration by its name, see RepeatGraph(); from 1
    uint32_t FindIteration(PhaseId phase) const;

    /// Whether a communication makes its members one stage.
    static bool JoinsStage(const Task& task);

    /// @param task a communication @return whether it is a send between stages
    bool IsCrossStage(const Task& task) const;

    /// Fills m_stages and m_stageOf.
    void FindStages();

    /// Adds all devices as a stage, for the optimizer.
    void AddLastStage();

    /// @return by device and phase, whether it has kernels there
    std::vector<std::vector<bool>> FindComputePhases() const;

    /// Makes turns of the schedule of a stage's devices.
    void FindTurns(Stage& stage, const std::vector<std::vector<bool>>& computes);

    /// Fills m_instances, m_first and m_successors.
    void ListInstances();

    /// Which stage runs which tasks.
    void AssignTasks();

    /// Calls f with every instance that one of `to` stands for when `id` is done.
    template <typename F>
    void ForEachSuccessor(InstanceId id, F f) const
    {
        const Instance& instance = m_instances[id];
        const uint32_t n = m_graph.GetNInstances(m_graph.GetTask(instance.task));
        for (const TaskId to : m_successors[instance.task])
        {
            const uint32_t m = m_graph.GetNInstances(m_graph.GetTask(to));
            for (uint32_t k = n == m ? instance.microBatch : 0;
                 k < (n == m ? instance.microBatch + 1 : m);
                 ++k)
            {
                f(m_first[to] + k);
            }
        }
    }

    /// Calls f with every instance that `id` depends on.
    template <typename F>
    void ForEachDependency(InstanceId id, F f) const
    {
        const Instance& instance = m_instances[id];
        const uint32_t own = m_graph.GetNInstances(m_graph.GetTask(instance.task));
        for (const TaskId before : m_graph.GetDependencies(instance.task))
        {
            const uint32_t n = m_graph.GetNInstances(m_graph.GetTask(before));
            for (uint32_t k = 0; k < (n > own ? n : 1); ++k)
            {
                f(m_first[before] + (n > own ? k : n == own ? instance.microBatch : 0));
            }
        }
    }

    /// @return whether an instance is done, or will be by what has been admitted
    bool IsComing(InstanceId id) const;

    /// @param stage a stage @param turn one of its turns @return what runs in it
    std::vector<InstanceId> ListTurn(uint32_t stage, const Turn& turn) const;

    /// @return whether a turn has all it needs from other stages
    bool IsReady(const std::vector<InstanceId>& turn);

    /**
     * Every stage but the last one runs one turn, if it can.
     * @param isForced whether one may begin, too, that cannot finish
     * @return whether anything was done
     */
    bool RunRound(bool isForced);

    /**
     * A stage runs one turn, if it can.
     * @param number of the stage
     * @param isForced whether it may begin, too, if it cannot finish
     * @return whether anything was done
     */
    bool RunTurn(uint32_t number, bool isForced);

    /// @return whether all stages but the last one are done
    bool AreOthersDone() const;

    /// A turn begins. @param stage whose @param isLast whether its kernels wait for all
    /// communication
    void Admit(const Stage& stage, bool isLast);

    /// @return the devices that a communication occupies
    std::vector<DeviceId> GetOccupied(const Task& task) const
    {
        const auto& group = m_graph.GetGroup(task.place);
        return IsCrossStage(task) ? std::vector<DeviceId>{group.front()} : group;
    }

    /// @param id of an instance that is ready, for its queues
    void Enqueue(InstanceId id);

    /// An instance has got its end; what follows from it is free: m_freed.
    void Complete(InstanceId id);

    /// @return the stage that counts a task
    uint32_t FindStage(const Task& task) const
    {
        return m_stageOf[task.kind == TaskKind::COMPUTE ? task.place
                                                        : m_graph.GetGroup(task.place).front()];
    }

    /// What was done in one step; what it frees is ready in the next.
    void FinishTasks(const std::vector<InstanceId>& ended);

    /// One step of a stage. @return whether anything was done
    bool RunStep(const Stage& stage);

    /// Gives a kernel its start and end. @param id of it @param device where @param queue it was in
    void RunKernel(InstanceId id, DeviceId device, Queue& queue);

    /// @return what is first in the queues of all members
    std::vector<InstanceId> FindHeads(const Stage& stage, QueueKind kind) const;

    /// Gradients, then features of a step. @param stage whose @return whether there were any
    bool RunCommunication(const Stage& stage);

    /// @param id of a communication @return its cost alone
    ClassicCost GetCost(InstanceId id) const
    {
        const Task& task = TaskOf(id);
        return m_model.GetCost(task.collective, task.bytes, m_graph.GetGroup(task.place));
    }

    /// Starts communications together. @param heads of the queues @param kind of the queues
    void Launch(const std::vector<InstanceId>& heads, QueueKind kind);

    /// Features that are about to start meet reductions that run.
    void DelayByReductions(const std::vector<InstanceId>& features,
                           const std::vector<ClassicCost>& costs);

    /// A reduction that has been started ends later than was said.
    void Postpone(InstanceId id);

    /// Raises the ready times of what waits for an instance, through memory.
    void MoveSuccessors(InstanceId id);

    /// @param ms milliseconds @return picoseconds, rounded
    static int64_t ToPs(double ms)
    {
        return std::llround(ms * 1e9);
    }

    /// @return what happened
    Timeline MakeResult() const;

    /// A tensor lives from the start of its first producer to the end of its last consumer.
    void AddMemory(Timeline& timeline) const;

    const ExecutionGraph& m_graph;
    const ClassicCostModel m_model;
    const ClassicOptions m_options;
    double m_gamma{0};
    std::vector<const GpuDatasheet*> m_gpus;     //!< by device
    std::vector<Stage> m_stages;                 //!< the last one is all devices
    std::map<uint32_t, std::size_t> m_lastTurns; //!< of the last stage, the first one of
                                                 //!< an iteration
    std::vector<uint32_t> m_stageOf;             //!< by device
    std::vector<std::vector<std::vector<TaskId>>> m_tasksOf; //!< by stage and phase
    std::vector<Instance> m_instances;
    std::vector<InstanceId> m_first;                   //!< by task
    std::vector<std::vector<TaskId>> m_successors;     //!< by task
    std::vector<std::array<Queue, QUEUES>> m_queues;   //!< by device
    std::vector<std::vector<InstanceId>> m_reductions; //!< by device, in order of their starts
    std::vector<std::size_t> m_firstReduction;         //!< by device: the first that is not over
    std::map<uint32_t, uint32_t> m_othersLeft; //!< by stage: admitted, no reduction, not done
    std::vector<InstanceId> m_freed;           //!< work list of Complete()
};

} // namespace classic
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLASSIC_RUN_H
