/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-micro-experiment.h"

#include <map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Every so many experiments, one is held out.
constexpr std::size_t HELD_OUT_EVERY = 3;

/// One communication of an experiment.
struct Part
{
    Collective collective;
    std::vector<DeviceId> devices;
    uint64_t bytes;
};

ExecutionGraph
MakeGraph(uint32_t devices, const std::vector<Part>& parts)
{
    GraphBuilder builder(devices);
    const PhaseId phase = builder.AddPhase("all");
    for (std::size_t i = 0; i < parts.size(); ++i)
    {
        const std::string name = "part " + std::to_string(i);
        builder.AddCommunication(phase,
                                 builder.AddGroup(parts[i].devices),
                                 builder.AddStream(name),
                                 name,
                                 parts[i].collective,
                                 parts[i].bytes,
                                 Parallelism::NONE);
    }
    return builder.Build();
}

/// Where the GPUs of a cluster are.
struct Places
{
    std::vector<std::vector<DeviceId>> servers; //!< GPUs by server
    std::vector<DeviceId> all;
    uint32_t devices{0};
};

Places
FindPlaces(const Cluster& cluster)
{
    Places places;
    std::map<int32_t, std::vector<DeviceId>> servers;
    places.devices = static_cast<uint32_t>(cluster.GetGpus().size());
    for (DeviceId device = 0; device < places.devices; ++device)
    {
        servers[cluster.GetServer(device)].push_back(device);
        places.all.push_back(device);
    }
    for (const auto& entry : servers)
    {
        places.servers.push_back(entry.second);
    }
    return places;
}

/// Collectives alone, on a group.
void
AddAlone(std::vector<MicroExperiment>& experiments,
         const Places& places,
         const std::string& where,
         const std::vector<DeviceId>& devices,
         const std::vector<uint64_t>& sizes)
{
    if (devices.size() < 2)
    {
        return;
    }
    for (const Collective collective : {Collective::ALL_REDUCE,
                                        Collective::ALL_GATHER,
                                        Collective::REDUCE_SCATTER,
                                        Collective::BROADCAST,
                                        Collective::ALL_TO_ALL,
                                        Collective::SEND_RECV})
    {
        const bool pair = collective == Collective::SEND_RECV;
        const std::vector<DeviceId> group =
            pair ? std::vector<DeviceId>{devices.front(), devices.back()} : devices;
        for (const uint64_t bytes : sizes)
        {
            experiments.push_back({std::string(ToString(collective)) + ", " + where,
                                   std::string(ToString(collective)) + " " + std::to_string(bytes) +
                                       " bytes, " + std::to_string(group.size()) + " ranks " +
                                       where,
                                   MakeGraph(places.devices, {{collective, group, bytes}})});
        }
    }
}

/// Communications that meet, of one size.
void
AddTogether(std::vector<MicroExperiment>& experiments,
            const Places& places,
            const std::string& name,
            const std::vector<std::pair<DeviceId, DeviceId>>& messages,
            const std::vector<std::vector<DeviceId>>& rings,
            uint64_t bytes)
{
    std::vector<Part> parts;
    for (const auto& [from, to] : messages)
    {
        if (from == to)
        {
            return; // the cluster is too small for it
        }
        parts.push_back({Collective::SEND_RECV, {from, to}, bytes});
    }
    for (const auto& ring : rings)
    {
        if (ring.size() < 2)
        {
            return;
        }
        parts.push_back({Collective::ALL_REDUCE, ring, bytes});
    }
    experiments.push_back({name,
                           name + ", " + std::to_string(bytes) + " bytes each",
                           MakeGraph(places.devices, parts)});
}

/// @return a GPU of a server, the first again behind the last
DeviceId
At(const std::vector<DeviceId>& server, std::size_t i)
{
    return server[i % server.size()];
}

/// What meets in a server: from one GPU, into one GPU, both ways, across the halves.
void
AddMeetingsInside(std::vector<MicroExperiment>& experiments, const Places& places, uint64_t bytes)
{
    const auto& first = places.servers.front();
    const std::size_t half = first.size() / 2;
    const DeviceId a = At(first, 0);
    const DeviceId b = At(first, 1);
    const DeviceId c = At(first, half);
    const DeviceId d = At(first, half + 1);
    AddTogether(experiments, places, "two out of a GPU", {{a, b}, {a, c}}, {}, bytes);
    AddTogether(experiments, places, "three into a GPU", {{b, a}, {c, a}, {d, a}}, {}, bytes);
    AddTogether(experiments, places, "both ways", {{a, b}, {b, a}}, {}, bytes);
    AddTogether(experiments, places, "across the halves", {{a, c}, {b, d}}, {}, bytes);
    AddTogether(experiments, places, "ring and message", {{a, c}}, {first}, bytes);
    AddTogether(experiments, places, "two rings", {}, {first, {a, b, c, d}}, bytes);
}

/// What meets between two servers.
void
AddMeetingsAcross(std::vector<MicroExperiment>& experiments, const Places& places, uint64_t bytes)
{
    const auto& first = places.servers.front();
    const auto& second = places.servers[1];
    const DeviceId a = At(first, 0);
    const DeviceId b = At(first, 1);
    const DeviceId x = At(second, 0);
    const DeviceId y = At(second, 1);
    AddTogether(experiments, places, "neighbours to neighbours", {{a, x}, {b, y}}, {}, bytes);
    AddTogether(experiments, places, "two from one GPU out", {{a, x}, {a, y}}, {}, bytes);
    AddTogether(experiments,
                places,
                "three into one GPU",
                {{a, x}, {b, x}, {At(first, 2), x}},
                {},
                bytes);
    AddTogether(experiments, places, "network both ways", {{a, x}, {x, a}}, {}, bytes);
    AddTogether(experiments, places, "rings of neighbours", {}, {{a, x}, {b, y}}, bytes);
    AddTogether(experiments, places, "ring and message out", {{a, x}}, {places.all}, bytes);
}

} // namespace

std::vector<MicroExperiment>
DesignExperiments(const Cluster& cluster, const std::vector<uint64_t>& sizes)
{
    const Places places = FindPlaces(cluster);
    std::vector<MicroExperiment> experiments;
    const auto& first = places.servers.front();
    AddAlone(experiments, places, "in one server", first, sizes);
    const bool several = places.servers.size() > 1;
    if (several)
    {
        std::vector<DeviceId> rail;
        for (const auto& server : places.servers)
        {
            rail.push_back(server.front());
        }
        AddAlone(experiments, places, "one in each server", rail, sizes);
        AddAlone(experiments, places, "all", places.all, sizes);
    }
    for (const uint64_t bytes : sizes)
    {
        if (first.size() > 3)
        {
            AddMeetingsInside(experiments, places, bytes);
        }
        if (several)
        {
            AddMeetingsAcross(experiments, places, bytes);
        }
    }
    for (std::size_t i = 0; i < experiments.size(); ++i)
    {
        experiments[i].isHeldOut = i % HELD_OUT_EVERY == HELD_OUT_EVERY - 1;
    }
    return experiments;
}

} // namespace proteus
} // namespace ns3
