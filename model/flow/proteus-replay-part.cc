/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-replay-part.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param a cost @param b cost @return whether both are the same
bool
IsSame(const BlockCost& a, const BlockCost& b)
{
    const auto list = [](const BlockCost& cost) {
        return std::tie(cost.latencyPs,
                        cost.busyPs,
                        cost.postPs,
                        cost.psPerByte,
                        cost.receivePsPerByte,
                        cost.sendPsPerByte,
                        cost.exchangePsPerByte,
                        cost.warpsPsPerByte,
                        cost.isDirect);
    };
    return list(a) == list(b);
}

/// @param a route @param b route @return whether both take as long for the same rates
bool
IsAlike(const FlowRoute& a, const FlowRoute& b)
{
    const auto list = [](const FlowRoute& route) {
        return std::tie(route.latencyPs,
                        route.controlPs,
                        route.ackPs,
                        route.unitBytes,
                        route.unitPsPerByte,
                        route.limit,
                        route.stripes,
                        route.reading.comes,
                        route.reading.goes,
                        route.reading.room);
    };
    return list(a) == list(b) && a.uses.size() == b.uses.size() &&
           a.inputs.size() == b.inputs.size() &&
           (a.reading.port == NO_ID) == (b.reading.port == NO_ID);
}

/// Whether parts of a buffer are equal: where it does not divide, the first ones have a byte more.
bool
IsSameShare(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) <= 1;
}

/// @param a step @param b step @return whether they do the same
bool
IsAlike(const Step& a, const Step& b)
{
    return a.kind == b.kind && a.endsChunk == b.endsChunk && a.waitBlock == b.waitBlock &&
           a.waitStep == b.waitStep && IsSameShare(a.bytes, b.bytes);
}

/// What a program asks for whose ranks are moved on by some places.
class Shift
{
  public:
    /// @param ranks how many there are @param places by which they are moved
    Shift(uint32_t ranks, uint32_t places)
        : m_ranks(ranks),
          m_places(places)
    {
    }

    /// @param rank one, or NO_RANK @param times how often it is moved @return where it stands then
    uint32_t Move(uint32_t rank, uint32_t times = 1) const
    {
        return rank == NO_RANK ? NO_RANK : (rank + times * m_places) % m_ranks;
    }

    /// @return moves until all stand where they stood
    uint32_t GetOrder() const
    {
        return m_ranks / m_places;
    }

    /// @param rank one @return how often its stand-in has to be moved to come there
    uint32_t CountMoves(uint32_t rank) const
    {
        return rank / m_places;
    }

    /// @param a block of a rank @param b block of another one @param times moves from that to this
    /// @return whether the second one does the same for its peers
    bool AreAlike(const ThreadBlock& a, const ThreadBlock& b, uint32_t times) const
    {
        return a.channel == b.channel && Move(a.receivePeer, times) == b.receivePeer &&
               Move(a.sendPeer, times) == b.sendPeer && a.steps.size() == b.steps.size() &&
               std::equal(a.steps.begin(),
                          a.steps.end(),
                          b.steps.begin(),
                          [](const Step& one, const Step& other) { return IsAlike(one, other); });
    }

    /// @param program to move @param costs of its blocks @return whether it is the same then
    bool Keeps(const CollectiveProgram& program, const ReplayCosts& costs) const
    {
        for (uint32_t rank = m_places; rank < m_ranks; ++rank)
        {
            const uint32_t first = rank % m_places;
            const auto& here = program.ranks[rank].blocks;
            const auto& there = program.ranks[first].blocks;
            if (here.size() != there.size())
            {
                return false;
            }
            for (std::size_t i = 0; i < here.size(); ++i)
            {
                if (!AreAlike(there[i], here[i], CountMoves(rank)) ||
                    (!costs.blocks.empty() &&
                     !IsSame(costs.blocks[first][i], costs.blocks[rank][i])))
                {
                    return false;
                }
            }
        }
        return true;
    }

