/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-shown-name.h"

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t MOST_QUOTED = 40; //!< characters

} // namespace

std::string
ShownName(const std::string& name, std::size_t most)
{
    std::string shown = name.substr(0, most);
    for (char& c : shown)
    {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        {
            c = '?';
        }
    }
    return name.size() > most ? shown + "..." : shown;
}

std::string
QuotedText(const std::string& text)
{
    return "'" + ShownName(text, MOST_QUOTED) + "'";
}

} // namespace proteus
} // namespace ns3
