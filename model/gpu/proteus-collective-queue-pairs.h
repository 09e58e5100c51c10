/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_QUEUE_PAIRS_H
#define PROTEUS_COLLECTIVE_QUEUE_PAIRS_H

#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-connection.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-nic-table.h"
#include "ns3/proteus-transport.h"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The queue pairs of collectives. Each belongs to a group, a channel, a pair of ranks, a rate and a
 * traffic class, and lives for the whole run.
 */
class CollectiveQueuePairs
{
  public:
    /**
     * @param graph whose groups communicate; must outlive this object
     * @param transport that has the queue pairs
     * @param kernelCopies whether kernels move the bytes inside a server, not copy engines
     * @param rules of transports
     */
    CollectiveQueuePairs(const ExecutionGraph& graph,
                         Ptr<Transport> transport,
                         bool kernelCopies,
                         const TransportRules& rules);

    /**
     * @param program of a collective; must outlive this object
     * @param group the ranks' group
     * @param channel of the program
     * @param from rank in the group
     * @param to rank in the group
     * @param bytesPerSecond on the wire that a thread block moves; 0: no limit
     * @param trafficClass of what they carry
     * @return the queue pair, made on first use
     */
    uint32_t Get(const CollectiveProgram& program,
                 GroupId group,
                 uint32_t channel,
                 uint32_t from,
                 uint32_t to,
                 double bytesPerSecond,
                 uint32_t trafficClass);

    /// @param queuePair one of these @return what it crosses
    HopKind GetHopKind(uint32_t queuePair) const
    {
        return m_sendHops[queuePair].kind;
    }

    /// Divides the links to host memory among the ranks of a program. @param program which one;
    /// must outlive this object @param queuePairs all that its ranks send over
    void ShareHostLinks(const CollectiveProgram& program, const std::vector<uint32_t>& queuePairs);

    /// @param program of the block @param queuePair one of these
    /// @return what it crosses, for the block that sends
    BlockHop GetSendHop(const CollectiveProgram& program, uint32_t queuePair) const;

    /// @param program of the block @param queuePair one of these
    /// @return what it crosses, for the block that receives
    BlockHop GetReceiveHop(const CollectiveProgram& program, uint32_t queuePair) const;

  private:
    /// Limits by channel, sender and receiver, see NetworkShares::GetLimit().
    using NetworkLimits = std::map<std::tuple<uint32_t, uint32_t, uint32_t>, double>;

    /// @param group the ranks' group @param channel of its program @param from rank that sends
    /// @param to rank that receives @return how its bytes get there
    Connection Plan(GroupId group, uint32_t channel, uint32_t from, uint32_t to);

    /// @param program of a collective @param group of its ranks @return what the network limits in
    /// it
    const NetworkLimits& FindNetworkLimits(const CollectiveProgram& program, GroupId group);

    const ExecutionGraph& m_graph;  //!< whose groups communicate
    Ptr<Transport> m_transport;     //!< that has the queue pairs
    std::optional<NicTable> m_nics; //!< of the cluster, which the transport knows once it is set up
    bool m_kernelCopies;            //!< see CollectiveQueuePairs()
    TransportRules m_rules;         //!< see CollectiveQueuePairs()
    std::map<GroupId, std::vector<bool>> m_gdrReads; //!< ListGdrReads()
    /// By group, channel, sender's and receiver's rank, rate, and class.
    std::map<std::tuple<GroupId, uint32_t, uint32_t, uint32_t, double, uint32_t>, uint32_t> m_pairs;
    std::vector<BlockHop> m_sendHops;                 //!< by queue pair
    std::vector<BlockHop> m_receiveHops;              //!< by queue pair
    std::map<uint32_t, Connection> m_hostConnections; //!< by queue pair: through host memory
    /// By program and queue pair: what its ranks have of links to host memory that they share.
    std::map<std::pair<const CollectiveProgram*, uint32_t>, std::pair<BlockHop, BlockHop>>
        m_hostHops;
    std::map<std::pair<const CollectiveProgram*, GroupId>, NetworkLimits>
        m_networkLimits; //!< as found
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_QUEUE_PAIRS_H
