/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-study-check.h"

#include "proteus-name-lists.h"
#include "proteus-option-values.h"
#include "proteus-program-list.h"

#include "ns3/nstime.h"
#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-cluster-text.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-output-plan.h"
#include "ns3/proteus-protocol.h"
#include "ns3/proteus-split.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Options that the study itself sets, or that end a program before it runs.
const std::set<std::string> RESERVED{"summary", "json", "tables", "columns", "config"};

/// A longer strategy is none.
constexpr std::size_t MOST_STRATEGY_BYTES = std::size_t{64} << 20;

/// The process works in another folder as long as this object is there.
class WorkingFolder
{
  public:
    explicit WorkingFolder(const std::string& folder)
        : m_before(std::filesystem::current_path())
    {
        std::filesystem::current_path(folder);
    }

    ~WorkingFolder()
    {
        std::error_code gone; // the folder before is deleted: there is no way back
        std::filesystem::current_path(m_before, gone);
    }

    WorkingFolder(const WorkingFolder&) = delete;
    WorkingFolder& operator=(const WorkingFolder&) = delete;

  private:
    std::filesystem::path m_before;
};

/// @param number any @return it, so that no other number reads the same
std::string
Print(double number)
{
    std::ostringstream text;
    text << std::setprecision(std::numeric_limits<double>::max_digits10) << number;
    return text.str();
}

/// @param settings NAME=VALUE, ..., or something else @return the same text for the same settings
/// in another order; else what it got
std::string
SortSettings(const std::string& settings)
{
    std::vector<std::string> items = SplitList(settings);
    if (!std::all_of(items.begin(), items.end(), [](const std::string& item) {
            return item.find('=') != std::string::npos;
        }))
    {
        return settings;
    }
    std::sort(items.begin(), items.end());
    std::string all;
    for (const std::string& item : items)
    {
        all += (all.empty() ? "" : ",") + item;
    }
    return all;
}

/// @param text of --cluster @return the same text for all that name the same cluster
std::string
GetClusterMeaning(const std::string& text)
{
    const std::string name = FindClusterName(text);
    const std::string path = GetClusterPath(name);
    std::error_code none; // a text that is no path is no file
    const bool isFile = std::filesystem::is_regular_file(path, none);
    const std::string head = isFile ? path : GetTextPreset(name);
    const std::string meant = isFile ? FindRealPath(path) : head;
    return head.size() < name.size() ? meant + ':' + SortSettings(name.substr(head.size() + 1))
                                     : meant;
}

/// @param option whose values are names in a folder, or files @param text of it
/// @param folder with JSON files @return the file that is meant
std::string
GetFileMeaning(const std::string& option, const std::string& text, const std::string& folder)
{
    std::error_code none; // a text that is no path is no file
    const bool isFile =
        std::filesystem::is_regular_file(text, none) ||
        text.find('/') != std::string::npos; // which the program says cannot be read
    return FindRealPath(
        isFile ? text : folder + "/" + MatchName(option, text, ListJsonFiles(folder)) + ".json");
}

/// @param text of a strategy: a file, JSON, or NAME=VALUE, ...
/// @return the same text for all that set the same
std::string
GetStrategyMeaning(const std::string& text)
{
    std::error_code none; // a text that is no path is no file
    std::string json = text;
    if (std::filesystem::is_regular_file(text, none))
    {
        InputFile file(text);
        json = ReadWhole(file.GetStream(), text, MOST_STRATEGY_BYTES);
    }
    const nlohmann::json fields = nlohmann::json::parse(json, nullptr, false);
    if (!fields.is_object())
    {
        return SortSettings(text);
    }
    std::string settings;
    for (const auto& [name, value] : fields.items())
    {
        if (name != "name")
        {
            settings += (settings.empty() ? "" : ",") + name + "=" +
                        (value.is_string()   ? value.get<std::string>()
                         : value.is_number() ? Print(value.get<double>())
                                             : value.dump());
        }
    }
    return settings; // in order
}

