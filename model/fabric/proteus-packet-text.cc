/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-packet-text.h"

#include "ns3/proteus-enum-names.h"

namespace ns3
{
namespace proteus
{

const char*
ToString(PacketKind kind)
{
    static constexpr EnumNames<PacketKind, 6> KINDS{"kind of packet",
                                                    {{PacketKind::DATA, "data"},
                                                     {PacketKind::ACKNOWLEDGE, "ack"},
                                                     {PacketKind::NEGATIVE_ACKNOWLEDGE, "nak"},
                                                     {PacketKind::CONGESTION_NOTIFICATION, "cnp"},
                                                     {PacketKind::CONTROL, "control"},
                                                     {PacketKind::PAUSE, "pause"}}};
    return KINDS.Get(kind);
}

std::ostream&
operator<<(std::ostream& out, const PacketRecord& record)
{
    if (record.kind == PacketKind::PAUSE)
    {
        return out << (record.content != 0 ? "pause" : "resume") << " class=" << record.sequence;
    }
    out << ToString(record.kind) << " class=" << +record.trafficClass << " qp=" << record.queuePair
        << " seq=" << record.sequence << " to=" << record.destination;
    if (record.kind == PacketKind::DATA)
    {
        out << " bytes=" << record.payloadBytes;
    }

    struct FlagName
    {
        uint8_t flag;
        const char* name;
    };

    static constexpr FlagName NAMES[] = {
        {PacketRecord::FIRST, " first"},
        {PacketRecord::LAST, " last"},
        {PacketRecord::CONGESTION_EXPERIENCED, " ce"},
        {PacketRecord::ACK_REQUEST, " ack-request"},
        {PacketRecord::RETRANSMISSION, " retransmission"},
        {PacketRecord::TURNED, " turned"},
    };
    for (const FlagName& name : NAMES)
    {
        if ((record.flags & name.flag) != 0)
        {
            out << name.name;
        }
    }
    if (record.kind == PacketKind::DATA && record.copyMethod != CopyMethod::DMA)
    {
        out << " sm";
    }
    return out;
}

} // namespace proteus
} // namespace ns3
