/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCENARIO_PARTS_H
#define PROTEUS_SCENARIO_PARTS_H

#include "proteus-scenario-plan.h"

#include <set>
#include <string>

/**
 * @file
 * @ingroup proteus
 * What of a scenario an executor honours.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param plan of a scenario
 * @param executor for the error
 * @param parts of ScenarioPlan::ListParts() that it honours
 * @throw std::invalid_argument if the plan has another one
 */
void RequireParts(const ScenarioPlan& plan,
                  const std::string& executor,
                  const std::set<std::string>& parts);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCENARIO_PARTS_H
