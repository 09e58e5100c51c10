/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-other-names.h"

#include "proteus-nearest-name.h"

namespace ns3
{
namespace proteus
{

std::vector<std::string>
ListOtherNames(const std::string& name)
{
    const OtherNames* names = OtherNamesRegistry::Get().Find(name);
    return names ? names->words : std::vector<std::string>();
}

std::string
FindByOtherName(const std::string& word, const std::vector<std::string>& names)
{
    for (const std::string& name : names)
    {
        if (!FindAlias(word, ListOtherNames(name)).empty())
        {
            return name;
        }
    }
    return "";
}

std::string
FindMissingCause(const std::string& kind, const std::string& word)
{
    for (const auto& [name, thing] : MissingThingRegistry::Get().GetAll())
    {
        if (thing.kind == kind && !FindAlias(word, thing.words).empty())
        {
            return thing.cause;
        }
    }
    return "";
}

} // namespace proteus
} // namespace ns3
