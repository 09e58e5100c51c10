/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OPTION_LIST_H
#define PROTEUS_OPTION_LIST_H

#include "proteus-command-line-text.h"
#include "proteus-environment-options.h"
#include "proteus-option-values.h"

#include "ns3/command-line.h"
#include "ns3/nstime.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-run-information.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// The kind of an option by the type of its variable; a type of one's own has a specialisation.
template <typename T>
inline constexpr OptionKind OPTION_KIND = std::is_same_v<T, bool>       ? OptionKind::FLAG
                                          : std::is_integral_v<T>       ? OptionKind::WHOLE
                                          : std::is_floating_point_v<T> ? OptionKind::NUMBER
                                          : std::is_same_v<T, Time>     ? OptionKind::TIME
                                                                        : OptionKind::TEXT;

/// @ingroup proteus
/// What the choices of an option are to its value.
enum class NameUse : uint8_t
{
    HINT, //!< nothing but what completion offers
    ONE,  //!< it is one of them
    LIST, //!< it is one or several of them, separated by commas
    OPEN, //!< it is one of them, or something else that is checked elsewhere
};

/**
 * @ingroup proteus
 * The options of a program. It reads a command line strictly, and hands it to ns-3's CommandLine
 * when it is known to be right. Every word must be an option that there is, with a value that is
 * read whole; of an option that is given twice the last one counts. The options of ns-3 count as
 * well: --PrintHelp, --PrintAttributes, ..., global values, and attributes,
 * --ns3::TYPE::ATTRIBUTE=VALUE.
 *
 * All programs have --help, -h and --version; --models, --clusters, --frameworks, --strategies and
 * --algorithms, which list names; --completion=SHELL and --man; and --config=FILE, which is
 * {"NAME": VALUE, ...} or a result with its configuration. Options of the command line go before
 * those of the file.
 */
class OptionList
{
  public:
    /// An option.
    struct Entry
    {
        std::string name;                 //!< without dashes
        std::string help;                 //!< what it is
        OptionKind kind;                  //!< what its value has to be
        std::string value;                //!< default
        std::string group;                //!< title in help
        std::vector<std::string> choices; //!< for completion; may be empty
        NameUse names{NameUse::HINT};     //!< what the choices are to its value
        std::string fileOption;           //!< see AddFileOption()
        std::string parts;    //!< regular expression, see AddParts(); empty: it writes one file
        bool isFolder{false}; //!< whether its value is a folder to write

        /// @return what stands for its value in help, e.g. "NUMBER"; empty: a flag
        std::string GetPlaceholder() const
        {
            return isFolder ? "FOLDER" : proteus::GetPlaceholder(kind);
        }
    };

    /// @param program its name @param workloads the folder workloads/, for lists of names
    explicit OptionList(const std::string& program, const std::string& workloads = "");

    OptionList(const OptionList&) = delete;
    OptionList& operator=(const OptionList&) = delete;

    /// @return the folder workloads/
    const std::string& GetWorkloads() const
    {
        return m_workloads;
    }

    /// @param text what the program does, for help
    void Usage(const std::string& text);

    /// @param title of the options from here on, in help
    void StartGroup(const std::string& title);

    /// @param name of an option @param help what it is @param value to set
    template <typename T>
    void AddValue(const std::string& name, const std::string& help, T& value)
    {
        Add(name, help, OPTION_KIND<T>, value);
    }

    /// @param name of an option @param help what it is @param kind what its value has to be
    /// @param value to set
    template <typename T>
    void Add(const std::string& name, const std::string& help, OptionKind kind, T& value)
    {
        std::ostringstream text;
        text << std::boolalpha << value;
        AddEntry({name,
                  help,
                  kind,
                  kind == OptionKind::TIME ? PrintTime(text.str()) : text.str(),
                  m_group,
                  {}});
        m_command.AddValue(name, help, value);
    }

    /// @param name of an option @param help what it is @param value file or folder to write; no two
    /// of them may be the same @param ending of the names of its format, e.g. ".csv": the endings
    /// of other formats are refused; empty: all are taken
    void AddOutput(const std::string& name,
                   const std::string& help,
                   CommandLineText& value,
                   const std::string& ending = "");

    /// @param name of an option @param help what it is @param value folder to write, whose name
    /// does not end as that of a file; no two outputs may be the same
    void AddFolder(const std::string& name, const std::string& help, CommandLineText& value);

    /// @param name of an output that is a folder, or what names of several files begin with
    /// @param pattern regular expression (ECMAScript) of what follows it, without a slash at its
    /// end, in names of files that the program may write, e.g. "/rank[0-9]+\.json"
    void AddParts(const std::string& name, const std::string& pattern);

