/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LIVE_REPLAY_H
#define PROTEUS_LIVE_REPLAY_H

#include "proteus-program-replay.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Replays that go on in time with others.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What ReplayProgram() does, beside a run: it goes on in time with others, which carry the messages
 * of some of its flows and say when these arrive.
 */
class LiveReplay
{
  public:
    /// Told when a message leaves that others carry.
    using Carry = ReplayCarry;

    /**
     * @param input what is executed
     * @param all where the routes are; must outlive this object
     * @param isCarried by flow: whether others carry its messages; those beyond its end: no
     * @param carry is told of these
     * @param isWhole whether all ranks are there from the first Advance() on; else each begins when
     * it joins
     */
    LiveReplay(std::shared_ptr<const ReplayInput> input,
               const FlowRoutes& all,
               std::vector<bool> isCarried,
               Carry carry,
               bool isWhole = true);
    ~LiveReplay();

    /// A rank begins with what it can do. @param rank of the program @param timePs when, not before
    /// the last Advance()
    void Join(uint32_t rank, double timePs);

    /// @return when something happens next, but for what others carry and for ranks that join;
    /// infinite: never
    double GetNextPs() const;

    /// @return whether nothing happens but for these
    bool IsIdle() const
    {
        return std::isinf(GetNextPs());
    }

    /// @return whether all ranks have joined
    bool HasAllRanks() const;

    /// The last byte of a message that others carry arrives. @param flow of it, one call for each
    /// message, in order @param timePs when, not before the last Advance()
    void Deliver(uint32_t flow, double timePs);

    /// From now on others carry all messages. @param timePs present time, not before the last
    /// Advance() @param carry is told of what is left of those under way, and of the others
    void HandOver(double timePs, Carry carry);

    /// Goes on in time. @param untilPs all that happens until then has happened
    void Advance(double untilPs);

    /// @param flow a flow @return bytes of all its messages
    double GetBytes(uint32_t flow) const;

    /// @return ranks that are done since the last call, of programs without network groups
    std::vector<RankEnd> TakeEnded();

    /// @return when the last step was done, picoseconds
    double GetEndPs() const;

  private:
    class Body;

    std::unique_ptr<Body> m_body; //!< what executes
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LIVE_REPLAY_H
