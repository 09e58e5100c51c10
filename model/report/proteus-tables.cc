/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-tables.h"

#include "proteus-report-input.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_S = 1e12;
constexpr int SECOND_DECIMALS = 12;

/// @param text in UTF-8 @return number of its characters
std::size_t
WidthOf(const std::string& text)
{
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80; // no continuation byte
    }));
}

/// @param value in the first of the units @param units each 1000 times the one before
/// @param decimals of the result; none in the first unit
template <std::size_t N>
std::string
FormatWithUnit(double value, const std::array<const char*, N>& units, int decimals)
{
    // What would be printed as 1000.00 belongs to the next unit.
    const auto limit = [decimals](std::size_t unit) {
        return 1000.0 - 0.5 * std::pow(10.0, unit == 0 ? 0 : -decimals);
    };
    std::size_t i = 0;
    while (i + 1 < N && std::fabs(value) >= limit(i))
    {
        value /= 1000.0;
        ++i;
    }
    return FormatNumber(value, i == 0 ? 0 : decimals) + " " + units[i];
}

} // namespace

std::string
QuoteCsv(const std::string& field)
{
    if (field.find_first_of(",\"\r\n") == std::string::npos)
    {
        return field;
    }
    std::string quoted = "\"";
    for (char c : field)
    {
        quoted += c;
        if (c == '"')
        {
            quoted += c;
        }
    }
    return quoted + '"';
}

void
WriteSpanCsv(const ExecutionGraph& graph,
             const Cluster& cluster,
             const Timeline& timeline,
             std::ostream& out)
{
    RequireGpuPerDevice(graph, cluster);
    RequireTimelineOf(graph, timeline);
    std::vector<std::string> gpus;
    for (DeviceId device = 0; device < graph.GetNDevices(); ++device)
    {
        gpus.push_back(QuoteCsv(cluster.GetVertices()[cluster.GetGpus()[device]].name));
    }
    std::vector<std::string> streams;
    for (const std::string& stream : graph.GetStreams())
    {
        streams.push_back(QuoteCsv(stream));
    }
    constexpr std::size_t BLOCK_BYTES = 1U << 16;
    std::string text = "device,gpu,stream,task,name,kind,collective,parallelism,micro_batch,bytes,"
                       "start_s,end_s\n";
    for (const Span& span : timeline.spans)
    {
        const Task& task = graph.GetTask(span.task);
        const bool isCommunication = task.kind == TaskKind::COMMUNICATION;
        text += std::to_string(span.device);
        text += ',';
        text += gpus[span.device];
        text += ',';
        text += IsReceive(graph, span) ? "" : streams[task.stream];
        text += ',';
        text += std::to_string(span.task);
        text += ',';
        text += QuoteCsv(graph.GetName(task));
        text += ',';
        text += ToString(task.kind);
        text += ',';
        text += isCommunication ? ToString(task.collective) : "";
        text += ',';
        text += isCommunication ? ToString(task.parallelism) : "";
        text += ',';
        text += std::to_string(span.microBatch);
        text += ',';
        text += std::to_string(task.bytes);
        text += ',';
        text += FormatPicoseconds(span.startPs, SECOND_DECIMALS);
        text += ',';
        text += FormatPicoseconds(span.endPs, SECOND_DECIMALS);
        text += '\n';
        if (text.size() >= BLOCK_BYTES)
        {
            out << text;
            text.clear();
        }
    }
    out << text;
}

