/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-chakra-groups.h"

#include "proteus-input-file.h"
#include "proteus-trace-graph.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-foreign-files.h"
#include "ns3/proteus-json.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// What a trace calls the group of all ranks.
constexpr const char* WORLD = "0";

} // namespace

void
ChakraGroups::ReadFile(const std::string& name)
{
    InputFile file(name);
    const JsonDocument document(file.GetStream(), file.GetName());
    const JsonValue root = document.GetRoot();
    if (const std::string foreign = DescribeForeignFile(root.GetKeys()); !foreign.empty())
    {
        root.Fail(foreign);
    }
    for (const std::string& key : root.GetKeys())
    {
        const JsonValue list = root.Get(key.c_str());
        ChakraGroup group;
        for (std::size_t i = 0; i < list.Size(); i++)
        {
            group.ranks.push_back(static_cast<DeviceId>(list.At(i).AsUnsigned(0, MAX_DEVICES - 1)));
        }
        if (group.ranks.empty())
        {
            list.Fail("must not be empty: say which ranks are in the group");
        }
        m_given[key] = group;
    }
    m_givenBy = name;
}

void
ChakraGroups::ReadNode(const std::string& user, const std::string& where, const ChakraNode& node)
{
    const std::size_t begin = node.inputValues.find("[{");
    const std::size_t end = node.inputValues.rfind("}]");
    if (begin == std::string::npos)
    {
        return; // no groups
    }
    if (end == std::string::npos || end < begin)
    {
        throw std::invalid_argument(where + ": the list of process groups is cut off");
    }
    std::string text;
    bool wasEscape = false;
    for (std::size_t i = begin; i < end + 2; i++)
    {
        const bool isEscape = node.inputValues[i] == '\\' && !wasEscape;
        if (!isEscape)
        {
            text += node.inputValues[i];
        }
        wasEscape = isEscape;
    }
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_array())
    {
        throw std::invalid_argument(where + ": the process groups are no JSON list");
    }
    for (const auto& entry : json)
    {
        Add(user, where, entry);
    }
}

namespace
{

/// @param where the group is @param group as the file has it
/// @throw std::invalid_argument if it has a key that looks like one that is read and not there
void
CheckKeys(const std::string& where, const nlohmann::json& group)
{
    std::vector<std::string> missing;
    for (const char* key : {"ranks", "group_size", "pg_size", "pg_desc"})
    {
        if (!group.contains(key))
        {
            missing.emplace_back(key);
        }
    }
    for (const auto& entry : group.items())
    {
        const bool isRead = entry.key() == "ranks" || entry.key() == "pg_name" ||
                            entry.key() == "group_size" || entry.key() == "pg_size" ||
                            entry.key() == "pg_desc";
        const std::string meant = isRead ? "" : FindNearest(entry.key(), missing);
        if (!meant.empty())
        {
            throw std::invalid_argument(where + " has the unknown key " + QuotedText(entry.key()) +
                                        "; did you mean " + meant + "?");
        }
    }
}

} // namespace

void
ChakraGroups::Add(const std::string& user, const std::string& where, const nlohmann::json& entry)
{
    const auto name = entry.is_object() ? entry.find("pg_name") : entry.end();
    if (!entry.is_object() || name == entry.end() ||
        !(name->is_string() || name->is_number_integer()))
    {
        throw std::invalid_argument(where + ": a process group has no pg_name");
    }
    const auto show = [](const nlohmann::json& value) {
        return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    };
    const std::string ofGroup = where + ": the process group " + show(*name);
    CheckKeys(ofGroup, entry);
    ChakraGroup group;
    const auto ranks = entry.find("ranks");
    if (ranks != entry.end() && !ranks->is_array())
    {
        throw std::invalid_argument(ofGroup + ": ranks must be a list of ranks, not " +
                                    show(*ranks).substr(0, 40));
    }
    if (ranks != entry.end())
    {
        for (const auto& rank : *ranks)
        {
            if (!rank.is_number_unsigned() || rank.get<uint64_t>() >= MAX_DEVICES)
            {
                throw std::invalid_argument(where + ": a process group has the rank " + show(rank) +
                                            ", which is none");
            }
            group.ranks.push_back(rank.get<DeviceId>());
            m_knownRanks = std::max(m_knownRanks, group.ranks.back() + 1);
        }
    }
    const auto description = entry.find("pg_desc");
    if (description != entry.end() && description->is_string())
    {
        group.parallelism = ParallelismFromDescription(description->get<std::string>());
    }
    // The profiler of PyTorch calls it pg_size.
    for (const char* key : {"group_size", "pg_size"})
    {
        const auto size = entry.find(key);
        if (size == entry.end())
        {
            continue;
        }
        if (!size->is_number_unsigned() || size->get<uint64_t>() > MAX_DEVICES)
        {
            throw std::invalid_argument(
                ofGroup + ": " + key + " must be a whole number from 0 to " +
                std::to_string(MAX_DEVICES) + ", not " + show(*size).substr(0, 40));
        }
        const auto known =
            group.ranks.empty() ? group.size : static_cast<uint32_t>(group.ranks.size());
        if (known != 0 && size->get<uint32_t>() != known)
        {
            throw std::invalid_argument(ofGroup + " has " + std::to_string(known) +
                                        " ranks and is said to have " + size->dump());
        }
        group.size = group.ranks.empty() ? size->get<uint32_t>() : group.size;
        m_knownRanks = std::max(m_knownRanks, group.size);
    }
    const std::string key = name->is_string() ? name->get<std::string>() : name->dump();
    const auto [known, isNew] = m_own[user].emplace(key, group);
    if (!isNew && known->second.ranks != group.ranks)
    {
        throw std::invalid_argument(where + ": the process group " + QuotedText(key) +
                                    " is there twice, of different ranks");
    }
}

