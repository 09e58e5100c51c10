/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPETITION_USER_H
#define PROTEUS_REPETITION_USER_H

#include "proteus-repetition-records.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// How far a rank is.
struct RankPosition
{
    std::vector<uint32_t> steps;     //!< by thread block: the next one
    std::vector<uint32_t> ungranted; //!< by thread block: chunks to come that have no room yet
    RankWork work;                   //!< what it did so far; no end
};

/// @ingroup proteus
/// Who executes the ranks of communications. Ranks are named by what Repetition::Join() got.
class RepetitionUser
{
  public:
    virtual ~RepetitionUser() = default;

    /// Has Repetition::Start() called at the time when the rank begins, which may lie in the past.
    /// @param rank that is to be executed
    virtual void CallStart(uint32_t rank) = 0;

    /// Has a rank be done that is not executed. @param rank which one @param work what it did, and
    /// when it is done @param blockEndsPs when its thread blocks are; or empty
    virtual void Repeat(uint32_t rank,
                        const RankWork& work,
                        const std::vector<int64_t>& blockEndsPs) = 0;

    /// A rank is to be executed after all. What Repeat() has told already is not to be told again.
    /// @param rank which one
    virtual void TakeBack(uint32_t rank) = 0;

    /// A rank that was not executed needs its place no longer. @param rank which one
    virtual void Forget(uint32_t rank) = 0;

    /// @param rank that has joined @return when it begins, in ps, or began; -1 if that is not
    /// certain yet
    virtual int64_t GetStartPs(uint32_t rank) const = 0;

    /// @param rank that has joined, whose start is certain @param lastPs when the last rank of its
    /// communication begins @return when it can be done at the earliest, in ps
    virtual int64_t GetLeastEndPs(uint32_t rank, int64_t lastPs) = 0;

    /// @param rank a block of which is to be watched @param onStep called when that has done a
    /// step; null for never
    virtual void WatchSteps(uint32_t rank, std::function<void()> onStep) = 0;

    /// @param ranks that are executed, and nothing else @param words that get all of their state
    /// but how far they are @return whether all are under way
    virtual bool AppendState(const std::vector<uint32_t>& ranks,
                             std::vector<uint64_t>& words) const = 0;

    /// @param rank that is executed @return how far it is
    virtual RankPosition GetPosition(uint32_t rank) const = 0;

    /**
     * @param rank that is executed
     * @param before where it was in the same state
     * @return how many times what has been done since is to be done again, step by step; the
     * largest number if nothing has
     */
    virtual uint64_t CountPeriods(uint32_t rank, const RankPosition& before) const = 0;

    /// Takes that as done. @param rank as above @param before as above @param periods how often
    virtual void Skip(uint32_t rank, const RankPosition& before, uint64_t periods) = 0;

    /// @return whether ends of thread blocks are recorded, in the whole run
    virtual bool RecordsBlocks() const = 0;

    /// @return whether somebody wants to see more of communications than their results
    virtual bool IsWatched() const = 0;

    /// @param rank that is executed, the only one of its communication that has begun @return
    /// whether it does nothing until another one begins
    virtual bool IsWaiting(uint32_t rank) const = 0;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPETITION_USER_H
