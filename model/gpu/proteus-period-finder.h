/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PERIOD_FINDER_H
#define PROTEUS_PERIOD_FINDER_H

#include "proteus-repetition-plan.h"
#include "proteus-repetition-records.h"
#include "proteus-repetition-user.h"

#include "ns3/proteus-fabric.h"
#include "ns3/proteus-transport.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Leaves out periods of communications that are executed alone. At the end of steps of one thread
 * block, all of their state is written down, with times counted from now, packets from the oldest
 * one under way and steps from the next one: links, units on them and in queues, queue pairs, their
 * turns, grants, pending calls. Where that is word for word what it was before, and the coming
 * steps are those that followed then, the same happens again as long as they are. So many whole
 * periods are then taken as done: blocks go on behind them, and what they took and moved is added
 * to the record in the end.
 */
class PeriodFinder : private CallTarget
{
  public:
    /**
     * @param fabric that carries nothing else
     * @param transport over which
     * @param user who executes ranks; must outlive this
     * @param plan of what is executed
     * @param ranks as the user knows them
     */
    PeriodFinder(Ptr<Fabric> fabric,
                 Ptr<Transport> transport,
                 RepetitionUser& user,
                 const RepetitionPlan& plan,
                 std::vector<uint32_t> ranks);

    /// Ends the search. @param record of what was executed; gets what was left out
    /// @param firstPs its first start
    void Complete(RepetitionRecord& record, int64_t firstPs);

  private:
    /// What is known of a time at which a step was done.
    struct Moment
    {
        std::vector<uint64_t> words;           //!< all of the state
        int64_t timePs{0};                     //!< when
        std::vector<RankPosition> ranks;       //!< how far they are
        std::vector<LinkStatistics> ports;     //!< of the plan, by position
        std::vector<QueuePairWork> queuePairs; //!< of the plan, by position
    };

    /// @return whether there may be periods that can be seen here
    bool CanSearch() const;
    // Inherited from CallTarget: a step is done
    void HandleCall(uint32_t kind, uint32_t value) override;
    /// @param moment that gets all but the words
    void Measure(Moment& moment) const;
    /// @param words that get the present state @return whether all ranks are under way
    bool AppendState(std::vector<uint64_t>& words) const;
    /// The state is that of m_anchor. Leaves out what will be the same.
    void Skip();

    Ptr<Fabric> m_fabric;          //!< that carries it
    Ptr<Transport> m_transport;    //!< over which
    RepetitionUser& m_user;        //!< executes ranks
    const RepetitionPlan& m_plan;  //!< of what is executed
    std::vector<uint32_t> m_ranks; //!< of the user
    Moment m_anchor;               //!< with which later moments are compared
    uint32_t m_moments{0};         //!< so far
    uint32_t m_nextAnchor{1};      //!< number of the moment that becomes the anchor
    uint64_t m_periods{0};         //!< left out
    Moment m_end;                  //!< of the first period: m_anchor is its begin
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PERIOD_FINDER_H
