/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PACKET_H
#define PROTEUS_PACKET_H

#include "ns3/proteus-cluster.h"

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
/// What a packet record carries.
enum class PacketKind : uint8_t
{
    DATA,        //!< payload of a message, from the sender of a queue pair to its receiver
    ACKNOWLEDGE, //!< the receiver has all of a message
    CONTROL,     //!< a short message of the upper layer, against the direction of the data
};

/**
 * @ingroup proteus
 * A unit of one message on its way: an InfiniBand or Ethernet packet, or on NVLink and PCIe a
 * burst. A plain record, copied from queue to link to queue; it is never an ns3::Packet.
 */
struct PacketRecord
{
    int64_t timePs{0};        //!< arrival of its last byte at the end of the link it is on
    uint32_t queuePair{0};    //!< which queue pair it belongs to
    uint32_t message{0};      //!< DATA, ACKNOWLEDGE: number of the message; CONTROL: its content
    VertexId destination{0};  //!< next waypoint: a NIC, or the endpoint itself
    PortId ingress{NO_PORT};  //!< link whose receive buffer holds it
    uint32_t payloadBytes{0}; //!< 0 for ACKNOWLEDGE and CONTROL
    PacketKind kind{PacketKind::DATA}; //!< what it carries
    uint8_t priority{0};               //!< 0 is served first
    uint16_t hops{0};                  //!< links it has crossed
};

static_assert(sizeof(PacketRecord) == 32, "two records share a cache line");

/**
 * @ingroup proteus
 * A mixing function for per-flow path choice (the finaliser of MurmurHash3, public domain).
 * @param a first word
 * @param b second word
 * @return a well mixed word
 */
inline uint64_t
MixHash(uint64_t a, uint64_t b)
{
    uint64_t x = a ^ (b * 0x9e3779b97f4a7c15ULL);
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return x;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PACKET_H
