/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "report-fixture.h"

#include "ns3/proteus-collective-use.h"
#include "ns3/proteus-hot-spots.h"
#include "ns3/proteus-link-series.h"
#include "ns3/proteus-result-series.h"
#include "ns3/proteus-result-tables.h"
#include "ns3/proteus-run-information.h"
#include "ns3/proteus-server-preset.h"
#include "ns3/proteus-tables.h"

#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::json;

/// @return what a function writes
template <typename F>
std::string
TextOf(F write)
{
    std::ostringstream out;
    write(out);
    return out.str();
}

/// A run of a collective on both servers, and of two inside them.
struct ResultRun : TestRun
{
    ResultRun()
        : TestRun(4)
    {
        const TaskId kernel = AddCompute(0, "a, \"b\"");
        const TaskId wide = AddCollective({0, 1, 2, 3}, Parallelism::DATA);
        const TaskId left = AddCollective({0, 1}, Parallelism::TENSOR);
        const TaskId right = AddCollective({2, 3}, Parallelism::TENSOR);
        const TaskId send = AddSend(1, 2);
        AddSpan(0, kernel, 100, 400);
        AddSpan(0, left, 0, 1000);
        AddSpan(1, left, 500, 1000);
        AddSpan(2, right, 0, 700);
        AddSpan(3, right, 0, 700);
        AddSpan(1, send, 1000, 3000);
        AddSpan(2, send, 800, 3000);
        for (DeviceId device = 0; device < 4; ++device)
        {
            AddSpan(device, wide, 3000 + 100 * device, 8000);
        }
        timeline.endPs = 10000;
        timeline.peakMemoryBytes = {1, 2, 3, 40000000000};
        timeline.memory[3] = {{0, 5}, {77, 40000000000}, {99, 4}};
        Finish();
    }

    /// @return the run as reports take it
    ReportedRun Report(std::size_t nResults = 1) const
    {
        ReportedRun run{graph, cluster, DataType::BF16, {}, {}};
        run.information.command = "proteus-run --graph='a b'";
        for (std::size_t i = 0; i < nResults; ++i)
        {
            RunRecord result;
            result.executor = i == 0 ? "packet" : "flow";
            result.timeline = timeline;
            result.links = links;
            run.results.push_back(result);
        }
        return run;
    }

    Cluster cluster{MakeTwoServers()};
    std::vector<LinkStatistics> links;
};

/// @return the table of this name
const Table&
FindTable(const std::vector<Table>& tables, const std::string& name)
{
    const auto found = std::find_if(tables.begin(), tables.end(), [&](const Table& table) {
        return table.name == name;
    });
    EXPECT_NE(found, tables.end()) << name;
    return *found;
}

/// @return a direction that was used
LinkUse
MakeUse(const Cluster& cluster, const std::string& from, const std::string& to)
{
    LinkUse use;
    const VertexId a = cluster.FindVertex(from);
    const VertexId b = cluster.FindVertex(to);
    for (LinkId id = 0; id < cluster.GetLinks().size(); ++id)
    {
        const Link& link = cluster.GetLinks()[id];
        if ((link.a == a && link.b == b) || (link.a == b && link.b == a))
        {
            use.link = id;
            use.forward = link.a == a;
            use.rateBytesPerSecond = link.bytesPerSecond;
        }
    }
    use.name = from + " -> " + to;
    use.packets = 1;
    return use;
}

} // namespace

// ----------------------------------------------------------------------------------- link series

