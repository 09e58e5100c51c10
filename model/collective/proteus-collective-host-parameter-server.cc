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

/**
 * All-reduce through parameter servers, as MXNet does it on hosts with several GPUs (kvstore
 * "dist_device_sync"): the ranks of a host add up among themselves, each a segment of its own; the
 * ranks of one place push their sums to those of the hosts with servers, from the first one on, and
 * pull the totals; then the ranks of a host give each other what they have. All hosts may have
 * servers, which balances what they carry (Peng et al., SOSP'19, section 4.2).
 */
CollectiveProgram
MakeHostParameterServerProgram(const Cluster& cluster,
                               const Paths& /* paths */,
                               const CollectiveRequest& request)
{
    const auto hosts = GroupEvenlyByServer(cluster, request, "host-parameter-server");
    const auto nHosts = static_cast<uint32_t>(hosts.size());
    const auto places = static_cast<uint32_t>(hosts.front().size());
    const uint32_t servers = request.parameterServers;
    if (servers == 0 || servers > nHosts)
    {
        throw std::invalid_argument("all-reduce: parameter servers on " + std::to_string(servers) +
                                    " of " + std::to_string(nHosts) + " hosts");
    }
    const uint32_t channels = std::max(request.channels, 1u);
    ProgramBuilder builder(request, "host-parameter-server", channels);
    for (uint32_t channel = 0; channel < channels; ++channel)
    {
        const auto segment = [&](uint32_t place, uint32_t server) {
            const Extent own = CutExtent({0, request.bytes}, places, place);
            return CutExtent(CutExtent(own, servers, server), channels, channel);
        };
        const auto inside = [&](bool reduces) {
            for (uint32_t step = 1; step < places; ++step)
            {
                for (const std::vector<uint32_t>& ranks : hosts)
                {
                    for (uint32_t place = 0; place < places; ++place)
                    {
                        const uint32_t peer = (place + step) % places;
                        for (uint32_t server = 0; server < servers; ++server)
                        {
                            builder.Transfer(ranks[place],
                                             ranks[peer],
                                             channel,
                                             segment(reduces ? peer : place, server),
                                             reduces);
                        }
                    }
                }
            }
        };
        const auto across = [&](bool pushes) {
            for (uint32_t step = 1; step < nHosts; ++step)
            {
                for (uint32_t server = 0; server < servers; ++server)
                {
                    const uint32_t worker = (server + step) % nHosts;
                    for (uint32_t place = 0; place < places; ++place)
                    {
                        builder.Transfer(hosts[pushes ? worker : server][place],
                                         hosts[pushes ? server : worker][place],
                                         channel,
                                         segment(place, server),
                                         pushes);
                    }
                }
            }
        };
        inside(true);
        across(true);
        across(false);
        inside(false);
    }
    return builder.Finish();
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
