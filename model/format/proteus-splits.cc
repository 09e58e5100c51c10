/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-splits.h"

#include "proteus-text-reader.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint64_t MOST_SHARE = uint64_t{1} << 40;

/// @return the largest sum of a line
uint64_t
GetLargestSum(const SplitTable& table)
{
    uint64_t largest = 0;
    for (auto line = table.shares.begin(); line != table.shares.end(); line += table.ranks)
    {
        largest = std::max(largest, std::accumulate(line, line + table.ranks, uint64_t{0}));
    }
    return largest;
}

} // namespace

SplitTable
LoadSplits(const std::string& fileName)
{
    TextReader reader(fileName);
    SplitTable table;
    table.fileName = fileName;
    uint32_t lines = 0;
    for (std::string line; reader.ReadLine(line);)
    {
        std::replace_if(
            line.begin(),
            line.end(),
            [](char c) { return c == ',' || c == ';'; },
            ' ');
        const auto words = TextReader::Split(line);
        if (words.empty())
        {
            continue;
        }
        if (lines == 0 && std::isdigit(static_cast<unsigned char>(words[0][0])) == 0)
        {
            if (const std::string foreign = reader.DescribeForeign(line); !foreign.empty())
            {
                reader.Fail(foreign);
            }
        }
        table.ranks = lines == 0 ? static_cast<uint32_t>(words.size()) : table.ranks;
        if (words.size() != table.ranks || ++lines > table.ranks)
        {
            reader.Fail("a table of splits has as many lines as numbers in the first line, " +
                        std::to_string(table.ranks) + ", and as many numbers in every line");
        }
        for (const std::string& word : words)
        {
            table.shares.push_back(reader.ToUnsigned(word, "share", MOST_SHARE));
        }
    }
    if (lines != table.ranks || GetLargestSum(table) == 0)
    {
        throw std::invalid_argument(fileName + ": a table of splits has as many lines as numbers " +
                                    "in the first line, and not all of them are zero");
    }
    return table;
}

std::vector<uint64_t>
ScaleSplits(const SplitTable& table, uint64_t bytes, uint64_t unit)
{
    const auto largest = static_cast<long double>(GetLargestSum(table));
    std::vector<uint64_t> splits;
    splits.reserve(table.shares.size());
    for (const uint64_t share : table.shares)
    {
        const auto part = static_cast<uint64_t>(static_cast<long double>(bytes) * share / largest);
        splits.push_back(part / unit * unit);
    }
    return splits;
}

} // namespace proteus
} // namespace ns3
