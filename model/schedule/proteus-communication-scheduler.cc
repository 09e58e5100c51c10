/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-communication-scheduler.h"

#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-registry.h"

#include <set>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

using Policies = Registry<SchedulingPolicy>;

/// @param bytes a size that must not be 0 @param what what it is, as users call it
void
RequireBytes(uint64_t bytes, const std::string& what)
{
    if (bytes == 0)
    {
        throw std::invalid_argument("schedule: " + what +
                                    " of 0 bytes: nothing would ever start; give at least 1 byte");
    }
}

} // namespace

SchedulingPolicyRegistration::SchedulingPolicyRegistration(SchedulingPolicy policy)
{
    const std::string name = policy.name;
    Policies::Registration(name, std::move(policy));
}

std::vector<SchedulingPolicy>
GetSchedulingPolicies()
{
    std::vector<SchedulingPolicy> policies;
    for (const auto& [name, policy] : Policies::Get().GetAll())
    {
        policies.push_back(policy);
    }
    return policies;
}

SchedulingPolicy
FindSchedulingPolicy(const std::string& name)
{
    if (const SchedulingPolicy* found = Policies::Get().Find(name))
    {
        return *found;
    }
    throw std::invalid_argument("schedule: unknown policy '" + name + "'; " +
                                Suggest(name, Policies::Get().GetNames()));
}

void
CheckScheduleSettings(const ScheduleSettings& settings)
{
    FindSchedulingPolicy(settings.policy);
    RequireBytes(settings.partBytes, "parts");
    RequireBytes(settings.creditBytes, "a credit");
    RequireBytes(settings.bucketBytes, "buckets");
    std::set<Parallelism> kinds;
    for (const Parallelism kind : settings.kinds)
    {
        if (!kinds.insert(kind).second)
        {
            throw std::invalid_argument(std::string("schedule: the kind ") + ToString(kind) +
                                        " is named twice; name it once, at its place");
        }
    }
    if (settings.messagePs < 0 || settings.messagePs > MOST_MESSAGE_PS)
    {
        throw std::invalid_argument("schedule: a message of " + std::to_string(settings.messagePs) +
                                    " ps: it takes from 0 to " + std::to_string(MOST_MESSAGE_PS) +
                                    ", a second");
    }
}

} // namespace proteus
} // namespace ns3
