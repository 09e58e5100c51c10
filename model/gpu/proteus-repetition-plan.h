/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPETITION_PLAN_H
#define PROTEUS_REPETITION_PLAN_H

#include "proteus-program-identity.h"

#include "ns3/proteus-graph.h"
#include "ns3/proteus-program.h"
#include "ns3/proteus-transport.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the execution of a program by a group can touch, all ways and both directions.
struct RepetitionPlan
{
    std::vector<LinkId> links;        //!< ascending
    std::vector<uint32_t> queuePairs; //!< in the order in which they were made
    bool repeats{false};              //!< its execution depends on nothing but a RepetitionKey
    bool crosses{false};              //!< other processes (MPI ranks) simulate some of its links
    const CollectiveProgram* program{nullptr}; //!< the first that is equal to its program
    uint32_t shape{0}; //!< equal ones stand alike to the last tie, if it repeats
};

/**
 * @ingroup proteus
 * The plans of all groups and programs. Two groups have the same shape if they stand alike on links
 * that are alike: then their ports correspond by their order, which also decides ties, and so do
 * their queue pairs.
 */
class RepetitionPlans
{
  public:
    /// @param graph whose groups communicate; must outlive this @param transport over which
    RepetitionPlans(const ExecutionGraph& graph, Ptr<Transport> transport);

    /// @param group who executes it @param program what is executed @return its plan, or null
    const RepetitionPlan* Find(GroupId group, const CollectiveProgram& program) const
    {
        const auto found = m_plans.find({group, &program});
        return found == m_plans.end() ? nullptr : found->second.get();
    }

    /**
     * @param collective what the program does
     * @param group who executes it
     * @param program what is executed; must outlive this
     * @param queuePairs all that the ranks send on
     * @param more further words on which its execution depends
     * @return the plan, kept
     */
    const RepetitionPlan& Add(Collective collective,
                              GroupId group,
                              const CollectiveProgram& program,
                              const std::vector<uint32_t>& queuePairs,
                              const std::vector<uint64_t>& more);

    /// On several MPI ranks, once all plans are known: what shares links with a plan that crosses
    /// to another rank, which does not say when it uses them, does not repeat.
    void ExcludeCrossing();

    /// Lets go of the transport.
    void Dispose()
    {
        m_transport = nullptr;
    }

  private:
    using Words = std::vector<uint64_t>;

    /// Adds the links that operations of switches may use. @param plan that gets them
    /// @param group of it @return whether these are links inside one server
    bool AddGroupLinks(RepetitionPlan& plan, GroupId group) const;
    /// @param plan that gets the links of its queue pairs @return by queue pair,
    /// Transport::GetWays()
    std::vector<std::vector<PortId>> FindLinks(RepetitionPlan& plan) const;
    /// @param plan with links and queue pairs @param group of it
    /// @param ways by queue pair @return all that its execution depends on
    Words Describe(const RepetitionPlan& plan,
                   GroupId group,
                   const std::vector<std::vector<PortId>>& ways) const;

    const ExecutionGraph& m_graph; //!< whose groups communicate
    Ptr<Transport> m_transport;    //!< over which
    std::map<std::pair<GroupId, const CollectiveProgram*>, std::unique_ptr<RepetitionPlan>>
        m_plans;                        //!< by group and program
    ProgramIdentity m_programs;         //!< that are equal
    std::map<Words, uint32_t> m_shapes; //!< by all that they depend on
};

/// @ingroup proteus
/// @param collective a collective @param program of it @return whether no rank can be done before
/// all ranks have begun
bool NeedsAllRanks(Collective collective, const CollectiveProgram& program);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPETITION_PLAN_H