TEST(LinkSeries, DoublesItsBinsAndKeepsTheMeans)
{
    LinkSeries series(2, 10, 4);
    double busy = 0;
    float longest = 0;
    for (int i = 0; i < 37; ++i)
    {
        const int64_t startPs = series.GetStartPs(series.GetNBins());
        const int64_t binPs = series.GetBinPs();
        LinkBin bin;
        bin.busyShare = static_cast<float>(i % 3) / 4;
        bin.queueBytes = static_cast<float>((i * 7) % 13);
        busy += bin.busyShare * static_cast<double>(binPs);
        longest = std::max(longest, bin.queueBytes);
        const bool isCoarser = series.Append(startPs + binPs, {LinkBin(), bin});
        EXPECT_EQ(series.GetBinPs(), isCoarser ? 2 * binPs : binPs);
        EXPECT_LT(series.GetNBins(), 4u);
    }
    const int64_t endPs = series.GetStartPs(series.GetNBins());
    series.Append(endPs + 3, {LinkBin(), {1, 0, 0, 0}});
    busy += 3;
    double found = 0;
    float foundLongest = 0;
    for (std::size_t i = 0; i < series.GetNBins(); ++i)
    {
        found += static_cast<double>(series.Get(1, i).busyShare) *
                 static_cast<double>(series.GetEndPs(i) - series.GetStartPs(i));
        foundLongest = std::max(foundLongest, series.Get(1, i).queueBytes);
    }
    EXPECT_NEAR(found, busy, 1e-3 * busy);
    EXPECT_EQ(foundLongest, longest);
    EXPECT_TRUE(series.IsUsed(1));
    EXPECT_FALSE(series.IsUsed(0));
    EXPECT_EQ(series.GetEndPs(series.GetNBins() - 1), endPs + 3);
    // After a short bin, which is the last one, nothing can follow.
    EXPECT_NE(ErrorOf([&] { series.Append(endPs + 6, {{}, {}}); }), "");
    EXPECT_NE(ErrorOf([&] { LinkSeries(1, 10, 8).Append(10, {}); }), "");
    EXPECT_NE(ErrorOf([&] { LinkSeries(1, 0, 8); }), "");
    EXPECT_EQ(LinkSeries::GetMostBins(100), 512u);
    EXPECT_LE(LinkSeries::GetMostBins(1000000) * 1000000 * sizeof(LinkBin), 300u << 20);
}

TEST(LinkSeries, SpreadsEvenlyAndLosesNothing)
{
    LinkSeries series(2, 10, 8);
    for (int64_t endPs : {10, 20, 30, 34})
    {
        series.Append(endPs, std::vector<LinkBin>(2));
    }
    const LinkDid later = series.Spread(1, 15, 45, {12, 6, 3, 9});
    const std::vector<double> parts{0, 5, 10, 4}; // of 30
    for (std::size_t bin = 0; bin < parts.size(); ++bin)
    {
        const auto binPs = static_cast<double>(series.GetEndPs(bin) - series.GetStartPs(bin));
        const LinkBin& cell = series.Get(1, bin);
        EXPECT_NEAR(cell.busyShare, 12 * parts[bin] / 30 / binPs, 1e-6);
        EXPECT_NEAR(cell.stalledShare, 6 * parts[bin] / 30 / binPs, 1e-6);
        EXPECT_NEAR(cell.pausedShare, 3 * parts[bin] / 30 / binPs, 1e-6);
        EXPECT_EQ(cell.queueBytes, bin == 0 ? 0 : 9);
    }
    EXPECT_NEAR(later.busyPs, 12 * 11.0 / 30, 1e-9);
    EXPECT_NEAR(later.stalledPs, 6 * 11.0 / 30, 1e-9);
    EXPECT_NEAR(later.pausedPs, 3 * 11.0 / 30, 1e-9);
    EXPECT_FALSE(series.IsUsed(0));
    EXPECT_EQ(series.Spread(0, 0, 30, {30, 0, 0, 0}).busyPs, 0);
    EXPECT_EQ(series.Spread(0, 50, 60, {7, 0, 0, 0}).busyPs, 7);
    EXPECT_FLOAT_EQ(series.Get(0, 1).busyShare, 1);
}

// ----------------------------------------------------------------------------------- collectives

