/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What values of OptionList's options are called, and what they mean.

#include "proteus-name-lists.h"
#include "proteus-option-list.h"
#include "proteus-option-meanings.h"

#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-split.h"

namespace ns3
{
namespace proteus
{

void
OptionList::AddChoices(const std::string& name, const std::vector<std::string>& choices)
{
    for (Entry& entry : m_entries)
    {
        if (entry.name == name)
        {
            entry.choices = choices;
        }
    }
}

void
OptionList::AddNames(const std::string& name, const std::vector<std::string>& names, NameUse use)
{
    AddChoices(name, names);
    for (Entry& entry : m_entries)
    {
        entry.names = entry.name == name ? use : entry.names;
    }
}

void
OptionList::AddFileOption(const std::string& name, const std::string& other)
{
    for (Entry& entry : m_entries)
    {
        entry.fileOption = entry.name == name ? other : entry.fileOption;
    }
}

std::string
OptionList::Normalise(const Entry& entry, const std::string& value)
{
    const std::string text = NormaliseValue(entry.kind, "--" + entry.name, value);
    if (entry.names == NameUse::HINT || text.empty())
    {
        return text;
    }
    if (entry.names == NameUse::OPEN)
    {
        const std::string alias = FindAlias(text, entry.choices);
        return alias.empty() ? text : alias;
    }
    if (entry.names == NameUse::ONE)
    {
        return MatchName(entry.name, text, entry.choices, entry.fileOption);
    }
    std::string list;
    for (const std::string& name : SplitOnce("--" + entry.name + "=" + value, text))
    {
        list += (list.empty() ? "" : ",") +
                MatchName(entry.name, name, entry.choices, entry.fileOption);
    }
    return list;
}

void
OptionList::AddMeaning(const std::string& name,
                       std::function<std::string(const std::string& value)> meaning)
{
    m_meanings[name] = std::move(meaning);
}

std::string
OptionList::GetMeaning(const std::string& name, const std::string& value) const
{
    const Entry* entry = Find(Resolve(name));
    if (!entry)
    {
        return value;
    }
    const std::string text = Normalise(*entry, value);
    const auto meaning = m_meanings.find(entry->name);
    return meaning == m_meanings.end() ? GetValueMeaning(entry->kind, text) : meaning->second(text);
}

} // namespace proteus
} // namespace ns3
