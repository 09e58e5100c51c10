/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"

#include <algorithm>

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

} // namespace

CollectiveProgram
MakeHierarchicalProgram(const Cluster& cluster,
                        const Paths& paths,
                        const CollectiveRequest& request)
{
    const auto servers = GroupEvenlyByServer(cluster, request, "hierarchical");
    const auto n = static_cast<uint32_t>(request.vertices.size());
    const std::size_t places = servers.front().size();
    const Extent whole{0, request.bytes};

    // Channels, and the ring inside each server, as the ring algorithm has them there.
    uint32_t channels = request.channels;
    std::vector<std::vector<std::vector<uint32_t>>> rings(servers.size());
    for (std::size_t s = 0; s < servers.size(); ++s)
    {
        std::vector<VertexId> vertices;
        for (const uint32_t rank : servers[s])
        {
            vertices.push_back(request.vertices[rank]);
        }
        rings[s] = MakeRingOrders(cluster, paths, vertices, channels);
        channels = static_cast<uint32_t>(rings[s].size());
    }
    ProgramBuilder builder(request, "hierarchical", channels);
    // The final segment of a rank: of an all-reduce any cut will do.
    const auto segment = [&](std::size_t server, std::size_t place, uint32_t channel) {
        const Extent own = request.collective == Collective::ALL_REDUCE
                               ? CutExtent(CutExtent(whole, places, place), servers.size(), server)
                               : CutExtent(whole, n, servers[server][place]);
        return CutExtent(own, channels, channel);
    };
    for (uint32_t channel = 0; channel < channels; ++channel)
    {
        const auto inside = [&](bool reduces) {
            for (std::size_t s = 0; s < servers.size(); ++s)
            {
                // The unit of a rank inside: the segments of all ranks of its place.
                std::vector<uint32_t> members;
                std::vector<Unit> units;
                for (const uint32_t place : rings[s][channel])
                {
                    members.push_back(servers[s][place]);
                    units.emplace_back();
                    for (std::size_t t = 0; t < servers.size(); ++t)
                    {
                        units.back().push_back(segment(t, place, channel));
                    }
                }
                SmallRing ring(builder, members, channel);
                reduces ? ring.ReduceScatter(units) : ring.AllGather(units);
            }
        };
        const auto across = [&](bool reduces) {
            for (std::size_t place = 0; place < places; ++place)
            {
                std::vector<uint32_t> members;
                std::vector<Unit> units;
                for (std::size_t s = 0; s < servers.size(); ++s)
                {
                    members.push_back(servers[s][place]);
                    units.push_back({segment(s, place, channel)});
                }
                SmallRing ring(builder, members, channel);
                reduces ? ring.ReduceScatter(units) : ring.AllGather(units);
            }
        };
        if (request.collective != Collective::ALL_GATHER)
        {
            inside(true);
            across(true);
        }
        if (request.collective != Collective::REDUCE_SCATTER)
        {
            across(false);
            inside(false);
        }
    }
    return builder.Finish();
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
