/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLUSTER_H
#define PROTEUS_CLUSTER_H

#include <cstdint>
#include <map>
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

/// @ingroup proteus
/// Who moves the bytes of a GPU; the two put different packets on NVLink and PCIe.
enum class CopyMethod : uint8_t
{
    DMA,          //!< a copy engine, or the DMA of a NIC
    SM,           //!< loads and stores of a kernel, as NCCL's kernels do
    SM_REDUCE,    //!< loads of a kernel whose answers switches add up (NVLS: multimem.ld_reduce)
    SM_MULTICAST, //!< stores of a kernel that switches multiply (NVLS: multimem.st)
};

/// @ingroup proteus
/// Number of CopyMethod values.
constexpr std::size_t COPY_METHODS = 4;

/**
 * @ingroup proteus
 * How payload becomes bytes on a wire. A unit of up to `unitBytes` of payload travels as one
 * record. Its wire size is the payload, unitHeaderBytes, and packetHeaderBytes for every packet of
 * up to packetBytes of payload inside it. A unit without payload (acknowledgement, clear-to-send)
 * has controlBytes. What the bytes are moved by may have numbers of its own, see For().
 *
 * Every packet of payload also costs reverseBytes on the opposite direction (acknowledgements of
 * the data link layer, credits, write responses). These wait for nothing: they take first what the
 * opposite direction leaves idle.
 */
struct LinkFraming
{
    uint32_t unitBytes{4096};        //!< most payload of one unit (MTU, or burst on NVLink, PCIe)
    uint32_t unitHeaderBytes{0};     //!< once per unit
    uint32_t packetBytes{4096};      //!< most payload of one packet inside the unit
    uint32_t packetHeaderBytes{0};   //!< once per packet
    uint32_t controlBytes{32};       //!< wire size of a unit without payload
    uint32_t reverseBytes{0};        //!< once per packet, on the opposite direction
    uint32_t smPacketHeaderBytes{0}; //!< CopyMethod::SM: instead of packetHeaderBytes; 0: the same
    uint32_t smReverseBytes{0};      //!< CopyMethod::SM: instead of reverseBytes; 0: the same
    /// CopyMethod::SM_REDUCE, SM_MULTICAST: instead of packetBytes; 0: as CopyMethod::SM, and the
    /// next four do not count.
    uint32_t multimemPacketBytes{0};
    uint32_t reduceHeaderBytes{0};     //!< once per packet of an answer: its header
    uint32_t reduceReverseBytes{0};    //!< the request for it, on the opposite direction
    uint32_t multicastHeaderBytes{0};  //!< once per packet of a store: header and address
    uint32_t multicastReverseBytes{0}; //!< the write response, on the opposite direction

    /// @param method who moves the bytes @return the framing of such units, for all methods alike
    LinkFraming For(CopyMethod method) const
    {
        LinkFraming framing = *this;
        if (method != CopyMethod::DMA)
        {
            framing.packetHeaderBytes =
                smPacketHeaderBytes > 0 ? smPacketHeaderBytes : packetHeaderBytes;
            framing.reverseBytes = smReverseBytes > 0 ? smReverseBytes : reverseBytes;
        }
        if (multimemPacketBytes > 0 &&
            (method == CopyMethod::SM_REDUCE || method == CopyMethod::SM_MULTICAST))
        {
            const bool reduce = method == CopyMethod::SM_REDUCE;
            framing.packetBytes = multimemPacketBytes;
            framing.packetHeaderBytes = reduce ? reduceHeaderBytes : multicastHeaderBytes;
            framing.reverseBytes = reduce ? reduceReverseBytes : multicastReverseBytes;
        }
        framing.smPacketHeaderBytes = 0;
        framing.smReverseBytes = 0;
        framing.multimemPacketBytes = 0;
        return framing;
    }

    /// @param payloadBytes payload of one unit @return bytes it costs on the opposite direction
    uint64_t ReverseBytes(uint64_t payloadBytes) const
    {
        return (payloadBytes + packetBytes - 1) / packetBytes * reverseBytes;
    }

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

    double memoryBytesPerSecond{0};     //!< GPUs, CPUs: reads and writes together; 0: no limit
    uint32_t copyEngines{0};            //!< GPUs: DMA copies at a time; 0: no limit
    double copyEngineBytesPerSecond{0}; //!< GPUs: of one copy engine; 0: no limit
    double smCopyBytesPerSecond{0};     //!< GPUs: of one thread block of a kernel; 0: no limit

