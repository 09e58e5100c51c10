/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_DEVICE_RUNTIME_H
#define PROTEUS_DEVICE_RUNTIME_H

#include "proteus-network.h"

#include "ns3/proteus-graph.h"
#include "ns3/proteus-operator-cost.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// How a device issues its work.
struct RuntimeOptions
{
    /// How many schedule entries may be issued (admitted, or their receives posted) beyond those
    /// of which a task has started, as the host thread of a framework runs ahead of its GPU.
    uint32_t issueAhead{2};
    RooflineModel roofline; //!< times the compute tasks without a fixed duration
};

/**
 * @ingroup proteus
 * The dispatcher of one device: admits its schedule, runs its streams, counts dependencies and
 * memory, and writes down what happened. It knows the rest of the world as a Clock and a Network.
 */
class DeviceRuntime
{
  public:
    /// Called with every span when it ends.
    using SpanSink = std::function<void(const Span&)>;

    /**
     * @param graph to execute; must outlive this object
     * @param device which device of it
     * @param gpu data sheet of the device
     * @param options how work is issued
     * @param clock of the run; must outlive this object
     * @param network of the run; must outlive this object
     */
    DeviceRuntime(const ExecutionGraph& graph,
                  DeviceId device,
                  const GpuDatasheet& gpu,
                  const RuntimeOptions& options,
                  Clock& clock,
                  Network& network);

    DeviceRuntime(const DeviceRuntime&) = delete;
    DeviceRuntime& operator=(const DeviceRuntime&) = delete;

    /// @param sink whom to tell of every span
    void SetSpanSink(SpanSink sink);

    /// Starts the iteration at the clock's present time.
    void Start();

    /// @return whether every task of the device is done, for every micro-batch
    bool IsDone() const
    {
        return m_unfinished == 0;
    }

    /// @return the level of allocated memory at every time it changed
    const std::vector<MemorySample>& GetMemory() const
    {
        return m_memory;
    }

    /// @return most bytes allocated at once
    uint64_t GetPeakMemoryBytes() const
    {
        return m_peakBytes;
    }

    /// @return most micro-batches admitted to a gate and not yet out of it, by gate of this device
    const std::vector<uint32_t>& GetPeakInFlight() const
    {
        return m_peakInFlight;
    }

    /**
     * Says why the device does not go on.
     * @return one line per stream or receive that waits; empty when the device is done
     */
    std::vector<std::string> DescribeStall() const;

  private:
    /// A task for one micro-batch.
    struct Instance
    {
        uint32_t local; //!< index in m_tasks
        uint32_t microBatch;
    };

    /// A stream of the device.
    struct Stream
    {
        std::deque<Instance> queue; //!< admitted, the running one included; of StreamOrder::READY
                                    //!< those that run, and no others
        bool running{false};        //!< whether the first one runs
        /// Admitted and ready, by their places in the schedule and the graph; StreamOrder::READY.
        std::map<std::pair<uint32_t, uint32_t>, Instance> ready;
    };

    /// A memory task for one micro-batch.
    struct Allocation
    {
        uint32_t users{0}; //!< consumers that have not ended
        bool allocated{false};
    };

    /// A gate of this device.
    struct Gate
    {
        MicroBatchGate gate;
        uint32_t inFlight{0};
        std::vector<bool> acquired; //!< by micro-batch
        std::vector<bool> released; //!< by micro-batch; one released before it is acquired never
                                    //!< counts
    };

    /// @param instance of a task @return its position in the arrays kept per instance
    uint32_t GetState(const Instance& instance) const
    {
        return m_firstState[instance.local] + instance.microBatch;
    }

