/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LINK_LOSSES_H
#define PROTEUS_LINK_LOSSES_H

#include "proteus-fabric.h"

#include <string>

/**
 * @file
 * @ingroup proteus
 * Which links have lost what they carried.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * For messages about what does not come to an end.
 * @param fabric that has carried something
 * @return the links that are down, and the directions that have lost most of what they sent, e.g.
 * "; of what they sent, links have lost: n1.nic0 -> switch0 100 % (8 of 8 packets)", three of each
 * at most; empty if all work and none has lost a tenth
 */
std::string DescribeLinkFaults(const Fabric& fabric);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LINK_LOSSES_H
