/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GPU_SHARING_H
#define PROTEUS_GPU_SHARING_H

#include "proteus-network.h"
#include "proteus-wave-schedule.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-operator-cost.h"
#include "ns3/proteus-run-record.h"
#include "ns3/proteus-task-instance.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Computation and communication at the same time on one GPU.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a communication takes of every GPU that takes part.
struct CommunicationUse
{
    uint32_t multiprocessors{0};    //!< that the thread blocks of its kernel occupy
    double memoryBytesPerSecond{0}; //!< traffic of the device memory while it moves bytes
    /// After so long all devices know that the last one has joined, see LookaheadBounds.
    int64_t newsPs{0};
};

/// @ingroup proteus
/// What came of it, all devices together.
struct SharingStatistics
{
    int64_t besidePs{0}; //!< time of kernels beside which a communication ran
    int64_t addedPs{0};  //!< what kernels took longer
};

/**
 * @ingroup proteus
 * Compute kernels that run beside collectives on the GPUs of a run, whatever network the
 * collectives use.
 *
 * **Multiprocessors.** The thread blocks of a collective keep their multiprocessors from when a
 * device joins the collective until its part is done, as NCCL's kernels do, which poll while they
 * wait for others. A receive that is posted ahead is just a buffer: it takes multiprocessors when
 * it knows that its sender has joined. A compute kernel gets what is left. If its thread blocks are
 * known (Task::threadBlocks), it runs in waves (WaveSchedule); another kernel that multiprocessors
 * decide goes on in proportion. The blocks of a collective do not wait here for those of a kernel
 * to end, which would be at most one wave.
 *
 * **Memory bandwidth.** A collective draws its traffic from when its devices know that the last one
 * of them has joined, which takes CommunicationUse::newsPs. Kernels get the rest, but at least
 * half. Collectives keep their pace, since none of the presets wants more than half. A kernel that
 * memory traffic decides goes on in proportion to what it gets; another one is slowed only if its
 * share of the multiprocessors would draw more than that.
 *
 * What is left of a kernel is timed anew whenever its share changes, so that the effects last as
 * long as the overlap. Time in which the GPU waits for the host (Task::hostPercent) absorbs them.
 * Kernels of which nothing but a time is known, like those of traces, keep it: what slowed them is
 * in it already.
 *
 * What begins when a last join is known goes before all else that happens on a device in the same
 * picosecond, so that it does not matter when a process (MPI rank) has heard of it.
 */
class GpuSharing
{
  public:
    /**
     * @param graph that is executed; must outlive this object
     * @param gpus data sheets by device; must outlive this object
     * @param roofline times the compute tasks without a fixed duration
     * @param clock of the run; must outlive this object
     * @param use what a communication takes, asked when a device joins it
     */
    GpuSharing(const ExecutionGraph& graph,
               std::vector<const GpuDatasheet*> gpus,
               const RooflineModel& roofline,
               Clock& clock,
               std::function<CommunicationUse(TaskId)> use);

    GpuSharing(const GpuSharing&) = delete;
    GpuSharing& operator=(const GpuSharing&) = delete;

    /**
     * A kernel starts.
     * @param device where
     * @param task a compute task
     * @param done called, as an event of the clock, when it ends
     */
    void StartKernel(DeviceId device, const Task& task, std::function<void()> done);

    /// What several processes (MPI ranks) that run a graph together have to know.
    struct Ranks
    {
        std::function<bool(DeviceId)> isLocal; //!< whether this process runs a device
        /// Has JoinElsewhere() called, in less than CommunicationUse::newsPs, in all processes with
        /// other devices of a communication: all of this process have joined it, so many.
        std::function<void(TaskInstance instance, uint32_t devices)> tell;
    };

    /// @param ranks of a run by several processes; before the run
    void SetRanks(Ranks ranks)
    {
        m_ranks = std::move(ranks);
    }

    /// @param device that joins a communication @param instance of it
    void Join(DeviceId device, TaskInstance instance);

    /**
     * Devices of another process have joined a communication, less than CommunicationUse::newsPs
     * ago.
     * @param instance of the communication
     * @param devices that have joined
     * @param timePs when the last of them did
     * @throw std::logic_error if that is longer ago
     */
    void JoinElsewhere(TaskInstance instance, uint32_t devices, int64_t timePs);

    /// @param device whose part is done @param instance of the communication
    void Leave(DeviceId device, TaskInstance instance);

    /// @return what came of it so far
    const SharingStatistics& GetStatistics() const
    {
        return m_statistics;
    }

