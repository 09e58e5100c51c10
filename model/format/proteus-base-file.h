/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_BASE_FILE_H
#define PROTEUS_BASE_FILE_H

#include <cstddef>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Files that are described by what is other than in another one, their "base".
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param fileName of a file @param base of it, as it says @param folder where a base is looked
/// for, too, after the folder of the file; "" for nowhere else
/// @return the path of the base, beside the file if there is none
std::string FindBaseFile(const std::string& fileName,
                         const std::string& base,
                         const std::string& folder);

/// @ingroup proteus
/// @param fileName of a file @param nBefore files whose base, or whose base's base, it is
/// @throw std::invalid_argument where these are so many that one of them is its own base
void CheckBases(const std::string& fileName, std::size_t nBefore);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_BASE_FILE_H
