/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_BENCH_STOCK_H
#define PROTEUS_BENCH_STOCK_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-flow-list.h"

#include <cstdint>
#include <stdexcept>
#include <vector>

#ifdef PROTEUS_HAS_POINT_TO_POINT
#include "ns3/point-to-point-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/proteus-compat.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <memory>
#include <utility>
#endif

/**
 * @file
 * @ingroup proteus
 * What proteus-bench compares with: the devices that come with ns-3.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Forwards packets of flows between PointToPointNetDevices in their receive callbacks, over given
 * routes: the least that a network of stock devices does per packet and hop, without an IP stack.
 * A fixed number of packets of each flow is under way. Without the module point-to-point there is
 * nothing of it.
 */
class StockNetwork
{
  public:
    /// What a network carries.
    struct Options
    {
        std::vector<std::vector<uint32_t>> routes; //!< of each flow: 2 * link, + 1 from b to a
        uint32_t packetBytes{0};                   //!< payload of a full packet
        uint32_t wireBytes{0};                     //!< size of every data packet on a link
        uint32_t controlBytes{0};                  //!< size of an acknowledgement on a link
        uint64_t packetsPerControl{1};             //!< data packets per acknowledgement
        uint32_t window{75};                       //!< packets of a flow under way
    };

#ifdef PROTEUS_HAS_POINT_TO_POINT
    /// @return whether it can be made
    static bool IsAvailable()
    {
        return true;
    }

    /// @param cluster to build @param flows to carry @param options how
    StockNetwork(const Cluster& cluster, const std::vector<FlowSpec>& flows, Options options)
        : m_options(std::move(options)),
          m_flows(flows.size())
    {
        ObjectFactory scheduler;
        scheduler.SetTypeId("ns3::PriorityQueueScheduler"); // the fastest that comes with ns-3
        Simulator::SetScheduler(scheduler);
        NodeContainer nodes;
        nodes.Create(static_cast<uint32_t>(cluster.GetVertices().size()));
        PointToPointHelper helper;
        helper.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
        for (const Link& link : cluster.GetLinks())
        {
            helper.SetDeviceAttribute(
                "DataRate",
                DataRateValue(DataRate(static_cast<uint64_t>(link.bytesPerSecond * 8))));
            helper.SetChannelAttribute("Delay", TimeValue(PicoSeconds(link.delayPs)));
            const auto pair = helper.Install(nodes.Get(link.a), nodes.Get(link.b));
            for (uint32_t end = 0; end < 2; ++end)
            {
                // What arrives at one end was sent on the port of the other.
                const auto port = static_cast<uint32_t>(m_devices.size()) + 1 - 2 * end;
                pair.Get(end)->SetReceiveCallback(
                    MakeBoundCallback(&StockNetwork::Receive, this, port));
                m_devices.push_back(DynamicCast<PointToPointNetDevice>(pair.Get(end)));
            }
        }
        for (uint32_t i = 0; i < flows.size(); ++i)
        {
            m_flows[i].packets =
                (flows[i].bytes + m_options.packetBytes - 1) / m_options.packetBytes;
            m_flows[i].missing = static_cast<uint32_t>(flows[i].after.size());
            for (uint32_t before : flows[i].after)
            {
                m_flows[before].dependents.push_back(i);
            }
        }
        m_broadcast = m_devices[0]->GetBroadcast();
    }

    ~StockNetwork()
    {
        Simulator::Destroy();
    }

    StockNetwork(const StockNetwork&) = delete;
    StockNetwork& operator=(const StockNetwork&) = delete;

    /// Carries the flows.
    void Run()
    {
        ScheduleFunction(Time(0), [this] {
            for (uint32_t i = 0; i < m_flows.size(); ++i)
            {
                if (m_flows[i].missing == 0)
                {
                    Start(i);
                }
            }
        });
        Simulator::Run();
        for (const State& flow : m_flows)
        {
            if (flow.received != flow.packets)
            {
                throw std::runtime_error("stock devices have lost packets");
            }
        }
    }

    /// @return links crossed by packets
    uint64_t GetPacketHops() const
    {
        return m_packetHops;
    }

  private:
    /// What a packet says.
    class FlowHeader : public Header
    {
      public:
        static TypeId GetTypeId()
        {
            static TypeId tid = TypeId("ns3::proteus::StockNetwork::FlowHeader")
                                    .SetParent<Header>()
                                    .SetGroupName("Proteus")
                                    .AddConstructor<FlowHeader>();
            return tid;
        }

