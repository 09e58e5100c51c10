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
    const std::size_t fullest = FindFullest(compiled.memory);
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
        {std::string("fullest device"), uint64_t{fullest}, std::string()},
        {std::string("peak memory of the fullest device"),
         compiled.memory[fullest].peakBytes,
         std::string("B")},
        {std::string("fits in memory"),
         std::string(FindOutOfMemory(compiled.memory, compiled.gpu.memoryBytes).empty() ? "yes"
                                                                                        : "no"),
         std::string()}};
    return table;
}

Table
MakeInventory(const std::vector<InventoryRow>& rows)
{
    using R = InventoryRow;
    const TableLayout<R> layout{
        "inventory",
        "Communication",
        "What the graph communicates, alike ones in one row.",
        {{"phase", "", "when", [](const R& row) { return row.phase; }},
         {"kind",
          "",
          "collective, or send-recv",
          [](const R& row) { return std::string(ToString(row.collective)); }},
         {"group_size",
          "",
          "devices that take part",
          [](const R& row) { return uint64_t{row.groupSize}; }},
         {"bytes",
          "B",
          "of one, as nccl-tests counts; of gather, scatter and all-to-all the share that "
          "a rank gets of another",
          [](const R& row) { return row.bytes; }},
         {"count", "", "how many, over all groups and micro-batches", [](const R& row) {
              return row.count;
          }}}};
    return layout.Make(rows);
}

/// A device and its memory.
struct MemoryRow
{
    uint64_t device;
    const MemoryAccount& account;
};

Table
MakeMemory(const std::vector<MemoryAccount>& accounts)
{
    using R = MemoryRow;
    TableLayout<R> layout{
        "memory",
        "Memory",
        "Of every device at its peak, by walking through its schedule.",
        {{"device", "", "rank", [](const R& row) { return row.device; }},
         {"peak_bytes", "B", "most at once", [](const R& row) { return row.account.peakBytes; }},
         {"persistent_bytes", "B", "of it there all the time", [](const R& row) {
              return row.account.persistentBytes;
          }}}};
    for (std::size_t use = 0; use < N_MEMORY_USES; ++use)
    {
        const std::string name = ToString(static_cast<MemoryUse>(use));
        layout.fields.push_back({name + "_bytes", "B", "of the peak: " + name, [use](const R& row) {
                                     return row.account.bytesAtPeak[use];
                                 }});
    }
    layout.fields.push_back({"peak_task", "", "with which task it was reached", [](const R& row) {
                                 return row.account.peakTask;
                             }});
    std::vector<R> rows;
    for (const MemoryAccount& account : accounts)
    {
        rows.push_back({rows.size(), account});
    }
    return layout.Make(rows);
}

} // namespace

std::vector<Table>
MakeCompileTables(const CompiledModel& compiled)
{
    return {MakeSummary(compiled), MakeInventory(compiled.inventory), MakeMemory(compiled.memory)};
}

} // namespace proteus
} // namespace ns3
