/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STUDY_PUBLISHED_H
#define PROTEUS_STUDY_PUBLISHED_H

#include "proteus-study.h"

#include "ns3/proteus-table.h"

#include <ostream>

/**
 * @file
 * @ingroup proteus
 * What was measured elsewhere, beside what a study finds.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param study that was run, with published numbers
 * @param table of it, see MakeStudyTable()
 * @return a table "published": a row for each published number and each row of the study that it is
 * about, with the axes, both numbers and the error; those whose points did not run are without
 * @throw std::invalid_argument if the study's table has no such column, or no number in it
 */
Table ComparePublished(const Study& study, const Table& table);

/**
 * @ingroup proteus
 * Prints that table for people, and for each kind of number the mean and the largest error.
 * @param study that was run; without published numbers nothing is printed
 * @param table of it
 * @param out where to
 * @throw std::invalid_argument as ComparePublished()
 */
void PrintPublished(const Study& study, const Table& table, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STUDY_PUBLISHED_H
