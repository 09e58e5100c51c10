/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-collective-comparison.h"
#include "ns3/proteus-collective-kernel-cost.h"
#include "ns3/proteus-collective-program.h"
#include "ns3/proteus-nccl-cost.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-validation.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>

using namespace ns3::proteus;

namespace
{

CollectiveRow
MakeRow(uint64_t bytes, double timeUs)
{
    CollectiveRow row;
    row.bytes = bytes;
    row.ranks = 8;
    row.timeUs = timeUs;
    row.algorithm = "ring";
    row.protocol = "LL128";
    row.channels = 24;
    return row;
}

ComparedSize
MakeSize(uint64_t bytes, double measuredUs, double simulatedUs, double modelUs)
{
    return {MakeRow(bytes, simulatedUs), measuredUs, modelUs};
}

} // namespace

TEST(CollectiveTable, BandwidthsAreThoseOfNcclTests)
{
    // One line of nccl-tests on eight A100: 1 MiB in 74.78 us is 14.02 and 24.54 GB/s.
    const CollectiveRow row = MakeRow(1048576, 74.78);
    EXPECT_NEAR(row.GetAlgbwGBps(), 14.02, 0.005);
    EXPECT_NEAR(row.GetBusbwGBps(), 24.54, 0.005);
    EXPECT_DOUBLE_EQ(GetBusBandwidthFactor(Collective::ALL_GATHER, 8), 0.875);
    EXPECT_DOUBLE_EQ(GetBusBandwidthFactor(Collective::ALL_TO_ALL, 16), 0.9375);
    EXPECT_DOUBLE_EQ(GetBusBandwidthFactor(Collective::SEND_RECV, 16), 1);
    EXPECT_DOUBLE_EQ(GetBusBandwidthFactor(Collective::BROADCAST, 4), 1);
}

TEST(CollectiveTable, CsvHasTheColumns)
{
    std::ostringstream out;
    WriteCollectiveCsv({MakeRow(1048576, 74.78)}, out);
    EXPECT_EQ(out.str(),
              "size_bytes,time_us,algbw_GBps,busbw_GBps,algorithm,protocol,channels\n"
              "1048576,74.780,14.0221,24.5388,ring,LL128,24\n");
}

TEST(CollectiveTable, TablesAreInSiUnits)
{
    const CollectiveRow row = MakeRow(1048576, 74.78);
    const Table table = MakeCollectiveTable({row, row});
    ASSERT_EQ(table.rows.size(), 2u);
    const auto get = [&table](const std::string& name) {
        for (std::size_t i = 0; i < table.columns.size(); ++i)
        {
            if (table.columns[i].name == name)
            {
                return table.rows[0].at(i);
            }
        }
        return Cell("there is no column " + name);
    };
    EXPECT_EQ(get("size_bytes"), Cell(uint64_t{1048576}));
    EXPECT_EQ(get("root"), Cell());
    EXPECT_DOUBLE_EQ(std::get<double>(get("time_s")), 74.78e-6);
    EXPECT_DOUBLE_EQ(std::get<double>(get("algbw_bytes_per_s")), 1048576 / 74.78e-6);
    EXPECT_DOUBLE_EQ(std::get<double>(get("busbw_bytes_per_s")), 1.75 * 1048576 / 74.78e-6);
    EXPECT_DOUBLE_EQ(GetMeanBusbwGBps({row, row}), row.GetBusbwGBps());
    EXPECT_EQ(GetMeanBusbwGBps({}), 0);
}

TEST(CollectiveTable, LinesStandUnderTheirHeads)
{
    std::ostringstream out;
    PrintCollectiveHead(false, false, out);
    PrintCollectiveRow(MakeRow(1048576, 74.78), false, out);
    std::istringstream lines(out.str());
    std::string units;
    std::string head;
    std::string row;
    std::getline(lines, units);
    std::getline(lines, head);
    std::getline(lines, units);
    std::getline(lines, row);
    for (const auto& [name, value] : {std::make_pair("size", "1048576"),
                                      std::make_pair("count", "262144"),
                                      std::make_pair("type", "float"),
                                      std::make_pair("redop", "sum"),
                                      std::make_pair("time", "74.78"),
                                      std::make_pair("busbw", "24.54")})
    {
        const std::string key = name;
        const std::string text = value;
        ASSERT_NE(head.find(key), std::string::npos) << key;
        ASSERT_NE(row.find(text), std::string::npos) << text;
        EXPECT_EQ(head.find(key) + key.size(), row.find(text) + text.size()) << key;
    }
}

