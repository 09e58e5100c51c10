/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_CHOICE_H
#define PROTEUS_COLLECTIVE_CHOICE_H

#include "proteus-channel-search.h"
#include "proteus-nccl-variables.h"
#include "proteus-nvls-plan.h"
#include "proteus-program.h"

#include "ns3/proteus-nccl-cost.h"
#include "ns3/proteus-paths.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Which algorithm, protocol, channels and chunks a collective gets, as NCCL's tuner chooses.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a user asks for; what is left open is chosen.
struct CollectivePreferences
{
    std::string algorithm;       //!< one of GetAlgorithms(); empty: chosen
    std::string protocol;        //!< "Simple", "LL" or "LL128"; empty: chosen
    uint32_t channels{0};        //!< 0: chosen; point to point: of a pair in one server
    uint32_t networkChannels{0}; //!< point to point: of a pair in two servers; 0: chosen
    /// Ranks of the communicator that point-to-point operations share their channels in; 0, or less
    /// than the group: those of the group.
    uint32_t communicatorRanks{0};
    /// Servers that the ranks of the communicator are in; 0, or less than those of the group: those
    /// of the group.
    uint32_t communicatorServers{0};
    uint32_t communicatorChannels{0}; //!< of the communicator; 0: those of the group
    uint32_t computeCapability{0};    //!< ten times; 0: from the model of the first GPU
    /// Version of NCCL that chooses, 100 times the major plus the minor number, e.g. 207. It
    /// decides which algorithms there are and what the tuner counts with, see GetNcclTuner().
    /// Before 2.8, trees of two servers could have no more of the NVLinks than the network takes.
    uint32_t ncclVersion{230};
    bool pxn{true};          //!< whether an all-to-all may cross servers on one rail
    bool collnet{false};     //!< whether reductions in the network may be used
    std::string cpuVendor;   //!< one of CpuVendor; empty: as the cluster says
    std::string netPlugin;   //!< name of a NetPlugin; empty: NCCL's own
    NcclVariables variables; //!< of NCCL's environment
};

/// @ingroup proteus
/// @param preferences of a user @return how devices of a server reach each other: by the version of
/// NCCL, and what its variables say
TransportRules MakeTransportRules(const CollectivePreferences& preferences);

/// @ingroup proteus
/// @param protocol a protocol @return what the cost model calls it
NcclProtocol ToNcclProtocol(Protocol protocol);

/// @ingroup proteus
/// Chooses for the groups of a cluster.
class CollectiveChooser
{
  public:
    /**
     * @param cluster where the ranks are; must outlive this object
     * @param paths of the cluster; must outlive this object
     * @param preferences for all that is chosen
     */
    CollectiveChooser(const Cluster& cluster,
                      const Paths& paths,
                      const CollectivePreferences& preferences = CollectivePreferences());

    /**
     * @param vertices of the ranks
     * @return what NCCL's cost model needs to know about them
     */
    NcclSystem MakeSystem(const std::vector<VertexId>& vertices) const;

    /// @param vertices of the ranks @return their patterns, as many channels of them as variables
    /// of NCCL allow
    const ChannelSearch& GetSearch(const std::vector<VertexId>& vertices) const;

    /// @param vertices of the ranks @return channels and chunks of NVLS, should they have it
    NvlsPlan PlanNvlsOf(const std::vector<VertexId>& vertices) const;

    /**
     * Completes a request: sets algorithm, protocol, channels, chunk size and slots.
     * @param request with collective, bytes, root and vertices, at least; its algorithm is kept if
     * it has one
     * @throw std::invalid_argument for an algorithm or protocol that is not known
     */
    void Complete(CollectiveRequest& request) const;

  private:
    /// @param vertices of the ranks @return ten times their compute capability
    uint32_t GetComputeCapability(const std::vector<VertexId>& vertices) const;

    /// @param vertices of the ranks @return who made the CPUs of their servers
    CpuVendor GetCpuVendor(const std::vector<VertexId>& vertices) const;

    /// Completes a request that is done by grouped messages. @param search of the ranks
    /// @param question about its chunks @param request to complete
    void CompleteMessages(const ChannelSearch& search,
                          ChunkQuestion question,
                          CollectiveRequest& request) const;
    /// @param vertices of the ranks @param question about chunks of messages
    /// @return most bytes of one
    uint64_t GetMessageChunk(const std::vector<VertexId>& vertices,
                             const ChunkQuestion& question) const;

    /// @param request that the tuner decides @param system that the ranks are @param chosen gets
    /// algorithm and protocol of what takes least @param heedsAlgorithms whether NCCL_ALGO counts
    /// @return whether the tuner knows any that may be taken
    bool Choose(const CollectiveRequest& request,
                const NcclSystem& system,
                bool heedsAlgorithms,
                CollectiveRequest& chosen) const;

    /// Chooses algorithm and protocol by thresholds, as before 2.5. @param search of the ranks
    /// @param system that the ranks are @param request that keeps what it has
    /// @return channels of it; 0: no algorithm of NCCL's is asked for
    uint32_t ChooseByThresholds(const ChannelSearch& search,
                                const NcclSystem& system,
                                CollectiveRequest& request) const;

    /// Chooses algorithm and protocol by the tuner's model. @param system that the ranks are
    /// @param request with the protocol where the model does not choose; keeps what it has
    void ChooseByModel(const NcclSystem& system, CollectiveRequest& request) const;

    /// Completes a request that NCCL's tuner decides. @param search of the ranks @param system that
    /// the ranks are @param question about its chunks @param request to complete
    void CompleteTuned(const ChannelSearch& search,
                       const NcclSystem& system,
                       ChunkQuestion question,
                       CollectiveRequest& request) const;

    const Cluster& m_cluster;
    const Paths& m_paths;
    CollectivePreferences m_preferences;
    TransportRules m_rules;
    /// Searches done, by vertices.
    mutable std::map<std::vector<VertexId>, ChannelSearch> m_searches;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_CHOICE_H
