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

namespace ns3
{
namespace proteus
{

CollectiveProgram
MakeParameterServerProgram(const Cluster& /* cluster */,
                           const Paths& /* paths */,
                           const CollectiveRequest& request)
{
    const uint32_t channels = std::max(request.channels, 1u);
    const uint32_t servers = request.parameterServers;
    ProgramBuilder builder(request, "parameter-server", channels);
    const uint32_t n = builder.GetNRanks();
    if (servers == 0 || servers > n)
    {
        throw std::invalid_argument("all-reduce: " + std::to_string(servers) +
                                    " parameter servers among " + std::to_string(n) + " ranks");
    }
    for (uint32_t channel = 0; channel < channels; ++channel)
    {
        for (const bool pulling : {false, true})
        {
            for (uint32_t step = 1; step < n; ++step)
            {
                for (uint32_t i = 0; i < servers; ++i)
                {
                    const uint32_t server = (request.root + i) % n;
                    const uint32_t worker = (server + step) % n;
                    const Extent share = CutExtent({0, request.bytes}, servers, i);
                    builder.Transfer(pulling ? server : worker,
                                     pulling ? worker : server,
                                     channel,
                                     CutExtent(share, channels, channel),
                                     !pulling);
                }
            }
        }
    }
    return builder.Finish();
}

namespace
{

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_PARAMETER_SERVER([]() {
    AlgorithmTraits traits;
    traits.name = "parameter-server";
    traits.place = 100;
    traits.makers[Collective::ALL_REDUCE] = &MakeParameterServerProgram;
    traits.hasParameterServers = true;
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
