/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TABLE_H
#define PROTEUS_TABLE_H

#include "proteus-run-information.h"

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Tables of results, whose columns say what they mean and how a cell is found.
 */

namespace ns3
{
namespace proteus
{

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

/// @ingroup proteus
/// A column, and how its cell is found in what a row is about.
template <typename Row>
struct Field
{
    std::string name;                     //!< see Column::name
    std::string unit;                     //!< see Column::unit
    std::string meaning;                  //!< see Column::description
    std::function<Cell(const Row&)> find; //!< the cell
};

/// @ingroup proteus
/// How a table is made of rows of one type.
template <typename Row>
struct TableLayout
{
    std::string name;               //!< see Table::name
    std::string title;              //!< see Table::title
    std::string description;        //!< see Table::description
    std::vector<Field<Row>> fields; //!< the columns

    /**
     * @param rows what there is, in order; a range of Row
     * @return the table
     */
    template <typename Rows>
    Table Make(const Rows& rows) const
    {
        Table table{name, title, description, {}, {}};
        for (const Field<Row>& field : fields)
        {
            table.columns.push_back({field.name, field.unit, field.meaning});
        }
        for (const Row& row : rows)
        {
            table.rows.emplace_back();
            table.rows.back().reserve(fields.size());
            for (const Field<Row>& field : fields)
            {
                table.rows.back().push_back(field.find(row));
            }
        }
        return table;
    }
};

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
 * @param partial what was cut short, for "partial"; empty: nothing was
 * @param configuration options that repeat the run, for "configuration"; empty: left out
 */
void WriteTablesJson(const std::vector<Table>& tables,
                     std::ostream& out,
                     const std::string& partial = "",
                     const Configuration& configuration = {});

/**
 * @ingroup proteus
 * Prints what the columns of tables mean: of each table its name and description, and a line per
 * column with name, unit and meaning.
 * @param tables whose rows do not matter
 * @param out where to
 */
void PrintColumns(const std::vector<Table>& tables, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TABLE_H
