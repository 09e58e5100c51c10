/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CPU_QUEUES_H
#define PROTEUS_CPU_QUEUES_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-paths.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What waits in the inputs of CPUs.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Queues of CPUs: one per input, in which a unit that waits for its output holds up those behind
 * it. What comes off a network, and goes on over something slower, waits for what went there
 * before. Units for the GPUs of the server are taken to come at random, one by one, as many for
 * each. A slow one that k others separate from the last, which have taken k + 1 units' time to
 * come, waits for the rest of the time of that: (1 - p)^k p of all slow ones, where p are slow.
 *
 * Directions of links are 2 x link + (1 from Link::b).
 */
class CpuQueues
{
  public:
    /**
     * @param cluster with the CPUs; must outlive this object
     * @param paths of it, must outlive this object
     * @param comes by direction: seconds that a byte takes to come in, by the link and what the
     * device at its end forwards
     * @param goes by direction: seconds that a byte takes on the link
     */
    CpuQueues(const Cluster& cluster,
              const Paths& paths,
              std::vector<double> comes,
              std::vector<double> goes);

    /// @return directions that enter a CPU with a slower output, in order; none without a network
    std::vector<uint32_t> List() const;

    /**
     * @param port one of List(), by which something comes off a network
     * @param comes seconds that a byte of it takes to come
     * @param goes seconds that it takes to go on, more than these
     * @return seconds that the queue takes for a byte
     */
    double FindSeconds(uint32_t port, double comes, double goes);

  private:
    /// @param port a direction of a link @return where it leads
    VertexId GetEnd(uint32_t port) const;
    /// @param cpu a CPU @param position of one of its ports @param port another one, that enters
    /// @return whether the first takes less than comes by the second
    bool IsSlowOutput(VertexId cpu, std::size_t position, uint32_t port) const;
    /// @param port that enters a CPU @return whether an output is slower
    bool HasSlowOutput(uint32_t port) const;
    /// @param port that enters a CPU @return part of the GPUs of its server behind it that are
    /// behind slower outputs
    double FindSlowPart(uint32_t port);

    const Cluster& m_cluster;
    const Paths& m_paths;
    const std::vector<double> m_comes;
    const std::vector<double> m_goes;
    std::map<uint32_t, double> m_slowParts;                  //!< by port, once it is asked for
    std::map<int32_t, std::vector<VertexId>> m_gpusOfServer; //!< once one is asked for
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CPU_QUEUES_H
