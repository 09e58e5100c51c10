/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-text-reader.h"

#include "ns3/proteus-foreign-files.h"
#include "ns3/proteus-shown-name.h"

#include <cstdlib>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

TextReader::TextReader(std::istream& in, const std::string& fileName, std::size_t most)
    : m_input(in, fileName),
      m_most(most)
{
}

TextReader::TextReader(const std::string& path, std::size_t most)
    : m_input(path),
      m_most(most)
{
}

void
TextReader::Fail(const std::string& cause) const
{
    Fail(m_line, cause);
}

void
TextReader::Fail(uint64_t line, const std::string& cause) const
{
    throw std::invalid_argument(m_input.GetName() + ":" + std::to_string(line) + ": " + cause);
}

void
TextReader::CheckEncoding(const std::string& line) const
{
    if (line.compare(0, 2, "\xff\xfe") == 0 || line.compare(0, 2, "\xfe\xff") == 0)
    {
        Fail("the file is UTF-16: save it as UTF-8");
    }
}

bool
TextReader::ReadLine(std::string& line)
{
    line.clear();
    std::streambuf& buffer = *m_input.GetStream().rdbuf();
    int c = buffer.sbumpc();
    if (c < 0)
    {
        return false;
    }
    m_line++;
    for (; c >= 0 && c != '\n'; c = buffer.sbumpc())
    {
        if (line.size() == m_most)
        {
            Fail("the line is longer than " + std::to_string(m_most) + " characters");
        }
        if (c == 0)
        {
            CheckEncoding(line);
            Fail("has a NUL character: this is no text file, or a damaged one");
        }
        line += static_cast<char>(c);
    }
    m_isCut = c < 0;
    if (!line.empty() && line.back() == '\r')
    {
        line.pop_back();
    }
    if (m_line == 1)
    {
        CheckEncoding(line);
    }
    return true;
}

std::string
TextReader::DescribeForeign(const std::string& line)
{
    const std::string text = line + '\n' + ReadTextBegin(m_input.GetStream());
    return DescribeForeignFile(ListTextKeys(text), {}, line.compare(0, 1, "{") != 0);
}

std::string
TextReader::DescribeSeparator(const std::string& line)
{
    const std::string rule = "values are separated by commas, not by ";
    return line.find(',') != std::string::npos    ? ""
           : line.find(';') != std::string::npos  ? rule + "semicolons"
           : line.find('\t') != std::string::npos ? rule + "tabs"
                                                  : "";
}

bool
TextReader::ReadWords(std::vector<std::string>& words)
{
    words.clear();
    std::string line;
    while (words.empty())
    {
        if (!ReadLine(line))
        {
            return false;
        }
        words = Split(line);
    }
    return true;
}

std::vector<std::string>
TextReader::Split(const std::string& line)
{
    std::vector<std::string> words;
    std::istringstream split(line);
    for (std::string word; split >> word;)
    {
        words.push_back(word);
    }
    return words;
}

uint64_t
TextReader::ToUnsigned(const std::string& word, const std::string& what, uint64_t most) const
{
    uint64_t value = 0;
    bool isGood = !word.empty();
    for (const char c : word)
    {
        const auto digit = static_cast<unsigned>(c - '0');
        isGood = isGood && c >= '0' && c <= '9' &&
                 value <= (std::numeric_limits<uint64_t>::max() - digit) / 10;
        value = isGood ? value * 10 + digit : 0;
    }
    if (!isGood || value > most)
    {
        Fail(what + " must be an integer from 0 to " + std::to_string(most) + ", not " +
             QuotedText(word));
    }
    return value;
}

double
TextReader::ToNumber(const std::string& word, const std::string& what, double most) const
{
    const bool isNumber =
        !word.empty() && word.find_first_not_of("0123456789.eE+-") == std::string::npos;
    char* end = nullptr;
    const double value = isNumber ? std::strtod(word.c_str(), &end) : -1;
    if (!isNumber || end != word.c_str() + word.size() || !(value >= 0) || value > most)
    {
        std::ostringstream limit;
        limit << most;
        Fail(what + " must be a number from 0 to " + limit.str() + ", not " + QuotedText(word));
    }
    return value;
}

} // namespace proteus
} // namespace ns3
