/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_HTML_REPORT_H
#define PROTEUS_HTML_REPORT_H

#include "proteus-result-tables.h"

#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The report of a run as one HTML page.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Says what came out of a run: time and rate, where the time goes, communication, congestion,
 * memory, and how two executors differ.
 * @param run that is reported
 * @return sentences
 */
std::vector<std::string> DescribeInWords(const AnalyzedRun& run);

/**
 * @ingroup proteus
 * Writes one page that needs nothing else: style, program and data are in it, and it forbids itself
 * to load anything. Its tables are those of MakeResultTables(), with at most 400 rows each. The
 * attribute data-value of a cell has the value as the files of --tables have it.
 * @param run that is reported
 * @param out where to; its state tells whether all was written
 */
void WriteHtmlReport(const AnalyzedRun& run, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_HTML_REPORT_H
