/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-html-report.h"

#include "proteus-cell-json.h"
#include "proteus-device-rows.h"
#include "proteus-plural.h"
#include "proteus-report-data.h"
#include "proteus-resources.h"
#include "proteus-tables.h"

#include "ns3/proteus-markup.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::ordered_json;

/// @param json any @return its text, in which nothing can end the element that it stands in
std::string
EmbedJson(const Json& json)
{
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string safe;
    safe.reserve(text.size());
    for (char c : text)
    {
        safe += c == '<' ? "\\u003c" : std::string(1, c); // only strings have it
    }
    return safe;
}

/// @param table with a row per device @param shown devices that pictures show
/// @param most rows @return it with at most so many rows, of those devices first
Table
KeepShown(const Table& table, const std::set<uint64_t>& shown, std::size_t most)
{
    const auto column = std::find_if(table.columns.begin(),
                                     table.columns.end(),
                                     [](const Column& c) { return c.name == "device"; }) -
                        table.columns.begin();
    Table kept = table;
    if (table.rows.size() <= most || column == static_cast<std::ptrdiff_t>(table.columns.size()))
    {
        return kept;
    }
    std::stable_partition(kept.rows.begin(), kept.rows.end(), [&](const std::vector<Cell>& row) {
        const auto* device = std::get_if<uint64_t>(&row[static_cast<std::size_t>(column)]);
        return device && shown.count(*device) > 0;
    });
    return kept;
}

/// @param table to embed @param most rows @return its JSON
Json
ToJson(const Table& table, std::size_t most)
{
    Json columns = Json::array();
    for (const Column& column : table.columns)
    {
        columns.push_back({column.name, column.unit, column.description});
    }
    Json rows = Json::array();
    for (std::size_t i = 0; i < std::min(most, table.rows.size()); ++i)
    {
        Json row = Json::array();
        for (const Cell& cell : table.rows[i])
        {
            row.push_back(CellToJson(cell));
        }
        rows.push_back(std::move(row));
    }
    return {{"name", table.name},
            {"title", table.title},
            {"description", table.description},
            {"total", table.rows.size()},
            {"columns", std::move(columns)},
            {"rows", std::move(rows)}};
}

std::string
NameOf(const ExecutionGraph& graph)
{
    const std::string& name = graph.GetFacts().name;
    return name.empty() ? "The graph" : name;
}

/// @return where the time of a GPU goes
std::string
DescribeTime(const Summary& s)
{
    const MeanBreakdown& mean = s.mean;
    const double total = mean.totalS > 0 ? mean.totalS : 1;
    const auto share = [total](double part) { return FormatPercent(part / total); };
    std::string text = "Of that, a GPU computes " + share(mean.computeS) + ", waits " +
                       share(mean.exposedCommunicationS) + " for bytes that nothing hides";
    const auto worst = std::max_element(mean.exposedS.begin(), mean.exposedS.end());
    if (*worst > 0 && *worst < mean.exposedCommunicationS)
    {
        const auto which = static_cast<Parallelism>(worst - mean.exposedS.begin());
        text +=
            " (" + share(*worst) +
            (which == Parallelism::NONE ? " for no parallelism in particular"
                                        : std::string(" for ") + ToString(which) + " parallelism") +
            ")";
    }
    if (mean.waitingForPeersS > 0)
    {
        text += ", waits " + share(mean.waitingForPeersS) + " for other ranks to join";
    }
    if (mean.bubbleS > 0)
    {
        text += ", stands " + share(mean.bubbleS) + " in the bubble of the pipeline";
    }
    if (mean.hostS > 0)
    {
        text += ", waits " + share(mean.hostS) + " for the host";
    }
    text += ", and is idle " + share(mean.idleS) + ", on average.";
    if (mean.communicationS > 0)
    {
        text += " " + FormatPercent(1 - mean.exposedCommunicationS / mean.communicationS) +
                " of its communication is hidden behind computation.";
    }
    return text;
}

