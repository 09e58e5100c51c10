/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-command-line-program.h"
#include "proteus-page-name.h"
#include "proteus-programs.h"
#include "proteus-search-options.h"
#include "proteus-search-report.h"
#include "proteus-search-run.h"
#include "proteus-search-sensitivity.h"
#include "proteus-stop-signals.h"
#include "proteus-table-options.h"

#include "ns3/proteus-front-svg.h"
#include "ns3/proteus-output-file.h"

#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Finds strategies for a model on a cluster.
 */

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t PRINTED_ROWS = 20;
constexpr std::size_t DRAWN_ROWS = 12;

/// The program.
class SearchProgram : public CommandLineProgram
{
  public:
    using CommandLineProgram::CommandLineProgram;

  private:
    std::string GetName() const override
    {
        return "proteus-search";
    }

    void AddTo(OptionList& command) override
    {
        m_options.model.folder = GetWorkloads() + "/models";
        m_options.prices = GetWorkloads() + "/prices.json";
        command.Usage("Finds strategies for training a model on a cluster: ranks all plans by\n"
                      "formula, runs the best by flows, and the best of these by packets.");
        m_options.AddTo(command);
        m_command = &command;
    }

    ProgramOptions* GetRunOptions() override
    {
        return &m_options; // whose runs are compared with what was typed
    }

    std::string FindNoPackets() override
    {
        return m_options.packets > 0 ? "" : "nothing is run by packets";
    }

    std::string FindNoJoins() override
    {
        return m_options.packets > 0 ? CommandLineProgram::FindNoJoins() : FindNoPackets();
    }

    std::vector<Table> DescribeTables() override
    {
        return {}; // there is a single one, --csv
    }

    void Run() override
    {
        if (m_options.model.model.empty())
        {
            throw std::invalid_argument("--model=NAME is needed, e.g. --model=gpt3-6.7b");
        }
        if (m_options.budget < 0)
        {
            throw std::invalid_argument("--budget: must not be negative (0: no limit)");
        }
        RequirePageName("report", m_options.report);
        for (const CommandLineText* path : {&m_options.csv, &m_options.report})
        {
            if (!path->empty())
            {
                CheckWritable(*path);
            }
        }
        m_options.plot.Check();
        if (m_options.plotOf != "times" && m_options.plotOf != "front")
        {
            throw std::invalid_argument("--plotOf=" + m_options.plotOf +
                                        ": must be times or front");
        }
        const SearchSubject subject = MakeSearchSubject(m_options);
        if (m_options.globalBatch == 0) // which nobody can type
        {
            throw std::invalid_argument("--globalBatch=N is missing: samples per iteration");
        }
        if (!m_options.output.empty())
        {
            MakeFolder(m_options.output);
        }
        SearchOutcome outcome = RunSearch(m_options, subject);
        PrintSearch(outcome, PRINTED_ROWS, std::cout);
        std::vector<SensitivityRow> rows;
        if (m_options.isSensitivityWanted && !outcome.order.empty())
        {
            rows = FindSensitivity(m_options, subject, outcome);
            PrintSensitivity(rows, outcome, std::cout);
        }
        if (StopSignals::IsObeyed())
        {
            std::cout << "Note: PARTIAL, ended by " << StopSignals::GetName()
                      << ": what had no result by then is not ranked\n";
        }
        outcome.notes = m_command->GetNotes();
        Write(outcome,
              rows,
              std::string(m_options.model.model) + " on " + subject.cluster.GetName());
    }

    void Write(const SearchOutcome& outcome,
               const std::vector<SensitivityRow>& rows,
               const std::string& subject) const
    {
        WriteCsvFile(m_options.csv, [&](std::ostream& out) { WriteSearchCsv(outcome, out); });
        if (!m_options.report.empty())
        {
            WriteFile(m_options.report,
                      [&](std::ostream& out) { WriteSearchPage(outcome, rows, subject, out); });
        }
        m_options.plot.Write([&](std::ostream& out) {
            if (m_options.plotOf == "front" && !outcome.order.empty())
            {
                WriteFrontSvg(MakeFrontChart(outcome, subject), out);
                return;
            }
            WriteBarSvg(MakeSearchChart(outcome, DRAWN_ROWS, subject), out);
        });
        if (!m_options.output.empty())
        {
            WriteSearchStrategies(outcome, m_options.output);
        }
    }

    SearchOptions m_options;
    const OptionList* m_command{nullptr}; //!< that has them
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeSearchProgram(const std::string& workloads)
{
    return std::make_unique<SearchProgram>(workloads);
}

} // namespace proteus
} // namespace ns3
