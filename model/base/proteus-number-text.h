/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NUMBER_TEXT_H
#define PROTEUS_NUMBER_TEXT_H

#include <cstdint>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param count a number @return it with a comma between thousands
std::string FormatCount(uint64_t count);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NUMBER_TEXT_H
