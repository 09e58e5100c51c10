/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-settings.h"

#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

std::vector<uint32_t>
ParseNumbers(const std::string& what, const std::string& text, uint32_t largest)
{
    std::vector<uint32_t> numbers;
    std::istringstream in(text);
    for (std::string item; std::getline(in, item, ',');)
    {
        std::size_t used = 0;
        unsigned long number = 0;
        try
        {
            number = std::stoul(item, &used);
        }
        catch (const std::logic_error&)
        {
            used = 0;
        }
        if (used == 0 || used != item.size() || number > largest || item[0] == '-')
        {
            throw std::invalid_argument("ns3::proteus::Fabric::" + what + ": '" + text +
                                        "' is not a list of numbers from 0 to " +
                                        std::to_string(largest) + " separated by commas");
        }
        numbers.push_back(static_cast<uint32_t>(number));
    }
    return numbers;
}

} // namespace proteus
} // namespace ns3
