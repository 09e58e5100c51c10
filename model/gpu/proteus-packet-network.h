/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PACKET_NETWORK_H
#define PROTEUS_PACKET_NETWORK_H

#include "proteus-packet-wire.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/proteus-channel-span.h"
#include "ns3/proteus-network.h"
#include "ns3/proteus-program-cache.h"
#include "ns3/proteus-transport.h"
#include "ns3/traced-callback.h"

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

/**
 * @ingroup proteus
 * The network that sends every packet: executes the program of each collective on every rank over
 * queue pairs.
 *
 * Rendezvous is local. A rank that joins a communication grants its senders room for
 * CollectiveProgram::slots chunks per thread block. A grant is a control unit that crosses the
 * fabric (NCCL's clear-to-send). For every chunk that the rank takes out, it grants one more. A
 * sender sends a chunk when it has joined itself, its program has come to that step, and it holds a
 * grant. A rank is done when its steps are done and all that it sent is acknowledged.
 *
 * Kernels cost time (attribute KernelCosts, see CollectiveKernelCost). A step keeps its thread
 * block busy for a fixed time plus the time that it takes to move its bytes. A chunk can be used a
 * fixed time after its last byte has arrived. Blocks that share a processor share its rate.
 * LaunchMode says who launches kernels, and whether the host is ahead.
 *
 * A ProgramMachine executes the steps; PacketWire is its wire. This class has the attributes, and
 * reads them in SetUp(). A communication that is equal to one before may get its results without
 * being executed, see Repetition.
 *
 * Steps of network groups (NVLS, SHARP) go through groups of the transport, see CollectiveGroups.
 * They need no grants, because programs give only when there is room for what comes back. What a
 * rank has given counts as acknowledged when it has reached the switches next to the rank.
 *
 * Queue pairs live for the whole run, see CollectiveQueuePairs. Ranks of different servers send
 * through the NICs of NicTable.
 *
 * What asks for something of the run throws std::logic_error before SetUp(), and after Dispose().
 */
