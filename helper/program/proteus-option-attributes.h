/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OPTION_ATTRIBUTES_H
#define PROTEUS_OPTION_ATTRIBUTES_H

#include "ns3/proteus-run-information.h"

/**
 * @file
 * @ingroup proteus
 * Options that set attributes of ns-3.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Of an option and an attribute that it sets one would count without a word.
 *
 * @param configuration what was typed
 * @throw std::invalid_argument if an option is there and an attribute that it sets
 */
void RequireOneOfEach(const Configuration& configuration);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OPTION_ATTRIBUTES_H
