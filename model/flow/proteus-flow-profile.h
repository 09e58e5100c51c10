/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_PROFILE_H
#define PROTEUS_FLOW_PROFILE_H

#include "proteus-flow-routes.h"
#include "proteus-program-replay.h"

#include "ns3/proteus-graph.h"
#include "ns3/proteus-program-cache.h"

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Flows of one collective that go on together, as one: a ring's, since every hop waits for the one
 * before. What it moves is counted in bytes of its largest flow; its rate is the rate of that flow.
 */
struct FlowClass
{
    std::vector<FlowUse> uses; //!< amounts for every byte of the largest flow, all flows together
    double bytes{0};           //!< payload of the largest flow
    double linkRate{0};        //!< bytes per second that idle links allow
    double rate{0};            //!< bytes per second when alone: no more than linkRate, and less
                               //!< where steps wait for each other
    int64_t beforePs{0};       //!< latencies before the bytes begin to move
    std::vector<int64_t> afterPs; //!< by rank: from the last byte to the end of its part; negative
                                  //!< for ranks without part
    int64_t alonePs{0};           //!< from the first step to the end, on idle links
    int64_t latencyPs{0};         //!< of its steps, if bytes took no time
};

/// @ingroup proteus
/// What the flow network knows about a collective of a group.
struct CollectiveProfile
{
    std::vector<FlowClass> classes; //!< none for a group of one
    uint64_t sentBytes{0};          //!< by all ranks together, that of the protocol included
    int64_t alonePs{0};             //!< from the first step to the end of the last part
    int64_t launchPs{0};            //!< from a rank's joining to its first step
};

/**
 * @ingroup proteus
 * Derives profiles from the programs of collectives: which bytes pass over which resources, and
 * how long the program takes alone, which ReplayProgram() finds out.
 *
 * Flows that depend on each other make one class; those that do not, of an all-to-all, make two:
 * what stays inside servers and what leaves them.
 *
 * A program of many messages is not replayed as a whole: two shorter ones with the same chunks are,
 * and the time grows by the same for every further byte.
 */
class FlowProfiles
{
  public:
    /**
     * @param graph whose communication is profiled; must outlive this object
     * @param cluster that carries it; must outlive this object
     * @param paths of the cluster; must outlive this object
     * @param parameters of the flow network
     * @param settings of the programs
     */
    FlowProfiles(const ExecutionGraph& graph,
                 const Cluster& cluster,
                 const Paths& paths,
                 const FlowParameters& parameters,
                 const ProgramSettings& settings = ProgramSettings());

    /**
     * @param task a communication
     * @return its profile, valid as long as this object
     * @throw std::invalid_argument if it has no program that is made of flows
     */
    const CollectiveProfile& Get(TaskId task);

    /**
     * The plain alpha-beta time of a collective (Hockney, Parallel Computing 20(3), 1994; Thakur,
     * Rabenseifner and Gropp, IJHPCA 19(1), 2005): the latencies of the steps that depend on each
     * other when no buffer is cut into chunks, and the bytes of the busiest link at its rate.
     * @param task a communication
     * @return picoseconds from the first step to the end
     */
    int64_t GetAlphaBetaPs(TaskId task);

    /// @return what classes use
    const std::vector<FlowResource>& GetResources() const
    {
        return m_routes.GetResources();
    }

  private:
    /// A program and its connections.
    struct Part
    {
        CollectiveProgram program;
        std::vector<ProgramFlow> flows;
    };

    /// What groups that stand alike share.
    struct Shape
    {
        uint64_t bytes{0};               //!< of the collective
        std::vector<ProgramFlow> flows;  //!< of the whole program
        std::vector<double> limits;      //!< of those, bytes per second; empty: none
        std::vector<Part> parts;         //!< that are replayed: the whole, or two shorter ones
        std::vector<uint64_t> partBytes; //!< of the collective
        uint32_t ranks{0};
        Protocol protocol{Protocol::SIMPLE}; //!< of the whole program
        int64_t alphaPs{-1}; //!< latencies of one chunk for every flow; -1 until it is known
        /// Times of the classes, by their bottlenecks' times.
        std::map<std::vector<int64_t>, std::vector<FlowClass>> timed;
    };

    /// @param task a communication @return its shape
    Shape& FindShape(TaskId task);
    /// @param task a communication @param shape of it @return its profile
    CollectiveProfile Make(TaskId task, Shape& shape);
    /// @param task a communication @param flows of its program @return their routes
    std::vector<uint32_t> PlanRoutes(TaskId task, const std::vector<ProgramFlow>& flows);
    /// @param task a communication @param program of it @param flows of that
    /// @return what its steps cost
    ReplayCosts FindCosts(TaskId task,
                          const CollectiveProgram& program,
                          const std::vector<ProgramFlow>& flows) const;
    /// @param task a communication @return what the kernels of its ranks cost
    const CollectiveKernelCost& GetKernelCost(TaskId task) const;
    /// Sets the times of classes, which have their uses. @param task a communication
    /// @param shape of it @param classOf class by flow @param classes to complete
    void SetTimes(TaskId task,
                  const Shape& shape,
                  const std::vector<uint32_t>& classOf,
                  std::vector<FlowClass>& classes);

    const ExecutionGraph& m_graph;
    const Cluster& m_cluster;
    const Paths& m_paths;
    const bool m_kernelCosts;
    const int64_t m_launchPs;
    FlowRoutes m_routes;
    ProgramCache m_programs;
    std::map<ProgramCache::Key, Shape> m_shapes;
    std::map<std::tuple<Collective, uint64_t, uint32_t, GroupId>, CollectiveProfile> m_profiles;
    std::vector<const CollectiveProfile*> m_ofTask; //!< by task, null until it is known
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_PROFILE_H
