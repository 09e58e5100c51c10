/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cluster-json.h"

#include "proteus-json.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr const char* FORMAT = "proteus-cluster";
constexpr uint32_t VERSION = 1;
constexpr double GBYTE = 1e9;
constexpr double PS_PER_NS = 1e3;
constexpr double MOST_GBYTES_PER_S = 1e6; // far above any link, and exact in bytes/s
constexpr double MOST_DELAY_NS = 1e12;    // 1000 s, and exact in picoseconds
constexpr uint32_t MOST_BYTES = 1u << 30; // of a unit, a packet or a header

/// Name in the file and place in the struct of the fields of LinkFraming.
struct FramingField
{
    const char* key;
    uint32_t LinkFraming::*field;
    uint32_t least;
};

constexpr FramingField FRAMING_FIELDS[] = {
    {"unit_bytes", &LinkFraming::unitBytes, 1},
    {"unit_header_bytes", &LinkFraming::unitHeaderBytes, 0},
    {"packet_bytes", &LinkFraming::packetBytes, 1},
    {"packet_header_bytes", &LinkFraming::packetHeaderBytes, 0},
    {"control_bytes", &LinkFraming::controlBytes, 1},
};

/// @param json a vertex @return it
Vertex
ReadVertex(const JsonValue& json)
{
    Vertex vertex;
    const JsonValue kind = json.Get("kind");
    const std::string& kindName = kind.AsString();
    vertex.kind = kind.Check([&] { return VertexKindFromString(kindName); });
    if (vertex.kind == VertexKind::GPU)
    {
        json.AllowKeys("a GPU", {"name", "kind", "server", "model"});
        vertex.model = json.Get("model").AsString();
        if (vertex.model.empty())
        {
            json.Get("model").Fail("must name the GPU's data sheet, e.g. \"A100-SXM4-80GB\"");
        }
    }
    else
    {
        json.AllowKeys("a vertex that is no GPU", {"name", "kind", "server"});
    }
    vertex.name = json.Get("name").AsString();
    if (const auto server = json.Find("server"))
    {
        vertex.server = static_cast<int32_t>(server->AsWhole(0, MAX_SERVERS - 1));
    }
    return vertex;
}

/// @param json a link @param cluster with its vertices @return it
Link
ReadLink(const JsonValue& json, const Cluster& cluster)
{
    json.AllowKeys("a link",
                   {"a", "b", "technology", "rate_gbytes_per_s", "delay_ns", "cost", "framing"});
    Link link;
    const JsonValue a = json.Get("a");
    const JsonValue b = json.Get("b");
    const std::string& nameA = a.AsString();
    const std::string& nameB = b.AsString();
    link.a = a.Check([&] { return cluster.FindVertex(nameA); });
    link.b = b.Check([&] { return cluster.FindVertex(nameB); });
    const JsonValue technology = json.Get("technology");
    const std::string& technologyName = technology.AsString();
    link.technology = technology.Check([&] { return LinkTechnologyFromString(technologyName); });
    link.delayPs = DefaultDelayPs(link.technology);
    link.cost = DefaultCost(link.technology);
    link.framing = DefaultFraming(link.technology);

    link.bytesPerSecond =
        std::round(json.Get("rate_gbytes_per_s").AsNumber(1 / GBYTE, MOST_GBYTES_PER_S) * GBYTE);
    if (const auto delay = json.Find("delay_ns"))
    {
        link.delayPs = std::llround(delay->AsNumber(0, MOST_DELAY_NS) * PS_PER_NS);
    }
    if (const auto cost = json.Find("cost"))
    {
        link.cost = static_cast<uint32_t>(cost->AsWhole(1, Link::MAX_COST));
    }
    if (const auto framing = json.Find("framing"))
    {
        framing->AllowKeys("a framing",
                           {FRAMING_FIELDS[0].key,
                            FRAMING_FIELDS[1].key,
                            FRAMING_FIELDS[2].key,
                            FRAMING_FIELDS[3].key,
                            FRAMING_FIELDS[4].key});
        for (const FramingField& field : FRAMING_FIELDS)
        {
            if (const auto bytes = framing->Find(field.key))
            {
                link.framing.*field.field =
                    static_cast<uint32_t>(bytes->AsWhole(field.least, MOST_BYTES));
            }
        }
    }
    return link;
}

/// @param root of a file in the explicit form @return the cluster
Cluster
ReadExplicit(const JsonValue& root)
{
    root.AllowKeys("a cluster", {"format", "version", "name", "vertices", "links"});
    Cluster cluster(root.Has("name") ? root.Get("name").AsString() : "");
    const JsonValue vertices = root.Get("vertices");
    for (std::size_t i = 0; i < vertices.Size(); ++i)
    {
        const JsonValue json = vertices.At(i);
        const Vertex vertex = ReadVertex(json);
        json.Check([&] { return cluster.AddVertex(vertex); });
    }
    const JsonValue links = root.Get("links");
    for (std::size_t i = 0; i < links.Size(); ++i)
    {
        const JsonValue json = links.At(i);
        const Link link = ReadLink(json, cluster);
        json.Check([&] { return cluster.AddLink(link); });
    }
    root.Check([&] { cluster.Validate(); });
    return cluster;
}

