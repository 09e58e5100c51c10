/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COMPAT_H
#define PROTEUS_COMPAT_H

/**
 * @file
 * @ingroup proteus
 * What differs between ns-3.35 and ns-3.48, in one place. No other file of the
 * module asks for the version of ns-3 (of the tests, proteus-test-duration.h). Only the rooms that
 * know the simulator include it.
 */

#include "ns3/enum.h"
#include "ns3/event-id.h"       // nstime.h stopped including it in ns-3.47
#include "ns3/proteus-config.h" // generated
#include "ns3/simulator.h"

#include <functional>
#include <utility>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Simulator::Schedule() takes lambdas since ns-3.36 only.
 *
 * @param delay how long from now
 * @param what what to call
 * @return the event
 */
inline EventId
ScheduleFunction(const Time& delay, std::function<void()> what)
{
    struct Caller
    {
        static void Call(std::function<void()> f)
        {
            f();
        }
    };

    return Simulator::Schedule(delay, &Caller::Call, std::move(what));
}

/**
 * @ingroup proteus
 * Simulator::ScheduleWithContext() takes lambdas since ns-3.36 only.
 *
 * @param context id of the node in whose context it runs
 * @param delay how long from now
 * @param what what to call
 */
inline void
ScheduleFunctionWithContext(uint32_t context, const Time& delay, std::function<void()> what)
{
    struct Caller
    {
        static void Call(std::function<void()> f)
        {
            f();
        }
    };

    Simulator::ScheduleWithContext(context, delay, &Caller::Call, std::move(what));
}

/**
 * @ingroup proteus
 * EnumValue became a template in ns-3.41, and its accessor with it.
 *
 * @param member of an enumeration's type
 * @return its accessor
 */
template <typename T, typename C>
Ptr<const AttributeAccessor>
MakeEnumMemberAccessor(T C::*member)
{
#if PROTEUS_NS3_VERSION >= 341
    return MakeEnumAccessor<T>(member);
#else
    return MakeEnumAccessor(member);
#endif
}

/**
 * @ingroup proteus
 * @tparam T an enumeration
 * @param set member function that sets a value of it
 * @param get member function that returns it
 * @return the accessor
 */
template <typename T, typename S, typename G>
Ptr<const AttributeAccessor>
MakeEnumMemberAccessor(S set, G get)
{
#if PROTEUS_NS3_VERSION >= 341
    return MakeEnumAccessor<T>(set, get);
#else
    return MakeEnumAccessor(set, get);
#endif
}

/**
 * @ingroup proteus
 * The value of an attribute whose type is an enumeration.
 * @tparam T the enumeration; one class stands for all of them before ns-3.41
 */
#if PROTEUS_NS3_VERSION >= 341
template <typename T>
using EnumValueOf = EnumValue<T>;
#else
template <typename T>
using EnumValueOf = EnumValue;
#endif

/**
 * @ingroup proteus
 * EventId::IsRunning() became IsPending() in ns-3.42 and is gone since 3.46.
 *
 * @param id an event
 * @return whether it is still to come
 */
inline bool
IsEventPending(const EventId& id)
{
#if PROTEUS_NS3_VERSION >= 342
    return id.IsPending();
#else
    return id.IsRunning();
#endif
}

} // namespace proteus
} // namespace ns3

/**
 * @ingroup proteus
 * Application::AssignStreams() is virtual since ns-3.42: an application
 * declares `int64_t AssignStreams(int64_t stream) PROTEUS_APP_OVERRIDE;`.
 */
#if PROTEUS_NS3_VERSION >= 342
#define PROTEUS_APP_OVERRIDE override
#else
#define PROTEUS_APP_OVERRIDE
#endif

#endif // PROTEUS_COMPAT_H