TEST(CollectiveUse, BusBandwidthAsNcclTestsCountsIt)
{
    EXPECT_DOUBLE_EQ(GetBusBandwidthFactor(Collective::ALL_REDUCE, 8), 1.75);
    EXPECT_DOUBLE_EQ(GetBusBandwidthFactor(Collective::ALL_GATHER, 8), 0.875);
    EXPECT_DOUBLE_EQ(GetBusBandwidthFactor(Collective::REDUCE_SCATTER, 4), 0.75);
    EXPECT_DOUBLE_EQ(GetBusBandwidthFactor(Collective::ALL_TO_ALL, 2), 0.5);
    EXPECT_DOUBLE_EQ(GetBusBandwidthFactor(Collective::BROADCAST, 8), 1);
    EXPECT_DOUBLE_EQ(GetBusBandwidthFactor(Collective::SEND_RECV, 2), 1);
}

TEST(CollectiveUse, IdealIsWhatTheLinksOfAGroupAllow)
{
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    const Paths paths(cluster);
    const auto ideal = [&](Collective collective, const std::vector<uint32_t>& ranks) {
        std::vector<VertexId> vertices;
        for (uint32_t rank : ranks)
        {
            vertices.push_back(cluster.GetGpus()[rank]);
        }
        return GetIdealBusBandwidth(cluster, paths, collective, vertices);
    };
    const std::vector<uint32_t> all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    // 12 NVLinks of 25 GB/s; 8 NICs of 25 GB/s; one of them for one rank in each server.
    EXPECT_DOUBLE_EQ(ideal(Collective::ALL_REDUCE, {0, 1, 2, 3, 4, 5, 6, 7}), 300e9);
    EXPECT_DOUBLE_EQ(ideal(Collective::ALL_REDUCE, all), 200e9);
    EXPECT_DOUBLE_EQ(ideal(Collective::ALL_REDUCE, {3, 11}), 25e9);
    EXPECT_DOUBLE_EQ(ideal(Collective::SEND_RECV, {0, 9}), 25e9);
    EXPECT_DOUBLE_EQ(ideal(Collective::SEND_RECV, {0, 1}), 300e9);
    // Of what a rank sends, 8 of 15 parts leave the server, by a NIC of its own.
    EXPECT_NEAR(ideal(Collective::ALL_TO_ALL, all), 25e9 * 15 / 8, 1);
    EXPECT_EQ(ideal(Collective::ALL_REDUCE, {5}), 0);
    // Six NVLinks of 25 GB/s join a GPU of a DGX-1 with others; two with one of them.
    const Cluster mesh = MakeCluster("dgx1-v100", 1);
    const Paths meshPaths(mesh);
    EXPECT_DOUBLE_EQ(GetIdealBusBandwidth(mesh, meshPaths, Collective::ALL_REDUCE, mesh.GetGpus()),
                     150e9);
}

TEST(CollectiveUse, IdealIsBoundedByPcieTreesAndSockets)
{
    // Eight GPUs: two below each of four switches, two of these at each of two sockets, 6 GB/s
    // between these; a Gen3 x16 link has 15.75 GB/s.
    const Cluster cluster = MakeCluster("titanxp-pcie", 1);
    const Paths paths(cluster);
    const auto ideal = [&](Collective collective, const std::vector<uint32_t>& ranks) {
        std::vector<VertexId> vertices;
        for (uint32_t rank : ranks)
        {
            vertices.push_back(cluster.GetGpus()[rank]);
        }
        return GetIdealBusBandwidth(cluster, paths, collective, vertices);
    };
    const std::vector<uint32_t> all{0, 1, 2, 3, 4, 5, 6, 7};
    EXPECT_DOUBLE_EQ(ideal(Collective::ALL_REDUCE, all), 6e9);
    EXPECT_DOUBLE_EQ(ideal(Collective::BROADCAST, {0, 7}), 6e9);
    // Four ranks send to four others over the same link: 16 parts of 64, where each sends 7 of 8.
    EXPECT_DOUBLE_EQ(ideal(Collective::ALL_TO_ALL, all), 6e9 * 7 / 16);
    EXPECT_DOUBLE_EQ(ideal(Collective::GATHER, all), 6e9 * 7 / 4);
    // Below one socket copies go through its memory; there and below one switch nothing but the
    // slot counts.
    EXPECT_NEAR(ideal(Collective::ALL_REDUCE, {0, 1, 2, 3}), 15.75e9, 0.01e9);
    EXPECT_NEAR(ideal(Collective::ALL_REDUCE, {0, 1}), 15.75e9, 0.01e9);
}

