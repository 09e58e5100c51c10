/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-setup.h"

#include "ns3/object-factory.h"
#include "ns3/pointer.h"
#include "ns3/simulator-impl.h"
#include "ns3/simulator.h"

#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

void
SetUpFabric(Ptr<Fabric> fabric, std::shared_ptr<const Cluster> cluster)
{
    if (Simulator::GetImplementation()->GetInstanceTypeId().GetName() ==
        "ns3::RealtimeSimulatorImpl")
    {
        throw std::invalid_argument("ns3::RealtimeSimulatorImpl waits for the clock of this "
                                    "machine at every event: take another simulator");
    }
    fabric->SetCluster(std::move(cluster));
    ObjectFactory scheduler;
    scheduler.SetTypeId("ns3::proteus::HorizonScheduler");
    scheduler.Set("Horizon", PointerValue(fabric->GetHorizon()));
    Simulator::SetScheduler(scheduler);
}

} // namespace proteus
} // namespace ns3
