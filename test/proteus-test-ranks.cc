/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-test-ranks.h"

#include "ns3/proteus-config.h"

#if PROTEUS_HAS_MPI
#include "ns3/global-value.h"
#include "ns3/mpi-interface.h"
#include "ns3/string.h"

#include <mpi.h>
#endif

namespace ns3
{
namespace proteus
{

#if PROTEUS_HAS_MPI

void
TestRanks::Part()
{
    if (MpiInterface::IsEnabled())
    {
        MpiInterface::Disable();
        GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::DefaultSimulatorImpl"));
    }
}

void
TestRanks::Meet()
{
    int isInitialized = 0;
    MPI_Initialized(&isInitialized);
    if (isInitialized != 0 && !MpiInterface::IsEnabled())
    {
        GlobalValue::Bind("SimulatorImplementationType",
                          StringValue("ns3::DistributedSimulatorImpl"));
        MpiInterface::Enable(MPI_COMM_WORLD);
    }
}

#else

void
TestRanks::Part()
{
    // There is nobody else.
}

void
TestRanks::Meet()
{
    // There is nobody else.
}

#endif

} // namespace proteus
} // namespace ns3
