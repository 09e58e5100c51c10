/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RESULT_TABLES_H
#define PROTEUS_RESULT_TABLES_H

#include "proteus-run-analysis.h"
#include "proteus-table.h"

#include <vector>

/**
 * @file
 * @ingroup proteus
 * All results of a run as tables with documented columns. The files of --json and --tables and the
 * page of --report are made of these, so that they cannot differ.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Makes the tables, in this order: run, summary, breakdown, phases, collectives, links,
 * hot_spots, memory and, of two results or more, comparison. All but "run" and "comparison"
 * have the executor in their first column.
 * @param run what was run, and what follows from it
 * @return the tables
 */
std::vector<Table> MakeResultTables(const AnalyzedRun& run);

/**
 * @ingroup proteus
 * @return the same tables without rows, of a comparison of "packet" with "flow"
 */
std::vector<Table> DescribeResultTables();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RESULT_TABLES_H
