/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_DCQCN_USE_H
#define PROTEUS_DCQCN_USE_H

#include <atomic>

/**
 * @file
 * @ingroup proteus
 * Which parts of DCQCN have come to act.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Marks of the process, and of those that it has forked since the first call of GetDcqcnUse(): what
 * any sender has done. A parameter of a part that has not acted has no effect.
 */
struct DcqcnUse
{
    std::atomic<bool>& cuts;      //!< a notification has cut a rate
    std::atomic<bool>& timer;     //!< the increase timer has run out
    std::atomic<bool>& bytes;     //!< the byte counter has
    std::atomic<bool>& additives; //!< a step was of additive increase
    std::atomic<bool>& hypers;    //!< a step was of hyper increase
    std::atomic<bool>& minimum;   //!< a cut was limited by the minimum rate

    /// Takes all marks away.
    void Forget();
};

/// @ingroup proteus
/// @return the marks
DcqcnUse& GetDcqcnUse();

/// @ingroup proteus
/// @param mark to set, which other threads read and set
inline void
SetMark(std::atomic<bool>& mark)
{
    if (!mark.load(std::memory_order_relaxed)) // a store would take the line from the others
    {
        mark.store(true, std::memory_order_relaxed);
    }
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_DCQCN_USE_H
