/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ALGORITHM_TRAITS_H
#define PROTEUS_ALGORITHM_TRAITS_H

#include "proteus-program.h"
#include "proteus-protocol.h"

#include "ns3/proteus-nccl-cost.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * All that is known of an algorithm: what makes its programs, and what those who choose, cut,
 * launch and count have to know of it. Each algorithm registers its own traits by an
 * AlgorithmRegistration, in proteus-collective-<name>.cc; no other place knows it by its name.
 */
struct AlgorithmTraits
{
    std::string name;  //!< what users call it
    uint32_t place{0}; //!< in lists, ascending; the first that does a collective is its default
    std::map<Collective, CollectiveAlgorithm> makers; //!< of its programs, by collective
    std::optional<NcclAlgorithm> tunable;             //!< what NCCL's tuner calls it

    /// Cuts chunks as NCCL does, by changing a plan. The plan that it gets has steps of one slot of
    /// the protocol, all slots, and one step for a chunk. Null: that plan is right.
    void (*planChunks)(const ChunkQuestion& question, ChunkPlan& plan){nullptr};
    /// Whether it takes the channels that the search for NVLS has found, all of them.
    bool hasNvlsChannels{false};
    /// Whether switches of the network sum up, for which NCCL works with more channels.
    bool hasSwitchChannels{false};
    /// Whether its steps are those of a tree: chunks have one slice, and a thread block has warps
    /// that hand on what comes down.
    bool hasTreeSteps{false};
    /// Whether channels are given up earlier with LL: a thread must have its least work for every
    /// rank.
    bool dividesThreadsByRanks{false};
    /// Threads of a thread block with Simple where the ring of the ranks is slow, which is on plain
    /// PCIe; 0: as many as elsewhere.
    uint32_t slowThreads{0};

    /// Whether a chunk is one for all ranks together, as of trees and switches, not one for each.
    bool hasCommonChunks{false};
    /// Whether the host prepares a kernel for each peer, as of grouped messages, not each channel.
    bool isLaunchedByPeer{false};
    /// Whether what goes to another server leaves on the rail of its receiver. NCCL takes it before
    /// others where ranks of a server have NVLink.
    bool keepsRails{false};
    /// Whether CollectiveRequest::parameterServers means something.
    bool hasParameterServers{false};
};

/// @ingroup proteus
/// Makes an algorithm known: an object of a file of its own, at namespace scope.
class AlgorithmRegistration
{
  public:
    /// @param traits of the algorithm
    /// @throw std::logic_error if there is one with that name
    explicit AlgorithmRegistration(const AlgorithmTraits& traits);
};

/// @ingroup proteus
/// @return all algorithms, in the order of their places
const std::vector<AlgorithmTraits>& GetAllAlgorithms();

/**
 * @ingroup proteus
 * @param name of an algorithm, or of a schedule that was read from a file
 * @return what is known of it; for a schedule, traits without a name and with nothing special
 */
const AlgorithmTraits& GetAlgorithmTraits(const std::string& name);

/// @ingroup proteus
/// @param has what to look for @return names of the algorithms that have it, "a, b or c"
std::string ListAlgorithms(bool (*has)(const AlgorithmTraits&));

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ALGORITHM_TRAITS_H
