/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-inventory.h"

#include "ns3/proteus-enum-names.h"
#include "ns3/proteus-number-text.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

/// Uses of memory below this part of a peak are not named.
constexpr uint64_t LEAST_PART = 10;

/// @param account of a device that lacks memory @return what makes it need less
const char*
FindWhatNeedsLess(const MemoryAccount& account)
{
    const auto get = [&](MemoryUse use) {
        return account.bytesAtPeak[static_cast<std::size_t>(use)];
    };
    const uint64_t ofModel =
        get(MemoryUse::PARAMETERS) + get(MemoryUse::GRADIENTS) + get(MemoryUse::OPTIMIZER_STATE);
    return ofModel >= get(MemoryUse::ACTIVATIONS)
               ? "split the model further (tp, pp), or share its states among replicas (zero)"
               : "recompute activations, take smaller micro-batches, or split them further (tp, "
                 "sequenceParallel)";
}

} // namespace

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

std::string
FormatUse(MemoryUse use)
{
    std::string name = ToString(use);
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

std::size_t
FindFullest(const std::vector<MemoryAccount>& accounts)
{
    const auto fullest = std::max_element(
        accounts.begin(),
        accounts.end(),
        [](const MemoryAccount& a, const MemoryAccount& b) { return a.peakBytes < b.peakBytes; });
    return static_cast<std::size_t>(fullest - accounts.begin());
}

std::string
FindOutOfMemory(const std::vector<MemoryAccount>& accounts, uint64_t capacityBytes)
{
    const auto nFull =
        std::count_if(accounts.begin(), accounts.end(), [&](const MemoryAccount& account) {
            return account.peakBytes > capacityBytes;
        });
    if (nFull == 0)
    {
        return "";
    }
    const std::size_t device = FindFullest(accounts);
    const MemoryAccount& fullest = accounts[device];
    std::vector<std::size_t> uses(N_MEMORY_USES); // most bytes first
    std::iota(uses.begin(), uses.end(), std::size_t{0});
    std::stable_sort(uses.begin(), uses.end(), [&](std::size_t a, std::size_t b) {
        return fullest.bytesAtPeak[a] > fullest.bytesAtPeak[b];
    });
    std::ostringstream text;
    text << "out of memory on " << nFull << " of " << accounts.size() << " devices: device "
         << device << " needs " << FormatBytes(static_cast<double>(fullest.peakBytes)) << " ("
         << fullest.peakTask << "), has " << FormatBytes(static_cast<double>(capacityBytes))
         << "; of it ";
    for (std::size_t i = 0; i < uses.size(); ++i)
    {
        const uint64_t bytes = fullest.bytesAtPeak[uses[i]];
        if (i == 0 || bytes >= fullest.peakBytes / LEAST_PART)
        {
            text << (i == 0 ? "" : ", ") << FormatUse(static_cast<MemoryUse>(uses[i])) << " "
                 << FormatBytes(static_cast<double>(bytes));
        }
    }
    text << ": " << FindWhatNeedsLess(fullest);
    return text.str();
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
