/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-study-published.h"

#include "proteus-study-chart.h"
#include "proteus-study-result.h"

#include "ns3/proteus-tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Columns of the table behind the axes.
enum Behind : std::size_t
{
    EXECUTOR,
    NAME,
    COLUMN,
    PUBLISHED,
    SIMULATED,
    ERROR,
};

/// @param row of a study's table @param at labels by axis @return whether it has all of them
bool
IsAt(const Table& table, const std::vector<Cell>& row, const StudyFilter& at)
{
    return std::all_of(at.begin(), at.end(), [&](const auto& wanted) {
        return ToText(row[FindColumn(table, wanted.first)]) == wanted.second;
    });
}

/// @param row of a study's table @param column of it @return the number there; none if it did not
/// run
std::optional<double>
FindNumber(const Table& table, const std::vector<Cell>& row, const std::string& column)
{
    const std::size_t position = FindColumn(table, column);
    if (ToText(row[FindColumn(table, STUDY_STATUS)]) != "ok")
    {
        return {};
    }
    const std::optional<double> number = ToNumber(row[position]);
    if (!number)
    {
        throw std::invalid_argument("column '" + column + "' has '" + ToText(row[position]) +
                                    "', which is no number to compare a published one with");
    }
    return number;
}

/// Errors of one kind of number.
struct Errors
{
    std::size_t count{0};
    double sum{0};
    double most{0}; //!< largest, with its sign
};

} // namespace

Table
ComparePublished(const Study& study, const Table& table)
{
    Table compared{"published", "Published beside simulated", study.publishedSource, {}, {}};
    for (const StudyAxis& axis : study.axes)
    {
        compared.columns.push_back({axis.name, "", "value of the axis " + axis.name});
    }
    const std::vector<Column> behind{
        {"executor", "", "how time was found"},
        {"name", "", "of the published number"},
        {"column", "", "of the study that it is compared with"},
        {"published", "", "the number"},
        {"simulated", "", "what the study finds; nothing: the point did not run"},
        {"error", "share", "simulated / published - 1"}};
    compared.columns.insert(compared.columns.end(), behind.begin(), behind.end());
    for (const StudyPublished& number : study.published)
    {
        for (const std::vector<Cell>& row : table.rows)
        {
            if (!IsAt(table, row, number.at))
            {
                continue;
            }
            std::vector<Cell> cells;
            for (const StudyAxis& axis : study.axes)
            {
                cells.push_back(row[FindColumn(table, axis.name)]);
            }
            const auto simulated = FindNumber(table, row, number.column);
            cells.push_back(row[FindColumn(table, "executor")]);
            cells.emplace_back(number.name);
            cells.emplace_back(number.column);
            cells.emplace_back(number.value);
            cells.push_back(simulated ? Cell(*simulated) : Cell());
            cells.push_back(simulated ? Cell(*simulated / number.value - 1) : Cell());
            compared.rows.push_back(std::move(cells));
        }
    }
    return compared;
}

void
PrintPublished(const Study& study, const Table& table, std::ostream& out)
{
    if (study.published.empty())
    {
        return;
    }
    const Table compared = ComparePublished(study, table);
    const std::size_t axes = study.axes.size();
    std::vector<std::vector<std::string>> lines(1);
    for (const StudyAxis& axis : study.axes)
    {
        lines[0].push_back(axis.name);
    }
    lines[0].insert(lines[0].end(), {"published as", "published", "simulated", "error"});
    std::map<std::string, Errors> errors;
    for (const auto& row : compared.rows)
    {
        lines.emplace_back();
        for (std::size_t i = 0; i < axes; ++i)
        {
            lines.back().push_back(ToText(row[i]));
        }
        const auto* simulated = std::get_if<double>(&row[axes + SIMULATED]);
        const auto* error = std::get_if<double>(&row[axes + ERROR]);
        lines.back().push_back(ToText(row[axes + NAME]));
        const std::size_t column = FindColumn(table, ToText(row[axes + COLUMN]));
        const std::string& unit = table.columns[column].unit;
        lines.back().push_back(FormatQuantity(std::get<double>(row[axes + PUBLISHED]), unit));
        lines.back().push_back(simulated ? FormatQuantity(*simulated, unit) : "-");
        lines.back().push_back(error ? FormatPercent(*error) : "-");
        if (error)
        {
            Errors& sum = errors[ToText(row[axes + NAME])];
            ++sum.count;
            sum.sum += std::fabs(*error);
            sum.most = std::fabs(*error) > std::fabs(sum.most) ? *error : sum.most;
        }
    }
    out << "\nPublished beside simulated\n"
        << FormatTable(lines, std::string(axes + 1, 'l') + "rrr") << '\n';
    for (const auto& [name, sum] : errors)
    {
        out << name << ": mean error " << FormatPercent(sum.sum / static_cast<double>(sum.count))
            << ", largest " << FormatPercent(sum.most) << ", " << sum.count << " numbers\n";
    }
    out << (study.publishedSource.empty() ? "" : "Published: " + study.publishedSource + "\n");
}

} // namespace proteus
} // namespace ns3
