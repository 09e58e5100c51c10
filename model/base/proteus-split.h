/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SPLIT_H
#define PROTEUS_SPLIT_H

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Divides a list.
 * @param text of the list, e.g. "a,b"
 * @param separator between items
 * @return the items as they stand, also empty ones: one more than separators; none of an empty text
 */
std::vector<std::string> SplitList(const std::string& text, char separator = ',');

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SPLIT_H
