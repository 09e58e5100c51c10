/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NETWORK_LINKS_H
#define PROTEUS_NETWORK_LINKS_H

#include "proteus-cluster.h"

/**
 * @file
 * @ingroup proteus
 * Which links are of the network between servers.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param link of a cluster @return whether it is of InfiniBand or Ethernet
inline bool
IsOfNetwork(const Link& link)
{
    return link.technology == LinkTechnology::INFINIBAND || link.technology == LinkTechnology::ROCE;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NETWORK_LINKS_H
