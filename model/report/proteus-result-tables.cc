/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-result-tables.h"

#include "proteus-result-layouts.h"
#include "proteus-tables.h"

#include <algorithm>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return the devices of all results
std::vector<DeviceRow>
ListDevices(const AnalyzedRun& run)
{
    const Cluster& cluster = run.run.cluster;
    std::vector<DeviceRow> rows;
    for (std::size_t i = 0; i < run.analyses.size(); ++i)
    {
        for (DeviceId device = 0; device < run.run.graph.GetNDevices(); ++device)
        {
            rows.push_back({run.run.results[i],
                            run.analyses[i],
                            device,
                            cluster.GetVertices()[cluster.GetGpus()[device]]});
        }
    }
    return rows;
}

/// @param get what an analysis has many of @return it, of all results
template <typename F>
auto
ListUses(const AnalyzedRun& run, F get)
{
    using Use = typename std::decay_t<decltype(get(run.analyses.front()))>::value_type;
    std::vector<UseRow<Use>> rows;
    for (std::size_t i = 0; i < run.analyses.size(); ++i)
    {
        for (const Use& use : get(run.analyses[i]))
        {
            rows.push_back({run.run.results[i], use});
        }
    }
    return rows;
}

/// @return the iterations of all results, where there are several
std::vector<IterationRow>
ListIterations(const AnalyzedRun& run)
{
    std::vector<IterationRow> rows;
    for (std::size_t i = 0; i < run.analyses.size(); ++i)
    {
        for (const IterationUse& use : run.analyses[i].iterations.uses)
        {
            rows.push_back({run.run.results[i], run.analyses[i].summary, use});
        }
    }
    return rows;
}

std::vector<SummaryRow>
ListQuantities(const AnalyzedRun& run)
{
    std::vector<SummaryRow> rows;
    for (std::size_t i = 0; i < run.analyses.size(); ++i)
    {
        for (const SummaryQuantity& quantity : GetSummaryQuantities())
        {
            rows.push_back({run.run.results[i], run.analyses[i].summary, quantity});
        }
    }
    return rows;
}

std::string
FormatCrc(uint32_t crc32)
{
    std::string text;
    for (int shift = 28; shift >= 0; shift -= 4)
    {
        text += "0123456789abcdef"[crc32 >> shift & 15U];
    }
    return text;
}

std::vector<FactRow>
ListFacts(const AnalyzedRun& run)
{
    const ReportedRun& r = run.run;
    const Summary& summary = run.analyses.front().summary;
    std::vector<FactRow> rows{{"command", r.information.command},
                              {"proteus version", r.information.version},
                              {"ns-3 version", r.information.ns3Version},
                              {"graph", summary.graph},
                              {"devices", std::to_string(r.graph.GetNDevices())},
                              {"tasks", std::to_string(r.graph.GetNTasks())},
                              {"cluster", r.cluster.GetName()},
                              {"GPU", summary.gpu},
                              {"servers", std::to_string(r.cluster.GetNServers())},
                              {"vertices", std::to_string(r.cluster.GetVertices().size())},
                              {"links", std::to_string(r.cluster.GetLinks().size())}};
    for (const RunRecord& result : r.results)
    {
        for (const std::string& note : result.notes)
        {
            rows.push_back({"note", note});
        }
    }
    for (const RunInput& file : r.information.inputs)
    {
        rows.push_back(
            {"input",
             file.path + (file.files > 1 ? ", " + std::to_string(file.files) + " files" : "") +
                 ", " + std::to_string(file.bytes) + " bytes, CRC-32 " + FormatCrc(file.crc32)});
    }
    return rows;
}

/// @return whether two kinds of communication are the same
bool
IsAlike(const CollectiveUse& a, const CollectiveUse& b)
{
    return a.collective == b.collective && a.parallelism == b.parallelism && a.bytes == b.bytes &&
           a.ranks == b.ranks && a.servers == b.servers;
}

/// @return mean time of communications like another; 0 where there are none
double
FindMeanS(const Summary& summary, const CollectiveUse& use)
{
    const auto same =
        std::find_if(summary.collectives.begin(),
                     summary.collectives.end(),
                     [&use](const CollectiveUse& other) { return IsAlike(use, other); });
    return same == summary.collectives.end() ? 0 : same->meanS;
}

