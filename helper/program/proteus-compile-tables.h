/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COMPILE_TABLES_H
#define PROTEUS_COMPILE_TABLES_H

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-inventory.h"
#include "ns3/proteus-model.h"
#include "ns3/proteus-table.h"

#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A compiled model, and what is known of it without a run.
struct CompiledModel
{
    const Model& model;                         //!< what was compiled
    const ExecutionGraph& graph;                //!< to this
    const GpuDatasheet& gpu;                    //!< for this
    const std::vector<InventoryRow>& inventory; //!< what it communicates
    const std::vector<MemoryAccount>& memory;   //!< by device
};

/**
 * @ingroup proteus
 * Makes the tables of a compiled model.
 * @param compiled the model
 * @return summary, inventory, memory
 */
std::vector<Table> MakeCompileTables(const CompiledModel& compiled);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COMPILE_TABLES_H