  private:
    uint32_t m_ranks;
    uint32_t m_places;
};

/// A number of a list, or the default of an empty one.
template <class List>
auto
GetOf(const List& list, std::size_t i)
{
    return list.empty() ? typename List::value_type() : list[i];
}

/// @param flows of a program @param index of them @param routes of them
/// @param ways where these are @param costs of the program @param shift of the ranks
/// @return by flow, the one that it is moved to; empty if there is none that is like it
std::vector<uint32_t>
MoveFlows(const std::vector<ProgramFlow>& flows,
          const FlowIndex& index,
          const std::vector<uint32_t>& routes,
          const ReplayWays& ways,
          const ReplayCosts& costs,
          const Shift& shift)
{
    std::vector<uint32_t> moved;
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        const ProgramFlow& flow = flows[i];
        const uint32_t to = index.Find(flow.channel, shift.Move(flow.from), shift.Move(flow.to));
        if (to == NO_ID || flows[to].messages != flow.messages ||
            GetOf(costs.limits, i) != GetOf(costs.limits, to) ||
            GetOf(costs.sendsWhole, i) != GetOf(costs.sendsWhole, to) ||
            !IsAlike(ways.GetRoute(routes[i]), ways.GetRoute(routes[to])))
        {
            return {};
        }
        moved.push_back(to);
    }
    return moved;
}

/// Resources of a program whose ranks are moved. Those that the same flows use alike are one.
class MovedResources
{
  public:
    /// @param routes of the flows @param ways where they are
    MovedResources(const std::vector<uint32_t>& routes, const ReplayWays& ways)
        : m_routes(routes),
          m_ways(ways)
    {
        CountUses();
    }

    /// @param moved by flow: where it is moved to
    /// @param order moves until all stand where they stood
    /// @return whether resources are moved as well, and come back with the flows and not before
    bool Move(const std::vector<uint32_t>& moved, uint32_t order)
    {
        if (!FindNext(moved) || !FindCircles(order))
        {
            return false;
        }
        return MovesInputs(moved);
    }

    /// @param flow that stands for others @return its route over those that stand for others; what
    /// others of its circle take of a resource of its way counts there, too
    FlowRoute MakeRoute(uint32_t flow) const
    {
        FlowRoute route = m_ways.GetRoute(m_routes[flow]);
        route.alone = m_ways.GetLinkRate(route);
        std::vector<FlowUse> uses;
        std::set<uint32_t> crossed; // classes
        for (FlowUse use : route.uses)
        {
            const uint32_t used = m_classOf.at(use.resource);
            if (crossed.insert(used).second)
            {
                use.resource = m_circles[used];
                uses.push_back(use); // the table adds those of a circle up
            }
        }
        route.uses = std::move(uses);
        for (FlowInput& input : route.inputs)
        {
            const uint32_t out = m_classOf.at(input.resource);
            const uint32_t in = m_classOf.at(input.from);
            input = {m_circles[out], m_circles[in], m_turns[out], m_turns[in], m_order};
        }
        if (route.reading.port != NO_ID)
        {
            route.reading.port = m_circles[m_classOf.at(route.reading.port)];
            route.reading.from = m_circles[m_classOf.at(route.reading.from)];
        }
        return route;
    }

    /// @return those that stand for others, by circle
    std::vector<FlowResource> List() const
    {
        std::vector<FlowResource> resources(m_nCircles);
        for (const auto& [id, ofClass] : m_classOf)
        {
            resources[m_circles[ofClass]].capacity = m_ways.GetResources()[id].capacity;
        }
        return resources;
    }

  private:
    /// A flow that uses a resource: its number, and FlowUse.
    using Use = std::tuple<uint32_t, double, double, bool>;
    /// Capacity and uses.
    using Class = std::pair<double, std::vector<Use>>;

