/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-replay-name.h"

#include "ns3/proteus-flow-hash.h"

#include <cstring>
#include <type_traits>
#include <unordered_map>

namespace ns3
{
namespace proteus
{

namespace
{

/// Takes words in, one after the other.
class Namer
{
  public:
    /// @param values whole numbers, enumerators and truth values
    template <typename... T>
    void Add(T... values)
    {
        (AddOne(values), ...);
    }

    /// @return the name of all so far
    const ReplayName& Get() const
    {
        return m_name;
    }

  private:
    /// @param value one of them
    template <typename T>
    void AddOne(T value)
    {
        uint64_t word = 0;
        if constexpr (std::is_same_v<T, double>)
        {
            std::memcpy(&word, &value, sizeof(word));
        }
        else
        {
            word = static_cast<uint64_t>(value);
        }
        m_name = {MixHash(m_name[0], word), MixHash(word, ~m_name[1])};
    }

    ReplayName m_name{1, 2};
};

/// Numbers things by the order in which they are met.
class Order
{
  public:
    /// @param id of a thing @return its place, and whether it is new
    std::pair<uint32_t, bool> Find(uint32_t id)
    {
        const auto [place, isNew] = m_places.emplace(id, static_cast<uint32_t>(m_places.size()));
        return {place->second, isNew};
    }

  private:
    std::unordered_map<uint32_t, uint32_t> m_places;
};

void
AddProgram(const CollectiveProgram& program, Namer& namer)
{
    namer.Add(program.channels, program.protocol, program.slots);
    namer.Add(program.sharesWarps, program.warpRule);
    namer.Add(program.groups.size(), program.ranks.size());
    for (const NetworkGroup& group : program.groups)
    {
        namer.Add(group.members.size());
        for (const uint32_t member : group.members)
        {
            namer.Add(member);
        }
    }
    for (const RankProgram& rank : program.ranks)
    {
        namer.Add(rank.blocks.size());
        for (const ThreadBlock& block : rank.blocks)
        {
            namer.Add(block.channel, block.receivePeer, block.sendPeer, block.group);
            namer.Add(block.processor, block.warps, block.steps.size());
            for (const Step& step : block.steps)
            {
                namer.Add(step.bytes, step.kind, step.endsChunk);
                namer.Add(step.waitBlock, step.waitStep, step.peer);
            }
        }
    }
}

void
AddCosts(const ReplayCosts& costs, Namer& namer)
{
    namer.Add(costs.groupLatencyPs, costs.blocks.size(), costs.limits.size());
    for (const auto& blocks : costs.blocks)
    {
        for (const BlockCost& cost : blocks)
        {
            namer.Add(cost.latencyPs, cost.busyPs, cost.postPs, cost.psPerByte, cost.isDirect);
            namer.Add(cost.receivePsPerByte, cost.sendPsPerByte, cost.exchangePsPerByte);
            namer.Add(cost.warpsPsPerByte);
        }
    }
    for (const double limit : costs.limits)
    {
        namer.Add(limit);
    }
    for (const bool sendsWhole : costs.sendsWhole)
    {
        namer.Add(sendsWhole);
    }
}

/// @param route that is new @param all where it is @param resources met so far @param namer gets it
void
AddRoute(const FlowRoute& route, const FlowRoutes& all, Order& resources, Namer& namer)
{
    const auto addResource = [&](uint32_t id) {
        const auto [place, isNew] = resources.Find(id);
        namer.Add(place);
        if (isNew)
        {
            namer.Add(all.GetResources()[id].capacity);
        }
    };
    namer.Add(route.latencyPs, route.controlPs, route.ackPs, route.unitBytes, route.unitPsPerByte);
    namer.Add(route.limit, route.stripes, route.uses.size(), route.inputs.size());
    for (const FlowUse& use : route.uses)
    {
        addResource(use.resource);
        namer.Add(use.amount, use.payload, use.comesFirst);
    }
    for (const FlowInput& input : route.inputs)
    {
        addResource(input.resource);
        addResource(input.from);
    }
    namer.Add(route.reading.port != NO_ID);
    if (route.reading.port != NO_ID)
    {
        addResource(route.reading.port);
        addResource(route.reading.from);
        namer.Add(route.reading.comes, route.reading.goes, route.reading.room);
    }
}

} // namespace

ReplayName
NameReplay(const CollectiveProgram& program,
           const std::vector<ProgramFlow>& flows,
           const std::vector<uint32_t>& routes,
           const FlowRoutes& all,
           const ReplayCosts& costs,
           const std::vector<uint32_t>& classOf)
{
    Namer namer;
    AddProgram(program, namer);
    AddCosts(costs, namer);
    Order ways;
    Order resources;
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        const auto [place, isNew] = ways.Find(routes[i]);
        namer.Add(classOf[i], place);
        if (isNew)
        {
            AddRoute(all.GetRoute(routes[i]), all, resources, namer);
        }
    }
    return namer.Get();
}

} // namespace proteus
} // namespace ns3
