/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-tests.h"

#include <iomanip>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// Shortest text that reads back as the number.
std::string
ToText(double value)
{
    std::string shortest;
    for (int digits = 6; digits <= 17; digits++)
    {
        std::ostringstream text;
        text << std::setprecision(digits) << value;
        shortest = text.str();
        if (std::stod(shortest) == value)
        {
            break;
        }
    }
    return shortest;
}

} // namespace

void
WriteNcclTestsCsv(const NcclTestsTable& table, std::ostream& out)
{
    for (const std::string& device : table.devices)
    {
        out << "# " << device << "\n";
    }
    out << "size_bytes,count,type,redop,root,oop_time_us,oop_algbw_GBps,oop_busbw_GBps,ip_time_us,"
           "ip_algbw_GBps,ip_busbw_GBps\n";
    const auto write = [&](const std::optional<double>& value) {
        out << ',' << (value ? ToText(*value) : "");
    };
    for (const NcclTestsRow& row : table.rows)
    {
        out << std::to_string(row.bytes) << ',' << (row.count ? std::to_string(*row.count) : "")
            << ',' << row.type << ',' << row.redop << ','
            << (row.root ? std::to_string(*row.root) : "");
        for (const auto* timing : {&row.outOfPlace, &row.inPlace})
        {
            write(*timing ? std::make_optional((*timing)->timeUs) : std::nullopt);
            write(*timing ? (*timing)->algbwGBps : std::nullopt);
            write(*timing ? (*timing)->busbwGBps : std::nullopt);
        }
        out << "\n";
    }
}

} // namespace proteus
} // namespace ns3
