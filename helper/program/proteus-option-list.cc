/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-option-list.h"

#include "proteus-attribute-check.h"
#include "proteus-name-lists.h"
#include "proteus-option-manual.h"
#include "proteus-option-words.h"

#include "ns3/proteus-foreign-files.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-json.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iomanip>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t WIDTH = 100;            //!< of help
constexpr std::size_t INDENT = 26;            //!< of what options are
constexpr std::size_t LEAST_ABBREVIATION = 3; //!< letters of a name that suggest the whole

/// Options of ns-3's CommandLine that print something instead of a run.
const std::set<std::string> PRINTERS{"PrintHelp",
                                     "PrintVersion",
                                     "PrintGroups",
                                     "PrintTypeIds",
                                     "PrintGlobals",
                                     "PrintGroup",
                                     "PrintAttributes"};

/// What all programs answer, and with what.
const std::vector<std::pair<std::string, std::string>> QUESTIONS{
    {"help", "this text; also -h"},
    {"version", "of the module, ns-3, the compiler and the build profile"},
    {"models", "names for --model"},
    {"clusters", "names for --cluster"},
    {"frameworks", "names for --framework"},
    {"strategies", "files for --strategy, and its short form"},
    {"algorithms", "of collectives"},
    {"completion", "a script for bash or zsh (--completion=zsh) that completes the options"},
    {"man", "this text as a page of the manual, for man -l"}};

/// Most bytes of a file with options; a page is larger than what anybody types.
constexpr std::size_t MOST_CONFIG_BYTES = std::size_t{1} << 28;

/// @param path of a file @return its text; of a page, the part with the configuration
std::string
ReadConfigText(const std::string& path)
{
    InputFile file(path);
    const std::string text = ReadWhole(file.GetStream(), path, MOST_CONFIG_BYTES);
    const std::string begin = "<script type=\"application/json\" id=\"configuration\">";
    const std::size_t at = text.find(begin);
    if (text.compare(0, 1, "<") != 0 || at == std::string::npos)
    {
        return text;
    }
    const std::size_t from = at + begin.size();
    return text.substr(from, text.find("</script>", from) - from);
}

/// @param json of a file with options, or of a result @return the object with the options
JsonValue
FindConfiguration(const JsonValue& json)
{
    const char* key = "configuration";
    if (!json.IsObject())
    {
        return json;
    }
    if (json.Has(key))
    {
        return json.Get(key);
    }
    // A summary of several executors has one of each.
    for (const std::string& name : json.GetKeys())
    {
        const JsonValue value = json.Get(name.c_str());
        if (value.IsObject() && value.Has(key))
        {
            return value.Get(key);
        }
    }
    return json;
}

/// @param text an option as it was typed
/// @throw std::invalid_argument if it has a control character, or is longer than any value: but a
/// strategy in JSON, which may
void
RequirePlain(const std::string& text)
{
    constexpr std::size_t MOST_CHARACTERS = 8192; // twice a path of Linux; std::regex recurses
    if (text.rfind("--strategy={", 0) == 0)
    {
        return;
    }
    if (text.size() > MOST_CHARACTERS)
    {
        throw std::invalid_argument(text.substr(0, 40) + "...: has more than " +
                                    std::to_string(MOST_CHARACTERS) +
                                    " characters, which no value of an option has");
    }
    const auto at = std::find_if(text.begin(), text.end(), [](unsigned char c) {
        return std::iscntrl(c) != 0;
    });
    if (at == text.end())
    {
        return;
    }
    const std::string word(text.begin(), at);
    if (*at == '\r')
    {
        throw std::invalid_argument(word +
                                    ": a carriage return follows: do the lines of the script "
                                    "end as in Windows? dos2unix mends it");
    }
    std::ostringstream code;
    code << std::hex << std::setw(2) << std::setfill('0')
         << static_cast<unsigned>(static_cast<unsigned char>(*at));
    throw std::invalid_argument(
        word + ": " + (*at == '\n' ? "an end of line" : "the control character 0x" + code.str()) +
        " follows: leave it out");
}

/// Prints words, wrapped. @param text of them @param column where they begin @param out where to
void
PrintWrapped(const std::string& text, std::size_t column, std::ostream& out)
{
    std::istringstream words(text);
    std::size_t at = column;
    for (std::string word; words >> word;)
    {
        if (at > column && at + 1 + word.size() > WIDTH)
        {
            out << '\n' << std::string(column, ' ');
            at = column;
        }
        out << (at > column ? " " : "") << word;
        at += word.size() + (at > column ? 1 : 0);
    }
    out << '\n';
}

