/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-variables.h"

#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-whole-number.h"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param choices by collective @param collective one @param name in NCCL's words
/// @return whether it may be taken
bool
AllowsName(const std::map<Collective, std::set<std::string>>& choices,
           Collective collective,
           const std::string& name)
{
    const auto found = choices.find(collective);
    return found == choices.end() || found->second.count(boost::algorithm::to_lower_copy(name)) > 0;
}

/// @param name of a variable @return it @throw std::invalid_argument if there is none
const NcclVariable&
FindVariable(const std::string& name)
{
    const NcclVariable* variable = NcclVariableRegistry::Get().Find(name);
    if (!variable)
    {
        // There are many: the list of all helps nobody.
        const std::string nearest = FindNearest(name, NcclVariableRegistry::Get().GetNames());
        throw std::invalid_argument(
            name + ": " +
            (nearest.empty()
                 ? "no variable of NCCL that is known here; the manual lists them (Collectives)"
                 : "did you mean " + nearest + "?"));
    }
    return *variable;
}

} // namespace

bool
NcclVariables::Allows(Collective collective, NcclAlgorithm algorithm) const
{
    return AllowsName(algorithms, collective, ToString(algorithm));
}

bool
NcclVariables::Allows(Collective collective, Protocol protocol) const
{
    return AllowsName(protocols, collective, ToString(protocol));
}

std::vector<std::pair<std::string, std::string>>
SplitNcclVariables(const std::string& text)
{
    std::vector<std::pair<std::string, std::string>> settings;
    for (const std::string& item : SplitList(text))
    {
        const std::size_t equals = item.find('=');
        if (equals == std::string::npos && !settings.empty() && !item.empty())
        {
            settings.back().second += "," + item; // of a list of algorithms
            continue;
        }
        const std::string name = item.substr(0, equals);
        if (equals == std::string::npos || name.empty() || equals + 1 == item.size())
        {
            throw std::invalid_argument("\"" + item +
                                        "\": must be a variable and its value, such as "
                                        "NCCL_BUFFSIZE=8M");
        }
        if (std::any_of(settings.begin(), settings.end(), [&name](const auto& setting) {
                return setting.first == name;
            }))
        {
            throw std::invalid_argument(name + " is there twice");
        }
        settings.emplace_back(name, item.substr(equals + 1));
    }
    return settings;
}

NcclVariables
ParseNcclVariables(const std::string& text, uint32_t version, const NcclVariables& others)
{
    NcclVariables variables = others;
    variables.version = version;
    for (const auto& [name, value] : SplitNcclVariables(text))
    {
        const NcclVariable& variable = FindVariable(name);
        if (!variable.unread.empty())
        {
            throw std::invalid_argument(name + " cannot be honoured: " + variable.unread);
        }
        if (variable.read)
        {
            try
            {
                NcclVariables read = variables;
                variable.read(value, read);
                if (variable.IsReadBy(version))
                {
                    variables = read;
                }
            }
            catch (const std::invalid_argument& error)
            {
                throw std::invalid_argument(name + "=" + value + ": " + error.what());
            }
        }
    }
    return variables;
}

std::vector<std::string>
FindIdleVariables(const std::string& text, uint32_t version)
{
    std::vector<std::string> lines;
    for (const auto& [name, value] : SplitNcclVariables(text))
    {
        const NcclVariable& variable = FindVariable(name);
        const std::string setting = name + "=" + value;
        if (!variable.idle.empty())
        {
            lines.push_back(setting + " has no effect: " + variable.idle);
        }
        else if (version < variable.since)
        {
            lines.push_back(setting + " has no effect: NCCL " + FormatNcclVersion(version) +
                            " does not read it, " + FormatNcclVersion(variable.since) +
                            " is the first that does");
        }
        else if (!variable.IsReadBy(version))
        {
            lines.push_back(setting + " has no effect: NCCL " + FormatNcclVersion(version) +
                            " does not read it any more, " + FormatNcclVersion(variable.until) +
                            " is the first that does not");
        }
        else if (!variable.doubt.empty())
        {
            lines.push_back(setting + ": " + variable.doubt);
        }
    }
    const NcclVariables read = ParseNcclVariables(text, version);
    const auto name = [](const char* variable, uint32_t channels) {
        return std::string(variable) + "=" + std::to_string(channels);
    };
    if (read.mostChannels > 0 && read.mostChannels < read.leastChannels)
    {
        lines.push_back(name("NCCL_MAX_NCHANNELS", read.mostChannels) + " is below " +
                        name("NCCL_MIN_NCHANNELS", read.leastChannels) +
                        ": as in NCCL, the latter counts");
    }
    if (read.mostBlocks > 0 && read.mostBlocks < read.leastBlocks)
    {
        lines.push_back(name("NCCL_MIN_CTAS", read.leastBlocks) + " is above " +
                        name("NCCL_MAX_CTAS", read.mostBlocks) + ": as in NCCL, the latter counts");
    }
    return lines;
}

uint64_t
ReadNcclBytes(const std::string& value)
{
    constexpr uint64_t MOST = uint64_t{1} << 40;
    const std::string units = "KMG";
    const std::size_t unit =
        value.empty()
            ? std::string::npos
            : units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(value.back()))));
    const bool hasUnit = unit != std::string::npos;
    const uint64_t times = hasUnit ? uint64_t{1024} << (10 * unit) : 1;
    const auto number =
        ParseWholeNumber<uint64_t>(hasUnit ? value.substr(0, value.size() - 1) : value);
    if (!number || *number < 1 || *number > MOST / times)
    {
        throw std::invalid_argument("must be a number of bytes, such as 4194304 or 4M");
    }
    return *number * times;
}

uint32_t
ReadNcclNumber(const std::string& value, uint32_t least, uint32_t most)
{
    const auto number = ParseWholeNumber<uint32_t>(value);
    if (!number || *number < least || *number > most)
    {
        throw std::invalid_argument("must be a whole number from " + std::to_string(least) +
                                    " to " + std::to_string(most));
    }
    return *number;
}

} // namespace proteus
} // namespace ns3
