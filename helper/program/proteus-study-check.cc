/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-study-check.h"

#include "proteus-option-values.h"
#include "proteus-program-list.h"

#include "ns3/nstime.h"
#include "ns3/proteus-split.h"

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <limits>
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

/// @param kind of an option @param text of its value, which is right
/// @return the same text for all that mean the same, such as "2" and "2.0", "1ms" and "1000us", and
/// settings in another order
std::string
GetMeaning(OptionKind kind, const std::string& text)
{
    switch (kind)
    {
    case OptionKind::FLAG:
        return text == "true" || text == "t" || text == "1" ? "true" : "false";
    case OptionKind::WHOLE:
        return std::to_string(std::stoll(text));
    case OptionKind::NUMBER:
    case OptionKind::RATIO:
    case OptionKind::SIZE: {
        std::ostringstream number;
        number << std::setprecision(std::numeric_limits<double>::max_digits10) << std::stod(text);
        return number.str();
    }
    case OptionKind::TIME:
        return std::to_string(Time(text).GetPicoSeconds());
    default:
        break;
    }
    std::vector<std::string> settings = SplitList(text);
    if (std::all_of(settings.begin(), settings.end(), [](const std::string& setting) {
            return setting.find('=') != std::string::npos;
        }))
    {
        std::sort(settings.begin(), settings.end());
    }
    std::string all;
    for (const std::string& setting : settings)
    {
        all += setting + ",";
    }
    return all;
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
    {
        const WorkingFolder there(m_folder); // the checks look at files
        m_options->CheckOption(name, value);
    }
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
    return GetMeaning(kind, NormaliseValue(kind, "--" + name, value));
}

} // namespace proteus
} // namespace ns3
