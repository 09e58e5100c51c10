/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "report-fixture.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-link-kinds.h"
#include "ns3/proteus-span-csv.h"
#include "ns3/proteus-tables.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param text of a CSV file by RFC 4180 @return its fields by line
std::vector<std::vector<std::string>>
ParseCsv(const std::string& text)
{
    std::vector<std::vector<std::string>> rows(1, {""});
    bool isQuoted = false;
    for (std::size_t i = 0; i < text.size(); ++i)
    {
        const char c = text[i];
        if (isQuoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
        {
            rows.back().back() += '"';
            ++i;
        }
        else if (c == '"')
        {
            isQuoted = !isQuoted;
        }
        else if (c == ',' && !isQuoted)
        {
            rows.back().emplace_back();
        }
        else if (c == '\n' && !isQuoted)
        {
            rows.emplace_back(1);
        }
        else
        {
            rows.back().back() += c;
        }
    }
    EXPECT_FALSE(isQuoted);
    EXPECT_EQ(rows.back(), std::vector<std::string>(1)); // the last line ends too
    rows.pop_back();
    return rows;
}

/// @param seconds with twelve decimals @return picoseconds
int64_t
ParseSeconds(const std::string& seconds)
{
    const auto point = seconds.find('.');
    EXPECT_EQ(seconds.size() - point, 13U);
    return std::stoll(seconds.substr(0, point)) * 1000000000000 +
           std::stoll(seconds.substr(point + 1));
}

} // namespace

TEST(Tables, SpanCsvReadsBack)
{
    const std::string name = "a, \"quoted\"\r\nname";
    TestRun run(4, 2);
    const TaskId compute = run.AddCompute(0, name);
    const TaskId send = run.AddSend(1, 3);
    const TaskId tensor = run.AddCollective({0, 1}, Parallelism::TENSOR);
    run.AddSpan(0, compute, 0, 1);
    run.AddSpan(1, send, 999999999999, 1000000000000, 1);
    run.AddSpan(3, send, 17, 1000000000000, 1);
    run.AddSpan(0, tensor, 7, 9000000000000000001);
    const ExecutionGraph& graph = run.Finish();
    std::ostringstream out;
    WriteSpanCsv(graph,
                 MakeSmallCluster({{"n0.gpu0", 0}, {"x,y", 0}, {"z", 1}, {"\"", 1}}),
                 run.timeline,
                 out);
    const auto rows = ParseCsv(out.str());
    ASSERT_EQ(rows.size(), 5U);
    EXPECT_EQ(out.str().substr(0, out.str().find('\n')),
              "device,gpu,stream,task,name,kind,collective,parallelism,micro_batch,bytes,start_s,"
              "end_s");
    std::vector<Span> spans;
    for (std::size_t i = 1; i < rows.size(); ++i)
    {
        ASSERT_EQ(rows[i].size(), rows[0].size());
        spans.push_back({static_cast<DeviceId>(std::stoul(rows[i][0])),
                         static_cast<TaskId>(std::stoul(rows[i][3])),
                         static_cast<uint32_t>(std::stoul(rows[i][8])),
                         ParseSeconds(rows[i][10]),
                         ParseSeconds(rows[i][11])});
    }
    EXPECT_EQ(spans, run.timeline.spans);
    using Row = std::vector<std::string>;
    EXPECT_EQ(rows[1],
              (Row{"0",
                   "n0.gpu0",
                   "compute",
                   "0",
                   name,
                   "compute",
                   "",
                   "",
                   "0",
                   "0",
                   "0.000000000000",
                   "0.000000000001"}));
    EXPECT_EQ(rows[2],
              (Row{"1",
                   "x,y",
                   "communication",
                   "1",
                   "send",
                   "communication",
                   "send-recv",
                   "pipeline",
                   "1",
                   "100",
                   "0.999999999999",
                   "1.000000000000"}));
    EXPECT_EQ(rows[3][1], "\"");
    EXPECT_EQ(rows[3][2], ""); // a receive is on no stream
    EXPECT_EQ(rows[4][11], "9000000.000000000001");
}

