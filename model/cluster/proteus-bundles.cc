/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-bundles.h"

#include "ns3/proteus-enum-names.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr EnumNames<Bundling, 2> BUNDLINGS{
    "bundling",
    {{Bundling::WHOLE, "whole"}, {Bundling::CABLES, "cables"}}};

constexpr double ROUNDING = 1e-6; //!< of a quotient that should be whole

bool
IsSwitch(const Cluster& cluster, VertexId id)
{
    return cluster.GetVertices()[id].kind == VertexKind::SWITCH;
}

} // namespace

Bundling
BundlingFromString(const std::string& text)
{
    return BUNDLINGS.Parse(text);
}

std::vector<std::string>
GetBundlingNames()
{
    return BUNDLINGS.List();
}

double
GetCableRate(const Cluster& cluster)
{
    double rate = 0;
    for (const Link& link : cluster.GetLinks())
    {
        if (IsSwitch(cluster, link.a) != IsSwitch(cluster, link.b))
        {
            rate = std::max(rate, link.bytesPerSecond);
        }
    }
    return rate;
}

Cluster
SplitBundles(const Cluster& cluster)
{
    const double cable = GetCableRate(cluster);
    Cluster split(cluster.GetName() + ", cables");
    for (const Vertex& vertex : cluster.GetVertices())
    {
        split.AddVertex(vertex);
    }
    for (Link link : cluster.GetLinks())
    {
        double members = 1;
        if (cable > 0 && IsSwitch(cluster, link.a) && IsSwitch(cluster, link.b))
        {
            members = std::max(1.0, std::ceil(link.bytesPerSecond / cable - ROUNDING));
        }
        link.bytesPerSecond = std::max(1.0, std::round(link.bytesPerSecond / members));
        for (double i = 0; i < members; ++i)
        {
            split.AddLink(link);
        }
    }
    split.RankGpus(cluster.GetGpus());
    return split;
}

} // namespace proteus
} // namespace ns3