TEST(CollectiveUse, IdealIsBoundedByWhatACpuForwards)
{
    constexpr double FORWARD = 9e9; // less than a slot of Gen3
    Cluster cluster("two GPUs");
    const auto gpus = AddServerVertices(cluster, 0, MakeGpu("V100-SXM2-16GB"), 2);
    const VertexId cpu = AddServerVertices(cluster, 0, MakeCpu(FORWARD), 1).front();
    AddPcieLink(cluster, gpus[0], cpu, 3);
    AddPcieLink(cluster, gpus[1], cpu, 3);
    EXPECT_DOUBLE_EQ(GetIdealBusBandwidth(cluster, Paths(cluster), Collective::ALL_REDUCE, gpus),
                     FORWARD);
}

TEST(CollectiveUse, TimesCountFromTheLastRank)
{
    const ResultRun run;
    const auto uses = SummarizeCollectives(run.graph, run.cluster, run.timeline);
    ASSERT_EQ(uses.size(), 3u);
    const CollectiveUse& wide = uses[0]; // 4 ranks, 4700 ps
    EXPECT_EQ(wide.parallelism, Parallelism::DATA);
    EXPECT_EQ(wide.ranks, 4u);
    EXPECT_EQ(wide.servers, 2u);
    EXPECT_EQ(wide.count, 1u);
    EXPECT_DOUBLE_EQ(wide.meanS, 4700e-12);
    EXPECT_DOUBLE_EQ(wide.waitS, 150e-12); // 300, 200, 100, 0
    EXPECT_DOUBLE_EQ(wide.algorithmBytesPerS, 4096 / 4700e-12);
    EXPECT_DOUBLE_EQ(wide.busBytesPerS, 1.5 * 4096 / 4700e-12);
    const CollectiveUse& send = uses[1]; // 2 ranks, 2000 ps; nobody waits for a posted receive
    EXPECT_EQ(send.collective, Collective::SEND_RECV);
    EXPECT_DOUBLE_EQ(send.meanS, 2000e-12);
    EXPECT_DOUBLE_EQ(send.waitS, 0);
    const CollectiveUse& tensor = uses[2]; // twice 2 ranks, 500 and 700 ps
    EXPECT_EQ(tensor.count, 2u);
    EXPECT_EQ(tensor.servers, 1u);
    EXPECT_DOUBLE_EQ(tensor.meanS, 600e-12);
    EXPECT_DOUBLE_EQ(tensor.leastS, 500e-12);
    EXPECT_DOUBLE_EQ(tensor.mostS, 700e-12);
    EXPECT_DOUBLE_EQ(tensor.waitS, 125e-12); // 500, 0, 0, 0
    EXPECT_DOUBLE_EQ(tensor.idealBytesPerS, 300e9);
}

