/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PACKET_WIRE_H
#define PROTEUS_PACKET_WIRE_H

#include "proteus-collective-groups.h"
#include "proteus-collective-kernels.h"
#include "proteus-collective-queue-pairs.h"
#include "proteus-communication-ledger.h"
#include "proteus-program-facts.h"

#include "ns3/proteus-channel-span.h"
#include "ns3/proteus-flow-hash.h"
#include "ns3/proteus-network.h"
#include "ns3/proteus-pool.h"
#include "ns3/proteus-program-machine.h"
#include "ns3/proteus-transport.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A thread block that sends packets.
struct PacketBlock : MachineBlock
{
    uint32_t sendQueuePair{NO_ID};    //!< to its send peer
    uint32_t receiveQueuePair{NO_ID}; //!< from its receive peer
    uint32_t sendPeerBlock{NO_ID};    //!< the peer's block, from its first grant
    uint32_t receivePeerBlock{NO_ID}; //!< the peer's block, from its first chunk
    int64_t startPs{0};               //!< when the rank's own work began
    uint32_t group{NO_ID};            //!< its network group, open
    uint32_t member{0};               //!< position of its rank in that
};

/// @ingroup proteus
/// A rank of a communication whose blocks send packets.
struct PacketRank : MachineRank
{
    uint32_t microBatch{0};                               //!< of the communication
    DeviceId device{0};                                   //!< that has joined
    uint32_t unacknowledged{0};                           //!< messages
    CommunicationStatistics traffic;                      //!< so far, and which task
    std::vector<std::pair<uint32_t, uint32_t>> groups;    //!< open ones, and its position there
    std::shared_ptr<const CollectiveProgram> keptProgram; //!< keeps the program alive
    const ProgramFacts* facts{nullptr};                   //!< of the program
    std::function<void()> done;                           //!< called when the rank is done
};

/**
 * @ingroup proteus
 * Packets as the wire of a ProgramMachine: queue pairs carry chunks, control units carry grants,
 * groups of the transport carry what switches do, and the simulator's clock says how long steps
 * take. See PacketNetwork for what that means.
 */
class PacketWire : private TransportUser
{
  public:
    /**
     * @param graph whose communication is carried; must outlive this object
     * @param fabric that carries it
     * @param transport over which; gets the fabric
     * @param settings of all collectives
     * @param channelEnd told when a thread block has done its last step; must outlive this object
     */
    PacketWire(const ExecutionGraph& graph,
               Ptr<Fabric> fabric,
               Ptr<Transport> transport,
               const CollectiveSettings& settings,
               const TracedCallback<const ChannelSpan&>& channelEnd);

    /**
     * A device joins a communication.
     * @param device which one
     * @param task which communication
     * @param microBatch of the task
     * @param program of the task
     * @param done called when its part is done
     */
    void Join(DeviceId device,
              TaskId task,
              uint32_t microBatch,
              std::shared_ptr<const CollectiveProgram> program,
              std::function<void()> done);

    /// @param device that has joined @param task which communication @param microBatch of the task
    /// @return what it waits for, empty if it has not joined
    std::string DescribeWait(DeviceId device, TaskId task, uint32_t microBatch) const;

    /// @param program of a communication @return what is known of it
    const ProgramFacts& GetFacts(const CollectiveProgram& program)
    {
        return m_facts.Get(program);
    }

    /// @return what each communication moved of which some rank is done, by task
    std::vector<CommunicationStatistics> GetCommunicationStatistics() const
    {
        return m_ledger.GetAll();
    }

    /// @return messages delivered so far
    uint64_t GetMessages() const
    {
        return m_messages;
    }

    /// @return an empty text, or what is left of communications
    std::string CheckAtRest() const;

    /// Forgets what is under way.
    void Dispose();

  private:
    using Machine = ProgramMachine<PacketWire, PacketBlock, PacketRank>;
    friend Machine;

    /// Names a block of a rank of a communication: task, micro-batch, device, block.
    using BlockKey = std::tuple<TaskId, uint32_t, DeviceId, uint32_t>;