/// @param kind of an option @param text of its value, which is right
/// @return the same text for all that mean the same, whatever the option, such as "2" and "2.0",
/// "1ms" and "1000us", settings in another order, and names of the same file
std::string
GetValueMeaning(OptionKind kind, const std::string& text)
{
    switch (kind)
    {
    case OptionKind::FLAG:
        return text == "true" || text == "t" || text == "1" ? "true" : "false";
    case OptionKind::WHOLE:
        return std::to_string(std::stoll(text));
    case OptionKind::NUMBER:
    case OptionKind::RATIO:
    case OptionKind::SIZE:
        return Print(std::stod(text));
    case OptionKind::TIME:
        return std::to_string(Time(text).GetPicoSeconds());
    default:
        break;
    }
    std::error_code none; // a text that is no path is no file
    return std::filesystem::is_regular_file(text, none) ? FindRealPath(text) : SortSettings(text);
}

/// @param name of an option @param kind of it @param text of its value, which is right
/// @param workloads folder with models and frameworks
/// @return the same text for all that mean the same, names of things among them
std::string
GetMeaning(const std::string& name,
           OptionKind kind,
           const std::string& text,
           const std::string& workloads)
{
    using Meaning = std::function<std::string(const std::string&)>;
    const std::map<std::string, Meaning> ofNames{
        {"cluster", GetClusterMeaning},
        {"strategy", GetStrategyMeaning},
        {"framework",
         [&](const std::string& framework) {
             return GetFileMeaning("framework", framework, workloads + "/frameworks");
         }},
        {"algorithm",
         [](const std::string& algorithm) { return FindAlias(algorithm, ListAlgorithmNames()); }},
        {"collective",
         [](const std::string& collective) { return FindAlias(collective, ListCollectives()); }},
        {"protocol",
         [](const std::string& protocol) {
             return std::string(ToString(ProtocolFromString(protocol)));
         }},
        {"ncclVersion",
         [](const std::string& version) { return std::to_string(ParseNcclVersion(version)); }}};
    const auto meaning = ofNames.find(name);
    return meaning == ofNames.end() ? GetValueMeaning(kind, text) : meaning->second(text);
}

} // namespace

StudyProgram::StudyProgram(const std::string& name,
                           const std::string& workloads,
                           const std::string& folder)
    : m_program(MakeProgram(name, workloads)),
      m_options(std::make_unique<OptionList>(name, workloads)),
      m_folder(folder)
{
    m_program->AddOptionsTo(*m_options);
    if (!HasSummary() && !(m_options->Has("json") && m_options->Has("tables")))
    {
        throw std::invalid_argument(name +
                                    " has neither --summary nor --tables, so that a study cannot "
                                    "read its results: choose proteus-run, proteus-gpt3, "
                                    "proteus-collective, proteus-flows or another one");
    }
}

std::string
StudyProgram::CheckOption(const std::string& name, const std::string& value) const
{
    if (RESERVED.count(name) == 1)
    {
        throw std::invalid_argument("--" + name + " is set by the study, not in it");
    }
    const bool isOfAPoint = value.find(POINT_MARK) != std::string::npos;
    const bool isOutput = m_options->Has(name) && m_options->GetKind(name) == OptionKind::OUTPUT;
    if (isOfAPoint && m_options->Has(name) && m_options->GetKind(name) == OptionKind::TEXT)
    {
        return value; // what it comes to is known at the point, where the program looks at it
    }
    const WorkingFolder there(m_folder); // the checks look at files
    m_options->CheckOption(name, value);
    if (isOutput && !isOfAPoint)
    {
        throw std::invalid_argument("--" + name + "=" + value +
                                    ": every point would write this file: put " + POINT_MARK +
                                    " into its name");
    }
    if (!m_options->Has(name))
    {
        return value;
    }
    const OptionKind kind = m_options->GetKind(name);
    const std::string text = NormaliseValue(kind, "--" + name, value);
    const std::string& workloads = m_options->GetWorkloads();
    if (name == "model")
    {
        const std::string folder = workloads + "/models";
        const std::string family = "gpt3-" + text; // of which proteus-gpt3 has short names
        const bool isShort = !FindAlias(family, ListJsonFiles(folder)).empty();
        return GetFileMeaning(name, isShort ? family : text, folder);
    }
    return GetMeaning(name, kind, text, workloads);
}

} // namespace proteus
} // namespace ns3
