/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Makes one program.
class SharpMaker
{
  public:
    SharpMaker(const CollectiveRequest& request, const std::vector<std::vector<uint32_t>>& servers)
        : m_request(request),
          m_servers(servers),
          m_places(servers.front().size()),
          m_channels(std::max(request.channels, 1u)),
          m_builder(request, "sharp", m_channels)
    {
    }

    CollectiveProgram Make()
    {
        for (uint32_t channel = 0; channel < m_channels; ++channel)
        {
            ExchangeInside(channel, true);
            for (std::size_t place = 0; place < m_places; ++place)
            {
                ReduceAcross(channel, place);
            }
            ExchangeInside(channel, false);
        }
        return m_builder.Finish();
    }

  private:
    /// What a channel carries of what the ranks of a place own.
    Extent GetSegment(uint32_t channel, std::size_t place) const
    {
        return CutExtent(CutExtent({0, m_request.bytes}, m_places, place), m_channels, channel);
    }

    /// The ranks of every server sum up each other's segments, or give their own to each other.
    void ExchangeInside(uint32_t channel, bool reduces)
    {
        for (const auto& server : m_servers)
        {
            for (std::size_t step = 1; step < m_places; ++step)
            {
                for (std::size_t place = 0; place < m_places; ++place)
                {
                    const std::size_t other = (place + step) % m_places;
                    m_builder.Transfer(server[place],
                                       server[other],
                                       channel,
                                       GetSegment(channel, reduces ? other : place),
                                       reduces);
                }
            }
        }
    }

    /// Switches sum up the segment of a place over all servers.
    void ReduceAcross(uint32_t channel, std::size_t place)
    {
        const auto chunks = m_builder.CutChunks(GetSegment(channel, place));
        if (chunks.empty())
        {
            return;
        }
        std::vector<uint32_t> members;
        for (const auto& server : m_servers)
        {
            members.push_back(server[place]);
        }
        const uint32_t group = m_builder.AddGroup(members);
        std::vector<uint32_t> givers;
        std::vector<uint32_t> takers;
        for (const uint32_t rank : members)
        {
            givers.push_back(m_builder.AddGroupBlock(rank, channel, group));
            takers.push_back(m_builder.AddGroupBlock(rank, channel, group));
        }
        std::vector<std::vector<uint32_t>> taken(members.size()); // by member: steps
        for (std::size_t i = 0; i < chunks.size(); ++i)
        {
            const auto [offset, bytes] = chunks[i];
            for (std::size_t m = 0; m < members.size(); ++m)
            {
                // There is room when the result that had the same slot is taken.
                if (i >= m_request.slots)
                {
                    m_builder.WaitForStep(members[m],
                                          givers[m],
                                          takers[m],
                                          taken[m][i - m_request.slots]);
                }
                m_builder.Append(members[m],
                                 givers[m],
                                 {StepKind::GROUP_ALL_REDUCE, offset, bytes});
            }
            for (std::size_t m = 0; m < members.size(); ++m)
            {
                m_builder.Append(members[m], takers[m], {StepKind::GROUP_RECV, offset, bytes});
                taken[m].push_back(m_builder.GetNSteps(members[m], takers[m]) - 1);
            }
        }
    }

    const CollectiveRequest& m_request;
    const std::vector<std::vector<uint32_t>>& m_servers; //!< ranks, by server and place
    std::size_t m_places;                                //!< ranks of a server
    uint32_t m_channels;
    ProgramBuilder m_builder;
};

/// @throw std::invalid_argument unless switches can sum up what the servers have
void
CheckServers(const Cluster& cluster,
             const CollectiveRequest& request,
             const std::vector<std::vector<uint32_t>>& servers)
{
    const std::string name = std::string(ToString(request.collective)) + ": algorithm sharp ";
    if (servers.size() < 2)
    {
        throw std::invalid_argument(name + "needs ranks in two servers or more");
    }
    for (std::size_t place = 0; place < servers.front().size(); ++place)
    {
        std::vector<VertexId> nics;
        for (const auto& server : servers)
        {
            nics.push_back(cluster.GetNic(request.vertices[server[place]]));
        }
        if (std::count(nics.begin(), nics.end(), Cluster::NO_VERTEX) > 0 ||
            !AreJoinedByReducingSwitches(cluster, nics, VertexKind::SWITCH))
        {
            throw std::invalid_argument(
                name + "needs NICs that network switches with multicast and reduction join");
        }
    }
}

} // namespace

CollectiveProgram
MakeSharpProgram(const Cluster& cluster, const Paths& /* paths */, const CollectiveRequest& request)
{
    const auto servers = GroupEvenlyByServer(cluster, request, "sharp");
    CheckServers(cluster, request, servers);
    return SharpMaker(request, servers).Make();
}

namespace
{

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_SHARP([]() {
    AlgorithmTraits traits;
    traits.name = "sharp";
    traits.place = 40;
    traits.makers[Collective::ALL_REDUCE] = &MakeSharpProgram;
    traits.tunable = NcclAlgorithm::COLLNET_DIRECT;
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