std::vector<LinkUse>
BusiestLinks(const Cluster& cluster,
             const std::vector<LinkStatistics>& links,
             int64_t durationPs,
             std::size_t n)
{
    std::vector<LinkUse> uses;
    for (const LinkStatistics& statistics : links)
    {
        if (statistics.link >= cluster.GetLinks().size())
        {
            throw std::invalid_argument("link statistics: the cluster '" + cluster.GetName() +
                                        "' has no link " + std::to_string(statistics.link));
        }
        if (statistics.packets == 0 && statistics.wireBytes == 0) // of flows only bytes are known
        {
            continue;
        }
        const Link& link = cluster.GetLinks()[statistics.link];
        const VertexId from = statistics.forward ? link.a : link.b;
        LinkUse use;
        use.link = statistics.link;
        use.forward = statistics.forward;
        use.name = cluster.GetVertices()[from].name + " -> " +
                   cluster.GetVertices()[link.Other(from)].name;
        if (durationPs <= 0)
        {
            throw std::invalid_argument("link statistics: " + use.name +
                                        " carried something in a time of " +
                                        std::to_string(durationPs) + " ps");
        }
        const auto duration = static_cast<double>(durationPs);
        use.technology = link.technology;
        use.utilisation = static_cast<double>(statistics.busyPs) / duration;
        use.payloadBytesPerSecond =
            static_cast<double>(statistics.payloadBytes) / (duration / PS_PER_S);
        use.rateBytesPerSecond = link.bytesPerSecond;
        use.creditStallShare = static_cast<double>(statistics.creditStallPs) / duration;
        use.maxQueueBytes = statistics.maxQueueBytes;
        use.pausedShare = static_cast<double>(statistics.pausedPs) / duration;
        use.pauses = statistics.pauses;
        use.packets = statistics.packets;
        use.payloadBytes = statistics.payloadBytes;
        use.wireBytes = statistics.wireBytes;
        use.markedPackets = statistics.markedPackets;
        use.lostPackets = statistics.lostPackets;
        use.droppedPackets = statistics.droppedPackets;
        uses.push_back(std::move(use));
    }
    const auto isBusier = [](const LinkUse& a, const LinkUse& b) {
        return a.utilisation != b.utilisation
                   ? a.utilisation > b.utilisation
                   : std::tie(a.name, a.link, b.forward) < std::tie(b.name, b.link, a.forward);
    };
    const std::size_t kept = std::min(n, uses.size());
    std::partial_sort(uses.begin(),
                      uses.begin() + static_cast<std::ptrdiff_t>(kept),
                      uses.end(),
                      isBusier);
    uses.resize(kept);
    return uses;
}

std::string
FormatTable(const std::vector<std::vector<std::string>>& rows,
            const std::string& alignment,
            const std::string& indent)
{
    if (alignment.empty() || alignment.find_first_not_of("lr") != std::string::npos)
    {
        throw std::invalid_argument("table: the alignment '" + alignment +
                                    "' must be letters l and r, at least one");
    }
    std::vector<std::size_t> widths;
    for (const auto& row : rows)
    {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i)
        {
            widths[i] = std::max(widths[i], WidthOf(row[i]));
        }
    }
    std::string text;
    for (const auto& row : rows)
    {
        std::string line = indent;
        for (std::size_t i = 0; i < row.size(); ++i)
        {
            const std::string padding(widths[i] - WidthOf(row[i]), ' ');
            const bool isRight = alignment[std::min(i, alignment.size() - 1)] == 'r';
            line += i == 0 ? "" : "  ";
            line += isRight ? padding + row[i] : row[i] + padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

std::string
WrapText(const std::string& text, std::size_t columns, const std::string& indent)
{
    std::string lines;
    std::string line;
    std::istringstream words(text);
    for (std::string word; words >> word;)
    {
        if (!line.empty() && WidthOf(indent) + WidthOf(line) + 1 + WidthOf(word) > columns)
        {
            lines += indent + line + '\n';
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    return line.empty() ? lines : lines + indent + line + '\n';
}

std::string
FormatNumber(double value, int decimals)
{
    const int length = std::snprintf(nullptr, 0, "%.*f", decimals, value);
    std::string text(static_cast<std::size_t>(length) + 1, '\0');
    std::snprintf(&text[0], text.size(), "%.*f", decimals, value);
    text.pop_back();
    return text;
}

std::string
FormatPercent(double share, int decimals)
{
    constexpr double PERCENT = 100;
    return FormatNumber(PERCENT * share, decimals) + " %";
}

std::string
FormatTime(double seconds)
{
    constexpr std::array<const char*, 5> UNITS{"ps", "ns", "us", "ms", "s"};
    return FormatWithUnit(seconds * PS_PER_S, UNITS, 3);
}

std::string
FormatBytes(double bytes)
{
    constexpr std::array<const char*, 6> UNITS{"B", "kB", "MB", "GB", "TB", "PB"};
    return FormatWithUnit(bytes, UNITS, 2);
}

std::string
FormatPicoseconds(int64_t ps, int decimals)
{
    // The magnitude without a sign: that of the smallest number does not fit with one.
    const uint64_t magnitude = ps < 0 ? 0 - static_cast<uint64_t>(ps) : static_cast<uint64_t>(ps);
    std::string text = std::to_string(magnitude);
    const auto nDecimals = static_cast<std::size_t>(decimals);
    if (text.size() <= nDecimals)
    {
        text.insert(0, nDecimals + 1 - text.size(), '0');
    }
    if (decimals > 0)
    {
        text.insert(text.size() - nDecimals, 1, '.');
    }
    return ps < 0 ? "-" + text : text;
}

} // namespace proteus
} // namespace ns3
