/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SORT_UNIQUE_H
#define PROTEUS_SORT_UNIQUE_H

#include <algorithm>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Sorts values, upwards, and keeps each once. @param values a vector, of whatever kind
template <typename VALUES>
void
SortUnique(VALUES& values)
{
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SORT_UNIQUE_H
