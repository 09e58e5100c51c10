/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_READ_REQUESTS_H
#define PROTEUS_READ_REQUESTS_H

#include "ns3/proteus-cluster.h"

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What devices have asked of memories: NICs of those of GPUs and hosts, be it that a message begins
 * there or passes (StagingMemories), and GPUs of those of hosts.
 * A device asks for no more than its receive buffer has room for, since it must always take what it
 * has asked for (PCI Express Base Specification, section 2.6.1: endpoints advertise infinite
 * credits for completions). So what waits for the network waits in memory, and holds up nothing
 * else that leaves it.
 */
class ReadRequests
{
  public:
    /// Who waits for a reader.
    struct Turn
    {
        uint32_t number{UINT32_MAX}; //!< of a slot of SendPorts, or of a queue pair
        bool isStaged{false};        //!< of a queue pair, whose units are in a memory on their way

        /// @return whether it is nobody's
        bool IsNobodys() const
        {
            return number == UINT32_MAX;
        }
    };

    /// @param pair a queue pair @param device that reads what it sends
    /// @param trafficClass of that @param units that the device has room for, of all its queue
    /// pairs of that class together
    void Add(uint32_t pair, VertexId device, uint32_t trafficClass, uint32_t units);

    /// @param pair a queue pair that Add() has been called for @param now present time
    /// @return whether its reader has room for another unit
    bool HasRoom(uint32_t pair, int64_t now);

    /// A unit leaves the memory. @param pair its queue pair
    void Ask(uint32_t pair)
    {
        ++m_readers[m_readerOf[pair]].asked;
    }

    /// Somebody waits for room. @param pair whose reader's @param turn for whom
    void Wait(uint32_t pair, Turn turn)
    {
        m_readers[m_readerOf[pair]].waiting.push_back(turn);
    }

    /**
     * A unit leaves its reader, if that is a NIC, has arrived there, or is lost on its way to it.
     * @param pair its queue pair
     * @param timePs when its last byte does
     */
    void Return(uint32_t pair, int64_t timePs)
    {
        m_readers[m_readerOf[pair]].returns.push_back(timePs);
    }

    /// @param pair a queue pair @return the turn of who has waited longest for its reader, and does
    /// so no more; nobody's if there is none
    Turn TakeWaiting(uint32_t pair);

    /// @param pair a queue pair that Add() has been called for @param nowPs present time
    /// @param words that get all that is known of its reader, times from now on
    void AppendState(uint32_t pair, int64_t nowPs, std::vector<uint64_t>& words) const;

    /// @return whether every unit has left its reader, or will without another event
    bool IsAtRest() const;

  private:
    /// A device that reads, and a traffic class.
    struct Reader
    {
        uint32_t room{0};             //!< units
        uint32_t asked{0};            //!< units that are on the way, or in the device
        std::vector<int64_t> returns; //!< when some of them leave it
        std::deque<Turn> waiting;     //!< in the order in which they came
    };

    std::map<std::pair<VertexId, uint32_t>, uint32_t> m_numbers; //!< by device and class
    std::vector<Reader> m_readers;
    std::vector<uint32_t> m_readerOf; //!< by queue pair, as far as there are any
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_READ_REQUESTS_H
