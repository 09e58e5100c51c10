/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KINETO_LISTS_H
#define PROTEUS_KINETO_LISTS_H

#include "ns3/proteus-graph.h"
#include "ns3/proteus-json.h"

#include <vector>

/**
 * @file
 * @ingroup proteus
 * Lists of numbers in a trace of PyTorch's profiler, which may be texts.
 */

namespace ns3
{
namespace proteus
{
namespace kineto
{

/// @param split sizes as a list, or as text "[8, 8]" @return whether they differ
bool HasUnequal(JsonValue split);

/// @param value ranks as a list, or as text "[0, 1]" @return them; nothing where the text leaves
/// some out @throw std::invalid_argument for another text, or a rank that is too large
std::vector<DeviceId> ReadRanks(JsonValue value);

/// @param value as ReadRanks(), or, in older versions, an object {"0": 0, ...} of ranks to places
/// @return the ranks, those of an object in order @throw std::invalid_argument as ReadRanks()
std::vector<DeviceId> ReadGroupRanks(JsonValue value);

} // namespace kineto
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KINETO_LISTS_H
