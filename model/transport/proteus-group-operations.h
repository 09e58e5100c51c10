/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GROUP_OPERATIONS_H
#define PROTEUS_GROUP_OPERATIONS_H

#include "proteus-group.h"
#include "proteus-packet-sender.h"
#include "proteus-queue-pair-maker.h"
#include "proteus-send-ports.h"
#include "proteus-transport-core.h"

#include "ns3/proteus-required-arguments.h"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The operations of groups, which switches do. The units of a member travel on lanes: queue pairs
 * from the member to the switch next to it, one for every plane and kind of operation.
 */
class GroupOperations
{
  public:
    /// @param core of the transport @param maker of lanes @param ports lanes take turns on
    /// @param sender of messages
    GroupOperations(TransportCore& core,
                    QueuePairMaker& maker,
                    SendPorts& ports,
                    PacketSender& sender);

    /// @param options what to make @return id of the group
    /// @throw std::invalid_argument as Transport::CreateGroup()
    uint32_t Create(const GroupOptions& options);

    /// Transport::MakeLanes(). @param groupId which one @param reductions of its members
    /// @param multicasts by member @return all lanes
    std::vector<uint32_t> MakeLanes(uint32_t groupId,
                                    bool reductions,
                                    const std::vector<bool>& multicasts);

    /// Transport::RestartGroup(). @param groupId which one
    void Restart(uint32_t groupId)
    {
        RequireGroup(groupId);
        m_groups[groupId].Restart();
    }

    /// Transport::SendGroup(). @param groupId which one @param operation what the switches do
    /// @param member whose part @param bytes size of the operation @param tag of the member
    /// @param root of a reduction
    void Send(uint32_t groupId,
              GroupOperation operation,
              uint32_t member,
              uint64_t bytes,
              uint64_t tag,
              uint32_t root);

    /// @param record of a group @param at where it has arrived @return as FabricEndpoint::Deliver()
    VertexId Deliver(const PacketRecord& record, VertexId at);

    /// @param record of a group @param at a switch that multiplies it @param copies what it sends
    void Replicate(const PacketRecord& record, VertexId at, std::vector<PacketRecord>& copies);

    /// Links have failed or work again. @throw std::runtime_error if operations under way need them
    void CheckLinks();

    /// @return an empty text, or what is under way
    std::string CheckAtRest() const;

  private:
    /// @param groupId any number @throw std::invalid_argument if it is of no group
    void RequireGroup(uint32_t groupId) const
    {
        RequireIndex(groupId, m_groups.size(), "group", "the transport");
    }

    /// @param groupId whose lanes to make @param member whose @param multicast its own multicasts,
    /// or the reductions
    void AddLanes(uint32_t groupId, uint32_t member, bool multicast);
    /// @param groupId that is used @throw std::runtime_error if a link of it has failed
    void RequireLinks(uint32_t groupId);
    /// @param lane a lane @return the operations that it carries
    GroupSequence& GetSequence(const GroupLane& lane);
    /// @param record of a group @return the operation that it belongs to
    GroupOperationState& FindOperation(const PacketRecord& record);
    /// @param operation that a member begins @param bytes its size @param tag of the member
    /// @param root of a reduction @param group that does it @param sequence that gets it
    static void Begin(GroupOperation operation,
                      uint64_t bytes,
                      uint64_t tag,
                      uint32_t root,
                      const Group& group,
                      GroupSequence& sequence);
    /// @param node a switch @param unit of a reduction that has come to it @return whether it is
    /// the last contribution
    static bool Contribute(GroupNode& node, uint32_t unit);
    /// @param record of a group, the last of its lane's message, at the first switch of its way
    void Acknowledge(const PacketRecord& record);
    /// @param record of a group @param member that it has reached
    void Receive(const PacketRecord& record, uint32_t member);

    TransportCore& m_core;      //!< of the transport
    QueuePairMaker& m_maker;    //!< of lanes
    SendPorts& m_ports;         //!< lanes take turns on
    PacketSender& m_sender;     //!< of messages
    std::deque<Group> m_groups; //!< by id
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GROUP_OPERATIONS_H
