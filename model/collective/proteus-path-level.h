/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PATH_LEVEL_H
#define PROTEUS_PATH_LEVEL_H

#include <map>
#include <string>

/**
 * @file
 * @ingroup proteus
 * How NCCL's variables call the levels of ReadPathLevel().
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @return names of levels by the numbers that NCCL before 2.5 had for them, and reads to this day
const std::map<std::string, std::string>& GetPathLevelNumbers();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PATH_LEVEL_H
