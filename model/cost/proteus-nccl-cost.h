/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_COST_H
#define PROTEUS_NCCL_COST_H

#include "ns3/proteus-cpu-vendor.h"
#include "ns3/proteus-graph.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * NCCL's own cost model of a collective, by which its tuner chooses: a latency and a bandwidth for
 * each algorithm and protocol. All constants and formulas are those of NVIDIA/nccl,
 * src/graph/tuning.cc, of the version in question, see proteus-nccl-tuner.h. The model is there to
 * choose by, and to compare with; times come from the networks of the executors.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// The algorithms that NCCL's tuner knows.
enum class NcclAlgorithm : uint8_t
{
    TREE,
    RING,
    COLLNET_DIRECT,
    NVLS,
    NVLS_TREE,
    PAT,
};

/// @ingroup proteus
/// The protocols, in the order of NCCL's tables.
enum class NcclProtocol : uint8_t
{
    LL,
    LL128,
    SIMPLE,
};

/// @ingroup proteus
/// Number of NcclAlgorithm values.
constexpr std::size_t NCCL_ALGORITHMS = 6;
/// @ingroup proteus
/// Number of NcclProtocol values.
constexpr std::size_t NCCL_PROTOCOLS = 3;

/// @ingroup proteus
/// @param algorithm a value @return NCCL's name, e.g. "NVLSTree"
const char* ToString(NcclAlgorithm algorithm);
/// @ingroup proteus
/// @param protocol a value @return NCCL's name, e.g. "Simple"
const char* ToString(NcclProtocol protocol);

/// @ingroup proteus
/// What kind of path two GPUs of a channel, or a GPU and its NIC, have; a higher one is worse.
enum class NcclPath : uint8_t
{
    LOC, //!< the same
    NVL, //!< NVLink
    NVB, //!< NVLink through another GPU
    C2C, //!< chip to chip
    PIX, //!< one PCIe switch
    PXB, //!< several PCIe switches
    P2C, //!< chip to chip and PCIe
    PXN, //!< NVLink to another GPU, and its PCIe switch
    PHB, //!< the root complex of a CPU
    SYS, //!< the connection between CPUs
    NET, //!< the network
    DIS, //!< none
};

/// @ingroup proteus
/// @param path a value @return NCCL's name, e.g. "PIX"
const char* ToString(NcclPath path);

/// @ingroup proteus
/// What NCCL's search finds for a pattern: channels, and what each of them carries.
struct NcclPattern
{
    uint32_t channels{0};              //!< 0: the pattern does not exist
    double intraGBps{0};               //!< of a channel inside a server, 1e9 bytes per second
    double interGBps{0};               //!< of a channel between servers
    NcclPath typeIntra{NcclPath::NVL}; //!< worst path between GPUs
    NcclPath typeInter{NcclPath::PIX}; //!< worst path between a GPU and its NIC
    double latencyInterUs{0};          //!< of the NIC, as the plug-in says
    bool sameChannels{true};           //!< whether all channels have one order
};

/// @ingroup proteus
/// What the model needs to know about a group of ranks.
struct NcclSystem
{
    uint32_t ranks{1};               //!< how many
    uint32_t servers{1};             //!< that they are in
    uint32_t leastRanks{0};          //!< of a server; 0: all have equally many
    uint32_t computeCapability{80};  //!< of the GPUs, ten times the major plus the minor number
    CpuVendor cpu{CpuVendor::INTEL}; //!< of the servers
    uint32_t version{230};           //!< of NCCL, see GetNcclTuner()
    bool collnet{false};             //!< whether reductions in the network are switched on
    NcclPattern ring;                //!< of the ring search
    NcclPattern tree;                //!< of the tree search
    bool simpleTree{false};          //!< whether one GPU of a server talks to parent and children
    NcclPattern nvls;                //!< of the NVLS search; no channels where there is none
    bool pat{true};                  //!< whether there may be PAT
    bool c2cLl128{true};             //!< whether LL128 may go to NICs by way of C2C
    bool forcesLl128{false};         //!< whether LL128 is asked for, on whatever GPUs
};

/// @ingroup proteus
/// How long something takes.
struct NcclCost
{
    double latencyUs{0};          //!< microseconds
    double gigabytesPerSecond{0}; //!< of the buffer, 1e9 bytes; 0: it is not to be had
};

/**
 * @ingroup proteus
 * The model for one group of ranks.
 */
class NcclCostModel
{
  public:
    /// @param system the group @throw std::invalid_argument if it makes no sense
    explicit NcclCostModel(const NcclSystem& system);

    /**
     * @param collective all-reduce, all-gather, reduce-scatter, broadcast or reduce
     * @param algorithm a value
     * @param protocol a value
     * @return latency and bandwidth; no bandwidth where NCCL would not take it
     */
    NcclCost GetCost(Collective collective, NcclAlgorithm algorithm, NcclProtocol protocol) const;

    /**
     * @param collective as above
     * @param algorithm a value
     * @param protocol a value
     * @param bytes as the Collective counts them
     * @return microseconds; infinite where NCCL would not take it
     */
    double GetTimeUs(Collective collective,
                     NcclAlgorithm algorithm,
                     NcclProtocol protocol,
                     uint64_t bytes) const;

    /// What is chosen.
    struct Choice
    {
        NcclAlgorithm algorithm{NcclAlgorithm::RING};
        NcclProtocol protocol{NcclProtocol::SIMPLE};
        double timeUs{0}; //!< that the model says
    };

    /**
     * @param collective as above
     * @param bytes as the Collective counts them
     * @return what takes least time
     */
    Choice Choose(Collective collective, uint64_t bytes) const;

  private:
    /// @param algorithm a value @return its pattern
    const NcclPattern& GetPattern(NcclAlgorithm algorithm) const;

    NcclSystem m_system;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_COST_H
