/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_SETUP_H
#define PROTEUS_FABRIC_SETUP_H

#include "proteus-fabric.h"

#include <memory>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Builds a cluster in a new fabric, and gives the simulator a HorizonScheduler, which the fabric's
 * speed depends on; set another scheduler afterwards if you must.
 * @param fabric without a cluster
 * @param cluster to build, which the fabric keeps
 */
void SetUpFabric(Ptr<Fabric> fabric, std::shared_ptr<const Cluster> cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_SETUP_H
