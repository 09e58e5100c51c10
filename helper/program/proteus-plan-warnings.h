/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLAN_WARNINGS_H
#define PROTEUS_PLAN_WARNINGS_H

#include "proteus-framework-option.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-profile-table.h"

#include <optional>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Names what a GPU or a framework has not that a job asks for: number formats, kernels of fused
/// attention, casts, rules of operators.
/// @param plan that was compiled @param gpu that computes it @param framework whose kernels it has
void WarnOfPlan(const TrainingPlan& plan, const GpuDatasheet& gpu, const Framework& framework);

/// @ingroup proteus
/// Names measured times that a job does not use or that look as if they were in another unit, and
/// kernels of it that have none.
/// @param measured the times, if there are some @param path of their file
void WarnOfProfile(const std::optional<ProfileTable>& measured, const std::string& path);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLAN_WARNINGS_H
