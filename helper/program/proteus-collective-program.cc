/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-program.h"

#include "proteus-collective-cluster.h"
#include "proteus-collective-log.h"
#include "proteus-collective-sizes.h"
#include "proteus-collective-subject.h"
#include "proteus-command-line-program.h"
#include "proteus-executors.h"
#include "proteus-flow-expectation.h"
#include "proteus-measured-table.h"
#include "proteus-name-lists.h"
#include "proteus-programs.h"
#include "proteus-progress.h"
#include "proteus-same-choices.h"
#include "proteus-stop-signals.h"

#include "ns3/proteus-algorithm-traits.h"
#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-collective-comparison.h"
#include "ns3/proteus-executor-settings.h"
#include "ns3/proteus-nccl-tests.h"
#include "ns3/proteus-net-plugin.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-ranks.h"
#include "ns3/proteus-tables.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @throw std::invalid_argument for a root that the collective or the group does not have
void
CheckRoot(const CollectiveTest& test)
{
    const std::string option = "--root=" + std::to_string(test.root) + ": ";
    if (!HasRoot(test.collective) && test.root > 0)
    {
        throw std::invalid_argument(option + ToString(test.collective) + " has no root");
    }
    if (test.root >= test.groups[0].size())
    {
        throw std::invalid_argument(option + "must be a rank, 0 to " +
                                    std::to_string(test.groups[0].size() - 1));
    }
}

/// A schedule that is to be run, or null.
using Schedule = std::shared_ptr<const MscclSchedule>;

/// Adds what the graph of a collective does not express.
void
AddExtras(const CollectiveProgramOptions& options, const Schedule& schedule, CollectiveTest& test)
{
    if (schedule)
    {
        if (test.isBarrier || test.collective != schedule->collective)
        {
            throw std::invalid_argument("--collective=" + options.collective + ": " +
                                        options.msccl + " is of " + ToString(schedule->collective));
        }
        if (schedule->gpus.size() != test.groups[0].size())
        {
            throw std::invalid_argument(
                options.msccl + ": is for " + std::to_string(schedule->gpus.size()) +
                " ranks, and the group has " + std::to_string(test.groups[0].size()) +
                ": set --gpus, --nodes or --concurrent accordingly");
        }
        test.schedule = schedule;
        test.root = schedule->root;
    }
    if (!options.splits.empty())
    {
        const SplitTable table = LoadSplits(options.splits);
        if (test.collective != Collective::ALL_TO_ALL || test.schedule)
        {
            throw std::invalid_argument("--splits: only of --collective=all-to-all");
        }
        if (table.ranks != test.groups[0].size())
        {
            throw std::invalid_argument("--splits=" + options.splits + ": is for " +
                                        std::to_string(table.ranks) + " ranks, not for " +
                                        std::to_string(test.groups[0].size()));
        }
        test.splits = std::make_shared<const SplitTable>(table);
    }
    test.parameterServers = ToCount(options.parameterServers,
                                    "parameterServers",
                                    1,
                                    static_cast<int64_t>(test.groups[0].size()));
    if (test.parameterServers > 1 && !GetAlgorithmTraits(test.algorithm).hasParameterServers)
    {
        throw std::invalid_argument("--parameterServers: only of --algorithm=" + ListServed());
    }
}

