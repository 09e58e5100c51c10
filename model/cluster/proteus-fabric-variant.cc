/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-variant.h"

#include "proteus-bundles.h"
#include "proteus-fabric-kind.h"
#include "proteus-server-preset.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-ratio.h"
#include "ns3/proteus-split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

const std::map<std::string, std::string>&
Routings()
{
    static const std::map<std::string, std::string> routings{{"ecmp", "Ecmp"},
                                                             {"spray", "Spray"},
                                                             {"adaptive", "Adaptive"},
                                                             {"up-down", "UpDown"}};
    return routings;
}

[[noreturn]] void
Refuse(const std::string& text, const std::string& why)
{
    throw std::invalid_argument("fabric '" + text + "': " + why);
}

/// @return the number that a text is, at least 1
double
ToNumber(const std::string& text, const std::string& whole, const std::string& what)
{
    std::size_t used = 0;
    double value = 0;
    try
    {
        value = std::stod(text, &used);
    }
    catch (const std::exception&)
    {
        used = 0;
    }
    if (used == 0 || used != text.size() || !(value >= 1) || value > 1e6)
    {
        Refuse(whole, what + " '" + text + "' must be a number from 1 on");
    }
    return value;
}

/// @param value a number @return it as short as can be, "2" or "1.5"
std::string
FormatNumber(double value)
{
    std::ostringstream text;
    text << value;
    return text.str();
}

/// Reads "leaf-spine:4" or "single-rail".
void
ReadKind(const std::string& part, const std::string& text, FabricVariant& variant)
{
    const std::size_t colon = part.find(':');
    const std::string kind = part.substr(0, colon);
    if (kind == "single-rail")
    {
        variant.fabric.kind = "rail-optimised";
        variant.rails = 1;
    }
    else
    {
        const auto kinds = GetFabricKinds();
        if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end() || kind == "nvlink-domain")
        {
            std::string known = "single-rail";
            for (const std::string& name : kinds)
            {
                if (name != "nvlink-domain")
                {
                    AppendName(known, name);
                }
            }
            Refuse(text,
                   "its first part must be one of " + known +
                       ", or all of it a server preset or a file of a cluster");
        }
        variant.fabric.kind = kind;
    }
    variant.fabric.oversubscription = 1;
    variant.name = kind;
    if (colon != std::string::npos)
    {
        const std::string ratio = part.substr(colon + 1);
        variant.fabric.oversubscription = ParseRatio(ratio).value_or(0);
        if (!(variant.fabric.oversubscription >= 1 && variant.fabric.oversubscription <= 1e6))
        {
            Refuse(text, "its ratio '" + ratio + "' must be from 1 on, such as 2:1 or 2");
        }
        const auto fields = GetFabricOptionFields(variant.fabric.kind);
        if (variant.fabric.oversubscription > 1 &&
            std::none_of(fields.begin(), fields.end(), [](const FabricOptionField& field) {
                return field.real == &FabricOptions::oversubscription;
            }))
        {
            Refuse(text, "all of " + kind + " is one switch, and nothing is beyond it: no ratio");
        }
        variant.name += " " + FormatNumber(variant.fabric.oversubscription) + ":1";
    }
}

/// @return a link between a NIC and the network, for all are alike; null if there is none
const Link*
FindAccess(const Cluster& cluster)
{
    for (const Link& link : cluster.GetLinks())
    {
        const VertexKind a = cluster.GetVertices()[link.a].kind;
        const VertexKind b = cluster.GetVertices()[link.b].kind;
        if ((a == VertexKind::NIC && b == VertexKind::SWITCH) ||
            (a == VertexKind::SWITCH && b == VertexKind::NIC))
        {
            return &link;
        }
    }
    return nullptr;
}

uint32_t
CountNics(const Cluster& server)
{
    const auto& vertices = server.GetVertices();
    return static_cast<uint32_t>(
        std::count_if(vertices.begin(), vertices.end(), [](const Vertex& vertex) {
            return vertex.kind == VertexKind::NIC;
        }));
}

