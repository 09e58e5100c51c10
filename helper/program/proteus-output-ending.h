/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OUTPUT_ENDING_H
#define PROTEUS_OUTPUT_ENDING_H

#include <functional>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Names of files that end as another format does.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param ending of the names of files of a format, e.g. ".csv"
 * @return a check for OptionList::AddCheck(), which refuses the endings of other formats; names
 * without an ending, and endings that say no format, are as good
 */
std::function<void(const std::string& value)> MustEndIn(const std::string& ending);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OUTPUT_ENDING_H