    void CountUses()
    {
        std::map<uint32_t, std::vector<Use>> uses; // by resource
        for (uint32_t flow = 0; flow < m_routes.size(); ++flow)
        {
            for (const FlowUse& use : m_ways.GetRoute(m_routes[flow]).uses)
            {
                uses[use.resource].emplace_back(flow, use.amount, use.payload, use.comesFirst);
            }
        }
        for (auto& [id, ofId] : uses)
        {
            const double capacity = m_ways.GetResources()[id].capacity;
            m_classOf[id] = m_classes
                                .emplace(Class(capacity, std::move(ofId)),
                                         static_cast<uint32_t>(m_classes.size()))
                                .first->second;
        }
    }

    bool FindNext(const std::vector<uint32_t>& moved)
    {
        m_next.resize(m_classes.size());
        for (const auto& [uses, id] : m_classes)
        {
            Class there = uses;
            for (Use& use : there.second)
            {
                std::get<0>(use) = moved[std::get<0>(use)];
            }
            std::sort(there.second.begin(), there.second.end());
            const auto found = m_classes.find(there);
            if (found == m_classes.end())
            {
                return false;
            }
            m_next[id] = found->second;
        }
        return true;
    }

    bool FindCircles(uint32_t order)
    {
        m_order = order;
        m_nCircles = 0;
        m_circles.assign(m_next.size(), NO_ID);
        m_turns.assign(m_next.size(), 0);
        for (uint32_t first = 0; first < m_next.size(); ++first)
        {
            if (m_circles[first] != NO_ID)
            {
                continue;
            }
            uint32_t at = first;
            uint32_t turns = 0;
            do
            {
                m_circles[at] = m_nCircles;
                m_turns[at] = turns++;
                at = m_next[at];
            } while (at != first && turns <= order);
            if (turns != order)
            {
                return false;
            }
            ++m_nCircles;
        }
        return true;
    }

    bool MovesInputs(const std::vector<uint32_t>& moved) const
    {
        const auto isMoved = [this](uint32_t from, uint32_t to) {
            const auto before = m_classOf.find(from);
            const auto after = m_classOf.find(to);
            return before != m_classOf.end() && after != m_classOf.end() &&
                   m_next[before->second] == after->second;
        };
        for (std::size_t flow = 0; flow < moved.size(); ++flow)
        {
            const auto& here = m_ways.GetRoute(m_routes[flow]).inputs;
            const auto& there = m_ways.GetRoute(m_routes[moved[flow]]).inputs;
            for (std::size_t i = 0; i < here.size(); ++i)
            {
                if (!isMoved(here[i].resource, there[i].resource) ||
                    !isMoved(here[i].from, there[i].from))
                {
                    return false;
                }
            }
        }
        return true;
    }

    const std::vector<uint32_t>& m_routes;
    const ReplayWays& m_ways;
    std::map<Class, uint32_t> m_classes;    //!< of resources that are used alike
    std::map<uint32_t, uint32_t> m_classOf; //!< by resource
    std::vector<uint32_t> m_next;           //!< by class: where it is moved to
    std::vector<uint32_t> m_circles;        //!< by class: those that it is moved to in turn
    std::vector<uint32_t> m_turns;          //!< by class: its place on the circle
    uint32_t m_nCircles{0};                 //!< how many there are
    uint32_t m_order{1};                    //!< classes of each
};

} // namespace

