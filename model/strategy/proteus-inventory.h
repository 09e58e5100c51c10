/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_INVENTORY_H
#define PROTEUS_INVENTORY_H

#include "ns3/proteus-graph.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What an execution graph communicates and how much memory it needs, without running it.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Communications that are alike.
struct InventoryRow
{
    std::string phase;                             //!< when
    Collective collective{Collective::ALL_REDUCE}; //!< what
    uint32_t groupSize{0};                         //!< among how many devices
    /// Of one communication. As Collective counts; but of gather, scatter and all-to-all the share
    /// that a rank gets of another, as the tables of Proteus give it.
    uint64_t bytes{0};
    uint64_t count{0}; //!< how many, over all groups and micro-batches

    /// @param other a row @return whether both are the same
    bool operator==(const InventoryRow& other) const
    {
        return phase == other.phase && collective == other.collective &&
               groupSize == other.groupSize && bytes == other.bytes && count == other.count;
    }
};

/// @ingroup proteus
/// @param graph any @return its communications, by phase, kind, group size, and bytes
std::vector<InventoryRow> TakeInventory(const ExecutionGraph& graph);

/**
 * @ingroup proteus
 * Writes "phase,kind,group_size,bytes,count" and a line per row.
 * @param stream where to
 * @param rows of an inventory
 */
void WriteInventoryCsv(std::ostream& stream, const std::vector<InventoryRow>& rows);

/// @ingroup proteus
/// What memory is used for.
enum class MemoryUse : uint8_t
{
    PARAMETERS,      //!< persistent tensors of that name
    GRADIENTS,       //!< those of parameters, also while they are reduced
    OPTIMIZER_STATE, //!< persistent tensors of that name
    ACTIVATIONS,     //!< what kernels make, gradients of activations included
    BUFFERS,         //!< what communication makes
    OTHER,           //!< samples, labels, losses
};

/// @ingroup proteus
/// Number of values of MemoryUse.
constexpr std::size_t N_MEMORY_USES = 6;

/// @ingroup proteus
/// @param use a value @return its name: "parameters", "gradients", "optimizer_state",
/// "activations", "buffers", "other"
const char* ToString(MemoryUse use);

/// @ingroup proteus
/// @param use a value @return its name in a sentence: "optimizer state"
std::string FormatUse(MemoryUse use);

/// @ingroup proteus
/// Memory of a device.
struct MemoryAccount
{
    uint64_t persistentBytes{0};                       //!< there all the time
    uint64_t peakBytes{0};                             //!< most at once, persistent ones included
    std::array<uint64_t, N_MEMORY_USES> bytesAtPeak{}; //!< the peak by MemoryUse
    std::string peakTask;                              //!< with which task it was reached
};

/**
 * @ingroup proteus
 * Finds the peak of memory without a run: walks through the schedule of every device, in the order
 * in which tasks are issued, and adds up what is alive, that is each tensor from the start of its
 * producer to the end of its last reader. Communication that runs once, such as the reduction of
 * gradients, runs as soon as what it waits for is done and its stream has come to it.
 *
 * A run may have another peak, since streams overlap in time there.
 *
 * @param graph any
 * @return by device
 */
std::vector<MemoryAccount> AccountMemory(const ExecutionGraph& graph);

/**
 * @ingroup proteus
 * Writes "device,parameters,gradients,optimizer_state,activations,buffers,other,peak,peak_task"
 * (bytes at the peak) and a line per device.
 * @param stream where to
 * @param accounts by device
 */
void WriteMemoryCsv(std::ostream& stream, const std::vector<MemoryAccount>& accounts);

/// @ingroup proteus
/// @param accounts by device, at least one @return the first device whose peak is the highest
std::size_t FindFullest(const std::vector<MemoryAccount>& accounts);

/**
 * @ingroup proteus
 * @param accounts by device
 * @param capacityBytes of a device's memory
 * @return what is said of the fullest device that lacks memory, what needs most of it and what
 * would need less; empty if all have enough
 */
std::string FindOutOfMemory(const std::vector<MemoryAccount>& accounts, uint64_t capacityBytes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_INVENTORY_H
