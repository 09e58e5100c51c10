/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-result-tables.h"

#include <nlohmann/json.hpp>
#include <type_traits>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::ordered_json;

constexpr std::size_t BLOCK_BYTES = 1U << 16;
constexpr int SECOND_DECIMALS = 12;

Json
ToJson(const Cell& cell)
{
    return std::visit(
        [](const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
            {
                return Json();
            }
            else
            {
                return Json(value);
            }
        },
        cell);
}

std::string
ToCsv(const Cell& cell)
{
    if (std::holds_alternative<std::monostate>(cell))
    {
        return "";
    }
    const auto* text = std::get_if<std::string>(&cell);
    return text ? QuoteCsv(*text) : ToJson(cell).dump();
}

/// @param value small, not negative @return e.g. "0.25"
std::string
Decimal(float value)
{
    constexpr int DECIMALS = 6;
    return FormatNumber(static_cast<double>(value), DECIMALS);
}

/// Hands text on in blocks.
class Blocks
{
  public:
    explicit Blocks(std::ostream& out)
        : m_out(out)
    {
    }

    ~Blocks()
    {
        m_out << m_text;
    }

    Blocks(const Blocks&) = delete;
    Blocks& operator=(const Blocks&) = delete;

    Blocks& operator+=(const std::string& text)
    {
        m_text += text;
        if (m_text.size() >= BLOCK_BYTES)
        {
            m_out << m_text;
            m_text.clear();
        }
        return *this;
    }

  private:
    std::ostream& m_out;
    std::string m_text;
};

} // namespace

void
WriteTableCsv(const Table& table, std::ostream& out)
{
    Blocks text(out);
    std::string line;
    for (const Column& column : table.columns)
    {
        line += (line.empty() ? "" : ",") + QuoteCsv(column.name);
    }
    text += line + '\n';
    for (const auto& row : table.rows)
    {
        line.clear();
        for (std::size_t i = 0; i < row.size(); ++i)
        {
            line += (i == 0 ? "" : ",") + ToCsv(row[i]);
        }
        text += line + '\n';
    }
}

void
WriteTablesJson(const std::vector<Table>& tables, std::ostream& out)
{
    Json byName = Json::object();
    for (const Table& table : tables)
    {
        Json columns = Json::array();
        for (const Column& column : table.columns)
        {
            columns.push_back({{"name", column.name},
                               {"unit", column.unit},
                               {"description", column.description}});
        }
        Json rows = Json::array();
        for (const auto& row : table.rows)
        {
            Json object = Json::object();
            for (std::size_t i = 0; i < row.size(); ++i)
            {
                object[table.columns[i].name] = ToJson(row[i]);
            }
            rows.push_back(std::move(object));
        }
        byName[table.name] = {{"title", table.title},
                              {"description", table.description},
                              {"columns", std::move(columns)},
                              {"rows", std::move(rows)}};
    }
    const Json json{{"format", "proteus-results"}, {"version", 1}, {"tables", std::move(byName)}};
    out << json.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

void
WriteLinkSeriesCsv(const ReportedRun& input, std::ostream& out)
{
    Blocks text(out);
    text += "executor,from,to,technology,start_s,end_s,busy_share,stalled_share,paused_share,"
            "queue_bytes\n";
    const auto& vertices = input.cluster.GetVertices();
    for (const RunRecord& result : input.results)
    {
        const LinkSeries& series = result.series;
        for (std::size_t direction = 0; direction < series.GetNDirections(); ++direction)
        {
            if (!series.IsUsed(direction))
            {
                continue;
            }
            const Link& link = input.cluster.GetLinks()[direction / 2];
            const VertexId from = direction % 2 == 0 ? link.a : link.b;
            const std::string begin = result.executor + ',' + QuoteCsv(vertices[from].name) + ',' +
                                      QuoteCsv(vertices[link.Other(from)].name) + ',' +
                                      ToString(link.technology) + ',';
            for (std::size_t i = 0; i < series.GetNBins(); ++i)
            {
                const LinkBin& bin = series.Get(direction, i);
                text += begin + FormatPicoseconds(series.GetStartPs(i), SECOND_DECIMALS) + ',' +
                        FormatPicoseconds(series.GetEndPs(i), SECOND_DECIMALS) + ',' +
                        Decimal(bin.busyShare) + ',' + Decimal(bin.stalledShare) + ',' +
                        Decimal(bin.pausedShare) + ',' +
                        std::to_string(static_cast<uint64_t>(bin.queueBytes)) + '\n';
            }
        }
    }
}

void
WriteMemorySeriesCsv(const ReportedRun& input, std::ostream& out)
{
    Blocks text(out);
    text += "executor,device,gpu,time_s,bytes\n";
    for (const RunRecord& result : input.results)
    {
        for (DeviceId device = 0; device < result.timeline.memory.size(); ++device)
        {
            const std::string& gpu =
                input.cluster.GetVertices()[input.cluster.GetGpus()[device]].name;
            const std::string begin =
                result.executor + ',' + std::to_string(device) + ',' + QuoteCsv(gpu) + ',';
            for (const MemorySample& sample : result.timeline.memory[device])
            {
                text += begin + FormatPicoseconds(sample.timePs, SECOND_DECIMALS) + ',' +
                        std::to_string(sample.bytes) + '\n';
            }
        }
    }
}

} // namespace proteus
} // namespace ns3
