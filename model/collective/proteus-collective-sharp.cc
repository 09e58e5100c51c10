/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"
#include "proteus-switch-sum.h"

#include <algorithm>
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
        std::vector<uint32_t> members;
        for (const auto& server : m_servers)
        {
            members.push_back(server[place]);
        }
        AppendSwitchSum(m_builder,
                        members,
                        channel,
                        m_builder.CutChunks(GetSegment(channel, place)),
                        m_request.slots);
    }

    const CollectiveRequest& m_request;
    const std::vector<std::vector<uint32_t>>& m_servers; //!< ranks, by server and place
    std::size_t m_places;                                //!< ranks of a server
    uint32_t m_channels;
    ProgramBuilder m_builder;
};

/// @param servers ranks, by server and place @return by place and server
std::vector<std::vector<uint32_t>>
GroupByPlace(const std::vector<std::vector<uint32_t>>& servers)
{
    std::vector<std::vector<uint32_t>> places(servers.front().size());
    for (const auto& server : servers)
    {
        for (std::size_t place = 0; place < places.size(); ++place)
        {
            places[place].push_back(server[place]);
        }
    }
    return places;
}

} // namespace

CollectiveProgram
MakeSharpProgram(const Cluster& cluster, const Paths& /* paths */, const CollectiveRequest& request)
{
    const auto servers = GroupEvenlyByServer(cluster, request, "sharp");
    CheckSwitchSums(cluster, request, "sharp", GroupByPlace(servers));
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
    traits.hasSwitchChannels = true;
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
