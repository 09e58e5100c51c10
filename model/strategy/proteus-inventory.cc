/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-inventory.h"

#include "ns3/proteus-enum-names.h"

#include <map>
#include <tuple>

namespace ns3
{
namespace proteus
{

std::vector<InventoryRow>
TakeInventory(const ExecutionGraph& graph)
{
    std::map<std::tuple<PhaseId, Collective, std::size_t, uint64_t>, uint64_t> counts;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind != TaskKind::COMMUNICATION)
        {
            continue;
        }
        const std::size_t size = graph.GetGroup(task.place).size();
        const bool isShare = task.collective == Collective::GATHER ||
                             task.collective == Collective::SCATTER ||
                             task.collective == Collective::ALL_TO_ALL;
        counts[{task.phase, task.collective, size, isShare ? task.bytes / size : task.bytes}] +=
            graph.GetNInstances(task);
    }
    std::vector<InventoryRow> rows;
    for (const auto& [key, count] : counts)
    {
        const auto& [phase, collective, size, bytes] = key;
        rows.push_back(
            {graph.GetPhases()[phase].name, collective, static_cast<uint32_t>(size), bytes, count});
    }
    return rows;
}

void
WriteInventoryCsv(std::ostream& stream, const std::vector<InventoryRow>& rows)
{
    stream << "phase,kind,group_size,bytes,count\n";
    for (const InventoryRow& row : rows)
    {
        stream << row.phase << ',' << ToString(row.collective) << ',' << row.groupSize << ','
               << row.bytes << ',' << row.count << '\n';
    }
}

const char*
ToString(MemoryUse use)
{
    static constexpr EnumNames<MemoryUse, 6> NAMES{"use of memory",
                                                   {{MemoryUse::PARAMETERS, "parameters"},
                                                    {MemoryUse::GRADIENTS, "gradients"},
                                                    {MemoryUse::OPTIMIZER_STATE, "optimizer_state"},
                                                    {MemoryUse::ACTIVATIONS, "activations"},
                                                    {MemoryUse::BUFFERS, "buffers"},
                                                    {MemoryUse::OTHER, "other"}}};
    return NAMES.Get(use);
}

void
WriteMemoryCsv(std::ostream& stream, const std::vector<MemoryAccount>& accounts)
{
    stream << "device";
    for (std::size_t use = 0; use < N_MEMORY_USES; ++use)
    {
        stream << ',' << ToString(static_cast<MemoryUse>(use));
    }
    stream << ",peak,peak_task\n";
    for (std::size_t device = 0; device < accounts.size(); ++device)
    {
        stream << device;
        for (const uint64_t bytes : accounts[device].bytesAtPeak)
        {
            stream << ',' << bytes;
        }
        stream << ',' << accounts[device].peakBytes << ',' << accounts[device].peakTask << '\n';
    }
}

} // namespace proteus
} // namespace ns3
