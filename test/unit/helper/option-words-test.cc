/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../../../helper/program/proteus-option-words.h"
#include "start-program.h"

#include "ns3/proteus-option-words.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @return what the help of a program has
std::string
GetHelp(const std::string& program)
{
    return Start(program, {"--help"}).out;
}

/// @return whether the help of a program has the option
bool
HasOption(const std::string& help, const std::string& name)
{
    return help.find("\n  --" + name + "=") != std::string::npos ||
           help.find("\n  --" + name + " ") != std::string::npos ||
           help.find("\n  --" + name + "\n") != std::string::npos;
}

} // namespace

TEST(OptionWords, AreAnsweredByAllPrograms)
{
    for (const auto& program : PROGRAMS)
    {
        const std::string help = GetHelp(program.first);
        ASSERT_TRUE(HasOption(help, "quiet")) << program.first;
        for (const OptionWords& entry : GetOptionWords())
        {
            const std::string& word = entry.words.front();
            const bool isKnown =
                !entry.attributes.empty() || !entry.hint.empty() ||
                std::any_of(entry.options.begin(),
                            entry.options.end(),
                            [&help](const std::string& name) { return HasOption(help, name); });
            if (HasOption(help, word) || !isKnown)
            {
                continue;
            }
            ExpectRefusal(Start(program.first, {"--" + word + "=1"}),
                          "--" + word + ": there is no such option: ");
        }
    }
}

TEST(OptionWords, NameOptionsAndAttributesThatThereAre)
{
    std::set<std::string> missing;
    std::set<std::string> words;
    for (const OptionWords& entry : GetOptionWords())
    {
        missing.insert(entry.options.begin(), entry.options.end());
        for (const std::string& word : entry.words)
        {
            EXPECT_TRUE(words.insert(word).second) << word << " stands for two things";
        }
        for (const std::string& attribute : entry.attributes)
        {
            const std::size_t colons = attribute.rfind("::");
            ns3::TypeId type;
            ns3::TypeId::AttributeInformation information;
            ASSERT_TRUE(ns3::TypeId::LookupByNameFailSafe(attribute.substr(0, colons), &type))
                << attribute;
            EXPECT_TRUE(type.LookupAttributeByName(attribute.substr(colons + 2), &information))
                << attribute;
        }
    }
    for (const auto& program : PROGRAMS)
    {
        const std::string help = GetHelp(program.first);
        for (auto name = missing.begin(); name != missing.end();)
        {
            name = HasOption(help, *name) ? missing.erase(name) : std::next(name);
        }
    }
    EXPECT_EQ(missing, std::set<std::string>());
}

TEST(OptionWords, WhatElsewhereIsAnOption)
{
    const std::vector<Mistake> mistakes{
        {"gpt3", {"--servers=2"}, "--servers: there is no such option: it is --nodes"},
        {"gpt3", {"--batch-size=8"}, "it is --globalBatch"},
        {"run", {"--batch=8"}, "--strategy=...,globalBatch=..."},
        {"run", {"--gradient_accumulation_steps=8"}, "globalBatch / (dp x microBatch)"},
        {"run", {"--fsdp2"}, "--strategy=...,zero=..."},
        {"run", {"--bf16"}, "--strategy=...,dataType=..."},
        {"run", {"--flash-attention"}, "NAME:attention=KERNEL"},
        {"gpt3", {"--world-size=8"}, "all GPUs of the cluster are used"},
        {"gpt3", {"--routing=adaptive"}, "it is --ns3::proteus::Fabric::Routing=VALUE"},
        {"search", {"--seed=3"}, "it is --stream"},
        {"flows", {"--cc=hpcc"}, "it is --congestionControl"},
        {"run", {"--bandwidth=400G"}, "nic=4x200G-roce"}};
    for (const Mistake& mistake : mistakes)
    {
        ExpectRefusal(Start(mistake.program, mistake.arguments), mistake.hint);
    }
}
