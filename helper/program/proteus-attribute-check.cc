/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-attribute-check.h"

#include "proteus-option-values.h"

#include "ns3/global-value.h"
#include "ns3/proteus-collective-settings.h"
#include "ns3/proteus-congestion-type.h"
#include "ns3/proteus-ranks.h"
#include "ns3/proteus-split.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>
#include <variant>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return names of all types
std::vector<std::string>
ListTypes()
{
    std::vector<std::string> names;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        names.push_back(TypeId::GetRegistered(i).GetName());
    }
    return names;
}

/// @return a type that there is
TypeId
FindType(const std::string& option, const std::string& name)
{
    TypeId type;
    if (!TypeId::LookupByNameFailSafe(name, &type))
    {
        const std::string nearest = FindNearest(name, ListTypes());
        throw std::invalid_argument(
            option + ": ns-3 has no type " + name +
            (nearest.empty() ? "; --PrintTypeIds lists all" : "; did you mean " + nearest + "?"));
    }
    return type;
}

/// @param type that has an attribute, maybe of a parent @param attribute its name
/// @return whose it is
TypeId
FindOwner(TypeId type, const std::string& attribute)
{
    const auto has = [&attribute](TypeId one) {
        for (std::size_t i = 0; i < one.GetAttributeN(); ++i)
        {
            if (one.GetAttribute(i).name == attribute)
            {
                return true;
            }
        }
        return false;
    };
    while (!has(type) && type.HasParent())
    {
        type = type.GetParent();
    }
    return type;
}

/// Checks a rate, of which ns-3 takes "Gbps" for 0, reads "1.2.3Gbps" in part and "5" as bits per
/// second, and ends the program for "5 Gbps".
/// @param option that has it @param value the rate
void
CheckRate(const std::string& option, const std::string& value)
{
    static const std::regex rate("([0-9]+\\.?[0-9]*|\\.[0-9]+)([a-zA-Z/]*)");
    static const std::map<char, double> scales{{'k', 1e3}, {'M', 1e6}, {'G', 1e9}};
    constexpr double MOST_BITS_PER_S = 1e18;
    std::smatch parts;
    if (!std::regex_match(value, parts, rate))
    {
        throw std::invalid_argument(option + "=" + value +
                                    ": must be a rate with its unit, such as 100Gbps or 12.5GB/s");
    }
    const double number = std::stod(parts[1]);
    const std::string unit = parts[2];
    if (unit.empty() && number > 0)
    {
        throw std::invalid_argument(option + "=" + value + ": needs a unit, e.g. " + option + "=" +
                                    value + "Gbps");
    }
    const auto scale = scales.find(unit[0] == 'K' ? 'k' : unit[0]);
    if (number * 8 * (scale == scales.end() ? 1 : scale->second) > MOST_BITS_PER_S)
    {
        throw std::invalid_argument(option + "=" + value + ": is more than links have");
    }
}

/// Checks a value by the type of the attribute.
/// @return the value as ns-3 reads it
std::string
NormaliseByType(const std::string& option,
                const std::string& value,
                const AttributeChecker& checker)
{
    const std::string space = "ns3::"; // some checkers of ns-3 leave it away
    std::string type = checker.GetValueTypeName();
    type.erase(0, type.rfind(space, 0) == 0 ? space.size() : 0);
    if (type == "TimeValue")
    {
        return NormaliseValue(OptionKind::TIME, option, value);
    }
    if (type == "DataRateValue")
    {
        CheckRate(option, value);
    }
    else if (type == "UintegerValue" || type == "IntegerValue")
    {
        NormaliseValue(OptionKind::WHOLE, option, value);
        if (type == "UintegerValue" && value[0] == '-')
        {
            throw std::invalid_argument(option + "=" + value + ": must not be negative");
        }
    }
    else if (type == "DoubleValue")
    {
        NormaliseValue(OptionKind::NUMBER, option, value);
    }
    else if (type == "BooleanValue")
    {
        NormaliseValue(OptionKind::FLAG, option, value);
    }
    else if (type.rfind("EnumValue", 0) == 0) // of an enumeration, from ns-3.41 on
    {
        const auto names = SplitList(checker.GetUnderlyingTypeInformation(), '|');
        bool isKnown = false;
        for (const std::string& name : names)
        {
            isKnown = isKnown || name == value;
        }
        if (!isKnown)
        {
            throw std::invalid_argument(option + "=" + value + ": " + Suggest(value, names));
        }
    }
    else if (type == "TypeIdValue")
    {
        FindType(option + "=" + value, value);
    }
    else if (type == "PointerValue")
    {
        FindType(option + "=" + value, value.substr(0, value.find('[')));
    }
    return value;
}

/// Checks texts of which only some mean something.
void
CheckText(const std::string& name, const std::string& value)
{
    const std::string network = "ns3::proteus::PacketNetwork::";
    if (name == "ns3::proteus::Transport::CongestionControl" && value != "auto")
    {
        const std::vector<std::string> names = GetCongestionNames();
        const bool isName = std::find(names.begin(), names.end(), value) != names.end();
        TypeId type;
        if (!isName && (!TypeId::LookupByNameFailSafe(value, &type) ||
                        !type.IsChildOf(CongestionType::GetTypeId())))
        {
            throw std::invalid_argument(
                "--" + name + "=" + value + ": " + Suggest(value, names) +
                (value.find("::") == std::string::npos
                     ? ""
                     : "; types are those derived from ns3::proteus::CongestionType"));
        }
    }
    for (const CollectiveField& field : GetCollectiveFields())
    {
        const auto* text = std::get_if<std::string CollectiveSettings::*>(&field.member);
        if (text && name == network + field.name)
        {
            CollectiveSettings settings;
            settings.*(*text) = value;
            CheckCollectiveSettings(settings);
        }
    }
}

