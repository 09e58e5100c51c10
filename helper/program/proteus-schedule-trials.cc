/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-schedule-trials.h"

#include "proteus-executors.h"

#include "ns3/proteus-credit-window.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-schedule-text.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-whole-number.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

using namespace schedule_place;

namespace
{

/// Of a traffic class of a fabric (its attribute ClassWeights).
constexpr uint32_t MOST_WEIGHT = 1 << 16;

/// @param text of a weight @return the number
uint32_t
ToWeight(const std::string& text)
{
    const uint32_t weight = ParseWholeNumber<uint32_t>(text).value_or(0);
    if (weight == 0 || weight > MOST_WEIGHT)
    {
        throw std::invalid_argument("--wireWeights=" + text + ": must be a number from 1 to " +
                                    std::to_string(MOST_WEIGHT) + " for each class");
    }
    return weight;
}

/// @param options of the user @return how the wire is shared
WireClasses
MakeWireClasses(const ScheduleTrialOptions& options)
{
    WireClasses wire;
    wire.classes = ToCount(options.wireClasses, "wireClasses", 1);
    for (const std::string& weight : SplitList(options.wireWeights))
    {
        wire.weights.push_back(ToWeight(weight));
    }
    return wire;
}

} // namespace

ScheduleSettings
MakeScheduleSettings(const ScheduleTrialOptions& options,
                     const std::string& policy,
                     const std::string& place)
{
    ScheduleSettings settings;
    settings.policy = policy;
    if (const SchedulingPolicy found = FindSchedulingPolicy(policy); Orders(found))
    {
        settings.partBytes = ToCount(options.partition, "partition", 1);
        settings.creditBytes =
            HeedsCredit(found) ? ToCount(options.credit, "credit", 1) : CreditWindow::UNLIMITED;
        settings.messagePs = static_cast<int64_t>(options.messageUs * 1e6);
        settings.isSerial = options.serial;
    }
    if (place == WIRE)
    {
        settings.creditBytes = CreditWindow::UNLIMITED;
    }
    CheckScheduleSettings(settings);
    return settings;
}

bool
HasPolicy(const ScheduleTrialOptions& options,
          const std::function<bool(const SchedulingPolicy& policy)>& isWanted)
{
    const std::vector<std::string> policies = SplitList(options.policies);
    return std::any_of(policies.begin(), policies.end(), [&isWanted](const std::string& policy) {
        return isWanted(FindSchedulingPolicy(policy));
    });
}

bool
Orders(const SchedulingPolicy& policy)
{
    return policy.rank != nullptr;
}

bool
OrdersAnything(const ScheduleTrialOptions& options)
{
    return options.tune || HasPolicy(options, Orders);
}

bool
OrdersOn(const ScheduleTrialOptions& options, const std::set<std::string>& places)
{
    const std::vector<std::string> all = SplitList(options.priorityOn);
    return OrdersAnything(options) &&
           std::any_of(all.begin(), all.end(), [&places](const std::string& place) {
               return places.count(place) > 0;
           });
}

std::vector<ScheduleTrial>
MakeScheduleTrials(const ScheduleTrialOptions& options)
{
    const std::vector<std::string> places =
        SplitOnce("--priorityOn=" + options.priorityOn, options.priorityOn);
    for (const std::string& place : places)
    {
        if (place != SENDER && place != WIRE && place != BOTH)
        {
            throw std::invalid_argument("--priorityOn=" + place +
                                        ": must be sender, wire or both, or several of them "
                                        "separated by commas");
        }
    }
    std::vector<ScheduleTrial> all;
    for (const std::string& policy : SplitOnce("--policies=" + options.policies, options.policies))
    {
        if (!Orders(FindSchedulingPolicy(policy)))
        {
            all.push_back({MakeScheduleSettings(options, policy), {}, policy});
            continue;
        }
        for (const std::string& place : places)
        {
            all.push_back({MakeScheduleSettings(options, policy, place), {}, policy});
            if (place != SENDER)
            {
                all.back().wire = MakeWireClasses(options);
                all.back().name += "-" + place;
            }
        }
    }
    return all;
}

void
CheckWire(const ScheduleTrialOptions& options,
          const std::vector<ScheduleTrial>& trials,
          const std::vector<std::string>& executors)
{
    const bool isOnWire = std::any_of(trials.begin(), trials.end(), [](const ScheduleTrial& trial) {
        return trial.wire.has_value();
    });
    if (!isOnWire)
    {
        return;
    }
    for (const std::string& executor : executors)
    {
        if (!FindExecutor(executor).GetTraits().isExact)
        {
            throw std::invalid_argument("--priorityOn=" + options.priorityOn + ": executor " +
                                        executor +
                                        " has no traffic classes; take --executor=packet");
        }
    }
    if (options.servers.HasSteps())
    {
        throw std::invalid_argument("--priorityOn=" + options.priorityOn +
                                    ": steps to servers on hosts of their own, or through the "
                                    "memory of hosts, are ordered by the sender alone; take "
                                    "--serverHosts=workers --hostAggregation=gpu");
    }
}

} // namespace proteus
} // namespace ns3
