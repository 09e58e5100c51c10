/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STEP_SHARE_H
#define PROTEUS_STEP_SHARE_H

#include "proteus-achieved-rates.h"

#include "ns3/proteus-graph-kinds.h"

#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup proteus
 * What GPUs keep up in steps of training; the numbers are those of proteus-achieved-rates.cc.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Products of a step may fall short of FindAchievedMatrixShare() on one GPU more than on an H100,
 * on which the shares of frameworks with matrixGpus 1 were measured.
 * @param gpu name of a data sheet
 * @param type number format
 * @return what steps keep up of both together; 1 where nothing else is known
 */
double FindShareInSteps(const std::string& gpu, DataType type);

/**
 * @ingroup proteus
 * @param gpu name of a data sheet
 * @param type number format
 * @param duty as for FindAchievedMatrixShare()
 * @return what is left of the rate of products when the clock falls; 1 where it is not known to
 */
double FindClockLoss(const std::string& gpu, DataType type, const GpuDuty& duty);

/// @ingroup proteus
/// @param gpu name of a data sheet @param type number format
/// @return whether it is an H100's processor with less than 700 W, whose clock is FindClock()
bool HasLowerLimit(const std::string& gpu, DataType type);

/**
 * @ingroup proteus
 * What a lower limit than 700 W takes of fused attention on an H100, whose rate was measured under
 * 700 W, where attention kept it within loaded steps: it loses what the clock loses beyond.
 * @param gpu name of a data sheet
 * @param type number format
 * @param duty of the GPU
 * @return what is left of its rate; 1 for other GPUs
 */
double FindAttentionClockLoss(const std::string& gpu, DataType type, const GpuDuty& duty);

/**
 * @ingroup proteus
 * Whether the clock falls under a kernel of fused attention as it does under products. What is
 * known of Blackwell was measured with one (flashinfer-ai/flashinfer, pull request 2899): alone,
 * FlashAttention-4 falls from 1450 to 1237 TFLOP/s within some 70 runs. Of kernels that feed its
 * matrix units by older instructions, and are a third as fast, nothing is known; on Hopper
 * attention kept its rate within loaded steps.
 * @param kernel of attention
 * @param capability compute capability of a GPU, ten times
 * @return whether it takes as much power as products do
 */
bool IsPowerLimited(AttentionKernel kernel, uint32_t capability);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STEP_SHARE_H
