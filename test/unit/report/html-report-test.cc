/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "report-fixture.h"

#include "ns3/proteus-html-report.h"
#include "ns3/proteus-report-data.h"
#include "ns3/proteus-resources.h"
#include "ns3/proteus-result-tables.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::ordered_json;

/// A run with names that try to leave their place.
struct PageRun : TestRun
{
    explicit PageRun(uint32_t microBatches = 3)
        : TestRun(4, microBatches)
    {
        const TaskId kernel = AddCompute(0, "</script><script>throw 'x'</script> & \"q\"");
        const TaskId wide = AddCollective({0, 1, 2, 3}, Parallelism::DATA);
        const TaskId send = AddSend(1, 2);
        for (uint32_t mb = 0; mb < microBatches; ++mb)
        {
            const int64_t at = 1000000 * int64_t{mb};
            AddSpan(0, kernel, at, at + 400000, mb);
            AddSpan(1, send, at + 100000, at + 300000, mb);
            AddSpan(2, send, at, at + 300000, mb);
            for (DeviceId device = 0; device < 4; ++device)
            {
                AddSpan(device, wide, at + 500000 + 1000 * device, at + 900000, mb);
            }
        }
        timeline.peakMemoryBytes = {1, 2, 3, 40000000000};
        timeline.memory[3] = {{0, 5}, {77000, 40000000000}, {99000, 4}};
        WorkloadFacts facts;
        facts.name = "<b>GPT</b>";
        builder.SetFacts(facts);
        Finish();
    }

    ReportedRun Report(std::size_t nResults = 1) const
    {
        ReportedRun run{graph, cluster, DataType::BF16, {}, {}};
        run.information.command = "proteus-run '--graph=<a&b>'";
        LinkStatistics up;
        up.link = 1;
        up.packets = 30;
        up.busyPs = 1500000;
        up.creditStallPs = 500000;
        up.maxQueueBytes = 12345;
        LinkSeries series(2 * cluster.GetLinks().size(), timeline.endPs, 8);
        std::vector<LinkBin> bins(series.GetNDirections());
        bins[2] = {0.5, 0.1F, 0, 12345};
        series.Append(timeline.endPs, bins);
        for (std::size_t i = 0; i < nResults; ++i)
        {
            RunRecord result;
            result.executor = i == 0 ? "packet" : "flow";
            result.timeline = timeline;
            result.links = {up};
            result.series = series;
            run.results.push_back(result);
        }
        return run;
    }

    Cluster cluster{MakeTwoServers()};
};

std::string
WritePage(const ReportedRun& run)
{
    std::ostringstream out;
    WriteHtmlReport(Analyze(run), out);
    return out.str();
}

/// @return whether there is a browser to test with
bool
HasChromium()
{
    return std::system("command -v chromium >/dev/null 2>&1") == 0;
}

/// @param command for a shell @return what it writes to its standard output
std::string
ReadCommand(const std::string& command)
{
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    char block[4096];
    for (std::size_t n = 1; pipe && n > 0;)
    {
        n = fread(block, 1, sizeof block, pipe);
        text.append(block, n);
    }
    if (pipe)
    {
        pclose(pipe);
    }
    return text;
}

std::string
ReadFile(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// @param text of an HTML attribute @return what it stands for
std::string
Unescape(std::string text)
{
    for (const auto& [entity, character] :
         std::vector<std::pair<std::string, std::string>>{{"&lt;", "<"},
                                                          {"&gt;", ">"},
                                                          {"&quot;", "\""},
                                                          {"&nbsp;", "\u00a0"},
                                                          {"&amp;", "&"}})
    {
        for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos;
             at += character.size())
        {
            text.replace(at, entity.size(), character);
        }
    }
    return text;
}

/// @return all that stands between two texts
std::vector<std::string>
FindBetween(const std::string& text, const std::string& before, const std::string& after)
{
    std::vector<std::string> found;
    for (std::size_t at = 0; (at = text.find(before, at)) != std::string::npos;)
    {
        at += before.size();
        found.push_back(text.substr(at, text.find(after, at) - at));
    }
    return found;
}

/// @param cell of a table @return whether it is what the page says
bool
IsSame(const Cell& cell, const std::string& value)
{
    if (const auto* text = std::get_if<std::string>(&cell))
    {
        return *text == value;
    }
    if (std::holds_alternative<std::monostate>(cell))
    {
        return value.empty();
    }
    const double number = std::visit(
        [](const auto& v) {
            if constexpr (std::is_arithmetic_v<std::decay_t<decltype(v)>>)
            {
                return static_cast<double>(v);
            }
            else
            {
                return 0.0;
            }
        },
        cell);
    return !value.empty() && std::stod(value) == number; // shortest text that gives the number back
}

