/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_READABLE_FILE_H
#define PROTEUS_READABLE_FILE_H

#include <string>

/**
 * @file
 * @ingroup proteus
 * Whether a file can be read, and if not, why.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param path of a file, which is not opened @return whether it can be read
bool IsReadable(const std::string& path);

/// @ingroup proteus
/// @param path of a file that cannot be read @return why, for a message: there is none, it is a
/// link to nothing, or what else the system says
std::string DescribeUnreadable(const std::string& path);

/// @ingroup proteus
/// @param path of a file or folder, as it was typed
/// @return what to write instead of a "~" that the shell has left as it is; empty: there is none
std::string DescribeHome(const std::string& path);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_READABLE_FILE_H