CollectiveTest
MakeTest(const CollectiveProgramOptions& options, const Schedule& schedule, const Cluster& cluster)
{
    CollectiveTest test;
    const std::string name = FindCollectiveName(options.collective);
    test.isBarrier = name == "barrier";
    test.collective = test.isBarrier ? Collective::ALL_REDUCE : CollectiveFromString(name);
    if (options.grouping != "stride" && options.grouping != "block")
    {
        throw std::invalid_argument("--grouping=" + options.grouping + ": must be stride or block");
    }
    test.groups = MakeTestGroups(cluster,
                                 ToCount(options.gpus, "gpus", 0),
                                 ToCount(options.concurrent, "concurrent", 1),
                                 options.grouping == "stride");
    test.root = ToCount(options.root, "root", 0);
    NcclOptions nccl = options.nccl;
    nccl.SetDefaults();
    static_cast<CollectiveSettings&>(test) = ReadCollectiveSettings();
    for (const std::string& line : FindUnlikeNccl(test, nccl.ncclVersion, cluster))
    {
        Warn(line);
    }
    for (const std::string& line : FindUntuned(test.collective, test.ncclVariables))
    {
        Warn(line);
    }
    test.launchMode = options.launchMode;
    if (!(options.pluginLatency >= 0) || options.pluginLatency > 1e6)
    {
        throw std::invalid_argument("--pluginLatency: must be 0 to 1e6 microseconds");
    }
    if (options.pluginLatency > 0)
    {
        test.pluginLatencyPs = std::llround(options.pluginLatency * 1e6);
    }
    test.costs = options.costs.Load();
    test.executor = options.executor;
    test.iterations = ToCount(options.iterations, "iterations", 0);
    test.stream = ToCount(options.stream, "stream", 0);
    if (!test.algorithm.empty())
    {
        FindAlgorithm(test.collective, test.algorithm); // throws if there is none
    }
    CheckRoot(test);
    AddExtras(options, schedule, test);
    test.communicator = FindCommunicator(cluster, test);
    return test;
}

/// @return what stands above and below the rows
Table
MakeSummary(const CollectiveProgramOptions& options,
            const Cluster& cluster,
            const CollectiveTest& test,
            const std::vector<CollectiveRow>& rows)
{
    constexpr double GIGA = 1e9;
    return MakeQuantityTable(
        "summary",
        "Summary",
        "What was run, and the mean.",
        {{"cluster", cluster.GetName(), ""},
         {"collective", std::string(test.isBarrier ? "barrier" : ToString(test.collective)), ""},
         {"groups", uint64_t{test.groups.size()}, ""},
         {"ranks of a group", uint64_t{test.groups[0].size()}, ""},
         {"launch mode", std::string(options.launchMode), ""},
         {"executor", std::string(options.executor), ""},
         {"average bus bandwidth", GetMeanBusbwGBps(rows) * GIGA, "B/s"}});
}

/// Runs one size, with progress. @return a row per group
std::vector<CollectiveRow>
RunSize(const CollectiveProgramOptions& options,
        const Cluster& cluster,
        const CollectiveTest& test,
        uint64_t bytes)
{
    const std::string size = FormatBytes(static_cast<double>(bytes));
    ProgressLine progress(size);
    try
    {
        return RunCollective(cluster, test, bytes, [&](const RunProgress& state) {
            if (!options.quiet)
            {
                progress.Update(state);
            }
        });
    }
    catch (const RunStopped&)
    {
        throw;
    }
    catch (const std::runtime_error& error)
    {
        if (options.msccl.empty() || GetNRanks() > 1) // of ranks it is said which one
        {
            throw;
        }
        throw std::runtime_error("--msccl=" + options.msccl + ": " + size + ": " + error.what());
    }
}

/// Runs all sizes, each printed as soon as it is done; before the first one nothing is printed, as
/// it may be refused. @return a row per size and group
std::vector<CollectiveRow>
RunSizes(const CollectiveProgramOptions& options,
         const Cluster& cluster,
         const CollectiveTest& test,
         const std::vector<CollectiveSize>& sizes)
{
    const bool hasGroups = test.groups.size() > 1;
    std::vector<CollectiveRow> rows;
    for (std::size_t i = 0; i < sizes.size(); ++i)
    {
        std::vector<CollectiveRow> result;
        try
        {
            ThrowIfStopped();
            std::optional<EndAtOnce> setUp;
            if (rows.empty())
            {
                setUp.emplace();
            }
            result = RunSize(options, cluster, test, sizes[i].bytes);
        }
        catch (const RunStopped&)
        {
            if (rows.empty())
            {
                throw;
            }
            std::cout << "# " << DescribeStop(i, sizes.size(), "sizes");
            break;
        }
        if (rows.empty())
        {
            PrintCollectiveSubject(options, cluster, test, std::cout);
            PrintCollectiveHead(hasGroups, test.schedule && test.schedule->inPlace, std::cout);
        }
        for (const CollectiveRow& row : result)
        {
            PrintCollectiveRow(row, hasGroups, std::cout);
            rows.push_back(row);
        }
        if (test.isBarrier)
        {
            break;
        }
    }
    PrintCollectiveFoot(rows, std::cout);
    return rows;
}

