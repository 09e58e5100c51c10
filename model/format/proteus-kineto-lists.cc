/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kineto-lists.h"

#include "proteus-kineto-events.h"

#include "ns3/proteus-shown-name.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>

namespace ns3
{
namespace proteus
{
namespace kineto
{

bool
HasUnequal(JsonValue split)
{
    std::set<std::string> sizes;
    if (split.IsString())
    {
        std::string size;
        for (const char c : split.AsString())
        {
            if (c >= '0' && c <= '9')
            {
                size += c;
            }
            else if (!size.empty())
            {
                sizes.insert(size);
                size.clear();
            }
        }
        return sizes.size() > 1;
    }
    for (std::size_t i = 0; split.IsList() && i < split.Size(); i++)
    {
        sizes.insert(split.At(i).Shown());
    }
    return sizes.size() > 1;
}

std::vector<DeviceId>
ReadRanks(JsonValue value)
{
    std::vector<DeviceId> ranks;
    if (!value.IsString())
    {
        for (std::size_t i = 0; i < value.Size(); i++)
        {
            ranks.push_back(static_cast<DeviceId>(value.At(i).AsUnsigned(0, MAX_DEVICES - 1)));
        }
        return ranks;
    }
    const std::string& text = value.AsString();
    if (Contains(text, "..."))
    {
        return {};
    }
    if (text.find_first_not_of("[0123456789, ]") != std::string::npos)
    {
        value.Fail("must be a list of ranks, such as [0, 1], not " + QuotedText(text));
    }
    bool isInNumber = false;
    for (const char c : text)
    {
        if (c < '0' || c > '9')
        {
            isInNumber = false;
            continue;
        }
        if (!isInNumber)
        {
            ranks.push_back(0);
        }
        isInNumber = true;
        ranks.back() = 10 * ranks.back() + static_cast<DeviceId>(c - '0');
        if (ranks.back() >= MAX_DEVICES)
        {
            value.Fail("has a rank that is too large");
        }
    }
    return ranks;
}

std::vector<DeviceId>
ReadGroupRanks(JsonValue value)
{
    if (!value.IsObject())
    {
        return ReadRanks(value);
    }
    std::vector<DeviceId> list;
    for (const std::string& key : value.GetKeys())
    {
        if (key.empty() || key.size() > 7 ||
            key.find_first_not_of("0123456789") != std::string::npos)
        {
            value.Fail("has the rank " + key.substr(0, 20) + ", which is none");
        }
        list.push_back(static_cast<DeviceId>(std::stoul(key)));
    }
    std::sort(list.begin(), list.end());
    return list;
}

} // namespace kineto
} // namespace proteus
} // namespace ns3
