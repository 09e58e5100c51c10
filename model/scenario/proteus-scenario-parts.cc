/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-scenario-parts.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

void
RequireParts(const ScenarioPlan& plan,
             const std::string& executor,
             const std::set<std::string>& parts)
{
    for (const std::string& part : plan.ListParts())
    {
        if (parts.count(part) == 0)
        {
            throw std::invalid_argument("scenario: the executor " + executor + " does not model " +
                                        part + ": take --executor=packet, or leave it out");
        }
    }
}

} // namespace proteus
} // namespace ns3
