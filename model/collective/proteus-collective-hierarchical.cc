/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"

namespace ns3
{
namespace proteus
{

namespace
{

/// Extents that move together.
using Unit = std::vector<Extent>;

/// One round of a ring over some ranks.
class SmallRing
{
  public:
    /**
     * @param builder to append to
     * @param members in the order of the ring
     * @param channel of the connections
     */
    SmallRing(ProgramBuilder& builder, const std::vector<uint32_t>& members, uint32_t channel)
        : m_builder(builder),
          m_members(members),
          m_channel(channel)
    {
    }

    /// @param units by member: what it sums up
    void ReduceScatter(const std::vector<Unit>& units)
    {
        Turn(units, 1, true);
    }

    /// @param units by member: what it gives to all
    void AllGather(const std::vector<Unit>& units)
    {
        Turn(units, 0, false);
    }

  private:
    /// In every step, each member passes on the unit that is one more place back.
    void Turn(const std::vector<Unit>& units, std::size_t back, bool reduces)
    {
        const std::size_t n = m_members.size();
        for (std::size_t step = 0; step + 1 < n; ++step)
        {
            for (std::size_t i = 0; i < n; ++i)
            {
                for (const Extent& extent : units[(i + 2 * n - step - back) % n])
                {
                    m_builder.Transfer(m_members[i],
                                       m_members[(i + 1) % n],
                                       m_channel,
                                       extent,
                                       reduces);
                }
            }
        }
    }

    ProgramBuilder& m_builder;
    const std::vector<uint32_t>& m_members;
    uint32_t m_channel;
};

/// Makes one program.
class HierarchicalMaker
{
  public:
    HierarchicalMaker(const Cluster& cluster, const Paths& paths, const CollectiveRequest& request)
        : m_request(request),
          m_servers(GroupEvenlyByServer(cluster, request, "hierarchical")),
          m_channels(FindRings(cluster, paths)),
          m_builder(request, "hierarchical", m_channels)
    {
    }

    CollectiveProgram Make()
    {
        for (uint32_t channel = 0; channel < m_channels; ++channel)
        {
            if (m_request.collective != Collective::ALL_GATHER)
            {
                TurnInside(channel, true);
                TurnAcross(channel, true);
            }
            if (m_request.collective != Collective::REDUCE_SCATTER)
            {
                TurnAcross(channel, false);
                TurnInside(channel, false);
            }
        }
        return m_builder.Finish();
    }

  private:
    /// Channels, and the ring inside each server, as the ring algorithm has them there.
    /// @return number of channels
    uint32_t FindRings(const Cluster& cluster, const Paths& paths)
    {
        uint32_t channels = m_request.channels;
        for (const auto& server : m_servers)
        {
            std::vector<VertexId> vertices;
            for (const uint32_t rank : server)
            {
                vertices.push_back(m_request.vertices[rank]);
            }
            m_rings.push_back(MakeRingOrders(cluster, paths, vertices, channels, m_request.rules));
            channels = static_cast<uint32_t>(m_rings.back().size());
        }
        return channels;
    }

    /// The final segment of a rank: of an all-reduce any cut will do.
    Extent GetSegment(std::size_t server, std::size_t place, uint32_t channel) const
    {
        const Extent whole{0, m_request.bytes};
        const Extent own =
            m_request.collective == Collective::ALL_REDUCE
                ? CutExtent(CutExtent(whole, m_servers.front().size(), place),
                            m_servers.size(),
                            server)
                : CutExtent(whole, m_request.vertices.size(), m_servers[server][place]);
        return CutExtent(own, m_channels, channel);
    }

    /// A ring in every server. The unit of a rank: the segments of all ranks of its place.
    void TurnInside(uint32_t channel, bool reduces)
    {
        for (std::size_t s = 0; s < m_servers.size(); ++s)
        {
            std::vector<uint32_t> members;
            std::vector<Unit> units;
            for (const uint32_t place : m_rings[s][channel])
            {
                members.push_back(m_servers[s][place]);
                units.emplace_back();
                for (std::size_t t = 0; t < m_servers.size(); ++t)
                {
                    units.back().push_back(GetSegment(t, place, channel));
                }
            }
            Turn(members, units, channel, reduces);
        }
    }

    /// A ring of the ranks of every place.
    void TurnAcross(uint32_t channel, bool reduces)
    {
        for (std::size_t place = 0; place < m_servers.front().size(); ++place)
        {
            std::vector<uint32_t> members;
            std::vector<Unit> units;
            for (std::size_t s = 0; s < m_servers.size(); ++s)
            {
                members.push_back(m_servers[s][place]);
                units.push_back({GetSegment(s, place, channel)});
            }
            Turn(members, units, channel, reduces);
        }
    }

    void Turn(const std::vector<uint32_t>& members,
              const std::vector<Unit>& units,
              uint32_t channel,
              bool reduces)
    {
        SmallRing ring(m_builder, members, channel);
        reduces ? ring.ReduceScatter(units) : ring.AllGather(units);
    }

    const CollectiveRequest& m_request;
    std::vector<std::vector<uint32_t>> m_servers;            //!< ranks, by server and place
    std::vector<std::vector<std::vector<uint32_t>>> m_rings; //!< places, by server and channel
    uint32_t m_channels;
    ProgramBuilder m_builder;
};

} // namespace

CollectiveProgram
MakeHierarchicalProgram(const Cluster& cluster,
                        const Paths& paths,
                        const CollectiveRequest& request)
{
    return HierarchicalMaker(cluster, paths, request).Make();
}

namespace
{

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_HIERARCHICAL([]() {
    AlgorithmTraits traits;
    traits.name = "hierarchical";
    traits.place = 70;
    traits.makers[Collective::ALL_REDUCE] = &MakeHierarchicalProgram;
    traits.makers[Collective::ALL_GATHER] = &MakeHierarchicalProgram;
    traits.makers[Collective::REDUCE_SCATTER] = &MakeHierarchicalProgram;
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
