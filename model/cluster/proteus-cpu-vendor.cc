/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cpu-vendor.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

const std::array<std::pair<const char*, CpuVendor>, 5> NAMES{{{"intel", CpuVendor::INTEL},
                                                              {"amd", CpuVendor::AMD},
                                                              {"arm", CpuVendor::ARM},
                                                              {"power", CpuVendor::POWER},
                                                              {"other", CpuVendor::OTHER}}};

} // namespace

const char*
ToString(CpuVendor vendor)
{
    return NAMES.at(static_cast<std::size_t>(vendor)).first;
}

CpuVendor
CpuVendorFromString(const std::string& text)
{
    std::string known;
    for (const auto& [name, vendor] : NAMES)
    {
        if (text == name)
        {
            return vendor;
        }
        known += (known.empty() ? "" : ", ") + std::string(name);
    }
    throw std::invalid_argument("unknown vendor of a CPU \"" + text + "\"; known are " + known);
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
        for (const auto& [name, vendor] : NAMES)
        {
            if (vertex.model.rfind(name, 0) == 0)
            {
                return vendor;
            }
        }
    }
    return CpuVendor::INTEL;
}

} // namespace proteus
} // namespace ns3
