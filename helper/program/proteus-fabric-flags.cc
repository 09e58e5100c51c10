/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-flags.h"

#include <cctype>
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

} // namespace

void
FabricFlags::AddTo(OptionList& command)
{
    std::string kinds;
    for (const std::string& kind : GetFabricKinds())
    {
        kinds += (kinds.empty() ? "" : ", ") + kind;
    }
    command.AddValue("fabric", "between the servers of a preset: " + kinds, m_kind);
    for (const auto& [name, entry] : CollectFields())
    {
        const auto& [field, having] = entry;
        const std::string help = std::string(field.help) + " (" + having + ")";
        if (field.whole != nullptr)
        {
            m_whole[name] = FabricOptions().*field.whole;
            command.AddValue(ToFlag(name), help, m_whole[name]);
        }
        else
        {
            m_real[name] = FabricOptions().*field.real;
            command.Add(ToFlag(name), help, OptionKind::RATIO, m_real[name]);
        }
    }
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
