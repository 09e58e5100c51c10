/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-result-series.h"

#include "proteus-tables.h"
#include "proteus-text-blocks.h"

#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr int SECOND_DECIMALS = 12;

/// @param value small, not negative @return e.g. "0.25"
std::string
Decimal(float value)
{
    constexpr int DECIMALS = 6;
    return FormatNumber(static_cast<double>(value), DECIMALS);
}

} // namespace

void
WriteLinkSeriesCsv(const ReportedRun& input, std::ostream& out)
{
    TextBlocks text(out);
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
    TextBlocks text(out);
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
