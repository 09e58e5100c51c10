/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_DISTSIM_EVENTS_H
#define PROTEUS_DISTSIM_EVENTS_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-paths.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The events of DistSim (Lu et al., "DistSim: A performance model of large-scale hybrid distributed
 * DNN training", CF'23): what has to be timed only once.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Describes where a group is, up to what makes no difference to it: groups with equal texts have
 * the same links on the ways between their ranks, shared by the same pairs of ranks.
 *
 * DistSim only distinguishes events within a server from those across servers. On a real fabric
 * that is not enough (rails, sockets, oversubscription). So the text has the links on one shortest
 * way between two ranks, each with technology, rate, delay and cost, and says which of these ways
 * share a link. Of groups of up to 32 ranks it has all pairs; of larger ones the neighbours in a
 * ring, and the pairs that halving the group makes.
 *
 * @param cluster where they are
 * @param paths of the cluster
 * @param group in rank order
 * @return the text; not for people
 * @throw std::invalid_argument for a device that the cluster does not have
 */
std::string DescribePlacement(const Cluster& cluster,
                              const Paths& paths,
                              const std::vector<DeviceId>& group);

/// @ingroup proteus
/// Tasks that take equally long on their own.
struct UniqueEvent
{
    TaskId example{0};                //!< the first of them
    TaskKind kind{TaskKind::COMPUTE}; //!< computation or communication
    uint64_t tasks{0};                //!< how many of the graph
    uint64_t instances{0};            //!< spans: of every device that takes part, micro-batch by
                                      //!< micro-batch; a transfer point to point counts once
    std::string key;                  //!< what they have in common
};

/**
 * @ingroup proteus
 * The unique events of a graph on a cluster. Computations are the same if GPU, number format and
 * work (or duration) are; communications if collective, size, root and DescribePlacement() are.
 */
class EventCatalogue
{
  public:
    /**
     * @param graph whose tasks; must outlive this object
     * @param cluster where its devices are
     * @throw std::invalid_argument if the cluster has too few GPUs
     */
    EventCatalogue(const ExecutionGraph& graph, const Cluster& cluster);

    /// @return the events, in the order of their first tasks
    const std::vector<UniqueEvent>& GetEvents() const
    {
        return m_events;
    }

    /// @param task a task @return its event, an index; NO_ID for a memory task
    uint32_t GetEvent(TaskId task) const
    {
        return m_eventOf[task];
    }

    /// @param kind of events @return how many there are
    uint64_t CountEvents(TaskKind kind) const;
    /// @param kind of events @return how many instances they have
    uint64_t CountInstances(TaskKind kind) const;

  private:
    std::vector<UniqueEvent> m_events;
    std::vector<uint32_t> m_eventOf; //!< by task
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_DISTSIM_EVENTS_H
