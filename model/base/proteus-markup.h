/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MARKUP_H
#define PROTEUS_MARKUP_H

#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param text any
 * @return it as text of HTML or SVG, or as the value of an attribute in double quotes
 */
std::string EscapeMarkup(const std::string& text);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MARKUP_H
