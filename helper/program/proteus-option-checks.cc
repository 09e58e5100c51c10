/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-option-list.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
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
