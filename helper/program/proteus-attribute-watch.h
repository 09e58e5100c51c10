/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ATTRIBUTE_WATCH_H
#define PROTEUS_ATTRIBUTE_WATCH_H

#include "ns3/proteus-run-information.h"

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Marks the defaults of attributes, so that FindIdleAttributes() knows which of them an object has
 * taken. Other uses of a default, as text, are not seen.
 * @param given options of a program; names with "::" are attributes that were set
 */
void WatchAttributes(const Configuration& given);

/**
 * @ingroup proteus
 * To be asked when a program has done its work.
 * @param given options of the program, see WatchAttributes()
 * @param hasExecutors whether executors name the attributes of packets that they do not model
 * @return a line for each attribute that was set and that no object has taken since
 */
std::vector<std::string> FindIdleAttributes(const Configuration& given, bool hasExecutors);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ATTRIBUTE_WATCH_H
