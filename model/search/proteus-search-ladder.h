/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SEARCH_LADDER_H
#define PROTEUS_SEARCH_LADDER_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Ranking in several rungs: the best of a cheap one are ranked again by the next, dearer one.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Something to rank.
struct LadderEntry
{
    bool isPinned{false}; //!< whether it goes on however it ranks
    /// By rung; small is good. The first one is given; what is pinned goes on without it, too.
    std::vector<std::optional<double>> values;
};

/// @ingroup proteus
/// A way to rank.
struct LadderRung
{
    std::string name;          //!< e.g. "flow"
    std::size_t most{0};       //!< entries that get a value, best of the rung before first
    std::size_t mostPinned{0}; //!< of those that are pinned
    uint32_t threads{1};       //!< in which entries are evaluated
    /// @return the value of an entry, given by its position; nothing where it cannot be evaluated,
    /// and another one is then taken. With several threads it is called by all of them at once.
    std::function<std::optional<double>(std::size_t)> evaluate;
};

/**
 * @ingroup proteus
 * Evaluates entries rung by rung; one that is to rank nothing is passed over. What is evaluated
 * does not depend on the number of threads.
 * @param entries get their values
 * @param rungs after the first one, whose values are there
 * @param isOver asked before every evaluation whether the time is up; none: never
 * @throw what an evaluation throws
 */
void ClimbLadder(std::vector<LadderEntry>& entries,
                 const std::vector<LadderRung>& rungs,
                 const std::function<bool()>& isOver = nullptr);

/// @ingroup proteus
/// How two rungs agree.
struct RungAgreement
{
    std::size_t entries{0};    //!< that both know
    double rankCorrelation{0}; //!< see GetRankCorrelation()
};

/**
 * @ingroup proteus
 * @param entries with values
 * @param low a rung
 * @param high another one above it
 * @return how they agree on the entries that both know
 */
RungAgreement CompareRungs(const std::vector<LadderEntry>& entries,
                           std::size_t low,
                           std::size_t high);

/**
 * @ingroup proteus
 * @param entries with values
 * @return positions of those that know more than the first rung, by the value of the highest rung
 * that each knows
 */
std::vector<std::size_t> RankEntries(const std::vector<LadderEntry>& entries);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SEARCH_LADDER_H
