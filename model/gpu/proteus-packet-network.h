/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PACKET_NETWORK_H
#define PROTEUS_PACKET_NETWORK_H

#include "proteus-collective-groups.h"
#include "proteus-program-facts.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-channel-span.h"
#include "ns3/proteus-network.h"
#include "ns3/proteus-program-cache.h"
#include "ns3/proteus-transport.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What one communication, over all its micro-batches, moved between ranks.
struct CommunicationStatistics
{
    TaskId task{0};            //!< which one
    uint64_t sentBytes{0};     //!< payload that ranks handed to queue pairs and to switches
    uint64_t expectedBytes{0}; //!< what ranks take out of it in the end: of a sum, one result
                               //!< for each member that gets it; of a multicast, all copies
    uint64_t receivedBytes{0}; //!< payload that ranks took out
};

/**
 * @ingroup proteus
 * The network that sends every packet: executes the program of each collective on every rank over
 * queue pairs.
 *
 * Rendezvous is local. A rank that joins a communication grants its senders room for CHUNK_SLOTS
 * chunks per thread block, by a control unit that crosses the fabric (NCCL's clear-to-send), and
 * grants again for every chunk that it takes out. A sender sends a chunk when it has joined
 * itself, its program has come to that step, and it holds a grant. A rank's part is done when its
 * steps are done and everything that it sent is acknowledged.
 *
 * Kernels cost time (KernelCosts, see CollectiveKernelCost): a thread block is busy with a step for
 * a while and as long as it takes to move its bytes, and a chunk can be used a while after its
 * last byte has arrived. Blocks that share a processor share its rate. LaunchMode says who launches
 * kernels, and whether the host is ahead.
 *
 * Steps of network groups (NVLS, SHARP) go through groups of the transport, see CollectiveGroups.
 * They need no grants, because programs give only when there is room for what comes back; what a
 * rank has given is acknowledged when the switches next to it have it.
 *
 * Queue pairs belong to a group, a channel and a pair of ranks, and live for the whole run. Ranks
 * of different servers send through the NICs of Cluster::GetNic().
 */
