/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-executor-comparison.h"

#include "proteus-tables.h"

#include <cmath>
#include <string>
#include <variant>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Prints the table "comparison".
void
PrintComparisonTable(const Table& table, std::ostream& out)
{
    std::vector<std::vector<std::string>> rows(1);
    for (const Column& column : table.columns)
    {
        const auto underscore = column.name.rfind('_');
        rows[0].push_back(column.unit.empty()      ? table.title
                          : column.unit == "share" ? "difference"
                                                   : column.name.substr(0, underscore));
    }
    for (const auto& row : table.rows)
    {
        rows.emplace_back();
        for (std::size_t i = 0; i < row.size(); ++i)
        {
            const auto* number = std::get_if<double>(&row[i]);
            const auto* text = std::get_if<std::string>(&row[i]);
            rows.back().push_back(text                               ? *text
                                  : !number                          ? "-"
                                  : table.columns[i].unit == "share" ? FormatPercent(*number, 2)
                                                                     : FormatTime(*number));
        }
    }
    out << '\n' << FormatTable(rows, "lr");
}

/// Prints in which row an executor differs most from the first, by seconds.
void
PrintMostDifferent(const ReportedRun& run, const Table& table, std::ostream& out)
{
    const auto number = [](const Cell& cell) {
        const double* value = std::get_if<double>(&cell);
        return value ? *value : 0;
    };
    for (std::size_t other = 1; other < run.results.size(); ++other)
    {
        const std::size_t column = 2 * other;
        const std::vector<Cell>* worst = nullptr;
        double most = 0;
        for (const auto& row : table.rows)
        {
            const std::string& name = std::get<std::string>(row[0]);
            const double by = number(row[column]) - number(row[1]);
            if (std::abs(by) > std::abs(most) && name.find("wall time") == std::string::npos &&
                name != "iteration time")
            {
                most = by;
                worst = &row;
            }
        }
        if (worst)
        {
            out << "  " << run.results[other].executor << " differs from "
                << run.results[0].executor << " most in: " << std::get<std::string>((*worst)[0])
                << ", " << FormatTime(std::abs(most)) << (most < 0 ? " less" : " more") << '\n';
        }
    }
}

/// Prints where the time of a mean GPU goes.
void
PrintTimeAccounts(const AnalyzedRun& run, std::ostream& out)
{
    std::vector<std::vector<std::string>> rows{{"Time of a GPU by",
                                                "computing",
                                                "communication",
                                                "waiting for peers",
                                                "bubble",
                                                "host",
                                                "idle"}};
    for (std::size_t i = 0; i < run.analyses.size(); ++i)
    {
        const MeanBreakdown& mean = run.analyses[i].summary.mean;
        rows.push_back({run.run.results[i].executor});
        for (double part : {mean.computeS,
                            mean.exposedCommunicationS,
                            mean.waitingForPeersS,
                            mean.bubbleS,
                            mean.hostS,
                            mean.idleS})
        {
            rows.back().push_back(FormatPercent(mean.totalS > 0 ? part / mean.totalS : 0, 2));
        }
    }
    out << '\n' << FormatTable(rows, "lr");
}

/// Prints the direction of a link whose payload differs most from that of the first executor.
void
PrintLinks(const ReportedRun& run, std::ostream& out)
{
    const RunRecord& first = run.results.front();
    const auto payload = [](const RunRecord& result, std::size_t i) {
        return static_cast<double>(result.links[i].payloadBytes);
    };
    for (std::size_t other = 1; other < run.results.size(); ++other)
    {
        const RunRecord& second = run.results[other];
        if (first.links.empty() || first.links.size() != second.links.size())
        {
            continue;
        }
        std::size_t worst = 0;
        const auto difference = [&](std::size_t i) {
            return std::abs(payload(first, i) - payload(second, i));
        };
        for (std::size_t i = 1; i < first.links.size(); ++i)
        {
            worst = difference(i) > difference(worst) ? i : worst;
        }
        const auto& direction = first.links[worst];
        const Link& link = run.cluster.GetLinks()[direction.link];
        const auto& vertices = run.cluster.GetVertices();
        out << "  largest difference of a link's payload: "
            << vertices[direction.forward ? link.a : link.b].name << " -> "
            << vertices[direction.forward ? link.b : link.a].name << ", "
            << FormatBytes(payload(first, worst)) << " by " << first.executor << ", "
            << FormatBytes(payload(second, worst)) << " by " << second.executor << '\n';
    }
}

} // namespace

void
PrintExecutorComparison(const AnalyzedRun& run, const Table& table, std::ostream& out)
{
    PrintComparisonTable(table, out);
    PrintMostDifferent(run.run, table, out);
    PrintTimeAccounts(run, out);
    PrintLinks(run.run, out);
}

} // namespace proteus
} // namespace ns3
