/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCHEDULER_PRIORITY_H
#define PROTEUS_SCHEDULER_PRIORITY_H

#include "proteus-communication-scheduler.h"

#include <map>
#include <tuple>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * ByteScheduler's scheduler (Peng et al., SOSP'19, section 4.2): the most urgent communication
 * first, as long as credit is left.
 */
class PriorityScheduler : public CommunicationScheduler
{
  public:
    /// @param creditBytes size of the credit window, at least 1
    explicit PriorityScheduler(uint64_t creditBytes)
        : m_credit(creditBytes)
    {
    }

    void Add(const ReadyCommunication& communication) override;
    std::optional<ReadyCommunication> TakeNext() override;
    void Finish(const ReadyCommunication& communication) override;

  private:
    /// Kind, rank, part and arrival: in the order in which communications go.
    using Key = std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>;

    CreditWindow m_credit;
    std::map<Key, ReadyCommunication> m_waiting;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCHEDULER_PRIORITY_H
