/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PORT_H
#define PROTEUS_PORT_H

#include "proteus-event-tree.h"
#include "proteus-packet.h"

#include "ns3/proteus-huge-pages.h"
#include "ns3/proteus-link-statistics.h"
#include "ns3/proteus-ring-buffer.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The state of the packet engine: plain records, laid out for the cache.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Bits of a fraction of a picosecond in the arithmetic of transmission times.
constexpr uint32_t TIME_FRACTION_BITS = 24;

/// @ingroup proteus
/// When the last unit left a port that has sent none: its links are idle as after any long rest.
constexpr int64_t LONG_AGO = -(int64_t{1} << 60);

/// @ingroup proteus
/// A stretch of a receive buffer that becomes free.
struct CreditReturn
{
    int64_t timePs; //!< when the sender knows, if what was promised before has come
    int64_t bytes;  //!< how much
};

/// @ingroup proteus
/// One traffic class of one direction of a link, at its sending end.
struct alignas(64) LaneState
{
    RingBuffer<PacketRecord> queue;   //!< waiting
    RingBuffer<CreditReturn> returns; //!< promised credits, see CreditControl
    uint64_t queuedBytes{0};          //!< wire bytes in `queue`
    int64_t creditBytes{0};           //!< free room at the other end, as far as known here
};

static_assert(sizeof(LaneState) == 64, "a lane is one cache line");

/// @ingroup proteus
/// What units take on a link and on its opposite direction. All ports of links that are alike share
/// one, so that the processor has it at hand.
struct UnitSizes
{
    uint32_t fullPayload{0};                //!< payload of a full unit
    uint32_t controlWire{0};                //!< wire bytes of a unit without payload
    uint32_t fullWire[COPY_METHODS]{};      //!< of a full unit, by CopyMethod
    uint32_t fullReverse[COPY_METHODS]{};   //!< its bytes on the opposite direction, by CopyMethod
    uint32_t mostWire{0};                   //!< wire bytes of a full unit, most of all methods
    uint32_t unitHeader{0};                 //!< bytes once per unit
    uint32_t packetPayload[COPY_METHODS]{}; //!< most payload of one packet of a unit, by CopyMethod
    uint32_t packetHeader[COPY_METHODS]{};  //!< bytes once per packet, by CopyMethod
    uint32_t packetReverse[COPY_METHODS]{}; //!< the same on the opposite direction

    UnitSizes() = default;
    /// @param framing of a link
    explicit UnitSizes(const LinkFraming& framing);

    /// @param other sizes on another link @return whether they are the same
    bool operator==(const UnitSizes& other) const;

    /// @return whether units cost the opposite direction something
    bool Reverses() const;

    /// @param record a data unit @return the bytes that it costs the opposite direction
    uint32_t GetReverseBytes(const PacketRecord& record) const
    {
        const auto method = static_cast<std::size_t>(record.copyMethod);
        return record.payloadBytes == fullPayload
                   ? fullReverse[method]
                   : GetPackets(record, method) * packetReverse[method];
    }

    /// @param record a unit @return its bytes on the wire
    uint32_t GetWireBytes(const PacketRecord& record) const
    {
        if (record.kind != PacketKind::DATA)
        {
            return controlWire;
        }
        const auto method = static_cast<std::size_t>(record.copyMethod);
        if (record.payloadBytes == fullPayload)
        {
            return fullWire[method];
        }
        return record.payloadBytes + unitHeader + GetPackets(record, method) * packetHeader[method];
    }

  private:
    /// @param record a data unit @param method its CopyMethod @return packets that it stands for
    uint32_t GetPackets(const PacketRecord& record, std::size_t method) const
    {
        return (record.payloadBytes + packetPayload[method] - 1) / packetPayload[method];
    }
};

/// @ingroup proteus
/// One direction of a link, at its sending end.
struct alignas(64) PortState
{
    // Read and written for every packet.
    int64_t freeAtPs{LONG_AGO};          //!< when the last byte of the last unit leaves
    int64_t serveAtPs{EventTree::NEVER}; //!< when the pending service is due
    int64_t pullAtPs{0};                 //!< when the endpoint may have a unit, if `offered`
    uint64_t psPerByte{0};               //!< fixed point, TIME_FRACTION_BITS
    int64_t delayPs{0};                  //!< of the link
    RingBuffer<PacketRecord> flight;     //!< on the wire, by arrival

    // The next cache line.
    alignas(64) VertexId to{0};      //!< who receives
    uint32_t fraction{0};            //!< of a picosecond that freeAtPs lacks
    const UnitSizes* sizes{nullptr}; //!< of units on it; of the PortTable
    int64_t stalledSincePs{-1};      //!< first refusal of a unit for want of credit
    uint32_t debtBytes{0};   //!< owed to the opposite direction: LinkFraming::ReverseBytes()
    uint32_t markBytes{0};   //!< ECN marks may begin at this queue; 0 for no ECN
    uint32_t cutBytes{0};    //!< cut-through: bytes after which a unit goes on; 0: all
    uint32_t bufferAt{0};    //!< SharedBuffers: at the receiving end, plus 1; 0: not accounted
    uint8_t waiting{0};      //!< bit c: traffic class c has units in its queue
    uint8_t paused{0};       //!< bit c: PFC has paused it
    uint8_t starved{0};      //!< bit c: it waits for a credit that nobody has promised yet
    uint8_t pausing{0};      //!< bit c: the receiving end wants it to pause
    uint8_t pauseDue{0};     //!< bit c: it is to tell the other end to pause class c, or to go on
    uint8_t inputBusy{0};    //!< bit c: the first unit of its input queue waits for an output
    bool offered{false};     //!< the endpoint has units
    bool credited{false};    //!< the other end has a finite receive buffer
    bool internal{false};    //!< not a link but the inside of a device
    bool inputQueued{false}; //!< the receiving device has one queue per input
    bool reads{false};       //!< a NIC that reads memory of its server is at the other end
    bool unreliable{false};  //!< loses units
    bool telemetric{false};  //!< tells HopTelemetry
    bool down{false};        //!< the link has failed
    bool goesDown{false};    //!< as Paths::GoesDown()
    bool reverses{false};    //!< its units cost the opposite direction something
    bool cut{false};         //!< another rank simulates one of its ends
    bool overtakes{false};   //!< what needs no credit goes before a unit that waits for one

