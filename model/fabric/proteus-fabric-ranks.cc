/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-ranks.h"

#include "proteus-ranks.h"

#include "ns3/proteus-config.h"

#if PROTEUS_HAS_MPI
#include "ns3/boolean.h"
#include "ns3/callback.h"
#include "ns3/mpi-interface.h"
#include "ns3/mpi-receiver.h"
#include "ns3/node.h"
#include "ns3/simple-channel.h"
#include "ns3/simple-net-device.h"
#include "ns3/simulator.h"
#endif

#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// What goes before the words of a packet: the rank that sends it, and which packet of it it is.
using PacketHead = uint32_t[2];

/// Bytes of a packet: ns-3 takes messages of 2,000 with what it adds (MAX_MPI_MSG_SIZE in
/// granted-time-window-mpi-interface.h), and a packet says some 50 bytes about itself.
constexpr std::size_t MAX_PACKET = 1900;

} // namespace

FabricRanks::FabricRanks(const Cluster& cluster, Take take)
    : m_partition(PartitionCluster(cluster, GetNRanks())),
      m_take(std::move(take)),
      m_peers(GetNRanks())
{
}

FabricRanks::~FabricRanks() = default;

uint8_t*
FabricRanks::MakeRoom(uint32_t rank, std::size_t bytes)
{
    std::vector<uint8_t>& words = m_peers[rank].words;
    if (words.size() + bytes > MAX_PACKET)
    {
        Send(rank);
    }
    if (words.empty())
    {
        words.resize(sizeof(PacketHead));
    }
    words.resize(words.size() + bytes);
    return words.data() + words.size() - bytes;
}

void
FabricRanks::Flush()
{
    for (uint32_t rank = 0; rank < m_peers.size(); ++rank)
    {
        if (!m_peers[rank].words.empty())
        {
            Send(rank);
        }
    }
}

void
FabricRanks::TakeWords(const std::vector<uint8_t>& words)
{
    for (std::size_t i = sizeof(PacketHead); i < words.size();)
    {
        uint32_t head = 0;
        std::memcpy(&head, &words[i], sizeof(head));
        m_take(head & 0xffff, &words[i + sizeof(head)]);
        i += sizeof(head) + (head >> 16);
    }
}

#if PROTEUS_HAS_MPI

void
FabricRanks::Connect()
{
    const auto nRanks = static_cast<uint32_t>(m_peers.size());
    for (uint32_t rank = 0; rank < nRanks; ++rank)
    {
        m_gateways.Create(1, rank);
    }
    const auto add = [this](uint32_t rank, Ptr<SimpleChannel> channel) {
        Ptr<SimpleNetDevice> device = CreateObject<SimpleNetDevice>();
        device->SetAttribute("PointToPointMode", BooleanValue(true));
        Ptr<MpiReceiver> receiver = CreateObject<MpiReceiver>();
        receiver->SetReceiveCallback(MakeCallback(&FabricRanks::Receive, this));
        device->AggregateObject(receiver);
        const uint32_t index = m_gateways.Get(rank)->AddDevice(device);
        device->SetChannel(channel);
        return index;
    };
    for (uint32_t a = 0; a < nRanks; ++a)
    {
        for (uint32_t b = a + 1; b < nRanks; ++b)
        {
            Ptr<SimpleChannel> channel = CreateObject<SimpleChannel>();
            channel->SetAttribute("Delay", TimeValue(TimeStep(1)));
            const uint32_t ofA = add(a, channel);
            const uint32_t ofB = add(b, channel);
            m_peers[a].device = b == GetRank() ? ofA : m_peers[a].device;
            m_peers[b].device = a == GetRank() ? ofB : m_peers[b].device;
        }
    }
}

void
FabricRanks::Send(uint32_t rank)
{
    Peer& peer = m_peers[rank];
    const PacketHead head{GetRank(), peer.sent++};
    std::memcpy(peer.words.data(), head, sizeof(head));
    const int64_t now = Simulator::Now().GetPicoSeconds();
    const int64_t nextPs = now - now % GetWindowPs() + GetWindowPs();
    MpiInterface::SendPacket(
        Create<Packet>(peer.words.data(), static_cast<uint32_t>(peer.words.size())),
        PicoSeconds(nextPs),
        m_gateways.Get(rank)->GetId(),
        peer.device);
    peer.words.clear();
    ++m_packets;
}

void
FabricRanks::Receive(Ptr<Packet> packet)
{
    std::vector<uint8_t> words(packet->GetSize());
    packet->CopyData(words.data(), packet->GetSize());
    PacketHead head;
    std::memcpy(head, words.data(), sizeof(head));
    Peer& peer = m_peers[head[0]];
    peer.early.emplace(head[1], std::move(words));
    for (auto next = peer.early.find(peer.taken); next != peer.early.end();
         next = peer.early.find(peer.taken))
    {
        TakeWords(next->second);
        peer.early.erase(next);
        ++peer.taken;
    }
}

#else

void
FabricRanks::Connect()
{
    throw std::logic_error("proteus::FabricRanks: built without MPI");
}

void
FabricRanks::Send(uint32_t /* rank */)
{
    throw std::logic_error("proteus::FabricRanks: built without MPI");
}

void
FabricRanks::Receive(Ptr<Packet> /* packet */)
{
    throw std::logic_error("proteus::FabricRanks: built without MPI");
}

#endif

} // namespace proteus
} // namespace ns3
