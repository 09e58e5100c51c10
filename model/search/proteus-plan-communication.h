/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLAN_COMMUNICATION_H
#define PROTEUS_PLAN_COMMUNICATION_H

#include "proteus-layout-cost.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-paths.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How long a communication takes on a cluster when all groups that lie alike do the same.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Seconds of a collective at flow level. The group, and the groups beside it that begin in the same
 * server, run it at once, so that they share links and NICs as the groups of a mesh axis do. Sizes
 * that are powers of four from 16 KiB to 256 MiB are measured when they are first needed. In
 * between, times are interpolated; beyond, they grow as between the last two sizes; below, they are
 * those of 16 KiB. Groups of more than 32 ranks are extrapolated from their first 16 and 32 ranks
 * as a ring: latency times n - 1 plus transmission times (n - 1) / n.
 * - 1) / n.
 */
class FlowCommunicationCost : public CommunicationCost
{
  public:
    /**
     * @param cluster whose GPU i is device i; must outlive this object
     * @param paths of the cluster; must outlive this object
     * @param parameters of the flow network
     * @param settings of the collectives' programs
     */
    FlowCommunicationCost(const Cluster& cluster,
                          const Paths& paths,
                          const FlowParameters& parameters,
                          const ProgramSettings& settings);

    /// Inherited from CommunicationCost. Groups with the same distances between their devices that
    /// begin at the same place in their servers are the same.
    /// @throw std::invalid_argument if a device is not in the cluster
    double GetCost(Collective collective,
                   const std::vector<DeviceId>& group,
                   double bytes) const override;

  private:
    /// Of the devices: distances from the first one, behind its place in its server.
    using Key = std::pair<Collective, std::vector<uint32_t>>;

    std::vector<std::vector<DeviceId>> FindGroupsBeside(const std::vector<DeviceId>& group) const;
    double Interpolate(Collective collective,
                       const std::vector<DeviceId>& group,
                       double bytes) const;
    double Measure(Collective collective, const std::vector<DeviceId>& group, uint64_t bytes) const;
    Cluster::RankRange GetServerRanks(DeviceId device) const;

    const Cluster& m_cluster;
    const Paths& m_paths;
    FlowParameters m_parameters;
    ProgramSettings m_settings;
    mutable std::map<Key, std::map<uint64_t, double>> m_seconds; //!< by bytes
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLAN_COMMUNICATION_H
