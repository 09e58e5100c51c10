/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-tests-lines.h"

#include "proteus-text-reader.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Words of a row before those that nccl-tests prints before it runs something: the root (behind
/// size, count, type, redop), and the wrong numbers out of place (behind root and three times).
constexpr std::size_t BEFORE_ROOT = 4;
constexpr std::size_t BEFORE_WRONG = 8;

/// @param c a character @return whether it is a decimal digit
bool
IsDigit(char c)
{
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// @param word of a line @return whether it is "HOST:PID:TID"
bool
IsOrigin(const std::string& word)
{
    std::size_t end = word.size();
    for (int number = 0; number < 2; ++number)
    {
        const std::size_t colon = end == 0 ? std::string::npos : word.rfind(':', end - 1);
        if (colon == std::string::npos || colon == 0 || colon + 1 == end ||
            !std::all_of(word.begin() + static_cast<std::ptrdiff_t>(colon) + 1,
                         word.begin() + static_cast<std::ptrdiff_t>(end),
                         IsDigit))
        {
            return false;
        }
        end = colon;
    }
    return true;
}

/// @param line of a log @return where a message of NCCL begins in it, with its host
std::size_t
FindMessage(const std::string& line)
{
    for (const char* level : {" NCCL INFO ", " NCCL WARN ", " NCCL TRACE "})
    {
        const std::size_t at = line.find(level);
        const std::size_t bracket = at == std::string::npos ? at : line.rfind(" [", at);
        if (bracket == std::string::npos || bracket == 0)
        {
            continue;
        }
        const std::size_t space = line.find_last_of(" \t", bracket - 1);
        const std::size_t begin = space == std::string::npos ? 0 : space + 1;
        if (IsOrigin(line.substr(begin, bracket - begin)))
        {
            return begin;
        }
    }
    return std::string::npos;
}

/// @param words of a line @param nBefore of them are not of nccl-tests @return the others, as text
std::string
Join(const std::vector<std::string>& words, std::size_t nBefore)
{
    std::string text;
    for (std::size_t i = nBefore; i < words.size(); ++i)
    {
        text += (text.empty() ? "" : " ") + words[i];
    }
    return text;
}

/// @param host that follows a row's begin without a blank @return how much of it belongs to the
/// row: a root, or how many numbers were wrong
std::size_t
CountGlued(const std::string& host)
{
    for (const std::string& word : {std::string("-1"), std::string("N/A")})
    {
        if (host.rfind(word, 0) == 0)
        {
            return word.size();
        }
    }
    return !host.empty() && IsDigit(host.front()) ? 1 : 0;
}

} // namespace

NcclTestsLines::Parts
NcclTestsLines::Take(const std::string& line, std::size_t nBefore, std::size_t nColumns)
{
    const std::size_t at = FindMessage(line);
    const std::vector<std::string> words = TextReader::Split(line.substr(0, at));
    const std::string own = Join(words, nBefore);
    const bool isNumber = !own.empty() && (IsDigit(own.front()) || own.rfind("N/A", 0) == 0);
    if (isNumber && words.size() + TextReader::Split(m_begin).size() > nColumns + 2 * nBefore)
    {
        m_begin.clear(); // a row that has broken off: this is another one
    }
    if (at == std::string::npos)
    {
        if (m_begin.empty() || own.empty() || (!isNumber && own.front() != '#'))
        {
            return {line, ""};
        }
        const std::string begin = std::exchange(m_begin, ""); // a comment ends a row that broke off
        return {isNumber ? begin + " " + own : line, ""};
    }
    std::string message = line.substr(at);
    if (isNumber)
    {
        m_begin = m_begin.empty() ? Join(words, 0) : m_begin + " " + own;
        const std::size_t nWords = TextReader::Split(m_begin).size() - nBefore;
        const bool isGlued = nWords == BEFORE_ROOT || nWords == BEFORE_WRONG;
        const std::size_t glued = isGlued ? CountGlued(message) : 0;
        m_begin += glued > 0 ? " " + message.substr(0, glued) : "";
        message.erase(0, glued);
    }
    return {"", message};
}

} // namespace proteus
} // namespace ns3
