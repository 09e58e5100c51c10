/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-compile-tables.h"

#include "proteus-table-options.h"

#include <algorithm>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

Table
MakeSummary(const CompiledModel& compiled)
{
    const auto fullest = std::max_element(
        compiled.memory.begin(),
        compiled.memory.end(),
        [](const MemoryAccount& a, const MemoryAccount& b) { return a.peakBytes < b.peakBytes; });
    const auto& facts = compiled.graph.GetFacts();
    Table table = MakeQuantityTable("summary", "Summary", "The model, and its fullest device.");
    table.rows = {
        {std::string("model"), compiled.model.GetName(), std::string()},
        {std::string("parameters"), compiled.model.CountParameters(), std::string()},
        {std::string("devices"), uint64_t{compiled.graph.GetNDevices()}, std::string()},
        {std::string("tasks"), uint64_t{compiled.graph.GetNTasks()}, std::string()},
        {std::string("model FLOPs per iteration"),
         facts.modelFlopsPerIteration,
         std::string("FLOP")},
        {std::string("GPU"), compiled.gpu.model, std::string()},
        {std::string("memory of a GPU"), compiled.gpu.memoryBytes, std::string("B")},
        {std::string("fullest device"),
         static_cast<uint64_t>(fullest - compiled.memory.begin()),
         std::string()},
        {std::string("peak memory of the fullest device"), fullest->peakBytes, std::string("B")},
        {std::string("fits in memory"),
         std::string(FindOutOfMemory(compiled.memory, compiled.gpu.memoryBytes).empty() ? "yes"
                                                                                        : "no"),
         std::string()}};
    return table;
}

Table
MakeInventory(const std::vector<InventoryRow>& rows)
{
    Table table{"inventory",
                "Communication",
                "What the graph communicates, alike ones in one row.",
                {{"phase", "", "when"},
                 {"kind", "", "collective, or send-recv"},
                 {"group_size", "", "devices that take part"},
                 {"bytes",
                  "B",
                  "of one, as nccl-tests counts; of gather, scatter and all-to-all the share that "
                  "a rank gets of another"},
                 {"count", "", "how many, over all groups and micro-batches"}},
                {}};
    for (const InventoryRow& row : rows)
    {
        table.rows.push_back({row.phase,
                              std::string(ToString(row.collective)),
                              uint64_t{row.groupSize},
                              row.bytes,
                              row.count});
    }
    return table;
}

Table
MakeMemory(const std::vector<MemoryAccount>& accounts)
{
    Table table{"memory",
                "Memory",
                "Of every device at its peak, by walking through its schedule.",
                {{"device", "", "rank"},
                 {"peak_bytes", "B", "most at once"},
                 {"persistent_bytes", "B", "of it there all the time"}},
                {}};
    for (std::size_t use = 0; use < N_MEMORY_USES; ++use)
    {
        const std::string name = ToString(static_cast<MemoryUse>(use));
        table.columns.push_back({name + "_bytes", "B", "of the peak: " + name});
    }
    table.columns.push_back({"peak_task", "", "with which task it was reached"});
    for (std::size_t device = 0; device < accounts.size(); ++device)
    {
        const MemoryAccount& account = accounts[device];
        std::vector<Cell> row{uint64_t{device}, account.peakBytes, account.persistentBytes};
        for (uint64_t bytes : account.bytesAtPeak)
        {
            row.emplace_back(bytes);
        }
        row.emplace_back(account.peakTask);
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace

std::vector<Table>
MakeCompileTables(const CompiledModel& compiled)
{
    return {MakeSummary(compiled), MakeInventory(compiled.inventory), MakeMemory(compiled.memory)};
}

} // namespace proteus
} // namespace ns3