TEST(CollectiveUse, RecordedTimesStandBesideSimulatedOnes)
{
    const ResultRun run;
    ReportedRun report = run.Report();
    report.information.recording.lengthS = 12500e-12; // the run takes 10000 ps
    RecordedCollective recorded;
    recorded.collective = Collective::ALL_REDUCE;
    recorded.parallelism = Parallelism::DATA;
    recorded.bytes = 4096;
    recorded.ranks = 4;
    recorded.meanS = 6000e-12;
    recorded.leastS = 5000e-12;
    report.information.recording.collectives = {recorded};
    const AnalyzedRun analyzed = Analyze(report);
    const auto& uses = analyzed.analyses[0].summary.collectives;
    ASSERT_EQ(uses.size(), 3u);
    EXPECT_DOUBLE_EQ(uses[0].recordedMeanS, 6000e-12);
    EXPECT_DOUBLE_EQ(uses[0].recordedLeastS, 5000e-12);
    EXPECT_EQ(uses[1].recordedLeastS, 0); // no such kind was recorded
    const std::string text =
        TextOf([&](std::ostream& out) { PrintSummary(analyzed.analyses[0].summary, out); });
    EXPECT_NE(text.find("12.500 ns: the simulation takes 20.0 % less\n"), std::string::npos)
        << text;
    EXPECT_NE(text.find("of ideal  recorded\n"), std::string::npos) << text;
    report.information.recording.isOneForAll = true;
    const std::string ofOne =
        TextOf([&](std::ostream& out) { PrintSummary(Analyze(report).analyses[0].summary, out); });
    EXPECT_NE(ofOne.find("20.0 % less; one rank stands for all, and waits for none\n"),
              std::string::npos)
        << ofOne;
    const ReportedRun bare = run.Report();
    const std::string without =
        TextOf([&](std::ostream& out) { PrintSummary(Analyze(bare).analyses[0].summary, out); });
    EXPECT_EQ(without.find("recorded"), std::string::npos) << without;
}

// ------------------------------------------------------------------------------------- hot spots

TEST(HotSpots, BlameIsFollowedToItsEnd)
{
    // left -> a -> b -> c -> right, and c -> d: c -> d is what everybody waits for.
    Cluster cluster("line");
    std::map<std::string, VertexId> ids;
    for (const std::string name : {"a", "b", "c"})
    {
        ids[name] = cluster.AddVertex({name, VertexKind::SWITCH, -1, 0, ""});
    }
    for (const std::string name : {"left", "right", "d"})
    {
        ids[name] = cluster.AddVertex(
            {name, VertexKind::GPU, static_cast<int32_t>(cluster.GetGpus().size()), 0, "B200"});
    }
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{"left", "a"},
                                                                                   {"a", "b"},
                                                                                   {"b", "c"},
                                                                                   {"c", "right"},
                                                                                   {"c", "d"}})
    {
        cluster.AddLink({ids[from], ids[to], LinkTechnology::ROCE, 10e9, 1000, {}, 1});
    }
    LinkUse left = MakeUse(cluster, "left", "a");
    left.pausedShare = 0.5;
    left.pauses = 12;
    left.utilisation = 0.2;
    LinkUse ab = MakeUse(cluster, "a", "b");
    ab.pausedShare = 0.6;
    ab.utilisation = 0.2;
    LinkUse bc = MakeUse(cluster, "b", "c");
    bc.creditStallShare = 0.4;
    bc.utilisation = 0.2;
    LinkUse right = MakeUse(cluster, "c", "right");
    right.utilisation = 0.1;
    LinkUse d = MakeUse(cluster, "c", "d");
    d.utilisation = 0.99;
    d.maxQueueBytes = 1000000; // 100 us
    const std::vector<LinkUse> uses{left, ab, bc, right, d};
    const auto spots = FindHotSpots(cluster, uses, 10);
    ASSERT_EQ(spots.size(), 4u);
    EXPECT_EQ(spots[0].link.name, "a -> b");
    EXPECT_EQ(spots[0].cause, "c -> d");
    EXPECT_EQ(spots[1].link.name, "left -> a");
    EXPECT_EQ(spots[1].cause, "c -> d");
    EXPECT_EQ(spots[2].cause, "c -> d");
    EXPECT_EQ(spots[3].link.name, "c -> d");
    EXPECT_DOUBLE_EQ(spots[3].drainS, 100e-6);
    EXPECT_EQ(DescribeCongestion(uses, spots),
              "a -> b is paused 60.0 % of the time (0 pauses), because of c -> d: up to 1.00 MB "
              "wait for it, 100.000 us at its 10.00 GB/s, while it is busy 99.0 % of the "
              "iteration.");
    EXPECT_EQ(FindHotSpots(cluster, uses, 1).size(), 1u);

    // What loses packets comes first: on the wire it is the link itself, at its end the queue
    // there.
    LinkUse lossy = MakeUse(cluster, "a", "b");
    lossy.packets = 1000;
    lossy.lostPackets = 2;
    const std::vector<LinkUse> losing{left, lossy, bc, right, d};
    const auto losses = FindHotSpots(cluster, losing, 10);
    EXPECT_EQ(losses.at(0).missingPackets, 2u);
    EXPECT_EQ(losses.at(0).cause, "a -> b");
    EXPECT_EQ(DescribeCongestion(losing, losses),
              "a -> b loses 2 of its 1,000 packets (0.200 %) on the wire.");
    LinkUse dropping = bc;
    dropping.packets = 100;
    dropping.droppedPackets = 50;
    const auto drops = FindHotSpots(cluster, {left, lossy, dropping, right, d}, 10);
    EXPECT_EQ(drops.at(0).cause, "c -> d");
    EXPECT_EQ(drops.at(0).sentence,
              "b -> c has 50 of its 100 packets (50.000 %) dropped at c, because of c -> d: up to "
              "1.00 MB wait for it, 100.000 us at its 10.00 GB/s, while it is busy 99.0 % of the "
              "iteration.");
    EXPECT_EQ(drops.at(1).link.name, "a -> b");
    NetworkStatistics network;
    network.repeated = 61;
    network.timeouts = 1;
    EXPECT_EQ(
        DescribeLosses(SumLosses({left, lossy, dropping, right, d}, network)),
        "50 packets dropped, 2 lost on the wire, 61 repeated, 1 timeout, 12 pauses, 0 marked");

    // A receiver that takes no more is to blame itself.
    LinkUse slow = right;
    slow.creditStallShare = 0.3;
    EXPECT_EQ(FindHotSpots(cluster, {slow}, 10).at(0).cause, "right");
    EXPECT_TRUE(FindHotSpots(cluster, {right}, 10).empty());
    EXPECT_EQ(DescribeCongestion({right}, {}).find("No link loses packets or holds others up"), 0u);
    // Two that wait for each other end the search, too.
    LinkUse ba = MakeUse(cluster, "b", "a");
    ba.pausedShare = 0.9;
    EXPECT_EQ(FindHotSpots(cluster, {ab, ba}, 10).size(), 2u);
}

