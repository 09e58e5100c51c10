/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-markup.h"

namespace ns3
{
namespace proteus
{

std::string
EscapeMarkup(const std::string& text)
{
    std::string escaped;
    for (const char c : text)
    {
        escaped += c == '&'   ? "&amp;"
                   : c == '<' ? "&lt;"
                   : c == '>' ? "&gt;"
                   : c == '"' ? "&quot;"
                              : std::string(1, c);
    }
    return escaped;
}

} // namespace proteus
} // namespace ns3