/// Prints an option and what it is.
void
PrintOption(const std::string& option, const std::string& help, std::ostream& out)
{
    out << "  " << option;
    if (option.size() + 3 > INDENT)
    {
        out << '\n' << std::string(INDENT, ' ');
    }
    else
    {
        out << std::string(INDENT - 2 - option.size(), ' ');
    }
    PrintWrapped(help, INDENT, out);
}

} // namespace

OptionList::OptionList(const std::string& program, const std::string& workloads)
    : m_program(program),
      m_workloads(workloads),
      m_command(program + ".cc") // as ns-3 takes __FILE__
{
}

void
OptionList::Usage(const std::string& text)
{
    m_usage = text;
    m_command.Usage(text);
}

void
OptionList::StartGroup(const std::string& title)
{
    m_group = title;
}

void
OptionList::AddEntry(Entry entry)
{
    m_entries.push_back(std::move(entry));
}

void
OptionList::AddHint(const std::string& name, const std::string& hint)
{
    m_hints[name] = hint;
}

std::string
OptionList::FindHint(const std::string& name) const
{
    std::vector<std::string> names;
    for (const auto& hint : m_hints)
    {
        names.push_back(hint.first);
    }
    const std::string known = FindAlias(name, names);
    return known.empty() ? "" : m_hints.at(known);
}

void
OptionList::AddField(const std::string& name, const std::string& field)
{
    m_fields[field] = name;
}

void
OptionList::AddAlias(const std::string& alias, const std::string& name)
{
    m_aliases[alias] = name;
}

const std::string&
OptionList::Resolve(const std::string& name) const
{
    const auto alias = m_aliases.find(name);
    return alias == m_aliases.end() ? name : alias->second;
}

const OptionList::Entry*
OptionList::Find(const std::string& name) const
{
    const auto place = std::find_if(m_entries.begin(),
                                    m_entries.end(),
                                    [&name](const Entry& entry) { return entry.name == name; });
    return place == m_entries.end() ? nullptr : &*place;
}

void
OptionList::PrintHelp(std::ostream& out) const
{
    out << m_usage << "\n\nUsage: " << m_program << " [--OPTION[=VALUE]]...\n";
    std::vector<std::string> groups;
    for (const Entry& entry : m_entries)
    {
        if (std::find(groups.begin(), groups.end(), entry.group) == groups.end())
        {
            groups.push_back(entry.group);
        }
    }
    for (const std::string& group : groups)
    {
        out << '\n' << (group.empty() ? "Options" : group) << '\n';
        for (const Entry& entry : m_entries)
        {
            if (entry.group == group)
            {
                const std::string value = entry.GetPlaceholder();
                PrintOption("--" + entry.name + (value.empty() ? "" : "=" + value),
                            entry.help + (entry.value.empty() || value.empty()
                                              ? ""
                                              : " [" + entry.value + "]"),
                            out);
            }
        }
    }
    out << "\nAll programs\n";
    for (const auto& [question, help] : QUESTIONS)
    {
        PrintOption("--" + question, help, out);
    }
    PrintOption(
        "--config=FILE",
        "JSON file with options, {\"NAME\": VALUE, ...}, or a summary, --json file or page, whose "
        "run is repeated; options of the command line go before them",
        out);
    PrintOption(
        "--ns3::TYPE::ATTRIBUTE=VALUE",
        "any attribute of ns-3, e.g. --ns3::proteus::Fabric::Routing=Adaptive; "
        "--PrintAttributes=TYPE lists those of a type, --PrintTypeIds the types, --PrintGlobals "
        "global values",
        out);
}

OptionList::Word
OptionList::Split(const std::string& text, const std::string& before) const
{
    if (text == "-h")
    {
        return {"help", false, "", ""};
    }
    if (text.rfind("--", 0) != 0)
    {
        if (text.rfind('-', 0) == 0 && text.size() > 1)
        {
            const std::string hint = FindHint(text.substr(1, text.find('=') - 1));
            throw std::invalid_argument(text + ": " +
                                        (hint.empty() ? "options begin with two dashes: -" + text
                                                      : "there is no such option: " + hint));
        }
        for (const std::string dash : {"\u2014", "\u2013"}) // what editors make of two
        {
            if (text.rfind(dash, 0) == 0)
            {
                const std::size_t begin = text.find_first_not_of('-', dash.size());
                throw std::invalid_argument(text + ": options begin with two dashes: --" +
                                            (begin == std::string::npos ? "" : text.substr(begin)));
            }
        }
        const bool isValue = before.rfind("--", 0) == 0 && before.find('=') == std::string::npos &&
                             Find(before.substr(2)) &&
                             Find(before.substr(2))->kind != OptionKind::FLAG;
        throw std::invalid_argument("'" + text + "' is no option" +
                                    (isValue ? ": write " + before + "=" + text
                                             : "; options are --NAME=VALUE, see --help"));
    }
    const std::size_t equals = text.find('=');
    const bool hasValue = equals != std::string::npos;
    const std::string name = text.substr(2, hasValue ? equals - 2 : equals);
    return {Resolve(name), hasValue, hasValue ? text.substr(equals + 1) : "", ""};
}

