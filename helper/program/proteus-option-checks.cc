/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-option-list.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-output-plan.h"
#include "ns3/proteus-readable-file.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

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

    /// @param begin of the run @return the files that were there before it and are as they were
    std::vector<std::string> FindOlder(std::filesystem::file_time_type begin) const
    {
        std::vector<std::string> older;
        for (const auto& [real, name] : m_found)
        {
            std::error_code none; // what cannot be looked at is not named
            const auto written = std::filesystem::last_write_time(name, none);
            if (!none && written < begin)
            {
                older.push_back(ShownName(std::filesystem::path(name).filename().string()));
            }
        }
        return older;
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

/// A file or folder that an option names.
struct NamedFile
{
    std::string option;                       //!< with dashes
    std::string value;                        //!< as it was typed
    std::string path;                         //!< see FindRealPath()
    bool isOutput;                            //!< whether it is written, or else read
    std::shared_ptr<const OutputParts> parts; //!< of an output of several files; null: it is one
};

/// @param output that is written @param other that is read, or written
/// @return why both cannot be, or empty
std::string
FindClash(const NamedFile& output, const NamedFile& other)
{
    const std::string text = output.option + "=" + output.value;
    // Of two outputs with several files each, those of one folder have different names.
    if (other.isOutput && other.path == output.path &&
        (!output.parts || !other.parts || other.value == output.value))
    {
        return other.option + " and " + output.option + " would both write " + output.value +
               ": give them different names";
    }
    std::error_code none;
    if (!other.isOutput && std::filesystem::is_regular_file(other.path, none) &&
        std::filesystem::equivalent(other.path, output.path, none))
    {
        return text + " would write over the file that " + other.option +
               " reads: give it another name";
    }
    for (const auto& [whole, one] : {std::tie(output, other), std::tie(other, output)})
    {
        const std::string part = whole.parts ? whole.parts->Find(one.path) : "";
        if (!part.empty())
        {
            return whole.option + "=" + whole.value + " would write " + part + ", which " +
                   one.option + (one.isOutput ? " writes, too" : " reads") +
                   ": give it another name";
        }
    }
    return "";
}

/// @return files that standard output and standard error have been sent to by the shell: who writes
/// one of them besides, loses what is printed
std::vector<NamedFile>
FindRedirections()
{
    std::vector<NamedFile> files;
    for (const auto& [stream, link] : {std::pair{"standard output", "/proc/self/fd/1"},
                                       std::pair{"standard error", "/proc/self/fd/2"}})
    {
        std::error_code none; // it is closed, or there is no /proc
        const std::filesystem::path file = std::filesystem::read_symlink(link, none);
        if (!none && std::filesystem::is_regular_file(file, none))
        {
            files.push_back({stream, file.string(), FindRealPath(file.string()), true, nullptr});
        }
    }
    return files;
}

/// @param fields names of options by those of fields @param text an error
/// @return the same with options for fields, which are words of the text: not parts of names and
/// paths, such as "tp8" or "a/tp/b"
std::string
NameFields(const std::map<std::string, std::string>& fields, const std::string& text)
{
    static const std::regex word("[^ ,;()]+");
    std::string named;
    std::size_t done = 0;
    for (auto it = std::sregex_iterator(text.begin(), text.end(), word);
         it != std::sregex_iterator();
         ++it)
    {
        const auto field = fields.find(it->str());
        if (field != fields.end())
        {
            const auto begin = static_cast<std::size_t>(it->position());
            named += text.substr(done, begin - done) + "--" + field->second;
            done = begin + static_cast<std::size_t>(it->length());
        }
    }
    return named + text.substr(done);
}

/// @param outputs of a program @param path of a file, see FindRealPath()
/// @return the output that would be written over it, as it was typed, or empty
std::string
FindOutput(const std::vector<NamedFile>& outputs, const std::string& path)
{
    const auto found =
        std::find_if(outputs.begin(), outputs.end(), [&path](const NamedFile& output) {
            return output.parts ? !output.parts->Find(path).empty() : output.path == path;
        });
    return found == outputs.end() ? "" : found->option + "=" + found->value;
}

/// @param value name of a file or folder @return its ending, if that says a format; else empty
std::string
FindFormat(const std::string& value)
{
    static const std::set<std::string> FORMATS{
        ".bz2", ".csv",     ".dot", ".gz",  ".htm",  ".html", ".json", ".jsonl",
        ".md",  ".parquet", ".pb",  ".pdf", ".png",  ".svg",  ".toml", ".tsv",
        ".xls", ".xlsx",    ".xml", ".xz",  ".yaml", ".yml",  ".zip",  ".zst"};
    std::string own = std::filesystem::path(value).extension().string();
    std::transform(own.begin(), own.end(), own.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    return FORMATS.count(own) > 0 ? own : "";
}

/// @param value name of a file @param ending of the names of its format @throw
/// std::invalid_argument if it ends as another format does; names without an ending, and endings
/// that say no format, are as good
void
CheckEnding(const std::string& value, const std::string& ending)
{
    const std::string own = FindFormat(value);
    if (!own.empty() && own != ending)
    {
        throw std::invalid_argument("is no " + own + " file: the name must end in " + ending);
    }
}

/// @param value name of a folder @throw std::invalid_argument if it ends as that of a file does
void
CheckFolder(const std::string& value)
{
    std::error_code none; // a name that cannot be looked at is said when it is written
    const std::string own = FindFormat(value);
    if (!own.empty() && !std::filesystem::is_directory(value, none))
    {
        throw std::invalid_argument("is a folder, and no " + own + " file: leave the ending out");
    }
}

/// @param value name of a file or folder to write @throw std::invalid_argument if it is one that
/// people type for something else
void
CheckOutputName(const std::string& value)
{
    if (value == "-")
    {
        throw std::invalid_argument(
            "write /dev/stdout for what is printed, or ./- for a file of that name");
    }
    if (const std::string home = DescribeHome(value); !home.empty())
    {
        throw std::invalid_argument(home);
    }
}

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

std::vector<std::string>
OptionList::FindOlderParts(std::filesystem::file_time_type begin) const
{
    std::vector<std::string> lines;
    for (const Word& word : m_words)
    {
        const Entry* entry = Find(word.name);
        if (!entry || entry->kind != OptionKind::OUTPUT || entry->parts.empty() ||
            word.name == "tables")
        {
            continue;
        }
        const auto older = OutputParts(word.value, entry->parts).FindOlder(begin);
        if (!older.empty())
        {
            lines.push_back("--" + word.name + "=" + word.value +
                            ": not of this run, and left as before: " + ListSome(older));
        }
    }
    return lines;
}

void
OptionList::CheckTogether(const std::vector<Word>& words) const
{
    std::vector<NamedFile> inputs;
    std::vector<NamedFile> outputs;
    for (const Word& word : words)
    {
        const Entry* entry = Find(word.name);
        const bool isText = word.name == "config" || (entry && entry->kind == OptionKind::TEXT);
        const bool hasParts = entry && !entry->parts.empty();
        const bool isOutput = entry && (entry->kind == OptionKind::OUTPUT || hasParts);
        const std::string value =
            isOutput && isText ? word.value.substr(0, word.value.find(',')) : word.value;
        std::error_code none; // a value that is no path is no file
        if (isOutput ? value.empty() : !isText || !std::filesystem::exists(value, none))
        {
            continue;
        }
        NamedFile file{"--" + word.name, value, FindRealPath(value), isOutput, nullptr};
        if (hasParts)
        {
            file.parts = std::make_shared<OutputParts>(value, entry->parts);
        }
        (isOutput ? outputs : inputs).push_back(std::move(file));
    }
    const auto check = [](const NamedFile& output, const NamedFile& other) {
        const std::string clash = FindClash(output, other);
        if (!clash.empty())
        {
            throw std::invalid_argument(clash);
        }
    };
    const std::vector<NamedFile> redirections = FindRedirections();
    for (std::size_t i = 0; i < outputs.size(); ++i)
    {
        for (std::size_t j = 0; j < i; ++j)
        {
            check(outputs[i], outputs[j]);
        }
        for (const NamedFile& redirection : redirections)
        {
            check(outputs[i], redirection);
        }
        for (const NamedFile& input : inputs)
        {
            check(outputs[i], input);
        }
    }
    // What files name that are read from now on.
    OutputPlan::Add([outputs](const std::string& path) { return FindOutput(outputs, path); });
}

void
OptionList::AddOutput(const std::string& name,
                      const std::string& help,
                      CommandLineText& value,
                      const std::string& ending)
{
    Add(name, help, OptionKind::OUTPUT, value);
    AddCheck(name, CheckOutputName);
    if (!ending.empty())
    {
        AddCheck(name, [ending](const std::string& path) { CheckEnding(path, ending); });
    }
}

void
OptionList::AddFolder(const std::string& name, const std::string& help, CommandLineText& value)
{
    Add(name, help, OptionKind::OUTPUT, value);
    m_entries.back().isFolder = true;
    AddCheck(name, CheckOutputName);
    AddCheck(name, CheckFolder);
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
OptionList::AddTimeRange(const std::string& name, const Time& least, const Time& most)
{
    AddCheck(name, [least, most](const std::string& value) {
        const Time time(value);
        if (least.IsZero() && time.IsStrictlyNegative())
        {
            throw std::invalid_argument("must not be negative");
        }
        if (time < least || time > most)
        {
            throw std::invalid_argument("must be a time from " + FormatTime(least.GetSeconds()) +
                                        " to " + FormatTime(most.GetSeconds()));
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
            throw std::invalid_argument("cannot be read: " + DescribeUnreadable(value));
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
    static const std::string MISSING = ": cannot be read: ";
    std::string options;
    uint32_t count = 0;
    for (const Word& word : m_words)
    {
        const Entry* entry = Find(word.name);
        const std::size_t size = word.value.size();
        std::error_code none; // a value that is no path is no file
        if (entry && entry->kind == OptionKind::TEXT && error.compare(0, size, word.value) == 0 &&
            error.size() > size && (error[size] == ':' || error[size] == ',') &&
            (std::filesystem::exists(word.value, none) ||
             error.compare(size, MISSING.size(), MISSING) == 0))
        {
            options = "--" + word.name + "=";
            ++count;
        }
    }
    // Of two options, the wrong one may be said.
    const std::string text = count == 1   ? options + error
                             : count == 0 ? NameFields(m_fields, error)
                                          : error;
    for (const Word& word : m_words)
    {
        const std::string option = "--" + word.name;
        const bool isNamed = text.compare(0, option.size(), option) == 0 &&
                             text.find_first_of("=: ", option.size()) == option.size();
        if (isNamed && !word.place.empty())
        {
            return word.place + text;
        }
    }
    return text;
}

} // namespace proteus
} // namespace ns3
