/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-study-comparison.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return names of the axes that are compared
std::vector<std::string>
ListAxes(const Study& study, const Table& table)
{
    std::vector<std::string> axes;
    bool hasExecutor = false;
    for (const StudyAxis& axis : study.axes)
    {
        hasExecutor = hasExecutor || axis.name == "executor";
        if (!axis.isSpread)
        {
            axes.push_back(axis.name);
        }
    }
    const std::size_t column = FindColumn(table, "executor");
    std::set<std::string> executors;
    for (const auto& row : table.rows)
    {
        executors.insert(ToText(row[column]));
    }
    executors.erase("");
    if (executors.size() > 1 && !hasExecutor)
    {
        axes.emplace_back("executor");
    }
    return axes;
}

/// Rows of one group.
struct Rows
{
    std::vector<std::size_t> rows;
    std::vector<double> values;
    std::vector<double> costs;
};

/// @return the row whose value is the median or the one below it
std::size_t
FindMedianRow(const Rows& rows)
{
    std::vector<std::pair<double, std::size_t>> sorted;
    for (std::size_t i = 0; i < rows.rows.size(); ++i)
    {
        sorted.emplace_back(rows.values[i], rows.rows[i]);
    }
    std::sort(sorted.begin(), sorted.end());
    return sorted[(sorted.size() - 1) / 2].second;
}

/// Finds the groups that are worth their cost.
void
FindPareto(bool isMostBest, StudyComparison& comparison)
{
    std::vector<std::size_t> byCost;
    for (std::size_t i = 0; i < comparison.groups.size(); ++i)
    {
        if (comparison.groups[i].cost)
        {
            byCost.push_back(i);
        }
    }
    // Groups are sorted, best first: of equal cost the best comes first.
    std::stable_sort(byCost.begin(), byCost.end(), [&](std::size_t a, std::size_t b) {
        return *comparison.groups[a].cost < *comparison.groups[b].cost;
    });
    for (const std::size_t i : byCost)
    {
        const double value = comparison.groups[i].measure.median;
        if (!comparison.pareto.empty())
        {
            const double best = comparison.groups[comparison.pareto.back()].measure.median;
            if (isMostBest ? value <= best : value >= best)
            {
                continue;
            }
        }
        comparison.pareto.push_back(i);
    }
}

/// @param cell of a column that is compared @param key of a study that names it @param name of it
/// @return the number, if there is one
std::optional<double>
ReadNumber(const Cell& cell, const std::string& key, const std::string& name)
{
    if (std::holds_alternative<std::string>(cell))
    {
        throw std::invalid_argument("/" + key + ": the column '" + name + "' has '" + ToText(cell) +
                                    "', which is no number to compare");
    }
    return ToNumber(cell);
}

} // namespace

StudyComparison
CompareStudy(const Study& study, const Table& table)
{
    StudyComparison comparison;
    comparison.axes = ListAxes(study, table);
    const std::size_t measure = FindColumn(table, study.measure);
    const std::size_t cost = FindColumn(table, study.cost);
    std::vector<std::size_t> columns;
    for (const std::string& axis : comparison.axes)
    {
        columns.push_back(FindColumn(table, axis));
    }
    std::vector<std::vector<std::string>> order;
    std::map<std::vector<std::string>, Rows> groups;
    for (std::size_t r = 0; r < table.rows.size(); ++r)
    {
        const auto& row = table.rows[r];
        const auto value = ReadNumber(row[measure], "measure", study.measure);
        if (!value)
        {
            continue;
        }
        std::vector<std::string> labels;
        for (const std::size_t column : columns)
        {
            labels.push_back(ToText(row[column]));
        }
        const auto [place, isNew] = groups.try_emplace(labels);
        if (isNew)
        {
            order.push_back(labels);
        }
        place->second.rows.push_back(r);
        place->second.values.push_back(*value);
        if (const auto amount = ReadNumber(row[cost], "cost", study.cost))
        {
            place->second.costs.push_back(*amount);
        }
    }
    for (const auto& labels : order)
    {
        const Rows& rows = groups.at(labels);
        StudyGroup group{labels, FindSpread(rows.values), {}, FindMedianRow(rows)};
        if (!rows.costs.empty())
        {
            group.cost = FindSpread(rows.costs).median;
        }
        comparison.groups.push_back(std::move(group));
    }
    std::stable_sort(comparison.groups.begin(),
                     comparison.groups.end(),
                     [&](const StudyGroup& a, const StudyGroup& b) {
                         return study.isMostBest ? a.measure.median > b.measure.median
                                                 : a.measure.median < b.measure.median;
                     });
    FindPareto(study.isMostBest, comparison);
    return comparison;
}

} // namespace proteus
} // namespace ns3
