/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ATTRIBUTE_WATCH_H
#define PROTEUS_ATTRIBUTE_WATCH_H

#include "ns3/proteus-run-information.h"

#include <cstdint>
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

/// @ingroup proteus
/// Who else deals with attributes of what carries packets where nothing does.
enum class AttributeReaders : uint8_t
{
    NOBODY,
    EXECUTORS //!< they read PacketNetwork's, and their notes name others, see RunNotes
};

/**
 * @ingroup proteus
 * To be asked when a program has done its work.
 * @param given options of the program, see WatchAttributes()
 * @param readers that the program has
 * @return a line for each attribute that was set and that no object has taken since
 */
std::vector<std::string> FindIdleAttributes(const Configuration& given, AttributeReaders readers);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ATTRIBUTE_WATCH_H
