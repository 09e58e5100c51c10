/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STUDY_IDLE_H
#define PROTEUS_STUDY_IDLE_H

#include "proteus-study.h"

#include "ns3/proteus-table.h"

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param study that was run
 * @param table of it, see MakeStudyTable(); rows without the measure do not count
 * @return a line for each set of values of an axis with which the measure is the same, to the last
 * digit, wherever all else is alike; at least one such place has to be there for each two of them
 */
std::vector<std::string> FindIdleValues(const Study& study, const Table& table);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STUDY_IDLE_H
