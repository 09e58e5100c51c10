/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-rank-post.h"

#include "proteus-ranks.h"

#include "ns3/proteus-config.h"

#if PROTEUS_HAS_MPI
#include "ns3/boolean.h"
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

RankPost::RankPost(std::function<void(const uint8_t*)> take)
    : m_take(std::move(take)),
      m_devices(ConnectGateways(m_gateways, MakeCallback(&RankPost::Receive, this)))
{
}

void
RankPost::Receive(Ptr<Packet> packet)
{
    std::vector<uint8_t> word(packet->GetSize());
    packet->CopyData(word.data(), packet->GetSize());
    m_take(word.data());
}

#if PROTEUS_HAS_MPI

std::vector<uint32_t>
ConnectGateways(NodeContainer& gateways, const Callback<void, Ptr<Packet>>& receive)
{
    const uint32_t nRanks = GetNRanks();
    for (uint32_t rank = 0; rank < nRanks; ++rank)
    {
        gateways.Create(1, rank);
    }
    const auto add = [&](uint32_t rank, Ptr<SimpleChannel> channel) {
        Ptr<SimpleNetDevice> device = CreateObject<SimpleNetDevice>();
        device->SetAttribute("PointToPointMode", BooleanValue(true));
        Ptr<MpiReceiver> receiver = CreateObject<MpiReceiver>();
        receiver->SetReceiveCallback(receive);
        device->AggregateObject(receiver);
        const uint32_t index = gateways.Get(rank)->AddDevice(device);
        device->SetChannel(channel);
        return index;
    };
    std::vector<uint32_t> devices(nRanks, 0);
    for (uint32_t a = 0; a < nRanks; ++a)
    {
        for (uint32_t b = a + 1; b < nRanks; ++b)
        {
            Ptr<SimpleChannel> channel = CreateObject<SimpleChannel>();
            channel->SetAttribute("Delay", TimeValue(TimeStep(1)));
            const uint32_t ofA = add(a, channel);
            const uint32_t ofB = add(b, channel);
            devices[a] = b == GetRank() ? ofA : devices[a];
            devices[b] = a == GetRank() ? ofB : devices[b];
        }
    }
    return devices;
}

void
RankPost::Send(uint32_t rank, const std::vector<uint8_t>& bytes)
{
    MpiInterface::SendPacket(Create<Packet>(bytes.data(), static_cast<uint32_t>(bytes.size())),
                             Simulator::Now() + TimeStep(1),
                             m_gateways.Get(rank)->GetId(),
                             m_devices[rank]);
}

#else

std::vector<uint32_t>
ConnectGateways(NodeContainer& /* gateways */, const Callback<void, Ptr<Packet>>& /* receive */)
{
    throw std::logic_error("proteus::ConnectGateways: built without MPI");
}

void
RankPost::Send(uint32_t /* rank */, const std::vector<uint8_t>& /* bytes */)
{
    throw std::logic_error("proteus::RankPost: built without MPI");
}

#endif

} // namespace proteus
} // namespace ns3
