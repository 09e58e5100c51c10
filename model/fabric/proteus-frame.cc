/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-frame.h"

#include <algorithm>
#include <boost/crc.hpp>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// First queue pair number; 0 and 1 are reserved for management.
constexpr uint32_t FIRST_QUEUE_PAIR_NUMBER = 16;
/// Largest unicast LID.
constexpr uint32_t MAX_UNICAST_LID = 0xbfff;
/// RoCEv2's UDP port.
constexpr uint16_t ROCE_PORT = 4791;
/// Smallest Ethernet frame without its check sequence.
constexpr uint32_t MIN_ETHERNET_BYTES = 60;
/// Ethernet II header.
constexpr uint32_t ETHERNET_BYTES = 14;
/// IPv4 header without options.
constexpr uint32_t IP_BYTES = 20;
/// UDP header.
constexpr uint32_t UDP_BYTES = 8;
/// InfiniBand's local route header.
constexpr uint32_t LRH_BYTES = 8;
/// Header of an ERF record.
constexpr uint32_t ERF_BYTES = 16;
/// Invariant CRC.
constexpr uint32_t ICRC_BYTES = 4;
/// Variant CRC.
constexpr uint32_t VCRC_BYTES = 2;
/// Largest value of the packet length of an LRH, in words of 4 bytes.
constexpr uint32_t MAX_LRH_WORDS = 0x7ff;

/// Opcodes of the reliable connection (InfiniBand Architecture Specification, table 38), and CNP's.
enum Opcode : uint8_t
{
    SEND_FIRST = 0x00,
    SEND_MIDDLE = 0x01,
    SEND_LAST = 0x02,
    SEND_ONLY = 0x04,
    WRITE_FIRST = 0x06,
    WRITE_MIDDLE = 0x07,
    WRITE_LAST = 0x08,
    WRITE_ONLY = 0x0a,
    WRITE_ONLY_IMMEDIATE = 0x0b,
    ACKNOWLEDGE = 0x11,
    CNP_INFINIBAND = 0x80,
    CNP_ROCE = 0x81,
};

/// AETH: acknowledged, credit count not valid.
constexpr uint8_t SYNDROME_ACK = 0x1f;
/// AETH: negative acknowledgement, PSN sequence error.
constexpr uint8_t SYNDROME_SEQUENCE_ERROR = 0x60;
/// ECN: not capable, capable, congestion experienced.
constexpr uint8_t NOT_ECT = 0;
constexpr uint8_t ECT_0 = 2;
constexpr uint8_t CE = 3;

/// @param bytes to append to @param value in network order @param size 1 to 8 bytes
void
Put(std::vector<uint8_t>& bytes, uint64_t value, uint32_t size)
{
    for (uint32_t i = size; i-- > 0;)
    {
        bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
    }
}

/// @param bytes to append to @param value in little-endian order @param size 1 to 8 bytes
void
PutLittle(std::vector<uint8_t>& bytes, uint64_t value, uint32_t size)
{
    for (uint32_t i = 0; i < size; ++i)
    {
        bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
    }
}

/// @param bytes to append to @param port whose address
void
PutMac(std::vector<uint8_t>& bytes, PortId port)
{
    Put(bytes, uint64_t{0x0200} << 32 | port, 6);
}

/// @param header an IPv4 header with checksum 0 @return its checksum
uint16_t
GetIpChecksum(const uint8_t* header)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < IP_BYTES; i += 2)
    {
        sum += static_cast<uint32_t>(header[i]) << 8 | header[i + 1];
    }
    sum = (sum >> 16) + (sum & 0xffff);
    sum += sum >> 16;
    return static_cast<uint16_t>(~sum);
}

} // namespace

Mac48Address
GetMacAddress(PortId port)
{
    std::vector<uint8_t> bytes;
    PutMac(bytes, port);
    Mac48Address address;
    address.CopyFrom(bytes.data());
    return address;
}

Ipv4Address
GetIpAddress(VertexId vertex)
{
    return Ipv4Address(10u << 24 | ((vertex + 1) & 0xffffff));
}

uint16_t
GetLid(VertexId vertex)
{
    return static_cast<uint16_t>(vertex % MAX_UNICAST_LID + 1);
}

uint32_t
GetQueuePairNumber(uint32_t queuePair, bool atReceiver)
{
    return (FIRST_QUEUE_PAIR_NUMBER + 2 * queuePair + (atReceiver ? 1 : 0)) & 0xffffff;
}