/// @param rows of one group @param sizes of them @return both side by side
CollectiveComparison
Compare(const CollectiveProgramOptions& options,
        const Cluster& cluster,
        const std::vector<CollectiveRow>& rows,
        const std::vector<CollectiveSize>& sizes)
{
    CollectiveComparison comparison;
    comparison.name = options.measured;
    comparison.system =
        "measured, and simulated on " + cluster.GetName() + DescribeApproximation(options.executor);
    for (std::size_t i = 0; i < rows.size(); ++i)
    {
        ComparedSize size;
        size.simulated = rows[i];
        size.simulated.bytes = sizes[i].bytes; // before the ranks shared it evenly
        size.measuredUs = sizes[i].measuredUs;
        comparison.sizes.push_back(size);
    }
    return comparison;
}

/// Draws bus bandwidths over sizes, of the first group.
void
WritePlot(const CollectiveProgramOptions& options,
          const Cluster& cluster,
          const std::vector<CollectiveRow>& rows,
          const std::vector<CollectiveSize>& sizes,
          std::ostream& out)
{
    CollectiveComparison comparison;
    if (options.measured.empty())
    {
        comparison.name = options.collective;
        comparison.system =
            "simulated on " + cluster.GetName() + DescribeApproximation(options.executor);
        for (const CollectiveRow& row : rows)
        {
            if (row.group == 0 && row.bytes > 0)
            {
                comparison.sizes.push_back({row, 0, 0});
            }
        }
    }
    else
    {
        comparison = Compare(options, cluster, rows, sizes);
    }
    WriteComparisonSvg(comparison, out);
}

/// @param table of the rows @param sizes with measured times, which get columns of their own
void
AddMeasured(Table& table, const std::vector<CollectiveSize>& sizes)
{
    constexpr double MICRO = 1e-6;
    table.columns.push_back({"measured_s", "s", "time in the log"});
    table.columns.push_back({"error_share", "share", "simulated time over measured time, less 1"});
    const auto time = static_cast<std::size_t>(
        std::find_if(table.columns.begin(),
                     table.columns.end(),
                     [](const Column& column) { return column.name == "time_s"; }) -
        table.columns.begin());
    for (std::size_t i = 0; i < table.rows.size(); ++i)
    {
        const double measuredS = sizes[i].measuredUs * MICRO;
        const double simulatedS = std::get<double>(table.rows[i][time]);
        table.rows[i].emplace_back(measuredS);
        Cell& error = table.rows[i].emplace_back(); // empty where nothing was measured
        if (measuredS > 0)
        {
            error = simulatedS / measuredS - 1;
        }
    }
}

/// @throw std::invalid_argument for options that do not go together, or a file that cannot be
/// written
void
Check(const CollectiveProgramOptions& options)
{
    for (const CommandLineText* path : {&options.csv, &options.measuredCsv})
    {
        if (!path->empty())
        {
            CheckWritable(*path);
        }
    }
    if (!FindNoPackets(options.executor).empty())
    {
        RequireOneProcess("--executor=" + options.executor,
                          "take --executor=" + CollectiveProgramOptions().executor);
    }
    options.tables.Check();
    options.plot.Check();
    if (options.measured.empty() && !options.measuredCsv.empty())
    {
        throw std::invalid_argument("--measuredCsv needs --measured=LOG");
    }
    if (!options.measured.empty() && (options.concurrent != 1 || options.collective == "barrier"))
    {
        throw std::invalid_argument("--measured: a log is of one group, and of sizes: leave "
                                    "--concurrent and barriers away");
    }
}

