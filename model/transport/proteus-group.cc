/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-group.h"

#include "ns3/proteus-group-trees.h"
#include "ns3/proteus-sort-unique.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// Longest pattern of planes.
constexpr uint32_t MAX_PATTERN = 1024;
/// Names the choice of the unit that a sequence begins with.
constexpr uint64_t FIRST_UNIT = 0x756e6974;
/// Differences of rates below this share of the slowest are not told apart.
constexpr double RATE_STEP = 1.0 / 16;

} // namespace

void
VertexIndex::Set(VertexId vertex, uint32_t position)
{
    if (m_positions.empty())
    {
        m_first = vertex;
    }
    if (vertex < m_first)
    {
        m_positions.insert(m_positions.begin(), m_first - vertex, NONE);
        m_first = vertex;
    }
    m_positions.resize(std::max<std::size_t>(m_positions.size(), vertex - m_first + 1), NONE);
    m_positions[vertex - m_first] = position;
}

PlanePattern::PlanePattern(const std::vector<double>& rates)
{
    const double slowest = *std::min_element(rates.begin(), rates.end());
    std::vector<uint32_t> weights;
    uint32_t divisor = 0;
    for (double rate : rates)
    {
        weights.push_back(static_cast<uint32_t>(std::lround(rate / slowest / RATE_STEP)));
        divisor = std::gcd(divisor, weights.back());
    }
    uint32_t total = 0;
    for (uint32_t& weight : weights)
    {
        weight = std::min(weight / divisor, MAX_PATTERN / static_cast<uint32_t>(rates.size()) + 1);
        total += weight;
    }
    // Smooth weighted round-robin: the plane that is furthest behind its share is next.
    std::vector<int64_t> behind(rates.size(), 0);
    m_before.resize(rates.size());
    std::vector<uint32_t> turns(rates.size(), 0);
    for (uint32_t i = 0; i < total; ++i)
    {
        std::size_t next = 0;
        for (std::size_t plane = 0; plane < rates.size(); ++plane)
        {
            m_before[plane].push_back(turns[plane]);
            behind[plane] += weights[plane];
            next = behind[plane] > behind[next] ? plane : next;
        }
        behind[next] -= total;
        ++turns[next];
        m_pattern.push_back(static_cast<uint32_t>(next));
    }
    for (std::size_t plane = 0; plane < rates.size(); ++plane)
    {
        m_before[plane].push_back(turns[plane]);
    }
}

uint64_t
PlanePattern::Count(uint32_t plane, uint64_t units) const
{
    const std::size_t length = m_pattern.size();
    return units / length * m_before[plane][length] + m_before[plane][units % length];
}

std::vector<VertexId>
Group::FindRoots(const Cluster& cluster, const Paths& paths) const
{
    const bool areNics = !options.nics.empty();
    return FindGroupRoots(cluster,
                          paths,
                          areNics ? options.nics : options.members,
                          areNics,
                          options.flow,
                          options.planes);
}

namespace
{

/// @throw std::invalid_argument if a link may lose something
void
RequireLossless(const Cluster& cluster, const Link& link)
{
    const auto& vertices = cluster.GetVertices();
    if (link.lossProbability > 0 || link.bitErrorRate > 0 ||
        link.technology == LinkTechnology::ROCE)
    {
        throw std::invalid_argument("group: operations in switches need links that lose "
                                    "nothing, and one between " +
                                    vertices[link.a].name + " and " + vertices[link.b].name +
                                    " may; take an algorithm without them, e.g. ring or tree");
    }
}

/**
 * Adds nodes to a tree, each below the next.
 * @param chain vertices of the nodes, the lowest first
 * @param node that the highest hangs on
 * @param plane the tree
 * @return the lowest node; `node` if there are none to add
 */
uint32_t
AddChain(const std::vector<VertexId>& chain, uint32_t node, GroupPlane& plane)
{
    for (auto i = chain.rbegin(); i != chain.rend(); ++i)
    {
        const auto child = static_cast<uint32_t>(plane.nodes.size());
        plane.nodes.emplace_back();
        plane.nodes[child].vertex = *i;
        plane.nodes[child].parent = node;
        plane.nodes[node].children.push_back(child);
        plane.nodeAt.Set(*i, child);
        node = child;
    }
    return node;
}

} // namespace

GroupPlane
Group::BuildPlane(const Cluster& cluster,
                  const Paths& paths,
                  VertexId root,
                  const std::function<LinkFraming(LinkId)>& getFraming)
{
    const auto& vertices = cluster.GetVertices();
    GroupPlane plane;
    plane.nodes.emplace_back();
    plane.nodes.front().vertex = root;
    plane.nodeAt.Set(root, 0);
    plane.bytesPerSecond = HUGE_VAL;
    const auto use = [&](const Port& port) {
        const Link& link = cluster.GetLinks()[port.link];
        RequireLossless(cluster, link);
        links.push_back(port.link);
        unitBytes = std::min(unitBytes, getFraming(port.link).unitBytes);
        plane.bytesPerSecond = std::min(plane.bytesPerSecond, link.bytesPerSecond);
    };
    const auto step = [&](VertexId from, VertexId to) -> const Port& {
        const VertexId first = options.members.front();
        return PickGroupPort(cluster, paths, options.flow, first, root, from, to);
    };
    for (uint32_t member = 0; member < options.members.size(); ++member)
    {
        const VertexId access = GetAccess(member);
        for (VertexId at = options.members[member]; at != access;)
        {
            const Port& port = step(at, access);
            use(port);
            at = port.neighbor;
        }
        std::vector<VertexId> chain;
        VertexId at = access;
        while (plane.nodeAt.Find(at) == VertexIndex::NONE)
        {
            if (at != access && CombinesAndCopies(vertices[at]))
            {
                chain.push_back(at);
            }
            const Port& port = step(at, root);
            use(port);
            at = port.neighbor;
        }
        const uint32_t node = AddChain(chain, plane.nodeAt.Find(at), plane);
        plane.nodes[node].members.push_back(member);
        plane.nodeOfMember.push_back(node);
    }
    return plane;
}