TEST(CollectiveComparison, MediansAreOfTheRangesTheyName)
{
    CollectiveComparison comparison;
    comparison.sizes = {MakeSize(512, 10, 20, 10),        // below all ranges
                        MakeSize(1024, 10, 11, 10),       // small: 10 %
                        MakeSize(262144, 10, 13, 20),     // small and middle: 30 %
                        MakeSize(1 << 20, 100, 80, 50),   // large and middle: 20 %
                        MakeSize(64 << 20, 100, 99, 125), // large and middle: 1 %
                        MakeSize(128 << 20, 200, 190, 0)};
    const ComparisonErrors errors = GetErrors(comparison);
    EXPECT_NEAR(errors.small, 0.2, 1e-12);
    EXPECT_NEAR(errors.large, 0.05, 1e-12);
    EXPECT_NEAR(errors.middle, 0.2, 1e-12);
    EXPECT_NEAR(errors.model, 0.5, 1e-12);
    EXPECT_NEAR(errors.GetPeakError(), 200.0 / 190 - 1, 1e-12);
    EXPECT_LT(GetErrors(CollectiveComparison()).small, 0);
}

TEST(CollectiveComparison, SummaryMarksWhatMisses)
{
    CollectiveComparison good;
    good.name = "good";
    good.sizes = {MakeSize(1 << 20, 100, 101, 50)};
    CollectiveComparison bad = good;
    bad.name = "bad";
    bad.note = "because";
    bad.sizes = {MakeSize(1 << 20, 100, 150, 50)};
    std::ostringstream out;
    PrintComparisonSummary({good, bad}, out);
    std::istringstream lines(out.str());
    int found = 0;
    for (std::string line; std::getline(lines, line);)
    {
        if (line.rfind("  good", 0) == 0)
        {
            EXPECT_EQ(line.find('*'), std::string::npos) << line;
            ++found;
        }
        if (line.rfind("  bad", 0) == 0)
        {
            EXPECT_EQ(std::count(line.begin(), line.end(), '*'), 3) << line;
            ++found;
        }
    }
    EXPECT_EQ(found, 2);
    EXPECT_NE(out.str().find("bad: because"), std::string::npos);
}

TEST(CollectiveComparison, PlotIsBalancedXmlWithAllPoints)
{
    CollectiveComparison comparison;
    comparison.name = "a <b> & c";
    comparison.system = "8 GPUs";
    for (int i = 10; i < 30; ++i)
    {
        comparison.sizes.push_back(MakeSize(uint64_t{1} << i, 10.0 * i, 11.0 * i, 0));
    }
    std::ostringstream out;
    WriteComparisonSvg(comparison, out);
    const std::string svg = out.str();
    std::size_t circles = 0;
    for (std::size_t at = svg.find("<circle"); at != std::string::npos;
         at = svg.find("<circle", at + 1))
    {
        ++circles;
    }
    EXPECT_EQ(circles, 21u); // and one in the legend
    EXPECT_NE(svg.find("a &lt;b&gt; &amp; c"), std::string::npos);
    EXPECT_NE(svg.find("bus bandwidth (GB/s)"), std::string::npos);
    EXPECT_NE(svg.find("prefers-color-scheme: dark"), std::string::npos);
    EXPECT_NE(svg.find("1 MiB"), std::string::npos);
    for (const char* tag : {"svg", "text", "style", "title"})
    {
        const auto count = [&](const std::string& what) {
            std::size_t n = 0;
            for (std::size_t at = svg.find(what); at != std::string::npos;
                 at = svg.find(what, at + 1))
            {
                ++n;
            }
            return n;
        };
        EXPECT_EQ(count("<" + std::string(tag) + " ") + count("<" + std::string(tag) + ">"),
                  count("</" + std::string(tag) + ">"))
            << tag;
    }
}

TEST(CollectiveProgram, SizesAreWrittenAsForNcclTests)
{
    EXPECT_EQ(ParseSize("8", "min"), 8u);
    EXPECT_EQ(ParseSize("512K", "min"), 512u << 10);
    EXPECT_EQ(ParseSize("1.5M", "min"), 3u << 19);
    EXPECT_EQ(ParseSize("2GiB", "max"), uint64_t{2} << 30);
    // To nccl-tests 4GB is 4G, but GB is 1e9 bytes everywhere else.
    for (const char* wrong : {"", "x", "-1", "0", "8Q", "8 M", "1e99", "8MM", "4GB", "4kB"})
    {
        EXPECT_THROW(ParseSize(wrong, "min"), std::invalid_argument) << wrong;
    }
}