/// Names what was typed of NCCL, as options or as attributes, and changes nothing at the sizes that
/// were run.
/// @param typed options @param taken the same, with what a log says @param cluster that was run on
/// @param test that was run @param rows of it
void
WarnOfIdleChoices(const NcclOptions& typed,
                  const NcclOptions& taken,
                  const Cluster& cluster,
                  const CollectiveTest& test,
                  const std::vector<CollectiveRow>& rows)
{
    if (test.schedule || test.splits || test.parameterServers > 1)
    {
        return; // these make programs of their own
    }
    std::vector<uint64_t> sizes(rows.size());
    std::transform(rows.begin(), rows.end(), sizes.begin(), [](const auto& row) {
        return row.bytes;
    });
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end()); // of several groups
    const auto isIdle = [&](const auto member) {
        CollectiveTest without = test;
        without.*member = CollectiveTest().*member;
        return without.*member != test.*member && RunAlike(cluster, test, without, sizes);
    };
    const auto show = [&](const std::string& attribute, const auto member) {
        std::ostringstream text;
        text << "--ns3::proteus::PacketNetwork::" << attribute << '=' << test.*member;
        return text.str();
    };
    const std::string reason =
        " has no effect: the sizes that were run communicate alike without it";
    const auto look = [&](const std::string& option,
                          const std::string& attribute,
                          const auto of, // options
                          const auto member) {
        const bool isOfLog = typed.*of == NcclOptions().*of && taken.*of != NcclOptions().*of;
        if (!isOfLog && isIdle(member))
        {
            std::ostringstream text;
            text << "--" << option << '=' << typed.*of;
            Warn((typed.*of == NcclOptions().*of ? show(attribute, member) : text.str()) + reason);
        }
    };
    const auto lookAttribute = [&](const std::string& attribute, const auto member) {
        if (isIdle(member))
        {
            Warn(show(attribute, member) + reason);
        }
    };
    look("algorithm", "Algorithm", &NcclOptions::algorithm, &CollectiveTest::algorithm);
    look("protocol", "Protocol", &NcclOptions::protocol, &CollectiveTest::protocol);
    look("channels", "Channels", &NcclOptions::channels, &CollectiveTest::channels);
    look("ncclVersion", "NcclVersion", &NcclOptions::ncclVersion, &CollectiveTest::ncclVersion);
    if (typed.cpuVendor.empty() || FindSameChoices(cluster, typed.cpuVendor).empty())
    {
        look("cpuVendor", "CpuVendor", &NcclOptions::cpuVendor, &CollectiveTest::cpuVendor);
    }
    if (typed.FindIdle().empty())
    {
        look("nccl", "NcclVariables", &NcclOptions::variables, &CollectiveTest::ncclVariables);
    }
    lookAttribute("ChunkBytes", &CollectiveTest::chunkBytes);
    if (test.collective != Collective::SEND_RECV) // whose communicator the program knows
    {
        lookAttribute("CommunicatorRanks", &CollectiveTest::communicatorRanks);
        lookAttribute("CommunicatorServers", &CollectiveTest::communicatorServers);
        lookAttribute("CommunicatorChannels", &CollectiveTest::communicatorChannels);
    }
}

} // namespace

