/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHANNEL_DEPENDENCIES_H
#define PROTEUS_CHANNEL_DEPENDENCIES_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-paths.h"

#include <algorithm>
#include <cstddef>
#include <gtest/gtest.h>
#include <set>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Whether routes can deadlock (Dally and Seitz, IEEE Trans. Computers C-36, 1987).
 */

namespace ns3
{
namespace proteus
{

/// One direction of a link: 2 x link, and 1 more from b to a.
using Channel = std::size_t;

/// Which channels wait for which others, over all paths between GPUs and NICs.
class Dependencies
{
  public:
    Dependencies(const Cluster& cluster, const Paths& paths)
        : m_cluster(cluster),
          m_paths(paths),
          m_next(2 * cluster.GetLinks().size())
    {
        for (VertexId to = 0; to < cluster.GetVertices().size(); ++to)
        {
            if (IsTerminal(to))
            {
                Follow(to);
            }
        }
    }

    /// @return whether some channels could wait for each other in a circle
    bool HasCycle() const
    {
        enum Color
        {
            WHITE,
            GREY,
            BLACK,
        };

        std::vector<Color> colors(m_next.size(), WHITE);
        for (Channel start = 0; start < m_next.size(); ++start)
        {
            if (colors[start] != WHITE)
            {
                continue;
            }
            std::vector<std::pair<Channel, std::set<Channel>::const_iterator>> stack;
            stack.emplace_back(start, m_next[start].begin());
            colors[start] = GREY;
            while (!stack.empty())
            {
                auto& [channel, next] = stack.back();
                if (next == m_next[channel].end())
                {
                    colors[channel] = BLACK;
                    stack.pop_back();
                    continue;
                }
                const Channel other = *next++;
                if (colors[other] == GREY)
                {
                    return true;
                }
                if (colors[other] == WHITE)
                {
                    colors[other] = GREY;
                    stack.emplace_back(other, m_next[other].begin());
                }
            }
        }
        return false;
    }

    /// @return number of times that a path went up after it had gone down
    std::size_t GetIllegal() const
    {
        return m_nIllegal;
    }

  private:
    bool IsTerminal(VertexId vertex) const
    {
        const VertexKind kind = m_cluster.GetVertices()[vertex].kind;
        return kind == VertexKind::GPU || kind == VertexKind::NIC;
    }

    Channel ChannelOf(VertexId from, uint16_t port) const
    {
        const LinkId link = m_cluster.GetPorts(from)[port].link;
        return 2 * link + (m_cluster.GetLinks()[link].a == from ? 0 : 1);
    }

    /// All channels of paths to a vertex.
    void Follow(VertexId to)
    {
        std::set<Channel> seen;
        std::vector<Channel> pending;
        auto visit = [&](Channel channel) {
            if (seen.insert(channel).second)
            {
                pending.push_back(channel);
            }
        };
        for (VertexId from = 0; from < m_cluster.GetVertices().size(); ++from)
        {
            if (from != to && IsTerminal(from))
            {
                for (uint16_t port : m_paths.NextPorts(from, to))
                {
                    visit(ChannelOf(from, port));
                }
            }
        }
        while (!pending.empty())
        {
            const Channel channel = pending.back();
            pending.pop_back();
            const Link& link = m_cluster.GetLinks()[channel / 2];
            const VertexId from = channel % 2 == 0 ? link.a : link.b;
            const VertexId at = link.Other(from);
            const auto& ports = m_cluster.GetPorts(from);
            const auto port = std::find_if(ports.begin(), ports.end(), [&](const Port& p) {
                return p.link == channel / 2;
            });
            const bool down =
                m_paths.GoesDown(from, static_cast<std::size_t>(port - ports.begin()));
            if (at == to)
            {
                continue;
            }
            const auto& nextPorts = m_paths.NextPorts(at, to, down);
            EXPECT_FALSE(nextPorts.empty());
            for (uint16_t next : nextPorts)
            {
                const Channel other = ChannelOf(at, next);
                visit(other);
                const bool isNic = m_cluster.GetVertices()[at].kind == VertexKind::NIC;
                m_nIllegal += !isNic && down && !m_paths.GoesDown(at, next) ? 1 : 0;
                // A NIC reads only what it has room for: see Paths.
                const VertexId neighbor = m_cluster.GetPorts(at)[next].neighbor;
                if (!isNic || m_cluster.GetVertices()[neighbor].kind != VertexKind::SWITCH)
                {
                    m_next[channel].insert(other);
                }
            }
        }
    }

    const Cluster& m_cluster;
    const Paths& m_paths;
    std::vector<std::set<Channel>> m_next; //!< by channel
    std::size_t m_nIllegal{0};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHANNEL_DEPENDENCIES_H