        TypeId GetInstanceTypeId() const override
        {
            return GetTypeId();
        }

        uint32_t GetSerializedSize() const override
        {
            return SIZE;
        }

        void Serialize(Buffer::Iterator start) const override
        {
            start.WriteU32(flow);
            start.WriteU32(sequence);
            start.WriteU8(control);
        }

        uint32_t Deserialize(Buffer::Iterator start) override
        {
            flow = start.ReadU32();
            sequence = start.ReadU32();
            control = start.ReadU8();
            return SIZE;
        }

        void Print(std::ostream& os) const override
        {
            os << flow << ' ' << sequence;
        }

        static constexpr uint32_t SIZE = 9;
        uint32_t flow{0};
        uint32_t sequence{0};
        uint8_t control{0};
    };

    /// A flow.
    struct State
    {
        uint64_t packets{0};              //!< of it
        uint64_t sent{0};                 //!< so far
        uint64_t received{0};             //!< so far
        uint32_t missing{0};              //!< flows that it waits for
        std::vector<uint32_t> dependents; //!< that wait for it
    };

    /// Bytes that PPP adds.
    static constexpr uint32_t PPP_BYTES = 2;

    void Start(uint32_t flow)
    {
        for (uint32_t i = 0; i < m_options.window && m_flows[flow].sent < m_flows[flow].packets;
             ++i)
        {
            SendData(flow);
        }
    }

    void SendData(uint32_t flow)
    {
        FlowHeader header;
        header.flow = flow;
        header.sequence = static_cast<uint32_t>(m_flows[flow].sent++);
        Send(m_options.routes[flow].front(), header, m_options.wireBytes);
    }

    void Send(uint32_t port, const FlowHeader& header, uint32_t wireBytes)
    {
        Ptr<Packet> packet = Create<Packet>(wireBytes - PPP_BYTES - FlowHeader::SIZE);
        packet->AddHeader(header);
        m_devices[port]->Send(packet, m_broadcast, 0x0800);
    }

    static bool Receive(StockNetwork* network,
                        uint32_t port,
                        Ptr<NetDevice> /* device */,
                        Ptr<const Packet> packet,
                        uint16_t /* protocol */,
                        const Address& /* from */)
    {
        network->HandleArrival(port, packet);
        return true;
    }

    void HandleArrival(uint32_t port, Ptr<const Packet> packet)
    {
        ++m_packetHops;
        FlowHeader header;
        packet->PeekHeader(header);
        const auto& route = m_options.routes[header.flow];
        const bool back = header.control != 0;
        std::size_t hop = 0;
        while (route[hop] != (back ? port ^ 1 : port))
        {
            ++hop;
        }
        if (hop != (back ? 0 : route.size() - 1))
        {
            const uint32_t next = back ? route[hop - 1] ^ 1 : route[hop + 1];
            m_devices[next]->Send(ConstCast<Packet>(packet), m_broadcast, 0x0800);
            return;
        }
        if (back)
        {
            return;
        }
        State& flow = m_flows[header.flow];
        ++flow.received;
        if (flow.received % m_options.packetsPerControl == 0 || flow.received == flow.packets)
        {
            FlowHeader answer = header;
            answer.control = 1;
            Send(port ^ 1, answer, m_options.controlBytes);
        }
        if (flow.sent < flow.packets)
        {
            SendData(header.flow);
        }
        else if (flow.received == flow.packets)
        {
            for (uint32_t next : flow.dependents)
            {
                if (--m_flows[next].missing == 0)
                {
                    Start(next);
                }
            }
        }
    }

    Options m_options;
    std::vector<State> m_flows;
    std::vector<Ptr<PointToPointNetDevice>> m_devices; //!< by port
    Address m_broadcast;
    uint64_t m_packetHops{0};
#else
    /// @return whether it can be made
    static bool IsAvailable()
    {
        return false;
    }

    StockNetwork(const Cluster&, const std::vector<FlowSpec>&, const Options&)
    {
        throw std::logic_error("ns-3 was configured without the module point-to-point");
    }

    void Run()
    {
    }

    uint64_t GetPacketHops() const
    {
        return 0;
    }
#endif
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_BENCH_STOCK_H
