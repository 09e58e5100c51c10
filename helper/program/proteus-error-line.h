/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ERROR_LINE_H
#define PROTEUS_ERROR_LINE_H

#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Writes "PROGRAM: error: WHAT" to standard error, behind all that is printed. Texts of files and
 * options may be in it: control characters, which a terminal would obey, become '?', and of a text
 * of more than 4,096 bytes the middle is left out.
 * @param program that ends
 * @param what has gone wrong
 */
void WriteErrorLine(const std::string& program, const std::string& what);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ERROR_LINE_H
