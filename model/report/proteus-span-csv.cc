/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-span-csv.h"

#include "proteus-report-input.h"
#include "proteus-tables.h"

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr int SECOND_DECIMALS = 12;

} // namespace

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

} // namespace proteus
} // namespace ns3
