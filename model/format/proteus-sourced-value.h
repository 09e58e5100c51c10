/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SOURCED_VALUE_H
#define PROTEUS_SOURCED_VALUE_H

#include "ns3/proteus-json.h"

#include <optional>

/**
 * @file
 * @ingroup proteus
 * Numbers of files that say where they are from.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param object with fields
 * @param key of one that is {"value": ..., "source": "..."}
 * @return its value, if the field is there
 * @throw std::invalid_argument if it has no source, or something else
 */
std::optional<JsonValue> FindSourced(const JsonValue& object, const char* key);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SOURCED_VALUE_H
