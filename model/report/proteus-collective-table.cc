/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-table.h"

#include "proteus-collective-use.h"
#include "proteus-tables.h"

#include <algorithm>
#include <iomanip>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint32_t ELEMENT_BYTES = 4; // float, as nccl-tests has it by default

/// As nccl-tests prints them: four digits or so.
std::string
FormatFigure(double value)
{
    return FormatNumber(value, value >= 100000 ? 0 : value >= 1000 ? 1 : 2);
}

const char*
GetRedop(Collective collective)
{
    return collective == Collective::ALL_REDUCE || collective == Collective::REDUCE_SCATTER ||
                   collective == Collective::REDUCE
               ? "sum"
               : "none";
}

} // namespace

double
CollectiveRow::GetAlgbwGBps() const
{
    return timeUs > 0 ? static_cast<double>(bytes) / timeUs * 1e-3 : 0;
}

double
CollectiveRow::GetBusbwGBps() const
{
    return GetAlgbwGBps() * GetBusBandwidthFactor(collective, ranks);
}

void
PrintCollectiveHead(bool hasGroups, bool isInPlace, std::ostream& out)
{
    const char* group = hasGroups ? "  group" : "";
    const char* blank = hasGroups ? "       " : "";
    out << "#" << blank << "                                                              "
        << (isInPlace ? "  in-place\n" : "out-of-place\n") << "#" << group
        << "        size         count      type   redop    root     time   algbw   busbw  "
           "algorithm               protocol  channels\n"
        << "#" << blank
        << "         (B)    (elements)                               (us)  (GB/s)  (GB/s)\n";
}

void
PrintCollectiveRow(const CollectiveRow& row, bool hasGroups, std::ostream& out)
{
    const bool isWhole = row.bytes % ELEMENT_BYTES == 0;
    const uint64_t count = isWhole ? row.bytes / ELEMENT_BYTES : row.bytes;
    out << " ";
    if (hasGroups)
    {
        out << std::setw(7) << row.group;
    }
    out << std::setw(12) << row.bytes << std::setw(14) << count << std::setw(10)
        << (isWhole ? "float" : "int8") << std::setw(8) << GetRedop(row.collective) << std::setw(8)
        << row.root << std::setw(9) << FormatFigure(row.timeUs) << std::setw(8)
        << FormatFigure(row.GetAlgbwGBps()) << std::setw(8) << FormatFigure(row.GetBusbwGBps())
        << "  " << std::left << std::setw(24) << row.algorithm + " " << std::setw(10)
        << row.protocol << std::right << std::setw(8) << row.channels << "\n"
        << std::flush;
}

void
PrintCollectiveFoot(const std::vector<CollectiveRow>& rows, std::ostream& out)
{
    out << "# Avg bus bandwidth    : " << FormatNumber(GetMeanBusbwGBps(rows), 4) << "\n";
}

void
WriteCollectiveCsv(const std::vector<CollectiveRow>& rows, std::ostream& out)
{
    const bool hasGroups = std::any_of(rows.begin(), rows.end(), [](const CollectiveRow& row) {
        return row.group > 0;
    });
    out << "size_bytes,time_us,algbw_GBps,busbw_GBps,algorithm,protocol,channels"
        << (hasGroups ? ",group" : "") << "\n";
    for (const CollectiveRow& row : rows)
    {
        out << row.bytes << "," << FormatNumber(row.timeUs, 3) << ","
            << FormatNumber(row.GetAlgbwGBps(), 4) << "," << FormatNumber(row.GetBusbwGBps(), 4)
            << "," << row.algorithm << "," << row.protocol << "," << row.channels;
        if (hasGroups)
        {
            out << "," << row.group;
        }
        out << "\n";
    }
}

Table
MakeCollectiveTable(const std::vector<CollectiveRow>& rows)
{
    constexpr double MICRO = 1e-6;
    constexpr double GIGA = 1e9;
    using R = CollectiveRow;
    const TableLayout<R> layout{
        "collectives",
        "Collectives",
        "A row per size and group, as nccl-tests counts.",
        {{"collective",
          "",
          "what was run",
          [](const R& row) { return std::string(ToString(row.collective)); }},
         {"size_bytes", "B", "size", [](const R& row) { return row.bytes; }},
         {"ranks", "", "of the group", [](const R& row) { return uint64_t{row.ranks}; }},
         {"group", "", "number of the group", [](const R& row) { return uint64_t{row.group}; }},
         {"root",
          "",
          "rank, of a collective that has one",
          [](const R& row) { return row.root < 0 ? Cell() : Cell(row.root); }},
         {"time_s", "s", "of one", [](const R& row) { return row.timeUs * MICRO; }},
         {"algbw_bytes_per_s",
          "B/s",
          "size over time",
          [](const R& row) { return row.GetAlgbwGBps() * GIGA; }},
         {"busbw_bytes_per_s",
          "B/s",
          "that times the factor of the collective",
          [](const R& row) { return row.GetBusbwGBps() * GIGA; }},
         {"algorithm", "", "that was taken", [](const R& row) { return row.algorithm; }},
         {"protocol", "", "that was taken", [](const R& row) { return row.protocol; }},
         {"channels", "", "that were taken", [](const R& row) { return uint64_t{row.channels}; }}}};
    return layout.Make(rows);
}

double
GetMeanBusbwGBps(const std::vector<CollectiveRow>& rows)
{
    double sum = 0;
    for (const CollectiveRow& row : rows)
    {
        sum += row.GetBusbwGBps();
    }
    return rows.empty() ? 0 : sum / static_cast<double>(rows.size());
}

} // namespace proteus
} // namespace ns3
