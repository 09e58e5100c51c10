/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-study-idle.h"

#include "proteus-study-result.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-shown-name.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// What the measure is by the value of one axis, where all else is alike.
using ByValue = std::map<std::string, std::vector<double>>;

/// @param study that was run @param table of it @param axis which one @return a ByValue for each
/// combination of all else, in any order
std::vector<ByValue>
ListPlaces(const Study& study, const Table& table, const std::string& axis)
{
    std::vector<std::size_t> others{FindColumn(table, "executor")};
    for (const StudyAxis& other : study.axes)
    {
        if (other.name != axis)
        {
            others.push_back(FindColumn(table, other.name));
        }
    }
    const std::size_t own = FindColumn(table, axis);
    const std::size_t measure = FindColumn(table, study.measure);
    std::map<std::vector<std::string>, ByValue> places;
    for (const auto& row : table.rows)
    {
        if (const auto number = ToNumber(row[measure]))
        {
            std::vector<std::string> labels(others.size());
            std::transform(others.begin(),
                           others.end(),
                           labels.begin(),
                           [&row](std::size_t column) { return ToText(row[column]); });
            places[labels][ToText(row[own])].push_back(*number);
        }
    }
    std::vector<ByValue> list;
    for (auto& place : places)
    {
        list.push_back(std::move(place.second));
    }
    return list;
}

/// @param places of an axis @param a one of its values @param b another one @return whether the
/// measure is the same with both wherever both are, which is somewhere
bool
AreAlike(const std::vector<ByValue>& places, const std::string& a, const std::string& b)
{
    bool isAnywhere = false;
    for (const ByValue& place : places)
    {
        const auto one = place.find(a);
        const auto other = place.find(b);
        if (one == place.end() || other == place.end())
        {
            continue;
        }
        if (one->second != other->second)
        {
            return false;
        }
        isAnywhere = true;
    }
    return isAnywhere;
}

} // namespace

std::vector<std::string>
FindIdleValues(const Study& study, const Table& table)
{
    std::vector<std::string> lines;
    for (const StudyAxis& axis : study.axes)
    {
        const std::vector<ByValue> places = ListPlaces(study, table, axis.name);
        std::vector<std::vector<std::string>> sets;
        for (const StudyValue& value : axis.values)
        {
            const auto found = std::find_if(sets.begin(), sets.end(), [&](const auto& set) {
                return std::all_of(set.begin(), set.end(), [&](const std::string& other) {
                    return AreAlike(places, value.label, other);
                });
            });
            (found == sets.end() ? sets.emplace_back() : *found).push_back(value.label);
        }
        for (const auto& set : sets)
        {
            if (set.size() > 1)
            {
                lines.push_back("the axis " + ShownName(axis.name) + ": " + study.measure +
                                " is the same with " + ListSome(set) +
                                ", to the last digit, wherever all else is alike");
            }
        }
    }
    return lines;
}

} // namespace proteus
} // namespace ns3
