/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRAINING_JOB_H
#define PROTEUS_TRAINING_JOB_H

#include "proteus-gpu-application.h"
#include "proteus-packet-network.h"
#include "proteus-rank-progress.h"
#include "proteus-settled-attributes.h"

#include "ns3/application-container.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-flow-profile.h"
#include "ns3/proteus-gpu-sharing.h"
#include "ns3/proteus-timeline.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

class Paths;

/**
 * @ingroup proteus
 * A training job at packet level: an execution graph, the fabric on which it runs, and an
 * application per GPU. ProteusHelper makes it.
 */
class TrainingJob : public Object
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();

    TrainingJob();
    ~TrainingJob() override;

    /**
     * Installs an application on every GPU that the graph has a device for.
     * @param graph to execute; kept
     * @param fabric to run on
     * @param network to communicate over; set up here
     * @param options how devices issue work
     * @throw std::invalid_argument if the graph has more devices than the cluster has GPUs, or a
     * GPU has no data sheet, or something is not there
     * @throw std::logic_error if it was called before, or the fabric or the network serves another
     * job
     */
    void Install(std::shared_ptr<const ExecutionGraph> graph,
                 Ptr<Fabric> fabric,
                 Ptr<PacketNetwork> network,
                 const RuntimeOptions& options);

    /// How far a run is.
    using Progress = RunProgress;

    /// @param report called now and then while the simulator runs, thousands of times at most;
    /// never of a job that several processes (MPI ranks) run, none of which knows of the whole
    void SetProgressReport(std::function<void(const Progress&)> report);

    /// @param report called once, when the last task of this process ends; what else the fabric
    /// carries may go on
    void SetDoneReport(std::function<void()> report)
    {
        m_doneReport = std::move(report);
    }

    /// @return how far the run is
    Progress GetProgress() const;

    /**
     * Runs the simulator until nothing is left to do, and checks that everything was done.
     * @throw std::runtime_error if the job cannot finish: who waits for whom, or what is left in
     * the fabric; and if Simulator::Stop() ends it before its last task
     * @throw std::logic_error if nothing is installed
     */
    void Run();

    /// Ends Run() at the present time; for a progress report. What is under way stays as it is.
    void Stop();

    /// @return whether Stop() was called
    bool IsStopped() const
    {
        return m_isStopped;
    }

    /// @return what happened on the devices; complete after Run(), up to Stop() if that was called
    Timeline GetTimeline() const;

    /// @return one application per device; of a job that several processes (MPI ranks) run, for the
    /// devices of this one
    const ApplicationContainer& GetApplications() const
    {
        return m_applications;
    }

    /// @return the graph @throw std::logic_error if nothing is installed
    const ExecutionGraph& GetGraph() const
    {
        if (!m_graph)
        {
            RequireInstalled("GetGraph");
        }
        return *m_graph;
    }

    /// @return the fabric
    Ptr<Fabric> GetFabric() const
    {
        return m_fabric;
    }

    /// @return the network
    Ptr<PacketNetwork> GetNetwork() const
    {
        return m_network;
    }

    /// @return what kernels and communication at the same time cost each other
    SharingStatistics GetSharing() const;

  protected:
    void DoDispose() override;

  private:
    /// @param function that is called @throw std::logic_error if there is no job to do it with
    void RequireInstalled(const std::string& function) const;
    /// @param graph to execute @return whether it has kernels that communication could slow
    static bool HasKernels(const ExecutionGraph& graph);
    /// Makes m_sharing. @param options how devices issue work
    void InstallSharing(const RuntimeOptions& options);

    /// The simulator's clock.
    class SimulatorClock;

    /// @param events handled by the fabric
    void OnFabricProgress(uint64_t events);
    /// @return the runtimes, by device; null for those of other processes
    std::vector<const DeviceRuntime*> GetRuntimes() const;
    /// Gives a device its application. @param device which one @param options how it issues work
    /// @param tasks of all devices
    void InstallDevice(DeviceId device, const RuntimeOptions& options, const TasksByDevice& tasks);
    /// Checks that everything was done. @return an empty text, or who waits for whom, or what is
    /// left in the fabric
    std::string DescribeRest() const;

    // proteus-training-job-ranks.cc
    /// Has m_sharing hear of joins in other processes.
    void ShareAcrossRanks();
    /// Run() of one of several processes.
    void RunRanks();
    /// Puts together what happened in all processes, which have to call it when the run is over.
    void Gather();
    /// @param span that has ended
    void OnTaskEnd(const Span& span);

    std::shared_ptr<const ExecutionGraph> m_graph;
    Ptr<Fabric> m_fabric;
    Ptr<PacketNetwork> m_network;
    std::shared_ptr<SimulatorClock> m_clock;
    std::shared_ptr<StartControl> m_control;  //!< may be null
    std::shared_ptr<const Paths> m_paths;     //!< for the profiles
    std::shared_ptr<FlowProfiles> m_profiles; //!< say what communications take of GPUs; may be null
    std::shared_ptr<GpuSharing> m_sharing;    //!< between kernels and communication; may be null
    SettledAttributes m_settled;              //!< of fabric, network and transport
    ApplicationContainer m_applications;
    std::vector<Ptr<GpuApplication>> m_devices;
    std::vector<Span> m_spans;
    std::optional<Timeline> m_gathered;  //!< of all processes, if there are several
    SharingStatistics m_sharingOfOthers; //!< of other processes
    std::function<void(const Progress&)> m_report;
    std::function<void()> m_doneReport;           //!< may be empty
    std::unique_ptr<RankProgress> m_rankProgress; //!< of all processes, if there are several
    uint64_t m_totalTasks{0};
    uint64_t m_totalBytes{0};
    Time m_deadlockInterval; //!< attribute
    bool m_isStopped{false};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRAINING_JOB_H