class PacketNetwork : public Object, public Network, private TransportUser
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

    /// @return bytes that all communication of the graph will have sent in the end, as
    /// GetSentBytes() counts them: with the flags of LL and LL128
    uint64_t GetTotalBytes();

    /// @return what carries it; null before SetUp()
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

    /// @param task a communication @return its program
    std::shared_ptr<const CollectiveProgram> GetProgram(TaskId task);

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

  protected:
    void DoDispose() override;

  private:
    /// One thread block of one rank of one communication, under way.
    struct BlockRun
    {
        uint32_t rankRun{NO_ID};           //!< whose it is; NO_ID until the rank joins
        uint32_t sendQueuePair{NO_ID};     //!< to its send peer
        uint32_t receiveQueuePair{NO_ID};  //!< from its receive peer
        uint32_t sendPeerRun{NO_ID};       //!< the peer's block run, from its first grant
        uint32_t receivePeerRun{NO_ID};    //!< the peer's block run, from its first chunk
        uint32_t next{0};                  //!< step
        uint32_t number{0};                //!< position in its RankProgram
        bool busy{false};                  //!< with its next step
        uint32_t grants{0};                //!< chunks that the send peer has room for
        uint32_t arrived{0};               //!< chunks that have not been taken out
        uint32_t ungranted{0};             //!< chunks to be received that are not granted yet
        int64_t startPs{0};                //!< when the rank's own work began
        uint32_t group{NO_ID};             //!< its network group, open
        uint32_t member{0};                //!< position of its rank in that
        const ThreadBlock* block{nullptr}; //!< its program
        BlockCost cost;                    //!< of its steps
    };

    /// One rank of one communication, under way.
    struct RankRun
    {
        TaskId task{0};
        uint32_t microBatch{0};
        DeviceId device{0};
        uint32_t blocksLeft{0};     //!< blocks with steps to do
        uint32_t unacknowledged{0}; //!< messages
        uint64_t sentBytes{0};
        uint64_t expectedBytes{0};
        uint64_t receivedBytes{0};
        std::vector<std::pair<uint32_t, uint32_t>> groups; //!< open ones, and its position there
        std::shared_ptr<const CollectiveProgram> program;
        const ProgramFacts* facts{nullptr}; //!< of the program, in m_facts
        uint32_t rank{0};                   //!< its rank in the group
        std::vector<uint32_t> blocks;       //!< its block runs
        std::function<void()> done;
    };

    /// Names a block of a rank of a communication: task, micro-batch, device, block.
    using BlockKey = std::tuple<TaskId, uint32_t, DeviceId, uint32_t>;

    /// Hash of a BlockKey or RankKey.
    struct KeyHash
    {
        /// @param key to hash @return its hash
        std::size_t operator()(const BlockKey& key) const
        {
            return MixHash(
                MixHash(uint64_t{std::get<0>(key)} << 32 | std::get<1>(key), std::get<2>(key)),
                std::get<3>(key));
        }
    };

    /// What a control unit says. The fabric carries its index.
    struct Grant
    {
        TaskId task;
        uint32_t microBatch;
        uint32_t block;       //!< of the sender, in its RankProgram
        uint32_t receiverRun; //!< block run of the receiver, which chunks name
        uint32_t senderRun;   //!< block run of the sender, NO_ID where it is not known yet
        uint32_t chunks;      //!< granted
    };

    // Inherited from TransportUser
    void ReceiveMessage(uint32_t queuePair, uint64_t tag, uint64_t bytes) override;
    void ReceiveAcknowledgement(uint32_t queuePair, uint64_t tag) override;
    void ReceiveControl(uint32_t queuePair, uint32_t value) override;
    void ReceiveGroupMessage(uint32_t group,
                             uint32_t member,
                             uint64_t tag,
                             uint64_t bytes) override;
    void ReceiveGroupAcknowledgement(uint32_t group, uint32_t member, uint64_t tag) override;

    // proteus-packet-network-group.cc
    /// Opens the network groups of a rank that begins. @param rankRun of it @param rank of it
    void OpenGroups(uint32_t rankRun, uint32_t rank);
    /// @param run of a block of a network group @param step of it @return whether it can be done
    bool IsGroupStepReady(const BlockRun& run, const Step& step) const;
    /// @param run of a block of a network group @param step that is done now
    void DoGroupStep(const BlockRun& run, const Step& step);
    /// @param run of a block of a network group @param step of it, which is not ready
    /// @param name gives the name of a rank @return what it waits for
    std::string DescribeGroupWait(const BlockRun& run,
                                  const Step& step,
                                  const std::function<std::string(uint32_t)>& name) const;

    /// The rank's own work begins, LaunchOverhead after Join().
    void StartRank(uint32_t rankRun);
    /// @param device that joins @param task which communication @return when the host has launched
    /// the kernel, picoseconds
    int64_t Launch(DeviceId device, TaskId task);
    /// @param run a block with its queue pairs that gets its costs
    void SetCosts(BlockRun& run);
    /// @param device whose kernel sends @param program of it @param from sending rank
    /// @param to receiving rank @param channel of the connection
    /// @return what the thread block puts on the wire, bytes per second; 0: no limit
    double GetWireRate(DeviceId device,
                       const CollectiveProgram& program,
                       uint32_t from,
                       uint32_t to,
                       uint16_t channel) const;
    /// @param queuePair of a block @return what it crosses
    HopKind GetHop(uint32_t queuePair) const;
    /// @param device a device @return what its kernels cost
    const CollectiveKernelCost& GetKernelCost(DeviceId device) const;
    /// Calls back on the simulator's clock.
    /// @param device on whose behalf @param delayPs after the fabric's present time
    /// @param callback what to call
    void CallLater(DeviceId device, int64_t delayPs, std::function<void()> callback);
    /// @param id of a block run whose step is done
    void FinishStep(uint32_t id);
    /// What ReceiveGroupMessage() gets can be used. @copydetails ReceiveGroupMessage
    void TakeGroupMessage(uint32_t group, uint32_t member, uint64_t tag, uint64_t bytes);
    /// @param id of a block run @param step whose chunk it sends
    void SendStep(uint32_t id, const Step& step);
    /// @param id of a block run @param step that it begins
    void BeginStep(uint32_t id, const Step& step);
    /// @param id of a block run @param step that it ends: grants room again
    void EndStep(uint32_t id, const Step& step);
    /// @param id of a block run that has come further @return whether its rank is still there
    bool WakeOthers(uint32_t id);
    /// @param key of a block @return its run, made if there is none
    uint32_t GetBlockRun(const BlockKey& key);
    /// @param id of a block run to go on with
    void Advance(uint32_t id);
    /// @param id of a block run @param chunks to grant its sender
    void GrantChunks(uint32_t id, uint32_t chunks);
    /// @param id of a block run that has done its last step
    void TraceChannelEnd(uint32_t id) const;
    /// @param rankRun whose step it is @param step to do @return whether what it waits for is done
    bool HasWaited(uint32_t rankRun, const Step& step) const;
    /// @param id of a rank run that may be done @return whether it was; its place is free then
    bool CheckDone(uint32_t id);
    /// @param group the ranks' group @param channel of the program
    /// @param from rank in the group @param to rank in the group
    /// @param bytesPerSecond on the wire that a thread block moves; 0: no limit
    /// @return the queue pair
    uint32_t GetQueuePair(GroupId group,
                          uint32_t channel,
                          uint32_t from,
                          uint32_t to,
                          double bytesPerSecond);
    /// @param program of a communication @return what is known of it
    const ProgramFacts& GetFacts(const std::shared_ptr<const CollectiveProgram>& program);
    /// @param group a group @param device a member @return its rank
    uint32_t GetRank(GroupId group, DeviceId device) const;

    const ExecutionGraph* m_graph{nullptr};   //!< whose communication is carried
    Ptr<Fabric> m_fabric;                     //!< what carries it
    Ptr<Transport> m_transport;               //!< over which
    Time m_launchOverhead;                    //!< attribute
    Time m_launchGap;                         //!< attribute
    uint64_t m_chunkBytes;                    //!< attribute
    uint32_t m_channels;                      //!< attribute
    uint32_t m_networkChannels;               //!< attribute
    uint32_t m_ncclVersion;                   //!< attribute
    uint32_t m_communicatorRanks;             //!< attribute
    Time m_pluginLatency;                     //!< attribute
    ProgramMaker m_maker;                     //!< see SetProgramMaker()
    std::string m_algorithm;                  //!< attribute
    std::string m_protocol;                   //!< attribute
    std::unique_ptr<ProgramCache> m_programs; //!< of the collectives
    bool m_kernelCopies;                      //!< attribute
    bool m_kernelCosts;                       //!< attribute
    std::string m_launchMode;                 //!< attribute
    std::vector<int64_t> m_hostPs; //!< by device: when its last launch was through, of LaunchMode

    /// By program.
    std::map<const CollectiveProgram*, std::unique_ptr<const ProgramFacts>> m_facts;
    /// By group, channel, sender's and receiver's rank, and rate.
    std::map<std::tuple<GroupId, uint32_t, uint32_t, uint32_t, double>, uint32_t> m_queuePairs;
    std::vector<HopKind> m_hops;                                  //!< by queue pair
    std::vector<RankRun> m_rankRuns;                              //!< all places
    std::vector<uint32_t> m_freeRankRuns;                         //!< places to use again
    std::vector<BlockRun> m_blockRuns;                            //!< all places
    std::vector<uint32_t> m_freeBlockRuns;                        //!< places to use again
    std::unordered_map<BlockKey, uint32_t, KeyHash> m_blockIndex; //!< block runs under way
    std::unordered_map<BlockKey, uint32_t, KeyHash> m_rankIndex;  //!< rank runs, block 0
    std::vector<Grant> m_grants;                                  //!< in flight, all places
    std::vector<uint32_t> m_freeGrants;                           //!< places to use again
    CollectiveGroups m_groups;                                    //!< inside switches
    std::map<TaskId, CommunicationStatistics> m_statistics;       //!< by task
    uint64_t m_messages{0};                                       //!< delivered
    TracedCallback<const ChannelSpan&> m_channelEndTrace;         //!< a thread block is done
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PACKET_NETWORK_H