/// @param root of a file in the short form @return the cluster
Cluster
ReadShort(const JsonValue& root)
{
    root.AllowKeys("a cluster made from a preset",
                   {"format", "version", "server", "servers", "fabric"});
    const std::string server = root.Get("server").AsString();
    uint32_t servers = 1;
    if (const auto number = root.Find("servers"))
    {
        servers = static_cast<uint32_t>(number->AsWhole(1, MAX_SERVERS));
    }
    FabricOptions options;
    if (const auto fabric = root.Find("fabric"))
    {
        constexpr uint32_t MOST = std::numeric_limits<uint32_t>::max();
        const std::string kind = fabric->Get("kind").AsString();
        const std::string what = "the fabric " + kind;
        options.kind = kind;
        if (kind == "leaf-spine")
        {
            fabric->AllowKeys(what, {"kind", "oversubscription", "servers_per_leaf", "spines"});
            if (const auto ratio = fabric->Find("oversubscription"))
            {
                options.oversubscription = ratio->AsNumber(1, 1e6);
            }
            if (const auto number = fabric->Find("servers_per_leaf"))
            {
                options.serversPerLeaf = static_cast<uint32_t>(number->AsWhole(1, MOST));
            }
            if (const auto number = fabric->Find("spines"))
            {
                options.spines = static_cast<uint32_t>(number->AsWhole(1, MOST));
            }
        }
        else
        {
            const auto kinds = GetFabricKinds();
            if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end())
            {
                fabric->AllowKeys(what, {"kind"});
            }
        }
    }
    return root.Check([&] { return MakeCluster(server, servers, options); });
}

} // namespace

Cluster
ReadClusterJson(std::istream& input, const std::string& fileName)
{
    const JsonDocument document(input, fileName);
    document.CheckFormat(FORMAT, VERSION);
    const JsonValue root = document.GetRoot();
    if (root.Has("server"))
    {
        return ReadShort(root);
    }
    if (root.Has("vertices"))
    {
        return ReadExplicit(root);
    }
    root.Fail(
        "needs either the key 'server', with the name of a preset, or 'vertices' and 'links'");
}

void
WriteClusterJson(const Cluster& cluster, std::ostream& output)
{
    // One vertex or link a line: readable, and differences between files are too.
    using Json = nlohmann::ordered_json;
    output << "{\"format\": " << Json(FORMAT) << ", \"version\": " << VERSION
           << ", \"name\": " << Json(cluster.GetName()) << ",\n \"vertices\": [";
    const char* separator = "\n  ";
    for (const Vertex& vertex : cluster.GetVertices())
    {
        Json json{{"name", vertex.name}, {"kind", ToString(vertex.kind)}};
        if (vertex.server >= 0)
        {
            json["server"] = vertex.server;
        }
        if (vertex.kind == VertexKind::GPU)
        {
            json["model"] = vertex.model;
        }
        output << separator << json;
        separator = ",\n  ";
    }
    output << "],\n \"links\": [";
    separator = "\n  ";
    for (const Link& link : cluster.GetLinks())
    {
        Json json{{"a", cluster.GetVertices()[link.a].name},
                  {"b", cluster.GetVertices()[link.b].name},
                  {"technology", ToString(link.technology)},
                  {"rate_gbytes_per_s", link.bytesPerSecond / GBYTE}};
        if (link.delayPs != DefaultDelayPs(link.technology))
        {
            json["delay_ns"] = static_cast<double>(link.delayPs) / PS_PER_NS;
        }
        if (link.cost != DefaultCost(link.technology))
        {
            json["cost"] = link.cost;
        }
        const LinkFraming standard = DefaultFraming(link.technology);
        for (const FramingField& field : FRAMING_FIELDS)
        {
            if (link.framing.*field.field != standard.*field.field)
            {
                json["framing"][field.key] = link.framing.*field.field;
            }
        }
        output << separator << json;
        separator = ",\n  ";
    }
    output << "]}\n";
}

Cluster
LoadCluster(const std::string& nameOrPath, uint32_t servers, const FabricOptions& fabric)
{
    const auto presets = GetServerPresets();
    if (std::find(presets.begin(), presets.end(), nameOrPath) != presets.end())
    {
        return MakeCluster(nameOrPath, std::max(servers, 1u), fabric);
    }
    std::ifstream file(nameOrPath, std::ios::binary);
    if (!file)
    {
        std::string message =
            "there is neither a preset nor a readable file '" + nameOrPath + "'; presets:";
        const char* separator = " ";
        for (const std::string& preset : presets)
        {
            message += separator + preset;
            separator = ", ";
        }
        throw std::invalid_argument(message);
    }
    Cluster cluster = ReadClusterJson(file, nameOrPath);
    if (servers != 0 && servers != cluster.GetNServers())
    {
        throw std::invalid_argument(nameOrPath + ": has " + std::to_string(cluster.GetNServers()) +
                                    " servers, but " + std::to_string(servers) +
                                    " are asked for; ask for as many, or leave the number out");
    }
    return cluster;
}

} // namespace proteus
} // namespace ns3
