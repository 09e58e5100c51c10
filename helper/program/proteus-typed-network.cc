/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-typed-network.h"

#include "proteus-name-lists.h"

#include "ns3/proteus-cluster-text.h"
#include "ns3/proteus-split.h"

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

std::vector<std::pair<std::string, std::string>>
ListClusterSettings(const Configuration& configuration)
{
    const std::string typed = FindTyped(configuration, "cluster");
    const std::string text = typed.empty() ? typed : FindClusterName(typed);
    if (!IsClusterText(text))
    {
        return {};
    }
    return SplitSettings("--cluster=" + typed,
                         text.substr(GetTextPreset(text).size() + 1),
                         "nic=4x200G-roce");
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
