/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-study-page.h"

#include "proteus-study-chart.h"
#include "proteus-study-comparison.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-markup.h"
#include "ns3/proteus-page.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t MAX_LINES = 8; //!< of a chart; of more the median is drawn

/// A study, its table, and the comparison of it.
struct View
{
    View(const Study& aStudy, const Table& aTable)
        : study(aStudy),
          table(aTable),
          comparison(CompareStudy(aStudy, aTable)),
          unit(aTable.columns[FindColumn(aTable, aStudy.measure)].unit),
          costUnit(aTable.columns[FindColumn(aTable, aStudy.cost)].unit)
    {
    }

    /// @return axes and labels of a group, e.g. "fabric=fat-tree, routing=Ecmp"
    std::string Name(const StudyGroup& group) const
    {
        std::string name;
        for (std::size_t i = 0; i < comparison.axes.size(); ++i)
        {
            AppendName(name, comparison.axes[i] + "=" + group.labels[i]);
        }
        return name.empty() ? "the only point" : name;
    }

    /// @return a cell of the row that stands for a group, as text; empty where there is no such
    std::string Get(const StudyGroup& group, const std::string& column) const
    {
        const auto place = std::find_if(table.columns.begin(),
                                        table.columns.end(),
                                        [&](const Column& c) { return c.name == column; });
        return place == table.columns.end()
                   ? ""
                   : ToText(table.rows[group.row]
                                      [static_cast<std::size_t>(place - table.columns.begin())]);
    }

    /// @return the number of throws and their ends, if there are several
    std::string DescribeSpread(const Spread& spread) const
    {
        return spread.count < 2 ? ""
                                : " (median of " + std::to_string(spread.count) + ", " +
                                      FormatQuantity(spread.least, unit) + " to " +
                                      FormatQuantity(spread.most, unit) + ")";
    }

    /// @return how far a group is from the best one, with a sign
    std::string DescribeDistance(const StudyGroup& group) const
    {
        const double best = comparison.groups.front().measure.median;
        if (best == 0)
        {
            return "";
        }
        const double more = 100 * (group.measure.median / best - 1);
        return (more >= 0 ? "+" : "") + FormatNumber(more, 1) + " %";
    }

    const Study& study;
    const Table& table;
    const StudyComparison comparison;
    const std::string unit;     //!< of the measure
    const std::string costUnit; //!< of the cost
};

/// @return why a group takes as long as it does
std::string
DescribeWhy(const View& view, const StudyGroup& group)
{
    std::string why;
    const std::string link = view.Get(group, "busiest_link");
    if (!link.empty())
    {
        const std::string share = view.Get(group, "busiest_link_share");
        why += "Its busiest link is " + link +
               (share.empty() ? "" : ", " + FormatPercent(std::stod(share)) + " of the time") +
               ". ";
    }
    const std::string collective = view.Get(group, "longest_collective");
    if (!collective.empty())
    {
        const std::string count = view.Get(group, "longest_collective_count");
        why += "Most communication time goes into " + count + " x " + collective + ". ";
    }
    why += view.Get(group, "congestion");
    return why;
}

/// @return errors of the points that failed, and how many had each
std::vector<std::pair<std::string, std::size_t>>
CountFailures(const Table& table)
{
    const std::size_t column = FindColumn(table, "error");
    std::vector<std::pair<std::string, std::size_t>> failures;
    for (const auto& row : table.rows)
    {
        const std::string error = ToText(row[column]);
        if (error.empty())
        {
            continue;
        }
        const auto place = std::find_if(failures.begin(), failures.end(), [&](const auto& failure) {
            return failure.first == error;
        });
        if (place == failures.end())
        {
            failures.emplace_back(error, 1);
        }
        else
        {
            ++place->second;
        }
    }
    return failures;
}

/// Says what is best, and what is next to it.
void
DescribeBest(const View& view, std::vector<std::string>& words)
{
    const auto& groups = view.comparison.groups;
    const StudyGroup& best = groups.front();
    words.push_back("Best: " + view.Name(best) + ", " + view.study.measure + " " +
                    FormatQuantity(best.measure.median, view.unit) +
                    view.DescribeSpread(best.measure) + ".");
    const std::string why = DescribeWhy(view, best);
    if (!why.empty())
    {
        words.push_back(why);
    }
    if (groups.size() < 2)
    {
        return;
    }
    const auto within = std::count_if(groups.begin() + 1, groups.end(), [&](const StudyGroup& g) {
        return IsWithinSpread(best.measure, g.measure);
    });
    const StudyGroup& next = groups[1];
    words.push_back("Next: " + view.Name(next) + ", " + view.DescribeDistance(next) +
                    (IsWithinSpread(best.measure, next.measure)
                         ? ", which is within the spread: chance may be all of it."
                         : "."));
    if (within > 1)
    {
        words.push_back(FormatThings(static_cast<uint64_t>(within), "combination") +
                        " are within the spread of the best.");
    }
    const StudyGroup& worst = groups.back();
    words.push_back("Last: " + view.Name(worst) + ", " +
                    FormatQuantity(worst.measure.median, view.unit) + ", " +
                    view.DescribeDistance(worst) + ". " + DescribeWhy(view, worst));
}

