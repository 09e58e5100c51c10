/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_TEST_TOOLS_H
#define PROTEUS_FABRIC_TEST_TOOLS_H

#include "ns3/object-factory.h"
#include "ns3/pointer.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-compat.h"
#include "ns3/proteus-fabric.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Raw units on a fabric, without a transport.
 */

namespace ns3
{
namespace proteus
{
namespace fabrictest
{

/// Units from one endpoint to another, sent as fast as the fabric takes them.
struct UnitFlow
{
    VertexId from;
    VertexId to;
    uint32_t units;
    uint32_t payload;
    uint8_t trafficClass{1};
    CopyMethod copyMethod{CopyMethod::DMA};
    // What came of it.
    uint32_t sent{0};
    uint32_t received{0};
    uint32_t marked{0};
    uint32_t next{0}; //!< sequence expected next
    bool inOrder{true};
    uint64_t bytes{0};
    int64_t firstPs{0};
    int64_t lastPs{0};
};

/// The ends of all flows.
class UnitEndpoint : public FabricEndpoint
{
  public:
    /// @param fabric under test @param flows to send
    UnitEndpoint(Ptr<Fabric> fabric, std::vector<UnitFlow> flows)
        : m_fabric(fabric),
          m_flows(std::move(flows))
    {
        fabric->SetEndpoint(this);
        for (const UnitFlow& flow : m_flows)
        {
            fabric->UseTrafficClass(flow.trafficClass);
            m_fabric->Offer(m_fabric->GetPort(flow.from, 0));
        }
    }

    bool Pull(PortId port, uint32_t classes, PacketRecord& record, int64_t& nextPs) override
    {
        nextPs = INT64_MAX;
        UnitFlow* best = nullptr;
        for (UnitFlow& flow : m_flows)
        {
            if (flow.from == m_fabric->GetFrom(port) && flow.sent < flow.units &&
                (classes >> flow.trafficClass & 1) != 0 &&
                (best == nullptr || flow.sent < best->sent))
            {
                best = &flow;
            }
        }
        if (best == nullptr)
        {
            return false;
        }
        record.queuePair = static_cast<uint32_t>(best - m_flows.data());
        record.sequence = best->sent++;
        record.destination = best->to;
        record.payloadBytes = best->payload;
        record.kind = PacketKind::DATA;
        record.trafficClass = best->trafficClass;
        record.copyMethod = best->copyMethod;
        nextPs = 0;
        return true;
    }

    VertexId Deliver(const PacketRecord& record, VertexId at) override
    {
        UnitFlow& flow = m_flows[record.queuePair];
        flow.firstPs = flow.received == 0 ? m_fabric->GetTimePs() : flow.firstPs;
        flow.lastPs = m_fabric->GetTimePs();
        flow.inOrder = flow.inOrder && record.sequence == flow.next && at == flow.to;
        flow.next = record.sequence + 1;
        flow.bytes += record.payloadBytes;
        flow.marked += record.flags & PacketRecord::CONGESTION_EXPERIENCED;
        ++flow.received;
        return CONSUMED;
    }

    uint64_t GetFlowHash(uint32_t queuePair) const override
    {
        return MixHash(queuePair, 99);
    }

    /// @return the flows
    const std::vector<UnitFlow>& Flows() const
    {
        return m_flows;
    }

  private:
    Ptr<Fabric> m_fabric;
    std::vector<UnitFlow> m_flows;
};

/// Attributes of a fabric: names and values as text.
using Attributes = std::vector<std::pair<std::string, std::string>>;

/// @param cluster to build @param attributes of the fabric @return the fabric
inline Ptr<Fabric>
MakeFabric(const Cluster& cluster, const Attributes& attributes = {})
{
    ObjectFactory factory;
    factory.SetTypeId("ns3::proteus::Fabric");
    for (const auto& attribute : attributes)
    {
        factory.Set(attribute.first, StringValue(attribute.second));
    }
    Ptr<Fabric> fabric = factory.Create<Fabric>();
    ObjectFactory scheduler;
    scheduler.SetTypeId("ns3::proteus::HorizonScheduler");
    scheduler.Set("Horizon", PointerValue(fabric->GetHorizon()));
    Simulator::SetScheduler(scheduler);
    fabric->AssignStreams(1);
    fabric->SetCluster(std::make_shared<const Cluster>(cluster));
    return fabric;
}

/// @param technology of all links @param hosts on one switch @param bytesPerSecond of a link
/// @param delayPs of a link @return the cluster
inline Cluster
MakeStar(LinkTechnology technology, uint32_t hosts, double bytesPerSecond, int64_t delayPs)
{
    return MakeHostCluster(hosts,
                           FabricOptions(),
                           technology,
                           bytesPerSecond,
                           delayPs,
                           DefaultFraming(technology));
}

/// @param cluster to add to @param name of the vertex @param kind of it @param server it is in
/// @return the vertex
inline VertexId
AddVertex(Cluster& cluster, const std::string& name, VertexKind kind, int32_t server)
{
    Vertex vertex;
    vertex.name = name;
    vertex.kind = kind;
    vertex.server = server;
    vertex.model = kind == VertexKind::GPU ? "A100-SXM4-80GB" : "";
    return cluster.AddVertex(vertex);
}

/// @param cluster to add to @param a one end @param b other end @param technology of the link
/// @param bytesPerSecond its rate @param delayPs its delay
inline void
AddLink(Cluster& cluster,
        VertexId a,
        VertexId b,
        LinkTechnology technology,
        double bytesPerSecond,
        int64_t delayPs)
{
    Link link;
    link.a = a;
    link.b = b;
    link.technology = technology;
    link.bytesPerSecond = bytesPerSecond;
    link.delayPs = delayPs;
    link.framing = DefaultFraming(technology);
    cluster.AddLink(link);
}

/// Base of the cases: runs flows and cleans up.
class FabricCase : public TestCase
{
  public:
    using TestCase::TestCase;

  protected:
    /// What a run leaves.
    struct Result
    {
        std::vector<UnitFlow> flows;
        std::vector<LinkStatistics> links;
        std::string rest;
        std::string deadlock;
        uint64_t dropped{0};
        uint64_t pauses{0};
        uint64_t marked{0};
        uint64_t lost{0};
    };

    /// @param cluster to run on @param attributes of the fabric @param flows to send
    /// @param before the run, with the fabric @return what is left
    Result Run(const Cluster& cluster,
               const Attributes& attributes,
               const std::vector<UnitFlow>& flows,
               const std::function<void(Ptr<Fabric>)>& before = {})
    {
        Ptr<Fabric> fabric = MakeFabric(cluster, attributes);
        Result result;
        {
            UnitEndpoint endpoint(fabric, flows);
            if (before)
            {
                before(fabric);
            }
            Simulator::Run();
            result.flows = endpoint.Flows();
        }
        result.links = fabric->GetLinkStatistics();
        result.rest = fabric->CheckAtRest();
        result.deadlock = fabric->FindDeadlock();
        for (const LinkStatistics& link : result.links)
        {
            result.dropped += link.droppedPackets;
            result.pauses += link.pauses;
            result.marked += link.markedPackets;
            result.lost += link.lostPackets;
        }
        fabric->Dispose();
        Simulator::Destroy();
        return result;
    }
};

} // namespace fabrictest
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_TEST_TOOLS_H