/// Copies a server. @param rails NICs that are plugged in, spread over the places that there are,
/// as servers with fewer NICs than GPUs have them (topologies of NVIDIA/nccl, issue 1357, four NICs
/// next to GPUs 0, 2, 4 and 6, and of AWS P4d, one at each pair of GPUs); 0: all
/// @return its NICs
std::vector<VertexId>
CopyServer(Cluster& to, const Cluster& from, uint32_t server, uint32_t rails)
{
    const uint32_t places = CountNics(from);
    std::vector<VertexId> nics;
    std::vector<VertexId> copyOf(from.GetVertices().size(), Cluster::NO_VERTEX);
    for (VertexId id = 0; id < from.GetVertices().size(); ++id)
    {
        Vertex vertex = from.GetVertices()[id];
        if (vertex.kind == VertexKind::NIC && rails > 0 && vertex.index * rails % places >= rails)
        {
            continue;
        }
        vertex.name = "n" + std::to_string(server) +
                      (vertex.kind == VertexKind::NIC ? ".nic" + std::to_string(nics.size())
                                                      : vertex.name.substr(vertex.name.find('.')));
        vertex.server = static_cast<int32_t>(server);
        copyOf[id] = to.AddVertex(vertex);
        if (vertex.kind == VertexKind::NIC)
        {
            nics.push_back(copyOf[id]);
        }
    }
    for (Link link : from.GetLinks())
    {
        link.a = copyOf[link.a];
        link.b = copyOf[link.b];
        if (link.a != Cluster::NO_VERTEX && link.b != Cluster::NO_VERTEX)
        {
            to.AddLink(link);
        }
    }
    return nics;
}

} // namespace

FabricVariant
ParseFabricVariant(const std::string& text, const FabricOptions& base)
{
    FabricVariant variant;
    variant.fabric = base;
    std::vector<std::string> parts = SplitList(text, '+');
    if (parts.empty())
    {
        Refuse(text, "is empty");
    }
    // One kind has a "+" in its name: what follows it is its ratio, or nothing.
    const std::string dragonfly = "dragonfly";
    if (parts[0] == dragonfly && text.size() > dragonfly.size())
    {
        const bool hasRatio = parts.size() > 1 && (parts[1].empty() || parts[1][0] == ':');
        parts[0] += "+" + (hasRatio ? parts[1] : "");
        parts.erase(parts.begin() + 1, parts.begin() + (hasRatio ? 2 : 1));
    }
    ReadKind(parts[0], text, variant);
    std::set<std::string> said; // what parts are about
    const auto say = [&](const std::string& what) {
        if (!said.insert(what).second)
        {
            Refuse(text, "says twice " + what);
        }
    };
    if (variant.rails > 0)
    {
        say("how many rails it has");
    }
    for (std::size_t i = 1; i < parts.size(); ++i)
    {
        const std::string& part = parts[i];
        if (part == "infiniband" || part == "roce")
        {
            say("which technology it has");
            variant.technology = part;
        }
        else if (Routings().count(part))
        {
            say("how it routes");
            variant.routing = Routings().at(part);
        }
        else if (part == "cables")
        {
            say("cables");
            variant.bundling = Bundling::CABLES;
            variant.name += " cables";
        }
        else if (part.rfind("rails=", 0) == 0)
        {
            say("how many rails it has");
            const double rails = ToNumber(part.substr(6), text, "the number of rails");
            if (rails != std::floor(rails))
            {
                Refuse(text, "the number of rails '" + part.substr(6) + "' must be whole");
            }
            variant.rails = static_cast<uint32_t>(rails);
            variant.name += " " + FormatNumber(rails) + (variant.rails == 1 ? " rail" : " rails");
        }
        else
        {
            Refuse(text,
                   "part '" + part +
                       "' must be infiniband, roce, ecmp, spray, adaptive, up-down, cables or "
                       "rails=N");
        }
    }
    return variant;
}

std::vector<std::string>
GetUsualFabricVariants()
{
    return {"rail-optimised+infiniband",
            "rail-optimised+infiniband+adaptive",
            "rail-optimised+roce",
            "fat-tree+infiniband",
            "fat-tree+infiniband+adaptive",
            "leaf-spine+infiniband",
            "leaf-spine:2+infiniband",
            "leaf-spine:2+infiniband+adaptive",
            "leaf-spine:4+infiniband",
            "leaf-spine:4+infiniband+adaptive",
            "leaf-spine:2+roce",
            "single-rail+infiniband"};
}

FabricOptions
FitFabricOptions(const FabricOptions& base, uint32_t servers)
{
    FabricOptions fitted = base;
    fitted.serversPerLeaf = std::max(1U, std::min(base.serversPerLeaf, servers / 2));
    fitted.serversPerGroup = std::max(1U, std::min(base.serversPerGroup, servers));
    return fitted;
}

