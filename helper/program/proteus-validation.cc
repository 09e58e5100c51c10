/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-validation.h"

#include "proteus-name-lists.h"
#include "proteus-nccl-options.h"
#include "proteus-stop-signals.h"

#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-collective-use.h"
#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-launch-mode.h"
#include "ns3/proteus-nccl-releases.h"
#include "ns3/proteus-nccl-tests.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-tables.h"
#include "ns3/proteus-text-reader.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint64_t MOST_BYTES = uint64_t{1} << 50; //!< of a size
constexpr uint64_t MOST_CHANNELS = 64;
constexpr double MOST_NUMBER = 1e15; //!< of a time or bandwidth

/// @param line of a CSV file without quotes @return its fields
std::vector<std::string>
SplitLine(const std::string& line)
{
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, ',');)
    {
        fields.push_back(field);
    }
    if (!line.empty() && line.back() == ',')
    {
        fields.emplace_back();
    }
    return fields;
}

/// A CSV file whose first line names the columns.
class CsvTable
{
  public:
    explicit CsvTable(const std::string& path)
        : m_path(path),
          m_in(path)
    {
        std::string head;
        m_in.ReadLine(head);
        m_names = SplitLine(head);
        std::set<std::string> names;
        for (const std::string& name : m_names)
        {
            if (!names.insert(name).second)
            {
                Fail("the column " + QuotedText(name) + " is there twice");
            }
        }
    }

    /// @return whether there is another line, now the present one
    bool Next()
    {
        std::string line;
        do
        {
            if (!m_in.ReadLine(line))
            {
                return false;
            }
        } while (line.empty());
        const auto fields = SplitLine(line);
        if (fields.size() != m_names.size())
        {
            Fail("has " + std::to_string(fields.size()) + " fields instead of " +
                 std::to_string(m_names.size()));
        }
        for (std::size_t i = 0; i < fields.size(); ++i)
        {
            m_line[m_names[i]] = fields[i];
        }
        return true;
    }

    /// @param name of a column @return whether there is one
    bool Has(const std::string& name) const
    {
        return std::find(m_names.begin(), m_names.end(), name) != m_names.end();
    }

    /// @param name of a column @return the field of the present line
    const std::string& Get(const std::string& name) const
    {
        const auto found = m_line.find(name);
        if (found == m_line.end())
        {
            throw std::invalid_argument(m_path + ":1: there is no column " + name + ", but " +
                                        ShownName(ListNames(m_names), 200) +
                                        "; columns are separated by commas, without spaces");
        }
        return found->second;
    }

    /// Names the columns that nobody reads. @param known those that are read, or need not be
    void WarnOfOthers(const std::set<std::string>& known) const
    {
        for (const std::string& name : m_names)
        {
            if (known.count(name) == 0)
            {
                Warn(m_path + ":1: the column " + QuotedText(name) + " is not read");
            }
        }
    }

    /// @param name of a column @return its number, 0 or more
    double GetAmount(const std::string& name) const
    {
        return m_in.ToNumber(Get(name), name, MOST_NUMBER);
    }

    /// @param name of a column @return its number, above 0
    double GetNumber(const std::string& name) const
    {
        const double value = GetAmount(name);
        if (value == 0)
        {
            Fail(name + " must be above 0");
        }
        return value;
    }

    /// @param name of a column @param most largest number @return its whole number, from 1 on
    uint64_t GetWhole(const std::string& name, uint64_t most) const
    {
        const uint64_t value = m_in.ToUnsigned(Get(name), name, most);
        if (value == 0)
        {
            Fail(name + " must be at least 1");
        }
        return value;
    }

    /// @param make what is made of the present line @return it
    /// @throw std::invalid_argument with the place
    template <typename Make>
    auto Check(const Make& make) const
    {
        return ReadNamed(m_path + ":" + std::to_string(m_in.GetLine()), make);
    }

