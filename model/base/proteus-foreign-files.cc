/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-foreign-files.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <streambuf>

namespace ns3
{
namespace proteus
{

namespace
{

/// Bytes that tell a file.
constexpr std::size_t MOST_READ = std::size_t{1} << 16;

bool
IsKeyCharacter(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

/// @param line of a text @param keys gets its options, "--tensor-model-parallel-size"
void
AddOptions(const std::string& line, std::vector<std::string>& keys)
{
    for (std::size_t at = line.find("--"); at != std::string::npos; at = line.find("--", at))
    {
        std::size_t end = at;
        while (end < line.size() && IsKeyCharacter(line[end]))
        {
            ++end;
        }
        keys.push_back(line.substr(at, end - at));
        at = std::max(end, at + 1);
    }
}

} // namespace

std::string
DescribeForeignFile(const std::vector<std::string>& keys,
                    const std::vector<std::string>& own,
                    bool isText)
{
    const auto has = [](const std::vector<std::string>& all, const std::string& key) {
        return std::find(all.begin(), all.end(), key) != all.end();
    };
    const ForeignFile* best = nullptr;
    std::ptrdiff_t most = 0;
    for (const auto& [name, file] : ForeignFileRegistry::Get().GetAll())
    {
        const auto count = std::count_if(file.keys.begin(),
                                         file.keys.end(),
                                         [&](const std::string& key) { return has(keys, key); });
        const bool isOwn = std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
            return has(own, key) && !has(file.keys, key) && !has(file.common, key);
        });
        if (!isOwn && count >= static_cast<std::ptrdiff_t>(file.least) && count > most)
        {
            best = &file;
            most = count;
        }
    }
    const bool isOtherText = best && best->isJson && isText;
    return !best         ? ""
           : isOtherText ? "this has the keys of " + best->what + "; but that is JSON, and this not"
                         : "this is " + best->what;
}

std::string
DescribeForeignBegin(const std::string& begin)
{
    for (const auto& [name, file] : ForeignFileRegistry::Get().GetAll())
    {
        if (!file.magic.empty() && begin.size() >= file.magicAt + file.magic.size() &&
            begin.compare(file.magicAt, file.magic.size(), file.magic) == 0)
        {
            return "this is " + file.what;
        }
    }
    return "";
}

std::string
DescribeForeignName(const std::string& path)
{
    for (const auto& [name, file] : ForeignFileRegistry::Get().GetAll())
    {
        if (std::any_of(file.endings.begin(), file.endings.end(), [&](const std::string& ending) {
                return path.size() > ending.size() &&
                       path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
            }))
        {
            return "this is " + file.what;
        }
    }
    return "";
}

std::string
ReadTextBegin(std::istream& input)
{
    std::string text(MOST_READ, 0);
    text.resize(static_cast<std::size_t>(
        input.rdbuf()->sgetn(text.data(), static_cast<std::streamsize>(text.size()))));
    return text;
}

std::vector<std::string>
ListTextKeys(std::istream& input)
{
    return ListTextKeys(ReadTextBegin(input));
}

std::vector<std::string>
ListTextKeys(const std::string& text)
{
    std::istringstream lines(text);
    std::vector<std::string> keys;
    for (std::string line; std::getline(lines, line);)
    {
        AddOptions(line, keys);
        const auto isNone = [](char c) { return !IsKeyCharacter(c); };
        const std::size_t first = line.find_first_not_of(" \t[\"'");
        if (first == std::string::npos || (isNone(line[first]) && line[first] != '<'))
        {
            continue;
        }
        const auto key = line.begin() + static_cast<std::ptrdiff_t>(first);
        keys.emplace_back(key, std::find_if(key + 1, line.end(), isNone));
    }
    return keys;
}

} // namespace proteus
} // namespace ns3
