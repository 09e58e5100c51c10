/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-hpcc-words.h"

#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cmath>
#include <locale>
#include <sstream>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double MOST_SECONDS = 1000; //!< of a time
constexpr double MOST_BYTES_PER_S = 1e15;

/// A unit at the end of a number.
struct Unit
{
    const char* name;
    double factor;
};

constexpr Unit TIME_UNITS[] =
    {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}, {"", 1}};

constexpr Unit RATE_UNITS[] = {{"bps", 1}, {"b/s", 1}, {"Bps", 8}, {"B/s", 8}};

constexpr Unit RATE_PREFIXES[] = {{"", 1},
                                  {"k", 1e3},
                                  {"K", 1e3},
                                  {"M", 1e6},
                                  {"G", 1e9},
                                  {"T", 1e12},
                                  {"Ki", 1024.0},
                                  {"Mi", 1048576.0},
                                  {"Gi", 1073741824.0},
                                  {"Ti", 1099511627776.0}};

} // namespace

void
HpccWords::Fail(uint64_t line, const std::string& cause) const
{
    m_reader.Fail(line, cause);
}

void
HpccWords::Warn(uint64_t line, const std::string& text) const
{
    proteus::Warn(m_reader.GetName() + ":" + std::to_string(line) + ": " + text);
}

std::vector<HpccWord>
HpccWords::NextLine()
{
    m_words.clear();
    m_next = 0;
    while (m_words.empty() && ReadLine())
    {
    }
    std::vector<HpccWord> words = m_words;
    m_words.clear();
    return words;
}

HpccWord
HpccWords::Next(const char* what)
{
    while (m_next == m_words.size())
    {
        m_words.clear();
        m_next = 0;
        if (!ReadLine())
        {
            Fail(std::max<uint64_t>(m_reader.GetLine(), 1),
                 std::string("the file ends where ") + what + " must follow");
        }
    }
    return m_words[m_next++];
}

void
HpccWords::WarnOfRest(uint64_t count, const std::string& thing)
{
    if (m_next < m_words.size())
    {
        const HpccWord& word = m_words[m_next];
        Warn(word.line, Shown(word) + " stands behind the last " + thing + ", and is not read");
    }
    uint64_t records = 0;
    uint64_t first = 0;
    std::string line;
    while (m_reader.ReadLine(line))
    {
        const std::vector<HpccWord> words = Split(line);
        const bool hasNumber = std::any_of(words.begin(), words.end(), [](const HpccWord& word) {
            return word.text[0] >= '0' && word.text[0] <= '9';
        });
        if (hasNumber)
        {
            first = records++ == 0 ? m_reader.GetLine() : first;
        }
    }
    if (records > 0)
    {
        Warn(first,
             "the first line of the file says " + FormatThings(count, thing) + "; " +
                 FormatThings(records, "more line") + (records == 1 ? " is" : " are") +
                 " not read");
    }
}

uint64_t
HpccWords::ToWhole(const HpccWord& word, const std::string& what, uint64_t most) const
{
    const bool isNumber = !word.text.empty() && word.text.size() <= 18 &&
                          std::all_of(word.text.begin(), word.text.end(), [](char c) {
                              return c >= '0' && c <= '9';
                          });
    const uint64_t value = isNumber ? std::stoull(word.text) : 0;
    if (!isNumber || value > most)
    {
        Fail(word.line,
             what + " must be a whole number from 0 to " + std::to_string(most) + ", not " +
                 Shown(word));
    }
    return value;
}

double
HpccWords::ToNumber(const HpccWord& word, const std::string& what, std::string& unit) const
{
    std::istringstream text(word.text);
    text.imbue(std::locale::classic());
    // A stream takes the E of "1Ebps" and fails; no unit begins with one.
    double value = 0;
    const bool isNumber = static_cast<bool>(text >> value);
    unit.clear();
    text >> unit;
    if (!isNumber || !std::isfinite(value) || value < 0)
    {
        Fail(word.line, what + " must begin with a number, 0 or above, not " + Shown(word));
    }
    return value;
}

double
HpccWords::ToProbability(const HpccWord& word) const
{
    std::string rest;
    const double value = ToNumber(word, "the error rate", rest);
    if (!rest.empty() || value >= 1)
    {
        Fail(word.line,
             "the error rate must be a number from 0 to less than 1, not " + Shown(word));
    }
    return value;
}

int64_t
HpccWords::ToPicoseconds(const HpccWord& word, const std::string& what) const
{
    std::string unit;
    const double value = ToNumber(word, what, unit);
    for (const Unit& known : TIME_UNITS)
    {
        if (unit == known.name && value * known.factor <= MOST_SECONDS)
        {
            const int64_t ps = std::llround(value * (known.factor * 1e12));
            if (ps == 0 && value > 0)
            {
                Fail(word.line, what + " must be 0 or at least a picosecond, not " + Shown(word));
            }
            return ps;
        }
    }
    Fail(word.line,
         what + " must be a time of at most 1000 s such as 500ns or 0.0005ms, not " + Shown(word));
}

double
HpccWords::ToBytesPerSecond(const HpccWord& word) const
{
    std::string unit;
    const double value = ToNumber(word, "the rate", unit);
    if (unit.empty()) // as ns-3's DataRate
    {
        unit = "bps";
    }
    for (const Unit& prefix : RATE_PREFIXES)
    {
        for (const Unit& known : RATE_UNITS)
        {
            // To a whole byte per second, as in all files.
            const double bytes = std::round(value * prefix.factor * known.factor / 8);
            if (unit == std::string(prefix.name) + known.name && bytes >= 1 &&
                bytes <= MOST_BYTES_PER_S)
            {
                return bytes;
            }
        }
    }
    Fail(word.line, "the rate must be above 0 and like 400Gbps or 50GB/s, not " + Shown(word));
}

std::string
HpccWords::Shown(const HpccWord& word)
{
    return QuotedText(word.text);
}

std::vector<HpccWord>
HpccWords::Split(const std::string& text) const
{
    std::vector<HpccWord> words;
    std::string word;
    for (char c : text.substr(0, text.find('#')) + " ")
    {
        if (c != ' ' && c != '\t' && c != '\r')
        {
            word += c;
        }
        else if (!word.empty())
        {
            words.push_back({word, m_reader.GetLine()});
            word.clear();
        }
    }
    return words;
}

bool
HpccWords::ReadLine()
{
    std::string text;
    if (!m_reader.ReadLine(text))
    {
        return false;
    }
    m_words = Split(text);
    return true;
}

} // namespace proteus
} // namespace ns3
