/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_LINKS_H
#define PROTEUS_FLOW_LINKS_H

#include "ns3/proteus-fabric.h"
#include "ns3/proteus-table.h"

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What the links of a fabric have carried, without any job on it.
 * @param fabric whose links; null for no rows
 * @return a row for each direction of a link that has carried something, in the order of ports
 */
Table MakeFlowLinkTable(Ptr<Fabric> fabric);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_LINKS_H