  private:
    /// A kernel that runs.
    struct Kernel
    {
        uint64_t id{0};                    //!< counts them
        uint32_t version{0};               //!< counts predictions of its end; older ones are void
        int64_t startPs{0};                //!< when it started
        int64_t alonePs{0};                //!< that it takes alone
        int64_t endPs{0};                  //!< as predicted
        double workPs{0};                  //!< done, in time that it takes alone
        double lengthPs{0};                //!< of the work: alonePs without waits for the host
        double memoryDemand{0};            //!< part of the memory bandwidth that it wants alone
        bool isComputing{false};           //!< whether multiprocessors decide its pace
        std::optional<WaveSchedule> waves; //!< if its thread blocks are known
        std::function<void()> done;        //!< whom to tell
    };

    /// A communication will move bytes.
    struct Move
    {
        int64_t timePs{0};     //!< from when on
        TaskInstance instance; //!< which one
        CommunicationUse more; //!< that it then takes of the device
    };

    /// What goes on on a device.
    struct Device
    {
        std::vector<Kernel> kernels;    //!< one for each stream at most
        std::vector<Move> moves;        //!< to come, by time and instance
        int64_t sincePs{0};             //!< until when the work of the kernels is counted
        uint32_t communications{0};     //!< that it has joined
        uint32_t multiprocessors{0};    //!< that these occupy
        double memoryBytesPerSecond{0}; //!< that these draw
    };

    /// A device's part in a communication.
    struct Part
    {
        DeviceId device{0};
        bool isPosted{false}; //!< whether it takes multiprocessors only when bytes move
    };

    /// A communication that somebody has joined.
    struct Open
    {
        CommunicationUse use;
        std::vector<Part> parts; //!< under way
        uint32_t joined{0};      //!< devices so far
        uint32_t joinedHere{0};  //!< of them, those of this process
        uint32_t nHere{0};       //!< devices of this process in the group
        int64_t lastJoinPs{0};   //!< when the last one joined
    };

    /// @param device of a kernel @param task of it @return the kernel
    Kernel MakeKernel(DeviceId device, const Task& task) const;
    /// @param device a device @return multiprocessors that its kernels have
    uint32_t GetProcessors(DeviceId device) const;
    /// @param device of a kernel @param kernel that runs there
    /// @return work that it does in a picosecond; of one in waves, by what the memory allows
    double GetPace(DeviceId device, const Kernel& kernel) const;
    /// @param instance of a communication @return it, new if nobody has joined before
    Open& GetOpen(TaskInstance instance);
    /// @param instance of a communication @return whether all devices have joined it
    bool HaveAllJoined(TaskInstance instance) const;
    /// Sets from when on a communication that all have joined moves bytes. @param instance of it
    void SetMove(TaskInstance instance);
    /// Has those communications move bytes on a device whose time has come. @param device which one
    void BeginMoves(DeviceId device);
    /// Counts what the kernels of a device have done. @param device which one @param timePs until
    /// when
    void Advance(DeviceId device, int64_t timePs);
    /// Predicts ends anew. @param device whose kernels have another share @param timePs from when
    /// on
    void Retime(DeviceId device, int64_t timePs);
    /// @param device of a kernel @param kernel whose end is predicted @param timePs until when its
    /// work is counted
    void Predict(DeviceId device, Kernel& kernel, int64_t timePs);
    /// @param device of a kernel @param id of it @param version of the prediction that it ends now
    void Finish(DeviceId device, uint64_t id, uint32_t version);
    /// A device's communications take more or less. @param device which one
    /// @param multiprocessors more of them @param memoryBytesPerSecond more of it
    /// @param timePs from when on
    void Change(DeviceId device,
                int64_t multiprocessors,
                double memoryBytesPerSecond,
                int64_t timePs);

    const ExecutionGraph& m_graph;
    const std::vector<const GpuDatasheet*> m_gpus;
    const RooflineModel m_roofline;
    Clock& m_clock;
    const std::function<CommunicationUse(TaskId)> m_use;
    Ranks m_ranks; //!< empty if there is one process
    std::vector<Device> m_devices;
    std::unordered_map<TaskInstance, Open> m_open;
    uint64_t m_kernels{0}; //!< so far
    SharingStatistics m_statistics;
};

/// @ingroup proteus
/// Adds a note to RunRecord::notes that says how much kernels were slowed, if any was.
/// @param statistics of a run @param devices of it @param record of the run
void AddSharingNote(const SharingStatistics& statistics, uint32_t devices, RunRecord& record);

/// @ingroup proteus
/// @param note of a run @return whether AddSharingNote() has made it
bool IsSharingNote(const std::string& note);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GPU_SHARING_H