struct FrameWriter::Transfer
{
    VertexId from{0};             //!< NIC or endpoint that it comes from
    VertexId to{0};               //!< NIC or endpoint that it goes to
    uint64_t flowHash{0};         //!< of the queue pair
    std::vector<uint8_t> headers; //!< BTH and what follows it
    uint32_t payloadBytes{0};     //!< without padding
    uint32_t padBytes{0};         //!< to a multiple of 4
    uint8_t trafficClass{0};      //!< of the unit
    uint8_t ecn{NOT_ECT};         //!< of its IP header

    /// @return bytes of BTH to ICRC
    uint32_t GetBytes() const
    {
        return static_cast<uint32_t>(headers.size()) + payloadBytes + padBytes + ICRC_BYTES;
    }
};

FrameWriter::FrameWriter(Ptr<const Fabric> fabric, DataOperation operation)
    : m_fabric(fabric),
      m_operation(operation)
{
}

uint32_t
FrameWriter::GetLinkType(LinkTechnology technology)
{
    switch (technology)
    {
    case LinkTechnology::INFINIBAND:
        return LINK_TYPE_ERF;
    case LinkTechnology::ROCE:
        return LINK_TYPE_ETHERNET;
    case LinkTechnology::NVLINK:
    case LinkTechnology::PCIE:
    case LinkTechnology::CPU_INTERCONNECT:
        return 0;
    }
    throw std::invalid_argument("link technology out of range");
}

void
FrameWriter::CheckLink(LinkId link) const
{
    const LinkFraming framing = m_fabric->GetFraming(link);
    const bool ethernet = m_fabric->GetLink(2 * link).technology == LinkTechnology::ROCE;
    const uint32_t most = (ethernet ? UINT16_MAX : 4 * MAX_LRH_WORDS) - MAX_HEADER_BYTES;
    const std::string name =
        m_fabric->GetCluster().GetVertices()[m_fabric->GetFrom(2 * link)].name + " - " +
        m_fabric->GetCluster().GetVertices()[m_fabric->GetTo(2 * link)].name;
    if (framing.unitBytes > framing.packetBytes)
    {
        throw std::invalid_argument("capture of link " + name +
                                    ": its units are trains of several packets; set "
                                    "ns3::proteus::Fabric::TrainPackets to 1");
    }
    if (framing.unitBytes > most)
    {
        throw std::invalid_argument(
            "capture of link " + name + ": packets of " + std::to_string(framing.unitBytes) +
            " bytes of payload are beyond the format, which has at most " + std::to_string(most));
    }
}

VertexId
FrameWriter::FindSender(PortId port, const PacketRecord& record, const QueuePairEnds& ends) const
{
    const bool data = record.kind == PacketKind::DATA;
    const bool turned = (record.flags & PacketRecord::TURNED) != 0;
    // The waypoint that it has passed last; what switches send by themselves is theirs.
    if (ends.source == Cluster::NO_VERTEX || (data && turned))
    {
        return m_fabric->GetFrom(port);
    }
    std::vector<VertexId> stops{ends.source};
    if (ends.waypoints != nullptr)
    {
        stops.insert(stops.end(), ends.waypoints->begin(), ends.waypoints->end());
    }
    stops.push_back(ends.destination);
    if (!data && !turned)
    {
        std::reverse(stops.begin(), stops.end());
    }
    const auto here = std::find(stops.begin(), stops.end(), record.destination);
    return here != stops.begin() && here != stops.end() ? *(here - 1) : m_fabric->GetFrom(port);
}

uint8_t
FrameWriter::PutExtended(PortId port,
                         const PacketRecord& record,
                         std::vector<uint8_t>& extended) const
{
    const auto putReth = [&extended](uint64_t bytes) {
        Put(extended, 0, 8); // virtual address
        Put(extended, 0, 4); // key
        Put(extended, std::min<uint64_t>(bytes, UINT32_MAX), 4);
    };
    const bool first = (record.flags & PacketRecord::FIRST) != 0;
    const bool last = (record.flags & PacketRecord::LAST) != 0;
    switch (record.kind)
    {
    case PacketKind::DATA: {
        if (m_operation == DataOperation::SEND)
        {
            return first ? (last ? SEND_ONLY : SEND_FIRST) : (last ? SEND_LAST : SEND_MIDDLE);
        }
        const FabricEndpoint* endpoint = m_fabric->GetEndpoint();
        if (first)
        {
            putReth(last || endpoint == nullptr
                        ? (last ? record.payloadBytes : 0)
                        : endpoint->GetMessageBytes(record.queuePair, record.sequence));
        }
        return first ? (last ? WRITE_ONLY : WRITE_FIRST) : (last ? WRITE_LAST : WRITE_MIDDLE);
    }
    case PacketKind::ACKNOWLEDGE:
        Put(extended, uint32_t{SYNDROME_ACK} << 24, 4);
        break;
    case PacketKind::NEGATIVE_ACKNOWLEDGE:
        Put(extended, uint32_t{SYNDROME_SEQUENCE_ERROR} << 24, 4);
        break;
    case PacketKind::CONGESTION_NOTIFICATION:
        Put(extended, 0, 8); // reserved
        Put(extended, 0, 8);
        return m_fabric->GetLink(port).technology == LinkTechnology::ROCE ? CNP_ROCE
                                                                          : CNP_INFINIBAND;
    case PacketKind::CONTROL:
        putReth(0);
        Put(extended, record.content, 4);
        return WRITE_ONLY_IMMEDIATE;
    case PacketKind::PAUSE:
        break; // has no BTH
    }
    return ACKNOWLEDGE;
}

