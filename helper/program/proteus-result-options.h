/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RESULT_OPTIONS_H
#define PROTEUS_RESULT_OPTIONS_H

#include "proteus-command-line-text.h"
#include "proteus-option-list.h"
#include "proteus-table-options.h"

#include "ns3/proteus-run-analysis.h"

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Options of the programs that run a graph: what is written about the results, and where to.
 */
struct ResultOptions
{
    CommandLineText timeline; //!< .json or .pftrace file, or folder; if not empty
    CommandLineText report;   //!< HTML file to write, if not empty
    TableOptions tables;      //!< all tables
    CommandLineText csv;      //!< file for the spans, if not empty
    CommandLineText summary;  //!< file for the summary, if not empty

    /// @param command to add the options to
    void AddTo(OptionList& command);

    /// @return whether links over time are of use
    bool NeedsSeries() const
    {
        return !timeline.empty() || !report.empty() || !tables.folder.empty();
    }

    /// @return whether the spans of channels are of use
    bool NeedsChannels() const;

    /// @throw std::invalid_argument if a file cannot be written
    void Check() const;

    /**
     * Prints the report on stdout and writes the files.
     * @param input what was run, and its results, at least one
     * @param more further tables with a column "executor", for --json, --tables and --summary
     * @throw std::invalid_argument if a file cannot be written
     */
    void Write(const ReportedRun& input, const std::vector<Table>& more = {}) const;
};

/// @ingroup proteus
/// Has the first result name the options that were given in vain, and the files that are about it
/// alone. @param run to report @param options of its files
void AddOptionNotes(ReportedRun& run, const ResultOptions& options);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RESULT_OPTIONS_H
