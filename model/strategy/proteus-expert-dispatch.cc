/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-expert-dispatch.h"

#include "ns3/proteus-enum-names.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr EnumNames<ExpertDispatch, 3> DISPATCHES{"expert dispatch",
                                                  {{ExpertDispatch::ALL_TO_ALL, "all-to-all"},
                                                   {ExpertDispatch::DEEPEP, "deepep"},
                                                   {ExpertDispatch::HYBRIDEP, "hybridep"}}};

/// @param all things @param chosen of them, at random @param some of all @param hits a number
/// @return how likely it is that so many of the chosen are among these
double
FindHits(uint64_t all, uint64_t chosen, uint64_t some, uint64_t hits)
{
    if (hits > std::min(some, chosen) || chosen - hits > all - some)
    {
        return 0;
    }
    // C(chosen, hits) ways, each as likely as the hits first and then the others. The factors are
    // taken in an order that keeps the product near 1.
    const uint64_t others = chosen - hits;
    double likely = 1;
    for (uint64_t i = 0, k = 0; i < hits || k < others;)
    {
        if (i < hits && (likely < 1 || k == others))
        {
            likely *= static_cast<double>(chosen - i) / static_cast<double>(hits - i) *
                      static_cast<double>(some - i) / static_cast<double>(all - i);
            ++i;
        }
        else
        {
            likely *= static_cast<double>(all - some - k) / static_cast<double>(all - hits - k);
            ++k;
        }
    }
    return likely;
}

} // namespace

const char*
ToString(ExpertDispatch dispatch)
{
    return DISPATCHES.Get(dispatch);
}

ExpertDispatch
ExpertDispatchFromString(const std::string& text)
{
    return DISPATCHES.Parse(text);
}

uint32_t
GetMultiprocessors(ExpertDispatch dispatch)
{
    switch (dispatch)
    {
    case ExpertDispatch::DEEPEP:
        return 20; // Buffer.num_sms (deep_ep/buffer.py); moe_deepep_num_sms of Megatron-Core
    case ExpertDispatch::HYBRIDEP:
        return 16; // moe_hybridep_num_sms of Megatron-Core
    default:
        return 0;
    }
}

double
ExpertRouting::FindReach(uint64_t size) const
{
    const uint64_t group = experts / groups;
    if (size > experts || (groups > 1 && size % group != 0 && group % size != 0))
    {
        throw std::invalid_argument(std::to_string(size) + " neighbouring experts of " +
                                    std::to_string(experts) + " neither share a group of " +
                                    std::to_string(group) + " evenly nor make several");
    }
    const uint64_t eligible = topGroups * group;
    if (size < group)
    {
        const double isChosen = static_cast<double>(topGroups) / static_cast<double>(groups);
        return isChosen * (1 - FindHits(eligible, top, size, 0));
    }
    double reach = 0;
    for (uint64_t hits = 1; hits <= topGroups; ++hits)
    {
        reach += FindHits(groups, topGroups, size / group, hits) *
                 (1 - FindHits(eligible, top, hits * group, 0));
    }
    return reach;
}

DispatchPlan
PlanDispatch(const ExpertRouting& routing, const std::vector<DeviceId>& devices, uint32_t domain)
{
    if (routing.experts % devices.size() != 0)
    {
        throw std::invalid_argument("expertDispatch: " + std::to_string(devices.size()) +
                                    " devices cannot share " + std::to_string(routing.experts) +
                                    " experts evenly");
    }
    std::vector<std::vector<DeviceId>> servers;
    for (const DeviceId device : devices)
    {
        if (servers.empty() || servers.back().back() / domain != device / domain)
        {
            servers.emplace_back();
        }
        servers.back().push_back(device);
    }
    const std::vector<DeviceId>& first = servers.front();
    for (std::size_t i = 0; i < servers.size(); ++i)
    {
        const std::vector<DeviceId>& server = servers[i];
        const bool isAlike =
            std::equal(server.begin(),
                       server.end(),
                       first.begin(),
                       first.end(),
                       [&](DeviceId a, DeviceId b) { return a % domain == b % domain; });
        const bool isNew =
            std::none_of(servers.begin(),
                         servers.begin() + static_cast<std::ptrdiff_t>(i),
                         [&](const std::vector<DeviceId>& other) {
                             return other.front() / domain == server.front() / domain;
                         });
        if (!isAlike || !isNew)
        {
            throw std::invalid_argument("expertDispatch: the " + std::to_string(devices.size()) +
                                        " devices that share experts with device " +
                                        std::to_string(devices.front()) +
                                        " are not the same ones of several servers of " +
                                        std::to_string(domain) + " (expertDomain)");
        }
    }
    DispatchPlan plan;
    const uint64_t perDevice = routing.experts / devices.size();
    if (servers.size() > 1)
    {
        plan.network.copies =
            static_cast<double>(servers.size()) * routing.FindReach(perDevice * first.size());
        plan.network.groups.resize(first.size());
        for (std::size_t rail = 0; rail < first.size(); ++rail)
        {
            for (const std::vector<DeviceId>& server : servers)
            {
                plan.network.groups[rail].push_back(server[rail]);
            }
        }
    }
    if (first.size() > 1)
    {
        plan.inside.copies = static_cast<double>(devices.size()) * routing.FindReach(perDevice);
        plan.inside.groups = std::move(servers);
    }
    return plan;
}

} // namespace proteus
} // namespace ns3