/**
 * Opens the page of a run in headless Chromium: nothing on its console, and it stands in time.
 * @return what the page has become, empty if it does not stand
 */
std::string
OpenPage(const ReportedRun& run, const TemporaryFolder& folder)
{
    std::ofstream(folder / "report.html", std::ios::binary) << WritePage(run);
    std::string dom = ReadCommand(
        "timeout 60 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr "
        "--user-data-dir='" +
        (folder / "profile") + "' --dump-dom 'file://" + (folder / "report.html") + "' 2>'" +
        (folder / "log") + "'");
    const std::string log = ReadFile(folder / "log");
    EXPECT_EQ(log.find("CONSOLE"), std::string::npos) << log.substr(0, 4000);
    const auto ready = FindBetween(dom, "data-ready=\"", "\"");
    if (ready.empty())
    {
        ADD_FAILURE() << "the page does not stand: " << log.substr(0, 4000);
        return "";
    }
    EXPECT_LT(std::stoi(ready[0]), 2000) << "milliseconds until the page stands";
    return dom;
}

} // namespace

TEST(HtmlReport, StandsAloneAndNothingLeavesItsPlace)
{
    const std::string page = WritePage(PageRun().Report());
    EXPECT_EQ(page.find("{{"), std::string::npos);
    EXPECT_EQ(page.find("</script><script>throw"), std::string::npos);
    EXPECT_EQ(page.find("<b>GPT"), std::string::npos);
    EXPECT_NE(page.find("&lt;b&gt;GPT"), std::string::npos);
    // Nothing that a browser would fetch, but the namespace of SVG; and it forbids itself to.
    EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
    const std::regex reference("https?://(?!www\\.w3\\.org/2000/svg)|@import|url\\(|src=\"");
    EXPECT_FALSE(std::regex_search(page, reference));
    // Everything that the data has, is data.
    const auto begin = page.find("id=\"data\">") + 10;
    const Json data = Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
    EXPECT_EQ(data["tables"].size(), 8U);
    EXPECT_EQ(data["results"][0]["timeline"]["names"][0][0],
              "</script><script>throw 'x'</script> & \"q\"");
}

TEST(HtmlReport, TimelineIsExactOrBounded)
{
    const PageRun few;
    const ReportedRun run = few.Report();
    const Json exact = MakeTimelineData(run, run.results[0], ReportLimits());
    EXPECT_EQ(exact["merged_ns"], 0);
    EXPECT_EQ(exact["end_ns"], 2900);
    std::size_t slices = 0;
    for (const Json& gpu : exact["gpus"])
    {
        for (const Json& track : gpu["tracks"])
        {
            int64_t at = 0;
            for (std::size_t i = 0; i < track["slices"].size(); i += 4, ++slices)
            {
                EXPECT_GE(track["slices"][i], 0);
                at += track["slices"][i].get<int64_t>() + track["slices"][i + 1].get<int64_t>();
            }
            EXPECT_LE(at, 2900);
        }
    }
    EXPECT_EQ(slices, few.timeline.spans.size());
    // The first kernel, and the receive: from when the sender joined.
    EXPECT_EQ(exact["gpus"][0]["tracks"][0]["slices"][1], 400);
    EXPECT_EQ(exact["gpus"][2]["tracks"][1]["name"], "receive");
    EXPECT_EQ(exact["gpus"][2]["tracks"][1]["slices"][0], 100);
    EXPECT_EQ(exact["gpus"][2]["tracks"][1]["slices"][1], 200);

    const PageRun many(4000);
    const ReportedRun large = many.Report();
    ReportLimits limits;
    limits.slices = 500;
    limits.gpus = 2;
    const Json merged = MakeTimelineData(large, large.results[0], limits);
    EXPECT_GT(merged["merged_ns"], 0);
    ASSERT_EQ(merged["gpus"].size(), 2U);
    EXPECT_GE(merged["rows"], 2); // of devices that did the same
    EXPECT_GT(merged["gpus"][1]["device"], 0);
    EXPECT_EQ(merged["devices"], 4);
    slices = 0;
    for (const Json& gpu : merged["gpus"])
    {
        for (const Json& track : gpu["tracks"])
        {
            slices += track["slices"].size() / 4;
        }
    }
    EXPECT_LE(slices, 520U);
    EXPECT_GT(slices, 100U);
}

