/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_CONGESTION_SETTINGS_H
#define PROTEUS_FLOW_CONGESTION_SETTINGS_H

#include "ns3/proteus-flow-congestion.h"

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

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_CONGESTION_SETTINGS_H