TEST(CollectiveProgram, GroupsShareTheGpus)
{
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    const auto strided = MakeTestGroups(cluster, 0, 8, true);
    ASSERT_EQ(strided.size(), 8u);
    EXPECT_EQ(strided[3], (std::vector<DeviceId>{3, 11}));
    const auto blocks = MakeTestGroups(cluster, 8, 2, false);
    EXPECT_EQ(blocks[1], (std::vector<DeviceId>{8, 9, 10, 11})); // four from each server
    EXPECT_THROW(MakeTestGroups(cluster, 17, 1, true), std::invalid_argument);
    EXPECT_THROW(MakeTestGroups(cluster, 16, 16, true), std::invalid_argument);
    EXPECT_THROW(MakeTestGroups(cluster, 16, 3, true), std::invalid_argument);
}

TEST(MeasuredTables, AllCanBeRead)
{
    const std::string directory = PROTEUS_SOURCE_DIR "/workloads/measurements";
    const auto tables = LoadMeasuredTables(directory);
    EXPECT_EQ(tables.size(), 19u);
    for (const MeasuredTable& table : tables)
    {
        EXPECT_TRUE(std::ifstream(directory + "/" + table.file).good()) << table.file;
        EXPECT_TRUE(table.launch == "one-process" || table.launch == "process-per-gpu")
            << table.file;
        EXPECT_FALSE(table.cluster.empty()) << table.file;
    }
}

TEST(MeasuredTables, VersionsTakeWhatTheTimesShow)
{
    // Sizes at which measured times of these logs step from one algorithm or protocol to the next.
    struct Step
    {
        const char* file;
        Collective collective; // of the same log
        uint64_t bytes;
        NcclAlgorithm algorithm;
        NcclProtocol protocol;
    };

    const auto tables = LoadMeasuredTables(PROTEUS_SOURCE_DIR "/workloads/measurements");
    for (const Step& step : {Step{"2-x-h100-16-all-reduce.csv",
                                  Collective::ALL_REDUCE,
                                  512 << 10,
                                  NcclAlgorithm::NVLS_TREE,
                                  NcclProtocol::SIMPLE},
                             Step{"a100-8-all-reduce.csv",
                                  Collective::ALL_REDUCE,
                                  16 << 20,
                                  NcclAlgorithm::RING,
                                  NcclProtocol::LL128},
                             Step{"dgx2-12-all-reduce.csv",
                                  Collective::BROADCAST,
                                  2 << 20,
                                  NcclAlgorithm::RING,
                                  NcclProtocol::LL128}})
    {
        const auto table =
            std::find_if(tables.begin(), tables.end(), [&](const MeasuredTable& other) {
                return other.file == step.file;
            });
        ASSERT_NE(table, tables.end()) << step.file;
        const Cluster cluster = MakeCluster(table->cluster, table->nodes);
        const Paths paths(cluster);
        CollectivePreferences preferences;
        preferences.ncclVersion = table->ncclVersion;
        const CollectiveChooser chooser(cluster, paths, preferences);
        const auto& gpus = cluster.GetGpus();
        const NcclCostModel model(chooser.MakeSystem({gpus.begin(), gpus.begin() + table->gpus}));
        const auto choice = model.Choose(step.collective, step.bytes);
        EXPECT_EQ(choice.algorithm, step.algorithm) << step.file;
        EXPECT_EQ(choice.protocol, step.protocol) << step.file;
    }
}

TEST(CollectiveKernelCost, AdmitsTheRatesThatLinksCarry)
{
    // Thread blocks of all channels together must not be slower than measured bus bandwidths.
    struct Measured
    {
        uint32_t computeCapability;
        uint32_t channels;
        double busbw;
    };

    for (const Measured& measured :
         {Measured{70, 12, 134e9}, Measured{80, 24, 235e9}, Measured{100, 32, 663e9}})
    {
        const CollectiveKernelCost& cost = GetCollectiveKernelCost(measured.computeCapability);
        EXPECT_GE(cost.Get(HopKind::NVLINK, NcclProtocol::SIMPLE).blockBytesPerSecond *
                      measured.channels,
                  measured.busbw)
            << measured.computeCapability;
        EXPECT_LT(cost.GetKernelPs(NcclProtocol::LL), cost.GetKernelPs(NcclProtocol::LL128));
    }
}