void
RunCollectiveProgram(const CollectiveProgramOptions& typed)
{
    Check(typed);
    const bool isMeasured = !typed.measured.empty();
    const NcclTestsTable log = isMeasured ? LoadNcclTests(typed.measured) : NcclTestsTable();
    CollectiveProgramOptions options = isMeasured ? TakeFromLog(typed, log) : typed;
    const Schedule schedule =
        options.msccl.empty() ? nullptr
                              : std::make_shared<const MscclSchedule>(LoadMscclXml(options.msccl));
    if (options.collective.empty())
    {
        options.collective = ToString(schedule ? schedule->collective : Collective::ALL_REDUCE);
    }
    if (options.launchMode.empty())
    {
        const std::string ofAttribute = ReadCollectiveSettings().launchMode;
        options.launchMode = ofAttribute == CollectiveSettings().launchMode
                                 ? CollectiveTest().launchMode
                                 : ofAttribute;
    }
    const std::vector<CollectiveSize> sizes =
        isMeasured ? ReadCollectiveSizes(options, log) : ListCollectiveSizes(options);
    const Cluster cluster = MakeCollectiveCluster(typed, options);
    WarnOfGpus(log, cluster, options.measured);
    CheckCollectiveSizes(sizes,
                         cluster,
                         options.measured.empty()
                             ? "--min and --max"
                             : "--measured=" + options.measured + ", and --min and --max");
    const CollectiveTest test = MakeTest(options, schedule, cluster);
    CheckLog(log, test, options.measured, typed.collective + log.collective);
    if (schedule)
    {
        WarnOfSizes(*schedule, sizes, options.msccl);
    }
    if (!options.measuredCsv.empty())
    {
        WriteFile(options.measuredCsv, [&](std::ostream& out) {
            WriteTableCsv(MakeMeasuredTable(options.measured, log, cluster, test), out);
        });
    }
    std::string setting; // of the largest size
    CollectiveTest heard = test;
    heard.hear = [&](const RunRecord& record) {
        setting = FindComparedSetting(cluster, record, FindChangedEngineSettings());
    };
    const std::vector<CollectiveRow> rows = RunSizes(options, cluster, heard, sizes);
    WarnOfIdleChoices(typed.nccl, options.nccl, cluster, test, rows);
    Table table = MakeCollectiveTable(rows);
    if (isMeasured)
    {
        std::cout << "\n";
        PrintComparison(Compare(options, cluster, rows, sizes), std::cout);
        AddMeasured(table, sizes);
    }
    options.plot.Write([&](std::ostream& out) { WritePlot(options, cluster, rows, sizes, out); });
    WriteCsvFile(options.csv, [&rows](std::ostream& out) { WriteCollectiveCsv(rows, out); });
    std::vector<std::string> notes = isMeasured ? std::vector<std::string>() // one is compared
                                                : DescribeLogs(options.workloads, cluster, test);
    const bool isAlone = test.groups.size() == 1 && !test.schedule && !test.splits;
    const std::string distance = DescribeFlowDistance(isAlone ? options.workloads : "",
                                                      test.executor,
                                                      "collectives",
                                                      setting);
    if (!distance.empty())
    {
        notes.push_back(distance);
    }
    for (const std::string& note : notes)
    {
        std::cout << "# Expect               : " << note << "\n";
    }
    options.tables.Write(
        {MakeSummary(options, cluster, test, rows), table, options.tables.MakeNotes(notes)});
}

namespace
{

/// The program.
class NcclTestsProgram : public CommandLineProgram
{
  public:
    using CommandLineProgram::CommandLineProgram;

  private:
    std::string GetName() const override
    {
        return "proteus-collective";
    }

    bool RunsOnRanks() const override
    {
        return true;
    }

    void AddTo(OptionList& command) override
    {
        m_options.AddTo(command);
        m_options.workloads = GetWorkloads();
    }

    const FabricFlags* GetFabric() const override
    {
        return &m_options.fabric;
    }

    std::function<Cluster(const FabricOptions&)> GetClusterMaker() const override
    {
        return [this](const FabricOptions& between) { return m_options.MakeCluster(between); };
    }

    std::vector<Table> DescribeTables() override
    {
        return {MakeCollectiveTable({}), MakeNoteTable()};
    }

    std::string FindNoPackets() override
    {
        return ns3::proteus::FindNoPackets(m_options.executor);
    }

    void Run() override
    {
        RunCollectiveProgram(m_options);
    }

    CollectiveProgramOptions m_options;
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeNcclTestsProgram(const std::string& workloads)
{
    return std::make_unique<NcclTestsProgram>(workloads);
}

} // namespace proteus
} // namespace ns3
