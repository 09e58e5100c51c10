/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-validation.h"

#include "proteus-stop-signals.h"

#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-nccl-tests.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-text-reader.h"

#include <cmath>
#include <map>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

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
            ++m_number;
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

    /// @param name of a column @return the field of the present line
    const std::string& Get(const std::string& name) const
    {
        const auto found = m_line.find(name);
        if (found == m_line.end())
        {
            Fail("there is no column " + name);
        }
        return found->second;
    }

    /// @param name of a column @return its number
    double GetNumber(const std::string& name) const
    {
        const std::string& text = Get(name);
        std::size_t end = 0;
        double value = 0;
        try
        {
            value = std::stod(text, &end);
        }
        catch (const std::logic_error&)
        {
            end = std::string::npos;
        }
        if (end != text.size() || !(value > 0) || std::isinf(value))
        {
            Fail(name + " \"" + text + "\" is not a number above 0");
        }
        return value;
    }

    /// @param cause what is wrong in the line @throw std::invalid_argument with the place
    [[noreturn]] void Fail(const std::string& cause) const
    {
        throw std::invalid_argument(m_path + ":" + std::to_string(m_number) + ": " + cause);
    }

  private:
    std::string m_path;
    TextReader m_in;
    std::size_t m_number{1};
    std::vector<std::string> m_names;
    std::map<std::string, std::string> m_line;
};

/// @param csv at a line @param version that is taken where the line has none
/// @return version of NCCL that the line has, 100 times the major and the minor number
uint32_t
ReadNcclVersion(const CsvTable& csv, uint32_t version)
{
    const std::string text = csv.Get("nccl_version");
    try
    {
        return text.empty() ? version : ParseNcclVersion(text);
    }
    catch (const std::invalid_argument& error)
    {
        csv.Fail(error.what());
    }
}

} // namespace

std::vector<MeasuredTable>
LoadMeasuredTables(const std::string& directory)
{
    CsvTable csv(directory + "/tables.csv");
    std::vector<MeasuredTable> tables;
    while (csv.Next())
    {
        MeasuredTable table;
        table.file = csv.Get("file");
        table.cluster = csv.Get("cluster");
        table.system = csv.Get("system");
        table.nodes = static_cast<uint32_t>(csv.GetNumber("nodes"));
        table.gpus = static_cast<uint32_t>(csv.GetNumber("gpus"));
        table.collective = CollectiveFromString(csv.Get("collective"));
        table.launch = csv.Get("launch");
        table.network = csv.Get("network");
        table.ncclVersion = ReadNcclVersion(csv, table.ncclVersion);
        if (!csv.Get("network_channels").empty())
        {
            table.networkChannels = static_cast<uint32_t>(csv.GetNumber("network_channels"));
        }
        if (!csv.Get("plugin_latency_us").empty())
        {
            table.pluginLatencyUs = csv.GetNumber("plugin_latency_us");
        }
        table.note = csv.Get("note");
        tables.push_back(table);
    }
    return tables;
}

CollectiveComparison
Validate(const MeasuredTable& table, const ValidationOptions& options)
{
    CollectiveComparison comparison;
    comparison.name = table.file.substr(0, table.file.rfind('.'));
    comparison.system = table.system;
    comparison.note = table.note;
    if (table.cluster.empty())
    {
        return comparison;
    }
    const bool isFile = table.cluster.find('.') != std::string::npos;
    const Cluster cluster =
        isFile ? LoadCluster(options.directory + "/" + table.cluster, 0, FabricOptions())
               : LoadCluster(table.cluster, table.nodes, FabricOptions());
    CollectiveTest test;
    test.collective = table.collective;
    test.groups = MakeTestGroups(cluster, table.gpus, 1, false);
    test.launchMode = table.launch;
    test.stream = options.stream;
    test.costs = options.costs;
    test.ncclVersion = table.ncclVersion;
    test.pluginLatencyUs = table.pluginLatencyUs;
    test.networkChannels = table.networkChannels;
    const Paths paths(cluster);
    std::vector<VertexId> vertices;
    for (const DeviceId device : test.groups[0])
    {
        vertices.push_back(cluster.GetGpus()[device]);
    }
    CollectivePreferences preferences;
    preferences.ncclVersion = table.ncclVersion;
    const NcclCostModel model(CollectiveChooser(cluster, paths, preferences).MakeSystem(vertices));
    CsvTable csv(options.directory + "/" + table.file);
    while (csv.Next())
    {
        const auto bytes = static_cast<uint64_t>(csv.GetNumber("size_bytes"));
        if (bytes < options.minBytes || bytes > options.maxBytes)
        {
            continue;
        }
        if (options.report)
        {
            options.report(table.file, bytes);
        }
        ComparedSize size;
        size.measuredUs = csv.GetNumber("time_us");
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
