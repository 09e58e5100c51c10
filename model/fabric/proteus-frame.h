/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FRAME_H
#define PROTEUS_FRAME_H

#include "proteus-fabric.h"

#include "ns3/ipv4-address.h"
#include "ns3/mac48-address.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The bytes that the units of a fabric would be on InfiniBand and Ethernet links, for captures.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param port a port @return its Ethernet address, locally administered: 02:00 and the port
Mac48Address GetMacAddress(PortId port);

/// @ingroup proteus
/// @param vertex an endpoint or NIC @return its IPv4 address: 10.0.0.0 plus the vertex plus 1
Ipv4Address GetIpAddress(VertexId vertex);

/// @ingroup proteus
/// @param vertex any @return its InfiniBand LID: the vertex plus 1, again from 1 on after the
/// largest unicast LID, 0xbfff
uint16_t GetLid(VertexId vertex);

/**
 * @ingroup proteus
 * @param queuePair of the transport
 * @param atReceiver the end that receives data, or the one that sends it
 * @return the number of the queue pair at that end: 16 + 2 x queue pair, 1 more at the receiver,
 * modulo 2^24
 */
uint32_t GetQueuePairNumber(uint32_t queuePair, bool atReceiver);

/// @ingroup proteus
/// How captures show the data packets of a message.
enum class DataOperation : uint8_t
{
    RDMA_WRITE, //!< RDMA WRITE, as NCCL's InfiniBand transport and most libraries move tensors
    SEND,       //!< SEND
};

/**
 * @ingroup proteus
 * Writes units of InfiniBand and RoCE links as frames.
 *
 * RoCEv2 (InfiniBand Architecture Specification, annex A17): Ethernet II, IPv4, UDP to port 4791,
 * BTH, ICRC. Every hop is routed: the Ethernet addresses are those of the link's two ports, the IP
 * addresses those of the NICs or endpoints between which the packet goes. The DSCP is 8 x traffic
 * class; data is ECT(0), or CE when marked; the source port comes from the flow's hash. PFC (IEEE
 * 802.1Qbb) is a MAC control frame of 60 bytes that pauses for 65535 quanta or for 0. The frame
 * check sequence is left out, as captures do.
 *
 * InfiniBand (Specification, chapters 7 to 9): a record of type 21 in the ERF format, LRH, BTH,
 * ICRC, VCRC. Virtual lane and service level are the traffic class. Data that is marked has FECN.
 *
 * Data is RDMA WRITE or SEND of a reliable connection: first, middle, last or only, with the
 * packet's number as PSN. The RETH of a WRITE has the length of the message (0 if it is not known
 * any more) and address 0. An acknowledgement is an AETH; its PSN is the one before that which the
 * receiver expects, in a negative one that which is missing. Its credit count is "not valid" and
 * its message sequence number 0. Both have BECN if they echo marks. Short messages of the upper
 * layer are RDMA WRITE ONLY with immediate data and no payload, and have numbers of their own.
 * Notifications of congestion have opcode 0x81 on Ethernet and 0x80 on InfiniBand.
 *
 * The length of a frame is that of its format. What a unit takes on the simulated wire is decided
 * by the framing of its link.
 */
class FrameWriter
{
  public:
    /// pcap's link type of Ethernet
    static constexpr uint32_t LINK_TYPE_ETHERNET = 1;
    /// pcap's link type of ERF records, the one that Wireshark reads InfiniBand from
    static constexpr uint32_t LINK_TYPE_ERF = 197;
    /// Most bytes of headers in front of the payload of any unit
    static constexpr uint32_t MAX_HEADER_BYTES = 96;

    /**
     * @param fabric whose units are written
     * @param operation how data is shown
     */
    explicit FrameWriter(Ptr<const Fabric> fabric,
                         DataOperation operation = DataOperation::RDMA_WRITE);

    /**
     * @param technology of a link
     * @return pcap's link type for it; 0 for those that no capture format exists for: NVLink, PCI
     * Express and links between sockets
     */
    static uint32_t GetLinkType(LinkTechnology technology);

    /**
     * @param link to check
     * @throw std::invalid_argument if one of its units is not one packet that the format can hold
     */
    void CheckLink(LinkId link) const;

    /**
     * @param port that a unit crosses
     * @param record the unit
     * @param timePs when
     * @param captureBytes most bytes to write
     * @param frame set to the first bytes of the frame; the payload is zeros
     * @return length of the whole frame, in the capture format
     */
    uint32_t Write(PortId port,
                   const PacketRecord& record,
                   int64_t timePs,
                   uint32_t captureBytes,
                   std::vector<uint8_t>& frame) const;

  private:
    /// What is the same on Ethernet and InfiniBand.
    struct Transfer;

    /// @param port a port @param record on it, no PAUSE @return what it is
    Transfer Describe(PortId port, const PacketRecord& record) const;
    /// @param port a port @param record on it @param ends of its queue pair @return NIC or endpoint
    /// that it comes from
    VertexId FindSender(PortId port, const PacketRecord& record, const QueuePairEnds& ends) const;
    /// @param port a port @param record on it @param extended gets the headers behind the BTH
    /// @return the opcode
    uint8_t PutExtended(PortId port,
                        const PacketRecord& record,
                        std::vector<uint8_t>& extended) const;
    /// @param port a port @param record a PAUSE on it @param frame gets it @return bytes of it
    static uint32_t WritePause(PortId port,
                               const PacketRecord& record,
                               std::vector<uint8_t>& frame);
    /// @param port a port @param transfer on it @param frame gets what precedes the BTH
    /// @return bytes of the whole frame
    static uint32_t PutEthernet(PortId port, const Transfer& transfer, std::vector<uint8_t>& frame);
    /// @param transfer a packet @param timePs when @param captureBytes as Write() @param frame gets
    /// what precedes the BTH @return bytes of the whole frame
    static uint32_t PutInfiniband(const Transfer& transfer,
                                  int64_t timePs,
                                  uint32_t captureBytes,
                                  std::vector<uint8_t>& frame);
    /// @param ethernet or InfiniBand @param bthAt where the BTH begins @param frame whole but for
    /// its checksums
    static void PutChecksums(bool ethernet, std::size_t bthAt, std::vector<uint8_t>& frame);

    Ptr<const Fabric> m_fabric; //!< whose units are written
    DataOperation m_operation;  //!< how data is shown
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FRAME_H
