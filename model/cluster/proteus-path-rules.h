/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PATH_RULES_H
#define PROTEUS_PATH_RULES_H

#include "proteus-paths.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Which steps a path may take.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param vertex a vertex @return whether paths begin and end there, and are renewed there
inline bool
IsPathEnd(const Vertex& vertex)
{
    return vertex.kind == VertexKind::GPU || vertex.kind == VertexKind::NIC;
}

/// @ingroup proteus
/// A step of a path from a vertex to the next.
struct PathStep
{
    int32_t server{-1};  //!< the only one that a path may lead to; -1: any
    bool isOfNic{false}; //!< inwards at a NIC, which is not on the way to another NIC

    /// @param destination of a path @return whether it may take the step
    bool LeadsTo(const Vertex& destination) const
    {
        return server < 0 ||
               (server == destination.server && !(isOfNic && destination.kind == VertexKind::NIC));
    }
};

/// @ingroup proteus
/// @param from where a step begins @param next where it ends @return the step
PathStep MakePathStep(const Vertex& from, const Vertex& next);

/// @ingroup proteus
/// Finds upper and lower ends of links, see the description of Paths. @param cluster of the links
/// @param isDisabled by link; empty if none is @param roots asked for
/// @return by link: whether it goes down from a to b
std::vector<bool> OrientLinks(const Cluster& cluster,
                              const std::vector<bool>& isDisabled,
                              const std::vector<VertexId>& roots);

/**
 * @ingroup proteus
 * The rules that PathOptions make for a cluster: which links may be used, which way they go, and
 * how a path may pass a vertex. Paths have one phase; they have two where it matters whether a path
 * has gone down already.
 */
class PathRules
{
  public:
    /// @param cluster must outlive this object @param options which paths there are
    /// @throw std::invalid_argument for links or roots that do not exist
    PathRules(const Cluster& cluster, const PathOptions& options);

    /// @return the cluster
    const Cluster& GetCluster() const
    {
        return m_cluster;
    }

    /// @return 2 if ports depend on how a path arrived, otherwise 1
    uint32_t GetNPhases() const
    {
        return m_nPhases;
    }

    /// @param vertex a vertex @return see IsPathEnd()
    bool IsTerminal(VertexId vertex) const
    {
        return IsPathEnd(m_cluster.GetVertices()[vertex]);
    }

    /// @param link a link @return whether paths may use it
    bool IsEnabled(LinkId link) const
    {
        return m_isDisabled.empty() || !m_isDisabled[link];
    }

    /// @param vertex a vertex @return whether what comes up goes on up: there is no peer-to-peer
    bool IsRedirected(VertexId vertex) const
    {
        return !m_isRedirected.empty() && m_isRedirected[vertex];
    }

    /// @param vertex to pass @param arrivedDown how it was reached @param down how it is left
    /// @return whether a path may do so
    bool MayPass(VertexId vertex, bool arrivedDown, bool down) const;

    /// @param link a link @param from one end @return whether it goes down
    bool GoesDown(LinkId link, VertexId from) const
    {
        return !m_isDown.empty() && m_isDown[link] == (m_cluster.GetLinks()[link].a == from);
    }

  private:
    const Cluster& m_cluster;         //!< whose paths
    RoutingRule m_rule;               //!< of the options
    uint32_t m_nPhases{1};            //!< see GetNPhases()
    std::vector<bool> m_isDisabled;   //!< by link; empty if none is
    std::vector<bool> m_isDown;       //!< by link: goes down from a to b; empty for one phase
    std::vector<bool> m_isRedirected; //!< by vertex; empty if none is
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PATH_RULES_H
