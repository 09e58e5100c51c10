/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PAGE_NAME_H
#define PROTEUS_PAGE_NAME_H

#include <string>

/**
 * @file
 * @ingroup proteus
 * Names of pages.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param option that names a page @param path its value, or empty
/// @throw std::invalid_argument if the name ends as that of something else
void RequirePageName(const std::string& option, const std::string& path);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PAGE_NAME_H