    /// @param id a task @return its index in m_tasks, which has it
    uint32_t FindLocal(TaskId id) const;
    /// @param task a task @return whether it occupies one of this device's streams
    bool IsStreamed(const Task& task) const;
    /// @param from a task @param to a task that depends on it @return how often instances link
    uint32_t CountLinks(const Task& from, const Task& to) const;
    /// Admits what the schedule, the gates and the issue limit allow.
    void Admit();
    /// @param entry whose receives are posted, gates or not
    void PostReceives(const ScheduleEntry& entry);
    /// @param gate of this device @param microBatch that has gone through it
    static void ReleaseGate(Gate& gate, uint32_t microBatch);
    /// @param entry to admit
    void AdmitEntry(const ScheduleEntry& entry);
    /// @param stream to go on with
    void Advance(StreamId stream);
    /// @param task a task @return whether it runs on a stream that lets ready tasks overtake
    bool IsOvertaking(const Task& task) const;
    /// Starts what may run on a stream with StreamOrder::READY.
    void AdvanceReady(Stream& stream);
    /// @param instance whose turn has come
    void StartTask(const Instance& instance);
    /// @param instance that has ended @param startPs when it began
    void FinishTask(const Instance& instance, int64_t startPs);
    /// Marks an instance, and memory tasks that follow from it, as done.
    void Complete(const Instance& instance);
    /// @param instance nothing holds back but its stream
    void BecomeReady(const Instance& instance);
    /// @param instance a memory task
    void Allocate(const Instance& instance);
    /// @param instance a memory task @param users consumers that it has no more
    void Release(const Instance& instance, uint32_t users);
    /// @param instance of a task
    /// @param to a task that depends on it
    /// @param function called with every instance of the task `to` linked to `instance`
    template <typename F>
    void ForEachLinked(const Instance& instance, uint32_t to, F function) const;
    /// @param stream with StreamOrder::READY
    /// @return its first task that waits for something; one past the last local if there is none
    Instance FindWaiting(StreamId stream) const;
    /// @param instance a task @return how messages call it
    std::string Describe(const Instance& instance) const;

    const ExecutionGraph& m_graph;
    const DeviceId m_device;
    const GpuDatasheet& m_gpu;
    const RuntimeOptions m_options;
    Clock& m_clock;
    Network& m_network;
    SpanSink m_sink;

    std::vector<TaskId> m_tasks;            //!< on this device, ascending
    std::vector<uint32_t> m_firstState;     //!< by task: where its instances start
    std::vector<uint32_t> m_pending;        //!< by instance: dependencies not done, + 1 for
                                            //!< a receive, or a task of a stream with
                                            //!< StreamOrder::READY, that is not admitted
    std::vector<uint32_t> m_firstSuccessor; //!< by task, start in m_successors
    std::vector<uint32_t> m_successors;     //!< tasks that depend on it
    std::vector<Allocation> m_allocations;  //!< by instance of memory tasks, see m_allocationOf
    std::vector<uint32_t> m_allocationOf;   //!< by task: start in m_allocations, NO_ID
    std::vector<uint32_t> m_firstMemoryDependency;   //!< by task, start in m_memoryDependencies
    std::vector<uint32_t> m_memoryDependencies;      //!< memory tasks that it consumes
    std::vector<std::vector<uint32_t>> m_phaseTasks; //!< by phase: streamed or received
    std::vector<std::vector<uint32_t>> m_phaseUnfinished;   //!< by phase and micro-batch
    std::vector<std::vector<uint32_t>> m_computeUnfinished; //!< of these, compute tasks
    std::vector<std::vector<bool>> m_entryStarted;          //!< by phase and micro-batch
    std::vector<std::vector<uint32_t>> m_entryPlace;        //!< by phase and micro-batch: how many
                                                            //!< were admitted before
    std::vector<Stream> m_streams;
    std::vector<Gate> m_gates;
    std::vector<uint32_t> m_peakInFlight;
    std::vector<bool> m_isScheduled; //!< by phase: whether the schedule has entries of it
    std::size_t m_nextPosted{0};     //!< first entry of the schedule whose receives are not posted
    std::size_t m_nextEntry{0};      //!< first entry of the schedule that is not admitted
    uint32_t m_posted{0};            //!< entries with tasks here whose receives are posted
    uint32_t m_admitted{0};          //!< entries with tasks here that are admitted
    uint32_t m_started{0};           //!< entries of which a task has started
    uint64_t m_unfinished{0};        //!< instances
    uint64_t m_bytes{0};
    uint64_t m_peakBytes{0};
    std::vector<MemorySample> m_memory;
    std::vector<Instance> m_completing; //!< work list of Complete()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_DEVICE_RUNTIME_H
