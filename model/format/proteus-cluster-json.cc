/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cluster-json.h"

#include "ns3/proteus-cpu-vendor.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-json.h"
#include "ns3/proteus-server-preset.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

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
constexpr uint64_t MOST_BUFFER_BYTES = uint64_t{1} << 40;
constexpr double MOST_RATIO = 1e6;
constexpr uint32_t MOST_COPY_ENGINES = 1000;

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
    {"reverse_bytes", &LinkFraming::reverseBytes, 0},
    {"sm_packet_header_bytes", &LinkFraming::smPacketHeaderBytes, 0},
    {"sm_reverse_bytes", &LinkFraming::smReverseBytes, 0},
    {"multimem_packet_bytes", &LinkFraming::multimemPacketBytes, 0},
    {"reduce_header_bytes", &LinkFraming::reduceHeaderBytes, 0},
    {"reduce_reverse_bytes", &LinkFraming::reduceReverseBytes, 0},
    {"multicast_header_bytes", &LinkFraming::multicastHeaderBytes, 0},
    {"multicast_reverse_bytes", &LinkFraming::multicastReverseBytes, 0},
};

/// Name in the file and place in the struct of the rates of a vertex, in GB/s; 0 for no limit.
struct RateField
{
    const char* key;
    double Vertex::*field;
    bool isOfGpu; //!< of a GPU, or else of all that are none
    bool isOfCpu; //!< of a CPU as well
};

constexpr RateField RATE_FIELDS[] = {
    {"memory_gbytes_per_s", &Vertex::memoryBytesPerSecond, true, true},
    {"copy_engine_gbytes_per_s", &Vertex::copyEngineBytesPerSecond, true, false},
    {"sm_copy_gbytes_per_s", &Vertex::smCopyBytesPerSecond, true, false},
    {"forward_gbytes_per_s", &Vertex::forwardBytesPerSecond, false, true},
};

/// Name in the file and place in the struct of what a vertex may be able to do.
struct FlagField
{
    const char* key;
    bool Vertex::*field;
    bool standard; //!< what is left out of a file
};

constexpr FlagField FLAG_FIELDS[] = {
    {"peer_to_peer", &Vertex::peerToPeer, true},
    {"gpu_direct_rdma", &Vertex::gpuDirectRdma, true},
    {"multicast", &Vertex::multicast, false},
    {"reduction", &Vertex::reduction, false},
};

/// Name in the file and place in the struct of the probabilities of a link.
struct ProbabilityField
{
    const char* key;
    double Link::*field;
};

constexpr ProbabilityField PROBABILITY_FIELDS[] = {
    {"loss_probability", &Link::lossProbability},
    {"bit_error_rate", &Link::bitErrorRate},
};

/// A framing that a link may name.
struct Generation
{
    LinkTechnology technology;
    uint32_t number;
};

constexpr Generation GENERATIONS[] = {
    {LinkTechnology::NVLINK, 2},
    {LinkTechnology::NVLINK, 3},
    {LinkTechnology::NVLINK, 4},
    {LinkTechnology::NVLINK, 5},
    {LinkTechnology::PCIE, 3},
    {LinkTechnology::PCIE, 4},
    {LinkTechnology::PCIE, 5},
};

/// @param x a framing @param y another one @return whether they are equal
bool
IsSame(const LinkFraming& x, const LinkFraming& y)
{
    return std::all_of(std::begin(FRAMING_FIELDS),
                       std::end(FRAMING_FIELDS),
                       [&](const FramingField& field) { return x.*field.field == y.*field.field; });
}

/// @param json a number of GB/s @param least smallest one @return bytes/s, a whole number
double
ReadRate(const JsonValue& json, double least)
{
    return std::round(json.AsNumber(least, MOST_GBYTES_PER_S) * GBYTE);
}

/// @param kind of a vertex @return what it may say
std::vector<const char*>
GetVertexKeys(VertexKind kind)
{
    const bool isGpu = kind == VertexKind::GPU;
    std::vector<const char*> keys{"name", "kind", "server"};
    if (isGpu)
    {
        keys.insert(keys.end(), {"model", "copy_engines", "peer_to_peer"});
    }
    for (const RateField& field : RATE_FIELDS)
    {
        if (field.isOfGpu == isGpu || (field.isOfCpu && kind == VertexKind::CPU))
        {
            keys.push_back(field.key);
        }
    }
    if (!isGpu)
    {
        for (const FlagField& field : FLAG_FIELDS)
        {
            keys.push_back(field.key);
        }
        keys.push_back("buffer_bytes");
    }
    if (kind == VertexKind::CPU)
    {
        keys.push_back("vendor");
    }
    return keys;
}

