/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-classic-ring.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-fabric-kind.h"
#include "ns3/proteus-server-preset.h"

#include <stdexcept>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

/// NVLinks between two GPUs: first, second, how many.
using Mesh = std::vector<std::tuple<uint32_t, uint32_t, uint32_t>>;

/// A NIC: the switch that it is below, or, from 4 on, the socket; and its rate in Gb/s.
using Adapter = std::pair<uint32_t, double>;

/// One of the published descriptions.
struct ClassicMachine
{
    const char* name;
    const char* gpu;
    Mesh mesh;
    double socketBytesPerSecond;
    std::vector<Adapter> adapters;
};

const std::vector<ClassicMachine>&
Machines()
{
    static const std::vector<ClassicMachine> machines{{"titanxp", "TITAN-Xp", {}, 6e9, {{5, 1}}},
                                                      {"1080_1ib", "TITAN-Xp", {}, 6e9, {{4, 56}}},
                                                      {"dgx1_1ib",
                                                       "V100-SXM2-32GB",
                                                       {{0, 1, 1},
                                                        {1, 2, 1},
                                                        {2, 3, 2},
                                                        {3, 4, 1},
                                                        {4, 5, 2},
                                                        {5, 6, 1},
                                                        {6, 7, 1},
                                                        {0, 7, 2},
                                                        {0, 2, 2},
                                                        {1, 3, 2},
                                                        {1, 6, 2},
                                                        {4, 6, 2},
                                                        {5, 7, 2},
                                                        {2, 5, 1},
                                                        {4, 7, 1},
                                                        {0, 3, 1}},
                                                       9e9,
                                                       {{1, 100}}},
                                                      {"dgx1_2ib",
                                                       "V100-SXM2-32GB",
                                                       {{0, 3, 2},
                                                        {2, 3, 2},
                                                        {1, 2, 2},
                                                        {1, 5, 2},
                                                        {5, 6, 2},
                                                        {6, 7, 2},
                                                        {4, 7, 2},
                                                        {0, 4, 2},
                                                        {0, 1, 1},
                                                        {1, 3, 1},
                                                        {3, 7, 1},
                                                        {5, 7, 1},
                                                        {4, 5, 1},
                                                        {4, 6, 1},
                                                        {2, 6, 1},
                                                        {0, 2, 1}},
                                                       6e9,
                                                       {{0, 600}, {2, 600}}}};
    return machines;
}

/// Adds one server. @return its NICs
std::vector<VertexId>
AddServer(Cluster& cluster, const ClassicMachine& machine, uint32_t server, uint32_t nGpus)
{
    const auto gpus = AddServerVertices(cluster, server, MakeGpu(machine.gpu), nGpus);
    const auto switches = AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, 4);
    const auto cpus =
        AddServerVertices(cluster,
                          server,
                          MakeCpu(IntelForwardBytesPerSecond(3), !machine.mesh.empty()),
                          2);
    for (uint32_t i = 0; i < 4; ++i)
    {
        AddPcieLink(cluster, switches[i], cpus[i / 2], 3);
    }
    for (uint32_t i = 0; i < nGpus; ++i)
    {
        AddPcieLink(cluster, gpus[i], switches[i / 2], 3);
    }
    for (const auto& [a, b, count] : machine.mesh)
    {
        if (a < nGpus && b < nGpus)
        {
            AddDefaultLink(cluster, gpus[a], gpus[b], LinkTechnology::NVLINK, count * 25e9, 2);
        }
    }
    AddDefaultLink(cluster,
                   cpus[0],
                   cpus[1],
                   LinkTechnology::CPU_INTERCONNECT,
                   machine.socketBytesPerSecond);
    const auto nics = AddServerVertices(cluster,
                                        server,
                                        VertexKind::NIC,
                                        static_cast<uint32_t>(machine.adapters.size()));
    for (std::size_t i = 0; i < nics.size(); ++i)
    {
        const uint32_t place = machine.adapters[i].first;
        AddPcieLink(cluster, nics[i], place < 4 ? switches[place] : cpus[place - 4], 3);
    }
    return nics;
}

} // namespace

std::vector<std::string>
GetClassicClusters()
{
    std::vector<std::string> names;
    for (const ClassicMachine& machine : Machines())
    {
        names.emplace_back(machine.name);
    }
    return names;
}

Cluster
MakeClassicCluster(const std::string& name, uint32_t servers, uint32_t gpus)
{
    if (gpus != 1 && gpus != 2 && gpus != 4 && gpus != 8)
    {
        throw std::invalid_argument("classic cluster " + name + ": " + std::to_string(gpus) +
                                    " GPUs per server; choose 1, 2, 4 or 8");
    }
    std::string known;
    for (const ClassicMachine& machine : Machines())
    {
        AppendName(known, std::string(machine.name));
        if (name != machine.name)
        {
            continue;
        }
        if (servers < 1 || servers > MAX_SERVERS)
        {
            throw std::invalid_argument("classic cluster " + name + ": " + std::to_string(servers) +
                                        " servers; choose 1 to " + std::to_string(MAX_SERVERS));
        }
        Cluster cluster(std::to_string(servers) + " x " + name);
        FabricPlugs plugs;
        for (uint32_t server = 0; server < servers; ++server)
        {
            plugs.servers.push_back(AddServer(cluster, machine, server, gpus));
        }
        if (servers > 1)
        {
            const LinkTechnology technology =
                name == "titanxp" ? LinkTechnology::ROCE : LinkTechnology::INFINIBAND;
            plugs.trunk.technology = technology;
            plugs.trunk.bytesPerSecond = machine.adapters[0].second * 1e9 / 8;
            plugs.trunk.delayPs = DefaultDelayPs(technology);
            plugs.trunk.framing = DefaultFraming(technology);
            plugs.trunk.cost = DefaultCost(technology);
            plugs.access = plugs.trunk;
            JoinByFabric(cluster, plugs, FabricOptions());
        }
        cluster.Validate();
        return cluster;
    }
    throw std::invalid_argument("classic cluster " + name + ": choose one of " + known);
}

} // namespace proteus
} // namespace ns3
