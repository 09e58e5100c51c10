/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLAN_JSON_H
#define PROTEUS_PLAN_JSON_H

#include "ns3/proteus-json.h"
#include "ns3/proteus-parallel-plan.h"

#include <vector>

/**
 * @file
 * @ingroup proteus
 * The short form of strategies, see proteus-strategy-json.h.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @return the fields of the short form, e.g. "globalBatch", beside the head of its file
const std::vector<const char*>& ListPlanFields();

/// @ingroup proteus
/// @param root of a file @return its plan
/// @throw std::invalid_argument that names the file and the place in it
ParallelPlan ReadPlanJson(const JsonValue& root);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLAN_JSON_H
