/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-table.h"

#include "proteus-cell-json.h"
#include "proteus-tables.h"
#include "proteus-text-blocks.h"

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::ordered_json;

std::string
ToCsv(const Cell& cell)
{
    if (std::holds_alternative<std::monostate>(cell))
    {
        return "";
    }
    const auto* text = std::get_if<std::string>(&cell);
    return text ? QuoteCsv(*text) : CellToJson(cell).dump();
}

} // namespace

void
WriteTableCsv(const Table& table, std::ostream& out)
{
    TextBlocks text(out);
    std::string line;
    for (const Column& column : table.columns)
    {
        line += (line.empty() ? "" : ",") + QuoteCsv(column.name);
    }
    text += line + '\n';
    for (const auto& row : table.rows)
    {
        line.clear();
        for (std::size_t i = 0; i < row.size(); ++i)
        {
            line += (i == 0 ? "" : ",") + ToCsv(row[i]);
        }
        text += line + '\n';
    }
}

void
WriteTablesJson(const std::vector<Table>& tables,
                std::ostream& out,
                const std::string& partial,
                const Configuration& configuration)
{
    Json byName = Json::object();
    for (const Table& table : tables)
    {
        Json columns = Json::array();
        for (const Column& column : table.columns)
        {
            columns.push_back({{"name", column.name},
                               {"unit", column.unit},
                               {"description", column.description}});
        }
        Json rows = Json::array();
        for (const auto& row : table.rows)
        {
            Json object = Json::object();
            for (std::size_t i = 0; i < row.size(); ++i)
            {
                object[table.columns[i].name] = CellToJson(row[i]);
            }
            rows.push_back(std::move(object));
        }
        byName[table.name] = {{"title", table.title},
                              {"description", table.description},
                              {"columns", std::move(columns)},
                              {"rows", std::move(rows)}};
    }
    Json json{{"format", "proteus-results"}, {"version", 1}, {"tables", std::move(byName)}};
    if (!partial.empty())
    {
        json["partial"] = partial;
    }
    for (const auto& [name, value] : configuration)
    {
        json["configuration"][name] = value;
    }
    out << json.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

void
PrintColumns(const std::vector<Table>& tables, std::ostream& out)
{
    for (const Table& table : tables)
    {
        out << table.name << ": " << table.description << '\n';
        std::vector<std::vector<std::string>> rows;
        for (const Column& column : table.columns)
        {
            rows.push_back({column.name, column.unit, column.description});
        }
        out << FormatTable(rows, "l") << '\n';
    }
}

} // namespace proteus
} // namespace ns3