    /// @param begin of the run @return lines about files of such outputs that were there before and
    /// are still as they were, so that whoever reads them all takes them for results of this run;
    /// those of --tables are for TableOptions to name
    std::vector<std::string> FindOlderParts(std::filesystem::file_time_type begin) const;

    /// @param name of an option of other programs, or of earlier releases @param hint what to type
    /// instead, which answers it
    void AddHint(const std::string& name, const std::string& hint);

    /// @param name of an option @param field what files and errors of the library call it: in
    /// errors that are about no file the option stands for it
    void AddField(const std::string& name, const std::string& field);

    /// @param alias another name @param name of an option, which it sets
    void AddAlias(const std::string& alias, const std::string& name);

    /// @param name of an option @param choices values that completion offers for it
    void AddChoices(const std::string& name, const std::vector<std::string>& choices);

    /// As AddChoices(), and a value is made of them, in any spelling of capitals and hyphens: it is
    /// read, and stands in results, as the choice is written. @param name of an option @param names
    /// that there are @param use what of them a value may be
    void AddNames(const std::string& name,
                  const std::vector<std::string>& names,
                  NameUse use = NameUse::ONE);

    /// @param name of an option whose value is a name, see AddNames() @param other option that
    /// takes a file in its place, which errors about files tell
    void AddFileOption(const std::string& name, const std::string& other);

    /// Says what values of an option mean, for what compares them. Without it, values mean the same
    /// that its kind reads alike, see GetValueMeaning(). @param name of the option
    /// @param meaning gets a value as CommandLine reads it, and returns the same text for all that
    /// mean the same; throws if it means nothing
    void AddMeaning(const std::string& name,
                    std::function<std::string(const std::string& value)> meaning);

    /// Has the value of an option looked at as soon as it is read, whether it does anything in a
    /// run or not. @param name of the option @param check gets it as CommandLine reads it, and
    /// throws if it is wrong; the error is said with the option
    void AddCheck(const std::string& name, std::function<void(const std::string& value)> check);

    /// @param name of an option that is a whole number @param least that is allowed
    /// @param most that is allowed
    void AddRange(const std::string& name, int64_t least, int64_t most = INT32_MAX);

    /// @param name of an option that is a time @param least that is allowed @param most that is
    /// allowed
    void AddTimeRange(const std::string& name, const Time& least, const Time& most);

    /// @param name of an option that is a file to read, which has to be there
    void AddInput(const std::string& name);

    /// @param name of an option that does nothing in some runs @param reason why it does nothing in
    /// this one, or empty; asked after Parse(), if the option was given. Of several, the first
    /// counts
    void AddIdle(const std::string& name, std::function<std::string()> reason);

    /// @param name of an option whose value has parts @param parts those that do nothing in this
    /// run; asked after Parse(), if the option was given @param reason of all of them; empty: each
    /// has its own, with its words
    void AddIdleParts(const std::string& name,
                      std::function<std::vector<std::string>()> parts,
                      const std::string& reason);

    /// @return a line for every option of the last Parse(), or part of it, that does nothing, with
    /// the reason
    std::vector<std::string> FindIdle() const;

    /// @return options of the last Parse() that repeat the run, by --config
    const Configuration& GetConfiguration() const
    {
        return m_configuration;
    }

    /// @param options that count where neither a command line nor its --config has them, from the
    /// next Parse() on
    void SetEnvironment(std::vector<EnvironmentOption> options)
    {
        m_environment = std::move(options);
    }

    /**
     * Reads a command line.
     * @param arguments those of main(), the program first
     * @param out where to what is asked for instead of a run, such as help
     * @return whether the program is to run
     * @throw std::invalid_argument in one line, for whatever is wrong
     */
    bool Parse(const std::vector<std::string>& arguments, std::ostream& out);

    /// Finds out which options of the last Parse() do nothing. GetNotes() begins with it from now
    /// on. @return FindIdle()
    const std::vector<std::string>& NoteIdle();

    /// @param error about something that a program writes
    /// @return what it says, after the option of the last Parse() that names the file, the folder
    /// that has it, or the begin of its name
    std::string Describe(const OutputError& error) const;

    /// @param error what is wrong, which begins with the name of a file if it is about one
    /// @return it, after the option of the last Parse() that names the file to read; if it is about
    /// none, with options in the place of their fields, see AddField()
    std::string DescribeInput(const std::string& error) const;

    /// @param list of what results are to say beside NoteIdle(), e.g. what readers of files warn of
    void SetNotes(std::function<std::vector<std::string>()> list)
    {
        m_notes = std::move(list);
    }

    /// @return notes on the run until now: NoteIdle(), and those of SetNotes()
    std::vector<std::string> GetNotes() const;

    /// @param name of an option, without dashes @return whether it was added
    bool Has(const std::string& name) const
    {
        return Find(name) != nullptr;
    }

