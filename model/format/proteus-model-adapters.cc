/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-model-adapters.h"

#include <algorithm>
#include <cstdint>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param field of a rank @param variables of the file @return the rank
uint64_t
ReadRank(const JsonValue& field, const ModelVariables& variables)
{
    const int64_t number = variables.Evaluate(field);
    if (number < 0)
    {
        field.Fail("a rank must not be negative, and is " + std::to_string(number));
    }
    return static_cast<uint64_t>(number);
}

} // namespace

bool
IsAdapterField(const std::string& key)
{
    return key == "adapter" || key == "adapterShared" || key == "adapterDropout" ||
           key == "adapterWide";
}

std::optional<AdapterSpec>
ReadAdapterSpec(const JsonValue& value, const ModelVariables& variables)
{
    const auto ranks = value.Find("adapter");
    if (!ranks)
    {
        return std::nullopt;
    }
    AdapterSpec spec;
    if (ranks->IsList())
    {
        for (std::size_t i = 0; i < ranks->Size(); ++i)
        {
            spec.ranks.push_back(ReadRank(ranks->At(i), variables));
        }
    }
    else
    {
        spec.ranks = {ReadRank(*ranks, variables)};
    }
    const auto shared = value.Find("adapterShared");
    if (shared && variables.Evaluate(*shared) != 0 && !spec.ranks.empty())
    {
        spec.ranks = {*std::max_element(spec.ranks.begin(), spec.ranks.end())};
    }
    const auto dropout = value.Find("adapterDropout");
    spec.hasDropout = dropout && variables.Evaluate(*dropout) != 0;
    const auto wide = value.Find("adapterWide");
    spec.isWide = wide && variables.Evaluate(*wide) != 0;
    if (const auto word = value.Find("tensorParallel"))
    {
        spec.tensorParallel = word->AsName();
    }
    return spec;
}

} // namespace proteus
} // namespace ns3
