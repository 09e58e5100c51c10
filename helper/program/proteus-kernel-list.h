/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KERNEL_LIST_H
#define PROTEUS_KERNEL_LIST_H

#include "proteus-framework-option.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-profile-table.h"

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param plan of a job @param gpu that it runs on @param framework that trains
/// @return every kernel of the job once, with its computed time, as --profile reads it
ProfileTable ListKernels(const TrainingPlan& plan,
                         const GpuDatasheet& gpu,
                         const Framework& framework);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KERNEL_LIST_H
