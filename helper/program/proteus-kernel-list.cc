/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kernel-list.h"

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-kernel-cost.h"
#include "ns3/proteus-kernel-times.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

ProfileTable
ListKernels(const TrainingPlan& plan, const GpuDatasheet& gpu)
{
    const KernelCostModel cost(gpu);
    const PrecisionSpec& precision = plan.tree.precision;
    const bool isWide =
        precision.gradient == DataType::FP32 || precision.gradient == DataType::TF32;
    ProfileTable table;
    table.description = "kernels of " + plan.model.GetName() + ", times computed";
    CompileOptions compilation;
    compilation.kernelTime = [&](const KernelDescription& kernel) -> int64_t {
        const auto work = DescribeKernel(kernel, precision.compute, isWide ? 4 : 2);
        // Kernels of a ring are not timed as one (KernelWork::parts).
        const bool isNew =
            work && work->GetNKernels() > 0 && work->parts == 1 && !table.Find(gpu.model, *work);
        if (isNew)
        {
            table.Add({gpu.model,
                       work->kernelClass,
                       work->pass,
                       work->type,
                       work->shape,
                       cost.GetTime(*work).gpuPs});
        }
        return 0;
    };
    CompileModel(plan.model, plan.tree, compilation);
    return table;
}

} // namespace proteus
} // namespace ns3