/// @return rows of the groups, as text; the names of the columns first
std::vector<std::vector<std::string>>
ListGroups(const View& view)
{
    const bool hasSpread = std::any_of(view.study.axes.begin(),
                                       view.study.axes.end(),
                                       [](const StudyAxis& axis) { return axis.isSpread; });
    std::vector<std::string> head = view.comparison.axes;
    head.insert(head.end(), {view.study.measure, "to the best"});
    if (hasSpread)
    {
        head.insert(head.end(), {"least", "most", "throws", "within the spread"});
    }
    head.insert(head.end(), {view.study.cost, "busiest link"});
    std::vector<std::vector<std::string>> rows{head};
    for (const StudyGroup& group : view.comparison.groups)
    {
        std::vector<std::string> row = group.labels;
        row.push_back(FormatQuantity(group.measure.median, view.unit));
        row.push_back(view.DescribeDistance(group));
        if (hasSpread)
        {
            const bool isWithin =
                IsWithinSpread(view.comparison.groups.front().measure, group.measure);
            row.insert(row.end(),
                       {FormatQuantity(group.measure.least, view.unit),
                        FormatQuantity(group.measure.most, view.unit),
                        std::to_string(group.measure.count),
                        isWithin ? "yes" : "no"});
        }
        row.push_back(group.cost ? FormatQuantity(*group.cost, view.costUnit) : "");
        row.push_back(view.Get(group, "busiest_link"));
        rows.push_back(std::move(row));
    }
    return rows;
}

/// @return the lines of a chart over an axis: one per combination of the others, or the median of
/// all where they are many
std::vector<ChartLine>
MakeLines(const View& view, std::size_t axis, const std::vector<std::string>& labels)
{
    std::vector<std::string> names;
    std::map<std::string, std::vector<std::vector<Spread>>> lines; // by name, by label
    for (const StudyGroup& group : view.comparison.groups)
    {
        std::string name;
        for (std::size_t i = 0; i < group.labels.size(); ++i)
        {
            if (i != axis)
            {
                AppendName(name, group.labels[i]);
            }
        }
        const auto [place, isNew] = lines.try_emplace(name, labels.size());
        if (isNew)
        {
            names.push_back(name);
        }
        const auto label = std::find(labels.begin(), labels.end(), group.labels[axis]);
        place->second[static_cast<std::size_t>(label - labels.begin())].push_back(group.measure);
    }
    if (names.size() > MAX_LINES)
    {
        std::vector<std::vector<Spread>> all(labels.size());
        for (const auto& [name, values] : lines)
        {
            for (std::size_t i = 0; i < labels.size(); ++i)
            {
                all[i].insert(all[i].end(), values[i].begin(), values[i].end());
            }
        }
        names = {"median of " + std::to_string(names.size()) +
                 " combinations of the other axes, from least to most"};
        lines = {{names.front(), all}};
    }
    std::vector<ChartLine> drawn;
    for (const std::string& name : names)
    {
        ChartLine line{name, {}};
        for (const auto& values : lines.at(name))
        {
            std::vector<double> medians;
            double least = HUGE_VAL;
            double most = -HUGE_VAL;
            for (const Spread& value : values)
            {
                medians.push_back(value.median);
                least = std::min(least, value.least);
                most = std::max(most, value.most);
            }
            line.values.emplace_back();
            if (!medians.empty())
            {
                line.values.back() = FindSpread(medians);
                line.values.back()->least = least;
                line.values.back()->most = most;
            }
        }
        drawn.push_back(std::move(line));
    }
    return drawn;
}

/// Writes a chart for every axis.
void
WriteCharts(const View& view, std::ostream& out)
{
    for (std::size_t i = 0; i < view.comparison.axes.size(); ++i)
    {
        const std::string& axis = view.comparison.axes[i];
        std::vector<std::string> labels;
        const std::size_t column = FindColumn(view.table, axis);
        for (const auto& row : view.table.rows) // in the order of the study
        {
            const std::string label = ToText(row[column]);
            if (std::find(labels.begin(), labels.end(), label) == labels.end() &&
                std::any_of(view.comparison.groups.begin(),
                            view.comparison.groups.end(),
                            [&](const StudyGroup& group) { return group.labels[i] == label; }))
            {
                labels.push_back(label);
            }
        }
        if (labels.size() < 2)
        {
            continue;
        }
        out << "<h3>Over " << EscapeMarkup(axis) << "</h3>\n";
        WriteLineChart(axis,
                       labels,
                       view.study.measure,
                       view.unit,
                       MakeLines(view, i, labels),
                       out);
    }
}