    /// @param cause what is wrong in the line @throw std::invalid_argument with the place
    [[noreturn]] void Fail(const std::string& cause) const
    {
        m_in.Fail(cause);
    }

  private:
    std::string m_path;
    TextReader m_in;
    std::vector<std::string> m_names;
    std::map<std::string, std::string> m_line;
};

/// @param table a size belongs to @param size of it @return its bus bandwidth
double
GetBusbwGBps(const MeasuredTable& table, const MeasuredSize& size)
{
    return static_cast<double>(size.bytes) / size.us * 1e-3 *
           GetBusBandwidthFactor(table.collective, table.gpus);
}

/// @param csv at a size @param table it belongs to @param size of the line
/// @throw std::invalid_argument if its bus bandwidth, where there is one, says another time
void
CheckBandwidth(const CsvTable& csv, const MeasuredTable& table, const MeasuredSize& size)
{
    constexpr double SHARE = 0.02;       // time and bandwidth are rounded each
    constexpr double DECIMALS_GB = 0.01; // as nccl-tests prints it
    const std::string column = "busbw_GBps";
    if (!csv.Has(column) || csv.Get(column).empty())
    {
        return;
    }
    const double written = csv.GetAmount(column);
    const double computed = GetBusbwGBps(table, size);
    if (std::abs(written - computed) > SHARE * computed + DECIMALS_GB)
    {
        csv.Fail("size_bytes, time_us (in microseconds) and the collective make a " + column +
                 " of " + FormatNumber(computed, 4) + ", and it is " + csv.Get(column));
    }
}

/// @param table that is measured @param sizes of it @param directory of tables.csv
/// @throw std::invalid_argument if the highest bus bandwidth of them is not that of tables.csv
void
CheckPeak(const MeasuredTable& table,
          const std::vector<MeasuredSize>& sizes,
          const std::string& directory)
{
    constexpr double SHARE = 0.02;       // times are rounded
    constexpr double DECIMALS_GB = 0.06; // one behind the point
    if (!table.peakBusbwGBps)
    {
        return;
    }
    double peak = 0;
    for (const MeasuredSize& size : sizes)
    {
        peak = std::max(peak, GetBusbwGBps(table, size));
    }
    if (std::abs(peak - *table.peakBusbwGBps) > SHARE * peak + DECIMALS_GB)
    {
        throw std::invalid_argument(directory + "/" + table.file +
                                    ": the highest bus bandwidth of its sizes is " +
                                    FormatNumber(peak, 1) + " GB/s, and in tables.csv " +
                                    FormatNumber(*table.peakBusbwGBps, 1) +
                                    ": one of the two is in another unit, or is not of this run");
    }
}

/// @param table with the sizes @param directory of it @return them
std::vector<MeasuredSize>
LoadSizes(const MeasuredTable& table, const std::string& directory)
{
    CsvTable csv(directory + "/" + table.file);
    std::vector<MeasuredSize> sizes;
    std::set<uint64_t> known;
    const auto compare = [&csv](const char* column, const std::string& expected) {
        if (csv.Has(column) && csv.Get(column) != expected)
        {
            csv.Fail(std::string(column) + " is " + csv.Get(column) + ", and in tables.csv " +
                     expected);
        }
    };
    while (csv.Next())
    {
        compare("nodes", std::to_string(table.nodes));
        compare("gpus", std::to_string(table.gpus));
        compare("collective", ToString(table.collective));
        sizes.push_back({csv.GetWhole("size_bytes", MOST_BYTES), csv.GetNumber("time_us")});
        CheckBandwidth(csv, table, sizes.back());
        if (!known.insert(sizes.back().bytes).second)
        {
            csv.Fail("the size " + std::to_string(sizes.back().bytes) + " is there twice");
        }
    }
    if (sizes.empty() || (table.sizes != 0 && sizes.size() != table.sizes))
    {
        throw std::invalid_argument(directory + "/" + table.file + ": has " +
                                    FormatThings(sizes.size(), "size") + ", and " +
                                    (table.sizes == 0 ? "must have some"
                                                      : std::to_string(table.sizes) +
                                                            " in tables.csv: it was cut off, or "
                                                            "the number there is wrong"));
    }
    CheckPeak(table, sizes, directory);
    csv.WarnOfOthers(
        {"system", "nodes", "gpus", "collective", "size_bytes", "time_us", "busbw_GBps", "source"});
    return sizes;
}

