/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-json-text.h"

#include "proteus-json.h"

#include <algorithm>
#include <cctype>
#include <sstream>

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
    if (has("unexpected end of input"))
    {
        return "; the file was cut off";
    }
    if (has("ill-formed UTF-8 byte"))
    {
        return "; save the file as UTF-8";
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
    case 'I':
    case 'N':
        return "; JSON has no NaN, no infinity and no None: write a number, or null";
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
FindFirstLine(const std::string& text)
{
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
    {
        const std::size_t first = line.find_first_not_of(" \t\r");
        if (first != std::string::npos && line[first] != '#' && line.compare(first, 2, "//") != 0)
        {
            return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
        }
    }
    return "";
}

bool
IsSection(const std::string& line)
{
    // Literals and numbers in brackets are lists of JSON.
    const std::size_t name = line.find_first_not_of('[');
    const std::size_t end = line.find(']');
    if (name == std::string::npos || name == 0 || name > 2 || end == std::string::npos ||
        end != line.size() - name || line.compare(end, name, std::string(name, ']')) != 0)
    {
        return false;
    }
    const std::string word = line.substr(name, end - name);
    return std::isalpha(static_cast<unsigned char>(word.front())) != 0 && word != "true" &&
           word != "false" && word != "null" && std::all_of(word.begin(), word.end(), [](char c) {
               return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ||
                      c == '.';
           });
}

std::string
JsonPointerToken(const std::string& key)
{
    std::string token;
    for (const char c : ShortenJson(key, MAX_SHOWN_JSON))
    {
        if (c == '~')
        {
            token += "~0";
        }
        else if (c == '/')
        {
            token += "~1";
        }
        else
        {
            token += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
        }
    }
    return token;
}

std::string
DescribeJsonAt(const std::string& fileName, const std::string& pointer, const std::string& text)
{
    return fileName + ": " + (pointer.empty() ? "" : pointer + ": ") + text;
}

void
FailJsonAt(const std::string& fileName, const std::string& pointer, const std::string& cause)
{
    throw JsonError(fileName, DescribeJsonAt(fileName, pointer, cause));
}

std::string
FindJsonCause(const std::string& message, bool isJson)
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
    return ShortenJson(cause, MAX_CAUSE) + (isJson ? hint : "");
}

} // namespace proteus
} // namespace ns3