void
Group::Build(const Cluster& cluster,
             const Paths& paths,
             const GroupOptions& groupOptions,
             const std::function<LinkFraming(LinkId)>& getFraming)
{
    options = groupOptions;
    const std::set<VertexId> members(options.members.begin(), options.members.end());
    const std::set<VertexId> nics(options.nics.begin(), options.nics.end());
    if (members.size() != options.members.size() || members.size() < 2 ||
        nics.size() != options.nics.size() || (!nics.empty() && nics.size() != members.size()))
    {
        throw std::invalid_argument("group: needs two members or more, all different, and as many "
                                    "NICs, all different, or none");
    }
    unitBytes = UINT32_MAX;
    std::vector<double> rates;
    for (VertexId root : FindRoots(cluster, paths))
    {
        planes.push_back(BuildPlane(cluster, paths, root, getFraming));
        rates.push_back(planes.back().bytesPerSecond);
    }
    SortUnique(links);
    pattern = PlanePattern(rates);
    for (uint32_t member = 0; member < options.members.size(); ++member)
    {
        memberAt.Set(options.members[member], member);
        memberAt.Set(GetAccess(member), member);
    }
    reductions.nBegun.assign(members.size(), 0);
    multicasts.resize(members.size());
    for (GroupSequence& sequence : multicasts)
    {
        sequence.nBegun.assign(members.size(), 0);
    }
    Restart();
}

void
Group::Restart()
{
    // Hardware spreads addresses over the planes. Were all sequences to begin with the first plane,
    // pieces of fewer units than planes would all take the first ones.
    const auto restart = [this](GroupSequence& sequence, uint64_t number) {
        const uint64_t first = MixHash(MixHash(options.flow, FIRST_UNIT), number) % MAX_PATTERN;
        sequence.before.resize(planes.size(), 0);
        for (uint32_t plane = 0; plane < planes.size(); ++plane)
        {
            // Modulo 2^32, as units are counted.
            sequence.before[plane] += static_cast<uint32_t>(pattern.Count(plane, sequence.nUnits) -
                                                            pattern.Count(plane, first));
        }
        sequence.nUnits = first;
    };
    restart(reductions, multicasts.size());
    for (std::size_t i = 0; i < multicasts.size(); ++i)
    {
        restart(multicasts[i], i);
    }
}

const GroupOperationState&
Group::FindOperation(const GroupSequence& sequence, uint32_t plane, uint32_t unit) const
{
    unit -= sequence.before.empty() ? 0 : sequence.before[plane];
    for (const GroupOperationState& state : sequence.operations)
    {
        const auto end =
            static_cast<uint32_t>(pattern.Count(plane, state.firstUnit + state.nUnits));
        if (static_cast<int32_t>(unit - end) < 0)
        {
            return state;
        }
    }
    throw std::logic_error("group: a unit of no operation");
}

GroupOperationState&
Group::FindOperation(GroupSequence& sequence, uint32_t plane, uint32_t unit) const
{
    const auto& constant = static_cast<const GroupSequence&>(sequence);
    return const_cast<GroupOperationState&>(FindOperation(constant, plane, unit));
}

std::string
Group::CheckLinks(const Cluster& cluster, const std::function<bool(LinkId)>& isUp)
{
    const auto failed = std::find_if_not(links.begin(), links.end(), isUp);
    isBroken = failed != links.end();
    if (!isBroken)
    {
        return "";
    }
    const Link& link = cluster.GetLinks()[*failed];
    return "the link between " + cluster.GetVertices()[link.a].name + " and " +
           cluster.GetVertices()[link.b].name +
           " has failed; sums and multicasts of the switches behind it are not repeated: take an "
           "algorithm without them, e.g. ring or tree";
}

std::string
Group::CheckAtRest() const
{
    const auto check = [](const GroupSequence& sequence) {
        return sequence.operations.empty()
                   ? std::string()
                   : "operation " + std::to_string(sequence.firstOperation) + " of " +
                         std::to_string(sequence.operations.front().bytes) + " bytes, begun by " +
                         std::to_string(sequence.operations.front().nBegun) +
                         " members, is not done";
    };
    std::string left = check(reductions);
    for (std::size_t i = 0; left.empty() && i < multicasts.size(); ++i)
    {
        left = check(multicasts[i]);
    }
    return left;
}

} // namespace proteus
} // namespace ns3
