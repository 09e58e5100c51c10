/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLUSTER_H
#define PROTEUS_CLUSTER_H

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The machine: GPUs, switches, NICs, CPUs, and the links between them.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Position of a vertex in its cluster.
using VertexId = uint32_t;
/// @ingroup proteus
/// Position of a link in its cluster.
using LinkId = uint32_t;

/// @ingroup proteus
/// What stands at a vertex of the cluster graph.
enum class VertexKind : uint8_t
{
    GPU,
    NVSWITCH,
    PCIE_SWITCH,
    CPU, //!< a socket with its PCIe root complex
    NIC,
    SWITCH, //!< an InfiniBand or Ethernet switch
};

/// @ingroup proteus
/// What a link is made of; decides its framing and its flow control.
enum class LinkTechnology : uint8_t
{
    NVLINK,
    PCIE,
    CPU_INTERCONNECT, //!< between sockets: QPI, UPI, Infinity Fabric
    INFINIBAND,
    ROCE, //!< RoCEv2 over Ethernet
};

/// @ingroup proteus
/// @param kind a value @return its lower-case name as files and tables write it, e.g. "gpu"
const char* ToString(VertexKind kind);
/// @ingroup proteus
/// @param technology a value @return its lower-case name as files write it, e.g. "nvlink"
const char* ToString(LinkTechnology technology);

/**
 * @ingroup proteus
 * Inverse of ToString().
 * @param text the name
 * @return the value
 * @throw std::invalid_argument that lists the known names
 */
VertexKind VertexKindFromString(const std::string& text);
/**
 * @ingroup proteus
 * Inverse of ToString().
 * @param text the name
 * @return the value
 * @throw std::invalid_argument that lists the known names
 */
LinkTechnology LinkTechnologyFromString(const std::string& text);

/**
 * @ingroup proteus
 * How payload becomes bytes on a wire. A unit of up to `unitBytes` of payload travels as one
 * record; its wire size is payload + unitHeaderBytes + packetHeaderBytes for every packet of up
 * to packetBytes of payload inside it. A unit without payload (acknowledgement, clear-to-send)
 * counts controlBytes.
 */
struct LinkFraming
{
    uint32_t unitBytes{4096};      //!< most payload of one unit (MTU, or burst on NVLink, PCIe)
    uint32_t unitHeaderBytes{0};   //!< once per unit
    uint32_t packetBytes{4096};    //!< most payload of one packet inside the unit
    uint32_t packetHeaderBytes{0}; //!< once per packet
    uint32_t controlBytes{32};     //!< wire size of a unit without payload

    /// @param payloadBytes payload of one unit @return its bytes on the wire
    uint64_t WireBytes(uint64_t payloadBytes) const
    {
        return payloadBytes == 0
                   ? controlBytes
                   : payloadBytes + unitHeaderBytes +
                         (payloadBytes + packetBytes - 1) / packetBytes * packetHeaderBytes;
    }
};

/// @ingroup proteus
/// A vertex of the cluster graph.
struct Vertex
{
    std::string name;                 //!< unique, e.g. "n0.gpu3", "leaf1"
    VertexKind kind{VertexKind::GPU}; //!< what stands there
    int32_t server{-1};               //!< which server it is in; -1 for network switches
    uint32_t index{0}; //!< counts the vertices of its kind in its server; AddVertex() sets it
    std::string model; //!< GPUs: name of the data sheet, e.g. "A100-SXM4-80GB"
};

/// @ingroup proteus
/// A full-duplex link. Rates are per direction. Several parallel lanes or links of one technology
/// between the same two vertices (six NVLinks, a bundle of uplinks) are one Link of the summed
/// rate: the hardware stripes traffic over them.
struct Link
{
    VertexId a{0};                                     //!< one end
    VertexId b{0};                                     //!< the other end
    LinkTechnology technology{LinkTechnology::NVLINK}; //!< decides framing and flow control
    double bytesPerSecond{0}; //!< raw rate of one direction, all lanes together
    int64_t delayPs{0};       //!< propagation and the receiving device's forwarding latency
    LinkFraming framing;      //!< how payload becomes wire bytes
    uint32_t cost{1}; //!< routing metric, 1 to MAX_COST; paths of least summed cost are used

