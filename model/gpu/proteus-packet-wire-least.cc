/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-packet-wire.h"

#include "ns3/proteus-network-links.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>

/**
 * @file
 * @ingroup proteus
 * When ranks of communications can be done at the earliest.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// How a connection leaves or reaches a GPU.
struct GpuWay
{
    bool isOutside{true};  //!< not over NVLinks of the GPU
    bool isNetwork{false}; //!< over NICs
    std::set<PortId> nics; //!< then the ports of its server's NICs, one of which each byte crosses
};

/// @param ways that packets of the connection may take, of both directions @param gpu at one end
/// @param gets whether bytes come to it, or go @param kind what the connection crosses
/// @param fabric with the links @return how the connection reaches or leaves the GPU
GpuWay
FindGpuWay(const std::vector<PortId>& ways,
           VertexId gpu,
           bool gets,
           HopKind kind,
           const Fabric& fabric)
{
    const auto& vertices = fabric.GetCluster().GetVertices();
    GpuWay way;
    way.isNetwork = kind == HopKind::NETWORK;
    for (const PortId port : ways)
    {
        if (port == NO_PORT)
        {
            continue;
        }
        const Link& link = fabric.GetLink(port);
        const VertexId end = gets ? fabric.GetTo(port) : fabric.GetFrom(port);
        way.isOutside = way.isOutside && (link.technology != LinkTechnology::NVLINK || end != gpu);
        if (vertices[end].kind == VertexKind::NIC && vertices[end].server == vertices[gpu].server &&
            IsOfNetwork(link))
        {
            way.nics.insert(port);
        }
    }
    return way;
}

/// What a rank sends, or what comes to it.
class Moved
{
  public:
    /// @param bytes that are moved @param way on which
    void Add(uint64_t bytes, const GpuWay& way)
    {
        m_bytes += bytes;
        if (way.isOutside && bytes > 0)
        {
            m_outsideBytes += bytes;
            m_isNetwork = m_isNetwork && way.isNetwork;
            m_nics.insert(way.nics.begin(), way.nics.end());
        }
    }

    /// @param gpu that moves it @param cluster of the GPU @return picoseconds that it takes at
    /// least
    int64_t GetLeastPs(VertexId gpu, const Cluster& cluster) const
    {
        double rate = 0; // of all links
        double outsideRate = 0;
        for (const Port& port : cluster.GetPorts(gpu))
        {
            const Link& link = cluster.GetLinks()[port.link];
            rate += link.bytesPerSecond;
            outsideRate += link.technology == LinkTechnology::NVLINK ? 0 : link.bytesPerSecond;
        }
        if (m_isNetwork)
        {
            double nicRate = 0;
            for (const PortId port : m_nics)
            {
                nicRate += cluster.GetLinks()[port / 2].bytesPerSecond;
            }
            outsideRate = std::min(outsideRate, nicRate);
        }
        constexpr double PS_PER_S = 1e12;
        const double outside =
            outsideRate > 0 ? static_cast<double>(m_outsideBytes) / outsideRate : 0;
        return static_cast<int64_t>(std::max(static_cast<double>(m_bytes) / rate, outside) *
                                    PS_PER_S);
    }

  private:
    uint64_t m_bytes{0};        //!< in all
    uint64_t m_outsideBytes{0}; //!< of them, not over NVLinks of the GPU
    bool m_isNetwork{true};     //!< whether all these cross NICs
    std::set<PortId> m_nics;    //!< then their ports
};

/// Steps that count of a block: all, or those that send or receive but for the first ones.
class CountedSteps
{
  public:
    /// @param block of a rank @param isLate whether only what comes after the start of the last
    /// rank counts @param early steps that may send or receive before that
    CountedSteps(const ThreadBlock& block, bool isLate, std::size_t early)
        : m_block(block),
          m_isLate(isLate),
          m_early(early)
    {
    }

    /// @param count called with each step that counts
    template <typename F>
    void ForEach(F count) const
    {
        std::size_t before = 0;
        for (const Step& step : m_block.steps)
        {
            const bool communicates = Sends(step.kind) || Receives(step.kind);
            if (!m_isLate || (communicates && before >= m_early))
            {
                count(step);
            }
            before += communicates ? 1 : 0;
        }
    }

    /// @param gets whether bytes that come to the rank are wanted, or those that it sends
    /// @param traits of the protocol @return these bytes
    uint64_t CountBytes(bool gets, const ProtocolTraits& traits) const
    {
        uint64_t bytes = 0;
        ForEach([&](const Step& step) {
            const bool counts = gets ? Receives(step.kind) : Sends(step.kind);
            bytes += counts ? traits.WireBytes(step.bytes) : 0;
        });
        return bytes;
    }

    /// @param cost of steps @return picoseconds that the block is busy
    int64_t CountBusyPs(const BlockCost& cost) const
    {
        int64_t busyPs = 0;
        ForEach([&](const Step& step) {
            busyPs += std::max<int64_t>(0, static_cast<int64_t>(cost.GetOccupancyPs(step)));
        });
        return busyPs;
    }

  private:
    const ThreadBlock& m_block;
    bool m_isLate;
    std::size_t m_early;
};

/// @param program of all ranks @return steps of a block, at most, that send or receive before the
/// last rank begins. Of two ranks those for which a receiver has room; of more any number, as what
/// the others have for each other may be over by then
std::size_t
CountEarlySteps(const CollectiveProgram& program)
{
    return program.ranks.size() == 2 ? program.slots : std::numeric_limits<std::size_t>::max();
}

} // namespace

int64_t
PacketWire::GetLeastEndPs(uint32_t id, int64_t lastPs)
{
    const PacketRank& rank = m_machine.GetRank(id);
    std::vector<LeastTimes>& all = m_leastTimes[GetConnections(rank.traffic.task, *rank.program)];
    if (all.empty())
    {
        for (uint32_t i = 0; i < rank.program->ranks.size(); ++i)
        {
            all.push_back(FindLeastTimes(rank.traffic.task, *rank.program, *rank.facts, i));
        }
    }
    const LeastTimes& least = all[rank.rank];
    return std::max(rank.startPs + least.fromStartPs, lastPs + least.fromLastPs);
}

PacketWire::LeastTimes
PacketWire::FindLeastTimes(TaskId task,
                           const CollectiveProgram& program,
                           const ProgramFacts& facts,
                           uint32_t rank)
{
    const ProtocolTraits& traits = GetTraits(program.protocol);
    const DeviceId device = m_graph.GetGroup(m_graph.GetTask(task).place)[rank];
    const VertexId gpu = m_fabric->GetCluster().GetGpus()[device];
    const std::size_t early = CountEarlySteps(program);
    Moved whole[2]; // sent, and received
    Moved late[2];
    LeastTimes least;
    for (const ThreadBlock& block : program.ranks[rank].blocks)
    {
        const CountedSteps all(block, false, 0);
        const CountedSteps last(block, true, early);
        uint32_t pairs[2]{NO_ID, NO_ID};
        for (const bool gets : {false, true})
        {
            const uint32_t peer = gets ? block.receivePeer : block.sendPeer;
            if (peer != NO_RANK)
            {
                pairs[gets] = GetQueuePair(task,
                                           program,
                                           facts,
                                           block.channel,
                                           gets ? peer : rank,
                                           gets ? rank : peer);
                const GpuWay way = FindGpuWay(m_transport->GetWays(pairs[gets]),
                                              gpu,
                                              gets,
                                              m_pairs.GetHopKind(pairs[gets]),
                                              *m_fabric);
                whole[gets].Add(all.CountBytes(gets, traits), way);
                late[gets].Add(last.CountBytes(gets, traits), way);
            }
        }
        const BlockCost cost = FindCost(device,
                                        program,
                                        facts.shares.Get(rank, block),
                                        block,
                                        pairs[false],
                                        pairs[true]);
        least.fromStartPs = std::max(least.fromStartPs, all.CountBusyPs(cost));
        least.fromLastPs = std::max(least.fromLastPs, last.CountBusyPs(cost));
    }
    const Cluster& cluster = m_fabric->GetCluster();
    for (const bool gets : {false, true})
    {
        least.fromStartPs = std::max(least.fromStartPs, whole[gets].GetLeastPs(gpu, cluster));
        least.fromLastPs = std::max(least.fromLastPs, late[gets].GetLeastPs(gpu, cluster));
    }
    return least;
}

} // namespace proteus
} // namespace ns3