/// @return the value as ns-3 reads it
/// @throw std::invalid_argument if a value is none of an attribute
std::string
NormaliseChecked(const std::string& name, const std::string& value, const AttributeChecker& checker)
{
    std::string text = NormaliseByType("--" + name, value, checker);
    if (!checker.CreateValidValue(StringValue(text)))
    {
        const std::string expected = checker.GetUnderlyingTypeInformation();
        throw std::invalid_argument(
            "--" + name + "=" + value + ": is no value of this attribute" +
            (expected.empty() ? "" : ", which is " + expected) +
            (expected == "DataRate" ? ", such as 100Gbps or 12.5GB/s" : ""));
    }
    CheckText(name, text);
    return text;
}

/// Checks what ns-3 itself ends the program for, without a word of what is wrong.
void
CheckGlobal(const std::string& name, const std::string& value)
{
    static const std::map<std::string, std::string> parents{
        {"SimulatorImplementationType", "ns3::SimulatorImpl"},
        {"SchedulerType", "ns3::Scheduler"}};
    const std::string option = "--" + name + "=" + value;
    const auto parent = parents.find(name);
    if (parent != parents.end())
    {
        const TypeId type = FindType(option, value);
        if (!type.IsChildOf(TypeId::LookupByName(parent->second)) || !type.HasConstructor())
        {
            throw std::invalid_argument(option + ": is no " + parent->second);
        }
        const std::string ranks = "ns3::DistributedSimulatorImpl";
        if (GetNRanks() > 1 && name == "SimulatorImplementationType" && value != ranks)
        {
            throw std::invalid_argument(option + ": knows of one process; MPI ranks have " + ranks);
        }
        if (GetNRanks() == 1 && (value == ranks || value == "ns3::NullMessageSimulatorImpl"))
        {
            throw std::invalid_argument(option + ": is for several processes, which ./ns3 run "
                                                 "--mpi=N starts; leave it away");
        }
        if (value == "ns3::RealtimeSimulatorImpl")
        {
            throw std::invalid_argument(option + ": waits for the clock of this machine at every "
                                                 "event, which nothing here is about; leave it "
                                                 "away");
        }
    }
    if (name == "RngSeed" && value.find_first_not_of('0') == std::string::npos)
    {
        throw std::invalid_argument(option + ": must be above 0");
    }
}

} // namespace

void
CheckPrinter(const std::string& option, const std::string& name)
{
    const bool isGroup = option == "PrintGroup";
    if ((isGroup || option == "PrintAttributes") && name.empty())
    {
        throw std::invalid_argument("--" + option + " needs a value: --" + option +
                                    (isGroup ? "=GROUP" : "=TYPE"));
    }
    if (option == "PrintAttributes")
    {
        FindType("--" + option + "=" + name, name);
    }
    if (isGroup)
    {
        std::set<std::string> groups;
        for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
        {
            groups.insert(TypeId::GetRegistered(i).GetGroupName());
        }
        if (groups.count(name) == 0)
        {
            groups.erase("");
            throw std::invalid_argument("--PrintGroup=" + name + ": " +
                                        Suggest(name, {groups.begin(), groups.end()}));
        }
    }
}

bool
IsAttribute(const std::string& name)
{
    const std::size_t colons = name.rfind("::");
    TypeId type;
    TypeId::AttributeInformation information;
    return std::any_of(GlobalValue::Begin(),
                       GlobalValue::End(),
                       [&name](const GlobalValue* global) { return global->GetName() == name; }) ||
           (colons != std::string::npos &&
            TypeId::LookupByNameFailSafe(name.substr(0, colons), &type) &&
            type.LookupAttributeByName(name.substr(colons + 2), &information));
}

std::optional<std::string>
NormaliseAttribute(const std::string& name, const std::string& value)
{
    for (auto global = GlobalValue::Begin(); global != GlobalValue::End(); ++global)
    {
        if ((*global)->GetName() == name)
        {
            std::string text = NormaliseChecked(name, value, *(*global)->GetChecker());
            CheckGlobal(name, text);
            return text;
        }
    }
    const std::size_t colons = name.rfind("::");
    if (colons == std::string::npos)
    {
        return std::nullopt;
    }
    const TypeId type = FindType("--" + name, name.substr(0, colons));
    const std::string attribute = name.substr(colons + 2);
    TypeId::AttributeInformation information;
    if (!type.LookupAttributeByName(attribute, &information))
    {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < type.GetAttributeN(); ++i)
        {
            names.push_back(type.GetAttribute(i).name);
        }
        throw std::invalid_argument("--" + name + ": " + type.GetName() + " has no attribute " +
                                    attribute + "; " + Suggest(attribute, names));
    }
    const TypeId owner = FindOwner(type, attribute);
    if (owner != type)
    {
        throw std::invalid_argument("--" + name + ": " + type.GetName() + " inherits " + attribute +
                                    ": --" + owner.GetName() + "::" + attribute + "=" + value +
                                    " sets it for all that do");
    }
    return NormaliseChecked(name, value, *information.checker);
}

} // namespace proteus
} // namespace ns3