TEST(Tables, SpanCsvOfManySpans)
{
    // More than one block of output.
    TestRun run(1, 5000);
    const TaskId compute = run.AddCompute(0);
    for (uint32_t mb = 0; mb < 5000; ++mb)
    {
        run.AddSpan(0, compute, mb, mb + 1, mb);
    }
    std::ostringstream out;
    WriteSpanCsv(run.Finish(), MakeTwoServers(), run.timeline, out);
    const auto rows = ParseCsv(out.str());
    ASSERT_EQ(rows.size(), 5001U);
    for (uint32_t mb = 0; mb < 5000; ++mb)
    {
        EXPECT_EQ(rows[mb + 1][8], std::to_string(mb));
    }
}

TEST(Tables, BusiestLinksInOrder)
{
    const Cluster cluster = MakeTwoServers(); // links: s0 - spine, two GPUs, s1 - spine, two GPUs
    const auto use = [](LinkId link, bool forward, int64_t busyPs) {
        LinkStatistics statistics;
        statistics.link = link;
        statistics.forward = forward;
        statistics.packets = 1;
        statistics.busyPs = busyPs;
        return statistics;
    };
    std::vector<LinkStatistics> links{use(0, true, 5),
                                      use(0, false, 50),
                                      use(1, true, 20),
                                      use(4, true, 20),
                                      use(4, false, 20),
                                      use(2, true, 0)};
    links[1].payloadBytes = 400;
    links[1].creditStallPs = 25;
    links[1].maxQueueBytes = 4096;
    LinkStatistics unused;
    unused.link = 5;
    links.push_back(unused);

    const auto all = BusiestLinks(cluster, links, 100, 100);
    std::vector<std::string> names;
    for (const LinkUse& link : all)
    {
        names.push_back(link.name);
    }
    EXPECT_EQ(names,
              (std::vector<std::string>{"spine -> s0",
                                        "n0.gpu0 -> s0",
                                        "n1.gpu0 -> s1",
                                        "s1 -> n1.gpu0",
                                        "s0 -> spine",
                                        "n0.gpu1 -> s0"}));
    EXPECT_EQ(all[0].link, 0U);
    EXPECT_FALSE(all[0].forward);
    EXPECT_EQ(all[0].technology, LinkTechnology::INFINIBAND);
    EXPECT_DOUBLE_EQ(all[0].utilisation, 0.5);
    EXPECT_DOUBLE_EQ(all[0].payloadBytesPerSecond, 4e12);
    EXPECT_DOUBLE_EQ(all[0].rateBytesPerSecond, 25e9);
    EXPECT_DOUBLE_EQ(all[0].creditStallShare, 0.25);
    EXPECT_EQ(all[0].maxQueueBytes, 4096U);
    EXPECT_DOUBLE_EQ(all[1].utilisation, 0.2);

    const auto two = BusiestLinks(cluster, links, 100, 2);
    ASSERT_EQ(two.size(), 2U);
    EXPECT_EQ(two[1].name, "n0.gpu0 -> s0");
    EXPECT_TRUE(BusiestLinks(cluster, links, 100, 0).empty());
    EXPECT_TRUE(BusiestLinks(cluster, {unused}, 0, 10).empty());
    ExpectContains(ErrorOf([&] { BusiestLinks(cluster, links, 0, 10); }),
                   "s0 -> spine carried something in a time of 0 ps");
    links[0].link = 6;
    ExpectContains(ErrorOf([&] { BusiestLinks(cluster, links, 1, 10); }), "has no link 6");
}

