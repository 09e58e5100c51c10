/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-search-report.h"

#include "proteus-table-options.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return whether a candidate has a value of a rung
bool
Has(const SearchOutcome& outcome, std::size_t candidate, SearchRung rung)
{
    const std::vector<std::optional<double>>& values = outcome.entries[candidate].values;
    return rung < values.size() && values[rung];
}

std::string
GetTime(const SearchOutcome& outcome, std::size_t candidate, SearchRung rung)
{
    const double seconds = GetSeconds(outcome, candidate, rung);
    return seconds > 0 ? FormatTime(seconds) : "-";
}

/// @return seconds as files have them, nothing where there is none
std::string
GetCell(const SearchOutcome& outcome, std::size_t candidate, SearchRung rung)
{
    const double seconds = GetSeconds(outcome, candidate, rung);
    return seconds > 0 ? FormatNumber(seconds, rung == RUNG_FORMULA ? 9 : 12) : "";
}

/// What makes a strategy slower than the one before it: the part of the time that grows most.
std::string
ExplainSlowness(const SearchRun& before, const SearchRun& now)
{
    std::string what;
    double most = 0;
    auto consider = [&](const std::string& name, double difference) {
        if (difference > most)
        {
            most = difference;
            what = name;
        }
    };
    consider("computation", now.mean.computeS - before.mean.computeS);
    consider("waiting for peers", now.mean.waitingForPeersS - before.mean.waitingForPeersS);
    consider("the bubble of the pipeline", now.mean.bubbleS - before.mean.bubbleS);
    consider("waiting for the host", now.mean.hostS - before.mean.hostS);
    consider("idle time", now.mean.idleS - before.mean.idleS);
    for (std::size_t i = 0; i < N_PARALLELISMS; ++i)
    {
        consider(std::string("exposed ") + ToString(static_cast<Parallelism>(i)),
                 now.mean.exposedS[i] - before.mean.exposedS[i]);
    }
    return what.empty() ? "" : what + " +" + FormatTime(most);
}

std::string
DescribeExposed(const SearchRun& run)
{
    std::string text;
    for (std::size_t i = 0; i < N_PARALLELISMS; ++i)
    {
        const double share = run.seconds > 0 ? run.mean.exposedS[i] / run.seconds : 0;
        if (share >= 0.0005)
        {
            AppendName(text,
                       std::string(ToString(static_cast<Parallelism>(i))) + " " +
                           FormatPercent(share));
        }
    }
    return text.empty() ? "none" : text;
}

/// @return a column of what is wanted besides the time: its head, or the value of a run
std::string
FormatObjective(const SearchOutcome& outcome, const SearchRun& run, uint64_t devices)
{
    const double value = outcome.objective.GetValue(run.seconds, devices);
    return outcome.objective.kind == SearchObjective::COST ? FormatNumber(1e6 * value, 4)
                                                           : FormatNumber(1 / value, 4);
}

} // namespace

const SearchRun&
GetFinest(const SearchOutcome& outcome, std::size_t candidate)
{
    return Has(outcome, candidate, RUNG_PACKET) ? outcome.candidates[candidate].packet
                                                : GetFlowRun(outcome, candidate);
}

const SearchRun&
GetFlowRun(const SearchOutcome& outcome, std::size_t candidate)
{
    return Has(outcome, candidate, RUNG_FLOW) ? outcome.candidates[candidate].flow
                                              : outcome.candidates[candidate].reduced;
}

double
GetSeconds(const SearchOutcome& outcome, std::size_t candidate, SearchRung rung)
{
    const SearchCandidate& one = outcome.candidates[candidate];
    if (rung == RUNG_FORMULA)
    {
        return one.analyticS;
    }
    if (!Has(outcome, candidate, rung))
    {
        return 0;
    }
    return rung == RUNG_REDUCED ? one.reduced.seconds
           : rung == RUNG_FLOW  ? one.flow.seconds
                                : one.packet.seconds;
}

std::vector<std::string>
DescribeAgreement(const SearchOutcome& outcome)
{
    const std::vector<std::string> names{"analytic", "reduced", "flow", "packet"};
    std::vector<std::string> words;
    for (std::size_t high = 1; high < N_RUNGS; ++high)
    {
        for (std::size_t low = high; low-- > 0;)
        {
            const RungAgreement agreement = CompareRungs(outcome.entries, low, high);
            if (agreement.entries > 1)
            {
                words.push_back("Rank correlation of " + names[low] + " and " + names[high] + ", " +
                                std::to_string(agreement.entries) +
                                " strategies: " + FormatNumber(agreement.rankCorrelation, 3));
                break; // with the nearest rung below
            }
        }
    }
    return words;
}

