/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FOREIGN_FILES_H
#define PROTEUS_FOREIGN_FILES_H

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * JSON files of other programs, which somebody may give where a file of this module belongs.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param keys of the object that a file holds @return what the file looks like, and who reads it,
/// e.g. "this is a configuration of DeepSpeed: ..."; empty if that is not known
std::string DescribeForeignFile(const std::vector<std::string>& keys);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FOREIGN_FILES_H
