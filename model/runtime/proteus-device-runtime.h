/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_DEVICE_RUNTIME_H
#define PROTEUS_DEVICE_RUNTIME_H

#include "proteus-admission.h"
#include "proteus-device-tasks.h"
#include "proteus-gate-keeper.h"
#include "proteus-gpu-sharing.h"
#include "proteus-memory-ledger.h"
#include "proteus-network.h"
#include "proteus-stall-line.h"
#include "proteus-start-control.h"
#include "proteus-stream-queue.h"

#include "ns3/proteus-graph.h"
#include "ns3/proteus-operator-cost.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
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
    bool sharesGpu{true};   //!< whether kernels and communication at the same time on one GPU
                            //!< slow each other: see GpuSharing
    /// Makes the object that decides when communications start, one for all devices of a run; its
    /// arguments outlive it. None: the streams decide.
    std::function<std::unique_ptr<StartControl>(const ExecutionGraph&, Clock&)> startControl;
    /// The picoseconds that a compute task takes on a device from a time on, given what it would
    /// take there otherwise: for GPUs and hosts that are slow for a while. Not shorter than that;
    /// none: not longer either.
    std::function<int64_t(DeviceId device, int64_t startPs, int64_t durationPs)> stretch;

    /// @param graph of a run @param clock of it @return what startControl makes, or null
    std::unique_ptr<StartControl> MakeStartControl(const ExecutionGraph& graph, Clock& clock) const
    {
        return startControl ? startControl(graph, clock) : nullptr;
    }
};

/**
 * @ingroup proteus
 * The dispatcher of one device. It counts dependencies, and starts what the device's schedule
 * (Admission), gates (GateKeeper) and streams (StreamQueue) allow. The rest of the world is a Clock
 * to it, a Network, and perhaps a StartControl and a GpuSharing.
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
     * @param control what decides when communications start, or null; must outlive this object
     * @param sharing what is between kernels and communication, or null; must outlive this object
     * @param tasks of all devices; null: those of this one are looked for
     */
    DeviceRuntime(const ExecutionGraph& graph,
                  DeviceId device,
                  const GpuDatasheet& gpu,
                  const RuntimeOptions& options,
                  Clock& clock,
                  Network& network,
                  StartControl* control = nullptr,
                  GpuSharing* sharing = nullptr,
                  const TasksByDevice* tasks = nullptr);

    DeviceRuntime(const DeviceRuntime&) = delete;
    DeviceRuntime& operator=(const DeviceRuntime&) = delete;

    /// @param sink whom to tell of every span
    void SetSpanSink(SpanSink sink);

    /// Starts the iteration at the clock's present time.
    void Start();

    /// @param nowPs present time @return what has begun and is not done, as spans that end now
    std::vector<Span> GetOpenSpans(int64_t nowPs) const;

    /// @return whether every task of the device is done, for every micro-batch
    bool IsDone() const
    {
        return m_unfinished == 0;
    }

    /// @return the level of allocated memory at every time it changed
    const std::vector<MemorySample>& GetMemory() const
    {
        return m_memory.GetSamples();
    }

    /// @return as GetMemory(), which is empty afterwards
    std::vector<MemorySample> TakeMemory()
    {
        return m_memory.TakeSamples();
    }

    /// @return most bytes allocated at once
    uint64_t GetPeakMemoryBytes() const
    {
        return m_memory.GetPeakBytes();
    }

    /// @return most micro-batches admitted to a gate and not yet out of it, by gate of this device
    const std::vector<uint32_t>& GetPeakInFlight() const
    {
        return m_gates.GetPeakInFlight();
    }

    /**
     * Says why the device does not go on.
     * @return one line per stream or receive that waits; empty when the device is done
     */
    std::vector<StallLine> DescribeStall() const;

  private:
    /// @param instance of a task @return what it still waits for
    uint32_t& GetPending(const LocalInstance& instance)
    {
        return m_pending[m_tasks.GetState(instance)];
    }

    /// @param local a task @return whether it waits to be admitted as for one more dependency
    bool CountsAdmission(uint32_t local) const;
    /// Admits what the schedule, the gates and the issue limit allow.
    void Admit();
    /// @param entry whose receives are posted, gates or not
    void PostReceives(const ScheduleEntry& entry);
    /// @param entry to admit
    void AdmitEntry(const ScheduleEntry& entry);
    /// @param stream to go on with
    void Advance(StreamId stream);
    /// @param instance a communication whose start is not up to its stream
    void Offer(const LocalInstance& instance);
    /// @param instance whose turn has come
    void StartTask(const LocalInstance& instance);
    /// @param task that computes @param startPs now @param done whom to tell when it has
    void StartCompute(const Task& task, int64_t startPs, const std::function<void()>& done);
    /// @param instance that has ended @param startPs when it began
    void FinishTask(const LocalInstance& instance, int64_t startPs);
    /// Marks an instance, and memory tasks that follow from it, as done.
    void Complete(const LocalInstance& instance);
    /// @param instance nothing holds back but its stream
    void BecomeReady(const LocalInstance& instance);

    const ExecutionGraph& m_graph;
    const DeviceId m_device;
    const GpuDatasheet& m_gpu;
    const RuntimeOptions m_options;
    Clock& m_clock;
    Network& m_network;
    StartControl* const m_control; //!< may be null
    GpuSharing* const m_sharing;   //!< may be null
    SpanSink m_sink;

    const DeviceTasks m_tasks;
    std::vector<uint32_t> m_pending; //!< by instance: dependencies not done, + 1 for one that is
                                     //!< not admitted, if CountsAdmission()
    std::vector<std::unique_ptr<StreamQueue>> m_streams; //!< by StreamId
    GateKeeper m_gates;
    Admission m_admission;
    MemoryLedger m_memory;
    uint64_t m_unfinished;                        //!< instances
    std::vector<LocalInstance> m_completing;      //!< work list of Complete()
    std::unordered_map<std::size_t, Span> m_open; //!< begun and not done, by place of their state
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_DEVICE_RUNTIME_H
