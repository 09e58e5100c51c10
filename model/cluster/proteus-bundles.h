/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_BUNDLES_H
#define PROTEUS_BUNDLES_H

#include "proteus-cluster.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the cables between two network switches are.
enum class Bundling : uint8_t
{
    WHOLE, //!< one link of their summed rate
    CABLES //!< a link each
};

/// @ingroup proteus
/// @param text "whole" or "cables" @return what it stands for
/// @throw std::invalid_argument if it is neither
Bundling BundlingFromString(const std::string& text);

/// @ingroup proteus
/// @return texts that BundlingFromString() takes
std::vector<std::string> GetBundlingNames();

/// @ingroup proteus
/// @param cluster any @return rate of the links between its NICs, or plain hosts, and network
/// switches, bytes per second: that of a cable; the largest of several, 0 if there is none
double GetCableRate(const Cluster& cluster);

/**
 * @ingroup proteus
 * Takes bundles apart: a link between two network switches that is faster than a NIC's becomes as
 * many parallel links of equal rate as it has cables. Paths then choose among cables, under ECMP by
 * a hash of the flow, as switches do for members of an ECMP group or of a link aggregation group. A
 * bundle that stays whole is one link, whose whole rate a single flow can have.
 * @param cluster any
 * @return the same cluster with cables instead of bundles; vertices and ranks keep their numbers
 */
Cluster SplitBundles(const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_BUNDLES_H
