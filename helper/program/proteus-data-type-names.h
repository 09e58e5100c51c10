/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_DATA_TYPE_NAMES_H
#define PROTEUS_DATA_TYPE_NAMES_H

#include "ns3/proteus-graph.h"

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @return names of number formats, for options
inline std::vector<std::string>
ListDataTypes()
{
    std::vector<std::string> names;
    for (const DataType type :
         {DataType::FP32, DataType::TF32, DataType::BF16, DataType::FP16, DataType::FP8})
    {
        names.emplace_back(ToString(type));
    }
    return names;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_DATA_TYPE_NAMES_H
