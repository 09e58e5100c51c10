/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cpu-vendor.h"

#include "ns3/proteus-enum-names.h"

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

CpuVendor
FindCpuVendor(const Cluster& cluster, const std::vector<VertexId>& vertices)
{
    const auto& all = cluster.GetVertices();
    const int32_t server = vertices.empty() ? 0 : all[vertices.front()].server;
    for (const Vertex& vertex : all)
    {
        if (vertex.kind != VertexKind::CPU || vertex.server != server)
        {
            continue;
        }
        for (const auto& [vendor, name] : NAMES.GetAll())
        {
            if (vertex.model.rfind(name, 0) == 0)
            {
                return vendor;
            }
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

} // namespace proteus
} // namespace ns3
