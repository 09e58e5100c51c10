/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STEP_SHARE_H
#define PROTEUS_STEP_SHARE_H

#include "ns3/proteus-graph-kinds.h"

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

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STEP_SHARE_H
