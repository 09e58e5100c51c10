/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STUDY_PAGE_H
#define PROTEUS_STUDY_PAGE_H

#include "proteus-study.h"

#include "ns3/proteus-table.h"

#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The results of a study for people: words and one HTML page.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param study that was run
 * @param table of it, see MakeStudyTable()
 * @return sentences: what is best and why, how far the next is off and whether that is within the
 * spread, what is worth its cost, what failed
 * @throw std::invalid_argument as CompareStudy()
 */
std::vector<std::string> DescribeStudy(const Study& study, const Table& table);

/**
 * @ingroup proteus
 * Writes the groups of a study as aligned text, best first.
 * @param study that was run
 * @param table of it
 * @param most groups to write
 * @param out where to
 * @throw std::invalid_argument as CompareStudy()
 */
void PrintStudy(const Study& study, const Table& table, std::size_t most, std::ostream& out);

/**
 * @ingroup proteus
 * Writes one page, which needs no network and no script: words, a table of all groups, a chart for
 * every axis, time against cost, the points that failed, notes, and what the columns mean.
 * @param study that was run
 * @param table of it
 * @param notes on its points
 * @param out where to
 * @throw std::invalid_argument as CompareStudy()
 */
void WriteStudyPage(const Study& study,
                    const Table& table,
                    const std::vector<std::string>& notes,
                    std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STUDY_PAGE_H
