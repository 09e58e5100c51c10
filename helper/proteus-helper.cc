/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-helper.h"

#include "ns3/proteus-checked-attribute.h"

#include <utility>

namespace ns3
{
namespace proteus
{

ProteusHelper::ProteusHelper()
{
    m_networkFactory.SetTypeId("ns3::proteus::PacketNetwork");
    m_transportFactory.SetTypeId("ns3::proteus::Transport");
}

void
ProteusHelper::SetFabricAttribute(const std::string& name, const AttributeValue& value)
{
    m_fabricHelper.SetFabricAttribute(name, value);
}

void
ProteusHelper::SetNetworkAttribute(const std::string& name, const AttributeValue& value)
{
    SetAttributeChecked(m_networkFactory, name, value);
}

void
ProteusHelper::SetTransportAttribute(const std::string& name, const AttributeValue& value)
{
    SetAttributeChecked(m_transportFactory, name, value);
    m_transportAttributes.emplace_back(name, value.Copy());
}

void
ProteusHelper::SetProgramMaker(PacketNetwork::ProgramMaker maker)
{
    m_maker = std::move(maker);
}

void
ProteusHelper::SetCollectiveCosts(std::shared_ptr<const CollectiveCosts> costs)
{
    m_costs = std::move(costs);
}

void
ProteusHelper::SetRuntimeOptions(const RuntimeOptions& options)
{
    m_options = options;
}

int64_t
ProteusHelper::AssignStreams(int64_t stream)
{
    m_stream = stream;
    return 3; // of paths, marks and losses
}

Ptr<Fabric>
ProteusHelper::InstallFabric(const Cluster& cluster) const
{
    return m_fabricHelper.Install(cluster);
}

Ptr<TrainingJob>
ProteusHelper::Install(const Cluster& cluster, const ExecutionGraph& graph) const
{
    Ptr<Fabric> fabric = InstallFabric(cluster);
    Ptr<PacketNetwork> network = m_networkFactory.Create<PacketNetwork>();
    for (const auto& [name, value] : m_transportAttributes)
    {
        network->GetTransport()->SetAttribute(name, *value);
    }
    if (m_stream >= 0)
    {
        const int64_t used = network->AssignStreams(m_stream);
        fabric->AssignStreams(m_stream + used);
    }
    network->SetProgramMaker(m_maker);
    network->SetCollectiveCosts(m_costs);
    Ptr<TrainingJob> job = CreateObject<TrainingJob>();
    job->Install(std::make_shared<const ExecutionGraph>(graph), fabric, network, m_options);
    return job;
}

} // namespace proteus
} // namespace ns3