std::string
DescribeCollective(const CollectiveUse& use)
{
    constexpr double GIGA = 1e9;
    std::string text = "Most communication time goes into " + FormatCount(use.count) + " × " +
                       ToString(use.collective) + " of " +
                       FormatBytes(static_cast<double>(use.bytes)) + " among " +
                       FormatCount(use.ranks) + " ranks";
    text += use.servers > 1 ? " in " + FormatCount(use.servers) + " servers" : " in one server";
    text += ": " + FormatTime(use.meanS) + " each, a bus bandwidth of " +
            FormatNumber(use.busBytesPerS / GIGA, 2) + " GB/s";
    if (use.idealBytesPerS > 0)
    {
        text += ", " + FormatPercent(use.busBytesPerS / use.idealBytesPerS) + " of the " +
                FormatNumber(use.idealBytesPerS / GIGA, 2) + " GB/s of its links";
    }
    return text + ".";
}

std::string
DescribeFit(const Summary& s)
{
    if (s.peakMemoryBytes == 0)
    {
        return "The graph says nothing of memory.";
    }
    const std::string& gpu = s.gpuNames.at(s.peakMemoryDevice);
    const auto peak = static_cast<double>(s.peakMemoryBytes);
    const auto capacity = static_cast<double>(s.memoryCapacityBytes);
    return (s.outOfMemory
                ? "It does not fit: " + FormatThings(s.outOfMemoryDevices.size(), "GPU") +
                      (s.outOfMemoryDevices.size() == 1 ? " is" : " are") + " out of memory; "
            : s.isPartial ? "Up to the stop it fits: "
                          : "It fits: ") +
           gpu + ", the fullest GPU, needs " + FormatBytes(peak) + " of " + FormatBytes(capacity) +
           " (" + FormatPercent(peak / std::max(capacity, 1.0)) + ").";
}

/// @param uses iterations of a run @return begin and end of each, nanoseconds, and whether it is
/// the steady one
Json
ListIterations(const std::vector<IterationUse>& uses)
{
    constexpr int64_t PS_PER_NS = 1000;
    Json iterations = Json::array();
    for (const IterationUse& use : uses)
    {
        iterations.push_back({use.startPs / PS_PER_NS, use.endPs / PS_PER_NS, use.isSteady});
    }
    return iterations;
}

/// @param s of a run of several iterations @return which of them the numbers are about
std::string
DescribeIterations(const Summary& s)
{
    return "That is iteration " + std::to_string(FindSteady(s.iterations) + 1) + " of " +
           std::to_string(s.iterations.size()) +
           ", the median of those after the first, and numbers here are about it, but those of "
           "links "
           "and of the network, which are about all; the first takes " +
           FormatTime(s.iterations.front().mean.totalS) + ", all together " + FormatTime(s.runS) +
           ".";
}

/// @return what the page draws
Json
MakeData(const AnalyzedRun& analyzed)
{
    const ReportedRun& run = analyzed.run;
    const ReportLimits limits;
    Json data;
    data["tables"] = Json::array();
    std::set<uint64_t> shown;
    for (const RunRecord& result : run.results)
    {
        for (const AlikeDevices& row :
             ChooseRows(FindRows(run.graph, result.timeline), limits.gpus))
        {
            shown.insert(row.devices.front());
        }
    }
    for (const Table& table : MakeResultTables(analyzed))
    {
        data["tables"].push_back(ToJson(KeepShown(table, shown, limits.rows), limits.rows));
    }
    data["results"] = Json::array();
    for (std::size_t i = 0; i < run.results.size(); ++i)
    {
        const RunRecord& result = run.results[i];
        Json timeline = MakeTimelineData(run, result, limits);
        timeline["iterations"] = ListIterations(analyzed.analyses[i].iterations.uses);
        data["results"].push_back({{"executor", result.executor},
                                   {"timeline", std::move(timeline)},
                                   {"memory", MakeMemoryData(run, result, limits)},
                                   {"series", MakeSeriesData(run, result, limits)}});
    }
    data["topology"] = MakeTopologyData(run, limits);
    return data;
}