std::string
OptionList::Check(const Word& word) const
{
    const std::string option = "--" + word.name;
    RequirePlain(option + "=" + word.value);
    std::optional<std::string> attribute;
    if (const Entry* entry = Find(word.name))
    {
        const bool isBlank = word.value.find_first_not_of(" \t\r\n") == std::string::npos;
        if (isBlank && (word.hasValue || entry->kind != OptionKind::FLAG))
        {
            throw std::invalid_argument(option + " needs a value: " + option + "=" +
                                        entry->GetPlaceholder());
        }
        if (!word.hasValue)
        {
            return option + "=true";
        }
        const std::string value = Normalise(*entry, word.value);
        CheckValue(word, value);
        return option + "=" + value;
    }
    if (PRINTERS.count(word.name) == 1)
    {
        CheckPrinter(word.name, word.value);
    }
    else if (const std::string hint = FindHint(word.name); !hint.empty())
    {
        throw std::invalid_argument(option + ": there is no such option: " + hint);
    }
    else if (!word.hasValue && IsAttribute(word.name))
    {
        throw std::invalid_argument(option + " needs a value: " + option + "=VALUE");
    }
    else if (attribute = NormaliseAttribute(word.name, word.value); !attribute)
    {
        std::vector<std::string> names; // of two that are as near, the first one
        for (const Entry& entry : m_entries)
        {
            names.push_back(entry.name);
        }
        names.emplace_back("config");
        for (const auto& question : QUESTIONS)
        {
            if (word.name == question.first) // in a file: on the command line it is answered
            {
                throw std::invalid_argument(option + " prints something instead of a run");
            }
            names.push_back(question.first);
        }
        names.insert(names.end(), PRINTERS.begin(), PRINTERS.end());
        const std::string hint = FindOptionWord(word.name, [this](const std::string& name) {
            return Find(name) != nullptr;
        });
        if (!hint.empty() && FindAlias(word.name, names).empty())
        {
            throw std::invalid_argument(option + ": there is no such option: " + hint);
        }
        std::string nearest = FindNearest(word.name, names);
        const auto whole = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
            return name.compare(0, word.name.size(), word.name) == 0;
        });
        if (nearest.empty() && word.name.size() >= LEAST_ABBREVIATION && whole != names.end())
        {
            nearest = *whole;
        }
        throw std::invalid_argument(
            option + ": there is no such option" +
            (nearest.empty() ? "; --help lists all" : "; did you mean --" + nearest + "?"));
    }
    return option + (word.hasValue ? "=" + attribute.value_or(word.value) : "");
}

void
OptionList::CheckOption(const std::string& name, const std::string& value) const
{
    if (PRINTERS.count(name) == 1)
    {
        throw std::invalid_argument("--" + name + " prints something instead of a run");
    }
    Check({Resolve(name), true, value, ""});
}

std::vector<OptionList::Word>
OptionList::ReadConfig(const std::string& path) const
{
    const std::string text = ReadConfigText(path);
    std::istringstream input(text);
    const JsonDocument document(input, path); // refuses a key that stands there twice
    const JsonValue json = FindConfiguration(document.GetRoot());
    if (!json.IsObject())
    {
        throw std::invalid_argument("--config=" + path +
                                    ": must be {\"NAME\": VALUE, ...}, or a result that has a "
                                    "configuration");
    }
    if (const auto format = json.Find("format"); format && !Find("format"))
    {
        throw std::invalid_argument("--config=" + path + ": is a file of format " +
                                    format->Shown() +
                                    ", which has no options; a summary, a --json file or a page of "
                                    "--report has those of its run");
    }
    if (const std::string foreign = DescribeForeignFile(json.GetKeys()); !foreign.empty())
    {
        throw std::invalid_argument("--config=" + path + ": " + foreign);
    }
    std::vector<Word> words;
    for (const std::string& name : json.GetKeys())
    {
        const JsonValue value = json.Get(name.c_str());
        if (name == "config")
        {
            throw std::invalid_argument("--config=" + path +
                                        ": /config: options are read from one file, not from "
                                        "another one that it names");
        }
        if (value.IsNull())
        {
            throw std::invalid_argument("--config=" + path + ": /" + name +
                                        ": is null, and no value of an option");
        }
        // Texts as they stand; a strategy may be an object.
        words.push_back({Resolve(name),
                         true,
                         value.IsString() ? value.AsString() : value.Dump(),
                         "--config=" + path + ": /" + Resolve(name) + ": "});
    }
    return words;
}