bool
IsOnParetoFront(const SearchOutcome& outcome, std::size_t candidate)
{
    const SearchRun& mine = GetFlowRun(outcome, candidate);
    return std::none_of(outcome.order.begin(), outcome.order.end(), [&](std::size_t other) {
        const SearchRun& run = GetFlowRun(outcome, other);
        return run.seconds <= mine.seconds && run.peakMemoryBytes <= mine.peakMemoryBytes &&
               (run.seconds < mine.seconds || run.peakMemoryBytes < mine.peakMemoryBytes);
    });
}

std::string
DescribeStrategy(const SearchOutcome& outcome, std::size_t position)
{
    const std::size_t number = outcome.order[position];
    const SearchCandidate& candidate = outcome.candidates[number];
    const SearchRun& run = GetFinest(outcome, number);
    std::string text = candidate.name.empty() ? "" : candidate.name + "; ";
    text += "exposed " + DescribeExposed(run);
    if (position > 0)
    {
        const std::string why =
            ExplainSlowness(GetFinest(outcome, outcome.order[position - 1]), run);
        text += why.empty() ? "" : "; against the one above: " + why;
    }
    return text;
}

PrunedPlans
CountFailures(const std::vector<SearchCandidate>& candidates)
{
    std::map<std::string, std::pair<uint64_t, std::string>> kinds; // how many, the first cause
    for (const SearchCandidate& candidate : candidates)
    {
        const std::string& failure = candidate.flow.failure;
        if (failure.empty())
        {
            continue;
        }
        const std::string separator = ": ";
        const std::string option = "--strategy: "; // which nobody has typed here
        const std::size_t colon = failure.find(separator);
        auto& [count, first] = kinds[failure.substr(0, colon)];
        if (++count == 1 && colon != std::string::npos)
        {
            first = failure.substr(colon + separator.size());
            first = first.substr(first.rfind(option, 0) == 0 ? option.size() : 0);
        }
    }
    PrunedPlans counts;
    for (const auto& [kind, failures] : kinds)
    {
        const auto& [count, first] = failures;
        counts["compiled: " + kind + (first.empty() ? "" : ", the first: " + first)] = count;
    }
    return counts;
}

void
PrintSearch(const SearchOutcome& outcome, std::size_t rows, std::ostream& out)
{
    out << "\nLooked at " << FormatCount(outcome.visited) << " plans"
        << (outcome.isComplete ? "" : ", then the time was up") << "; "
        << FormatCount(outcome.candidates.size()) << " strategies ranked by formula, "
        << outcome.order.size() << " of them run\nFramework of all: " << outcome.framework
        << " (other programs choose by strategy; "
        << "--framework=" << outcome.framework << " gives the same times)\n";
    std::vector<std::vector<std::string>> left;
    for (const auto& [reason, count] : outcome.pruned)
    {
        left.push_back({FormatCount(count), reason});
    }
    if (!left.empty())
    {
        out << "\nLeft out\n" << FormatTable(left, "rl");
    }
    std::vector<std::vector<std::string>> table{
        {"rank", "analytic", "reduced", "flow", "packet", "MFU", "idle", "memory", "", "strategy"}};
    const bool isTime = outcome.objective.kind == SearchObjective::TIME;
    if (!isTime)
    {
        const bool isCost = outcome.objective.kind == SearchObjective::COST;
        table[0].insert(table[0].begin() + 5,
                        isCost ? outcome.currency + "/1M samples" : "samples/s/GPU");
    }
    for (std::size_t i = 0; i < outcome.order.size() && i < rows; ++i)
    {
        const std::size_t number = outcome.order[i];
        const SearchCandidate& candidate = outcome.candidates[number];
        const SearchRun& run = GetFinest(outcome, number);
        table.push_back({std::to_string(i + 1),
                         GetTime(outcome, number, RUNG_FORMULA),
                         GetTime(outcome, number, RUNG_REDUCED),
                         GetTime(outcome, number, RUNG_FLOW),
                         GetTime(outcome, number, RUNG_PACKET),
                         FormatPercent(run.modelFlopUtilisation),
                         FormatPercent(run.seconds > 0 ? run.mean.idleS / run.seconds : 0),
                         FormatBytes(static_cast<double>(run.peakMemoryBytes)),
                         IsOnParetoFront(outcome, number) ? "*" : "",
                         candidate.strategy});
        table.push_back({"", "", "", "", "", "", "", "", "", "  " + DescribeStrategy(outcome, i)});
        if (isTime)
        {
            continue;
        }
        table[table.size() - 2].insert(table[table.size() - 2].begin() + 5,
                                       FormatObjective(outcome, run, candidate.devices));
        table.back().insert(table.back().begin(), "");
    }
    out << "\nBest strategies (* none is both faster and smaller)\n"
        << FormatTable(table, isTime ? "rrrrrrrrll" : "rrrrrrrrrll");
    for (const std::string& words : DescribeAgreement(outcome))
    {
        out << words << "\n";
    }
}