    /// @param name of an option that was added @return what its value has to be
    OptionKind GetKind(const std::string& name) const
    {
        return Find(name)->kind;
    }

    /// @param name as it was typed @return the name of the option, if it is an alias
    const std::string& Resolve(const std::string& name) const;

    /// @param name of an option or attribute @param value that CheckOption() takes
    /// @return the same text for all values that mean the same, see AddMeaning()
    /// @throw std::invalid_argument if it means nothing
    std::string GetMeaning(const std::string& name, const std::string& value) const;

    /// Checks an option as Parse() does, and sets nothing. @param name of an option or attribute,
    /// without dashes @param value of it
    /// @throw std::invalid_argument in one line, for whatever is wrong
    void CheckOption(const std::string& name, const std::string& value) const;

    /// @param out where to help is printed
    void PrintHelp(std::ostream& out) const;

  private:
    /// Why an option, or a part of its value, does nothing in a run.
    struct Idle
    {
        std::vector<std::function<std::string()>> reasons; //!< AddIdle()
        std::function<std::vector<std::string>()> parts;   //!< AddIdleParts(); may be empty
        std::string reasonOfParts;
    };

    /// A word of the command line.
    struct Word
    {
        std::string name;     //!< without dashes
        bool hasValue{false}; //!< whether "=" follows
        std::string value;    //!< after it
        std::string place;    //!< where it stands, with a colon, if it was not typed
    };

    /// @param entry to add
    void AddEntry(Entry entry);
    /// @param entry an option @param value of it, as typed @return as CommandLine reads it
    static std::string Normalise(const Entry& entry, const std::string& value);
    /// @param name of an option @return it, or null
    const Entry* Find(const std::string& name) const;
    /// @param name of an option that is none here @return the hint about it, or empty
    std::string FindHint(const std::string& name) const;
    /// @param text of an argument @param before the one before it, or empty @return its parts
    Word Split(const std::string& text, const std::string& before) const;
    /// @param word of the command line @return it as CommandLine reads it
    std::string Check(const Word& word) const;
    /// @return the words of SetEnvironment() @throw std::invalid_argument if ns-3 knows no such
    /// name
    std::vector<Word> ReadEnvironment() const;
    /// @param word of the command line, with an option @param value as CommandLine reads it
    /// @throw std::invalid_argument if one of the option's checks refuses it
    void CheckValue(const Word& word, const std::string& value) const;
    /// Check(), whose errors say in which file a word stands that was not typed.
    std::string CheckPlaced(const Word& word) const;
    /// @param path of a JSON file with options, or of a result @return its words
    std::vector<Word> ReadConfig(const std::string& path) const;
    /// @param path as typed with --config @return as ReadConfig()
    /// @throw std::invalid_argument as that does, beginning with the name of an option
    std::vector<Word> ReadNamedConfig(const std::string& path) const;
    /// @param more words of a file, or of the environment @param words that were typed, which get
    /// those of other names
    static void AddUntyped(const std::vector<Word>& more, std::vector<Word>& words);
    /// Notes words that others replace. @param words of the command line, in order @param checked
    /// Check() of each
    void NoteRepeated(const std::vector<Word>& words, const std::vector<std::string>& checked);
    /// @param words of different names @throw std::invalid_argument if an output would be written
    /// over another one, or over what is read
    void CheckTogether(const std::vector<Word>& words) const;
    /// @param word such as --help @param out where to @return whether it was a question, answered
    bool Answer(const Word& word, std::ostream& out) const;

    std::string m_program;                        //!< name
    std::string m_workloads;                      //!< folder
    std::string m_usage;                          //!< what it does
    std::string m_group;                          //!< of what is added
    std::vector<Entry> m_entries;                 //!< in order
    std::map<std::string, std::string> m_hints;   //!< by name of an option that is none here
    std::map<std::string, std::string> m_aliases; //!< names of options by others of them
    std::map<std::string, std::string> m_fields;  //!< names of options, see AddField()
    std::map<std::string, Idle> m_idle;           //!< by name of an option
    /// What looks at values: by name of an option.
    std::multimap<std::string, std::function<void(const std::string&)>> m_checks;
    /// What values mean: by name of an option.
    std::map<std::string, std::function<std::string(const std::string&)>> m_meanings;
    std::vector<EnvironmentOption> m_environment;      //!< SetEnvironment()
    std::vector<Word> m_words;                         //!< of the last Parse(), each name once
    Configuration m_configuration;                     //!< of the last Parse()
    std::vector<std::string> m_repeated;               //!< lines of FindIdle() on words given again
    std::vector<std::string> m_idleNotes;              //!< of NoteIdle()
    std::function<std::vector<std::string>()> m_notes; //!< SetNotes(); may be empty
    CommandLine m_command;                             //!< what reads the values
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OPTION_LIST_H