    /// Payload that it forwards of what one link brings in, as through the root complex of a CPU;
    /// 0: no limit.
    double forwardBytesPerSecond{0};
    /// CPUs: false where GPUs below do not write to each other, so that copies take two steps,
    /// through host memory (NVIDIA/nccl, src/graph/paths.cc, ncclTopoCheckP2p()). PCIe switches:
    /// false where access control services (ACS) send what goes from one device below to another up
    /// and down again, as Paths does, and NICs do not reach GPUs. GPUs: false where only NICs do.
    bool peerToPeer{true};
    /// CPUs and NICs: false where GPUs and NICs do not write to each other (no GPUDirect RDMA, the
    /// same file, ncclTopoCheckGdr()), so that copies take two steps.
    bool gpuDirectRdma{true};
    bool multicast{false};   //!< switches: copy a unit to several ports (NVLS, SHARP)
    bool reduction{false};   //!< switches: combine units of several ports into one (NVLS, SHARP)
    uint64_t bufferBytes{0}; //!< SWITCH: memory shared by all ports; 0: the fabric's default
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
    double lossProbability{0}; //!< of a unit on either direction, 0 to 1
    double bitErrorRate{0};    //!< probability that a bit is wrong, which loses its unit; 0 to 1

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
 * A cluster. GPUs are numbered by rank in the order in which they were added, see RankGpus().
 */
class Cluster
{
  public:
    /// @param name what reports call the cluster
    explicit Cluster(const std::string& name = "");

    /**
     * @param vertex to add; its index is set here
     * @return its id
     * @throw std::invalid_argument for a name that is empty or used twice, a server below -1, a
     * GPU, PCIe switch, CPU or NIC that is in no server, a rate that is negative or not finite, or
     * a capability that such a vertex cannot have
     */
    VertexId AddVertex(const Vertex& vertex);

    /**
     * @param link to add
     * @return its id
     * @throw std::invalid_argument for an end that does not exist, a link from a vertex to itself,
     * or a rate, delay, framing, cost or probability that makes no sense
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

    /**
     * Ranks the GPUs anew, for the placement of jobs. Which NIC a GPU has does not depend on its
     * rank.
     * @param first vertices of GPUs, which get the ranks from 0 on; the others follow in the order
     * that they have now
     * @throw std::invalid_argument for a vertex that is no GPU, or stands there twice
     */
    void RankGpus(const std::vector<VertexId>& first);

    /// @param rank of a GPU @return the server that it is in @throw std::out_of_range if there is
    /// none
    int32_t GetServer(uint32_t rank) const
    {
        return m_vertices[m_gpus.at(rank)].server;
    }

    /// Ranks that follow one another.
    struct RankRange
    {
        uint32_t first{0};
        uint32_t end{0}; //!< behind the last one
    };

    /**
     * The ranks of a server in a row: its GPUs, unless they were ranked otherwise (RankGpus).
     * @param rank of a GPU
     * @return the ranks before and behind it, without a gap, that are in its server; GPUs of no
     * server count as in one
     * @throw std::out_of_range if there is no such rank
     */
    RankRange GetServerRanks(uint32_t rank) const;

    /// @return number of servers
    uint32_t GetNServers() const
    {
        return m_nServers;
    }

    /// @param name of a vertex @return its id @throw std::invalid_argument if there is none
    VertexId FindVertex(const std::string& name) const;

    /**
     * The NIC through which a GPU sends to other servers: the nearest by routing cost. GPUs with
     * the same nearest NICs take them in turn, so that each gets its own rail where there are
     * enough of them, as NCCL has it on a rail-aligned server.
     * @param gpu vertex of a GPU
     * @return vertex of the NIC, NO_VERTEX where the server has none
     */
    VertexId GetNic(VertexId gpu) const;

    /**
     * What is one machine to a collective: the vertices of a server, together with those of servers
     * that NVLink joins to it (the rack of an NVL72); a GPU without Vertex::peerToPeer is alone.
     * @param vertex a vertex
     * @return number of the first server of its NVLink domain; below 0: it is of none, or alone
     */
    int32_t GetDomain(VertexId vertex) const;

    /// "No such vertex".
    static constexpr VertexId NO_VERTEX = 0xffffffff;

