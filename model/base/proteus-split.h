/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SPLIT_H
#define PROTEUS_SPLIT_H

#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Divides a list.
 * @param text of the list, e.g. "a,b"
 * @param separator between items
 * @return the items as they stand, also empty ones: one more than separators; none of an empty text
 */
std::vector<std::string> SplitList(const std::string& text, char separator = ',');

/**
 * @ingroup proteus
 * Divides a list that says nothing twice.
 * @param what list it is, for messages, e.g. "--executor=a,b"
 * @param text of the list
 * @param separator between items
 * @return the items, none of which is empty; none of an empty text
 * @throw std::invalid_argument for an item that is empty or stands there twice
 */
std::vector<std::string> SplitOnce(const std::string& what,
                                   const std::string& text,
                                   char separator = ',');

/**
 * @ingroup proteus
 * @param text any
 * @return the same without blanks, tabs and ends of lines before and behind it
 */
std::string Trim(const std::string& text);

/**
 * @ingroup proteus
 * Divides a list of settings, none of which stands there twice.
 * @param what list it is, for messages, e.g. "--variables=a=1,b=2"
 * @param text of the list, e.g. "a=1,b=2"
 * @param example of a setting, for messages
 * @return what stands before and behind the "=" of each item, see Trim(); none of an empty text
 * @throw std::invalid_argument for an item that is no setting, or whose key stands there twice
 */
std::vector<std::pair<std::string, std::string>> SplitSettings(const std::string& what,
                                                               const std::string& text,
                                                               const std::string& example);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SPLIT_H
