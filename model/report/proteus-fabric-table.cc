/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-table.h"

#include "proteus-tables.h"

#include <algorithm>
#include <cmath>
#include <functional>
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

/// A column of the tables for people.
struct TextColumn
{
    const char* name;                              //!< head
    std::function<bool(const FabricRow&)> isKnown; //!< shown if it is for any row; empty: always
    std::function<std::string(const FabricRow&, const FabricRow&)> format; //!< row, first -> cell
};

/// @return a column of counts
TextColumn
MakeCount(const char* name, uint64_t NetworkBill::*count)
{
    return {name, nullptr, [count](const FabricRow& row, const FabricRow&) {
                return FormatCount(row.bill.*count);
            }};
}

/// @return a row's throws; of a single one, it
Spread
GetSpread(const FabricRow& row)
{
    return row.throws.value_or(FindSpread({row.iterationS}));
}

std::vector<TextColumn>
MakeColumns()
{
    const auto hasExecutor = [](const FabricRow& row) { return !row.executor.empty(); };
    const auto hasThrows = [](const FabricRow& row) { return row.throws.has_value(); };
    const auto hasTokens = [](const FabricRow& row) { return row.tokensPerS > 0; };
    using Row = const FabricRow&;
    return {
        {"Fabric", nullptr, [](Row row, Row) { return row.fabric; }},
        {"Links", nullptr, [](Row row, Row) { return FormatTechnology(row.technology); }},
        {"Routing", nullptr, [](Row row, Row) { return FormatRouting(row.routing); }},
        {"Executor", hasExecutor, [](Row row, Row) { return row.executor; }},
        {"Iteration", nullptr, [](Row row, Row) { return FormatTime(row.iterationS); }},
        {"Longer", nullptr, FormatLonger},
        {"Least", hasThrows, [](Row row, Row) { return FormatTime(GetSpread(row).least); }},
        {"Most", hasThrows, [](Row row, Row) { return FormatTime(GetSpread(row).most); }},
        {"Within spread",
         hasThrows,
         [](Row row, Row first) { return std::string(IsChance(row, first) ? "yes" : "no"); }},
        {"Tokens/s",
         hasTokens,
         [](Row row, Row) { return FormatCount(static_cast<uint64_t>(row.tokensPerS)); }},
        {"Exposed", nullptr, [](Row row, Row) { return FormatTime(row.exposedS); }},
        {"Busiest link",
         nullptr,
         [](Row row, Row) {
             return row.busiest ? FormatNumber(*row.busiest * 100, 1) + " %" : std::string("-");
         }},
        MakeCount("Switches", &NetworkBill::switches),
        MakeCount("Ports", &NetworkBill::ports),
        MakeCount("Cables", &NetworkBill::cables),
        MakeCount("Radix", &NetworkBill::largestSwitch),
        {"Cost",
         nullptr,
         [](Row row, Row first) { return FormatNumber(GetRelativeCost(row, first), 2); }},
    };
}

/// The cells of the tables for people.
std::vector<std::vector<std::string>>
MakeCells(const std::vector<FabricRow>& rows)
{
    std::vector<TextColumn> columns = MakeColumns();
    const auto isUnknown = [&rows](const TextColumn& column) {
        return column.isKnown && std::none_of(rows.begin(), rows.end(), column.isKnown);
    };
    columns.erase(std::remove_if(columns.begin(), columns.end(), isUnknown), columns.end());
    std::vector<std::vector<std::string>> cells(1);
    for (const TextColumn& column : columns)
    {
        cells.front().emplace_back(column.name);
    }
    for (const FabricRow& row : rows)
    {
        std::vector<std::string>& line = cells.emplace_back();
        for (const TextColumn& column : columns)
        {
            line.push_back(column.format(row, FindFirst(rows, row)));
        }
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

std::string
DescribeFabric(const FabricRow& row)
{
    return row.fabric + ", " + FormatTechnology(row.technology) + ", " +
           FormatRouting(row.routing) + (row.executor.empty() ? "" : ", " + row.executor);
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
    }
}

void
WriteFabricJson(const std::vector<FabricRow>& rows,
                const Configuration& configuration,
                const std::string& endedBy,
                const std::vector<std::string>& notes,
                std::ostream& out)
{
    nlohmann::ordered_json json;
    json["format"] = "proteus-fabrics";
    json["version"] = 1;
    if (!endedBy.empty())
    {
        json["partial"] = "ended by " + endedBy;
    }
    json["configuration"] = nlohmann::ordered_json::object();
    for (const auto& [option, value] : configuration)
    {
        json["configuration"][option] = value;
    }
    json["fabrics"] = nlohmann::ordered_json::array();
    for (const FabricRow& row : rows)
    {
        json["fabrics"].push_back(ToJson(row, FindFirst(rows, row)));
    }
    if (!notes.empty())
    {
        json["notes"] = notes;
    }
    out << json.dump(2) << '\n';
}

} // namespace proteus
} // namespace ns3
