/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-mesh.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

std::string
GetLayerRole(const std::string& name)
{
    for (const std::string prefix : {"ep-", "edp-"})
    {
        if (name.rfind(prefix, 0) == 0)
        {
            return name.substr(prefix.size());
        }
    }
    return name;
}

bool
IsExpertAxis(const std::string& name)
{
    return name == "ep" || name.rfind("ep-", 0) == 0;
}

DeviceMesh::DeviceMesh(std::vector<uint32_t> sizes,
                       std::vector<DeviceId> devices,
                       std::vector<std::string> names)
    : m_sizes(std::move(sizes)),
      m_devices(std::move(devices)),
      m_names(std::move(names)),
      m_strides(m_sizes.size())
{
    uint64_t number = 1;
    for (std::size_t axis = m_sizes.size(); axis-- > 0;)
    {
        m_strides[axis] = static_cast<uint32_t>(number);
        number *= m_sizes[axis];
        if (m_sizes[axis] == 0 || number > MAX_DEVICES)
        {
            throw std::invalid_argument("a mesh axis of size " + std::to_string(m_sizes[axis]) +
                                        ": a mesh has 1 to " + std::to_string(MAX_DEVICES) +
                                        " devices");
        }
    }
    if (number != m_devices.size())
    {
        throw std::invalid_argument("a mesh whose axes make " + std::to_string(number) +
                                    " places has " + std::to_string(m_devices.size()) + " devices");
    }
    if (m_names.empty())
    {
        m_names.resize(m_sizes.size());
    }
    if (m_names.size() != m_sizes.size())
    {
        throw std::invalid_argument("a mesh of " + std::to_string(m_sizes.size()) + " axes has " +
                                    std::to_string(m_names.size()) + " names for them");
    }
    m_first = *std::min_element(m_devices.begin(), m_devices.end());
    const DeviceId last = *std::max_element(m_devices.begin(), m_devices.end());
    if (last >= MAX_DEVICES)
    {
        throw std::invalid_argument("device " + std::to_string(last) +
                                    " in a mesh: devices are 0 "
                                    "to " +
                                    std::to_string(MAX_DEVICES - 1));
    }
    m_positions.assign(last - m_first + 1, NO_ID);
    for (uint32_t i = 0; i < m_devices.size(); ++i)
    {
        uint32_t& position = m_positions[m_devices[i] - m_first];
        if (position != NO_ID)
        {
            throw std::invalid_argument("device " + std::to_string(m_devices[i]) +
                                        " stands twice in a mesh");
        }
        position = i;
    }
}

uint64_t
DeviceMesh::CountParts(const std::vector<MeshAxis>& axes) const
{
    uint64_t parts = 1;
    for (const MeshAxis axis : axes)
    {
        parts *= m_sizes[axis];
    }
    return parts;
}

uint32_t
DeviceMesh::FindPosition(DeviceId device) const
{
    return device >= m_first && device - m_first < m_positions.size()
               ? m_positions[device - m_first]
               : NO_ID;
}

uint32_t
DeviceMesh::FindAxis(const std::string& name) const
{
    const auto found = std::find(m_names.begin(), m_names.end(), name);
    return found == m_names.end() ? NO_ID : static_cast<uint32_t>(found - m_names.begin());
}

std::vector<uint32_t>
MeshTable::FindStrides(const DeviceMesh& mesh, const Entry& entry)
{
    const std::vector<DeviceId>& devices = mesh.GetDevices();
    std::map<DeviceId, uint32_t> position;
    for (uint32_t i = 0; i < entry.order.size(); ++i)
    {
        position[entry.order[i]] = i;
    }
    std::vector<uint32_t> strides(mesh.GetNAxes());
    for (MeshAxis axis = 0; axis < mesh.GetNAxes(); ++axis)
    {
        // An axis of one has no stride of its own; 1 makes it vanish.
        strides[axis] = mesh.GetSizes()[axis] == 1 ? 1 : position[devices[mesh.GetStride(axis)]];
    }
    for (uint32_t i = 0; i < devices.size(); ++i)
    {
        uint64_t expected = 0;
        for (MeshAxis axis = 0; axis < mesh.GetNAxes(); ++axis)
        {
            expected += uint64_t{mesh.GetCoordinate(i, axis)} * strides[axis];
        }
        if (position[devices[i]] != expected)
        {
            return {};
        }
    }
    return strides;
}

