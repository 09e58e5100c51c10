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

/**
 * @ingroup proteus
 * Names a log whose lines are not of what is to be simulated.
 * @param log what it says
 * @param test that is to be run
 * @param file name of the log
 * @param collective that the log or the user names, empty for none
 * @throw std::invalid_argument if the collective was only assumed
 */
void CheckLog(const NcclTestsTable& log,
              const CollectiveTest& test,
              const std::string& file,
              const std::string& collective);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MEASURED_TABLE_H