    /// Largest routing metric of one link; keeps the sum along any path inside 32 bits.
    static constexpr uint32_t MAX_COST = 65535;

    /// @param from one end @return the other end
    VertexId Other(VertexId from) const
    {
        return from == a ? b : a;
    }
};

/// @ingroup proteus
/// One end of a link as its vertex sees it.
struct Port
{
    LinkId link{0};       //!< which link
    VertexId neighbor{0}; //!< vertex at its other end
};

/**
 * @ingroup proteus
 * A cluster. GPUs are numbered by rank in the order in which they were added.
 */
class Cluster
{
  public:
    /// @param name what reports call the cluster
    explicit Cluster(const std::string& name = "");

    /**
     * @param vertex to add; its index is set here
     * @return its id
     * @throw std::invalid_argument for a name that is empty or used twice, a server below -1, or a
     * GPU, PCIe switch, CPU or NIC that is in no server
     */
    VertexId AddVertex(const Vertex& vertex);

    /**
     * @param link to add
     * @return its id
     * @throw std::invalid_argument for an end that does not exist, a link from a vertex to itself,
     * or a rate, delay, framing or cost that makes no sense
     */
    LinkId AddLink(const Link& link);

    /// @return what reports call the cluster
    const std::string& GetName() const
    {
        return m_name;
    }

    /// @return all vertices, by id
    const std::vector<Vertex>& GetVertices() const
    {
        return m_vertices;
    }

    /// @return all links, by id
    const std::vector<Link>& GetLinks() const
    {
        return m_links;
    }

    /// @param id a vertex @return its ports, in the order in which the links were added
    const std::vector<Port>& GetPorts(VertexId id) const
    {
        return m_ports[id];
    }

    /// @return vertices of the GPUs, by rank
    const std::vector<VertexId>& GetGpus() const
    {
        return m_gpus;
    }

    /// @return number of servers
    uint32_t GetNServers() const
    {
        return m_nServers;
    }

    /// @param name of a vertex @return its id @throw std::invalid_argument if there is none
    VertexId FindVertex(const std::string& name) const;

    /**
     * The NIC that a GPU sends to other servers through: the nearest by routing cost; GPUs with
     * the same nearest NICs take them in turn, so that each gets its own rail where there are
     * enough of them (NCCL's choice on a rail-aligned server).
     * @param gpu vertex of a GPU
     * @return vertex of the NIC, NO_VERTEX where the server has none
     */
    VertexId GetNic(VertexId gpu) const;

    /// "No such vertex".
    static constexpr VertexId NO_VERTEX = 0xffffffff;

    /**
     * Checks the whole: at least one GPU, no server without a vertex, and every GPU reaches every
     * other without passing through a third.
     * @throw std::invalid_argument that names what is wrong
     */
    void Validate() const;

  private:
    std::string m_name;
    std::vector<Vertex> m_vertices;
    std::vector<Link> m_links;
    std::vector<std::vector<Port>> m_ports;
    std::vector<VertexId> m_gpus;
    std::unordered_map<std::string, VertexId> m_byName;               //!< vertices
    std::map<std::pair<VertexKind, int32_t>, uint32_t> m_countByKind; //!< per kind and server
    uint32_t m_nServers{0};
};

/**
 * @ingroup proteus
 * Shortest paths of a cluster, with all alternatives of equal cost. A path runs through switches,
 * CPUs and NICs, never through a GPU. Computed per destination on first use
 * and kept: 8 bytes per vertex and destination, about 0.1 ms each for a thousand DGX GPUs. Not safe
 * to be called from two threads at once.
 */
class Paths
{
  public:
    /// @param cluster must outlive this object
    explicit Paths(const Cluster& cluster);

    /**
     * @param from a vertex
     * @param to a vertex
     * @return the positions in cluster.GetPorts(from) of all ports on a shortest path, ascending;
     * empty where `to` cannot be reached or is `from`
     */
    const std::vector<uint16_t>& NextPorts(VertexId from, VertexId to) const;

    /// @param from a vertex @param to a vertex @return summed cost; UNREACHABLE if there is no path
    uint32_t Distance(VertexId from, VertexId to) const;

    /// "No path".
    static constexpr uint32_t UNREACHABLE = 0xffffffff;

