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
    APART,  //!< each begins at once
    WINDOW, //!< each waits less than a window, to begin whole windows before the last
    PAIR,   //!< of two ranks, each waits until both are being launched
    MESSAGE //!< a sender waits for its receiver, a receiver for the launch of its sender
};

/// @ingroup proteus
/// @param task a communication @param program of it
/// @return how its ranks wait: those of a message from one rank to another as such, because a
/// sender alone can do nothing, and a receiver can only grant room; two that both send and receive
/// as a pair, because either can only grant room alone; those of a collective of more than two
/// ranks in a window, if they all need each other; all others apart, all-to-alls and operations of
/// switches but all-reduces, too
StartRule FindStartRule(const Task& task, const CollectiveProgram& program);

/// @ingroup proteus
/// @param rank what a rank does @return whether it sends nothing
bool IsReceiver(const RankProgram& rank);

/**
 * @ingroup proteus
 * When the ranks of a communication begin, whose kernels have been launched: on a grid of times,
 * and together.
 *
 * A rank of a collective that is launched waits for less than a window, to begin a whole number of
 * windows before the last one is launched, which does not wait: so ranks that are launched within a
 * window of it begin together with it. A kernel is announced when its rank joins, so that the
 * others know when the last one will be launched; a rank whose window passes before they know
 * begins then.
 *
 * A receiver of a message begins when its sender's kernel is being launched, so that room is
 * granted when that begins; or when it is launched itself, if that is later, and its sender not
 * before it. The first rank of a pair, too, begins when the kernel of the other one is being
 * launched, or when it is launched itself, if that is later.
 *
 * That a rank joins is known to the others a while later (Communication::newsPs), and nothing
 * begins before. As kernels take longer than that to be launched, few wait for it: the last of a
 * collective would only if it were launched in less.
 */
class KernelStarts
{
  public:
    /// Names a communication: task and micro-batch.
    using Key = std::pair<TaskId, uint32_t>;

    /// What is the same for all ranks of a communication.
    struct Communication
    {
        uint32_t nRanks{0};               //!< that have to be launched
        StartRule rule{StartRule::APART}; //!< how they wait
        int64_t newsPs{0};   //!< after so long all of them know of a join, see LookaheadBounds
        int64_t windowPs{0}; //!< a window of its own, where it is longer than that of SetUp()
    };

    /// A rank that has been launched.
    struct Rank
    {
        uint32_t id{NO_ID};     //!< whatever the caller knows it by; NO_ID: another process has it
        int64_t launchedPs{0};  //!< when, on the grid
        int64_t joinedPs{0};    //!< when that has become known
        bool isReceiver{false}; //!< of a message
    };

    /// When a rank begins.
    struct Begin
    {
        uint32_t rank{NO_ID}; //!< Rank::id
        int64_t timePs{0};    //!< when
    };

    /// @param gridPs launches count at the next multiple of it; 0: at any time @param windowPs that
    /// a rank waits at most; 0: none does
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
        uint32_t wait{NO_ID};      //!< of Expire(), if that is to be called
        int64_t untilPs{0};        //!< when Expire() is to be called
        std::vector<Begin> begins; //!< of ranks that wait no longer, itself included
    };

    /**
     * A rank is launched.
     * @param key of its communication
     * @param communication which one; its rule is not APART
     * @param rank which one
     * @return whether it waits, or who begins now or later; ranks of this process only
     */
    Launch Add(Key key, const Communication& communication, const Rank& rank);

    /// The window of a rank has passed. @param wait of it @return the rank, which begins now;
    /// NO_ID if it has begun with others
    uint32_t Expire(uint32_t wait);

  private:
    /// The same for a rank of a message or a pair. @param key of it @param communication which one
    /// @param rank of it @return nobody, or both
    Launch AddToPair(Key key, const Communication& communication, const Rank& rank);

    /// A rank that waits.
    struct Wait
    {
        Key key{0, 0};         //!< its communication
        uint32_t rank{NO_ID};  //!< which one; NO_ID: it has begun with others
        int64_t launchedPs{0}; //!< when it was launched
    };

    /// A communication of which not all ranks have been launched.
    struct Gathering
    {
        uint32_t nLaunched{0};       //!< ranks
        int64_t knownPs{0};          //!< when all know of the joins so far
        int64_t lastPs{0};           //!< the last launch so far, or knownPs if that is later
        std::vector<uint32_t> waits; //!< of ranks that have not begun, in the order of launches
    };

    int64_t m_gridPs{1};                 //!< see SetUp()
    int64_t m_windowPs{0};               //!< see SetUp()
    std::map<Key, Gathering> m_gathered; //!< by communication
    std::map<Key, Rank> m_pairs;         //!< by message or pair: the rank that has been launched
    Pool<Wait> m_waits;                  //!< until their windows have passed
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KERNEL_STARTS_H