// ---------------------------------------------------------------------------------------- tables

TEST(ResultTables, AddUpAndAreTheSameAsCsvAndJson)
{
    ResultRun run;
    LinkStatistics up;
    up.link = 1;
    up.packets = 3;
    up.payloadBytes = 300;
    up.busyPs = 2500;
    run.links = {up};
    for (std::size_t n : {1, 2})
    {
        const ReportedRun report = run.Report(n);
        const auto tables = MakeResultTables(Analyze(report));
        EXPECT_EQ(tables.size(), n == 1 ? 8u : 9u);
        const Json json =
            Json::parse(TextOf([&](std::ostream& out) { WriteTablesJson(tables, out); }));
        EXPECT_EQ(json["format"], "proteus-results");
        EXPECT_EQ(json["version"], 1);
        for (const Table& table : tables)
        {
            EXPECT_FALSE(table.rows.empty() && table.name != "hot_spots") << table.name;
            const Json& written = json["tables"][table.name];
            ASSERT_EQ(written["rows"].size(), table.rows.size());
            std::istringstream csv(TextOf([&](std::ostream& out) { WriteTableCsv(table, out); }));
            std::string line;
            std::getline(csv, line);
            std::string header;
            for (const Column& column : table.columns)
            {
                header += (header.empty() ? "" : ",") + column.name;
                EXPECT_FALSE(column.description.empty()) << table.name << "." << column.name;
            }
            EXPECT_EQ(line, header);
            std::size_t lines = 0;
            for (; std::getline(csv, line); ++lines)
            {
                ASSERT_EQ(table.rows.at(lines).size(), table.columns.size());
                // Numbers have the same text in both.
                const auto i = table.columns.size() - 1;
                const Json& last = written["rows"][lines][table.columns[i].name];
                if (last.is_number())
                {
                    EXPECT_EQ(line.substr(line.rfind(',') + 1), last.dump());
                }
            }
            EXPECT_EQ(lines, table.rows.size());
        }
        const Json& rows = json["tables"]["breakdown"]["rows"];
        ASSERT_EQ(rows.size(), 4 * n);
        for (const Json& row : rows)
        {
            double sum = 0;
            for (const char* part : {"compute_s",
                                     "exposed_communication_s",
                                     "waiting_for_peers_s",
                                     "bubble_s",
                                     "host_s",
                                     "idle_s"})
            {
                sum += row[part].get<double>();
            }
            EXPECT_NEAR(sum, row["iteration_s"].get<double>(), 1e-18);
        }
        // GPU 0 is in the left collective from 0 on, which its peer joins at 500, with 300 of a
        // kernel between, and in the wide one from 3000 on, which the last joins at 3300.
        EXPECT_DOUBLE_EQ(rows[0]["waiting_for_peers_s"], (500 - 300 + 300) * 1e-12);
        EXPECT_DOUBLE_EQ(rows[0]["exposed_communication_s"], (500 + 4700) * 1e-12);
        EXPECT_DOUBLE_EQ(rows[0]["bubble_s"], (2000 + 2000) * 1e-12);
        EXPECT_DOUBLE_EQ(rows[0]["activity_s"], 8000e-12);
        EXPECT_DOUBLE_EQ(rows[0]["idle_between_s"], 2000e-12);
        EXPECT_EQ(rows[0]["hidden_share"], 0.0); // the kernel hides waiting only
        EXPECT_EQ(json["tables"]["links"]["rows"][0]["busy_share"], 0.25);
        EXPECT_DOUBLE_EQ(json["tables"]["memory"]["rows"][3]["peak_s"], 77e-12);
        EXPECT_EQ(json["tables"]["memory"]["rows"][3]["used_share"], 0.5);
        if (n == 2)
        {
            EXPECT_EQ(json["tables"]["comparison"]["rows"][0]["flow_difference"], 0.0);
        }
    }
    EXPECT_NE(ErrorOf([&] { Analyze(run.Report(0)); }), "");
}