/// @param json name of a GPU's data sheet @return it
std::string
ReadModel(const JsonValue& json)
{
    const std::string& model = json.AsName();
    if (model.empty())
    {
        json.Fail("must name the GPU's data sheet, e.g. \"A100-SXM4-80GB\"");
    }
    return json.Check([&] { return FindGpuModel(model).sheet.model; });
}

/// Reads what only a GPU says.
void
ReadGpu(const JsonValue& json, Vertex& vertex)
{
    vertex.model = ReadModel(json.Get("model"));
    if (const auto copyEngines = json.Find("copy_engines"))
    {
        vertex.copyEngines = static_cast<uint32_t>(copyEngines->AsWhole(0, MOST_COPY_ENGINES));
    }
}

/// Reads what a vertex may be able to do.
void
ReadFlags(const JsonValue& json, Vertex& vertex)
{
    for (const FlagField& field : FLAG_FIELDS)
    {
        if (const auto flag = json.Find(field.key))
        {
            vertex.*field.field = flag->AsBool();
        }
    }
    const bool isNic = vertex.kind == VertexKind::NIC;
    const auto peers = json.Find("peer_to_peer");
    if (!peers || (!isNic && vertex.kind != VertexKind::CPU))
    {
        return;
    }
    // A NIC's only peers are GPUs; a CPU that does not tell GPUs and NICs apart means both.
    if (!json.Has("gpu_direct_rdma"))
    {
        vertex.gpuDirectRdma = vertex.peerToPeer;
    }
    else if (isNic)
    {
        peers->Fail("a NIC that has gpu_direct_rdma has no peer_to_peer, which means the same");
    }
    vertex.peerToPeer = isNic || vertex.peerToPeer;
}

/// @param json a vertex @return it
Vertex
ReadVertex(const JsonValue& json)
{
    Vertex vertex;
    const JsonValue kind = json.Get("kind");
    const std::string& kindName = kind.AsString();
    vertex.kind = kind.Check([&] { return VertexKindFromString(kindName); });
    const bool isGpu = vertex.kind == VertexKind::GPU;
    json.AllowKeys(isGpu ? "a GPU" : "a vertex that is no GPU", GetVertexKeys(vertex.kind));

    vertex.name = json.Get("name").AsName();
    if (const auto server = json.Find("server"))
    {
        vertex.server = static_cast<int32_t>(server->AsWhole(0, MAX_SERVERS - 1));
    }
    if (const auto vendor = vertex.kind == VertexKind::CPU ? json.Find("vendor") : std::nullopt)
    {
        vertex.model = vendor->AsString();
        vendor->Check([&] { return CpuVendorFromString(vertex.model); });
    }
    if (isGpu)
    {
        ReadGpu(json, vertex);
    }
    for (const RateField& field : RATE_FIELDS)
    {
        if (const auto rate = json.Find(field.key))
        {
            const bool isLimited = rate->AsNumber(0, MOST_GBYTES_PER_S) != 0;
            vertex.*field.field = isLimited ? ReadRate(*rate, 1 / GBYTE) : 0;
        }
    }
    ReadFlags(json, vertex);
    if (const auto buffer = json.Find("buffer_bytes"))
    {
        vertex.bufferBytes = buffer->AsWhole(0, MOST_BUFFER_BYTES);
    }
    return vertex;
}

