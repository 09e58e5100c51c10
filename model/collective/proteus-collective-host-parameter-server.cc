/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"
#include "proteus-program-builder.h"

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
class HostServerMaker
{
  public:
    HostServerMaker(const CollectiveRequest& request,
                    const std::vector<std::vector<uint32_t>>& hosts)
        : m_request(request),
          m_hosts(hosts),
          m_places(static_cast<uint32_t>(hosts.front().size())),
          m_servers(request.parameterServers),
          m_channels(std::max(request.channels, 1u)),
          m_builder(request, "host-parameter-server", m_channels)
    {
    }

    CollectiveProgram Make()
    {
        for (uint32_t channel = 0; channel < m_channels; ++channel)
        {
            ExchangeInside(channel, true);
            ExchangeAcross(channel, true);
            ExchangeAcross(channel, false);
            ExchangeInside(channel, false);
        }
        return m_builder.Finish();
    }

  private:
    /// What a channel carries of what the ranks of a place have on a server.
    Extent GetSegment(uint32_t channel, uint32_t place, uint32_t server) const
    {
        const Extent own = CutExtent({0, m_request.bytes}, m_places, place);
        return CutExtent(CutExtent(own, m_servers, server), m_channels, channel);
    }

    /// The ranks of every host sum up each other's segments, or give their own to each other.
    void ExchangeInside(uint32_t channel, bool reduces)
    {
        for (uint32_t step = 1; step < m_places; ++step)
        {
            for (const std::vector<uint32_t>& ranks : m_hosts)
            {
                for (uint32_t place = 0; place < m_places; ++place)
                {
                    const uint32_t peer = (place + step) % m_places;
                    for (uint32_t server = 0; server < m_servers; ++server)
                    {
                        m_builder.Transfer(ranks[place],
                                           ranks[peer],
                                           channel,
                                           GetSegment(channel, reduces ? peer : place, server),
                                           reduces);
                    }
                }
            }
        }
    }

    /// The ranks of a place push to the hosts with servers, or pull from there.
    void ExchangeAcross(uint32_t channel, bool pushes)
    {
        const auto n = static_cast<uint32_t>(m_hosts.size());
        for (uint32_t step = 1; step < n; ++step)
        {
            for (uint32_t server = 0; server < m_servers; ++server)
            {
                const uint32_t worker = (server + step) % n;
                for (uint32_t place = 0; place < m_places; ++place)
                {
                    m_builder.Transfer(m_hosts[pushes ? worker : server][place],
                                       m_hosts[pushes ? server : worker][place],
                                       channel,
                                       GetSegment(channel, place, server),
                                       pushes);
                }
            }
        }
    }

    const CollectiveRequest& m_request;
    const std::vector<std::vector<uint32_t>>& m_hosts; //!< ranks, by host and place
    uint32_t m_places;                                 //!< ranks of a host
    uint32_t m_servers;                                //!< hosts with servers
    uint32_t m_channels;
    ProgramBuilder m_builder;
};

/**
 * All-reduce through parameter servers, as MXNet does it on hosts with several GPUs (kvstore
 * "dist_device_sync"), in three steps. The ranks of a host sum up, each a segment of its own. Each
 * rank pushes its sum to the servers, that is to the ranks with its place on the first
 * CollectiveRequest::parameterServers hosts, and pulls the total. The ranks of a host give each
 * other their totals. With servers on all hosts the load is balanced (Peng et al., SOSP'19,
 * section 4.2).
 */
CollectiveProgram
MakeHostParameterServerProgram(const Cluster& cluster,
                               const Paths& /* paths */,
                               const CollectiveRequest& request)
{
    const auto hosts = GroupEvenlyByServer(cluster, request, "host-parameter-server");
    if (request.parameterServers == 0 || request.parameterServers > hosts.size())
    {
        throw std::invalid_argument("all-reduce: parameter servers on " +
                                    std::to_string(request.parameterServers) + " of " +
                                    std::to_string(hosts.size()) + " hosts");
    }
    return HostServerMaker(request, hosts).Make();
}

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_HOST_PARAMETER_SERVER([]() {
    AlgorithmTraits traits;
    traits.name = "host-parameter-server";
    traits.place = 105;
    traits.makers[Collective::ALL_REDUCE] = &MakeHostParameterServerProgram;
    traits.hasParameterServers = true;
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