class PacketNetwork : public Object, public Network
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();

    PacketNetwork();
    ~PacketNetwork() override;

    /**
     * @param graph whose communication is carried; must outlive this object
     * @param fabric to carry it over; its GPUs, by rank, are the devices of the graph
     */
    void SetUp(const ExecutionGraph& graph, Ptr<Fabric> fabric);

    // Inherited from Network
    void Join(DeviceId device,
              TaskId task,
              uint32_t microBatch,
              std::function<void()> done) override;
    std::string DescribeWait(DeviceId device, TaskId task, uint32_t microBatch) const override;

    /**
     * Makes the queue pairs of all communications now, in the order of the tasks. Otherwise those
     * of a communication are made when its first rank joins. After SetUp().
     */
    void MakeQueuePairs();

    /// Tells all processes (MPI ranks) with other ranks of a communication that those of this one
    /// have joined, which they hear in less than LookaheadBounds says. @param joins which ones
    void TellJoins(const JoinsOfRank& joins)
    {
        GetWire("TellJoins").TellJoins(joins);
    }

    /// @param report called with what TellJoins() of other processes tells; after SetUp()
    void SetJoinReport(std::function<void(const JoinsOfRank&)> report)
    {
        GetWire("SetJoinReport").SetJoinReport(std::move(report));
    }

    /// Adds up what was done over all processes (MPI ranks), which have to call it when the run is
    /// over. After that, statistics and CheckAtRest() are those of the whole run.
    void Gather();

    /**
     * Counts the communications that are over and were not executed again. After that,
     * GetStatistics() and the statistics of fabric and transport are complete.
     * @param atEnd whether the simulator has nothing left to do
     */
    void Settle(bool atEnd);

    /// Executes what is held at present because not all of its ranks have joined. @return whether
    /// there was something, so that the simulator has to go on
    bool ExecuteHeld();

    /// @return what was not executed again so far
    const RepetitionStatistics& GetRepetition() const
    {
        return GetWire("GetRepetition").GetRepetition().GetStatistics();
    }

    /// @return empty, or why communications that could have been repeated were executed
    const std::string& GetRepetitionObstacle() const
    {
        return GetWire("GetRepetitionObstacle").GetRepetition().GetObstacle();
    }

    /// @param goOn called several times a second while the run waits for communication that another
    /// process executes; if it says no, the process ends. The simulator must then be stopped.
    void SetWaitCheck(std::function<bool()> goOn)
    {
        GetWire("SetWaitCheck").GetRepetition().SetWaitCheck(std::move(goOn));
    }

    /// Before the run: what thread blocks do is appended to a list, as "ChannelEnd" says it, but
    /// without a trace sink, which would switch repetition off. @param channels the list, in no
    /// order; must outlive the run
    void RecordChannels(std::vector<ChannelSpan>* channels)
    {
        GetWire("RecordChannels").RecordChannels(channels);
    }

    /// @return records of communications, for tests
    RepetitionRecords& GetRepetitionRecords()
    {
        return GetWire("GetRepetitionRecords").GetRepetition().GetRecords();
    }

    /// @return bytes that all communication of the graph will have sent in the end, as
    /// GetSentBytes() counts them: with the flags of LL and LL128
    uint64_t GetTotalBytes();

    /// @return what carries it
    Ptr<Transport> GetTransport() const
    {
        return m_transport;
    }

    /// @return payload bytes sent so far
    uint64_t GetSentBytes() const
    {
        return m_transport->GetSentBytes();
    }

    /// Makes the program of a request whose channels and chunks are chosen.
    using ProgramMaker = ProgramSettings::Maker;

    /// @param maker of the programs, instead of the built-in algorithms; before SetUp()
    void SetProgramMaker(ProgramMaker maker)
    {
        m_maker = std::move(maker);
    }

    /// @param costs of the kernels of collectives; null: those that are built in; before SetUp()
    void SetCollectiveCosts(std::shared_ptr<const CollectiveCosts> costs)
    {
        m_costs = std::move(costs);
    }

    /// @param classes PacketWire::SetTrafficClasses(); before SetUp()
    void SetTrafficClasses(std::shared_ptr<const std::vector<uint8_t>> classes)
    {
        m_trafficClasses = std::move(classes);
    }

    /// @param task a communication @return its program
    std::shared_ptr<const CollectiveProgram> GetProgram(TaskId task);

    /// @return the programs of all communications, to be kept; after SetUp()
    std::shared_ptr<ProgramCache> SharePrograms() const
    {
        return m_programs;
    }

    /// @return what each communication task that is done moved, by task
    std::vector<CommunicationStatistics> GetCommunicationStatistics() const;

    /// @return the network's work so far
    NetworkStatistics GetStatistics() const;

    /**
     * Checks that nothing is under way: see Fabric::CheckAtRest(), and for every communication
     * that as many bytes were received as sent.
     * @return an empty text, or the first thing that is left
     */
    std::string CheckAtRest() const;

    /**
     * Fixes the random stream that path choice draws from; before SetUp().
     * @param stream number of the stream
     * @return streams used
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * The signature of "ChannelEnd".
     * @param span of the thread block that has done its last step
     */
    typedef void (*ChannelEndTracedCallback)(const ChannelSpan& span);

    /// @return what the attributes say
    CollectiveSettings MakeSettings() const;

  protected:
    void DoDispose() override;

  private:
    /// @param function that needs it @return what is under way
    /// @throw std::logic_error before SetUp(), and after Dispose()
    PacketWire& GetWire(const char* function) const;

    /// @return payload from which on a communication gets a process of its own
    uint64_t GetLongBytes() const;

    Time m_launchOverhead;                                //!< attribute
    Time m_launchGap;                                     //!< attribute
    uint64_t m_chunkBytes;                                //!< attribute
    uint32_t m_channels;                                  //!< attribute
    uint32_t m_networkChannels;                           //!< attribute
    uint32_t m_ncclVersion;                               //!< attribute
    std::string m_cpuVendor;                              //!< attribute
    std::string m_netPlugin;                              //!< attribute
    std::string m_ncclVariables;                          //!< attribute
    uint32_t m_communicatorRanks;                         //!< attribute
    uint32_t m_communicatorServers;                       //!< attribute
    uint32_t m_communicatorChannels;                      //!< attribute
    Time m_pluginLatency;                                 //!< attribute
    std::string m_algorithm;                              //!< attribute
    std::string m_protocol;                               //!< attribute
    bool m_kernelCopies;                                  //!< attribute
    bool m_kernelCosts;                                   //!< attribute
    std::string m_launchMode;                             //!< attribute
    std::string m_repetition;                             //!< attribute
    uint32_t m_threads{0};                                //!< attribute
    uint64_t m_longCommunication{0};                      //!< attribute
    uint64_t m_repetitionMemory;                          //!< attribute
    Time m_joinGrid;                                      //!< attribute
    Time m_joinWindow;                                    //!< attribute
    double m_joinWindowShare;                             //!< attribute
    ProgramMaker m_maker;                                 //!< see SetProgramMaker()
    std::shared_ptr<const CollectiveCosts> m_costs;       //!< see SetCollectiveCosts()
    TracedCallback<const ChannelSpan&> m_channelEndTrace; //!< a thread block is done

    std::shared_ptr<const std::vector<uint8_t>> m_trafficClasses; //!< see SetTrafficClasses()
    const ExecutionGraph* m_graph{nullptr};   //!< whose communication is carried
    Ptr<Fabric> m_fabric;                     //!< what carries it
    Ptr<Transport> m_transport;               //!< over which
    std::shared_ptr<const Paths> m_paths;     //!< that programs are made for
    std::shared_ptr<ProgramCache> m_programs; //!< of the collectives
    std::unique_ptr<PacketWire> m_wire;       //!< what is under way; null before SetUp()
    NetworkStatistics m_ofOthers;             //!< of other processes, after Gather()
    uint64_t m_commonPairs{0};                //!< queue pairs that all processes have
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PACKET_NETWORK_H
