/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-model-unused.h"

#include "ns3/proteus-shown-name.h"

#include <cctype>
#include <set>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param text of an expression or a name @param names to which those in it are added
void
AddNames(const std::string& text, std::set<std::string>& names)
{
    std::string name;
    for (const char c : text + " ")
    {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_')
        {
            name += c;
            continue;
        }
        names.insert(name);
        name.clear();
    }
}

/// @param value to search, with all inside it @param names to which those in its texts are added
void
AddNamesIn(const JsonValue& value, std::set<std::string>& names)
{
    if (value.IsString())
    {
        names.insert(value.AsString());
        AddNames(value.AsString(), names);
    }
    else if (value.IsList())
    {
        for (std::size_t i = 0; i < value.Size(); ++i)
        {
            AddNamesIn(value.At(i), names);
        }
    }
    else if (value.IsObject())
    {
        for (const std::string& key : value.GetKeys())
        {
            AddNamesIn(value.Get(key.c_str()), names);
        }
    }
}

using Documents = std::vector<std::unique_ptr<JsonDocument>>;

/// @param documents of a model @param fields of them @return the names that these mention
std::set<std::string>
FindMentioned(const Documents& documents, const std::vector<const char*>& fields)
{
    std::set<std::string> names;
    for (const auto& document : documents)
    {
        for (const char* field : fields)
        {
            if (const auto part = document->GetRoot().Find(field))
            {
                AddNamesIn(*part, names);
            }
        }
    }
    return names;
}

/// Adds what the variables among some names are made of, and what that is made of.
void
AddVariablesOf(const Documents& documents, std::set<std::string>& names)
{
    for (std::size_t before = 0; before != names.size();)
    {
        before = names.size();
        for (const auto& document : documents)
        {
            const auto let = document->GetRoot().Find("let");
            for (const std::string& name : let ? let->GetKeys() : std::vector<std::string>())
            {
                if (names.count(name) > 0)
                {
                    AddNamesIn(let->Get(name.c_str()), names);
                }
            }
        }
    }
}

/// Adds what layers hand to blocks, and no block mentions.
/// @param value to search, with all inside it @param mentioned in blocks @param unused gets it
void
AddUnusedWith(const JsonValue& value,
              const std::set<std::string>& mentioned,
              std::vector<std::string>& unused)
{
    if (value.IsList())
    {
        for (std::size_t i = 0; i < value.Size(); ++i)
        {
            AddUnusedWith(value.At(i), mentioned, unused);
        }
    }
    if (!value.IsObject())
    {
        return;
    }
    for (const std::string& key : value.GetKeys())
    {
        const JsonValue part = value.Get(key.c_str());
        if (key != "with" || !value.Has("block"))
        {
            AddUnusedWith(part, mentioned, unused);
            continue;
        }
        for (const std::string& name : part.GetKeys())
        {
            if (mentioned.count(name) == 0)
            {
                unused.push_back(part.Get(name.c_str()).Describe("variable " + ShownName(name)));
            }
        }
    }
}

} // namespace

std::vector<std::string>
FindUnusedInModel(const std::vector<std::unique_ptr<JsonDocument>>& documents)
{
    const std::set<std::string> ofLayers = FindMentioned(documents, {"blocks", "layers"});
    const std::set<std::string> ofBlocks = FindMentioned(documents, {"blocks"});
    std::set<std::string> mentioned = FindMentioned(documents, {"inputs", "frozen"});
    mentioned.insert(ofLayers.begin(), ofLayers.end());
    AddVariablesOf(documents, mentioned);
    std::vector<std::string> unused;
    for (const auto& document : documents)
    {
        for (const auto& [field, what] :
             {std::make_pair("let", "variable "), std::make_pair("blocks", "block ")})
        {
            const auto named = document->GetRoot().Find(field);
            for (const std::string& name : named ? named->GetKeys() : std::vector<std::string>())
            {
                if (mentioned.count(name) == 0)
                {
                    unused.push_back(document->GetFileName() + ": " + what + ShownName(name));
                }
            }
        }
        const auto inputs = document->GetRoot().Find("inputs");
        for (std::size_t i = 0; inputs && i < inputs->Size(); ++i)
        {
            const std::string& name = inputs->At(i).Get("name").AsString();
            if (ofLayers.count(name) == 0)
            {
                unused.push_back(document->GetFileName() + ": input " + ShownName(name));
            }
        }
        for (const char* field : {"blocks", "layers"})
        {
            if (const auto part = document->GetRoot().Find(field))
            {
                AddUnusedWith(*part, ofBlocks, unused);
            }
        }
    }
    return unused;
}

} // namespace proteus
} // namespace ns3
