/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PAGE_H
#define PROTEUS_PAGE_H

#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Pages of words, tables and pictures that need nothing else.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param title of the page
 * @param kind what it is, above the title
 * @param words sentences that come first
 * @param out where to
 */
void BeginPage(const std::string& title,
               const std::string& kind,
               const std::vector<std::string>& words,
               std::ostream& out);

/// @ingroup proteus
/// @param words to list, a sentence each @param out where to
void WriteSentences(const std::vector<std::string>& words, std::ostream& out);

/// @ingroup proteus
/// @param notes on what the page shows; a section of theirs, if there are any @param out where to
void WriteNotes(const std::vector<std::string>& notes, std::ostream& out);

/// @ingroup proteus
/// @param out where to what ends a page
void EndPage(std::ostream& out);

/// @ingroup proteus
/// @param head names of the columns @param rows of text @param out where to
void WriteMarkupTable(const std::vector<std::string>& head,
                      const std::vector<std::vector<std::string>>& rows,
                      std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PAGE_H
