/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SYMBOLIC_GROUP_H
#define PROTEUS_SYMBOLIC_GROUP_H

#include "proteus-program.h"
#include "proteus-symbolic-buffer.h"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// The operations of a network group that are under way, with symbols for bytes.
class SymbolicGroup
{
  public:
    /**
     * @param group whose operations; must outlive this object
     * @param slots results, and multicasts of one sender, that a member has room for
     */
    SymbolicGroup(const NetworkGroup& group, uint32_t slots);

    /// @param rank a member @param step of it that takes @return whether what it takes is there
    bool IsThere(uint32_t rank, const Step& step) const;

    /// @param rank a member @param step of it that takes what is there @return that
    SymbolicChunk Take(uint32_t rank, const Step& step);

    /// @param rank a member @param chunk that it sends to all @return an empty text, or what is
    /// wrong
    std::string Multicast(uint32_t rank, const SymbolicChunk& chunk);

    /**
     * A member gives to a reduction. The last one to give completes it.
     * @param rank the member
     * @param step of it that gives
     * @param chunk that it gives
     * @param sets of ranks
     * @return an empty text, or what is wrong
     */
    std::string Give(uint32_t rank, const Step& step, const SymbolicChunk& chunk, RankSets& sets);

    /// @return the first member that has not given to the first reduction that is open, or NO_RANK
    uint32_t FindLate() const;

    /// @return an empty text, or what nobody has taken, or given, in the end
    std::string FindLeft() const;

  private:
    /// A reduction, until all members have given.
    struct Reduction
    {
        StepKind kind{StepKind::GROUP_ALL_REDUCE};
        uint32_t peer{NO_RANK}; //!< who gets the result; NO_RANK for all
        uint64_t bytes{0};
        uint32_t contributions{0};
        SymbolicChunk sum; //!< so far
    };

    /// @return an empty text, or which member has no room for a result
    std::string Complete();

    const NetworkGroup& m_group;                             //!< whose operations
    uint32_t m_slots;                                        //!< see SymbolicGroup()
    std::deque<Reduction> m_reductions;                      //!< from the first that is open
    uint64_t m_completed{0};                                 //!< reductions
    std::map<uint32_t, uint64_t> m_begun;                    //!< reductions, by member
    std::map<uint32_t, std::deque<SymbolicChunk>> m_results; //!< by member
    /// By receiver and sender.
    std::map<std::pair<uint32_t, uint32_t>, std::deque<SymbolicChunk>> m_multicasts;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SYMBOLIC_GROUP_H