TEST(ResultTables, ColumnsAreDescribedWithoutARun)
{
    const ResultRun run;
    const ReportedRun report = run.Report(2);
    const auto made = MakeResultTables(Analyze(report));
    auto described = DescribeResultTables();
    described.erase(std::remove_if(described.begin(),
                                   described.end(),
                                   [](const Table& table) { return table.name == "iterations"; }),
                    described.end()); // of several; here there is one
    ASSERT_EQ(described.size(), made.size());
    const std::string text = TextOf([&](std::ostream& out) { PrintColumns(described, out); });
    for (std::size_t i = 0; i < made.size(); ++i)
    {
        EXPECT_TRUE(described[i].rows.empty());
        EXPECT_EQ(described[i].name, made[i].name);
        ASSERT_EQ(described[i].columns.size(), made[i].columns.size());
        EXPECT_NE(text.find(made[i].name + ": " + made[i].description), std::string::npos);
        for (std::size_t j = 0; j < made[i].columns.size(); ++j)
        {
            EXPECT_EQ(described[i].columns[j].name, made[i].columns[j].name);
            EXPECT_NE(text.find("  " + made[i].columns[j].name), std::string::npos);
            EXPECT_NE(text.find(made[i].columns[j].description), std::string::npos);
        }
    }
}