/// @param csv at a line of tables.csv @return what it says
MeasuredTable
ReadTable(const CsvTable& csv)
{
    MeasuredTable table;
    table.file = csv.Get("file");
    table.cluster = csv.Get("cluster");
    table.system = csv.Get("system");
    table.nodes = static_cast<uint32_t>(csv.GetWhole("nodes", MAX_DEVICES));
    table.gpus = static_cast<uint32_t>(csv.GetWhole("gpus", MAX_DEVICES));
    table.collective = csv.Check([&] { return CollectiveFromString(csv.Get("collective")); });
    table.launch = csv.Get("launch");
    csv.Check([&] { return LaunchModeFromString(table.launch); });
    table.network = csv.Get("network");
    if (!csv.Get("nccl_version").empty())
    {
        table.ncclVersion = csv.Check([&] { return ParseNcclVersion(csv.Get("nccl_version")); });
        table.unlikeRelease = DescribeUnlikeRelease(csv.Get("nccl_version"));
    }
    if (!csv.Get("network_channels").empty())
    {
        table.networkChannels =
            static_cast<uint32_t>(csv.GetWhole("network_channels", MOST_CHANNELS));
    }
    if (!csv.Get("plugin_latency_us").empty())
    {
        table.pluginLatencyUs = csv.GetNumber("plugin_latency_us");
    }
    if (csv.Has("sizes") && !csv.Get("sizes").empty())
    {
        table.sizes = csv.GetWhole("sizes", MOST_BYTES);
    }
    if (csv.Has("peak_busbw_GBps") && !csv.Get("peak_busbw_GBps").empty())
    {
        table.peakBusbwGBps = csv.GetNumber("peak_busbw_GBps");
    }
    table.note = csv.Get("note");
    return table;
}

/// @param table that is measured @param directory of tables.csv @return the cluster to simulate
Cluster
LoadTableCluster(const MeasuredTable& table, const std::string& directory)
{
    const bool isFile = table.cluster.find('.') != std::string::npos;
    Cluster cluster = isFile ? LoadCluster(directory + "/" + table.cluster, 0, FabricOptions())
                             : LoadCluster(table.cluster, table.nodes, FabricOptions());
    if (cluster.GetNServers() != table.nodes || cluster.GetGpus().size() < table.gpus)
    {
        throw std::invalid_argument(
            "the cluster has " + FormatThings(cluster.GetNServers(), "server") + " with " +
            FormatThings(cluster.GetGpus().size(), "GPU") + ", and the table is of " +
            std::to_string(table.nodes) + " with " + std::to_string(table.gpus));
    }
    return cluster;
}

/// Names what a table says of a network that its run does not come to, and of a version of NCCL
/// that is not known.
/// @param table that is measured @param cluster of it @param directory of tables.csv
void
WarnOfIdle(const MeasuredTable& table, const Cluster& cluster, const std::string& directory)
{
    const auto warn = [&](const std::string& column, const std::string& cause) {
        Warn(directory + "/tables.csv: " + table.file + ": " + column + " has no effect: " + cause);
    };
    if (table.ncclVersion > NEWEST_NCCL)
    {
        warn("nccl_version",
             "the newest version that is known is taken, " + FormatNcclVersion(NEWEST_NCCL));
    }
    if (!table.unlikeRelease.empty())
    {
        Warn(directory + "/tables.csv: " + table.file + ": " + table.unlikeRelease);
    }
    const std::string noNetwork = FindNoNetwork(cluster);
    if (table.pluginLatencyUs > 0 && !noNetwork.empty())
    {
        warn("plugin_latency_us", noNetwork);
    }
    const std::string none = noNetwork.empty() ? FindNoMessages(table.collective) : noNetwork;
    if (table.networkChannels > 0 && !none.empty())
    {
        warn("network_channels", none);
    }
}

} // namespace