FabricVariant
FitSpines(const FabricVariant& variant, const std::string& preset)
{
    return FitSpines(variant, CountNics(MakeCluster(preset, 1)));
}

FabricVariant
FitSpines(const FabricVariant& variant, uint32_t nics)
{
    FabricVariant fitted = variant;
    FabricOptions& fabric = fitted.fabric;
    const bool isRails = fabric.kind == "rail-optimised";
    if (!isRails && fabric.kind != "leaf-spine")
    {
        return fitted;
    }
    const uint32_t rails = variant.rails > 0 ? variant.rails : nics;
    const double down =
        isRails ? fabric.serversPerGroup : double{1} * fabric.serversPerLeaf * rails;
    const double up = std::max(1.0, down / fabric.oversubscription);
    fabric.spines = std::max(1U, std::min(fabric.spines, static_cast<uint32_t>(up)));
    return fitted;
}

Cluster
MakeVariantCluster(const std::string& preset, uint32_t servers, const FabricVariant& variant)
{
    return MakeVariantCluster(GetServerPreset(preset), servers, variant);
}

Cluster
MakeVariantCluster(const ServerPreset& preset, uint32_t servers, const FabricVariant& variant)
{
    const Cluster joined = MakeCluster(preset, 2);
    const Cluster server = MakeCluster(preset, 1);
    const Link* access = FindAccess(joined);
    if (access == nullptr)
    {
        throw std::invalid_argument("server preset " + preset.name + " has no NIC");
    }
    if (servers < 2 || servers > MAX_SERVERS)
    {
        throw std::invalid_argument("fabrics join 2 to " + std::to_string(MAX_SERVERS) +
                                    " servers, not " + std::to_string(servers));
    }
    const uint32_t nics = CountNics(server);
    if (variant.rails > nics)
    {
        throw std::invalid_argument("fabric '" + variant.name + "' is to use " +
                                    std::to_string(variant.rails) +
                                    " NICs of each server, a rail each, and a server of " +
                                    preset.name + " has " + std::to_string(nics));
    }
    const LinkTechnology technology = variant.technology.empty()
                                          ? access->technology
                                          : LinkTechnologyFromString(variant.technology);
    Cluster cluster(std::to_string(servers) + " x " + preset.name + ", " + variant.name + ", " +
                    ToString(technology));
    FabricPlugs plugs;
    plugs.trunk.technology = technology;
    plugs.trunk.bytesPerSecond =
        variant.nicBytesPerSecond > 0 ? variant.nicBytesPerSecond : access->bytesPerSecond;
    plugs.trunk.delayPs = DefaultDelayPs(technology);
    plugs.trunk.framing = DefaultFraming(technology);
    plugs.trunk.cost = DefaultCost(technology);
    plugs.access = plugs.trunk;
    plugs.access.framing = NicFraming(technology, plugs.trunk.bytesPerSecond);
    for (uint32_t i = 0; i < servers; ++i)
    {
        plugs.servers.push_back(CopyServer(cluster, server, i, variant.rails));
    }
    JoinByFabric(cluster, plugs, variant.fabric);
    cluster.Validate();
    return variant.bundling == Bundling::CABLES ? SplitBundles(cluster) : cluster;
}

NetworkBill
CountNetwork(const Cluster& cluster)
{
    NetworkBill bill;
    const Link* access = FindAccess(cluster);
    const auto& vertices = cluster.GetVertices();
    std::vector<uint64_t> ports(vertices.size());
    for (const Link& link : cluster.GetLinks())
    {
        const bool isA = vertices[link.a].kind == VertexKind::SWITCH;
        const bool isB = vertices[link.b].kind == VertexKind::SWITCH;
        if (!isA && !isB)
        {
            continue;
        }
        const double unit = access == nullptr ? link.bytesPerSecond : access->bytesPerSecond;
        const auto cables =
            static_cast<uint64_t>(std::max(1.0, std::ceil(link.bytesPerSecond / unit - 1e-6)));
        bill.cables += cables;
        ports[link.a] += isA ? cables : 0;
        ports[link.b] += isB ? cables : 0;
    }
    for (VertexId id = 0; id < vertices.size(); ++id)
    {
        if (vertices[id].kind == VertexKind::SWITCH)
        {
            ++bill.switches;
            bill.ports += ports[id];
            bill.largestSwitch = std::max(bill.largestSwitch, ports[id]);
        }
    }
    return bill;
}

} // namespace proteus
} // namespace ns3
