/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-option-list.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <regex>
#include <stdexcept>
#include <utility>

/**
 * @file
 * @ingroup proteus
 * Checks of the values of options.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// @param path of a file or folder @return its one name, links followed, without a slash at its end
std::string
FindRealPath(const std::string& path)
{
    std::error_code unknown; // of what cannot be looked at, the name counts
    const std::filesystem::path whole = std::filesystem::absolute(path);
    const std::filesystem::path real = std::filesystem::weakly_canonical(whole, unknown);
    std::string text = (unknown ? whole.lexically_normal() : real).string();
    while (text.size() > 1 && text.back() == '/')
    {
        text.pop_back();
    }
    return text;
}

/// The files of an output that has several: a folder, or the begin of their names.
class OutputParts
{
  public:
    /// @param value of the option @param pattern see OptionList::AddParts()
    OutputParts(const std::string& value, const std::string& pattern)
        : m_begin(FindRealPath(value)),
          m_pattern(pattern)
    {
        // Files that are there may be links.
        std::error_code none;
        const bool isFolder = std::filesystem::is_directory(m_begin, none);
        const auto folder = isFolder ? std::filesystem::path(m_begin)
                                     : std::filesystem::path(m_begin).parent_path();
        for (const auto& entry : std::filesystem::directory_iterator(folder, none))
        {
            if (Fits(entry.path().string()))
            {
                m_found.emplace(FindRealPath(entry.path().string()), entry.path().string());
            }
        }
    }

    /// @param path of a file or folder that is read or written, see FindRealPath()
    /// @return the file of the output that would be written over it, or empty
    std::string Find(const std::string& path) const
    {
        const auto found = m_found.find(path);
        if (found != m_found.end())
        {
            return found->second;
        }
        return Fits(path) ? path : "";
    }

  private:
    /// @return whether a name is one of those that are written
    bool Fits(const std::string& path) const
    {
        return path.compare(0, m_begin.size(), m_begin) == 0 &&
               std::regex_match(path.substr(m_begin.size()), m_pattern);
    }

    std::string m_begin;
    std::regex m_pattern;
    std::map<std::string, std::string> m_found; //!< names by real paths
};

} // namespace

void
OptionList::AddParts(const std::string& name, const std::string& pattern)
{
    for (Entry& entry : m_entries)
    {
        if (entry.name == name)
        {
            entry.parts = pattern;
        }
    }
}

void
OptionList::CheckTogether(const std::vector<Word>& words) const
{
    const auto isOutput = [this](const Word& word) {
        const Entry* entry = Find(word.name);
        return entry && entry->kind == OptionKind::OUTPUT && !word.value.empty();
    };
    const auto isInput = [this](const Word& word) {
        const Entry* entry = Find(word.name);
        std::error_code none; // a value that is no path is no file
        return (word.name == "config" || (entry && entry->kind == OptionKind::TEXT)) &&
               std::filesystem::exists(word.value, none);
    };
    for (const Word& word : words)
    {
        if (!isOutput(word))
        {
            continue;
        }
        const std::string text = "--" + word.name + "=" + word.value;
        const std::string path = FindRealPath(word.value);
        const bool isOne = Find(word.name)->parts.empty();
        for (const Word& other : words)
        {
            if (&other == &word)
            {
                break; // each pair once
            }
            // Of two outputs with several files each, those of one folder have different names.
            if (isOutput(other) && FindRealPath(other.value) == path &&
                (isOne || Find(other.name)->parts.empty() || other.value == word.value))
            {
                throw std::invalid_argument("--" + other.name + " and --" + word.name +
                                            " would both write " + word.value +
                                            ": give them different names");
            }
        }
        for (const Word& other : words)
        {
            std::error_code none;
            if (isInput(other) && std::filesystem::is_regular_file(other.value, none) &&
                std::filesystem::equivalent(other.value, word.value, none))
            {
                throw std::invalid_argument(text + " would write over the file that --" +
                                            other.name + " reads: give it another name");
            }
        }
        if (isOne)
        {
            continue;
        }
        const OutputParts parts(word.value, Find(word.name)->parts);
        for (const Word& other : words)
        {
            const bool isRead = isInput(other);
            if (&other == &word || (!isRead && !isOutput(other)))
            {
                continue;
            }
            const std::string part = parts.Find(FindRealPath(other.value));
            if (!part.empty())
            {
                throw std::invalid_argument(text + " would write " + part + ", which --" +
                                            other.name + (isRead ? " reads" : " writes, too") +
                                            ": give it another name");
            }
        }
    }
}

void
OptionList::AddCheck(const std::string& name, std::function<void(const std::string& value)> check)
{
    m_checks.emplace(name, std::move(check));
}

void
OptionList::AddRange(const std::string& name, int64_t least, int64_t most)
{
    AddCheck(name, [least, most](const std::string& value) {
        const int64_t number = std::stoll(value); // a whole number, see Check()
        if (number < least || number > most)
        {
            throw std::invalid_argument("must be a number from " + std::to_string(least) + " to " +
                                        std::to_string(most));
        }
    });
}

void
OptionList::AddInput(const std::string& name)
{
    AddCheck(name, [](const std::string& value) {
        std::error_code none; // what cannot be looked at is said when it is read
        if (!std::filesystem::exists(value, none))
        {
            throw std::invalid_argument(std::string("cannot be read: ") + std::strerror(ENOENT));
        }
        if (std::filesystem::is_directory(value, none))
        {
            throw std::invalid_argument("cannot be read: it is a directory");
        }
    });
}

void
OptionList::CheckValue(const Word& word, const std::string& value) const
{
    const auto [first, last] = m_checks.equal_range(word.name);
    for (auto check = first; check != last; ++check)
    {
        try
        {
            check->second(value);
        }
        catch (const std::exception& error)
        {
            const std::string option = "--" + word.name;
            const std::string text = error.what();
            throw std::invalid_argument(text.compare(0, option.size(), option) == 0
                                            ? text
                                            : option + "=" + word.value + ": " + text);
        }
    }
}

std::string
OptionList::Describe(const OutputError& error) const
{
    const std::string& path = error.GetPath();
    const std::string text = error.what();
    for (const Word& word : m_words)
    {
        if (word.value == path)
        {
            return "--" + word.name + "=" + text;
        }
        std::string begin = word.value; // a folder, or the prefix of several files
        while (begin.size() > 1 && begin.back() == '/')
        {
            begin.pop_back();
        }
        const Entry* entry = Find(word.name);
        const bool isBegin =
            entry && entry->kind == OptionKind::OUTPUT &&
            path.compare(0, begin.size(), begin) == 0 &&
            (begin == "/" || path.find_first_of("/-.", begin.size()) == begin.size());
        if (isBegin)
        {
            return "--" + word.name + ": " + text;
        }
    }
    return text;
}

std::string
OptionList::DescribeInput(const std::string& error) const
{
    std::string options;
    uint32_t count = 0;
    for (const Word& word : m_words)
    {
        const Entry* entry = Find(word.name);
        const std::size_t size = word.value.size();
        std::error_code none; // a value that is no path is no file
        if (entry && entry->kind == OptionKind::TEXT && error.compare(0, size, word.value) == 0 &&
            error.size() > size && (error[size] == ':' || error[size] == ',') &&
            std::filesystem::exists(word.value, none))
        {
            options = "--" + word.name + "=";
            ++count;
        }
    }
    return (count == 1 ? options : "") + error; // of two, the wrong one may be said
}

} // namespace proteus
} // namespace ns3
