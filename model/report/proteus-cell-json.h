/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CELL_JSON_H
#define PROTEUS_CELL_JSON_H

#include "proteus-table.h"

#include <nlohmann/json.hpp>
#include <type_traits>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param cell of a table @return it as JSON, null where nothing stands in it
inline nlohmann::ordered_json
CellToJson(const Cell& cell)
{
    return std::visit(
        [](const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
            {
                return nlohmann::ordered_json();
            }
            else
            {
                return nlohmann::ordered_json(value);
            }
        },
        cell);
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CELL_JSON_H