// Leaves are alike, a spine is another kind, and so is each way.
TEST(Tables, LinksOfAKindAreOne)
{
    Cluster cluster("leaf-spine");
    const auto add = [&](const std::string& name, VertexKind kind) {
        return cluster.AddVertex({name, kind, 0, 0, ""});
    };
    const VertexId spine = add("spine0", VertexKind::SWITCH);
    std::vector<LinkStatistics> links;
    for (int i = 0; i < 12; ++i) // numbers of one digit and of two
    {
        const VertexId leaf = add("leaf" + std::to_string(i), VertexKind::SWITCH);
        const VertexId nic = add("nic " + std::to_string(i), VertexKind::NIC);
        for (const VertexId end : {nic, spine})
        {
            LinkStatistics statistics;
            statistics.link =
                cluster.AddLink({end, leaf, LinkTechnology::INFINIBAND, 25e9, 0, {}, 1});
            statistics.packets = 1;
            statistics.busyPs = end == nic ? 10 : i;
            links.push_back(statistics);
        }
    }
    links[3].packets = 0; // spine0 -> leaf1 carries nothing
    links[5].forward = false;
    const auto kinds = FindLinkKinds(cluster, BusiestLinks(cluster, links, 100, 100));
    ASSERT_EQ(kinds.size(), 3U);
    EXPECT_EQ(kinds[0].busiest.name, "spine0 -> leaf11");
    EXPECT_EQ(kinds[0].links, 12U);
    EXPECT_EQ(kinds[0].usedLinks, 10U);
    EXPECT_NEAR(kinds[0].meanUtilisation, (66 - 1 - 2) / 1000.0, 1e-12);
    EXPECT_EQ(kinds[1].busiest.name, "nic 0 -> leaf0");
    EXPECT_EQ(kinds[1].usedLinks, 12U);
    EXPECT_NEAR(kinds[1].meanUtilisation, 0.1, 1e-12);
    EXPECT_EQ(kinds[2].busiest.name, "leaf2 -> spine0");
    EXPECT_EQ(kinds[2].usedLinks, 1U);
    EXPECT_TRUE(FindLinkKinds(cluster, {}).empty());
}

TEST(Tables, TableIsAligned)
{
    EXPECT_EQ(FormatTable({{"name", "n", "unit"}, {"a", "100", "s"}, {"b\xc3\xa9", "7"}, {}}, "lr"),
              "  name    n  unit\n"
              "  a     100     s\n"
              "  b\xc3\xa9      7\n"
              "\n");
    EXPECT_EQ(FormatTable({{"a", "", "b"}, {"aa", "", ""}}, "l", ""), "a     b\naa\n");
    EXPECT_EQ(FormatTable({}, "l"), "");
    ExpectContains(ErrorOf([] { FormatTable({}, "lx"); }), "alignment 'lx'");
    ExpectContains(ErrorOf([] { FormatTable({}, ""); }), "at least one");
}

TEST(Tables, Numbers)
{
    EXPECT_EQ(FormatTime(1.2345), "1.234 s");
    EXPECT_EQ(FormatTime(0.0567894), "56.789 ms");
    EXPECT_EQ(FormatTime(0.9999999), "1.000 s");
    EXPECT_EQ(FormatTime(12.3e-6), "12.300 us");
    EXPECT_EQ(FormatTime(1e-9), "1.000 ns");
    EXPECT_EQ(FormatTime(5e-12), "5 ps");
    EXPECT_EQ(FormatTime(0), "0 ps");
    EXPECT_EQ(FormatTime(123456), "123456.000 s");
    EXPECT_EQ(FormatBytes(80e9), "80.00 GB");
    EXPECT_EQ(FormatBytes(4096), "4.10 kB");
    EXPECT_EQ(FormatBytes(17), "17 B");
    EXPECT_EQ(FormatBytes(999999), "1.00 MB");
    EXPECT_EQ(FormatCount(0), "0");
    EXPECT_EQ(FormatCount(999), "999");
    EXPECT_EQ(FormatCount(1000), "1,000");
    EXPECT_EQ(FormatCount(12345678), "12,345,678");
    EXPECT_EQ(FormatCount(UINT64_MAX), "18,446,744,073,709,551,615");
    EXPECT_EQ(FormatNumber(-0.005, 2), "-0.01");
    EXPECT_EQ(FormatNumber(1e20, 1), "100000000000000000000.0");
    EXPECT_EQ(FormatPicoseconds(0, 12), "0.000000000000");
    EXPECT_EQ(FormatPicoseconds(1234567, 6), "1.234567");
    EXPECT_EQ(FormatPicoseconds(-5, 6), "-0.000005");
    EXPECT_EQ(FormatPicoseconds(42, 0), "42");
    EXPECT_EQ(FormatPicoseconds(INT64_MIN, 6), "-9223372036854.775808");
}

} // namespace proteus
} // namespace ns3
