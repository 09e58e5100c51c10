/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kernel-list.h"

#include "ns3/proteus-compile.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-warning.h"

#include <utility>

namespace ns3
{
namespace proteus
{

ProfileTable
ListKernels(const TrainingPlan& plan, const GpuDatasheet& gpu, const Framework& framework)
{
    ListedKernels listed = ListKernelTimes(plan.model, plan.tree, gpu, framework);
    if (listed.shared > 0)
    {
        Warn("--kernels: the list has mean times of " + FormatThings(listed.shared, "kernel") +
             " that stand for several operators, whose times with framework " + framework.name +
             " differ");
    }
    listed.table.description = "kernels of " + plan.model.GetName() + ", times computed";
    return std::move(listed.table);
}

} // namespace proteus
} // namespace ns3
