/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLASSIC_COST_H
#define PROTEUS_CLASSIC_COST_H

#include "proteus-classic-ring.h"

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <map>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a communication costs by the rules of Proteus (Duan et al., IEEE TPDS 2024), and how those
 * that run together share links there. Times are milliseconds, rates 1e9 bytes per second, as in
 * its publication.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Whether rules that the published program applies otherwise than its paper says are kept.
enum class ClassicRules : uint8_t
{
    /// As the program: of communications that run together all get the rate of the fastest; those
    /// inside a server are counted among the users of its NICs; the halves of a server's PCI
    /// Express tree are told apart by global ranks.
    PUBLISHED,
    /// As the paper: the rate over the number of sharers, each by itself; NICs are shared by what
    /// crosses them; ranks are those in the server.
    MENDED,
};

/// @ingroup proteus
/// A communication on its own.
struct ClassicCost
{
    double latencyUs{0};           //!< microseconds
    double gigabytesPerSecond{0};  //!< rate
    double megabytes{0};           //!< volume, 1e6 bytes
    double repetitions{1};         //!< the whole is done so often, as all-to-all is
    NcclPath type{NcclPath::LOC};  //!< worst way between GPUs of a server
    bool crossesServers{false};    //!< whether it needs NICs
    std::vector<DeviceId> members; //!< who takes part

    /// @param rate that it gets @return its time in milliseconds
    double GetMs(double rate) const
    {
        return (latencyUs + megabytes * 1e3 / rate) * 1e-3 * repetitions;
    }

    /// @return its time alone, in milliseconds
    double GetMs() const
    {
        return GetMs(gigabytesPerSecond);
    }
};

/**
 * @ingroup proteus
 * The cost model: NCCL 2.10.3's tuning of Ring with Simple, which the original always takes.
 *
 * With n ranks in N servers, C channels of s GB/s, busBw = C s (0.7 of it for four ranks of one
 * server), Li = 3.4 us over NVLink or 5.7, Ln = 9.6 us:
 *
 * | | bandwidth | latency in us |
 * |-|-|-|
 * | all-reduce | busBw n / (2 (n - 1)) | 8.4 + (2 (n - 1) - 2 (N - 1)) Li + 2 (N - 1) Ln, and 1.9
 * times that across servers from n / 16 * 65536 bytes on |
 * | all-gather, reduce-scatter | busBw n / (n - 1) | 8.4 + ((n - 1) - (N - 1)) Li + (N - 1) Ln |
 * | all others | busBw | 8.4 + (N = 1 ? Li : Ln) for channels of one order, else 8.4 + 28 n |
 *
 * All-reduce among eight TITAN Xp has 4.2 GB/s. All-to-all costs, g - 1 times, a broadcast of one
 * share with a tenth of the latency, or, across servers, half the latency and 1 / (2 N) of the
 * bandwidth.
 */
class ClassicCostModel
{
  public:
    /// @param cluster to run on; must outlive this object
    explicit ClassicCostModel(const Cluster& cluster);

    /**
     * @param collective what is computed
     * @param bytes as the Collective counts them
     * @param devices who takes part, by rank in the cluster
     * @return latency and bandwidth; nothing for a single device
     * @throw std::invalid_argument for a device that the cluster does not have
     */
    ClassicCost GetCost(Collective collective,
                        uint64_t bytes,
                        const std::vector<DeviceId>& devices) const;

    /// @return the cluster
    const Cluster& GetCluster() const
    {
        return m_cluster;
    }

    /// @param device a device @return which server it is in
    uint32_t GetServer(DeviceId device) const;
    /// @param device a device @return its number among the GPUs of its server
    uint32_t GetLocalRank(DeviceId device) const;
    /// @param server a server @return GPUs that it has
    uint32_t CountGpus(uint32_t server) const;

  private:
    /// @param sorted members of a group @return the ring that NCCL's search finds for them
    const NcclPattern& FindRing(const std::vector<DeviceId>& sorted) const;

    const Cluster& m_cluster;
    std::vector<uint32_t> m_gpusOf; //!< by server
    bool m_isTitan;                 //!< by the name of the cluster, as the original tells it
    mutable std::map<std::vector<DeviceId>, NcclPattern> m_patterns;
};

/**
 * @ingroup proteus
 * How many communications share the narrowest link of each, 1 if it is alone. The levels of servers
 * are looked at from the top: NICs, sockets, CPUs and PCI Express switches; GPUs hang in a binary
 * tree in the order of their ranks. The link between sockets is used in both directions, so the
 * number is halved there, from 2 on.
 *
 * @param model whose cluster it is
 * @param costs those that run together
 * @param rules that apply
 * @param isMixed whether feature and gradient communication are both among them; if one of them
 * crosses sockets inside a server, every other number is halved, too
 * @return by communication
 */
std::vector<double> CountClassicSharers(const ClassicCostModel& model,
                                        const std::vector<ClassicCost>& costs,
                                        ClassicRules rules,
                                        bool isMixed = false);

/**
 * @ingroup proteus
 * @param model whose cluster it is
 * @param costs those that are started in the same step
 * @param rules that apply
 * @return by communication, the rate that it gets
 */
std::vector<double> ShareClassicBandwidth(const ClassicCostModel& model,
                                          const std::vector<ClassicCost>& costs,
                                          ClassicRules rules);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLASSIC_COST_H
