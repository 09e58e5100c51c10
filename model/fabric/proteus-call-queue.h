/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CALL_QUEUE_H
#define PROTEUS_CALL_QUEUE_H

#include "proteus-event-tree.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Who can be called at a time of the fabric.
class CallTarget
{
  public:
    virtual ~CallTarget() = default;

    /// The time of a call has come. @param kind of the call @param value that goes with it
    virtual void HandleCall(uint32_t kind, uint32_t value) = 0;
};

/// @ingroup proteus
/// A call at a time of the fabric.
struct FabricCall
{
    /// Order of calls that come in the order of their numbers, after those with an order.
    static constexpr uint64_t IN_TURN = UINT64_MAX;

    int64_t timePs{0};           //!< when
    uint64_t order{IN_TURN};     //!< among calls at one time, lower ones first
    uint64_t number{0};          //!< among calls of one order, lower ones first
    CallTarget* target{nullptr}; //!< whom to call
    uint32_t kind{0};            //!< of CallTarget::HandleCall()
    uint32_t value{0};           //!< of CallTarget::HandleCall()

    /// @param other another call @return whether this one comes later
    bool operator>(const FabricCall& other) const
    {
        return std::tie(timePs, order, number) > std::tie(other.timePs, other.order, other.number);
    }
};

/**
 * @ingroup proteus
 * Calls in a binary heap, sorted by time, order and number. So the order in which they are made
 * does not depend on the order in which they were put in.
 */
class CallQueue
{
  public:
    /// @return time of the first call, EventTree::NEVER if there is none
    int64_t GetTime() const
    {
        return m_firstPs;
    }

    /// @param call to put in
    void Push(const FabricCall& call)
    {
        m_calls.push_back(call);
        std::push_heap(m_calls.begin(), m_calls.end(), std::greater<>());
        m_firstPs = m_calls.front().timePs;
    }

    /// @return the first call, taken out; there must be one
    FabricCall Pop()
    {
        std::pop_heap(m_calls.begin(), m_calls.end(), std::greater<>());
        const FabricCall call = m_calls.back();
        m_calls.pop_back();
        m_firstPs = m_calls.empty() ? EventTree::NEVER : m_calls.front().timePs;
        return call;
    }

    /// Forgets all calls.
    void Clear()
    {
        m_calls.clear();
        m_firstPs = EventTree::NEVER;
    }

  private:
    std::vector<FabricCall> m_calls;     //!< a heap, the first one first
    int64_t m_firstPs{EventTree::NEVER}; //!< its time
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CALL_QUEUE_H
