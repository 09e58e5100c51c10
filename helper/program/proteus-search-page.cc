/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-search-report.h"

#include "ns3/proteus-markup.h"
#include "ns3/proteus-page.h"
#include "ns3/proteus-spread.h"
#include "ns3/proteus-study-chart.h"
#include "ns3/proteus-tables.h"

#include <algorithm>

/**
 * @file
 * @ingroup proteus
 * What a search has found, as a page.
 */

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t MOST_ROWS = 400; //!< of the table

/// @return a strategy with a blank behind every comma, where lines may break
std::string
AddBreaks(const std::string& strategy)
{
    std::string text;
    for (std::size_t i = 0; i < strategy.size(); ++i)
    {
        text += strategy[i];
        const bool isOpen = i + 1 < strategy.size() && strategy[i + 1] != ' ';
        text += strategy[i] == ',' && isOpen ? " " : "";
    }
    return text;
}

std::string
GetName(const SearchCandidate& candidate)
{
    return (candidate.name.empty() ? "" : candidate.name + ": ") + AddBreaks(candidate.strategy);
}

std::vector<std::string>
DescribeSearch(const SearchOutcome& outcome)
{
    std::vector<std::string> words;
    words.push_back("Looked at " + FormatCount(outcome.visited) + " plans" +
                    (outcome.isComplete ? "" : ", then the time was up") + "; " +
                    FormatCount(outcome.candidates.size()) + " strategies ranked by formula, " +
                    FormatCount(outcome.order.size()) + " of them run.");
    if (!outcome.order.empty())
    {
        const std::size_t best = outcome.order[0];
        words.push_back("Best: " + GetName(outcome.candidates[best]) + ", " +
                        FormatTime(GetFinest(outcome, best).seconds) + ".");
    }
    for (const std::string& agreement : DescribeAgreement(outcome))
    {
        words.push_back(agreement + ".");
    }
    return words;
}

/// Time against memory, both of the flows, which all that was run has.
void
WriteFront(const SearchOutcome& outcome, std::ostream& out)
{
    std::vector<ChartDot> dots;
    std::vector<ChartDot> front;
    for (const std::size_t number : outcome.order)
    {
        const SearchCandidate& candidate = outcome.candidates[number];
        const bool isOnFront = IsOnParetoFront(outcome, number);
        (isOnFront ? front : dots)
            .push_back({GetName(candidate),
                        static_cast<double>(GetFlowRun(outcome, number).peakMemoryBytes),
                        FindSpread({GetFlowRun(outcome, number).seconds}),
                        isOnFront});
    }
    std::stable_sort(front.begin(), front.end(), [](const ChartDot& a, const ChartDot& b) {
        return a.x < b.x;
    });
    dots.insert(dots.end(), front.begin(), front.end());
    out << "<h2 id=\"front\">Time against memory</h2>\n";
    WriteDotChart("memory of the fullest GPU", "B", "iteration by flows", "s", dots, out);
    out << "<p>On the dashed line no other strategy is both faster and smaller:</p>\n";
    std::vector<std::string> words;
    for (const ChartDot& dot : front)
    {
        words.push_back(dot.name + ": " + FormatTime(dot.y.median) + ", " + FormatBytes(dot.x));
    }
    WriteSentences(words, out);
}

std::vector<std::vector<std::string>>
ListStrategies(const SearchOutcome& outcome)
{
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < outcome.order.size() && i < MOST_ROWS; ++i)
    {
        const std::size_t number = outcome.order[i];
        const SearchCandidate& candidate = outcome.candidates[number];
        const SearchRun& run = GetFinest(outcome, number);
        const double packetS = GetSeconds(outcome, number, RUNG_PACKET);
        rows.push_back({std::to_string(i + 1),
                        AddBreaks(candidate.strategy),
                        candidate.analyticS > 0 ? FormatTime(candidate.analyticS) : "",
                        FormatTime(GetFlowRun(outcome, number).seconds),
                        packetS > 0 ? FormatTime(packetS) : "",
                        FormatPercent(run.modelFlopUtilisation),
                        FormatBytes(static_cast<double>(run.peakMemoryBytes)),
                        DescribeStrategy(outcome, i)});
    }
    return rows;
}

/// @return how a value of the objective compares with another one
std::string
FormatChange(double value, double before)
{
    const double percent = 100 * (value / before - 1);
    return (percent < 0 ? "" : "+") + FormatNumber(percent, 3) + " %";
}

std::vector<std::vector<std::string>>
ListSensitivity(const std::vector<SensitivityRow>& rows, const SearchOutcome& outcome)
{
    const std::size_t best = outcome.order.at(0);
    const double value = outcome.objective.GetValue(GetFlowRun(outcome, best).seconds,
                                                    outcome.candidates[best].devices);
    std::vector<std::vector<std::string>> table;
    for (const SensitivityRow& row : rows)
    {
        const bool hasBest = !row.best.empty();
        const bool hasToday = row.todaySeconds > 0;
        table.push_back({row.change,
                         hasToday ? FormatTime(row.todaySeconds) : "does not fit",
                         hasToday ? FormatChange(row.todayValue, value) : "",
                         hasBest ? FormatTime(row.bestSeconds) : "-",
                         hasBest ? FormatChange(row.bestValue, value) : "",
                         hasBest ? AddBreaks(row.best) : "nothing fits"});
    }
    return table;
}

/// @return titles of the columns of ListSensitivity(); changes are those of what is wanted
std::vector<std::string>
ListSensitivityHead(SearchObjective objective)
{
    const std::string change = objective == SearchObjective::TIME   ? "change"
                               : objective == SearchObjective::COST ? "price per sample"
                                                                    : "GPU time per sample";
    return {"with", "today's best", change, "best then", change, "strategy then"};
}

} // namespace

void
PrintSensitivity(const std::vector<SensitivityRow>& rows,
                 const SearchOutcome& outcome,
                 std::ostream& out)
{
    std::vector<std::vector<std::string>> table = ListSensitivity(rows, outcome);
    table.insert(table.begin(), ListSensitivityHead(outcome.objective.kind));
    const std::size_t best = outcome.order.at(0);
    out << "\nSensitivity, by flows (today's best: " << outcome.candidates[best].strategy << ", "
        << FormatTime(GetFlowRun(outcome, best).seconds) << ")\n"
        << FormatTable(table, "lrrrrl");
}

void
WriteSearchPage(const SearchOutcome& outcome,
                const std::vector<SensitivityRow>& rows,
                const std::string& subject,
                std::ostream& out)
{
    BeginPage(subject, "Search for a strategy", DescribeSearch(outcome), out);
    if (!outcome.order.empty())
    {
        WriteFront(outcome, out);
        out << "<h2 id=\"table\">Strategies, best first</h2>\n";
        WriteMarkupTable(
            {"rank", "strategy", "formula", "flows", "packets", "MFU", "memory", "why"},
            ListStrategies(outcome),
            out);
    }
    if (!rows.empty() && !outcome.order.empty())
    {
        out << "<h2 id=\"sensitivity\">What changes if ...</h2>\n";
        WriteMarkupTable(ListSensitivityHead(outcome.objective.kind),
                         ListSensitivity(rows, outcome),
                         out);
    }
    WriteNotes(outcome.notes, out);
    std::vector<std::vector<std::string>> left;
    for (const auto& [reason, count] : outcome.pruned)
    {
        left.push_back({FormatCount(count), reason});
    }
    out << "<h2 id=\"left\">Left out</h2>\n";
    WriteMarkupTable({"plans or families", "reason"}, left, out);
    EndPage(out);
}

} // namespace proteus
} // namespace ns3
