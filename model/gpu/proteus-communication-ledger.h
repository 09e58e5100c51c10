/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COMMUNICATION_LEDGER_H
#define PROTEUS_COMMUNICATION_LEDGER_H

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What one communication, over all its micro-batches, moved between ranks.
struct CommunicationStatistics
{
    TaskId task{0};            //!< which one
    uint64_t sentBytes{0};     //!< payload that ranks handed to queue pairs and to switches
    uint64_t expectedBytes{0}; //!< what ranks take out of it in the end: of a sum, one result
                               //!< for each member that gets it; of a multicast, all copies
    uint64_t receivedBytes{0}; //!< payload that ranks took out
};

/// @ingroup proteus
/// What the communications of a run moved.
class CommunicationLedger
{
  public:
    /// @param part what a rank that is done moved
    void Add(const CommunicationStatistics& part)
    {
        CommunicationStatistics& sum = m_byTask[part.task];
        sum.task = part.task;
        sum.sentBytes += part.sentBytes;
        sum.expectedBytes += part.expectedBytes;
        sum.receivedBytes += part.receivedBytes;
    }

    /// @return what each communication moved of which some rank is done, by task
    std::vector<CommunicationStatistics> GetAll() const
    {
        std::vector<CommunicationStatistics> statistics;
        for (const auto& entry : m_byTask)
        {
            statistics.push_back(entry.second);
        }
        return statistics;
    }

    /// @return an empty text, or the first communication that did not receive what was due
    std::string CheckAtRest() const
    {
        for (const auto& entry : m_byTask)
        {
            if (entry.second.expectedBytes != entry.second.receivedBytes)
            {
                return "task " + std::to_string(entry.first) + ": received " +
                       std::to_string(entry.second.receivedBytes) + " of " +
                       std::to_string(entry.second.expectedBytes) + " bytes that are due";
            }
        }
        return "";
    }

  private:
    std::map<TaskId, CommunicationStatistics> m_byTask; //!< by task
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COMMUNICATION_LEDGER_H
