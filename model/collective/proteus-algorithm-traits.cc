/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return where registrations go, which may come before anything else of the program is made
std::vector<AlgorithmTraits>&
GetRegistry()
{
    static std::vector<AlgorithmTraits> registry;
    return registry;
}

} // namespace

AlgorithmRegistration::AlgorithmRegistration(const AlgorithmTraits& traits)
{
    auto& registry = GetRegistry();
    // The order must not depend on that of the files in the library.
    const auto place =
        std::lower_bound(registry.begin(),
                         registry.end(),
                         traits,
                         [](const AlgorithmTraits& a, const AlgorithmTraits& b) {
                             return std::tie(a.place, a.name) < std::tie(b.place, b.name);
                         });
    for (const AlgorithmTraits& other : registry)
    {
        if (other.name == traits.name)
        {
            throw std::logic_error("two algorithms are called " + traits.name);
        }
    }
    registry.insert(place, traits);
}

const std::vector<AlgorithmTraits>&
GetAllAlgorithms()
{
    return GetRegistry();
}

const AlgorithmTraits&
GetAlgorithmTraits(const std::string& name)
{
    static const AlgorithmTraits unknown;
    for (const AlgorithmTraits& traits : GetRegistry())
    {
        if (traits.name == name)
        {
            return traits;
        }
    }
    return unknown;
}

std::string
ListAlgorithms(bool (*has)(const AlgorithmTraits&))
{
    std::vector<std::string> names;
    for (const AlgorithmTraits& traits : GetRegistry())
    {
        if (has(traits))
        {
            names.push_back(traits.name);
        }
    }
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
    {
        text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
    }
    return text;
}

std::vector<std::string>
GetAlgorithms(Collective collective)
{
    std::vector<std::string> names;
    for (const AlgorithmTraits& traits : GetRegistry())
    {
        if (traits.makers.count(collective) > 0)
        {
            names.push_back(traits.name);
        }
    }
    return names;
}

CollectiveAlgorithm
FindAlgorithm(Collective collective, const std::string& algorithm)
{
    std::string known;
    for (const AlgorithmTraits& traits : GetRegistry())
    {
        const auto maker = traits.makers.find(collective);
        if (maker == traits.makers.end())
        {
            continue;
        }
        if (algorithm.empty() || algorithm == traits.name)
        {
            return maker->second;
        }
        known += (known.empty() ? "" : ", ") + traits.name;
    }
    throw std::invalid_argument(std::string(ToString(collective)) + ": there is no algorithm \"" +
                                algorithm + "\"; there is " + known);
}

} // namespace proteus
} // namespace ns3
