/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-layout-table.h"

#include <algorithm>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return e.g. "S0 R P", by mesh axis, and the mesh unless it is the operator's
std::string
Describe(const Layout& layout, const MeshPtr& mesh)
{
    std::string states = layout.ToString();
    states = states.substr(1, states.size() - 2);
    states.erase(std::remove(states.begin(), states.end(), ','), states.end());
    if (states.empty())
    {
        states = "R"; // a device alone has no axes
    }
    return layout.mesh == mesh ? states : states + " on " + DescribeMesh(*layout.mesh);
}

std::string
Describe(const Shape& shape)
{
    std::string text;
    for (const uint64_t extent : shape)
    {
        text += (text.empty() ? "" : " x ") + std::to_string(extent);
    }
    return text;
}

/// Writes the part of a line that says how a tensor lies.
void
WriteTensor(std::ostream& stream,
            const PlacedTensor& tensor,
            const Layout& computed,
            const MeshPtr& mesh)
{
    const bool isTrained =
        tensor.tensor.role == TensorRole::PARAMETER && tensor.tensor.needsGradient;
    stream << ',' << tensor.tensor.name << ',' << Describe(tensor.tensor.shape) << ','
           << Describe(computed, mesh) << ',' << Describe(tensor.home, mesh) << ','
           << (tensor.needsGradient ? Describe(tensor.gradient, mesh) : "") << ','
           << (isTrained ? Describe(tensor.optimizer, mesh) : "") << '\n';
}

} // namespace

std::string
DescribeMesh(const DeviceMesh& mesh)
{
    std::string text;
    for (MeshAxis axis = 0; axis < mesh.GetNAxes(); ++axis)
    {
        const std::string& name = mesh.GetNames()[axis];
        text += (axis > 0 ? " " : "") + name + (name.empty() ? "" : "=") +
                std::to_string(mesh.GetSizes()[axis]);
    }
    text += text.empty() ? "" : ":";
    const std::vector<DeviceId>& devices = mesh.GetDevices();
    for (std::size_t i = 0; i < devices.size();)
    {
        std::size_t end = i + 1;
        while (end < devices.size() && devices[end] == devices[end - 1] + 1)
        {
            ++end;
        }
        text += (text.empty() ? "" : " ") + std::to_string(devices[i]) +
                (end > i + 1 ? "-" + std::to_string(devices[end - 1]) : "");
        i = end;
    }
    return text;
}

void
WriteLayoutCsv(std::ostream& stream, const Placement& placement)
{
    stream << "operator,stage,mesh,item,tensor,shape,computed,kept,gradient,state\n";
    for (const PlacedOperator& placed : placement.operators)
    {
        const ModelOperator& op = placed.op;
        const std::string head =
            op.name + ',' + std::to_string(placed.stage) + ',' + DescribeMesh(*placed.mesh) + ',';
        for (std::size_t i = 0; i < op.reads.size(); ++i)
        {
            const PlacedTensor& tensor = placement.tensors[op.reads[i].tensor];
            const std::string& name = tensor.tensor.name;
            stream << head
                   << (tensor.tensor.role == TensorRole::PARAMETER
                           ? name.substr(name.rfind('.') + 1)
                           : "in:" + std::to_string(i));
            WriteTensor(stream, tensor, GetForwardReadLayout(placed, op.reads[i]), placed.mesh);
        }
        for (std::size_t i = 0; i < op.writes.size(); ++i)
        {
            stream << head << "out";
            WriteTensor(stream,
                        placement.tensors[op.writes[i].tensor],
                        GetForwardWriteLayout(placed, op.writes[i]),
                        placed.mesh);
        }
    }
}

} // namespace proteus
} // namespace ns3
