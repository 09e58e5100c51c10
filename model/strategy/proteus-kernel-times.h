/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KERNEL_TIMES_H
#define PROTEUS_KERNEL_TIMES_H

#include "proteus-compiler.h"

#include "ns3/proteus-kernel-cost.h"

#include <cstdint>
#include <functional>
#include <optional>

/**
 * @file
 * @ingroup proteus
 * What the operators of a compiled model ask of a GPU, and how long that takes.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Describes a kernel of the compiler to the cost model: the shape comes from the iteration space
 * and the FLOPs, the traffic is the compiler's.
 *
 * The gradient of an embedding table is made for the whole table, see MakeEmbeddingWork(). Unfused
 * attention whose heads share keys in groups is taken as attention with fewer, wider heads, which
 * has the same operations and traffic. Attention is taken for unfused if its traffic has room for
 * the scores.
 *
 * @param kernel what the compiler says of it
 * @param activation number format of activations and of the tables' rows
 * @param gradientBytes per element of the gradients of parameters
 * @return the work; nothing for a kind of operator that is not known here
 * @throw std::invalid_argument that names the operator, if its size does not fit
 */
std::optional<KernelWork> DescribeKernel(const KernelDescription& kernel,
                                         DataType activation,
                                         uint32_t gradientBytes);

/**
 * @ingroup proteus
 * What CompileOptions::kernelTime wants.
 * @param model of the GPU; must outlive the function
 * @param activation number format of activations and of the tables' rows
 * @param gradientBytes per element of the gradients of parameters
 * @return a function that times kernels; -1 for what DescribeKernel() does not know
 */
std::function<int64_t(const KernelDescription&)> MakeKernelTimer(const KernelCostModel& model,
                                                                 DataType activation,
                                                                 uint32_t gradientBytes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KERNEL_TIMES_H
