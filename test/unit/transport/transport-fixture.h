/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRANSPORT_FIXTURE_H
#define PROTEUS_TRANSPORT_FIXTURE_H

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/object-factory.h"
#include "ns3/pointer.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-transport.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/// A fabric and a transport, and a user that checks that messages come once and in order.
class TransportRig : public TransportUser
{
  public:
    using Attributes = std::map<std::string, std::string>;

    /// What happened to a message.
    struct Done
    {
        uint32_t queuePair;
        uint64_t tag;
        uint64_t bytes;
        int64_t receivedPs{-1};
        int64_t acknowledgedPs{-1};
    };

    explicit TransportRig(Cluster cluster,
                          const Attributes& transportAttributes = {},
                          const Attributes& fabricAttributes = {},
                          bool batched = true)
    {
        m_cluster = std::make_shared<const Cluster>(std::move(cluster));
        fabric = CreateObject<Fabric>();
        for (const auto& attribute : fabricAttributes)
        {
            fabric->SetAttribute(attribute.first, StringValue(attribute.second));
        }
        fabric->SetCluster(m_cluster);
        fabric->AssignStreams(1);
        ObjectFactory scheduler;
        scheduler.SetTypeId("ns3::proteus::HorizonScheduler");
        scheduler.Set("Horizon", PointerValue(fabric->GetHorizon()));
        if (batched)
        {
            Simulator::SetScheduler(scheduler);
        }
        transport = CreateObject<Transport>();
        for (const auto& attribute : transportAttributes)
        {
            transport->SetAttribute(attribute.first, StringValue(attribute.second));
        }
        transport->AssignStreams(10);
        transport->SetFabric(fabric, this);
    }

    ~TransportRig() override
    {
        transport->Dispose();
        fabric->Dispose();
        Simulator::Destroy();
    }

    /// A queue pair between two GPUs, by rank.
    uint32_t Connect(uint32_t from, uint32_t to, const QueuePairOptions& base = QueuePairOptions())
    {
        QueuePairOptions options = base;
        options.source = m_cluster->GetGpus()[from];
        options.destination = m_cluster->GetGpus()[to];
        options.flow = options.flow == 0 ? MixHash(from, to) : options.flow;
        m_areNicsEnds |= !options.waypoints.empty();
        return transport->CreateQueuePair(options);
    }

    /// Sends now.
    void Send(uint32_t pair, uint64_t bytes)
    {
        sent[pair].push_back({pair, sent[pair].size(), bytes});
        transport->Send(pair, bytes, sent[pair].size() - 1);
    }

    /// Runs to the end, and checks that all has arrived and nothing is left.
    void Run()
    {
        Simulator::Run();
        EXPECT_EQ(transport->CheckAtRest(), "");
        EXPECT_EQ(fabric->CheckAtRest(), "");
        for (const auto& entry : sent)
        {
            EXPECT_EQ(delivered[entry.first], entry.second.size());
            EXPECT_EQ(acknowledged[entry.first], entry.second.size());
        }
    }

    /// The time of the last acknowledgement of a queue pair, in seconds.
    double GetAcknowledged(uint32_t pair)
    {
        return static_cast<double>(sent[pair].back().acknowledgedPs) * 1e-12;
    }

    /// The time of the last delivery of a queue pair, in seconds.
    double GetReceived(uint32_t pair)
    {
        return static_cast<double>(sent[pair].back().receivedPs) * 1e-12;
    }

    // Inherited from TransportUser
    void ReceiveMessage(uint32_t pair, uint64_t tag, uint64_t bytes) override
    {
        ASSERT_EQ(tag, delivered[pair]) << "exactly once and in order";
        ASSERT_LT(tag, sent[pair].size());
        Done& message = sent[pair][tag];
        ASSERT_EQ(bytes, message.bytes);
        message.receivedPs = fabric->GetTimePs();
        ++delivered[pair];
        if (onReceive)
        {
            onReceive(pair, tag);
        }
    }

    void ReceiveAcknowledgement(uint32_t pair, uint64_t tag) override
    {
        ASSERT_EQ(tag, acknowledged[pair]) << "exactly once and in order";
        ASSERT_TRUE(m_areNicsEnds || tag < delivered[pair])
            << "no acknowledgement before the delivery";
        sent[pair][tag].acknowledgedPs = fabric->GetTimePs();
        ++acknowledged[pair];
        if (onAcknowledge)
        {
            onAcknowledge(pair, tag);
        }
    }

    void ReceiveControl(uint32_t pair, uint32_t value) override
    {
        controls[pair].push_back(value);
    }

    void ReceiveGroupMessage(uint32_t group, uint32_t member, uint64_t tag, uint64_t bytes) override
    {
        groupMessages.push_back({group, member, tag, bytes});
    }

    /// What ReceiveGroupMessage() got.
    struct GroupMessage
    {
        uint32_t group;
        uint32_t member;
        uint64_t tag;
        uint64_t bytes;
    };

    Ptr<Fabric> fabric;
    Ptr<Transport> transport;
    std::map<uint32_t, std::deque<Done>> sent; //!< by queue pair
    std::map<uint32_t, uint64_t> delivered;
    std::map<uint32_t, uint64_t> acknowledged;
    std::map<uint32_t, std::vector<uint32_t>> controls;
    std::vector<GroupMessage> groupMessages;
    std::function<void(uint32_t, uint64_t)> onReceive;
    std::function<void(uint32_t, uint64_t)> onAcknowledge;

  private:
    std::shared_ptr<const Cluster> m_cluster;
    bool m_areNicsEnds{false}; //!< whether NICs may acknowledge before the delivery
};

/// Framing with so many bytes of payload and overhead.
inline LinkFraming
MakeFraming(uint32_t payload, uint32_t overhead, uint32_t control = 64)
{
    LinkFraming framing;
    framing.unitBytes = payload;
    framing.unitHeaderBytes = overhead;
    framing.packetBytes = payload;
    framing.packetHeaderBytes = 0;
    framing.controlBytes = control;
    framing.reverseBytes = 0;
    return framing;
}

/// Hosts on one switch.
inline Cluster
MakeStar(uint32_t hosts,
         LinkTechnology technology = LinkTechnology::ROCE,
         double bytesPerSecond = 50e9,
         int64_t delayPs = 500000,
         const LinkFraming& framing = MakeFraming(1000, 48),
         double loss = 0)
{
    FabricOptions options;
    Cluster plain = MakeHostCluster(hosts, options, technology, bytesPerSecond, delayPs, framing);
    if (loss == 0)
    {
        return plain;
    }
    Cluster lossy("lossy");
    for (const Vertex& vertex : plain.GetVertices())
    {
        lossy.AddVertex(vertex);
    }
    for (Link link : plain.GetLinks())
    {
        link.lossProbability = loss;
        lossy.AddLink(link);
    }
    return lossy;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRANSPORT_FIXTURE_H
