/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-classic-ring.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <queue>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint32_t MOST_CHANNELS = 16; // MAXCHANNELS / 2
constexpr int64_t TIMEOUT = 1 << 14;   // NCCL_SEARCH_TIMEOUT
constexpr double LEAST_RATIO = 0.49;   // of the best speed, below which none is tried
constexpr double SLACK = 1e-6;         // of a sum of rates
constexpr std::array<NcclPath, 6> KINDS{NcclPath::NVL,
                                        NcclPath::NVB,
                                        NcclPath::PIX,
                                        NcclPath::PXB,
                                        NcclPath::PHB,
                                        NcclPath::SYS};

const std::vector<double> INTRA{44, 30, 22, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
const std::vector<double>
    INTER{48, 30, 24, 22, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12};

/// One direction of all links between two places.
struct Arc
{
    uint32_t to{0};
    double width{0};    //!< 1e9 bytes per second
    bool isPcie{false}; //!< whether Intel's CPUs slow it down
};

/// A way through a server.
struct Way
{
    std::vector<uint32_t> arcs; //!< in order
    double width{0};            //!< of the narrowest
    NcclPath type{NcclPath::SYS};
    bool throughCpu{false};
};

/// One server with the GPUs of a group: its links as NCCL counts them, and the ways over them.
class Server
{
  public:
    Server(const Cluster& cluster, const std::vector<VertexId>& gpus, bool isAlone)
        : m_cluster(cluster),
          m_gpus(gpus),
          m_capability(FindComputeCapability(cluster.GetVertices()[gpus[0]].model))
    {
        for (VertexId id = 0; id < cluster.GetVertices().size(); ++id)
        {
            AddPlace(id);
        }
        AddArcs();
        FindGpuWays();
        if (!isAlone)
        {
            FindNicWays();
        }
        for (uint32_t gpu = 0; gpu < gpus.size(); ++gpu)
        {
            m_total = std::max(m_total, TotalRate(gpu));
        }
    }

    uint32_t CountGpus() const
    {
        return static_cast<uint32_t>(m_gpus.size());
    }

    uint32_t CountNics() const
    {
        return static_cast<uint32_t>(m_nics.size());
    }

    const Way& GetWay(uint32_t a, uint32_t b) const
    {
        return m_ways[a * m_gpus.size() + b];
    }

    const Way& GetWayIn(uint32_t nic, uint32_t gpu) const
    {
        return m_in[nic * m_gpus.size() + gpu];
    }

    const Way& GetWayOut(uint32_t gpu, uint32_t nic) const
    {
        return m_out[nic * m_gpus.size() + gpu];
    }

    /// @return what all channels together can have
    double GetTotal() const
    {
        return m_total;
    }

    /// @return what one channel can have
    double GetMost() const
    {
        double most = 0;
        for (const Way& way : m_nics.empty() ? m_ways : m_in)
        {
            most = std::max(most, way.width);
        }
        return most;
    }

    /// @return rates of all arcs
    std::vector<double> GetWidths() const
    {
        std::vector<double> widths;
        for (const Arc& arc : m_arcs)
        {
            widths.push_back(arc.width);
        }
        return widths;
    }

    /**
     * Takes a rate from a way.
     * @param way to take it from
     * @param fromGpu whether it begins at a GPU
     * @param speed to take
     * @param left what is left of the arcs
     * @return whether there was room; if not, some of it is taken
     */
    bool Take(const Way& way, bool fromGpu, double speed, std::vector<double>& left) const
    {
        // INTEL_P2P_OVERHEAD; the servers of NVIDIA with Ampere have AMD's CPUs.
        const bool isSlowed =
            fromGpu && way.throughCpu && way.type == NcclPath::PHB && m_capability != 80;
        for (const uint32_t id : way.arcs)
        {
            const double rate = m_arcs[id].isPcie && isSlowed ? speed * 6 / 5 : speed;
            left[id] -= rate;
            // Reads of GPUs before Ampere cost the opposite direction, too.
            if (!fromGpu && IsGpu(m_arcs[id].to) && m_capability < 80)
            {
                left[id ^ 1] -= rate / 8;
                if (left[id ^ 1] < -SLACK)
                {
                    return false;
                }
            }
            if (left[id] < -SLACK)
            {
                return false;
            }
        }
        return true;
    }

  private:
    bool IsGpu(uint32_t place) const
    {
        return place < m_gpus.size();
    }

    VertexKind KindOf(VertexId id) const
    {
        return m_cluster.GetVertices()[id].kind;
    }

    /// Gives a vertex of the server a place: GPUs of the group first, all NVSwitches one.
    void AddPlace(VertexId id)
    {
        if (m_placeOf.empty())
        {
            for (uint32_t i = 0; i < m_gpus.size(); ++i)
            {
                m_placeOf[m_gpus[i]] = i;
                m_kinds.push_back(VertexKind::GPU);
            }
        }
        const Vertex& vertex = m_cluster.GetVertices()[id];
        if (vertex.server != m_cluster.GetVertices()[m_gpus[0]].server ||
            vertex.kind == VertexKind::GPU)
        {
            return;
        }
        if (vertex.kind == VertexKind::NVSWITCH && m_nvswitch)
        {
            m_placeOf[id] = *m_nvswitch;
            return;
        }
        m_placeOf[id] = static_cast<uint32_t>(m_kinds.size());
        if (vertex.kind == VertexKind::NVSWITCH)
        {
            m_nvswitch = m_placeOf[id];
        }
        m_kinds.push_back(vertex.kind);
    }

    double WidthOf(const Link& link) const
    {
        const double raw = link.bytesPerSecond / 1e9;
        switch (link.technology)
        {
        case LinkTechnology::NVLINK: // 18 of 20 GB/s (Pascal), 22 of 25
            return m_capability >= 70 ? raw * 22 / 25 : raw * 18 / 20;
        case LinkTechnology::PCIE: // 12 of 15.75 GB/s (Gen3 x16)
            return raw * 12 / 15.75;
        default:
            return raw;
        }
    }

    void AddArcs()
    {
        std::map<std::pair<uint32_t, uint32_t>, uint32_t> arcOf;
        m_first.resize(m_kinds.size());
        for (const Link& link : m_cluster.GetLinks())
        {
            if (!m_placeOf.count(link.a) || !m_placeOf.count(link.b))
            {
                continue;
            }
            const uint32_t a = m_placeOf[link.a];
            const uint32_t b = m_placeOf[link.b];
            const auto place = arcOf.emplace(std::minmax(a, b), m_arcs.size());
            if (place.second)
            {
                const bool isPcie = link.technology == LinkTechnology::PCIE;
                m_first[a].push_back(static_cast<uint32_t>(m_arcs.size()));
                m_arcs.push_back({b, 0, isPcie});
                m_first[b].push_back(static_cast<uint32_t>(m_arcs.size()));
                m_arcs.push_back({a, 0, isPcie});
            }
            m_arcs[place.first->second].width += WidthOf(link);
            m_arcs[place.first->second ^ 1].width += WidthOf(link);
        }
    }

    double TotalRate(uint32_t gpu) const
    {
        double nvlink = 0;
        double other = 0;
        for (const uint32_t arc : m_first[gpu])
        {
            (m_arcs[arc].isPcie ? other : nvlink) += m_arcs[arc].width;
        }
        return std::max(nvlink, other);
    }

    /// @return the arc from one place to another, if there is one
    std::optional<uint32_t> FindArc(uint32_t from, uint32_t to) const
    {
        for (const uint32_t arc : m_first[from])
        {
            if (m_arcs[arc].to == to)
            {
                return arc;
            }
        }
        return std::nullopt;
    }

    Way MakeWay(std::vector<uint32_t> arcs, NcclPath type) const
    {
        Way way;
        way.width = 1e9;
        way.type = type;
        for (const uint32_t arc : arcs)
        {
            way.width = std::min(way.width, m_arcs[arc].width);
            way.throughCpu = way.throughCpu || m_kinds[m_arcs[arc].to] == VertexKind::CPU;
        }
        way.arcs = std::move(arcs);
        return way;
    }

    /// @return the shortest way through PCI Express switches and CPUs
    Way FindTreeWay(uint32_t from, uint32_t to) const
    {
        std::vector<uint32_t> cameBy(m_kinds.size(), NO_ID);
        std::queue<uint32_t> places;
        places.push(from);
        while (!places.empty() && cameBy[to] == NO_ID)
        {
            const uint32_t at = places.front();
            places.pop();
            for (const uint32_t arc : m_first[at])
            {
                const uint32_t next = m_arcs[arc].to;
                const bool isPassable =
                    m_kinds[next] == VertexKind::PCIE_SWITCH || m_kinds[next] == VertexKind::CPU;
                if (next != from && cameBy[next] == NO_ID && (isPassable || next == to) &&
                    (m_arcs[arc].isPcie || !IsGpu(next)))
                {
                    cameBy[next] = arc;
                    places.push(next);
                }
            }
        }
        Way none;
        if (cameBy[to] == NO_ID)
        {
            return none;
        }
        std::vector<uint32_t> arcs;
        uint32_t cpus = 0;
        uint32_t switches = 0;
        for (uint32_t at = to; at != from; at = m_arcs[cameBy[at] ^ 1].to)
        {
            arcs.push_back(cameBy[at]);
            cpus += m_kinds[at] == VertexKind::CPU ? 1 : 0;
            switches += m_kinds[at] == VertexKind::PCIE_SWITCH ? 1 : 0;
        }
        std::reverse(arcs.begin(), arcs.end());
        return MakeWay(std::move(arcs),
                       cpus > 1       ? NcclPath::SYS
                       : cpus == 1    ? NcclPath::PHB
                       : switches > 1 ? NcclPath::PXB
                                      : NcclPath::PIX);
    }

    Way FindGpuWay(uint32_t a, uint32_t b) const
    {
        if (const auto direct = FindArc(a, b); direct && !m_arcs[*direct].isPcie)
        {
            return MakeWay({*direct}, NcclPath::NVL);
        }
        if (m_nvswitch)
        {
            const auto up = FindArc(a, *m_nvswitch);
            const auto down = FindArc(*m_nvswitch, b);
            if (up && down)
            {
                return MakeWay({*up, *down}, NcclPath::NVL);
            }
        }
        Way best = FindTreeWay(a, b);
        for (uint32_t via = 0; via < m_gpus.size(); ++via)
        {
            const auto first = FindArc(a, via);
            const auto second = FindArc(via, b);
            if (first && second)
            {
                Way way = MakeWay({*first, *second}, NcclPath::NVB);
                best = way.width > best.width ? way : best;
            }
        }
        return best;
    }

    void FindGpuWays()
    {
        const auto n = CountGpus();
        m_ways.resize(std::size_t{n} * n);
        for (uint32_t a = 0; a < n; ++a)
        {
            for (uint32_t b = 0; b < n; ++b)
            {
                if (a != b)
                {
                    m_ways[a * n + b] = FindGpuWay(a, b);
                }
            }
        }
    }

    /// @return the CPU nearest to a GPU
    uint32_t FindCpu(uint32_t gpu) const
    {
        std::size_t least = SIZE_MAX;
        uint32_t best = NO_ID;
        for (uint32_t place = 0; place < m_kinds.size(); ++place)
        {
            if (m_kinds[place] == VertexKind::CPU)
            {
                const Way way = FindTreeWay(gpu, place);
                if (!way.arcs.empty() && way.arcs.size() < least)
                {
                    least = way.arcs.size();
                    best = place;
                }
            }
        }
        return best;
    }

    /// @return a way between a GPU and a NIC, by way of the GPU's CPU where the NIC does not read
    /// the memory of GPUs
    Way FindNicWay(uint32_t from, uint32_t to, uint32_t gpu) const
    {
        const uint32_t cpu = m_capability >= 80 ? NO_ID : FindCpu(gpu);
        if (cpu == NO_ID)
        {
            return FindTreeWay(from, to);
        }
        const Way first = FindTreeWay(from, cpu);
        const Way second = FindTreeWay(cpu, to);
        if (first.arcs.empty() || second.arcs.empty())
        {
            return Way();
        }
        std::vector<uint32_t> arcs = first.arcs;
        arcs.insert(arcs.end(), second.arcs.begin(), second.arcs.end());
        const bool isBetweenSockets = std::any_of(arcs.begin(), arcs.end(), [this](uint32_t arc) {
            return m_kinds[m_arcs[arc].to] == VertexKind::CPU &&
                   m_kinds[m_arcs[arc ^ 1].to] == VertexKind::CPU;
        });
        return MakeWay(std::move(arcs), isBetweenSockets ? NcclPath::SYS : NcclPath::PHB);
    }

    void FindNicWays()
    {
        for (const auto& [vertex, nic] : m_placeOf)
        {
            if (KindOf(vertex) != VertexKind::NIC)
            {
                continue;
            }
            double rate = 0;
            for (const Port& port : m_cluster.GetPorts(vertex))
            {
                const Link& link = m_cluster.GetLinks()[port.link];
                const bool isNetwork = link.technology == LinkTechnology::INFINIBAND ||
                                       link.technology == LinkTechnology::ROCE;
                rate += isNetwork ? link.bytesPerSecond / 1e9 : 0;
            }
            // The link to the network: one arc out, one arc in, at the end of every way.
            const auto out = static_cast<uint32_t>(m_arcs.size());
            m_arcs.push_back({NO_ID, rate, false});
            m_arcs.push_back({NO_ID, rate, false});
            for (uint32_t gpu = 0; gpu < m_gpus.size(); ++gpu)
            {
                m_in.push_back(FindNicWay(nic, gpu, gpu));
                m_out.push_back(FindNicWay(gpu, nic, gpu));
                for (Way* way : {&m_in.back(), &m_out.back()})
                {
                    if (!way->arcs.empty())
                    {
                        way->width = std::min(way->width, rate);
                        way->arcs.push_back(way == &m_in.back() ? out + 1 : out);
                    }
                }
            }
            m_nics.push_back(nic);
        }
        if (m_nics.empty())
        {
            throw std::invalid_argument("classic rules: a server of a group that spans servers has "
                                        "no NIC");
        }
    }

    const Cluster& m_cluster;
    std::vector<VertexId> m_gpus;
    uint32_t m_capability;
    std::map<VertexId, uint32_t> m_placeOf;
    std::vector<VertexKind> m_kinds; //!< by place
    std::optional<uint32_t> m_nvswitch;
    std::vector<Arc> m_arcs;                    //!< the opposite of arc i is i ^ 1
    std::vector<std::vector<uint32_t>> m_first; //!< by place: arcs from there
    std::vector<Way> m_ways;                    //!< from GPU to GPU
    std::vector<uint32_t> m_nics;               //!< places
    std::vector<Way> m_in;                      //!< by NIC and GPU
    std::vector<Way> m_out;                     //!< by NIC and GPU
    double m_total{0};
};

/// The search in one server.
class RingSearch
{
  public:
    explicit RingSearch(const Server& server)
        : m_server(server)
    {
    }

    NcclPattern Find()
    {
        const std::vector<double>& speeds = m_server.CountNics() > 0 ? INTER : INTRA;
        const double most = m_server.GetMost();
        for (std::size_t i = 0; i < speeds.size() && !IsOptimal(); ++i)
        {
            if (speeds[i] > most + SLACK && i + 1 < speeds.size())
            {
                continue;
            }
            if (m_best.channels > 0 && speeds[i] / m_best.interGBps <= LEAST_RATIO)
            {
                break;
            }
            TryKinds(speeds[i]);
        }
        if (m_best.channels == 0)
        {
            m_best.channels = 1; // NCCL's fall-back
            m_best.intraGBps = m_best.interGBps = 0.1;
            m_best.typeIntra = m_best.typeInter = NcclPath::SYS;
        }
        if (m_best.intraGBps >= 25) // ncclTopoDupChannels()
        {
            const uint32_t twice = std::min(2 * m_best.channels, MOST_CHANNELS);
            m_best.intraGBps /= (twice + m_best.channels - 1) / m_best.channels;
            m_best.channels = twice;
        }
        return m_best;
    }

  private:
    bool IsOptimal() const
    {
        return m_best.channels * m_best.interGBps >= m_server.GetTotal() - SLACK;
    }

    /// From the best kinds of ways to the worst.
    void TryKinds(double speed)
    {
        const bool isAlone = m_server.CountNics() == 0;
        for (std::size_t inter = 2; inter < KINDS.size(); ++inter)
        {
            const std::size_t last = isAlone ? KINDS.size() - 1 : inter;
            for (std::size_t intra = 0; intra <= last && !IsOptimal(); ++intra)
            {
                const bool isWorse = m_best.channels > 0 && KINDS[intra] > m_best.typeIntra;
                if (isWorse && intra > 0)
                {
                    break;
                }
                m_typeIntra = m_server.CountGpus() == 1 ? NcclPath::LOC : KINDS[intra];
                m_typeInter = KINDS[inter];
                m_speed = speed;
                TrySpeed();
            }
            if (isAlone || (m_best.channels > 0 && m_best.typeInter <= KINDS[inter]))
            {
                break;
            }
        }
    }

    void TrySpeed()
    {
        for (const bool isSame : {true, false})
        {
            if (IsOptimal())
            {
                return;
            }
            m_isSame = isSame;
            m_budget = TIMEOUT;
            m_orders.clear();
            AddChannel(m_server.GetWidths());
        }
    }

    /// Begins a channel.
    void AddChannel(const std::vector<double>& left)
    {
        const uint32_t n = m_server.CountGpus();
        if (m_orders.size() == MOST_CHANNELS)
        {
            return;
        }
        std::vector<uint32_t> order;
        if (m_server.CountNics() == 0)
        {
            order = {0};
            Visit(order, NO_ID, left);
            return;
        }
        for (uint32_t i = 0; i < m_server.CountNics(); ++i)
        {
            const uint32_t nic =
                (i + static_cast<uint32_t>(m_orders.size())) % m_server.CountNics();
            double widest = 0;
            std::size_t fewest = SIZE_MAX;
            for (uint32_t gpu = 0; gpu < n; ++gpu)
            {
                const Way& way = m_server.GetWayIn(nic, gpu);
                if (way.width > widest || (way.width == widest && way.arcs.size() < fewest))
                {
                    widest = way.width;
                    fewest = way.arcs.size();
                }
            }
            for (uint32_t gpu = 0; gpu < n; ++gpu)
            {
                const Way& way = m_server.GetWayIn(nic, gpu);
                const bool isReplay = m_isSame && !m_orders.empty();
                if (way.type > m_typeInter || way.width != widest || way.arcs.size() != fewest ||
                    (isReplay && m_orders[0][0] != gpu))
                {
                    continue;
                }
                std::vector<double> now = left;
                if (m_server.Take(way, false, m_speed, now))
                {
                    order = {gpu};
                    Visit(order, nic, now);
                }
            }
        }
    }

    /// Goes on with a channel.
    void Visit(std::vector<uint32_t>& order, uint32_t nic, const std::vector<double>& left)
    {
        if (--m_budget <= 0 || IsOptimal())
        {
            return;
        }
        const uint32_t n = m_server.CountGpus();
        const uint32_t at = order.back();
        if (order.size() == n)
        {
            const Way& way =
                nic == NO_ID ? m_server.GetWay(at, order[0]) : m_server.GetWayOut(at, nic);
            std::vector<double> now = left;
            if (way.type <= (nic == NO_ID ? m_typeIntra : m_typeInter) && !way.arcs.empty() &&
                m_server.Take(way, true, m_speed, now))
            {
                Keep(order, now);
            }
            return;
        }
        for (const uint32_t next : GetCandidates(order))
        {
            const Way& way = m_server.GetWay(at, next);
            std::vector<double> now = left;
            if (m_server.Take(way, true, m_speed, now))
            {
                order.push_back(next);
                Visit(order, nic, now);
                order.pop_back();
            }
        }
    }

    /// @return the GPUs that may follow, those with the widest ways first
    std::vector<uint32_t> GetCandidates(const std::vector<uint32_t>& order) const
    {
        const uint32_t n = m_server.CountGpus();
        if (m_isSame && !m_orders.empty())
        {
            return {m_orders[0][order.size()]};
        }
        std::vector<uint32_t> candidates;
        for (uint32_t i = 1; i < n; ++i)
        {
            const uint32_t next = (order.back() + i) % n;
            const Way& way = m_server.GetWay(order.back(), next);
            if (std::find(order.begin(), order.end(), next) == order.end() && !way.arcs.empty() &&
                way.type <= m_typeIntra && way.width >= m_speed - SLACK)
            {
                candidates.push_back(next);
            }
        }
        std::stable_sort(candidates.begin(), candidates.end(), [&](uint32_t a, uint32_t b) {
            return m_server.GetWay(order.back(), a).width > m_server.GetWay(order.back(), b).width;
        });
        return candidates;
    }

    /// A channel is complete: is it the best so far, and is there room for another?
    void Keep(const std::vector<uint32_t>& order, const std::vector<double>& left)
    {
        m_orders.push_back(order);
        const auto channels = static_cast<uint32_t>(m_orders.size());
        if (channels * m_speed > m_best.channels * m_best.interGBps + SLACK)
        {
            m_best.channels = channels;
            m_best.intraGBps = m_best.interGBps = m_speed;
            m_best.typeIntra = m_typeIntra;
            m_best.typeInter = m_typeInter;
            m_best.sameChannels = m_isSame || channels == 1;
        }
        if (!IsOptimal())
        {
            AddChannel(left);
        }
        m_orders.pop_back();
    }

    const Server& m_server;
    NcclPattern m_best;
    double m_speed{0};
    NcclPath m_typeIntra{NcclPath::NVL};
    NcclPath m_typeInter{NcclPath::PIX};
    bool m_isSame{true};
    int64_t m_budget{0};
    std::vector<std::vector<uint32_t>> m_orders; //!< of the channels so far
};

} // namespace