namespace
{

/// @return the digits that a name begins with, without zeros before them; empty if there are none
std::string
NumberOf(const std::string& name)
{
    const std::string digits = name.substr(0, name.find_first_not_of("0123456789"));
    const std::size_t first = digits.find_first_not_of('0');
    return digits.empty() ? digits : first == std::string::npos ? "0" : digits.substr(first);
}

} // namespace

std::string
ChakraGroups::FindName(const std::string& name, const std::string& user) const
{
    const std::string number = NumberOf(name);
    if (number.empty() || FindKnown(name, user) != nullptr)
    {
        return name;
    }
    std::vector<std::string> meant;
    for (const auto& [key, group] : m_given)
    {
        if (NumberOf(key) == number)
        {
            meant.push_back(key);
        }
    }
    if (meant.size() > 1)
    {
        throw std::invalid_argument(user + ": process group " + QuotedText(name) + " may be " +
                                    QuotedText(meant[0]) + " or " + QuotedText(meant[1]) + " of " +
                                    m_givenBy);
    }
    return meant.empty() ? name : meant[0];
}

std::vector<std::string>
ChakraGroups::DescribeDoubts(const std::map<std::string, std::string>& used, uint32_t nRanks) const
{
    std::vector<std::string> doubts;
    std::vector<std::string> asNumbers;
    std::set<std::string> inUse;
    for (const auto& [name, key] : used)
    {
        inUse.insert(key);
        if (name != key)
        {
            asNumbers.push_back(QuotedText(name) + " is " + QuotedText(key));
        }
    }
    if (!asNumbers.empty())
    {
        doubts.push_back(m_givenBy + ": names of groups are taken for numbers, as in ASTRA-sim: " +
                         ListSome(asNumbers));
    }
    const auto world = m_given.find(WORLD);
    if (world != m_given.end() && used.count(WORLD) != 0 && world->second.ranks.size() != nRanks)
    {
        doubts.push_back(m_givenBy + ": '" + WORLD + "' is " +
                         FormatThings(world->second.ranks.size(), "rank") + " of " +
                         std::to_string(nRanks) + ", as it says; ASTRA-sim takes '" + WORLD +
                         "' of a trace for all ranks whatever the file says");
    }
    std::vector<std::string> idle;
    for (const auto& [name, group] : m_given)
    {
        if (inUse.count(name) == 0)
        {
            idle.push_back(QuotedText(name));
        }
    }
    const std::string cause = "no collective of the trace is in ";
    if (!m_givenBy.empty() && idle.size() == m_given.size())
    {
        doubts.push_back(m_givenBy + ": has no effect: " + cause + "one of its groups");
    }
    else if (!idle.empty())
    {
        doubts.push_back(m_givenBy + ": " + cause + ListSome(idle));
    }
    return doubts;
}

const ChakraGroup*
ChakraGroups::FindKnown(const std::string& name, const std::string& user) const
{
    const auto find = [&name](const ByName& groups) -> const ChakraGroup* {
        const auto found = groups.find(name);
        return found == groups.end() ? nullptr : &found->second;
    };
    const auto own = m_own.find(user);
    const ChakraGroup* known = own == m_own.end() ? nullptr : find(own->second);
    if (const ChakraGroup* given = find(m_given))
    {
        if (known != nullptr && !known->ranks.empty() && known->ranks != given->ranks)
        {
            throw std::invalid_argument(user + ": process group " + QuotedText(name) +
                                        " has other ranks in the trace than in " + m_givenBy +
                                        ": call it otherwise there, or leave it out");
        }
        return given;
    }
    for (auto other = m_own.begin(); known == nullptr && other != m_own.end(); ++other)
    {
        known = find(other->second);
    }
    return known;
}

ChakraGroup
ChakraGroups::Find(const std::string& name,
                   const std::string& user,
                   uint32_t nRanks,
                   bool standsForAll) const
{
    const ChakraGroup* found = FindKnown(name, user);
    if (found == nullptr && !name.empty() && name != WORLD)
    {
        std::set<std::string> names;
        for (const auto& entry : m_given)
        {
            names.insert(entry.first);
        }
        for (const auto& file : m_own)
        {
            for (const auto& entry : file.second)
            {
                names.insert(entry.first);
            }
        }
        std::string known;
        for (const std::string& entry : names)
        {
            AppendName(known, QuotedText(entry));
        }
        throw std::invalid_argument(
            user + ": there is no process group " + QuotedText(name) + "; " +
            (known.empty() ? std::string("the trace names none") : "known are " + known) +
            "; a file {\"NAME\": [RANK, ...]} can say who is in it (--traceGroups)");
    }
    ChakraGroup group = found == nullptr ? ChakraGroup() : *found;
    if (!group.ranks.empty())
    {
        return group;
    }
    const bool isOfAll = standsForAll && group.size == m_knownRanks;
    if (group.size != 0 && group.size != nRanks && !isOfAll)
    {
        throw std::invalid_argument(
            user + ": process group " + QuotedText(name) + " has " + std::to_string(group.size) +
            " ranks, but the trace does not tell which, and the job has " + std::to_string(nRanks) +
            "; a file {\"NAME\": [RANK, ...]} can say who is in it (--traceGroups)");
    }
    for (DeviceId rank = 0; rank < nRanks; rank++)
    {
        group.ranks.push_back(rank);
    }
    return group;
}

} // namespace proteus
} // namespace ns3
