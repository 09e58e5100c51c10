/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-link-kinds.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

/// Two kinds of devices, and the technology of the link.
using Ends = std::tuple<uint32_t, uint32_t, LinkTechnology>;

/// Numbers the kinds of devices of a cluster.
class DeviceKinds
{
  public:
    explicit DeviceKinds(const Cluster& cluster)
        : m_cluster(cluster)
    {
        std::map<std::string, uint32_t> kinds;
        for (const Vertex& vertex : cluster.GetVertices())
        {
            std::string kind = ToString(vertex.kind);
            if (vertex.kind == VertexKind::SWITCH)
            {
                kind += ' ';
                std::copy_if(vertex.name.begin(),
                             vertex.name.end(),
                             std::back_inserter(kind),
                             [](char c) { return c < '0' || c > '9'; });
            }
            m_kinds.push_back(
                kinds.emplace(kind, static_cast<uint32_t>(kinds.size())).first->second);
        }
    }

    Ends Get(LinkId id, bool forward) const
    {
        const Link& link = m_cluster.GetLinks()[id];
        return {m_kinds[forward ? link.a : link.b],
                m_kinds[forward ? link.b : link.a],
                link.technology};
    }

  private:
    const Cluster& m_cluster;
    std::vector<uint32_t> m_kinds; //!< by vertex
};

} // namespace

std::vector<LinkKind>
FindLinkKinds(const Cluster& cluster, const std::vector<LinkUse>& uses)
{
    const DeviceKinds devices(cluster);
    std::map<Ends, std::size_t> places;
    std::vector<LinkKind> kinds;
    for (const LinkUse& use : uses)
    {
        const auto [place, isNew] =
            places.emplace(devices.Get(use.link, use.forward), kinds.size());
        if (isNew)
        {
            kinds.push_back({use});
        }
        LinkKind& kind = kinds[place->second];
        ++kind.usedLinks;
        kind.meanUtilisation += use.utilisation;
    }
    for (LinkKind& kind : kinds)
    {
        kind.meanUtilisation /= static_cast<double>(kind.usedLinks);
    }
    for (LinkId link = 0; link < cluster.GetLinks().size(); ++link)
    {
        for (const bool forward : {true, false})
        {
            const auto found = places.find(devices.Get(link, forward));
            if (found != places.end())
            {
                ++kinds[found->second].links;
            }
        }
    }
    return kinds;
}

} // namespace proteus
} // namespace ns3