    /// Hash of a BlockKey.
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
    struct ControlMessage
    {
        TaskId task{0};
        uint32_t microBatch{0};
        uint32_t block{NO_ID};         //!< of the sender, in its RankProgram
        uint32_t receiverBlock{NO_ID}; //!< the receiver's block, which chunks name
        uint32_t senderBlock{NO_ID};   //!< the sender's block, NO_ID where it is not known yet
        uint32_t chunks{0};            //!< granted
    };

    // The wire, see ProgramMachine.
    void Send(uint32_t id, const Step& step);
    void Grant(uint32_t id, uint32_t chunks);
    bool IsThere(const PacketBlock& block, const Step& step) const;
    void Begin(uint32_t id, const Step& step);
    bool Occupy(uint32_t id, const Step& step);

    void End(uint32_t /* block */, const Step& /* step */)
    {
    }

    bool EndBlock(uint32_t id);

    // Inherited from TransportUser
    void ReceiveMessage(uint32_t queuePair, uint64_t tag, uint64_t bytes) override;
    void ReceiveAcknowledgement(uint32_t queuePair, uint64_t tag) override;
    void ReceiveControl(uint32_t queuePair, uint32_t value) override;
    void ReceiveGroupMessage(uint32_t group,
                             uint32_t member,
                             uint64_t tag,
                             uint64_t bytes) override;
    void ReceiveGroupAcknowledgement(uint32_t group, uint32_t member, uint64_t tag) override;

    // proteus-packet-wire-group.cc
    /// Opens the network groups of a rank that begins. @param rankRun of it
    void OpenGroups(uint32_t rankRun);
    /// @param block of a network group @param step that is done now
    void DoGroupStep(const PacketBlock& block, const Step& step);
    /// What ReceiveGroupMessage() gets can be used. @copydetails ReceiveGroupMessage
    void TakeGroupMessage(uint32_t group, uint32_t member, uint64_t tag, uint64_t bytes);
    /// @param block of a network group @param step of it, which is not ready
    /// @param name gives the name of a rank @return what it waits for
    std::string DescribeGroupWait(const PacketBlock& block,
                                  const Step& step,
                                  const std::function<std::string(uint32_t)>& name) const;

    /// The rank's own work begins: its kernel is launched. @param id of it
    void StartRank(uint32_t id);
    /// A block of a rank that begins gets its queue pairs and costs. @param id of it
    void SetUpBlock(uint32_t id);
    /// Calls back on the simulator's clock.
    /// @param device on whose behalf @param timePs when, in the fabric's time
    /// @param callback what to call
    void CallAt(DeviceId device, int64_t timePs, std::function<void()> callback);
    /// @param key of a block @return that block, made if there is none
    uint32_t GetBlock(const BlockKey& key);
    /// @param rank that sends @param step whose bytes it sends @return what is on the wire, which
    /// counts as sent and unacknowledged from now on
    uint64_t CountSent(PacketRank& rank, const Step& step) const;
    /// @param id of a rank that may be done @return whether it was; its place is free then
    bool CheckDone(uint32_t id);

    const ExecutionGraph& m_graph;                          //!< whose communication is carried
    Ptr<Fabric> m_fabric;                                   //!< what carries it
    Ptr<Transport> m_transport;                             //!< over which
    CollectiveKernels m_kernels;                            //!< when they begin, what steps cost
    const TracedCallback<const ChannelSpan&>& m_channelEnd; //!< a thread block is done
    Machine m_machine;                                      //!< what is under way
    CollectiveQueuePairs m_pairs;                           //!< of all connections
    CollectiveGroups m_groups;                              //!< inside switches
    ProgramFactsTable m_facts;                              //!< by program
    std::unordered_map<BlockKey, uint32_t, KeyHash> m_blockIndex; //!< blocks under way
    std::unordered_map<BlockKey, uint32_t, KeyHash> m_rankIndex;  //!< ranks under way, block 0
    Pool<ControlMessage> m_control;                               //!< in flight
    CommunicationLedger m_ledger;                                 //!< of ranks that are done
    uint64_t m_messages{0};                                       //!< delivered
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PACKET_WIRE_H