std::vector<OptionList::Word>
OptionList::ReadEnvironment() const
{
    std::vector<Word> words;
    for (const EnvironmentOption& option : m_environment)
    {
        const std::string place = "the environment variable " + option.variable + ": ";
        if (!IsAttribute(option.name))
        {
            throw std::invalid_argument(place + "ns-3 has no attribute or global value " +
                                        option.name);
        }
        words.push_back({option.name, true, option.value, place});
    }
    return words;
}

std::string
OptionList::CheckPlaced(const Word& word) const
{
    try
    {
        return Check(word);
    }
    catch (const std::invalid_argument& error)
    {
        std::string text = error.what(); // of one line, whatever the value
        std::replace_if(
            text.begin(),
            text.end(),
            [](unsigned char c) { return std::iscntrl(c) != 0; },
            ' ');
        throw std::invalid_argument(word.place + text);
    }
}

bool
OptionList::Answer(const Word& word, std::ostream& out) const
{
    if (word.name == "help")
    {
        PrintHelp(out);
        return true;
    }
    if (word.name == "completion" || word.name == "man")
    {
        const OptionManual manual{m_program, m_usage, m_entries, QUESTIONS};
        word.name == "man" ? manual.WriteManualPage(out) : manual.WriteCompletion(word.value, out);
        return true;
    }
    return PrintNames(word.name, m_workloads, out);
}

std::vector<OptionList::Word>
OptionList::ReadNamedConfig(const std::string& path) const
{
    try
    {
        return ReadConfig(path);
    }
    catch (const std::invalid_argument& error)
    {
        const std::string text = error.what();
        const bool isNamed = text.rfind("--", 0) == 0;
        throw std::invalid_argument((isNamed ? "" : "--config=") + text);
    }
}

void
OptionList::AddUntyped(const std::vector<Word>& more, std::vector<Word>& words)
{
    for (const Word& word : more)
    {
        const auto isTyped = [&word](const Word& other) { return other.name == word.name; };
        if (std::none_of(words.begin(), words.end(), isTyped))
        {
            words.push_back(word);
        }
    }
}

bool
OptionList::Parse(const std::vector<std::string>& arguments, std::ostream& out)
{
    std::string configFile;
    std::vector<Word> words;
    std::vector<Word> configured;
    for (std::size_t i = 1; i < arguments.size(); ++i)
    {
        RequirePlain(arguments[i]);
        const Word word = Split(arguments[i], arguments[i - 1]);
        const bool isOurs = Find(word.name) == nullptr;
        if (isOurs && Answer(word, out))
        {
            return false;
        }
        if (!isOurs || word.name != "config")
        {
            words.push_back(word);
            continue;
        }
        if (!configFile.empty() || word.value.empty())
        {
            throw std::invalid_argument("--config=FILE: give one file");
        }
        configFile = word.value;
        configured = ReadNamedConfig(configFile);
    }
    AddUntyped(configured, words);
    AddUntyped(ReadEnvironment(), words);
    std::vector<std::string> checked{m_program};
    std::vector<Word> last; // of words with the same name, which the last one decides
    for (const Word& word : words)
    {
        checked.push_back(CheckPlaced(word));
        last.erase(std::remove_if(last.begin(),
                                  last.end(),
                                  [&word](const Word& other) { return other.name == word.name; }),
                   last.end());
        last.push_back(word);
    }
    NoteRepeated(words, {checked.begin() + 1, checked.end()});
    std::vector<Word> files = last;
    if (!configFile.empty())
    {
        files.push_back({"config", true, configFile, ""});
    }
    CheckTogether(files);
    m_words = last;
    m_idleNotes.clear();
    m_configuration.clear();
    for (const Word& word : last)
    {
        const Entry* entry = Find(word.name);
        const bool isPrinter = PRINTERS.count(word.name) > 0;
        if (!isPrinter && (!entry || entry->kind != OptionKind::OUTPUT) && word.name != "quiet")
        {
            const bool isName = entry && entry->names != NameUse::HINT;
            m_configuration.emplace_back(word.name,
                                         !word.hasValue ? "true"
                                         : isName       ? Normalise(*entry, word.value)
                                                        : word.value);
        }
    }
    m_command.Parse(checked);
    return true;
}

} // namespace proteus
} // namespace ns3