/// Writes what is worth its cost.
void
WritePareto(const View& view, std::ostream& out)
{
    const auto& comparison = view.comparison;
    if (comparison.pareto.empty())
    {
        return;
    }
    std::vector<ChartDot> dots;
    for (std::size_t i = 0; i < comparison.groups.size(); ++i)
    {
        const StudyGroup& group = comparison.groups[i];
        if (group.cost && std::find(comparison.pareto.begin(), comparison.pareto.end(), i) ==
                              comparison.pareto.end())
        {
            dots.push_back({view.Name(group), *group.cost, group.measure, false});
        }
    }
    for (const std::size_t i : comparison.pareto)
    {
        const StudyGroup& group = comparison.groups[i];
        dots.push_back({view.Name(group), *group.cost, group.measure, true});
    }
    const double first = *comparison.groups[comparison.pareto.front()].cost;
    if (std::all_of(comparison.groups.begin(), comparison.groups.end(), [&](const auto& group) {
            return !group.cost || *group.cost == first;
        }))
    {
        out << "<p>All have the same " << EscapeMarkup(view.study.cost) << ", "
            << EscapeMarkup(FormatQuantity(first, view.costUnit)) << ".</p>\n";
        return;
    }
    out << "<h2 id=\"cost\">" << EscapeMarkup(view.study.measure) << " against "
        << EscapeMarkup(view.study.cost) << "</h2>\n";
    WriteDotChart(view.study.cost, view.costUnit, view.study.measure, view.unit, dots, out);
    out << "<p>Nothing is both better and cheaper than "
        << (comparison.pareto.size() > 1 ? "those on the dashed line" : "this") << ":</p>\n";
    std::vector<std::string> words;
    for (const std::size_t i : comparison.pareto)
    {
        const StudyGroup& group = comparison.groups[i];
        words.push_back(view.Name(group) + ": " + FormatQuantity(group.measure.median, view.unit) +
                        " for " + FormatQuantity(*group.cost, view.costUnit));
    }
    WriteSentences(words, out);
}

/// Writes what the columns of the table mean.
void
WriteColumns(const Table& table, std::ostream& out)
{
    std::vector<std::vector<std::string>> rows;
    for (const Column& column : table.columns)
    {
        rows.push_back({column.name, column.unit, column.description});
    }
    out << "<h2 id=\"columns\">Columns of the CSV file</h2>\n<details><summary>"
        << table.columns.size() << " columns</summary>\n";
    WriteMarkupTable({"column", "unit", "meaning"}, rows, out);
    out << "</details>\n";
}

} // namespace

std::vector<std::string>
DescribeStudy(const Study& study, const Table& table)
{
    const View view(study, table);
    std::vector<std::string> words;
    if (view.comparison.groups.empty())
    {
        words.push_back("No point has a " + study.measure + ".");
    }
    else
    {
        DescribeBest(view, words);
    }
    for (const auto& [error, count] : CountFailures(table))
    {
        words.push_back(FormatThings(count, "point") + " could not run: " + error);
    }
    return words;
}

void
PrintStudy(const Study& study, const Table& table, std::size_t most, std::ostream& out)
{
    const View view(study, table);
    auto rows = ListGroups(view);
    const std::size_t left = rows.size() - 1 - std::min(most, rows.size() - 1);
    rows.resize(rows.size() - left);
    out << FormatTable(rows, std::string(view.comparison.axes.size(), 'l') + 'r');
    if (left > 0)
    {
        out << "  ... and " << left << " more\n";
    }
    out << '\n';
    for (const std::string& words : DescribeStudy(study, table))
    {
        out << WrapText(words);
    }
}

void
WriteStudyPage(const Study& study,
               const Table& table,
               const std::vector<std::string>& notes,
               std::ostream& out)
{
    const View view(study, table);
    BeginPage(study.name, "Study with " + study.program, DescribeStudy(study, table), out);
    if (!view.comparison.groups.empty())
    {
        auto rows = ListGroups(view);
        const std::vector<std::string> head = rows.front();
        rows.erase(rows.begin());
        out << "<h2 id=\"table\">All combinations, best first</h2>\n";
        WriteMarkupTable(head, rows, out);
        if (std::find(head.begin(), head.end(), "within the spread") != head.end())
        {
            out << "<p class=\"note\">Within the spread: the ranges from least to most of this "
                   "combination and of the best meet, so that chance may be all of the "
                   "difference. The spread of few throws is narrow.</p>\n";
        }
        out << "<h2 id=\"lines\">Lines</h2>\n";
        WriteCharts(view, out);
        WritePareto(view, out);
    }
    std::vector<std::vector<std::string>> options;
    for (const auto& [name, value] : study.options)
    {
        options.push_back({"--" + name, value});
    }
    WriteNotes(notes, out);
    out << "<h2 id=\"options\">Options of all points</h2>\n";
    WriteMarkupTable({"option", "value"}, options, out);
    WriteColumns(table, out);
    EndPage(out);
}

} // namespace proteus
} // namespace ns3
