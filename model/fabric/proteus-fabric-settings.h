/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_SETTINGS_H
#define PROTEUS_FABRIC_SETTINGS_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// How a switch chooses among ports that lead to a destination.
enum RoutingMode : uint8_t
{
    ECMP,             //!< per flow, by a hash
    SPRAY,            //!< per packet, by a hash
    ADAPTIVE,         //!< per packet, the shortest queue; a hash among equals
    FORWARDING_TABLE, //!< per destination, as InfiniBand's linear forwarding tables do
    UP_DOWN,          //!< per flow, by a hash, among paths that never go up again after down
};

/// @ingroup proteus
/// Units, cut-through and routes. The attributes of Fabric say what the values mean, here and in
/// the other settings; they have their defaults there.
struct ForwardingSettings
{
    bool infinibandCutThrough{true};        //!< of InfiniBand switches
    bool roceCutThrough{false};             //!< of Ethernet switches
    bool internalCutThrough{true};          //!< of all other devices
    uint32_t cutThroughBytes{64};           //!< of a network packet
    uint32_t burstBytes{0};                 //!< most payload of a unit on NVLink and PCIe
    uint32_t trainPackets{1};               //!< of a unit on network links
    uint32_t telemetryBytes{42};            //!< that telemetry adds to packets of network links
    std::string inputQueuedKinds;           //!< kinds of devices, separated by commas
    RoutingMode routing{RoutingMode::ECMP}; //!< among equal paths
    Time rerouteDelay;                      //!< from a failure to new routes
    Ptr<UniformRandomVariable> lossRandom;  //!< decides about losses
    bool reference{false};                  //!< reference mode
};

/// @ingroup proteus
/// Traffic classes.
struct ClassSettings
{
    uint32_t nClasses{2}; //!< how many there are
    std::string weights;  //!< separated by commas; empty: all strict
};

/// @ingroup proteus
/// Receive buffers of links with credits, in bytes of the wire, where nothing else is said; 0 for
/// no flow control.
struct CreditSettings
{
    uint64_t nvlinkBytes{0};     //!< of NVLink
    uint64_t pcieBytes{0};       //!< of PCIe, and between sockets
    uint64_t infinibandBytes{0}; //!< of InfiniBand
    Time nicReadTime;            //!< of what a NIC has room for when it reads over its PCIe link
};

/// @ingroup proteus
/// Shared buffers of Ethernet switches and NICs, and PFC.
struct BufferSettings
{
    bool pfc{true};             //!< whether senders are paused
    std::string pfcClasses;     //!< lossless traffic classes, separated by commas
    uint64_t switchBytes{0};    //!< buffer of a switch
    uint64_t nicBytes{0};       //!< buffer of a NIC
    uint32_t reserveBytes{0};   //!< of every port and lossless class
    uint32_t headroomBytes{0};  //!< the same, for what arrives after a pause; 0: derived
    Time pauseReaction;         //!< from the arrival of a pause until the sender heeds it
    uint32_t thresholdShift{0}; //!< share of the free buffer
    uint32_t resumeOffset{0};   //!< bytes below the threshold at which a sender goes on
};

/// @ingroup proteus
/// ECN marks.
struct MarkSettings
{
    bool ethernet{true};               //!< whether Ethernet ports mark
    bool infiniband{false};            //!< whether InfiniBand ports mark
    uint64_t minBytes{1};              //!< queue from which on packets are marked
    uint64_t maxBytes{1};              //!< queue from which on every packet is marked
    double maxProbability{0};          //!< just below maxBytes
    bool atDequeue{false};             //!< by what waits behind a packet that leaves the queue
    DataRate referenceRate;            //!< of the port that these are given for
    Ptr<UniformRandomVariable> random; //!< decides about marks
};

/// @ingroup proteus
/// What a fabric is told before it is built.
struct FabricSettings
{
    ForwardingSettings forwarding; //!< units, cut-through, routes
    ClassSettings classes;         //!< traffic classes
    CreditSettings credits;        //!< links with credits
    BufferSettings buffers;        //!< shared buffers
    MarkSettings marks;            //!< ECN
};

/**
 * @ingroup proteus
 * @param what names the attribute, for the message
 * @param text numbers, separated by commas
 * @param largest that is allowed
 * @return the numbers
 * @throw std::invalid_argument for anything else
 */
std::vector<uint32_t> ParseNumbers(const std::string& what,
                                   const std::string& text,
                                   uint32_t largest);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_SETTINGS_H