    alignas(64) LinkStatistics statistics; //!< what it did; begins with what every packet changes

    // Rarely needed.
    VertexId from{0};          //!< who sends
    uint32_t markAllBytes{0};  //!< every unit is marked from this queue on
    uint32_t headroomBytes{0}; //!< for what arrives after a pause is due
    uint32_t failures{0};      //!< times that the link has failed
    int64_t bufferBytes{0};    //!< all room at the other end
    double lossProbability{0}; //!< of a unit
    double bitErrorRate{0};    //!< of a bit
    int64_t pausedSincePs{-1}; //!< since when a traffic class is paused
    bool stormed{false};       //!< the other end repeats pauses without end
    bool drawn{false};         //!< chance has decided about a mark, see Fabric::ExchangeDrawn()

    /// @return bit c: traffic class c has units in its queue that may go on
    uint32_t GetReady() const
    {
        return waiting & ~(paused | starved);
    }

    /// @param record a data unit @return the bytes that it costs the opposite direction
    uint32_t GetReverseBytes(const PacketRecord& record) const
    {
        return sizes->GetReverseBytes(record);
    }

    /// @param record a unit @return its bytes on the wire
    uint32_t GetWireBytes(const PacketRecord& record) const
    {
        return sizes->GetWireBytes(record);
    }

    /// @param record that is on its way @return when its arrival is due
    int64_t GetArrivalPs(const PacketRecord& record) const
    {
        if (cutBytes == 0 || record.destination == to)
        {
            return record.timePs; // where it ends, all of it has to be there
        }
        const uint32_t wireBytes = GetWireBytes(record);
        return wireBytes <= cutBytes
                   ? record.timePs
                   : record.timePs - static_cast<int64_t>((wireBytes - cutBytes) * psPerByte >>
                                                          TIME_FRACTION_BITS);
    }
};

static_assert(sizeof(PortState) == 320, "three cache lines for every packet, and two more");

/**
 * @ingroup proteus
 * The ports of a fabric, with one lane for each traffic class of each port.
 */
class PortTable
{
  public:
    PortTable() = default;
    PortTable(const PortTable&) = delete; // its ports point to its sizes
    PortTable& operator=(const PortTable&) = delete;

    /// @param nPorts number of ports @param nClasses traffic classes of each, from 1
    void Create(std::size_t nPorts, uint32_t nClasses)
    {
        m_nClasses = nClasses;
        m_classShift = 0;
        while ((1u << m_classShift) < nClasses)
        {
            ++m_classShift;
        }
        m_ports.resize(nPorts);
        m_lanes.resize(nPorts << m_classShift);
    }

    /// @param port a port @param framing of its link
    void SetFraming(PortId port, const LinkFraming& framing);

    /// @param port a port @param framing of its link @param bytesPerSecond rate of the link
    void SetRate(PortId port, const LinkFraming& framing, double bytesPerSecond);

    /// @return number of ports
    std::size_t GetSize() const
    {
        return m_ports.size();
    }

    /// @return traffic classes of each port
    uint32_t GetNClasses() const
    {
        return m_nClasses;
    }

    /// @return number of lanes: a power of two for each port
    std::size_t GetNLanes() const
    {
        return m_lanes.size();
    }

    /// @param port a port @param trafficClass of it @return number of the lane
    std::size_t GetLane(PortId port, uint32_t trafficClass) const
    {
        return (std::size_t{port} << m_classShift) + trafficClass;
    }

    /// @param port a port @return its state
    PortState& operator[](PortId port)
    {
        return m_ports[port];
    }

    /// @param port a port @return its state
    const PortState& operator[](PortId port) const
    {
        return m_ports[port];
    }

    /// @param port a port @param trafficClass of it @return the lane's state
    LaneState& Lane(PortId port, uint32_t trafficClass)
    {
        return m_lanes[GetLane(port, trafficClass)];
    }

    /// @param port a port @param trafficClass of it @return the lane's state
    const LaneState& Lane(PortId port, uint32_t trafficClass) const
    {
        return m_lanes[GetLane(port, trafficClass)];
    }

  private:
    std::vector<PortState, HugePageAllocator<PortState>> m_ports; //!< by PortId
    std::vector<LaneState, HugePageAllocator<LaneState>> m_lanes; //!< by port and traffic class
    std::deque<UnitSizes> m_sizes;                                //!< of links, all different
    uint32_t m_nClasses{1};                                       //!< of every port
    uint32_t m_classShift{0};                                     //!< lanes of a port: 1 << this
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PORT_H
