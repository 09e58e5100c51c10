/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OPTION_MEANINGS_H
#define PROTEUS_OPTION_MEANINGS_H

#include "proteus-option-values.h"

#include <string>

/**
 * @file
 * @ingroup proteus
 * What values of options mean, as texts that are the same if the values mean the same.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param kind of an option @param text of its value, as CommandLine reads it
/// @return the same text for all that mean the same, whatever the option, such as "2" and "2.0",
/// "1ms" and "1000us", settings in another order, and names of one file
std::string GetValueMeaning(OptionKind kind, const std::string& text);

/// @ingroup proteus
/// @param text of --cluster @return the same text for all that name the same cluster
/// @throw std::invalid_argument if there is none
std::string GetClusterMeaning(const std::string& text);

/// @ingroup proteus
/// @param text of a strategy: a file, JSON, or NAME=VALUE, ...
/// @return the same text for all that set the same
std::string GetStrategyMeaning(const std::string& text);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OPTION_MEANINGS_H