/// @param json a link @param a one end @param b the other end
/// @return what it says of technology, rate, delay, cost and framing
Link
ReadLinkProperties(const JsonValue& json, const Vertex& a = {}, const Vertex& b = {})
{
    Link link;
    const JsonValue technology = json.Get("technology");
    const std::string& technologyName = technology.AsString();
    link.technology = technology.Check([&] { return LinkTechnologyFromString(technologyName); });
    link.delayPs = DefaultDelayPs(link.technology);
    link.cost = DefaultCost(link.technology);
    link.framing = DefaultFraming(link.technology, 0, a, b);
    if (const auto generation = json.Find("generation"))
    {
        if (link.technology != LinkTechnology::NVLINK && link.technology != LinkTechnology::PCIE)
        {
            generation->Fail("only nvlink and pcie have generations");
        }
        const auto number = static_cast<uint32_t>(generation->AsWhole(1, 99));
        link.framing =
            generation->Check([&] { return DefaultFraming(link.technology, number, a, b); });
    }
    link.bytesPerSecond = ReadRate(json.Get("rate_gbytes_per_s"), 1 / GBYTE);
    if (const auto delay = json.Find("delay_ns"))
    {
        const double ps = delay->AsNumber(0, MOST_DELAY_NS) * PS_PER_NS;
        link.delayPs = std::llround(ps);
        if (link.delayPs == 0 && ps > 0)
        {
            delay->Fail("must be 0 or at least 0.001, a picosecond, not " + delay->Shown());
        }
    }
    if (const auto cost = json.Find("cost"))
    {
        link.cost = static_cast<uint32_t>(cost->AsWhole(1, Link::MAX_COST));
    }
    if (const auto framing = json.Find("framing"))
    {
        std::vector<const char*> keys;
        for (const FramingField& field : FRAMING_FIELDS)
        {
            keys.push_back(field.key);
        }
        framing->AllowKeys("a framing", keys);
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

/// @param json a link @param cluster with its vertices @return it
Link
ReadLink(const JsonValue& json, const Cluster& cluster)
{
    json.AllowKeys("a link",
                   {"a",
                    "b",
                    "technology",
                    "generation",
                    "rate_gbytes_per_s",
                    "delay_ns",
                    "cost",
                    "framing",
                    PROBABILITY_FIELDS[0].key,
                    PROBABILITY_FIELDS[1].key});
    const JsonValue a = json.Get("a");
    const JsonValue b = json.Get("b");
    const std::string& nameA = a.AsString();
    const std::string& nameB = b.AsString();
    const VertexId idA = a.Check([&] { return cluster.FindVertex(nameA); });
    const VertexId idB = b.Check([&] { return cluster.FindVertex(nameB); });
    const auto& vertices = cluster.GetVertices();
    Link link = ReadLinkProperties(json, vertices[idA], vertices[idB]);
    link.a = idA;
    link.b = idB;
    for (const ProbabilityField& field : PROBABILITY_FIELDS)
    {
        if (const auto probability = json.Find(field.key))
        {
            link.*field.field = probability->AsNumber(0, 1);
            if (link.*field.field == 1)
            {
                probability->Fail("must be below 1: a link that loses everything is none; leave "
                                  "it out, or let a scenario fail it (link-down)");
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
    Cluster cluster(root.Has("name") ? root.Get("name").AsName() : "");
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

/// @param root of a file in a short form @return its fabric, or the default one
FabricOptions
ReadFabric(const JsonValue& root)
{
    FabricOptions options;
    const auto fabric = root.Find("fabric");
    if (!fabric)
    {
        return options;
    }
    const JsonValue kind = fabric->Get("kind");
    options.kind = kind.AsString();
    const auto fields = kind.Check([&] { return GetFabricOptionFields(options.kind); });
    std::vector<const char*> keys{"kind"};
    for (const FabricOptionField& field : fields)
    {
        keys.push_back(field.name);
    }
    fabric->AllowKeys("the fabric " + options.kind, keys);
    for (const FabricOptionField& field : fields)
    {
        const auto json = fabric->Find(field.name);
        if (json && field.real != nullptr)
        {
            options.*field.real = json->AsNumber(field.least, MOST_RATIO);
        }
        else if (json)
        {
            options.*field.whole = static_cast<uint32_t>(
                json->AsWhole(field.least, std::numeric_limits<uint32_t>::max()));
        }
    }
    return options;
}

/// @param root of a file with servers of a preset @return the cluster
Cluster
ReadServers(const JsonValue& root)
{
    root.AllowKeys("a cluster made from a preset",
                   {"format", "version", "server", "servers", "fabric"});
    const JsonValue preset = root.Get("server");
    const std::string& name = preset.AsName();
    const ServerPreset server = preset.Check([&name] { return GetServerPreset(name); });
    uint32_t servers = 1;
    if (const auto number = root.Find("servers"))
    {
        servers = static_cast<uint32_t>(number->AsWhole(1, MAX_SERVERS));
    }
    const FabricOptions options = ReadFabric(root);
    return root.Check([&] { return MakeCluster(server, servers, options); });
}

/// @param root of a file with plain hosts @return the cluster
Cluster
ReadHosts(const JsonValue& root)
{
    root.AllowKeys("a cluster of plain hosts",
                   {"format", "version", "hosts", "model", "link", "fabric"});
    const auto hosts = static_cast<uint32_t>(root.Get("hosts").AsWhole(1, MAX_SERVERS));
    const JsonValue json = root.Get("link");
    json.AllowKeys("a host's link",
                   {"technology", "generation", "rate_gbytes_per_s", "delay_ns", "framing"});
    const Link link = ReadLinkProperties(json);
    const FabricOptions options = ReadFabric(root);
    std::string model = "A100-SXM4-80GB";
    if (const auto name = root.Find("model"))
    {
        model = ReadModel(*name);
    }
    return root.Check([&] {
        return MakeHostCluster(hosts,
                               options,
                               link.technology,
                               link.bytesPerSecond,
                               link.delayPs,
                               link.framing,
                               model);
    });
}

using Json = nlohmann::ordered_json;

Json
ToJson(const Vertex& vertex)
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
    if (vertex.kind == VertexKind::CPU && !vertex.model.empty())
    {
        json["vendor"] = vertex.model;
    }
    for (const RateField& field : RATE_FIELDS)
    {
        if (vertex.*field.field != 0)
        {
            json[field.key] = vertex.*field.field / GBYTE;
        }
    }
    if (vertex.copyEngines != 0)
    {
        json["copy_engines"] = vertex.copyEngines;
    }
    for (const FlagField& field : FLAG_FIELDS)
    {
        if (vertex.*field.field != field.standard)
        {
            json[field.key] = vertex.*field.field;
        }
    }
    if (!vertex.peerToPeer && vertex.kind == VertexKind::CPU)
    {
        json["gpu_direct_rdma"] = vertex.gpuDirectRdma; // or it would be as peer_to_peer
    }
    if (vertex.bufferBytes != 0)
    {
        json["buffer_bytes"] = vertex.bufferBytes;
    }
    return json;
}

Json
ToJson(const Cluster& cluster, const Link& link)
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
    for (const ProbabilityField& field : PROBABILITY_FIELDS)
    {
        if (link.*field.field != 0)
        {
            json[field.key] = link.*field.field;
        }
    }
    const Vertex& a = cluster.GetVertices()[link.a];
    const Vertex& b = cluster.GetVertices()[link.b];
    LinkFraming standard = DefaultFraming(link.technology, 0, a, b);
    for (const Generation& generation : GENERATIONS)
    {
        const LinkFraming framing = DefaultFraming(generation.technology, generation.number, a, b);
        if (link.technology == generation.technology && !IsSame(link.framing, standard) &&
            IsSame(link.framing, framing))
        {
            json["generation"] = generation.number;
            standard = framing;
        }
    }
    for (const FramingField& field : FRAMING_FIELDS)
    {
        if (link.framing.*field.field != standard.*field.field)
        {
            json["framing"][field.key] = link.framing.*field.field;
        }
    }
    return json;
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
        return ReadServers(root);
    }
    if (root.Has("hosts"))
    {
        return ReadHosts(root);
    }
    if (root.Has("vertices"))
    {
        return ReadExplicit(root);
    }
    root.Fail("needs either the key 'server', with the name of a preset, or 'hosts' and 'link', or "
              "'vertices' and 'links'");
}

void
WriteClusterJson(const Cluster& cluster, std::ostream& output)
{
    // One vertex or link a line: readable, and differences between files are too.
    output << "{\"format\": " << Json(FORMAT) << ", \"version\": " << VERSION
           << ", \"name\": " << Json(cluster.GetName()) << ",\n \"vertices\": [";
    const char* separator = "\n  ";
    for (const Vertex& vertex : cluster.GetVertices())
    {
        output << separator << ToJson(vertex);
        separator = ",\n  ";
    }
    output << "],\n \"links\": [";
    separator = "\n  ";
    for (const Link& link : cluster.GetLinks())
    {
        output << separator << ToJson(cluster, link);
        separator = ",\n  ";
    }
    output << "]}\n";
}

} // namespace proteus
} // namespace ns3
