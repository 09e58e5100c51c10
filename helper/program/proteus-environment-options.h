/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ENVIRONMENT_OPTIONS_H
#define PROTEUS_ENVIRONMENT_OPTIONS_H

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What ns-3 reads from variables of the environment.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// An attribute or a global value of ns-3 that the environment sets.
struct EnvironmentOption
{
    std::string variable; //!< of the environment, e.g. NS_GLOBAL_VALUE
    std::string name;     //!< e.g. RngRun
    std::string value;    //!< e.g. 7
};

/**
 * @ingroup proteus
 * Takes NS_ATTRIBUTE_DEFAULT and NS_GLOBAL_VALUE from the environment: NAME=VALUE, with semicolons
 * between several. ns-3 reads them for objects that it makes, ends the program at some values, and
 * passes over others and over names that it does not know; as options they are checked, honoured by
 * all executors, named where they do nothing, and repeated by --config.
 * @return what they set, in order
 */
std::vector<EnvironmentOption> TakeEnvironmentOptions();

/**
 * @ingroup proteus
 * Takes NS_LOG from the environment of a build without logs: ns-3 does no more there than to end
 * the program at a component that it does not know.
 * @return whether it has no effect
 */
bool TakeIdleLog();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ENVIRONMENT_OPTIONS_H
