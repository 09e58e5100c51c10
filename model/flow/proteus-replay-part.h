/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPLAY_PART_H
#define PROTEUS_REPLAY_PART_H

#include "proteus-replay-run.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * When some ranks of a replay stand for all. Internal to ReplayProgram().
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The first ranks of a program, which stand for all of them.
 *
 * On a ring over servers that are alike, every rank does what the rank so many places before it
 * does, with peers as many places on, over resources of its own that are alike. They do it at the
 * same times, as all begin together. So only the first ranks are replayed: what they send to one
 * behind them comes to the one that stands for it, and a resource stands for those of the others in
 * its place. As many flows use it, with the same amounts, as use any of those. What comes out is
 * what a replay of all says.
 */
class ReplayPart
{
  public:
    /**
     * @param program without network groups, all of whose ranks begin together
     * @param flows of it, FindFlows()
     * @param routes of the flows
     * @param ways where the routes are
     * @param costs of the steps
     * @return the fewest ranks that stand for all; null if no part of them does
     */
    static std::unique_ptr<ReplayPart> Find(const CollectiveProgram& program,
                                            const std::vector<ProgramFlow>& flows,
                                            const std::vector<uint32_t>& routes,
                                            const ReplayWays& ways,
                                            const ReplayCosts& costs);

    /// @param isInstant whether bytes take no time @param goOn see ReplayProgram()
    /// @return the times of the whole program @throw std::invalid_argument see there
    ReplayTimes Run(bool isInstant, const std::function<void()>& goOn) const;

    /// @return ranks that are replayed
    uint32_t GetNRanks() const
    {
        return static_cast<uint32_t>(m_program.ranks.size());
    }

  private:
    ReplayPart() = default;

    /// Takes over the flows that these ranks send. @param flows see Find()
    /// @param moved by flow: the same of the next ranks @param costs see Find()
    /// @param places ranks that stand for all @param makeRoute gives the route of such a flow
    void TakeFlows(const std::vector<ProgramFlow>& flows,
                   const std::vector<uint32_t>& moved,
                   const ReplayCosts& costs,
                   uint32_t places,
                   const std::function<FlowRoute(uint32_t)>& makeRoute);
    /// Takes over what they do. @param program see Find() @param flows see Find()
    /// @param costs see Find() @param places ranks that stand for all
    void TakeRanks(const CollectiveProgram& program,
                   const std::vector<ProgramFlow>& flows,
                   const ReplayCosts& costs,
                   uint32_t places);

    uint32_t m_nAll{0};                    //!< ranks of the whole program
    CollectiveProgram m_program;           //!< of these ranks; its peers are those of the whole
    std::vector<ProgramFlow> m_flows;      //!< that these ranks send
    std::vector<uint32_t> m_routes;        //!< of these flows
    std::vector<FlowResource> m_resources; //!< each for all in its place
    FlowRouteTable m_table;                //!< where the routes are
    double m_inputBuffer{0};               //!< see ReplayWays
    ReplayCosts m_costs;                   //!< of the steps
    FlowsOfBlocks m_ofBlocks;              //!< of these ranks
    std::vector<uint32_t> m_standing;      //!< by flow of the whole: the one that stands for it
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPLAY_PART_H
