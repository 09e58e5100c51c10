/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SWITCHED_OFF_H
#define PROTEUS_SWITCHED_OFF_H

#include "proteus-typed-network.h"

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Of what carries packets, finds what other settings switch off. It reads the defaults of
 * attributes.
 * @param typed what was typed
 * @return a line for every attribute that was typed and does nothing, in runs by packets
 */
std::vector<std::string> FindSwitchedOff(const TypedNetwork& typed);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SWITCHED_OFF_H
