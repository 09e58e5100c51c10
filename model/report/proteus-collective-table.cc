/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-table.h"

#include "proteus-tables.h"

#include <algorithm>
#include <array>
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
    return GetAlgbwGBps() * GetBusFactor(collective, ranks);
}

double
GetBusFactor(Collective collective, uint32_t ranks)
{
    const double n = ranks;
    switch (collective)
    {
    case Collective::ALL_REDUCE:
        return 2 * (n - 1) / n;
    case Collective::ALL_GATHER:
    case Collective::REDUCE_SCATTER:
    case Collective::ALL_TO_ALL:
    case Collective::GATHER:
    case Collective::SCATTER:
        return (n - 1) / n;
    default:
        return 1;
    }
}

void
PrintCollectiveHead(bool hasGroups, std::ostream& out)
{
    const char* group = hasGroups ? "  group" : "";
    const char* blank = hasGroups ? "       " : "";
    out << "#" << blank
        << "                                                              out-of-place\n"
        << "#" << group
        << "        size         count      type   redop    root     time   algbw   busbw  "
           "algorithm         protocol  channels\n"
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
        << "  " << std::left << std::setw(18) << row.algorithm << std::setw(10) << row.protocol
        << std::right << std::setw(8) << row.channels << "\n"
        << std::flush;
}

void
PrintCollectiveFoot(const std::vector<CollectiveRow>& rows, std::ostream& out)
{
    double sum = 0;
    for (const CollectiveRow& row : rows)
    {
        sum += row.GetBusbwGBps();
    }
    out << "# Avg bus bandwidth    : " << FormatNumber(rows.empty() ? 0 : sum / rows.size(), 4)
        << "\n";
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

} // namespace proteus
} // namespace ns3
