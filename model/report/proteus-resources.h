/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RESOURCES_H
#define PROTEUS_RESOURCES_H

#include <string>

/**
 * @file
 * @ingroup proteus
 * Files that are part of the library: the build system turns them into proteus-resources.cc, see
 * CMakeLists.txt and wscript.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param name of a file of model/report/resources/, or "VERSION"
 * @return its content
 * @throw std::invalid_argument if there is none
 */
std::string GetResource(const std::string& name);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RESOURCES_H
