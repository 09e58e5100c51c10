/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-flags.h"

#include "ns3/proteus-comma-list.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param name as files write it, e.g. "servers_per_leaf" @return e.g. "serversPerLeaf"
std::string
ToFlag(const std::string& name)
{
    std::string flag;
    bool upper = false;
    for (char c : name)
    {
        if (c == '_')
        {
            upper = true;
            continue;
        }
        flag += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        upper = false;
    }
    return flag;
}

/// @return the options of all kinds, each once, and the kinds that have it
std::map<std::string, std::pair<FabricOptionField, std::string>>
CollectFields()
{
    std::map<std::string, std::pair<FabricOptionField, std::string>> fields;
    for (const std::string& kind : GetFabricKinds())
    {
        for (const FabricOptionField& field : GetFabricOptionFields(kind))
        {
            const auto [place, isNew] = fields.emplace(field.name, std::make_pair(field, kind));
            if (!isNew)
            {
                place->second.second += ", " + kind;
            }
        }
    }
    return fields;
}

/// @param options any @param field of them @return the same with other values of the field
std::vector<FabricOptions>
ChangeField(const FabricOptions& options, const FabricOptionField& field)
{
    std::vector<FabricOptions> changed(3, options);
    if (field.whole != nullptr)
    {
        const uint32_t value = options.*field.whole;
        changed[0].*field.whole = std::max<uint32_t>(1, static_cast<uint32_t>(field.least));
        changed[1].*field.whole = value + 1;
        changed[2].*field.whole = 2 * value;
    }
    else
    {
        const double value = options.*field.real;
        changed[0].*field.real = 1;
        changed[1].*field.real = 2 * value;
        changed[2].*field.real = 3 * value;
    }
    return changed;
}

/// @param describe DescribeNetwork() of fabrics @param given options @param others that differ
/// @return whether all of them make the same network; not, if one cannot be made
bool
IsIdle(const std::function<std::string(const FabricOptions&)>& describe,
       const FabricOptions& given,
       const std::vector<FabricOptions>& others)
{
    try
    {
        const std::string network = describe(given);
        return std::all_of(others.begin(), others.end(), [&](const FabricOptions& other) {
            return describe(other) == network;
        });
    }
    catch (const std::exception&) // which the run reports, if it is about what was given
    {
        return false;
    }
}

} // namespace

std::string
DescribeNetwork(const Cluster& cluster)
{
    std::ostringstream text;
    text << std::hexfloat << cluster.GetVertices().size();
    for (const Link& link : cluster.GetLinks())
    {
        text << '\n'
             << link.a << ' ' << link.b << ' ' << static_cast<int>(link.technology) << ' '
             << link.bytesPerSecond << ' ' << link.delayPs << ' ' << link.cost;
    }
    return text.str();
}

void
FabricFlags::AddIdleTo(OptionList& command,
                       const std::function<std::string(const FabricOptions&)>& describe)
{
    command.AddIdle("fabric", [this, describe]() -> std::string {
        const FabricOptions given = GetOptions();
        FabricOptions other = given;
        other.kind = given.kind == "single-switch" ? "leaf-spine" : "single-switch";
        return IsIdle(describe, given, {other})
                   ? "the cluster has a network of its own, or is one server, which needs none"
                   : "";
    });
    for (const auto& [name, entry] : CollectFields())
    {
        const auto& [field, having] = entry;
        command.AddIdle(ToFlag(name), [this, describe, field = field, having = having]() {
            const FabricOptions given = GetOptions();
            return IsIdle(describe, given, ChangeField(given, field))
                       ? "the network is the same with other values; it is of the fabrics " +
                             having + ", between the servers of presets"
                       : "";
        });
    }
}

void
FabricFlags::AddTo(OptionList& command,
                   const std::function<std::string(const FabricOptions&)>& describe)
{
    command.AddValue("fabric",
                     "between the servers of a preset: " + ListNames(GetFabricKinds()),
                     m_kind);
    command.AddNames("fabric", GetFabricKinds());
    for (const auto& [name, entry] : CollectFields())
    {
        const auto& [field, having] = entry;
        const std::string help = std::string(field.help) + " (" + having + ")";
        command.AddField(ToFlag(name), name);
        if (field.whole != nullptr)
        {
            m_whole[name] = FabricOptions().*field.whole;
            command.AddValue(ToFlag(name), help, m_whole[name]);
            command.AddRange(ToFlag(name), field.least);
        }
        else
        {
            m_real[name] = FabricOptions().*field.real;
            command.Add(ToFlag(name), help, OptionKind::RATIO, m_real[name]);
            command.AddCheck(ToFlag(name), [least = field.least](const std::string& value) {
                constexpr double MOST = 1e6;
                const double number = std::stod(value);
                if (number < least || number > MOST)
                {
                    throw std::invalid_argument("must be a ratio from " + std::to_string(least) +
                                                " to 1e6");
                }
            });
        }
    }
    AddIdleTo(command, describe);
}

std::vector<std::string>
FabricFlags::ListFitted(const FabricOptions& made) const
{
    const FabricOptions asked = GetOptions();
    std::vector<std::string> lines;
    for (const FabricOptionField& field : GetFabricOptionFields(made.kind))
    {
        const auto number = field.whole;
        if (number != nullptr && asked.*number != FabricOptions().*number &&
            asked.*number != made.*number)
        {
            lines.push_back("--" + ToFlag(field.name) + "=" + std::to_string(asked.*number) +
                            " is taken as " + std::to_string(made.*number));
        }
    }
    return lines;
}

FabricOptions
FabricFlags::GetOptions() const
{
    FabricOptions options;
    options.kind = m_kind;
    for (const auto& [name, entry] : CollectFields())
    {
        const FabricOptionField& field = entry.first;
        const auto whole = m_whole.find(name);
        const auto real = m_real.find(name);
        if (whole != m_whole.end())
        {
            if (whole->second < field.least || whole->second > INT32_MAX)
            {
                throw std::invalid_argument(
                    "--" + ToFlag(name) + "=" + std::to_string(whole->second) +
                    ": must be a number from " + std::to_string(field.least) + " to " +
                    std::to_string(INT32_MAX));
            }
            options.*field.whole = static_cast<uint32_t>(whole->second);
        }
        else if (real != m_real.end())
        {
            options.*field.real = real->second;
        }
    }
    return options;
}

} // namespace proteus
} // namespace ns3
