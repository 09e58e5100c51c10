/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-path-type.h"

#include "proteus-path-level.h"

#include "ns3/proteus-first-way.h"

#include <map>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

PathType
FindPathType(const Cluster& cluster, const Paths& paths, VertexId a, VertexId b)
{
    const auto links = WalkFirst(paths, a, b);
    bool isNvlink = true;
    bool hasCpu = false;
    bool hasInterconnect = false;
    bool hasC2c = false;
    uint32_t switches = 0;
    VertexId at = a;
    for (const LinkId id : links)
    {
        const Link& link = cluster.GetLinks()[id];
        const VertexKind before = cluster.GetVertices()[at].kind;
        at = link.Other(at);
        const VertexKind kind = cluster.GetVertices()[at].kind;
        isNvlink = isNvlink && link.technology == LinkTechnology::NVLINK;
        hasCpu = hasCpu || kind == VertexKind::CPU;
        if (link.technology == LinkTechnology::CPU_INTERCONNECT)
        {
            const bool isC2c = before == VertexKind::GPU || kind == VertexKind::GPU;
            (isC2c ? hasC2c : hasInterconnect) = true;
        }
        switches += kind == VertexKind::PCIE_SWITCH;
    }
    return isNvlink          ? PathType::NVL
           : hasInterconnect ? PathType::SYS
           : hasC2c          ? PathType::P2C
           : hasCpu          ? PathType::PHB
           : switches > 1    ? PathType::PXB
                             : PathType::PIX;
}

const std::map<std::string, std::string>&
GetPathLevelNumbers()
{
    // levelsOldToNew of NVIDIA/nccl v2.30.7, src/graph/paths.cc.
    static const std::map<std::string, std::string> names{{"0", "LOC"},
                                                          {"1", "PIX"},
                                                          {"2", "PXB"},
                                                          {"3", "PHB"},
                                                          {"4", "SYS"},
                                                          {"5", "SYS"}};
    return names;
}

std::optional<PathType>
ReadPathLevel(const std::string& text)
{
    // topoPathTypeStr of NVIDIA/nccl v2.30.7, src/graph/paths.cc. C2C, of a GPU to its CPU, is
    // between NVB and PIX.
    static const std::map<std::string, std::optional<PathType>> levels{{"LOC", std::nullopt},
                                                                       {"NVL", PathType::NVL},
                                                                       {"NVB", PathType::NVB},
                                                                       {"C2C", PathType::NVB},
                                                                       {"PIX", PathType::PIX},
                                                                       {"PXB", PathType::PXB},
                                                                       {"P2C", PathType::P2C},
                                                                       {"PXN", PathType::PXN},
                                                                       {"PHB", PathType::PHB},
                                                                       {"SYS", PathType::SYS}};
    const auto number = GetPathLevelNumbers().find(text);
    const auto found = levels.find(number == GetPathLevelNumbers().end() ? text : number->second);
    if (found == levels.end())
    {
        throw std::invalid_argument("must be LOC, NVL, PIX, PXB, PHB or SYS");
    }
    return found->second;
}

} // namespace proteus
} // namespace ns3
