/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EXECUTOR_COMPARISON_H
#define PROTEUS_EXECUTOR_COMPARISON_H

#include "proteus-result-tables.h"

#include <ostream>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Prints several executors side by side: a table of their times, what they differ most in, where
 * the time of a mean GPU goes with each, and the link whose payload differs most.
 * @param run with at least two results
 * @param table "comparison" of MakeResultTables()
 * @param out where to
 */
void PrintExecutorComparison(const AnalyzedRun& run, const Table& table, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EXECUTOR_COMPARISON_H
