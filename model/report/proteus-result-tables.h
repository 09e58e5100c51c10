/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RESULT_TABLES_H
#define PROTEUS_RESULT_TABLES_H

#include "proteus-run-information.h"
#include "proteus-summary.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-run-record.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * All results of a run as tables with documented columns. Files of --json and --tables and the
 * report of --report are made of these, so that they cannot differ.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// All that a report is made from.
struct ReportedRun
{
    const ExecutionGraph& graph;       //!< that was executed
    const Cluster& cluster;            //!< that it ran on
    DataType dataType{DataType::BF16}; //!< whose peak the utilisation refers to
    RunInformation information;        //!< how it came about
    std::vector<RunRecord> results;    //!< at least one; by executor
};

/// @ingroup proteus
/// What stands in a cell: nothing, text, a whole number, or a real one.
using Cell = std::variant<std::monostate, std::string, int64_t, uint64_t, double>;

/// @ingroup proteus
/// A column of a table.
struct Column
{
    std::string name;        //!< as files write it, its unit at the end, e.g. "compute_s"
    std::string unit;        //!< "s", "B", "B/s", "share" (of 1) or, for counts and text, empty
    std::string description; //!< one line
};

/// @ingroup proteus
/// A table of results.
struct Table
{
    std::string name;                    //!< as files write it, e.g. "collectives"
    std::string title;                   //!< e.g. "Collectives"
    std::string description;             //!< a sentence or two
    std::vector<Column> columns;         //!< at least one
    std::vector<std::vector<Cell>> rows; //!< each with a cell per column
};

/**
 * @ingroup proteus
 * Makes the tables, in this order: run, summary, breakdown, time_accounts, phases, collectives,
 * links, hot_spots, memory and, of two results or more, comparison. All but "run" and "comparison"
 * have the executor in their first column.
 * @param input the run
 * @return the tables
 * @throw std::invalid_argument as Summarize(), or if there is no result
 */
std::vector<Table> MakeResultTables(const ReportedRun& input);

/**
 * @ingroup proteus
 * Writes a table as comma-separated values: the names of the columns, then a line per row. Quoted
 * as RFC 4180 says; lines end in LF; real numbers have as many digits as it takes to tell them from
 * all others.
 * @param table to write
 * @param out where to; its state tells whether all was written
 */
void WriteTableCsv(const Table& table, std::ostream& out);

/**
 * @ingroup proteus
 * Writes tables as one JSON object: "format" ("proteus-results"), "version" (1), and "tables", an
 * object by name of objects with "title", "description", "columns" (objects with name, unit,
 * description) and "rows" (objects by column). A cell without content is null.
 * @param tables to write
 * @param out where to; its state tells whether all was written
 */
void WriteTablesJson(const std::vector<Table>& tables, std::ostream& out);

/**
 * @ingroup proteus
 * Writes the links over time as comma-separated values, a line per bin and direction that was used
 * at all: executor, from, to, technology, start_s, end_s, busy_share, stalled_share, paused_share,
 * queue_bytes. See LinkBin.
 * @param input the run
 * @param out where to; its state tells whether all was written
 */
void WriteLinkSeriesCsv(const ReportedRun& input, std::ostream& out);

/**
 * @ingroup proteus
 * Writes the level of allocated memory as comma-separated values, a line per change: executor,
 * device, gpu, time_s, bytes.
 * @param input the run
 * @param out where to; its state tells whether all was written
 */
void WriteMemorySeriesCsv(const ReportedRun& input, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RESULT_TABLES_H