    /**
     * One shortest path.
     * @param from a vertex
     * @param to a vertex
     * @param choose picks among equal-cost ports: (vertex, number of choices) -> index
     * @return the links in order
     */
    template <typename F>
    std::vector<LinkId> Walk(VertexId from, VertexId to, F choose) const
    {
        std::vector<LinkId> links;
        while (from != to)
        {
            const auto& ports = NextPorts(from, to);
            if (ports.empty())
            {
                return {};
            }
            const auto& port = m_cluster.GetPorts(from)[ports[choose(from, ports.size())]];
            links.push_back(port.link);
            from = port.neighbor;
        }
        return links;
    }

  private:
    /// A list of ports; many vertices and destinations share one. An index in m_portLists.
    using PortListId = uint32_t;

    /// What is known about one destination.
    struct Tree
    {
        std::vector<uint32_t> distance;    //!< by vertex; empty until asked for
        std::vector<PortListId> nextPorts; //!< by vertex
    };

    /// Prepared form of the cluster for the shortest-path search.
    struct SearchGraph;

    /// @param to a vertex @return its tree, computed if it is not there yet
    const Tree& GetTree(VertexId to) const;

    const Cluster& m_cluster;
    std::shared_ptr<const SearchGraph> m_graph;
    mutable std::vector<Tree> m_trees; //!< by destination
    /// Distinct lists; the first is empty, then those of the single ports 0, 1, ...
    mutable std::deque<std::vector<uint16_t>> m_portLists;
    mutable std::map<std::vector<uint16_t>, PortListId> m_portListIds; //!< of several ports
};

/**
 * @ingroup proteus
 * Framing that a technology has by default. The sources are named beside the numbers.
 * @param technology of the link
 * @return its framing
 */
LinkFraming DefaultFraming(LinkTechnology technology);

/**
 * @ingroup proteus
 * Delay of one hop that a technology has by default: propagation plus what the receiving device
 * takes to forward. The sources, where there are any, are named beside the numbers.
 * @param technology of the link
 * @return its delay in picoseconds
 */
int64_t DefaultDelayPs(LinkTechnology technology);

/**
 * @ingroup proteus
 * Routing cost that a technology has by default: NVLink is preferred to PCIe within a server, a
 * PCIe switch to the CPU, and no path through the network is shorter than one inside the server.
 * @param technology of the link
 * @return its cost
 */
uint32_t DefaultCost(LinkTechnology technology);

/**
 * @ingroup proteus
 * How the servers of a preset are joined.
 *
 * single-switch: one ideal switch that every NIC of every server plugs into.
 *
 * leaf-spine: server s is cabled to leaf s / serversPerLeaf with all its NICs; every leaf has one
 * Link to every spine. The rate of that Link realises the ratio, whatever number of cables it would
 * take: (serversPerLeaf x NICs per server x NIC rate) / oversubscription / spines. All leaves are
 * built alike, so where the last one is not full its servers see less oversubscription.
 */
struct FabricOptions
{
    std::string kind{"single-switch"}; //!< "single-switch" or "leaf-spine"
    double oversubscription{1.0};      //!< leaf-spine: host capacity to uplinks of a leaf, >= 1
    uint32_t serversPerLeaf{4};        //!< leaf-spine
    uint32_t spines{4};                //!< leaf-spine
};

/// @ingroup proteus
/// Most servers of a cluster that is made from a preset or read from a file.
constexpr uint32_t MAX_SERVERS = 65536;

/// @ingroup proteus
/// @return names of the server presets, e.g. "dgx-a100"
std::vector<std::string> GetServerPresets();

/// @ingroup proteus
/// @return names of the fabrics, e.g. "leaf-spine"
std::vector<std::string> GetFabricKinds();

/**
 * @ingroup proteus
 * Builds servers of a preset and joins them.
 * @param preset name of a server preset
 * @param servers how many, 1 to MAX_SERVERS
 * @param fabric how they are joined; not used for one server
 * @return the cluster, validated
 * @throw std::invalid_argument that lists the known names, or says which option makes no sense
 */
Cluster MakeCluster(const std::string& preset,
                    uint32_t servers,
                    const FabricOptions& fabric = FabricOptions());

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLUSTER_H
