/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-scheduler-priority.h"

#include "proteus-communication-rank.h"

#include "ns3/proteus-other-names.h"

namespace ns3
{
namespace proteus
{

namespace
{

const OtherNamesRegistry::Registration WORDS("priority", {{"byteScheduler"}});

const SchedulingPolicyRegistration REGISTRATION(
    {"priority",
     "ByteScheduler: parts of the layer nearest to the input first, as far as credit allows",
     nullptr,
     RankByLayer,
     [](const ScheduleSettings& settings) {
         return std::make_unique<PriorityScheduler>(settings.creditBytes);
     }});

} // namespace

void
PriorityScheduler::Add(const ReadyCommunication& communication)
{
    m_waiting.emplace(
        Key{communication.kind, communication.rank, communication.part, communication.arrival},
        communication);
}

std::optional<ReadyCommunication>
PriorityScheduler::TakeNext()
{
    if (m_waiting.empty() || !m_credit.IsOpen())
    {
        return std::nullopt;
    }
    const ReadyCommunication next = m_waiting.begin()->second;
    m_waiting.erase(m_waiting.begin());
    m_credit.Take(next.bytes);
    return next;
}

void
PriorityScheduler::Finish(const ReadyCommunication& communication)
{
    m_credit.Return(communication.bytes);
}

} // namespace proteus
} // namespace ns3