std::vector<ComparisonRow>
ListComparisons(const AnalyzedRun& run)
{
    std::vector<ComparisonRow> rows;
    const auto add = [&](const std::string& quantity, auto get) {
        ComparisonRow row{quantity, {}};
        for (const RunAnalysis& analysis : run.analyses)
        {
            row.values.push_back(get(analysis.summary));
        }
        if (*std::max_element(row.values.begin(), row.values.end()) > 0)
        {
            rows.push_back(std::move(row));
        }
    };
    add("iteration time", [](const Summary& s) { return s.iterationS; });
    add("compute, mean", [](const Summary& s) { return s.mean.computeS; });
    add("exposed communication, mean",
        [](const Summary& s) { return s.mean.exposedCommunicationS; });
    for (Parallelism parallelism : EXPOSURE_PRIORITY)
    {
        const auto i = static_cast<std::size_t>(parallelism);
        add("exposed to " + NameInTables(parallelism) + ", mean",
            [i](const Summary& s) { return s.mean.exposedS[i]; });
    }
    add("waiting for peers, mean", [](const Summary& s) { return s.mean.waitingForPeersS; });
    add("bubble, mean", [](const Summary& s) { return s.mean.bubbleS; });
    add("host, mean", [](const Summary& s) { return s.mean.hostS; });
    add("idle, mean", [](const Summary& s) { return s.mean.idleS; });
    for (const CollectiveUse& use : run.analyses.front().summary.collectives)
    {
        add(std::string(ToString(use.collective)) + " for " + NameInTables(use.parallelism) + ", " +
                FormatBytes(static_cast<double>(use.bytes)) + ", " + std::to_string(use.ranks) +
                " ranks in " + std::to_string(use.servers),
            [&use](const Summary& s) { return FindMeanS(s, use); });
    }
    add("wall time of the simulation", [](const Summary& s) { return s.wallS; });
    return rows;
}

} // namespace

std::vector<Table>
MakeResultTables(const AnalyzedRun& run)
{
    const auto devices = ListDevices(run);
    std::vector<Table> tables{
        GetRunLayout().Make(ListFacts(run)),
        GetSummaryLayout().Make(ListQuantities(run)),
        GetBreakdownLayout().Make(devices),
        GetPhaseLayout().Make(ListUses(
            run,
            [](const RunAnalysis& a) -> auto& { return a.phases; })),
        GetCollectiveLayout().Make(ListUses(
            run,
            [](const RunAnalysis& a) -> auto& { return a.summary.collectives; })),
        GetLinkLayout().Make(ListUses(
            run,
            [](const RunAnalysis& a) -> auto& { return a.links; })),
        GetHotSpotLayout().Make(ListUses(
            run,
            [](const RunAnalysis& a) -> auto& { return a.hotSpots; })),
        GetMemoryLayout().Make(devices)};
    const auto iterations = ListIterations(run);
    if (!iterations.empty())
    {
        tables.push_back(GetIterationLayout().Make(iterations));
    }
    if (run.analyses.size() > 1)
    {
        std::vector<std::string> executors;
        for (const RunRecord& result : run.run.results)
        {
            executors.push_back(result.executor);
        }
        tables.push_back(GetComparisonLayout(executors).Make(ListComparisons(run)));
    }
    return tables;
}

std::vector<Table>
DescribeResultTables()
{
    return {GetRunLayout().Make(std::vector<FactRow>()),
            GetSummaryLayout().Make(std::vector<SummaryRow>()),
            GetBreakdownLayout().Make(std::vector<DeviceRow>()),
            GetPhaseLayout().Make(std::vector<UseRow<PhaseUse>>()),
            GetCollectiveLayout().Make(std::vector<UseRow<CollectiveUse>>()),
            GetLinkLayout().Make(std::vector<UseRow<LinkUse>>()),
            GetHotSpotLayout().Make(std::vector<UseRow<HotSpot>>()),
            GetMemoryLayout().Make(std::vector<DeviceRow>()),
            GetIterationLayout().Make(std::vector<IterationRow>()),
            GetComparisonLayout({"packet", "flow"}).Make(std::vector<ComparisonRow>())};
}

} // namespace proteus
} // namespace ns3
