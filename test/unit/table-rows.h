/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TABLE_ROWS_H
#define PROTEUS_TABLE_ROWS_H

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A row of a measured table.
struct TableRow
{
    std::map<std::string, std::string> fields; //!< by column

    /// @param column of the table @return the field @throw std::out_of_range if there is none
    const std::string& Get(const std::string& column) const
    {
        return fields.at(column);
    }

    /// @param column of the table @return the field's number
    double GetNumber(const std::string& column) const
    {
        return std::stod(Get(column));
    }
};

/// @ingroup proteus
/// @param file a name in workloads, CSV without quotes, whose first lines may be remarks (#)
/// @return its rows
/// @throw std::runtime_error if it cannot be read, or has no rows
inline std::vector<TableRow>
ReadWorkloadRows(const std::string& file)
{
    std::ifstream input(std::string(PROTEUS_SOURCE_DIR) + "/workloads/" + file);
    const auto split = [](const std::string& line) {
        std::vector<std::string> fields;
        std::istringstream rest(line + ",");
        for (std::string field; std::getline(rest, field, ',');)
        {
            fields.push_back(field);
        }
        return fields;
    };
    std::string line;
    do
    {
        std::getline(input, line);
    } while (input && line.rfind('#', 0) == 0);
    const std::vector<std::string> columns = split(line);
    std::vector<TableRow> rows;
    while (std::getline(input, line))
    {
        const std::vector<std::string> fields = split(line);
        TableRow row;
        for (std::size_t i = 0; i < columns.size(); ++i)
        {
            row.fields[columns[i]] = fields.at(i);
        }
        rows.push_back(row);
    }
    if (rows.empty())
    {
        throw std::runtime_error(file + " has no rows");
    }
    return rows;
}

/// @ingroup proteus
/// @param file a name in workloads/profiles @return its rows, see ReadWorkloadRows()
inline std::vector<TableRow>
ReadProfileRows(const std::string& file)
{
    return ReadWorkloadRows("profiles/" + file);
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TABLE_ROWS_H