std::unique_ptr<ReplayPart>
ReplayPart::Find(const CollectiveProgram& program,
                 const std::vector<ProgramFlow>& flows,
                 const std::vector<uint32_t>& routes,
                 const ReplayWays& ways,
                 const ReplayCosts& costs)
{
    const auto ranks = static_cast<uint32_t>(program.ranks.size());
    const FlowIndex index(flows);
    std::optional<MovedResources> resources; // once flows are found to be moved
    for (uint32_t places = 1; program.groups.empty() && places <= ranks / 2; ++places)
    {
        if (ranks % places != 0)
        {
            continue;
        }
        const Shift shift(ranks, places);
        const std::vector<uint32_t> moved = MoveFlows(flows, index, routes, ways, costs, shift);
        if (moved.empty())
        {
            continue;
        }
        if (!resources)
        {
            resources.emplace(routes, ways);
        }
        if (!resources->Move(moved, shift.GetOrder()) || !shift.Keeps(program, costs))
        {
            continue;
        }
        std::unique_ptr<ReplayPart> part(new ReplayPart());
        part->m_nAll = ranks;
        part->m_inputBuffer = ways.GetInputBuffer();
        part->m_resources = resources->List();
        part->TakeFlows(flows, moved, costs, places, [&resources](uint32_t flow) {
            return resources->MakeRoute(flow);
        });
        part->TakeRanks(program, flows, costs, places);
        return part;
    }
    return nullptr;
}

void
ReplayPart::TakeFlows(const std::vector<ProgramFlow>& flows,
                      const std::vector<uint32_t>& moved,
                      const ReplayCosts& costs,
                      uint32_t places,
                      const std::function<FlowRoute(uint32_t)>& makeRoute)
{
    m_standing.assign(flows.size(), NO_ID);
    for (uint32_t i = 0; i < flows.size(); ++i)
    {
        if (flows[i].from >= places)
        {
            continue;
        }
        for (uint32_t at = i; m_standing[at] == NO_ID; at = moved[at])
        {
            m_standing[at] = static_cast<uint32_t>(m_flows.size());
        }
        m_flows.push_back(flows[i]);
        m_flows.back().to %= places;
        m_routes.push_back(m_table.Add(makeRoute(i)));
        if (!costs.limits.empty())
        {
            m_costs.limits.push_back(costs.limits[i]);
        }
        if (!costs.sendsWhole.empty())
        {
            m_costs.sendsWhole.push_back(costs.sendsWhole[i]);
        }
    }
}

void
ReplayPart::TakeRanks(const CollectiveProgram& program,
                      const std::vector<ProgramFlow>& flows,
                      const ReplayCosts& costs,
                      uint32_t places)
{
    m_program.algorithm = program.algorithm;
    m_program.protocol = program.protocol;
    m_program.slots = program.slots;
    m_program.ranks.assign(program.ranks.begin(), program.ranks.begin() + places);
    if (!costs.blocks.empty())
    {
        m_costs.blocks.assign(costs.blocks.begin(), costs.blocks.begin() + places);
    }
    m_ofBlocks = FindFlowsOfBlocks(m_program, flows);
    for (auto& ofRank : m_ofBlocks)
    {
        for (BlockFlows& ofBlock : ofRank)
        {
            ofBlock.send = ofBlock.send == NO_ID ? NO_ID : m_standing[ofBlock.send];
            ofBlock.receive = ofBlock.receive == NO_ID ? NO_ID : m_standing[ofBlock.receive];
        }
    }
}

ReplayTimes
ReplayPart::Run(bool isInstant, const std::function<void()>& goOn) const
{
    const ReplayTimes part = ReplayRun(m_program,
                                       m_flows,
                                       m_routes,
                                       {m_resources, m_table, m_inputBuffer},
                                       m_costs,
                                       isInstant,
                                       m_ofBlocks)
                                 .Run(goOn, {});
    ReplayTimes all;
    all.endPs = part.endPs;
    for (const uint32_t flow : m_standing)
    {
        all.sentPs.push_back(part.sentPs[flow]);
        all.receivedPs.push_back(part.receivedPs[flow]);
        all.senderStepPs.push_back(part.senderStepPs[flow]);
        all.receiverStepPs.push_back(part.receiverStepPs[flow]);
    }
    for (uint32_t rank = 0; rank < m_nAll; ++rank)
    {
        all.stepsPs.push_back(part.stepsPs[rank % GetNRanks()]);
    }
    return all;
}

} // namespace proteus
} // namespace ns3