NcclPattern
SearchClassicRing(const Cluster& cluster, const std::vector<VertexId>& gpus)
{
    if (gpus.size() < 2)
    {
        throw std::invalid_argument("classic rules: a ring of fewer than two GPUs");
    }
    std::map<int32_t, std::vector<VertexId>> byServer;
    for (const VertexId gpu : gpus)
    {
        byServer[cluster.GetVertices()[gpu].server].push_back(gpu);
    }
    std::map<std::vector<uint32_t>, NcclPattern> found; // servers with the same GPUs are alike
    std::optional<NcclPattern> least;
    for (auto& [number, members] : byServer)
    {
        std::sort(members.begin(), members.end());
        std::vector<uint32_t> indices;
        for (const VertexId gpu : members)
        {
            indices.push_back(cluster.GetVertices()[gpu].index);
        }
        if (!found.count(indices))
        {
            const Server server(cluster, members, byServer.size() == 1);
            found[indices] = RingSearch(server).Find();
        }
        const NcclPattern& pattern = found[indices];
        if (!least)
        {
            least = pattern;
            continue;
        }
        least->channels = std::min(least->channels, pattern.channels);
        least->intraGBps = std::min(least->intraGBps, pattern.intraGBps);
        least->interGBps = std::min(least->interGBps, pattern.interGBps);
        least->typeIntra = std::max(least->typeIntra, pattern.typeIntra);
        least->typeInter = std::max(least->typeInter, pattern.typeInter);
        least->sameChannels = least->sameChannels && pattern.sameChannels;
    }
    return *least;
}

} // namespace proteus
} // namespace ns3