FrameWriter::Transfer
FrameWriter::Describe(PortId port, const PacketRecord& record) const
{
    Transfer transfer;
    const FabricEndpoint* endpoint = m_fabric->GetEndpoint();
    const bool data = record.kind == PacketKind::DATA;
    const bool forward = data || (record.flags & PacketRecord::TURNED) != 0;
    const bool marked = (record.flags & PacketRecord::CONGESTION_EXPERIENCED) != 0;
    const bool ethernet = m_fabric->GetLink(port).technology == LinkTechnology::ROCE;
    transfer.to = record.destination;
    transfer.from =
        FindSender(port,
                   record,
                   endpoint != nullptr ? endpoint->GetEnds(record.queuePair) : QueuePairEnds());
    transfer.flowHash = endpoint != nullptr ? endpoint->GetFlowHash(record.queuePair) : 0;
    transfer.trafficClass = record.trafficClass;
    if (data)
    {
        transfer.payloadBytes = record.payloadBytes;
        transfer.ecn = marked ? CE : ECT_0;
    }
    transfer.padBytes = (4 - transfer.payloadBytes % 4) % 4;

    std::vector<uint8_t> extended;
    const uint8_t opcode = PutExtended(port, record, extended);
    const bool notification = record.kind == PacketKind::CONGESTION_NOTIFICATION;
    const uint32_t psn =
        notification ? 0 : record.sequence - (record.kind == PacketKind::ACKNOWLEDGE ? 1 : 0);
    const bool fecn = data && marked && !ethernet;
    const bool becn = notification || (!data && marked);
    const bool request =
        (record.flags & PacketRecord::ACK_REQUEST) != 0 || record.kind == PacketKind::CONTROL;
    Put(transfer.headers, opcode, 1);
    Put(transfer.headers, 0x40 | transfer.padBytes << 4, 1); // path is migrated; version 0
    Put(transfer.headers, 0xffff, 2);                        // default partition
    Put(transfer.headers, (fecn ? 0x80 : 0) | (becn ? 0x40 : 0), 1);
    Put(transfer.headers, GetQueuePairNumber(record.queuePair, forward), 3);
    Put(transfer.headers, request ? 0x80 : 0, 1);
    Put(transfer.headers, psn & 0xffffff, 3);
    transfer.headers.insert(transfer.headers.end(), extended.begin(), extended.end());
    return transfer;
}

uint32_t
FrameWriter::WritePause(PortId port, const PacketRecord& record, std::vector<uint8_t>& frame)
{
    Put(frame, 0x0180c2000001, 6); // MAC control
    PutMac(frame, port);
    Put(frame, 0x8808, 2);
    Put(frame, 0x0101, 2);
    Put(frame, 1u << record.sequence, 2);
    for (uint32_t c = 0; c < 8; ++c)
    {
        Put(frame, c == record.sequence && record.content != 0 ? 0xffff : 0, 2);
    }
    return MIN_ETHERNET_BYTES;
}

uint32_t
FrameWriter::PutEthernet(PortId port, const Transfer& transfer, std::vector<uint8_t>& frame)
{
    const uint32_t udpBytes = UDP_BYTES + transfer.GetBytes();
    PutMac(frame, port ^ 1);
    PutMac(frame, port);
    Put(frame, 0x0800, 2);
    Put(frame, 0x45, 1);
    Put(frame, uint32_t{transfer.trafficClass} << 5 | transfer.ecn, 1);
    Put(frame, IP_BYTES + udpBytes, 2);
    Put(frame, 0x00004000, 4); // identification 0, do not fragment
    Put(frame, 64, 1);
    Put(frame, 17, 1);
    Put(frame, 0, 2);
    Put(frame, GetIpAddress(transfer.from).Get(), 4);
    Put(frame, GetIpAddress(transfer.to).Get(), 4);
    const uint16_t checksum = GetIpChecksum(&frame[ETHERNET_BYTES]);
    frame[ETHERNET_BYTES + 10] = static_cast<uint8_t>(checksum >> 8);
    frame[ETHERNET_BYTES + 11] = static_cast<uint8_t>(checksum);
    Put(frame, 0xc000 | (transfer.flowHash & 0x3fff), 2); // the dynamic ports
    Put(frame, ROCE_PORT, 2);
    Put(frame, udpBytes, 2);
    Put(frame, 0, 2); // no checksum
    return ETHERNET_BYTES + IP_BYTES + udpBytes;
}

