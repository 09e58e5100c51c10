/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_INPUT_QUEUES_H
#define PROTEUS_INPUT_QUEUES_H

#include "proteus-port.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The queues of devices that have one queue per input and traffic class, in which a unit that waits
 * for its output holds up those behind it. PortState::inputQueued says which ports lead to such a
 * device.
 */
class InputQueues
{
  public:
    /// @param nLanes of the ports that may be input queued
    void SetUp(std::size_t nLanes)
    {
        m_queues.resize(nLanes);
    }

    /**
     * A unit has arrived at an input-queued device.
     * @param in the port it came over
     * @param lane number of its lane
     * @param record the unit
     * @return whether it has to wait for the unit before it
     */
    bool Hold(PortState& in, std::size_t lane, const PacketRecord& record)
    {
        const uint8_t bit = 1u << record.trafficClass;
        if ((in.inputBusy & bit) != 0)
        {
            m_queues[lane].Push(record);
            return true;
        }
        in.inputBusy |= bit; // until the unit leaves: Release()
        return false;
    }

    /**
     * A unit has left an input-queued device.
     * @param in the port it came over
     * @param lane number of its lane
     * @param record the unit; becomes the one behind it
     * @return whether there is one behind it
     */
    bool Release(PortState& in, std::size_t lane, PacketRecord& record)
    {
        const auto bit = static_cast<uint8_t>(1u << record.trafficClass);
        if ((in.inputBusy & bit) == 0)
        {
            return false;
        }
        in.inputBusy &= ~bit;
        RingBuffer<PacketRecord>& queue = m_queues[lane];
        if (queue.IsEmpty())
        {
            return false;
        }
        record = queue.Front();
        queue.Pop();
        return true;
    }

    /// @param lane number of a lane @return units that wait
    uint32_t GetSize(std::size_t lane) const
    {
        return lane < m_queues.size() ? m_queues[lane].GetSize() : 0;
    }

    /// @param lane number of a lane, SetUp() @return units that wait
    const RingBuffer<PacketRecord>& GetQueue(std::size_t lane) const
    {
        return m_queues[lane];
    }

  private:
    std::vector<RingBuffer<PacketRecord>> m_queues; //!< by lane; empty if no device is input queued
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_INPUT_QUEUES_H
