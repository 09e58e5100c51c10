/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ATTRIBUTE_CHECK_H
#define PROTEUS_ATTRIBUTE_CHECK_H

#include <optional>
#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Checks an attribute or global value strictly. ns-3's CommandLine would abort over mistakes, read
 * a value in part, or pass it on unread.
 * @param name of an attribute, TYPE::ATTRIBUTE, or of a global value
 * @param value its value
 * @return the value as ns-3 reads it (5us for 5µs); nothing if there is no global value of that
 * name, and it has not the form of an attribute
 * @throw std::invalid_argument for an unknown type or attribute, or a value that is none of it
 */
std::optional<std::string> NormaliseAttribute(const std::string& name, const std::string& value);

/// @ingroup proteus
/// @param name as NormaliseAttribute() takes it @return whether there is such an attribute or
/// global value
bool IsAttribute(const std::string& name);

/// @ingroup proteus
/// @param option of ns-3 that prints something, as PrintAttributes @param name what it is given
/// @throw std::invalid_argument if it needs the name of a type or group, and there is none of that
void CheckPrinter(const std::string& option, const std::string& name);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ATTRIBUTE_CHECK_H
