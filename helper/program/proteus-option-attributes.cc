/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-option-attributes.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// An option and an attribute that it sets. Those of NCCL are in proteus-nccl-options.cc.
struct OptionAttribute
{
    const char* option;
    const char* value;     //!< of the option, with which it sets the attribute; empty: with any
    const char* attribute; //!< behind ns3::proteus::
};

constexpr OptionAttribute OPTION_ATTRIBUTES[]{
    {"joinWindow", "", "PacketNetwork::JoinWindow"},
    {"joinWindow", "", "PacketNetwork::JoinWindowShare"},
    {"joinGrid", "", "PacketNetwork::JoinGrid"},
    {"threads", "", "PacketNetwork::Threads"},
    {"repetition", "", "PacketNetwork::Repetition"},
    {"transport", "", "Transport::Reliability"},
    {"transport", "tcp", "Transport::CongestionControl"},
    {"congestionControl", "", "Transport::CongestionControl"},
    {"trigger", "", "FlowPlayer::Trigger"},
    {"window", "", "Transport::Window"},
    {"window", "", "Transport::WindowProducts"},
};

} // namespace

void
RequireOneOfEach(const Configuration& configuration)
{
    const auto find = [&configuration](const std::string& name) {
        return std::find_if(configuration.begin(), configuration.end(), [&name](const auto& typed) {
            return typed.first == name;
        });
    };
    for (const auto& [option, value, attribute] : OPTION_ATTRIBUTES)
    {
        const auto typed = find(option);
        const std::string name = std::string("ns3::proteus::") + attribute;
        const bool isSet =
            typed != configuration.end() && (std::string(value).empty() || typed->second == value);
        if (isSet && find(name) != configuration.end())
        {
            throw std::invalid_argument("--" + typed->first + "=" + typed->second + " sets --" +
                                        name + ", too: give one of them");
        }
    }
}

} // namespace proteus
} // namespace ns3
