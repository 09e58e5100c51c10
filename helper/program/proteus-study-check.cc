/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-study-check.h"

#include "proteus-program-list.h"

#include <set>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// Options that the study itself sets, or that end a program before it runs.
const std::set<std::string> RESERVED{"summary", "json", "tables", "columns", "config"};

} // namespace

StudyProgram::StudyProgram(const std::string& name, const std::string& workloads)
    : m_program(MakeProgram(name, workloads)),
      m_options(std::make_unique<OptionList>(name, workloads))
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

void
StudyProgram::CheckOption(const std::string& name, const std::string& value) const
{
    if (RESERVED.count(name) == 1)
    {
        throw std::invalid_argument("--" + name + " is set by the study, not in it");
    }
    m_options->CheckOption(name, value);
    if (m_options->Has(name) && m_options->GetKind(name) == OptionKind::OUTPUT &&
        value.find(POINT_MARK) == std::string::npos)
    {
        throw std::invalid_argument("--" + name + "=" + value +
                                    ": every point would write this file: put " + POINT_MARK +
                                    " into its name");
    }
}

} // namespace proteus
} // namespace ns3
