/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_CONGESTION_SETTINGS_H
#define PROTEUS_FLOW_CONGESTION_SETTINGS_H

#include "ns3/proteus-flow-congestion.h"
#include "ns3/proteus-flow-parameters.h"

#include <memory>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What the packet engine would do to queue pairs over RoCE, by the present defaults of the
 * attributes of Fabric, Transport and the congestion control.
 * @return without FlowCongestion::make if it would not slow them down; null if it would have a
 * control there that does not go by notifications
 */
std::shared_ptr<const FlowCongestion> ReadFlowCongestion();

/**
 * @ingroup proteus
 * Reads what congestion control of the packet engine adds to links of a network, and how full it
 * lets them be, from the same defaults.
 * @param parameters that get it, and the names of the attributes that this honours
 */
void ReadNetworkLoad(FlowParameters& parameters);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_CONGESTION_SETTINGS_H
