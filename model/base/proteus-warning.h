/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_WARNING_H
#define PROTEUS_WARNING_H

#include <string>

/**
 * @file
 * @ingroup proteus
 * Warnings: what a user should know although the program goes on.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Prints "warning: TEXT" on the standard error output, on a line of its own.
 * @param text what, where, and how to mend it; one line
 */
void Warn(const std::string& text);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_WARNING_H
