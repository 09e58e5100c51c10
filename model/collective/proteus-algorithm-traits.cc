/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-registry.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

AlgorithmRegistration::AlgorithmRegistration(const AlgorithmTraits& traits)
{
    Registry<AlgorithmTraits>::Registration(traits.name, traits);
}

const std::vector<AlgorithmTraits>&
GetAllAlgorithms()
{
    // Nothing asks before main() begins, and nothing is registered after that.
    static const std::vector<AlgorithmTraits> all = [] {
        std::vector<AlgorithmTraits> list;
        for (const auto& [name, traits] : Registry<AlgorithmTraits>::Get().GetAll())
        {
            list.push_back(traits);
        }
        std::stable_sort(list.begin(),
                         list.end(),
                         [](const AlgorithmTraits& a, const AlgorithmTraits& b) {
                             return a.place < b.place; // then by name
                         });
        return list;
    }();
    return all;
}

const AlgorithmTraits&
GetAlgorithmTraits(const std::string& name)
{
    static const AlgorithmTraits unknown;
    for (const AlgorithmTraits& traits : GetAllAlgorithms())
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
    for (const AlgorithmTraits& traits : GetAllAlgorithms())
    {
        if (has(traits))
        {
            names.push_back(traits.name);
        }
    }
    return ListAlternatives(names);
}

std::vector<std::string>
GetAlgorithms(Collective collective)
{
    std::vector<std::string> names;
    for (const AlgorithmTraits& traits : GetAllAlgorithms())
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
    for (const AlgorithmTraits& traits : GetAllAlgorithms())
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
        AppendName(known, traits.name);
    }
    throw std::invalid_argument(std::string(ToString(collective)) + ": there is no algorithm \"" +
                                algorithm + "\"; there is " + known);
}

} // namespace proteus
} // namespace ns3