uint32_t
FrameWriter::PutInfiniband(const Transfer& transfer,
                           int64_t timePs,
                           uint32_t captureBytes,
                           std::vector<uint8_t>& frame)
{
    const uint32_t packetBytes = LRH_BYTES + transfer.GetBytes();
    const uint32_t total = ERF_BYTES + packetBytes + VCRC_BYTES;
    const auto seconds = static_cast<uint64_t>(timePs / 1000000000000);
    const auto ps = static_cast<uint64_t>(timePs % 1000000000000);
    // 2^32 / 10^12, without overflow.
    PutLittle(frame, seconds << 32 | ((ps << 20) / 244140625), 8);
    Put(frame, 21, 1); // InfiniBand
    Put(frame, 4, 1);  // records of varying length
    Put(frame, std::min(total, captureBytes), 2);
    Put(frame, 0, 2);
    Put(frame, total - ERF_BYTES, 2);
    Put(frame, uint32_t{transfer.trafficClass} << 4, 1);     // lane, version 0
    Put(frame, uint32_t{transfer.trafficClass} << 4 | 2, 1); // service level, BTH follows
    Put(frame, GetLid(transfer.to), 2);
    Put(frame, packetBytes / 4, 2);
    Put(frame, GetLid(transfer.from), 2);
    return total;
}

void
FrameWriter::PutChecksums(bool ethernet, std::size_t bthAt, std::vector<uint8_t>& frame)
{
    // What changes on the way counts as ones: chapter 7.8.1, and annex A17.3.3.
    const std::size_t linkBytes = ethernet ? ETHERNET_BYTES : ERF_BYTES;
    std::vector<uint8_t> invariant(frame.begin() + static_cast<std::ptrdiff_t>(linkBytes),
                                   frame.end());
    invariant[bthAt - linkBytes + 4] = 0xff;
    if (ethernet)
    {
        for (uint32_t i : {1u, 8u, 10u, 11u, IP_BYTES + 6, IP_BYTES + 7})
        {
            invariant[i] = 0xff; // type of service, time to live, both checksums
        }
        invariant.insert(invariant.begin(), LRH_BYTES, 0xff);
    }
    else
    {
        invariant[0] |= 0xf0; // lane
    }
    boost::crc_32_type icrc;
    icrc.process_bytes(invariant.data(), invariant.size());
    PutLittle(frame, icrc.checksum(), ICRC_BYTES);
    if (!ethernet)
    {
        // Chapter 7.8.2: x^16 + x^12 + x^3 + x + 1 over the packet as it is.
        boost::crc_optimal<16, 0x100b, 0xffff, 0xffff, true, true> vcrc;
        vcrc.process_bytes(frame.data() + ERF_BYTES, frame.size() - ERF_BYTES);
        PutLittle(frame, vcrc.checksum(), VCRC_BYTES);
    }
}

uint32_t
FrameWriter::Write(PortId port,
                   const PacketRecord& record,
                   int64_t timePs,
                   uint32_t captureBytes,
                   std::vector<uint8_t>& frame) const
{
    frame.clear();
    if (record.kind == PacketKind::PAUSE)
    {
        const uint32_t total = WritePause(port, record, frame);
        frame.resize(std::min(total, captureBytes));
        return total;
    }
    const bool ethernet = m_fabric->GetLink(port).technology == LinkTechnology::ROCE;
    const Transfer transfer = Describe(port, record);
    const uint32_t total = ethernet ? PutEthernet(port, transfer, frame)
                                    : PutInfiniband(transfer, timePs, captureBytes, frame);
    const std::size_t bthAt = frame.size();
    frame.insert(frame.end(), transfer.headers.begin(), transfer.headers.end());
    if (total > captureBytes)
    {
        frame.resize(captureBytes);
        return total;
    }
    frame.resize(frame.size() + transfer.payloadBytes + transfer.padBytes);
    PutChecksums(ethernet, bthAt, frame);
    return total;
}

} // namespace proteus
} // namespace ns3
