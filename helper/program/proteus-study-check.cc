/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-study-check.h"

#include "proteus-program-list.h"

#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <system_error>

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
StudyProgram::CheckOption(const std::string& typed, const std::string& value) const
{
    const std::string& name = GetName(typed);
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
    return m_options->GetMeaning(name, value);
}

StudyCheck
MakeStudyCheck(std::unique_ptr<StudyProgram>& program,
               const std::string& workloads,
               const std::string& fileName)
{
    StudyCheck check;
    check.program = [&program, workloads, fileName](const std::string& name) {
        program = std::make_unique<StudyProgram>(name, workloads, FindStudyFolder(fileName));
    };
    check.name = [&program](const std::string& name) { return program->GetName(name); };
    check.option = [&program](const std::string& name, const std::string& value) {
        return program->CheckOption(name, value);
    };
    return check;
}

} // namespace proteus
} // namespace ns3
