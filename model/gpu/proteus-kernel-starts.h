/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KERNEL_STARTS_H
#define PROTEUS_KERNEL_STARTS_H

#include "ns3/proteus-graph.h"
#include "ns3/proteus-pool.h"
#include "ns3/proteus-program.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// How ranks of a communication whose kernels have been launched wait for each other.
enum class StartRule : uint8_t
{
    APART,   //!< each begins at once
    WINDOW,  //!< each waits for the last one, at most for a window
    TOGETHER //!< each waits for the last one
};

/// @ingroup proteus
/// @param task a communication @param program of it
/// @return how its ranks wait: those of a message between stages of a pipeline together, because a
/// receiver alone can only grant room; those of a collective of more than two ranks in a window, if
/// they all need each other; all others apart, operations of switches and other messages, too
StartRule FindStartRule(const Task& task, const CollectiveProgram& program);

/**
 * @ingroup proteus
 * When the ranks of a communication begin, whose kernels have been launched: on a grid of times,
 * and together.
 *
 * A rank that is launched waits for the others, until the last of them is launched or a window has
 * passed, and begins then. So the last one never waits, and ranks that are launched within a window
 * begin at the same time.
 */
class KernelStarts
{
  public:
    /// "At no time".
    static constexpr int64_t NEVER = INT64_MAX;

    /// Names a communication: task and micro-batch.
    using Key = std::pair<TaskId, uint32_t>;

    /// A rank that has been launched.
    struct Rank
    {
        uint32_t id{NO_ID};    //!< whatever the caller knows it by
        int64_t launchedPs{0}; //!< when, on the grid
    };

    /// @param gridPs launches count at the next multiple of it; 0: at any time @param windowPs most
    /// that a rank waits for others; 0: none does
    void SetUp(int64_t gridPs, int64_t windowPs);

    /// @return whether ranks wait for others
    bool HasWindow() const
    {
        return m_windowPs > 0;
    }

    /// @param timePs of a launch @return the same on the grid
    int64_t Align(int64_t timePs) const
    {
        return (timePs + m_gridPs - 1) / m_gridPs * m_gridPs;
    }

    /// What becomes of a rank that has been launched.
    struct Launch
    {
        uint32_t wait{NO_ID};        //!< of Expire(), if it waits
        int64_t untilPs{0};          //!< when Expire() is to be called, or NEVER
        int64_t togetherPs{0};       //!< when `ranks` begin
        std::vector<uint32_t> ranks; //!< that wait no longer, itself included
    };

    /**
     * A rank is launched.
     * @param key of its communication
     * @param nRanks of that
     * @param rule of that, not APART
     * @param rank which one
     * @return whether it waits, or who begins with it
     */
    Launch Add(Key key, uint32_t nRanks, StartRule rule, const Rank& rank);

    /// The window of a rank has passed. @param wait of it @return the rank, which begins now;
    /// NO_ID if it has begun with others
    uint32_t Expire(uint32_t wait);

  private:
    /// A rank that waits.
    struct Wait
    {
        Key key{0, 0};        //!< its communication
        uint32_t rank{NO_ID}; //!< which one; NO_ID: it has begun with others
        int64_t untilPs{0};   //!< when its window has passed
    };

    /// A communication of which not all ranks have been launched.
    struct Gathering
    {
        uint32_t nLaunched{0};       //!< ranks
        int64_t lastPs{0};           //!< last launch so far
        std::vector<uint32_t> waits; //!< of ranks that have not begun, in the order of launches
    };

    int64_t m_gridPs{1};                 //!< see SetUp()
    int64_t m_windowPs{0};               //!< see SetUp()
    std::map<Key, Gathering> m_gathered; //!< by communication
    Pool<Wait> m_waits;                  //!< until their windows have passed
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KERNEL_STARTS_H
