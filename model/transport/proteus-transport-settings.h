/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRANSPORT_SETTINGS_H
#define PROTEUS_TRANSPORT_SETTINGS_H

#include "ns3/nstime.h"

#include <cstdint>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// How lost packets are sent again.
enum Reliability
{
    GO_BACK_N,        //!< all from the first that is missing on
    SELECTIVE_REPEAT, //!< those that are missing
};

/// @ingroup proteus
/// The attributes of Transport, where their texts stand.
struct TransportSettings
{
    std::string congestionControl; //!< attribute CongestionControl
    Reliability reliability;       //!< attribute Reliability
    uint64_t window;               //!< attribute Window
    double windowProducts;         //!< attribute WindowProducts
    uint32_t ackEveryPackets;      //!< attribute AckEveryPackets
    bool ackEveryMessage;          //!< attribute AckEveryMessage
    Time ackDelay;                 //!< attribute AckDelay
    uint32_t ackClass;             //!< attribute AckTrafficClass
    uint32_t reorderingDistance;   //!< attribute ReorderingDistance
    uint32_t reorderBuffer;        //!< attribute ReorderBuffer
    Time nakInterval;              //!< attribute NakInterval
    Time retransmissionTimeout;    //!< attribute RetransmissionTimeout
    uint32_t retryLimit;           //!< attribute RetryLimit
    uint32_t firstSequence;        //!< attribute FirstSequence
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRANSPORT_SETTINGS_H
