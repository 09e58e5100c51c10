/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-error-line.h"

#include <algorithm>
#include <cctype>
#include <iostream>

namespace ns3
{
namespace proteus
{

void
WriteErrorLine(const std::string& program, const std::string& what)
{
    constexpr std::size_t MOST_BYTES = 4096;
    std::string shown = what;
    if (what.size() > MOST_BYTES) // what it is about stands at the begin, the cause at the end
    {
        shown =
            what.substr(0, MOST_BYTES / 2) + " ... " + what.substr(what.size() - MOST_BYTES / 2);
    }
    std::replace_if(
        shown.begin(),
        shown.end(),
        [](unsigned char c) { return c != '\n' && std::iscntrl(c) != 0; },
        '?');
    std::cout.flush();
    std::cerr << program << ": error: " << shown << std::endl;
}

} // namespace proteus
} // namespace ns3