void
MeshTable::Add(const DeviceMesh& mesh)
{
    std::vector<DeviceId> key = mesh.GetDevices();
    std::sort(key.begin(), key.end());
    Entry& entry = m_entries[key];
    if (entry.order.empty())
    {
        // Ascending, unless the first mesh is no mixed radix of that.
        entry.order = key;
        if (mesh.GetNAxes() > 0 && FindStrides(mesh, entry).empty())
        {
            entry.order = mesh.GetDevices();
        }
        entry.cuts = {static_cast<uint32_t>(key.size()), 1};
    }
    const std::vector<uint32_t> strides = FindStrides(mesh, entry);
    std::vector<uint32_t> cuts = entry.cuts;
    for (std::size_t axis = 0; axis < strides.size(); ++axis)
    {
        cuts.push_back(strides[axis]);
        cuts.push_back(strides[axis] * mesh.GetSizes()[axis]);
    }
    std::sort(cuts.begin(), cuts.end(), std::greater<>());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
    {
        if (cuts[i] % cuts[i + 1] != 0)
        {
            return;
        }
    }
    if (strides.empty() && mesh.GetNAxes() > 0)
    {
        return;
    }
    entry.cuts = cuts;
    for (std::size_t axis = 0; axis < strides.size(); ++axis)
    {
        if (!mesh.GetNames()[axis].empty() && mesh.GetSizes()[axis] > 1)
        {
            entry.names.emplace(strides[axis], mesh.GetNames()[axis]);
        }
    }
}

RefinedMesh
MeshTable::KeepOther(const DeviceMesh& mesh, Entry& entry)
{
    RefinedMesh kept;
    for (MeshAxis axis = 0; axis < mesh.GetNAxes(); ++axis)
    {
        kept.axes.push_back({axis});
    }
    for (const MeshPtr& other : entry.others)
    {
        if (other->GetSizes() == mesh.GetSizes() && other->GetDevices() == mesh.GetDevices())
        {
            kept.mesh = other;
            return kept;
        }
    }
    entry.others.push_back(std::make_shared<DeviceMesh>(mesh));
    kept.mesh = entry.others.back();
    return kept;
}

MeshPtr
MeshTable::MakeShared(const Entry& entry)
{
    std::vector<uint32_t> sizes;
    std::vector<std::string> names;
    for (std::size_t i = 0; i + 1 < entry.cuts.size(); ++i)
    {
        sizes.push_back(entry.cuts[i] / entry.cuts[i + 1]);
        // An axis that was cut gives its name to all its pieces.
        auto name = entry.names.upper_bound(entry.cuts[i + 1]);
        names.push_back(name == entry.names.begin() ? "" : std::prev(name)->second);
    }
    return std::make_shared<DeviceMesh>(sizes, entry.order, names);
}

RefinedMesh
MeshTable::Refine(const DeviceMesh& mesh)
{
    std::vector<DeviceId> key = mesh.GetDevices();
    std::sort(key.begin(), key.end());
    Entry& entry = m_entries.at(key);
    const std::vector<uint32_t> strides = FindStrides(mesh, entry);
    bool fits = !strides.empty() || mesh.GetNAxes() == 0;
    for (std::size_t axis = 0; axis < strides.size(); ++axis)
    {
        for (const uint32_t end : {strides[axis], strides[axis] * mesh.GetSizes()[axis]})
        {
            fits = fits && std::count(entry.cuts.begin(), entry.cuts.end(), end) > 0;
        }
    }
    if (!fits)
    {
        return KeepOther(mesh, entry);
    }
    if (!entry.mesh)
    {
        entry.mesh = MakeShared(entry);
    }
    RefinedMesh refined;
    refined.axes.resize(mesh.GetNAxes());
    refined.mesh = entry.mesh;
    for (std::size_t axis = 0; axis < strides.size(); ++axis)
    {
        const uint32_t low = strides[axis];
        const uint32_t high = low * mesh.GetSizes()[axis];
        for (MeshAxis i = 0; i + 1U < entry.cuts.size(); ++i)
        {
            if (entry.cuts[i] <= high && entry.cuts[i + 1] >= low && high > low)
            {
                refined.axes[axis].push_back(i);
            }
        }
    }
    return refined;
}

} // namespace proteus
} // namespace ns3