TEST(HtmlReport, MemoryKeepsItsPeak)
{
    PageRun run;
    run.timeline.memory[0].clear();
    for (int64_t i = 0; i < 5000; ++i)
    {
        run.timeline.memory[0].push_back({i * 500, static_cast<uint64_t>(i == 3333 ? 99 : i % 7)});
    }
    run.timeline.peakMemoryBytes[0] = 99;
    const ReportedRun report = run.Report();
    const Json memory = MakeMemoryData(report, report.results[0], ReportLimits());
    EXPECT_EQ(memory[3]["steps"], Json({0, 5, 77, 40000000000, 99, 4}));
    const Json& steps = memory[0]["steps"];
    EXPECT_LE(steps.size(), 600U);
    uint64_t highest = 0;
    for (std::size_t i = 1; i < steps.size(); i += 2)
    {
        highest = std::max(highest, steps[i].get<uint64_t>());
    }
    EXPECT_EQ(highest, 99U);
}

TEST(HtmlReport, InWords)
{
    const PageRun run;
    const ReportedRun report = run.Report(2);
    const auto words = DescribeInWords(Analyze(report));
    std::string all;
    for (const std::string& sentence : words)
    {
        EXPECT_EQ(sentence.back(), '.') << sentence;
        all += sentence + '\n';
    }
    EXPECT_NE(all.find("<b>GPT</b> on small: one iteration takes 2.900 us on 4 GPUs"),
              std::string::npos)
        << all;
    EXPECT_NE(all.find("waits for room at its end"), std::string::npos) << all;
    EXPECT_NE(all.find("By the executor flow the iteration takes 2.900 us, 0.00 % more"),
              std::string::npos)
        << all;
    EXPECT_NE(all.find("It fits: n1.gpu1"), std::string::npos) << all;
}

TEST(HtmlReport, InChromium)
{
    if (!HasChromium())
    {
        GTEST_SKIP() << "the Debian package chromium is not installed: pages are not opened";
    }
    const TemporaryFolder folder;
    for (std::size_t nResults : {1, 2})
    {
        const PageRun page;
        const ReportedRun run = page.Report(nResults);
        const std::string dom = OpenPage(run, folder);
        ASSERT_FALSE(dom.empty());

        for (const Table& table : MakeResultTables(Analyze(run)))
        {
            const auto begin = dom.find("<table id=\"table-" + table.name + "\"");
            ASSERT_NE(begin, std::string::npos) << table.name;
            const auto body = dom.find("<tbody>", begin);
            const std::string rows = dom.substr(body, dom.find("</tbody>", body) - body);
            std::vector<std::string> values;
            for (const std::string& value : FindBetween(rows, "data-value=\"", "\""))
            {
                values.push_back(Unescape(value));
            }
            ASSERT_EQ(values.size(), table.rows.size() * table.columns.size()) << table.name;
            std::size_t at = 0;
            for (const auto& row : table.rows)
            {
                for (const Cell& expected : row)
                {
                    EXPECT_TRUE(IsSame(expected, values[at]))
                        << table.name << " cell " << at << ": " << values[at];
                    ++at;
                }
            }
            // For screen readers: a caption, and headers that say what they are of.
            const std::string head = dom.substr(begin, body - begin);
            EXPECT_NE(head.find("<caption>"), std::string::npos) << table.name;
            EXPECT_NE(head.find("scope=\"col\""), std::string::npos) << table.name;
            EXPECT_NE(rows.find("scope=\"row\""), std::string::npos) << table.name;
        }
        // Every picture says in words what it shows.
        std::size_t pictures = 0;
        for (const char* tag : {"<svg ", "<canvas "})
        {
            for (const std::string& attributes : FindBetween(dom, tag, ">"))
            {
                ++pictures;
                const bool isSaid = attributes.find("aria-label=") != std::string::npos ||
                                    attributes.find("aria-hidden=") != std::string::npos;
                EXPECT_TRUE(isSaid) << attributes; // a swatch stands before its name
            }
        }
        EXPECT_GE(pictures, 5U);
    }
}

TEST(HtmlReport, InChromiumWhereLittleIsKnown)
{
    if (!HasChromium())
    {
        GTEST_SKIP() << "the Debian package chromium is not installed: pages are not opened";
    }
    const TemporaryFolder folder;
    PageRun page;
    page.timeline.peakMemoryBytes = {0, 0, 0, 0};
    page.timeline.memory = {{{0, 0}}, {{0, 0}}, {}, {}};
    ReportedRun run = page.Report();
    run.results[0].links.clear();
    run.results[0].series = LinkSeries();
    const std::string dom = OpenPage(run, folder);
    EXPECT_NE(dom.find("The graph says nothing of memory."), std::string::npos);
    EXPECT_NE(dom.find("The use of links over time was not recorded."), std::string::npos);

    // A graph in which nothing happens.
    run.results[0].timeline.spans.clear();
    run.results[0].timeline.endPs = 0;
    const std::string empty = OpenPage(run, folder);
    EXPECT_NE(empty.find("Nothing was communicated."), std::string::npos);
}

} // namespace proteus
} // namespace ns3