void
WriteSearchCsv(const SearchOutcome& outcome, std::ostream& out)
{
    out << "rank,name,strategy,devices,analytic_s,reduced_s,flow_s,packet_s,peak_memory_bytes,mfu,"
           "compute_s";
    for (std::size_t i = 0; i < N_PARALLELISMS; ++i)
    {
        out << ",exposed_" << ToString(static_cast<Parallelism>(i)) << "_s";
    }
    out << ",idle_s,pareto,samples_per_gpu_s,price_per_sample\n";
    const Objective& objective = outcome.objective;
    for (std::size_t i = 0; i < outcome.order.size(); ++i)
    {
        const std::size_t number = outcome.order[i];
        const SearchCandidate& candidate = outcome.candidates[number];
        const SearchRun& run = GetFinest(outcome, number);
        out << i + 1 << ',' << QuoteCsv(candidate.name) << ',' << QuoteCsv(candidate.strategy)
            << ',' << candidate.devices << ',' << GetCell(outcome, number, RUNG_FORMULA) << ','
            << GetCell(outcome, number, RUNG_REDUCED) << ',' << GetCell(outcome, number, RUNG_FLOW)
            << ',' << GetCell(outcome, number, RUNG_PACKET) << ',' << run.peakMemoryBytes << ','
            << FormatNumber(run.modelFlopUtilisation, 6) << ','
            << FormatNumber(run.mean.computeS, 9);
        for (const double seconds : run.mean.exposedS)
        {
            out << ',' << FormatNumber(seconds, 9);
        }
        out << ',' << FormatNumber(run.mean.idleS, 9) << ',' << IsOnParetoFront(outcome, number)
            << ','
            << FormatNumber(static_cast<double>(objective.samples) / run.seconds /
                                static_cast<double>(candidate.devices),
                            9)
            << ','
            << (objective.kind == SearchObjective::COST
                    ? FormatNumber(objective.GetValue(run.seconds, candidate.devices), 9)
                    : "")
            << '\n';
    }
}

BarChart
MakeSearchChart(const SearchOutcome& outcome, std::size_t rows, const std::string& subject)
{
    BarChart chart;
    chart.title = "Best strategies of " + subject;
    chart.subtitle = "Iteration, mean of the GPUs";
    chart.parts = {"computation", "exposed communication", "waiting for peers", "bubble and idle"};
    for (std::size_t i = 0; i < outcome.order.size() && i < rows; ++i)
    {
        const std::size_t number = outcome.order[i];
        const SearchCandidate& candidate = outcome.candidates[number];
        const SearchRun& run = GetFinest(outcome, number);
        const MeanBreakdown& mean = run.mean;
        const double exposedS = mean.exposedCommunicationS;
        chart.bars.push_back(
            {(candidate.name.empty() ? "" : candidate.name + ": ") + candidate.strategy,
             {mean.computeS,
              exposedS,
              mean.waitingForPeersS,
              std::max(0.0, run.seconds - mean.computeS - exposedS - mean.waitingForPeersS)},
             FormatTime(run.seconds)});
    }
    return chart;
}

FrontChart
MakeFrontChart(const SearchOutcome& outcome, const std::string& subject)
{
    FrontChart chart{"Time against memory: " + subject,
                     "Joined: no other strategy is both faster and smaller",
                     {}};
    for (const std::size_t number : outcome.order)
    {
        const SearchCandidate& candidate = outcome.candidates[number];
        const SearchRun& run = GetFlowRun(outcome, number);
        chart.dots.push_back(
            {(candidate.name.empty() ? "" : candidate.name + ": ") + candidate.strategy,
             static_cast<double>(run.peakMemoryBytes),
             run.seconds,
             IsOnParetoFront(outcome, number)});
    }
    return chart;
}

void
WriteSearchStrategies(const SearchOutcome& outcome, const std::string& folder)
{
    MakeFolder(folder);
    for (std::size_t i = 0; i < outcome.order.size(); ++i)
    {
        const std::string path = folder + "/" + std::to_string(i + 1) + ".json";
        WriteFile(path, outcome.candidates[outcome.order[i]].write);
    }
}

} // namespace proteus
} // namespace ns3
