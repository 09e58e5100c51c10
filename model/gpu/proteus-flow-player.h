/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_PLAYER_H
#define PROTEUS_FLOW_PLAYER_H

#include "proteus-training-job.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-flow-list.h"
#include "ns3/proteus-required-arguments.h"
#include "ns3/proteus-transport.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What of a flow starts those that depend on it.
enum FlowTrigger
{
    ON_RECEIVE,         //!< its last byte has arrived
    ON_ACKNOWLEDGEMENT, //!< its sender has the acknowledgement of its last byte
};

/**
 * @ingroup proteus
 * Plays a list of flows on a fabric, packet by packet. Every flow is one message on a queue pair
 * between two GPUs. It starts at its time, but not before all flows that it depends on have arrived
 * to the last byte or, with Trigger=Acknowledgement, are acknowledged; FlowSpec::release may say
 * which of both for each of those.
 *
 * Flows that only the network can carry go through the NICs of Cluster::GetNic().
 */
class FlowPlayer : public Object, private TransportUser
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();

    FlowPlayer();
    ~FlowPlayer() override;

    /**
     * Makes the queue pairs. Call it once. With several processes (MPI ranks), every one makes all
     * of them, and works for those of its own vertices.
     * @param fabric to play on, with its cluster set
     * @param flows to play; ranks are those of Cluster::GetGpus()
     * @throw std::invalid_argument if a flow makes no sense on this cluster, flows wait for each
     * other, or one waits for what only another rank knows
     */
    void Install(Ptr<Fabric> fabric, std::vector<FlowSpec> flows);

    /// @param report called now and then while the simulator runs; tasks stands for flows
    void SetProgressReport(std::function<void(const TrainingJob::Progress&)> report);

    /**
     * Runs the simulator until nothing is left to do, and checks that every flow has arrived and
     * nothing is left in the fabric. With several ranks, all of them know all results then.
     * @throw std::runtime_error if not: the circle of ports that wait for each other, or what is
     * left; and if Simulator::Stop() ends it before the last flow
     * @throw std::logic_error if nothing is installed
     * @throw RankFailure if something has ended the run on this rank
     */
    void Run();

    /// Ends Run() at the present time; for a progress report. What is under way stays as it is.
    void Stop();

    /// @return whether Stop() was called
    bool IsStopped() const
    {
        return m_isStopped;
    }

    /// @return flows that have arrived
    uint64_t GetNReceived() const
    {
        return m_nReceived;
    }

    /// @return the flows
    const std::vector<FlowSpec>& GetFlows() const
    {
        return m_flows;
    }

    /// @return when things happened to each flow
    const std::vector<FlowTimes>& GetTimes() const
    {
        return m_times;
    }

    /// @return the time at which the last byte of the last flow arrived, in picoseconds
    int64_t GetEndPs() const;

    /// @param flow position of a flow @return its queue pair
    /// @throw std::invalid_argument if there is no such flow
    uint32_t GetQueuePair(uint32_t flow) const
    {
        RequireIndex(flow, m_queuePairs.size(), "flow", "the player");
        return m_queuePairs[flow];
    }

    /// @return what carries the flows
    Ptr<Transport> GetTransport() const
    {
        return m_transport;
    }

    /// @return the network's work so far
    NetworkStatistics GetStatistics() const;

    /**
     * Fixes the random streams of path choice, marks and losses; before Install().
     * @param fabric whose streams are fixed, too
     * @param stream number of the first stream
     * @return streams used
     * @throw std::logic_error after Install()
     */
    int64_t AssignStreams(Ptr<Fabric> fabric, int64_t stream);

    /**
     * The signature of "FlowDone".
     * @param flow position of the flow
     * @param times of it
     */
    typedef void (*FlowTracedCallback)(uint32_t flow, const FlowTimes& times);

  protected:
    // Inherited from Object
    void DoDispose() override;

  private:
    // Inherited from TransportUser
    void ReceiveMessage(uint32_t queuePair, uint64_t tag, uint64_t bytes) override;
    void ReceiveAcknowledgement(uint32_t queuePair, uint64_t tag) override;

    /// @param flow a flow @return a queue pair for it
    uint32_t CreateQueuePair(const FlowSpec& flow, uint64_t name);
    /// Makes queue pairs. Which one a flow gets, and so its path, follows from its ends and from
    /// what else is between them, not from where it stands in the list.
    void CreateQueuePairs();
    /// @param flow to check @throw std::invalid_argument if the cluster cannot have it
    void CheckFlow(const FlowSpec& flow) const;
    /// @param flow to check @param queuePair of it @throw std::invalid_argument if it is too long
    void CheckPackets(const FlowSpec& flow, uint32_t queuePair) const;
    /// @param i a flow, which is counted at those it depends on
    void CountDependents(uint32_t i);
    /// Lists the dependents of all flows, once they are counted, and the flows that only wait for
    /// their time.
    void LinkDependents();
    /// @param flow a flow @return what of it starts those that depend on it
    FlowTrigger GetTrigger(const FlowSpec& flow) const;
    /// @param flow that others wait for no more
    void ReleaseDependents(uint32_t flow);
    /// @param flow that waits for no other any more
    void Release(uint32_t flow);
    /// @param flow to hand to the transport, now
    void Start(uint32_t flow);
    /// Starts what is due, and sees to it that the next is started in time.
    void StartDue();
    /// @param events handled by the fabric
    void OnFabricProgress(uint64_t events);
    /// @return why the run could not end well, "" if it did
    std::string DescribeRest() const;
    /// @param flow a flow @throw std::invalid_argument if it waits for what another rank knows
    void CheckRanks(const FlowSpec& flow) const;
    /// Runs the simulator together with other ranks.
    void RunRanks();
    /// Makes results of all ranks known to all.
    void Gather();

    /// @param flow a flow @return where it begins
    VertexId GetSource(const FlowSpec& flow) const
    {
        return m_fabric->GetCluster().GetGpus()[flow.source];
    }

    /// A flow that waits for its time, by its position in m_order.
    using Due = std::pair<int64_t, uint32_t>;

    SettledAttributes m_settled; //!< of fabric and transport
    Ptr<Fabric> m_fabric;        //!< what is played on
    Ptr<Transport> m_transport;  //!< what carries the flows
    bool m_perPair;              //!< attribute
    FlowTrigger m_trigger;       //!< attribute
    Time m_deadlockInterval;     //!< attribute

    std::vector<FlowSpec> m_flows;           //!< by position
    std::vector<uint32_t> m_order;           //!< positions, sorted: what is done at once is done so
    std::vector<uint32_t> m_rankOf;          //!< of each: position in m_order
    std::vector<FlowTimes> m_times;          //!< of each
    std::vector<uint32_t> m_queuePairs;      //!< of each
    std::vector<uint32_t> m_missing;         //!< of each: flows that have to arrive before
    std::vector<uint32_t> m_dependents;      //!< of all flows, one after the other
    std::vector<uint32_t> m_firstDependents; //!< of each: begin of its own; and the end
    std::vector<Due> m_due;                  //!< heap of flows that only wait for their time
    EventId m_startEvent;                    //!< next StartDue()
    int64_t m_startEventPs{-1};              //!< its time, -1 if there is none
    bool m_isSetUp{false};                   //!< Install() is done
    bool m_isStopped{false};                 //!< Stop() was called
    uint64_t m_totalBytes{0};                //!< of all flows
    uint32_t m_nReceived{0};                 //!< flows that have arrived
    uint32_t m_nAcknowledged{0};             //!< flows whose sender knows
    NetworkStatistics m_ofOthers;            //!< what other ranks have sent, when it is gathered
    std::function<void(const TrainingJob::Progress&)> m_report;
    std::unique_ptr<RankProgress> m_rankProgress; //!< of all processes, if there are several

    /// A flow has arrived and is acknowledged.
    TracedCallback<uint32_t, const FlowTimes&> m_doneTrace;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_PLAYER_H
