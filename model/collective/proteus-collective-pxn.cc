/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"
#include "proteus-message-blocks.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Makes one program.
class PxnMaker
{
  public:
    PxnMaker(const Cluster& cluster, const CollectiveRequest& request)
        : m_cluster(cluster),
          m_request(request),
          m_layout(request),
          m_spread(cluster, request),
          m_n(static_cast<uint32_t>(request.vertices.size())),
          m_localChannels(std::max(request.channels, 1u)),
          m_networkChannels(request.networkChannels > 0 ? request.networkChannels
                                                        : m_localChannels),
          m_passing(m_n, request.bytes)
    {
        m_program.algorithm = "pxn";
        m_program.channels = std::max(m_localChannels, m_networkChannels);
        if (request.collective == Collective::ALL_TO_ALL)
        {
            m_program.inPlace = false;
            m_program.outputOffset = request.bytes;
            m_passing.assign(m_n, request.bytes + m_layout.GetMostReceived());
        }
        m_program.ranks.resize(m_n);
        m_program.sharesWarps = true;
        FindRails();
    }

    CollectiveProgram Make()
    {
        // Nearest first, so that no two ranks begin with the same receiver.
        for (uint32_t step = 1; step < m_n; ++step)
        {
            for (uint32_t from = 0; from < m_n; ++from)
            {
                Exchange(from, (from + step) % m_n);
            }
        }
        m_program.bufferBytes = *std::max_element(m_passing.begin(), m_passing.end());
        AppendOwnParts(m_program, m_cluster, m_request);
        InsertMessageRelays(m_program, m_cluster, m_request);
        return std::move(m_program);
    }

  private:
    /// What a channel carries from one rank to another.
    struct Share
    {
        uint32_t from;      //!< sender
        uint32_t to;        //!< receiver
        uint32_t processor; //!< at both ends
        Extent source;      //!< in the sender's buffer
        Extent target;      //!< in the receiver's buffer
    };

    int32_t GetServer(uint32_t rank) const
    {
        return m_cluster.GetDomain(m_request.vertices[rank]);
    }

    void FindRails()
    {
        m_rails.assign(m_n, NO_RANK);
        for (uint32_t rank = 0; rank < m_n; ++rank)
        {
            const VertexId nic = m_cluster.GetNic(m_request.vertices[rank]);
            if (nic != Cluster::NO_VERTEX)
            {
                m_rails[rank] = m_cluster.GetVertices()[nic].index;
                m_onRail.emplace(std::make_pair(GetServer(rank), m_rails[rank]), rank);
            }
        }
    }

    /// @return the rank that what goes from one to another passes; the sender if none
    uint32_t FindRelay(uint32_t from, uint32_t to) const
    {
        if (GetServer(from) == GetServer(to) || m_rails[to] == NO_RANK ||
            m_rails[from] == m_rails[to])
        {
            return from;
        }
        const auto found = m_onRail.find({GetServer(from), m_rails[to]});
        return found == m_onRail.end() ? from : found->second;
    }

    /// All that goes from one rank to another.
    void Exchange(uint32_t from, uint32_t to)
    {
        const uint32_t relay = FindRelay(from, to);
        const uint32_t channels =
            GetServer(from) == GetServer(to) ? m_localChannels : m_networkChannels;
        const Extent received = m_layout.Received(from, to);
        const Extent place{m_program.outputOffset + received.offset, received.bytes};
        for (uint32_t channel = 0; channel < channels; ++channel)
        {
            const Share share{from,
                              to,
                              m_spread.GetProcessor(from, to, channel),
                              CutExtent(m_layout.Sent(from, to), channels, channel),
                              CutExtent(place, channels, channel)};
            if (share.source.bytes > 0)
            {
                relay == from ? SendDirectly(share) : SendThrough(relay, share);
            }
        }
    }

    void SendDirectly(const Share& share)
    {
        const uint32_t connection = m_connections[{share.from, share.to}]++;
        Send(share.from, share.to, connection, share.processor, share.source);
        Receive(share.to, share.from, connection, share.processor, share.target);
    }

    void SendThrough(uint32_t relay, const Share& share)
    {
        const uint32_t first = m_connections[{share.from, relay}]++;
        const uint32_t second = m_connections[{relay, share.to}]++;
        const Extent between{m_passing[relay], share.source.bytes};
        m_passing[relay] += share.source.bytes;
        Send(share.from, relay, first, share.processor, share.source);
        // The relay receives in one block, and its NIC sends from its memory in another one, since
        // the two have connections of their own.
        Receive(relay, share.from, first, NO_PROCESSOR, between);
        auto& blocks = m_program.ranks[relay].blocks;
        const auto receiver = static_cast<uint32_t>(blocks.size() - 1);
        Send(relay, share.to, second, NO_PROCESSOR, between);
        for (std::size_t i = 0; i < blocks.back().steps.size(); ++i)
        {
            blocks.back().steps[i].waitBlock = receiver;
            blocks.back().steps[i].waitStep = static_cast<uint32_t>(i);
        }
        Receive(share.to, relay, second, share.processor, share.target);
    }

    /// Appends a block that sends.
    void Send(uint32_t rank,
              uint32_t peer,
              uint32_t connection,
              uint32_t processor,
              const Extent& extent)
    {
        ThreadBlock block;
        block.sendPeer = peer;
        Append(rank, std::move(block), StepKind::SEND, connection, processor, extent);
    }

    /// Appends a block that receives.
    void Receive(uint32_t rank,
                 uint32_t peer,
                 uint32_t connection,
                 uint32_t processor,
                 const Extent& extent)
    {
        ThreadBlock block;
        block.receivePeer = peer;
        Append(rank, std::move(block), StepKind::RECV, connection, processor, extent);
    }

    void Append(uint32_t rank,
                ThreadBlock block,
                StepKind kind,
                uint32_t connection,
                uint32_t processor,
                const Extent& extent)
    {
        block.channel = static_cast<uint16_t>(connection);
        block.processor = static_cast<uint16_t>(processor);
        AppendSteps(block, kind, extent, m_request.chunkBytes);
        m_program.ranks[rank].blocks.push_back(std::move(block));
    }

    const Cluster& m_cluster;
    const CollectiveRequest& m_request;
    MessageLayout m_layout;
    MessageBlocks m_spread;
    uint32_t m_n; //!< ranks
    uint32_t m_localChannels;
    uint32_t m_networkChannels;
    std::vector<uint64_t> m_passing; //!< by rank: end of what passes it, behind all else
    std::vector<uint32_t> m_rails;   //!< by rank: number of its NIC in the server, or NO_RANK
    std::map<std::pair<int32_t, uint32_t>, uint32_t> m_onRail; //!< by server and rail: a rank
    /// How many there are from one rank to another: several senders may pass one rank.
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_connections;
    CollectiveProgram m_program;
};

} // namespace

CollectiveProgram
MakePxnProgram(const Cluster& cluster, const Paths& /* paths */, const CollectiveRequest& request)
{
    return PxnMaker(cluster, request).Make();
}

namespace
{

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_PXN([]() {
    AlgorithmTraits traits;
    traits.name = "pxn";
    traits.place = 90;
    traits.makers[Collective::GATHER] = &MakePxnProgram;
    traits.makers[Collective::SCATTER] = &MakePxnProgram;
    traits.makers[Collective::ALL_TO_ALL] = &MakePxnProgram;
    traits.isLaunchedByPeer = true;
    traits.keepsRails = true;
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
