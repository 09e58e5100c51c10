/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PACKET_H
#define PROTEUS_PACKET_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-flow-hash.h"

#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * What moves through the fabric.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Position of a port in its fabric: 2 * link for the direction a to b, 2 * link + 1 for b to a.
using PortId = uint32_t;

/// @ingroup proteus
/// "No port".
constexpr PortId NO_PORT = 0xffffffff;

/// @ingroup proteus
/// Most traffic classes (virtual lanes, PFC priorities) of a fabric.
constexpr uint32_t MAX_TRAFFIC_CLASSES = 8;

/// @ingroup proteus
/// What a packet record carries.
enum class PacketKind : uint8_t
{
    DATA,                    //!< payload of a message, from sender to receiver of a queue pair
    ACKNOWLEDGE,             //!< the receiver has all packets before `sequence`
    NEGATIVE_ACKNOWLEDGE,    //!< the same, and misses packet `sequence`
    CONGESTION_NOTIFICATION, //!< the receiver saw marks (RoCEv2's CNP)
    CONTROL,                 //!< a short message of the upper layer, against the data's direction
    PAUSE,                   //!< PFC: content is 1 to pause, 0 to resume traffic class `sequence`
};

/**
 * @ingroup proteus
 * A unit of one message on its way: an InfiniBand or Ethernet packet, or on NVLink and PCIe a
 * burst. A plain record, copied from queue to link to queue; it is never an ns3::Packet.
 */
struct PacketRecord
{
    /// Bits of `flags`.
    enum Flag : uint8_t
    {
        CONGESTION_EXPERIENCED = 1, //!< ECN: marked on its way; in an acknowledgement, echoed
        FIRST = 2,                  //!< first packet of its message
        LAST = 4,                   //!< last packet of its message
        RETRANSMISSION = 8,         //!< sent before
        ACK_REQUEST = 16,           //!< the receiver is to acknowledge at once
        TURNED = 32,                //!< on the way that its kind does not usually take: from a
                                    //!< switch down to the members of a group, or an
                                    //!< acknowledgement of CONTROL, with the data's direction
    };

    int64_t timePs{0};       //!< arrival of its last byte at the end of the link it is on
    uint32_t queuePair{0};   //!< which queue pair it belongs to
    uint32_t sequence{0};    //!< number of the packet in its queue pair, modulo 2^32
    VertexId destination{0}; //!< next waypoint: a NIC, a switch, or the endpoint itself
    PortId ingress{NO_PORT}; //!< link it came over, whose receive buffer holds it

    union {
        uint32_t payloadBytes{0}; //!< of DATA
        uint32_t content;         //!< of the other kinds: 32 bits of what they say
    };

    PacketKind kind{PacketKind::DATA};      //!< what it carries
    uint8_t trafficClass{0};                //!< virtual lane or priority
    uint8_t flags{0};                       //!< of Flag
    CopyMethod copyMethod{CopyMethod::DMA}; //!< of DATA: what it takes on NVLink and PCIe

    /// @return payload in bytes; 0 for all kinds but DATA
    uint32_t GetPayloadBytes() const
    {
        return kind == PacketKind::DATA ? payloadBytes : 0;
    }
};

static_assert(sizeof(PacketRecord) == 32, "two records share a cache line");

/// @ingroup proteus
/// What a switch tells about itself when a packet leaves it (in-band network telemetry, as HPCC
/// uses it: Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, section 3).
struct HopTelemetry
{
    int64_t timePs{0};        //!< when the packet starts on the link
    uint64_t sentBytes{0};    //!< wire bytes that the port has sent before it
    uint64_t queueBytes{0};   //!< wire bytes that wait behind it for the port
    double bytesPerSecond{0}; //!< rate of the link
    PortId port{NO_PORT};     //!< which port
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PACKET_H
