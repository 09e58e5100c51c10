/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-json-text.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

/// Bytes of the parser's own words that a message shows.
constexpr std::size_t MAX_CAUSE = 240;

/// @param cause in the parser's words @param last character that it read
/// @return how to mend what people often take for JSON; empty: nothing is known
std::string
FindHint(const std::string& cause, char last)
{
    const auto has = [&cause](const char* text) { return cause.find(text) != std::string::npos; };
    if (has("parsing object key - unexpected '}'") || has("parsing value - unexpected ']'"))
    {
        return "; leave out the comma before it";
    }
    if (!has("invalid literal"))
    {
        return "";
    }
    switch (last)
    {
    case '/':
    case '#':
        return "; JSON has no comments: leave it out";
    case '\'':
        return "; texts stand in double quotes";
    case 'T':
    case 'F':
        return "; write true or false";
    default:
        return "";
    }
}

} // namespace

std::string
ShortenJson(const std::string& text, std::size_t length)
{
    return text.size() > length ? text.substr(0, length) + "..." : text;
}

std::string
FindJsonCause(const std::string& message)
{
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    std::size_t start = message.find("] ");
    start = start == std::string::npos ? 0 : start + 2;
    if (message.compare(start, 11, "parse error") == 0)
    {
        const std::size_t colon = message.find(": ", start);
        start = colon == std::string::npos ? start : colon + 2;
    }
    std::string cause = message.substr(start);
    // The place is known; the text there may be as long as the file.
    const std::size_t lastRead = cause.find("; last read: ");
    std::string hint = FindHint(cause, ' ');
    if (lastRead != std::string::npos)
    {
        const std::size_t quote = std::min(cause.rfind("'; expected "), cause.size() - 1);
        hint = FindHint(cause, quote > lastRead ? cause[quote - 1] : ' ');
        const std::size_t expected = cause.rfind("; expected ");
        cause.erase(lastRead,
                    expected == std::string::npos || expected < lastRead ? std::string::npos
                                                                         : expected - lastRead);
    }
    return ShortenJson(cause, MAX_CAUSE) + hint;
}

} // namespace proteus
} // namespace ns3
