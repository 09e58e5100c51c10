/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-logged-variables.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-nccl-variables.h"
#include "ns3/proteus-path-level.h"
#include "ns3/proteus-shown-name.h"

#include <cctype>
#include <map>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param value of a variable @return whether NCCL, which reads numbers only as far as digits go,
/// reads less than was meant: 8 of 8M
bool
IsReadInPart(const std::string& value)
{
    return value.size() > 1 && std::isdigit(static_cast<unsigned char>(value[0])) != 0 &&
           std::isdigit(static_cast<unsigned char>(value[value.size() - 2])) != 0 &&
           std::string("KMGkmg").find(value.back()) != std::string::npos;
}

/// @param name of a variable @param value that the log has @param typed what the user said
/// @return why it is not taken over, or empty
std::string
FindCause(const std::string& name, const std::string& value, const NcclOptions& typed)
{
    const NcclVariable* variable = NcclVariableRegistry::Get().Find(name);
    if (!variable)
    {
        return "it is not known here";
    }
    if (!variable->unread.empty())
    {
        return variable->unread;
    }
    for (const auto& [other, said] : SplitNcclVariables(typed.variables))
    {
        if (other == name)
        {
            return "--nccl says it";
        }
    }
    if (!variable->option.empty() && typed.Says(variable->option))
    {
        return "--" + variable->option + " says it";
    }
    if (IsReadInPart(value))
    {
        return "NCCL reads the digits of such a number and nothing behind them";
    }
    const std::string setting = name + "=" + value;
    try
    {
        ParseNcclVariables(setting, typed.GetVersion());
        for (const std::string& line : FindIdleVariables(setting, typed.GetVersion()))
        {
            const std::string beginning = setting + " has no effect: ";
            if (line.rfind(beginning, 0) == 0)
            {
                return line.substr(beginning.size());
            }
        }
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "";
}

/// @param name of a variable @param values all that the log says of it
/// @return without numbers of levels that are also there by name: where a number is given (of NCCL
/// before 2.5, read to this day), NCCL itself writes the name
std::set<std::string>
JoinLevels(const std::string& name, std::set<std::string> values)
{
    if (name != "NCCL_NET_GDR_LEVEL" && name != "NCCL_P2P_LEVEL")
    {
        return values;
    }
    for (const auto& [number, level] : GetPathLevelNumbers())
    {
        if (values.count(level) > 0)
        {
            values.erase(number);
        }
    }
    return values;
}

} // namespace

LoggedVariables
SortLoggedVariables(const std::set<std::string>& settings, const NcclOptions& typed)
{
    std::map<std::string, std::set<std::string>> values; // by name
    for (const std::string& setting : settings)
    {
        const std::size_t equals = setting.find('=');
        values[setting.substr(0, equals)].insert(setting.substr(equals + 1));
    }
    LoggedVariables sorted;
    std::map<std::string, std::string> others; // by cause
    for (const auto& [name, all] : values)
    {
        const std::set<std::string> said = JoinLevels(name, all);
        const std::string& value = *said.begin();
        const std::string cause =
            said.size() > 1 ? "the log says it in several ways" : FindCause(name, value, typed);
        if (cause.empty())
        {
            sorted.taken += (sorted.taken.empty() ? "" : ",") + name + "=" + value;
            const auto doubts = FindIdleVariables(name + "=" + value, typed.GetVersion());
            sorted.doubts.insert(sorted.doubts.end(), doubts.begin(), doubts.end());
            continue;
        }
        for (const std::string& one : all)
        {
            AppendName(others[cause], ShownName(name + "=" + one));
        }
    }
    for (const auto& [cause, names] : others)
    {
        sorted.doubts.push_back("was run with " + names + ", not taken over: " + cause);
    }
    return sorted;
}

} // namespace proteus
} // namespace ns3
