/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_HELPER_H
#define PROTEUS_HELPER_H

#include "proteus-fabric-helper.h"

#include "ns3/object-factory.h"
#include "ns3/proteus-training-job.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

/**
 * @defgroup proteus Distributed training on packet-level fabrics
 * Execution graphs of distributed DNN training, run as one application per GPU over modelled
 * NVLink, PCIe, InfiniBand and Ethernet fabrics.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Installs a cluster and an execution graph in the simulator.
 *
 * @code
 * Time::SetResolution(Time::PS);
 * ProteusHelper helper;
 * Ptr<TrainingJob> job = helper.Install(MakeCluster("dgx-a100", 2), graph);
 * job->Run();
 * Timeline timeline = job->GetTimeline();
 * Simulator::Destroy();
 * @endcode
 */
class ProteusHelper
{
  public:
    ProteusHelper();

    /// @param name of an attribute of Fabric @param value its value
    void SetFabricAttribute(const std::string& name, const AttributeValue& value);

    /// @param name of an attribute of PacketNetwork @param value its value
    void SetNetworkAttribute(const std::string& name, const AttributeValue& value);

    /// @param name of an attribute of Transport @param value its value
    void SetTransportAttribute(const std::string& name, const AttributeValue& value);

    /// @param maker of the programs of all collectives: see PacketNetwork::SetProgramMaker()
    void SetProgramMaker(PacketNetwork::ProgramMaker maker);

    /// @param costs of kernels: see PacketNetwork::SetCollectiveCosts()
    void SetCollectiveCosts(std::shared_ptr<const CollectiveCosts> costs);

    /// @param options how devices issue their work
    void SetRuntimeOptions(const RuntimeOptions& options);

    /**
     * Fixes the random streams of the jobs that are installed from now on. Without it, streams are
     * given in the order of creation, as elsewhere in ns-3.
     * @param stream number of the first stream
     * @return streams that one job uses
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * Builds the fabric of a cluster and installs an application on every GPU. Also gives the
     * simulator a HorizonScheduler, which the fabric's speed depends on; set another scheduler
     * afterwards if you must.
     * @param cluster to build
     * @param graph to run on it
     * @return the job, ready to run
     * @throw std::invalid_argument if the graph does not fit the cluster
     */
    Ptr<TrainingJob> Install(const Cluster& cluster, const ExecutionGraph& graph) const;

    /**
     * @param cluster to build
     * @return its fabric, with the simulator's scheduler set
     */
    Ptr<Fabric> InstallFabric(const Cluster& cluster) const;

  private:
    FabricHelper m_fabricHelper;
    ObjectFactory m_networkFactory;
    ObjectFactory m_transportFactory; //!< for checks: a network makes its transport itself
    std::vector<std::pair<std::string, Ptr<const AttributeValue>>> m_transportAttributes;
    RuntimeOptions m_options;
    PacketNetwork::ProgramMaker m_maker;
    std::shared_ptr<const CollectiveCosts> m_costs;
    int64_t m_stream{-1}; //!< first random stream, -1 for ns-3's own choice
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_HELPER_H