TEST(ResultTables, PhasesAndSeries)
{
    const ResultRun run;
    ReportedRun report = run.Report();
    const Table phases = FindTable(MakeResultTables(Analyze(report)), "phases");
    ASSERT_EQ(phases.rows.size(), 1u);
    EXPECT_EQ(std::get<std::string>(phases.rows[0][1]), "iteration");
    EXPECT_DOUBLE_EQ(std::get<double>(phases.rows[0][4]), 300e-12 / 4);
    EXPECT_DOUBLE_EQ(std::get<double>(phases.rows[0][7]), 8000e-12);

    LinkSeries series(2 * run.cluster.GetLinks().size(), 1000, 8);
    std::vector<LinkBin> bins(series.GetNDirections());
    bins[2] = {0.25, 0, 0.5, 4096};
    series.Append(1000, bins);
    bins[2] = {1, 0, 0, 0};
    series.Append(1500, bins);
    report.results[0].series = series;
    EXPECT_EQ(TextOf([&](std::ostream& out) { WriteLinkSeriesCsv(report, out); }),
              "executor,from,to,technology,start_s,end_s,busy_share,stalled_share,paused_share,"
              "queue_bytes\n"
              "packet,n0.gpu0,s0,nvlink,0.000000000000,0.000000001000,0.250000,0.000000,0.500000,"
              "4096\n"
              "packet,n0.gpu0,s0,nvlink,0.000000001000,0.000000001500,1.000000,0.000000,0.000000,"
              "0\n");
    EXPECT_EQ(TextOf([&](std::ostream& out) { WriteMemorySeriesCsv(report, out); }),
              "executor,device,gpu,time_s,bytes\n"
              "packet,3,n1.gpu1,0.000000000000,5\n"
              "packet,3,n1.gpu1,0.000000000077,40000000000\n"
              "packet,3,n1.gpu1,0.000000000099,4\n");
}

TEST(RunInformation, CommandCanBeTypedAgainAndInputsAreKnown)
{
    const TemporaryFolder folder;
    const std::string path = folder / "input.json";
    std::ofstream(path) << "123456789"; // whose CRC-32 is the check value of the catalogue
    const RunInformation information =
        DescribeRun({"/usr/bin/proteus-run", "--graph=" + path, "--model=it's a b", "--quiet"},
                    {"graph", "model"});
    EXPECT_EQ(information.program, "proteus-run");
    EXPECT_EQ(information.command.find("./ns3 run 'proteus-run --graph=" + path + " "), 0u)
        << information.command;
    EXPECT_EQ(MakeLauncherCommand({"build/ns3.37-proteus-gpt3-optimized"}),
              "./ns3 run proteus-gpt3");
    EXPECT_EQ(MakeLauncherCommand({"proteus-gpt3", "--model=125M", "--strategy={a b}"}),
              "./ns3 run \"proteus-gpt3 --model=125M '--strategy={a b}'\"");
    ASSERT_EQ(information.inputs.size(), 1u);
    EXPECT_EQ(information.inputs[0].path, path);
    EXPECT_EQ(information.inputs[0].bytes, 9u);
    EXPECT_EQ(information.inputs[0].crc32, 0xcbf43926u);
    EXPECT_EQ(std::count(information.version.begin(), information.version.end(), '.'), 2);
    EXPECT_EQ(information.ns3Version.find("3"), 0u);
}

TEST(RunResult, InputsAreFilesAndFoldersButNotOutputs)
{
    const TemporaryFolder folder;
    // The second file goes on where the first one ends.
    std::ofstream(folder / "trace.1.et") << "56789";
    std::ofstream(folder / "trace.0.et") << "1234";
    const std::string report = folder / "trace.1.et";
    const RunInformation information =
        DescribeRun({"run", "--trace=" + (folder / ""), "--report=" + report, "--graph=none.pb"},
                    {"trace", "graph"});
    ASSERT_EQ(information.inputs.size(), 1u);
    EXPECT_EQ(information.inputs[0].path, folder / "");
    EXPECT_EQ(information.inputs[0].files, 2u);
    EXPECT_EQ(information.inputs[0].bytes, 9u);
    EXPECT_EQ(information.inputs[0].crc32, 0xcbf43926u);
}

} // namespace proteus
} // namespace ns3