std::vector<MeasuredTable>
LoadMeasuredTables(const std::string& directory)
{
    const std::string path = directory + "/tables.csv";
    CsvTable csv(path);
    std::vector<MeasuredTable> tables;
    std::set<std::string> files;
    while (csv.Next())
    {
        tables.push_back(ReadTable(csv));
        if (!files.insert(tables.back().file).second)
        {
            csv.Fail("the table " + QuotedText(tables.back().file) + " is there twice");
        }
    }
    if (tables.empty())
    {
        throw std::invalid_argument(path + ": names no table");
    }
    csv.WarnOfOthers({"file",
                      "cluster",
                      "system",
                      "nodes",
                      "gpus",
                      "collective",
                      "launch",
                      "nccl_version",
                      "plugin_latency_us",
                      "network_channels",
                      "network",
                      "sizes",
                      "peak_busbw_GBps",
                      "source",
                      "note"});
    return tables;
}

LoadedTable
LoadTable(const MeasuredTable& table, const std::string& directory)
{
    LoadedTable loaded;
    loaded.table = table;
    if (table.cluster.empty())
    {
        return loaded;
    }
    loaded.sizes = LoadSizes(table, directory);
    ReadNamed(directory + "/tables.csv: " + table.file, [&] {
        loaded.cluster = LoadTableCluster(table, directory);
        loaded.groups = MakeTestGroups(*loaded.cluster, table.gpus, 1, false);
        return 0;
    });
    WarnOfIdle(table, *loaded.cluster, directory);
    return loaded;
}

CollectiveComparison
Validate(const LoadedTable& loaded, const ValidationOptions& options)
{
    const MeasuredTable& table = loaded.table;
    CollectiveComparison comparison;
    comparison.name = table.file.substr(0, table.file.rfind('.'));
    comparison.system = table.system;
    comparison.note = table.note;
    if (!loaded.cluster)
    {
        return comparison;
    }
    const Cluster& cluster = *loaded.cluster;
    CollectiveTest test;
    test.collective = table.collective;
    test.groups = loaded.groups;
    test.launchMode = table.launch;
    test.stream = options.stream;
    test.costs = options.costs;
    test.executor = options.executor;
    test.ncclVersion = table.ncclVersion;
    test.pluginLatencyPs = std::llround(table.pluginLatencyUs * 1e6);
    test.networkChannels = table.networkChannels;
    test.communicator = FindCommunicator(cluster, test);
    const Paths paths(cluster);
    const NcclCostModel model(CollectiveChooser(cluster, paths, MakePreferences(test))
                                  .MakeSystem(GetVertices(cluster, test.groups[0])));
    for (const auto& [bytes, us] : loaded.sizes)
    {
        if (bytes < options.minBytes || bytes > options.maxBytes)
        {
            continue;
        }
        if (options.report)
        {
            options.report(table.file, bytes);
        }
        ComparedSize size;
        size.measuredUs = us;
        try
        {
            ThrowIfStopped();
            size.simulated = RunCollective(cluster, test, bytes).front();
        }
        catch (const RunStopped&)
        {
            break;
        }
        size.simulated.bytes = bytes;
        const double modelUs = model.Choose(table.collective, bytes).timeUs;
        size.modelUs = std::isinf(modelUs) ? 0 : modelUs;
        comparison.sizes.push_back(size);
    }
    return comparison;
}

} // namespace proteus
} // namespace ns3
