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
/// A program that a group executes.
struct RepetitionPart
{
    GroupId group{0};                          //!< who executes it
    const CollectiveProgram* program{nullptr}; //!< the first that is equal to it
    std::vector<uint32_t> queuePairs;          //!< all that ranks send on, rank by rank
    std::vector<uint64_t> more;                //!< further words on which its execution depends
};

/// @ingroup proteus
/// What the execution of programs by groups can touch, all ways and both directions.
struct RepetitionPlan
{
    std::vector<RepetitionPart> parts; //!< what is executed: one, or several that meet
    std::vector<LinkId> links;         //!< ascending
    std::vector<uint32_t> queuePairs;  //!< in the order in which they were made
    std::vector<uint32_t> buffers;     //!< Fabric::GetBuffer() at the ends of its links, ascending
    uint64_t sentBytes{0};             //!< payload that its ranks send
    bool repeats{false};               //!< its execution depends on nothing but a RepetitionKey
    bool crosses{false};               //!< other processes (MPI ranks) simulate some of its links
    uint32_t shape{0};                 //!< equal ones stand alike to the last tie, if it repeats
};

/**
 * @ingroup proteus
 * The plans of all groups and programs, and of those that meet. Two plans have the same shape if
 * their groups stand alike on links that are alike: then their ports correspond by their order,
 * which also decides ties, and so do their queue pairs and their devices.
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

    /**
     * @param plans of communications that meet, each of which repeats; several
     * @return the plan of all of them, in that order, kept
     */
    const RepetitionPlan& Combine(const std::vector<const RepetitionPlan*>& plans);

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

    /// @param group of a plan @param network some of its ranks, whose operations switches do
    /// @return the links that these may use; none if they leave a server
    std::vector<LinkId> GetGroupLinks(GroupId group, const NetworkGroup& network) const;
    /// Adds the links that operations of switches may use. @param plan that gets them
    /// @param group of it @param program of it @return whether each is of one server
    bool AddGroupLinks(RepetitionPlan& plan, GroupId group, const CollectiveProgram& program) const;
    /// @param plan that gets the links of its queue pairs
    void AddLinks(RepetitionPlan& plan) const;
    /// @param plan that repeats @return all that its execution depends on
    Words Describe(const RepetitionPlan& plan);
    /// @param words that say all about a link or a queue pair @return their number; few differ
    uint32_t GetNumber(Words words);
    /// @param plan of it @param part of that @param devices of the plan, ascending
    /// @param words that get all that the execution of the part depends on
    void DescribePart(const RepetitionPlan& plan,
                      const RepetitionPart& part,
                      const std::vector<DeviceId>& devices,
                      Words& words) const;
    /// @param plan that repeats, and gets its shape
    void SetShape(RepetitionPlan& plan);

    const ExecutionGraph& m_graph; //!< whose groups communicate
    Ptr<Transport> m_transport;    //!< over which
    std::map<std::pair<GroupId, const CollectiveProgram*>, std::unique_ptr<RepetitionPlan>>
        m_plans; //!< by group and program
    std::map<std::vector<const RepetitionPlan*>, std::unique_ptr<RepetitionPlan>>
        m_combined;                      //!< of several, by these
    ProgramIdentity m_programs;          //!< that are equal
    std::map<Words, uint32_t> m_numbers; //!< of all that differs in links and queue pairs
    std::map<Words, uint32_t> m_shapes;  //!< by all that they depend on
};

/// @ingroup proteus
/// @param collective a collective @param program of it @return whether no rank can be done before
/// all ranks have begun
bool NeedsAllRanks(Collective collective, const CollectiveProgram& program);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPETITION_PLAN_H