    /**
     * Checks the whole: at least one GPU, no server without a vertex, and every GPU reaches every
     * other without passing through a third or, by NICs, through a third server.
     * @throw std::invalid_argument that names what is wrong
     */
    void Validate() const;

  private:
    /// @param vertex a vertex @return its server, or a number below 0 of its own
    int32_t DomainKey(VertexId vertex) const;
    /// @param from a vertex @return the nearest NICs of its server, ascending
    std::vector<VertexId> FindNearestNics(VertexId from) const;
    /// Makes one NVLink domain of two. @param a a vertex @param b another one
    void JoinDomains(VertexId a, VertexId b);

    std::string m_name;
    std::vector<Vertex> m_vertices;
    std::vector<Link> m_links;
    std::vector<std::vector<Port>> m_ports;
    std::vector<VertexId> m_gpus;
    std::unordered_map<int32_t, int32_t> m_domainOf; //!< of what has been joined, see DomainKey()
    std::unordered_map<std::string, VertexId> m_byName;               //!< vertices
    std::map<std::pair<VertexKind, int32_t>, uint32_t> m_countByKind; //!< per kind and server
    mutable std::unordered_map<VertexId, VertexId> m_nics; //!< what GetNic() has found out
    uint32_t m_nServers{0};
};

/**
 * @ingroup proteus
 * Framing that a technology has by default. The sources stand beside the numbers in the .cc file,
 * which also says which numbers are calibrated to measurements.
 * @param technology of the link
 * @param generation of NVLink (2 to 5) or PCI Express (3 to 5); 0 for the default: NVLink 3, PCI
 * Express 4. Other technologies have one framing
 * @return its framing
 * @throw std::invalid_argument for a generation that is not known
 */
LinkFraming DefaultFraming(LinkTechnology technology, uint32_t generation = 0);

/**
 * @ingroup proteus
 * Framing of the link between a NIC and its switch: that of the technology, plus the gap that the
 * NIC leaves between packets, where that has been measured.
 * @param technology of the link
 * @param bytesPerSecond rate of the link
 * @return its framing
 */
LinkFraming NicFraming(LinkTechnology technology, double bytesPerSecond);

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
 * Routing cost that a technology has by default. The costs make paths prefer NVLink to PCIe within
 * a server, and a PCIe switch to the CPU; a path through the network costs more than any inside a
 * server.
 * @param technology of the link
 * @return its cost
 */
uint32_t DefaultCost(LinkTechnology technology);

/**
 * @ingroup proteus
 * How servers, or plain hosts, are joined. What plugs in are the NICs of a server, or the hosts
 * themselves; "server" stands for both below. The links of a fabric have the technology, delay and
 * framing of what plugs in, and its rate unless something else is said. All parts of a kind are
 * built alike, even those that are not filled with servers.
 *
 * - single-switch: one ideal switch "switch0" that every NIC plugs into.
 * - leaf-spine: server s is cabled to "leaf(s / serversPerLeaf)" with all its NICs; every leaf has
 *   one Link to every spine. The rate of that Link realises the ratio, whatever number of cables it
 *   would take: serversPerLeaf x NICs per server x NIC rate / oversubscription / spines.
 * - rail-optimised: servers come in groups of serversPerGroup; NIC i of every server of group g
 *   plugs into "rail(g).(i)", and every rail switch has one Link to every "spine(s)", of the rate
 *   serversPerGroup x NIC rate / oversubscription / spines.
 * - fat-tree: three levels of switches with switchPorts ports k each (Al-Fares, Loukissas and
 *   Vahdat, "A Scalable, Commodity Data Center Network Architecture", SIGCOMM 2008): NIC n (of all
 *   servers in order) plugs into edge switch n / (k/2); pods of k/2 "edge(pod).(i)" and k/2
 *   "aggregation(pod).(i)"; (k/2)^2 "core(i)", those from i x k/2 on joined with aggregation switch
 *   i of every pod. Only pods with servers are built. All links have the rate of a NIC; those above
 *   the edge are slower by the oversubscription.
 * - dragonfly+: groups of leavesPerGroup "leaf(g).(i)" and spinesPerGroup "spine(g).(i)", every
 *   leaf joined with every spine of its group, and spine i with spine i of every other group
 *   (Shpiner et al., "Dragonfly+: Low Cost Topology for Scaling Datacenters", HiPINEB 2017). A
 *   leaf has serversPerLeaf servers, its uplinks the capacity of those / oversubscription, and the
 *   global links of a spine as much as its leaves.
 * - torus-2d, torus-3d: every server has a router of its own, "router(x).(y)" or
 *   "router(x).(y).(z)", which all its NICs plug into, x fastest; it has one Link to both
 *   neighbours in each dimension, of the rate NICs per server x NIC rate / oversubscription. In a
 *   dimension of two routers the two links are one of twice the rate.
 * - nvlink-domain: the NVSwitches of all servers are joined by a second level, so that all GPUs are
 *   in one NVLink domain: NVSwitch i of every server has one Link to each of `spines` NVSwitches
 *   "nvspine(i).(s)", of the rate of all its GPUs / oversubscription / spines. NICs stay unplugged.
 */
struct FabricOptions
{
    std::string kind{"single-switch"}; //!< one of GetFabricKinds()
    double oversubscription{1.0};      //!< capacity towards servers to that beyond, >= 1; not of
                                       //!< single-switch
    uint32_t serversPerLeaf{4};        //!< leaf-spine, dragonfly+
    uint32_t spines{4};                //!< leaf-spine, rail-optimised, nvlink-domain
    uint32_t serversPerGroup{32}; //!< rail-optimised; 32 as in a scalable unit of a DGX SuperPOD
    uint32_t switchPorts{0};      //!< fat-tree: ports of a switch, an even number; 0: as few as do
    uint32_t leavesPerGroup{4};   //!< dragonfly+
    uint32_t spinesPerGroup{4};   //!< dragonfly+
    uint32_t sizeX{0}; //!< torus: routers along x; 0: as near to a square or cube as can be
    uint32_t sizeY{0}; //!< torus: routers along y; 0: as above
    uint32_t sizeZ{0}; //!< torus-3d: routers along z; 0: as above
};

/// @ingroup proteus
/// An option of a fabric: how files and command lines call it, and where FabricOptions keeps it.
struct FabricOptionField
{
    const char* name;               //!< as JSON files write it, e.g. "servers_per_leaf"
    const char* help;               //!< one line, without the kinds that have it
    uint32_t FabricOptions::*whole; //!< where it is, or null
    double FabricOptions::*real;    //!< where it is, or null
    uint32_t least;                 //!< smallest value
};

/**
 * @ingroup proteus
 * @param kind of a fabric
 * @return the options it has, besides "kind"
 * @throw std::invalid_argument that lists the known kinds
 */
std::vector<FabricOptionField> GetFabricOptionFields(const std::string& kind);

/// @ingroup proteus
/// Most servers of a cluster that is made from a preset or read from a file.
constexpr uint32_t MAX_SERVERS = 65536;

/// @ingroup proteus
/// @return names of the server presets, e.g. "dgx-a100"
std::vector<std::string> GetServerPresets();

/// @ingroup proteus
/// @param name of a server preset, or another one of the same server, e.g. "HGX H100", in any
/// spelling of hyphens and capitals
/// @return name of the preset; empty if there is none
std::string FindServerPreset(const std::string& name);

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

/**
 * @ingroup proteus
 * Builds plain hosts, with no server inside, and joins them: for what looks at a network alone.
 *
 * Host h is the vertex h and the GPU of rank h, in server h, called "host(h)"; it has exactly one
 * port, port 0, and one link, straight into its switch. The switches follow, from vertex `hosts`
 * on: in a fat tree pod by pod, of each pod first the edge and then the aggregation switches, and
 * the cores last; in the other fabrics level by level from the hosts. All links have the same
 * technology, delay and framing, and the same rate unless the options of the fabric ask for others.
 *
 * @param hosts how many, 1 to MAX_SERVERS
 * @param fabric how they are joined; every kind but nvlink-domain
 * @param technology of all links
 * @param bytesPerSecond rate of a host's link, per direction
 * @param delayPs of every link
 * @param framing of every link
 * @param model name of a data sheet that the hosts have as their GPU, for programs that compute as
 * well
 * @return the cluster, validated
 * @throw std::invalid_argument that says which argument or option makes no sense
 */
Cluster MakeHostCluster(uint32_t hosts,
                        const FabricOptions& fabric,
                        LinkTechnology technology,
                        double bytesPerSecond,
                        int64_t delayPs,
                        const LinkFraming& framing,
                        const std::string& model = "A100-SXM4-80GB");

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLUSTER_H
