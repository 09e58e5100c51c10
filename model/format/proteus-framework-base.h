/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FRAMEWORK_BASE_H
#define PROTEUS_FRAMEWORK_BASE_H

#include "ns3/proteus-json.h"

#include <functional>
#include <istream>
#include <memory>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Files of frameworks that say what is other than in another one, their "base".
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Reads the file of a framework, and those of its base, of that one's base and so on, into one.
 *
 * A field counts in the place of the base's. Objects are joined field by field, but for those with
 * a "source", which count as a whole: a source says where all that stands beside it is from. null
 * leaves out what the base has.
 *
 * @param input the text
 * @param fileName for errors; a base is looked for in its folder
 * @param folder where a base is looked for, too; "" for nowhere else
 * @param check of what a base has become, for errors that name its file
 * @return the whole, without "base"
 * @throw std::invalid_argument "FILE: /base: cause" where a base cannot be read or is wrong, is its
 * own, or where the file has null and the base nothing; "FILE:LINE:COLUMN: cause" for bad syntax
 */
std::unique_ptr<JsonDocument> ReadWithBase(std::istream& input,
                                           const std::string& fileName,
                                           const std::string& folder,
                                           const std::function<void(const JsonDocument&)>& check);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FRAMEWORK_BASE_H