/**
 * Writes a page in which every {{name}} is replaced, once, from the front to the back.
 * @param page with names
 * @param values by name; other names are of resources
 * @param out where to
 */
void
Fill(const std::string& page, const std::map<std::string, std::string>& values, std::ostream& out)
{
    std::size_t at = 0;
    while (true)
    {
        const auto open = page.find("{{", at);
        const auto close = page.find("}}", open == std::string::npos ? at : open);
        if (open == std::string::npos || close == std::string::npos)
        {
            break;
        }
        out << page.substr(at, open - at);
        const std::string name = page.substr(open + 2, close - open - 2);
        const auto value = values.find(name);
        out << (value == values.end() ? GetResource(name) : value->second);
        at = close + 2;
    }
    out << page.substr(at);
}

} // namespace

std::vector<std::string>
DescribeInWords(const AnalyzedRun& analyzed)
{
    const ReportedRun& run = analyzed.run;
    const Summary& s = analyzed.analyses.front().summary;
    std::vector<std::string> words;
    words.push_back(
        NameOf(run.graph) + " on " + s.cluster +
        (s.isPartial ? ": PARTIAL, the run was stopped at " : ": one iteration takes ") +
        FormatTime(s.iterationS) + " on " + FormatThings(s.devices, "GPU") + " (" + s.gpu + ").");
    if (!s.iterations.empty())
    {
        words.push_back(DescribeIterations(s));
    }
    words.push_back(DescribeTime(s));
    if (s.tokensPerS > 0)
    {
        words.push_back("That is " +
                        FormatCount(static_cast<uint64_t>(std::llround(s.tokensPerS))) +
                        (s.tokensPerS == s.samplesPerS ? " samples" : " tokens") + " per second" +
                        (s.modelFlopUtilisation > 0
                             ? ", and " + FormatPercent(s.modelFlopUtilisation) +
                                   " of the peak of the GPUs (model FLOP utilisation, dense " +
                                   ToString(s.dataType) + ")."
                             : "."));
    }
    if (!s.collectives.empty())
    {
        words.push_back(DescribeCollective(s.collectives.front()));
    }
    words.push_back(s.congestion);
    if (s.network.packets > 0)
    {
        words.push_back("In the network: " + DescribeLosses(s.losses) + ".");
    }
    words.push_back(DescribeFit(s));
    for (std::size_t i = 1; i < run.results.size(); ++i)
    {
        if (run.results[i].isPartial || s.isPartial)
        {
            continue;
        }
        const std::string& executor = run.results[i].executor;
        const double otherS = analyzed.analyses[i].summary.iterationS;
        words.push_back("By the executor " + executor + " the iteration takes " +
                        FormatTime(otherS) + ", " +
                        FormatPercent(std::fabs(otherS / s.iterationS - 1), 2) +
                        (otherS < s.iterationS ? " less" : " more") + " than by the executor " +
                        run.results.front().executor + ".");
    }
    for (const RunRecord& result : run.results)
    {
        for (const std::string& note : result.notes)
        {
            words.push_back("Note: " + note + ".");
        }
    }
    return words;
}

void
WriteHtmlReport(const AnalyzedRun& analyzed, std::ostream& out)
{
    const auto words = DescribeInWords(analyzed);
    std::string items;
    for (std::size_t i = 1; i < words.size(); ++i)
    {
        items += "<li>" + EscapeMarkup(words[i]) + "</li>\n";
    }
    const std::string title = NameOf(analyzed.run.graph) + " on " + analyzed.run.cluster.GetName();
    Json configuration = Json::object();
    for (const auto& [option, value] : analyzed.run.information.configuration)
    {
        configuration[option] = value;
    }
    Fill(GetResource("report.html"),
         {{"title", EscapeMarkup(title)},
          {"lead", EscapeMarkup(words.front())},
          {"words", items},
          {"configuration", EmbedJson(configuration)},
          {"data", EmbedJson(MakeData(analyzed))}},
         out);
}

} // namespace proteus
} // namespace ns3
