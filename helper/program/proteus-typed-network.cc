/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-typed-network.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

std::string
FindTyped(const Configuration& configuration, const std::string& name)
{
    const auto option = std::find_if(configuration.begin(), configuration.end(), [&](auto& typed) {
        return typed.first == name;
    });
    return option == configuration.end() ? "" : option->second;
}

bool
IsNamed(const TypedNetwork& typed, const std::string& option)
{
    const std::string begin = option + " has no effect";
    return std::any_of(typed.named.begin(), typed.named.end(), [&](const std::string& note) {
        return note.compare(0, begin.size(), begin) == 0;
    });
}

} // namespace proteus
} // namespace ns3
