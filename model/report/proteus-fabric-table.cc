/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-table.h"

#include "proteus-tables.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace ns3
{
namespace proteus
{

namespace
{

std::string
FormatLonger(const FabricRow& row, const FabricRow& first)
{
    if (first.iterationS <= 0)
    {
        return "";
    }
    const double percent = (row.iterationS / first.iterationS - 1) * 100;
    return (percent <= -0.05 ? "" : "+") +
           FormatNumber(percent > -0.05 ? std::abs(percent) : percent, 1) + " %";
}

/// @return ports times iteration time over that of the first row: what performance costs
double
GetRelativeCost(const FabricRow& row, const FabricRow& first)
{
    const double unit = static_cast<double>(first.bill.ports) * first.iterationS;
    return unit > 0 ? static_cast<double>(row.bill.ports) * row.iterationS / unit : 0;
}

std::string
FormatRouting(const std::string& routing)
{
    return routing == "Ecmp"     ? "ECMP"
           : routing == "UpDown" ? "up/down"
           : routing == "Spray"  ? "spray"
                                 : "adaptive";
}

std::string
FormatTechnology(const std::string& technology)
{
    return technology == "infiniband" ? "InfiniBand" : technology == "roce" ? "RoCE" : technology;
}

/// @return the first row of the same executor
const FabricRow&
FindFirst(const std::vector<FabricRow>& rows, const FabricRow& row)
{
    return *std::find_if(rows.begin(), rows.end(), [&](const FabricRow& other) {
        return other.executor == row.executor;
    });
}

/// @return whether chance may be all that is between two rows
bool
IsChance(const FabricRow& row, const FabricRow& first)
{
    return row.throws && first.throws && IsWithinSpread(*row.throws, *first.throws);
}

/// @return whether a row has an executor, or throws
bool
HasExecutors(const std::vector<FabricRow>& rows)
{
    return std::any_of(rows.begin(), rows.end(), [](const FabricRow& row) {
        return !row.executor.empty();
    });
}

bool
HasThrows(const std::vector<FabricRow>& rows)
{
    return std::any_of(rows.begin(), rows.end(), [](const FabricRow& row) {
        return row.throws.has_value();
    });
}

/// The cells of the tables for people.
std::vector<std::vector<std::string>>
MakeCells(const std::vector<FabricRow>& rows)
{
    const bool hasTokens = std::any_of(rows.begin(), rows.end(), [](const FabricRow& row) {
        return row.tokensPerS > 0;
    });
    std::vector<std::vector<std::string>> cells;
    const bool hasExecutors = HasExecutors(rows);
    const bool hasThrows = HasThrows(rows);
    std::vector<std::string> head{"Fabric", "Links", "Routing"};
    if (hasExecutors)
    {
        head.emplace_back("Executor");
    }
    head.insert(head.end(), {"Iteration", "Longer"});
    if (hasThrows)
    {
        head.insert(head.end(), {"Least", "Most", "Within spread"});
    }
    if (hasTokens)
    {
        head.emplace_back("Tokens/s");
    }
    for (const char* name :
         {"Exposed", "Busiest link", "Switches", "Ports", "Cables", "Radix", "Cost"})
    {
        head.emplace_back(name);
    }
    cells.push_back(head);
    for (const FabricRow& row : rows)
    {
        const FabricRow& first = FindFirst(rows, row);
        std::vector<std::string> line{row.fabric,
                                      FormatTechnology(row.technology),
                                      FormatRouting(row.routing)};
        if (hasExecutors)
        {
            line.push_back(row.executor);
        }
        line.insert(line.end(), {FormatTime(row.iterationS), FormatLonger(row, first)});
        if (hasThrows)
        {
            const Spread spread = row.throws.value_or(FindSpread({row.iterationS}));
            line.insert(line.end(),
                        {FormatTime(spread.least),
                         FormatTime(spread.most),
                         IsChance(row, first) ? "yes" : "no"});
        }
        if (hasTokens)
        {
            line.push_back(FormatCount(static_cast<uint64_t>(row.tokensPerS)));
        }
        line.push_back(FormatTime(row.exposedS));
        line.push_back(row.busiest ? FormatNumber(*row.busiest * 100, 1) + " %" : "-");
        for (const uint64_t count :
             {row.bill.switches, row.bill.ports, row.bill.cables, row.bill.largestSwitch})
        {
            line.push_back(FormatCount(count));
        }
        line.push_back(FormatNumber(GetRelativeCost(row, first), 2));
        cells.push_back(line);
    }
    return cells;
}

void
WriteMarkdown(const std::vector<FabricRow>& rows, std::ostream& out)
{
    const auto cells = MakeCells(rows);
    for (std::size_t i = 0; i < cells.size(); ++i)
    {
        for (const std::string& cell : cells[i])
        {
            out << "| " << cell << ' ';
        }
        out << "|\n";
        for (std::size_t column = 0; i == 0 && column < cells[i].size(); ++column)
        {
            out << (column < 3 ? "|---" : "|---:");
        }
        out << (i == 0 ? "|\n" : "");
    }
}

nlohmann::ordered_json
ToJson(const FabricRow& row, const FabricRow& first)
{
    nlohmann::ordered_json json;
    json["fabric"] = row.fabric;
    json["links"] = row.technology;
    json["routing"] = row.routing;
    json["iteration_s"] = row.iterationS;
    json["relative"] = first.iterationS > 0 ? row.iterationS / first.iterationS : 0;
    json["tokens_per_s"] = row.tokensPerS > 0 ? nlohmann::ordered_json(row.tokensPerS)
                                              : nlohmann::ordered_json(nullptr);
    json["exposed_communication_s"] = row.exposedS;
    json["busiest_link"] =
        row.busiest ? nlohmann::ordered_json(*row.busiest) : nlohmann::ordered_json(nullptr);
    json["switches"] = row.bill.switches;
    json["ports"] = row.bill.ports;
    json["cables"] = row.bill.cables;
    json["largest_switch_ports"] = row.bill.largestSwitch;
    json["relative_cost"] = GetRelativeCost(row, first);
    if (!row.executor.empty())
    {
        json["executor"] = row.executor;
    }
    if (row.throws)
    {
        json["throws"] = row.throws->count;
        json["iteration_least_s"] = row.throws->least;
        json["iteration_most_s"] = row.throws->most;
        json["within_spread"] = IsChance(row, first);
    }
    return json;
}

/// The same values as in JSON.
void
WriteCsv(const std::vector<FabricRow>& rows, std::ostream& out)
{
    for (std::size_t i = 0; i < rows.size(); ++i)
    {
        const nlohmann::ordered_json json = ToJson(rows[i], FindFirst(rows, rows[i]));
        std::string head;
        std::string line;
        for (const auto& [key, value] : json.items())
        {
            const std::string comma = head.empty() ? "" : ",";
            head += comma + key;
            line += comma + (value.is_string() ? QuoteCsv(value.get<std::string>())
                             : value.is_null() ? ""
                                               : value.dump());
        }
        out << (i == 0 ? head + "\n" : "") << line << '\n';
    }
}

} // namespace

FabricRow
MakeFabricRow(const FabricVariant& variant,
              const Cluster& cluster,
              const Summary& summary,
              const std::vector<LinkUse>& uses)
{
    FabricRow row;
    row.fabric = variant.name;
    row.routing = variant.routing;
    row.iterationS = summary.iterationS;
    row.tokensPerS = summary.tokensPerS;
    row.exposedS = summary.mean.exposedCommunicationS;
    row.bill = CountNetwork(cluster);
    const auto isSwitch = [&](VertexId id) {
        return cluster.GetVertices()[id].kind == VertexKind::SWITCH;
    };
    for (const Link& link : cluster.GetLinks())
    {
        if (isSwitch(link.a) || isSwitch(link.b))
        {
            row.technology = ToString(link.technology);
            break;
        }
    }
    if (!uses.empty())
    {
        row.busiest = 0; // where the job stays inside servers
    }
    for (const LinkUse& use : uses)
    {
        const Link& link = cluster.GetLinks()[use.link];
        if (isSwitch(link.a) || isSwitch(link.b))
        {
            row.busiest = std::max(*row.busiest, use.utilisation);
        }
    }
    return row;
}

void
WriteFabricTable(const std::vector<FabricRow>& rows, FabricTableFormat format, std::ostream& out)
{
    switch (format)
    {
    case FabricTableFormat::TEXT:
        out << FormatTable(MakeCells(rows), "lllr", "");
        break;
    case FabricTableFormat::MARKDOWN:
        WriteMarkdown(rows, out);
        break;
    case FabricTableFormat::CSV:
        WriteCsv(rows, out);
        break;
    case FabricTableFormat::JSON: {
        nlohmann::ordered_json json = nlohmann::ordered_json::array();
        for (const FabricRow& row : rows)
        {
            json.push_back(ToJson(row, FindFirst(rows, row)));
        }
        out << json.dump(2) << '\n';
        break;
    }
    }
}

} // namespace proteus
} // namespace ns3
