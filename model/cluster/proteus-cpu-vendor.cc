/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cpu-vendor.h"

#include "ns3/proteus-enum-names.h"

#include <map>
#include <optional>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr EnumNames<CpuVendor, 5> NAMES{"vendor of a CPU",
                                        {{CpuVendor::INTEL, "intel"},
                                         {CpuVendor::AMD, "amd"},
                                         {CpuVendor::ARM, "arm"},
                                         {CpuVendor::POWER, "power"},
                                         {CpuVendor::OTHER, "other"}}};

} // namespace

const char*
ToString(CpuVendor vendor)
{
    return NAMES.Get(vendor);
}

CpuVendor
CpuVendorFromString(const std::string& text)
{
    return NAMES.Parse(text);
}

std::vector<std::string>
GetCpuVendors()
{
    return NAMES.List();
}

namespace
{

/// @param vertex any @return who made it, if it is a CPU whose model says so
std::optional<CpuVendor>
FindVendorOf(const Vertex& vertex)
{
    if (vertex.kind != VertexKind::CPU)
    {
        return std::nullopt;
    }
    for (const auto& [vendor, name] : NAMES.GetAll())
    {
        if (vertex.model.rfind(name, 0) == 0)
        {
            return vendor;
        }
    }
    return std::nullopt;
}

} // namespace

CpuVendor
FindCpuVendor(const Cluster& cluster, const std::vector<VertexId>& vertices)
{
    const auto& all = cluster.GetVertices();
    const int32_t server = vertices.empty() ? 0 : all[vertices.front()].server;
    for (const Vertex& vertex : all)
    {
        const auto vendor = vertex.server == server ? FindVendorOf(vertex) : std::nullopt;
        if (vendor)
        {
            return *vendor;
        }
    }
    return CpuVendor::INTEL;
}

CpuVendor
FindCpuVendor(const std::string& said,
              const Cluster& cluster,
              const std::vector<VertexId>& vertices)
{
    return said.empty() ? FindCpuVendor(cluster, vertices) : CpuVendorFromString(said);
}

std::vector<CpuVendor>
ListCpuVendors(const std::string& said, const Cluster& cluster)
{
    std::map<int32_t, CpuVendor> ofServer;
    for (const Vertex& vertex : cluster.GetVertices())
    {
        const auto vendor = FindVendorOf(vertex);
        if (vendor)
        {
            ofServer.emplace(vertex.server, *vendor); // the first one of a server counts
        }
    }
    std::vector<CpuVendor> vendors;
    for (const VertexId gpu : cluster.GetGpus())
    {
        const auto found = ofServer.find(cluster.GetVertices()[gpu].server);
        vendors.push_back(!said.empty()             ? CpuVendorFromString(said)
                          : found == ofServer.end() ? CpuVendor::INTEL
                                                    : found->second);
    }
    return vendors;
}

} // namespace proteus
} // namespace ns3
