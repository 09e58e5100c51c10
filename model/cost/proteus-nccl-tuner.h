/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_TUNER_H
#define PROTEUS_NCCL_TUNER_H

#include "proteus-nccl-cost.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What NCCL's tuner counts with, by version of NCCL: NVIDIA/nccl, src/graph/tuning.cc and
 * src/enqueue.cc of the tags v2.6.4 to v2.30.7.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A number for LL, LL128 and Simple.
using PerProtocol = std::array<double, NCCL_PROTOCOLS>;
/// @ingroup proteus
/// The same for every NcclAlgorithm.
using PerAlgorithm = std::array<PerProtocol, NCCL_ALGORITHMS>;
/// @ingroup proteus
/// A number for one server, two, and more.
using PerServers = std::array<double, 3>;
/// @ingroup proteus
/// The same for GPUs up to Volta, Ampere, Hopper, and from Blackwell on.
using PerGeneration = std::array<PerServers, 4>;

/// @ingroup proteus
/// Latencies in microseconds.
struct NcclLatencies
{
    PerAlgorithm baseUs{};    //!< of a collective
    PerAlgorithm nvlinkUs{};  //!< of a hop over NVLink
    PerAlgorithm pciUs{};     //!< of a hop over PCIe
    PerAlgorithm networkUs{}; //!< of a hop over the network
    double remoteLl{1};       //!< times a hop of LL inside servers takes if there are several
    bool isAllRemote{false};  //!< whether all hops of a ring of servers count as over the network
    bool hasPost{true};       //!< whether a hop is not shorter than posting to the network
    /// Hops over the network of a ring all-reduce beside 2 (servers - 1). With one or two ranks in
    /// a server there are more than steps, of which less than none is left inside servers.
    uint32_t closing{0};
    bool isTreeIfAlone{true}; //!< one GPU in each server: hops over the network as of trees
    double plateau{1.4};      //!< times the latency of long rings of servers, from plateauFrom on;
                              //!< of GPUs before 1.9; 1: of none
    uint32_t plateauFrom{80}; //!< compute capability, ten times
    /// Least bytes of a long ring: times the ranks and the channels, or, if not 0, times the ranks.
    uint64_t plateauBytes{64};
    uint64_t plateauBytesOfRank{0}; //!< see plateauBytes
    /// Whether a plug-in can tell a latency.
    bool readsReported{true};
    /// Whether what a plug-in tells comes on top of a hop over the network, with Simple twice, and
    /// not in its place.
    bool addsReported{true};
};

/// @ingroup proteus
/// Bandwidths in 1e9 bytes per second.
struct NcclBandwidths
{
    PerGeneration mostLl{};          //!< LL of all channels; several servers: by vendor of the CPU
    PerGeneration mostRingLl128{};   //!< a channel of rings with LL128
    PerGeneration mostTreeLl128{};   //!< a channel of trees with LL128
    PerGeneration mostTree{};        //!< a channel of trees
    PerGeneration mostNvlsTree{};    //!< a channel of NVLSTree
    double ampereBus{0};             //!< all channels of rings and trees on Ampere; 0: no limit
    double allRingsLl128{0};         //!< all channels of rings with LL128; 0: no limit
    PerServers allTrees{};           //!< all channels of trees; 0: no limit
    double ll{0.5};                  //!< share of rings that LL has, with sums or across servers,
    double llCopy{0.5};              //!< and in other cases
    double tree{0.92};               //!< share that trees have
    double treeLl{1 / 3.8};          //!< share of trees that LL has
    double simpleTree{0.85};         //!< share of trees of NcclSystem::simpleTree
    double ringLl128{0.92};          //!< share of rings of LL128
    double ll128Alone{0.92};         //!< share of rings of LL128 with one GPU in each server
    double ll128Across{120.0 / 128}; //!< share of trees across servers with LL128
    double pat{0.75};                //!< share that PAT has
    /// Share of NVLS that a GPU of the generation reaches; all 0: nvlsRatio of the bus is the
    /// bandwidth, whatever the ranks.
    std::array<double, 4> nvlsEfficiency{};
    double nvlsRatio{5.0 / 6}; //!< see nvlsEfficiency
};

/// @ingroup proteus
/// The tuner of one version.
struct NcclTuner
{
    NcclLatencies latency;       //!< what a collective and its hops take
    NcclBandwidths bandwidth;    //!< what it reaches
    bool hasModel{true};         //!< it chooses by a model; otherwise by NcclThresholds
    bool hasTrees{true};         //!< all-reduce by trees
    bool hasLl128{true};         //!< protocol LL128
    bool hasNvls{true};          //!< sums in NVSwitches
    bool hasNvlsTree{true};      //!< the same across servers
    bool hasPat{true};           //!< all-gather and reduce-scatter by PAT
    bool hasDirectStores{false}; //!< GPUs of one process store into each other's user buffers
    bool hasPxn{true};           //!< GPUs pass on to the NIC of the receiver's rail
    bool hasRelays{true};        //!< messages between two GPUs without NVLink pass a third
    /// Compute capabilities, ten times, of the GPUs that have LL128; empty: all from 70 on.
    std::vector<uint32_t> ll128Gpus;
    bool hasRelayedLl128{true}; //!< LL128 also where a GPU passes on between two
    bool hasC2cLl128{true};     //!< LL128 also where C2C and a CPU lead to the NIC
    /// Factors of trees of medium sizes, from 64 bytes on, by powers of two.
    std::array<std::array<double, 24>, NCCL_PROTOCOLS> treeCorrection{};
    bool correctsNvlsTree{true};   //!< the same for NVLSTree, of Blackwell with x86 CPUs
    uint64_t leastTrafficBytes{0}; //!< of a channel that is taken
    uint32_t networkChannels{0};   //!< of a peer in another server; 0: by the rate of the NICs
    uint32_t messagesOfBlock{1};   //!< to another server, that share the warps of a thread block
};

/// @ingroup proteus
/// The oldest version that is modelled: the first whose tuner has a model.
constexpr uint32_t OLDEST_NCCL = 200;
/// @ingroup proteus
/// The newest version that is modelled, and the default.
constexpr uint32_t NEWEST_NCCL = 230;

/**
 * @ingroup proteus
 * @param text a version as NCCL prints it: "2.18.3", "2.18.3+cuda12.2", "2.18", or as its header
 * has it: "21803", or 100 times the major and the minor number: "218"
 * @return 100 times the major and the minor number; 0 for an empty text
 * @throw std::invalid_argument for something else, and versions older than OLDEST_NCCL
 */
uint32_t ParseNcclVersion(const std::string& text);

/**
 * @ingroup proteus
 * @param version as ParseNcclVersion() has it
 * @return the same as people write it, "2.18"
 */
std::string FormatNcclVersion(uint32_t version);

/**
 * @ingroup proteus
 * Versions before 2.6 have the numbers of 2.6 here. (NCCL before 2.5 has thresholds instead of a
 * cost model, see proteus-nccl-thresholds.h, and before 2.4 no trees.) Versions after the newest
 * one that is known have its numbers.
 * @param version 100 times the major and the minor number, e.g. 218
 * @return the tuner of that version
 */
const NcclTuner& GetNcclTuner(uint32_t version);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_TUNER_H
