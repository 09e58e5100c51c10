/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-study.h"

#include "ns3/proteus-split.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <set>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t MAX_DIGITS = 9; //!< of a number in a range

/// @return the number that a text is, and nothing else
std::size_t
ToNumber(const std::string& text, const std::string& whole)
{
    if (text.empty() || text.size() > MAX_DIGITS ||
        text.find_first_not_of("0123456789") != std::string::npos)
    {
        throw std::invalid_argument("'" + whole +
                                    "' must be whole numbers and ranges, e.g. 1-20 or 1,2,8-16");
    }
    return std::stoul(text);
}

/// @return an FNV-1a sum of 64 bits that begins at a basis
uint64_t
Sum(const std::string& text, uint64_t basis)
{
    constexpr uint64_t PRIME = 0x100000001b3;
    for (const char c : text)
    {
        basis = (basis ^ static_cast<unsigned char>(c)) * PRIME;
    }
    return basis;
}

} // namespace

bool
HasLabels(const Study& study, const std::vector<std::string>& labels, const StudyFilter& filter)
{
    for (std::size_t i = 0; i < study.axes.size(); ++i)
    {
        const auto wanted = filter.find(study.axes[i].name);
        if (wanted != filter.end() && wanted->second != labels[i])
        {
            return false;
        }
    }
    return true;
}

std::vector<StudyPoint>
ListPoints(const Study& study)
{
    std::size_t total = 1;
    for (const StudyAxis& axis : study.axes)
    {
        total *= axis.values.size();
        if (total > MAX_STUDY_POINTS)
        {
            throw std::invalid_argument("a study has at most " + std::to_string(MAX_STUDY_POINTS) +
                                        " points: leave values out, or divide it");
        }
    }
    std::vector<StudyPoint> points;
    for (std::size_t i = 0; i < total; ++i)
    {
        StudyPoint point;
        point.options = study.options;
        point.labels.resize(study.axes.size());
        std::size_t rest = i;
        for (std::size_t a = study.axes.size(); a-- > 0;)
        {
            const auto& values = study.axes[a].values;
            const StudyValue& value = values[rest % values.size()];
            rest /= values.size();
            point.labels[a] = value.label;
            for (const auto& [name, text] : value.options)
            {
                point.options[name] = text;
            }
        }
        if (std::none_of(study.skips.begin(), study.skips.end(), [&](const StudyFilter& skip) {
                return HasLabels(study, point.labels, skip);
            }))
        {
            point.number = points.size() + 1;
            points.push_back(std::move(point));
        }
    }
    if (points.empty())
    {
        throw std::invalid_argument("nothing is left of the study: 'skip' leaves all points out");
    }
    return points;
}

StudyShard
ParseShard(const std::string& text)
{
    const std::size_t slash = text.find('/');
    StudyShard shard;
    try
    {
        shard.index = ToNumber(text.substr(0, slash), text);
        shard.count = slash == std::string::npos ? 0 : ToNumber(text.substr(slash + 1), text);
    }
    catch (const std::invalid_argument&)
    {
        shard.count = 0;
    }
    if (shard.count < 1 || shard.index < 1 || shard.index > shard.count)
    {
        throw std::invalid_argument("--shard=" + text +
                                    ": must be i/n, the i-th of n parts, e.g. 1/4 to 4/4");
    }
    return shard;
}

std::vector<std::size_t>
ParseNumbers(const std::string& text)
{
    std::vector<std::size_t> numbers;
    for (const std::string& part : SplitList(text))
    {
        const std::size_t dash = part.find('-');
        const std::size_t first = ToNumber(part.substr(0, dash), text);
        const std::size_t last =
            dash == std::string::npos ? first : ToNumber(part.substr(dash + 1), text);
        if (last < first || last - first >= MAX_STUDY_POINTS)
        {
            throw std::invalid_argument("'" + text + "': the range " + part +
                                        " goes down or is too long");
        }
        for (std::size_t number = first; number <= last; ++number)
        {
            numbers.push_back(number);
        }
    }
    if (numbers.empty())
    {
        ToNumber(text, text); // says what it must be
    }
    const std::set<std::size_t> once(numbers.begin(), numbers.end());
    if (once.size() != numbers.size())
    {
        throw std::invalid_argument("'" + text + "': a number is there twice");
    }
    return numbers;
}

std::string
DescribeContent(const Study& study,
                const StudyPoint& point,
                const std::string& version,
                const std::map<std::string, std::string>& digests)
{
    std::string text = study.program + " " + version + "\n";
    for (const auto& [name, value] : point.options)
    {
        text += "--" + name + "=" + value + "\n";
    }
    for (const auto& [name, digest] : digests)
    {
        text += "file of --" + name + " " + digest + "\n";
    }
    text += "table " + study.table + "\n";
    return text;
}

std::string
Digest(const std::string& text)
{
    constexpr uint64_t BASIS = 0xcbf29ce484222325;
    char digits[33];
    const uint64_t first = Sum(text, BASIS);
    std::snprintf(digits,
                  sizeof(digits),
                  "%016llx%016llx",
                  static_cast<unsigned long long>(first),
                  static_cast<unsigned long long>(Sum(text, first ^ text.size())));
    return digits;
}

} // namespace proteus
} // namespace ns3
