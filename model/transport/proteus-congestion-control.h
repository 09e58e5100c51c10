/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CONGESTION_CONTROL_H
#define PROTEUS_CONGESTION_CONTROL_H

#include "ns3/proteus-packet.h"

#include <algorithm>
#include <cstdint>
#include <limits>

/**
 * @file
 * @ingroup proteus
 * What a congestion control sees and decides. Nothing here knows the simulator.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What is known of a queue pair's path when it is made.
struct CongestionPath
{
    double bytesPerSecond{0};   //!< rate of its slowest link
    int64_t baseRttPs{0};       //!< of a full packet and its acknowledgement when nothing queues
    int64_t beforeNicPs{0};     //!< part of it before the NIC of the sender begins to send
    uint32_t packetBytes{4096}; //!< payload of a full packet
    uint32_t wireBytes{4096};   //!< the same packet on the slowest link, with all its framing
    uint32_t hops{1};           //!< links one way

    /// @return CongestionFeedback::rttPs of a full packet when nothing queues
    int64_t GetMeasuredRttPs() const
    {
        return baseRttPs - beforeNicPs;
    }

    /// @return bandwidth-delay product in bytes
    double GetBandwidthDelayProduct() const
    {
        return bytesPerSecond * static_cast<double>(baseRttPs) * 1e-12;
    }
};

/// @ingroup proteus
/// What an acknowledgement says, once per acknowledgement however many packets it covers.
struct CongestionFeedback
{
    int64_t timePs{0}; //!< present time
    /// From when the packet that caused it left the NIC of the sender (or the sender, where it
    /// passes no NIC) to the acknowledgement; -1: unknown. What waits for a NIC that several queue
    /// pairs share is none of the network's.
    int64_t rttPs{-1};
    uint64_t ackedBytes{0};            //!< payload that it newly acknowledges
    uint32_t ackedPackets{0};          //!< packets that it newly acknowledges
    uint32_t markedPackets{0};         //!< packets with a congestion mark that it reports
    uint64_t unackedPosition{0};       //!< payload bytes before the oldest packet not acknowledged
    uint64_t nextPosition{0};          //!< payload bytes before the next packet to be sent
    const HopTelemetry* hops{nullptr}; //!< in the order of the path, where telemetry is on
    uint32_t nHops{0};                 //!< of them
};

/**
 * @ingroup proteus
 * Decides at what rate and with how many bytes in flight a queue pair sends. Called on feedback
 * only, never per packet sent; the transport reads rate, window and timer after each call.
 */
class CongestionControl
{
  public:
    /// No limit on bytes in flight.
    static constexpr uint64_t UNLIMITED = std::numeric_limits<uint64_t>::max();
    /// No timer, no byte count.
    static constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();

    virtual ~CongestionControl() = default;

    /// @param feedback that has come
    virtual void OnAcknowledgement(const CongestionFeedback& feedback) = 0;

    /// A congestion notification packet has come. @param timePs present time
    virtual void OnNotification(int64_t timePs)
    {
        static_cast<void>(timePs);
    }

    /**
     * Packets are known to be lost and will be sent again. Called once per episode.
     * @param timePs present time
     * @param inFlightBytes payload not acknowledged
     */
    virtual void OnLoss(int64_t timePs, uint64_t inFlightBytes)
    {
        static_cast<void>(timePs);
        static_cast<void>(inFlightBytes);
    }

    /**
     * The retransmission timeout has passed.
     * @param timePs present time
     * @param inFlightBytes payload not acknowledged
     */
    virtual void OnTimeout(int64_t timePs, uint64_t inFlightBytes)
    {
        static_cast<void>(timePs);
        static_cast<void>(inFlightBytes);
    }

    /// The time of GetTimerPs() has come, perhaps long ago. @param timePs present time
    virtual void OnTimer(int64_t timePs)
    {
        static_cast<void>(timePs);
    }

    /// GetByteMark() bytes have been sent. @param timePs present time
    virtual void OnBytesSent(int64_t timePs)
    {
        static_cast<void>(timePs);
    }

    /// @return whether it is as it was made, whatever has been acknowledged so far
    virtual bool IsAsNew() const
    {
        return false;
    }

    /// @return the wire bytes per second to send at most, infinity for no limit
    double GetRate() const
    {
        return m_bytesPerSecond;
    }

    /// @return payload bytes in flight at which sending stops, UNLIMITED for no limit
    uint64_t GetWindow() const
    {
        return m_windowBytes;
    }

    /// @return when OnTimer() wants to be called, NEVER for not at all
    int64_t GetTimerPs() const
    {
        return m_timerPs;
    }

    /// @return payload bytes, counted from the last call of OnBytesSent() or from the last change
    /// of GetByteEpoch(), after which OnBytesSent() wants to be called; UNLIMITED for not at all
    uint64_t GetByteMark() const
    {
        return m_byteMark;
    }

    /// @return changes whenever the count for GetByteMark() is to begin anew
    uint32_t GetByteEpoch() const
    {
        return m_byteEpoch;
    }

    /// @return retransmission timeout of its own in picoseconds, 0 for the transport's
    int64_t GetRetransmissionTimeoutPs() const
    {
        return m_retransmissionTimeoutPs;
    }

  protected:
    double m_bytesPerSecond{std::numeric_limits<double>::infinity()}; //!< rate
    uint64_t m_windowBytes{UNLIMITED};                                //!< window
    int64_t m_timerPs{NEVER};                                         //!< next OnTimer()
    uint64_t m_byteMark{UNLIMITED};                                   //!< see GetByteMark()
    uint32_t m_byteEpoch{0};                                          //!< see GetByteEpoch()
    int64_t m_retransmissionTimeoutPs{0};                             //!< 0: the transport's
};

/// @ingroup proteus
/// What a congestion control needs from the transport and the receiver.
struct CongestionNeeds
{
    bool sendTimes{false};       //!< CongestionFeedback::rttPs for every acknowledgement
    bool telemetry{false};       //!< CongestionFeedback::hops
    bool notifications{false};   //!< the receiver of marks sends congestion notifications
    int64_t notificationPs{0};   //!< at most one in this time; 0: one for every marked packet
    uint32_t ackEveryPackets{0}; //!< an acknowledgement for this many packets; 0: per message
    int64_t ackDelayPs{0};       //!< and this long after a packet at the latest; 0: no such timer
    bool selectiveRepeat{false}; //!< only works with selective repeat
    uint32_t reorderingDistance{0}; //!< see Transport's attribute; 0: the transport's
    /// Part of a full link that queue pairs take together when they have come to rest, each no less
    /// than the others; 0: they do not.
    double utilisation{0};
    const char* utilisationAttribute{""}; //!< of its type, that says so
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CONGESTION_CONTROL_H
