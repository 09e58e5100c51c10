/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MEASURED_TABLE_H
#define PROTEUS_MEASURED_TABLE_H

#include "proteus-collective-run.h"

#include "ns3/proteus-nccl-tests.h"
#include "ns3/proteus-table.h"

#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param file name of a log of nccl-tests
 * @param log what it says
 * @param cluster that comes nearest to what was measured
 * @param test that was run
 * @return it as the tables of workloads/measurements/
 */
Table MakeMeasuredTable(const std::string& file,
                        const NcclTestsTable& log,
                        const Cluster& cluster,
                        const CollectiveTest& test);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MEASURED_TABLE_H
