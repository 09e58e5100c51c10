/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-placer.h"

#include <algorithm>
#include <set>

namespace ns3
{
namespace proteus
{

/// The layout that a node asks for, of an item.
std::optional<Layout>
Placer::FindItem(const Wanted& wanted,
                 const ModelOperator& op,
                 const std::string& item,
                 const ModelTensor& tensor,
                 const MeshPtr& mesh)
{
    const auto found = wanted.items.find(item);
    if (found == wanted.items.end())
    {
        return std::nullopt;
    }
    for (const StrategyNode* node : wanted.spec.nodes)
    {
        m_usedItems.emplace(node, item);
    }
    const Refined refined = Refine(found->second);
    Layout layout;
    layout.mesh = found->second.splits.empty() && !refined.mesh ? mesh : refined.mesh;
    layout.split.resize(tensor.shape.size());
    std::set<MeshAxis> used;
    for (const auto& [dimension, axes] : refined.splits)
    {
        std::size_t i = 0;
        while (i < tensor.shape.size() && tensor.dimensions[i] != dimension &&
               std::to_string(i) != dimension)
        {
            ++i;
        }
        if (i == tensor.shape.size())
        {
            Fail(wanted,
                 op,
                 item + ": tensor \"" + tensor.name + "\" has no dimension " + dimension);
        }
        for (const MeshAxis axis : axes)
        {
            if (!used.insert(axis).second)
            {
                Fail(wanted, op, item + ": dimension " + dimension + " takes a mesh axis twice");
            }
            layout.split[i].push_back(axis);
        }
        const uint64_t parts = layout.GetParts(i);
        if (parts > tensor.shape[i] || (tensor.shape[i] % parts != 0 && !m_tree.isUnevenAllowed))
        {
            FailUneven(wanted,
                       op,
                       item + ": dimension " + dimension,
                       tensor.shape[i],
                       parts,
                       *layout.mesh,
                       layout.split[i]);
        }
    }
    return layout;
}

TensorId
Placer::AddTensor(const ModelTensor& tensor, const Layout& home, uint32_t stage)
{
    PlacedTensor placed;
    placed.tensor = tensor;
    placed.home = home;
    placed.gradient = home;
    placed.gradient.partial.clear(); // that of a partial sum is the same everywhere
    placed.optimizer = placed.gradient;
    placed.stage = stage;
    m_placement.tensors.push_back(placed);
    return static_cast<TensorId>(m_placement.tensors.size() - 1);
}

/// Lets the replicas of a parameter share it, its gradient, or its optimizer state.
/// @param axisNames of the axes along which they are
void
Placer::ShareWithReplicas(PlacedTensor& tensor,
                          const MeshPtr& mesh,
                          const std::vector<std::string>& axisNames) const
{
    const Layout whole = tensor.home;
    Layout shared = whole;
    std::vector<MeshAxis> axes;
    for (MeshAxis axis = 0; axis < mesh->GetNAxes(); ++axis)
    {
        if (whole.mesh == mesh && whole.FindDimension(axis) == NO_ID &&
            std::find(axisNames.begin(), axisNames.end(), mesh->GetNames()[axis]) !=
                axisNames.end())
        {
            axes.push_back(axis);
        }
    }
    if (axes.empty())
    {
        return;
    }
    const uint64_t parts = mesh->CountParts(axes);
    // Shared along the first dimension that all can share evenly, or else along the first that is
    // not split yet, unevenly. A tensor with neither, like a bias that is split, is not shared.
    std::size_t dimension = tensor.tensor.shape.size();
    for (const bool isEven : {true, false})
    {
        for (std::size_t i = 0; i < tensor.tensor.shape.size(); ++i)
        {
            const uint64_t extent = tensor.tensor.shape[i];
            const bool fits = isEven ? extent % (parts * whole.GetParts(i)) == 0
                                     : whole.GetParts(i) == 1 && extent >= parts;
            if (fits && dimension == tensor.tensor.shape.size())
            {
                dimension = i;
            }
        }
    }
    if (dimension == tensor.tensor.shape.size())
    {
        return;
    }
    shared.split[dimension].insert(shared.split[dimension].end(), axes.begin(), axes.end());
    tensor.optimizer = shared;
    if (m_tree.optimizer.zero >= 2)
    {
        tensor.gradient = shared;
    }
    if (m_tree.optimizer.zero >= 3)
    {
        tensor.home = shared;
    }
}

namespace
{

/// @return how a tensor comes to the devices of a reader: as it lies, where these are as many in
/// the same order and the reader has less of it split, so that each sends what it has, and what the
/// reader needs is gathered there; else as the reader needs it
Layout
FindArrival(const PlacedTensor& tensor, const PlacedOperator& reader, const Access& access)
{
    Layout wanted = GetAccessLayout(reader, access);
    const Layout& home = tensor.home;
    const Shape& shape = tensor.tensor.shape;
    if (tensor.tensor.role != TensorRole::PARAMETER && tensor.tensor.role != TensorRole::INPUT &&
        home.mesh && home.partial.empty() && home.mesh->GetSizes() == wanted.mesh->GetSizes() &&
        home.CountLocal(shape, 0) < wanted.CountLocal(shape, 0))
    {
        wanted.split = home.split;
    }
    return wanted;
}

} // namespace

/// The tensor as it is for a reader on other devices than its own.
TensorId
Placer::CopyTo(TensorId tensor, const PlacedOperator& reader, const Access& access)
{
    const auto found = m_copies.find({tensor, reader.mesh});
    if (found != m_copies.end())
    {
        return found->second;
    }
    const ModelTensor source = m_placement.tensors[tensor].tensor;
    const Layout layout = FindArrival(m_placement.tensors[tensor], reader, access);
    ModelTensor copy = source;
    copy.name += ".stage" + std::to_string(reader.stage);
    const TensorId id = AddTensor(copy, layout, reader.stage);
    m_placement.tensors[id].needsGradient = m_placement.tensors[tensor].needsGradient;
    m_copies[{tensor, reader.mesh}] = id;
    if (source.role == TensorRole::PARAMETER)
    {
        Tie(tensor, id);
    }
    else if (source.role != TensorRole::INPUT) // every stage is fed what it needs
    {
        AddTransfer(tensor, id, reader);
    }
    return id;
}

/// Notes that a copy of a parameter has its value.
void
Placer::Tie(TensorId parameter, TensorId copy)
{
    for (std::vector<TensorId>& tie : m_placement.ties)
    {
        if (tie[0] == parameter)
        {
            tie.push_back(copy);
            return;
        }
    }
    m_placement.ties.push_back({parameter, copy});
}

/// Adds the operator that brings a tensor, and its gradient back, to the devices of a reader.
void
Placer::AddTransfer(TensorId tensor, TensorId copy, const PlacedOperator& reader)
{
    const ModelTensor& source = m_placement.tensors[tensor].tensor;
    PlacedOperator transfer;
    transfer.op.name = m_placement.tensors[copy].tensor.name;
    transfer.op.kind = "transfer";
    transfer.op.isView = true;
    transfer.mesh = reader.mesh;
    transfer.stage = reader.stage;
    transfer.isTransfer = true;
    transfer.axes = m_placement.tensors[copy].home.split;
    DimensionMap map;
    for (IterationAxis i = 0; i < source.shape.size(); ++i)
    {
        transfer.op.dimensions.push_back({source.dimensions[i], source.shape[i], true, true});
        map.push_back({i});
    }
    Access read;
    read.tensor = tensor;
    read.map = map;
    read.isDifferentiable = m_placement.tensors[tensor].needsGradient;
    Access write = read;
    write.tensor = copy;
    transfer.op.reads = {read};
    transfer.op.writes = {write};
    OperatorPart part;
    part.name = "backward";
    part.reads = {{DataReference::Kind::GRADIENT, 0}};
    part.writes = {{0, part.reads, 1}};
    part.isView = true;
    if (read.isDifferentiable)
    {
        transfer.op.backward = {part};
    }
    const auto id = static_cast<OperatorId>(m_placement.operators.size());
    m_placement.tensors[tensor].readers.push_back(id);
    m_placement.tensors[copy].tensor.producer = id;
    m_placement.operators.push_back(transfer);
}

/// Lays out the optimizer's state of a parameter. A device updates what it has the gradient of.
void
Placer::SetState(PlacedTensor& tensor,
                 const PlacedOperator& placed,
                 const Wanted& wanted,
                 const std::string& item)
{
    if (const auto layout =
            FindItem(wanted, placed.op, item + "_state", tensor.tensor, placed.mesh))
    {
        tensor.optimizer = *layout;
    }
    bool isRefined = tensor.gradient.mesh == tensor.optimizer.mesh;
    for (std::size_t i = 0; isRefined && i < tensor.tensor.shape.size(); ++i)
    {
        const std::vector<MeshAxis>& gradient = tensor.gradient.split[i];
        const std::vector<MeshAxis>& state = tensor.optimizer.split[i];
        isRefined = gradient.size() <= state.size() &&
                    std::equal(gradient.begin(), gradient.end(), state.begin());
    }
    if (!isRefined)
    {
        Fail(wanted,
             placed.op,
             item + ": its optimizer state lies as " + tensor.optimizer.ToString() +
                 ", its gradient as " + tensor.gradient.ToString() +
                 "; the state has to be split as the gradient is, or further");
    }
}

/// Lays out gradient and optimizer's state of a parameter at its first reader. @param isAsked
/// whether the strategy says where the parameter lies
void
Placer::PlaceParameter(PlacedTensor& parameter,
                       const PlacedOperator& placed,
                       const Wanted& wanted,
                       const std::string& item,
                       bool isAsked)
{
    parameter.needsGradient = parameter.tensor.needsGradient;
    if (!isAsked && m_tree.optimizer.zero > 0)
    {
        const OptimizerSpec& optimizer = m_tree.optimizer;
        const bool isExpert = placed.op.kind == "expert-linear";
        ShareWithReplicas(parameter,
                          placed.mesh,
                          isExpert && !optimizer.expertZeroAxes.empty() ? optimizer.expertZeroAxes
                                                                        : optimizer.zeroAxes);
    }
    if (const auto layout =
            FindItem(wanted, placed.op, item + "_grad", parameter.tensor, placed.mesh))
    {
        parameter.gradient = *layout;
    }
    SetState(parameter, placed, wanted, item);
}

void
Placer::PlaceReads(PlacedOperator& placed, const Wanted& wanted)
{
    std::vector<TensorId> inputs;
    for (std::size_t i = 0; i < placed.op.reads.size(); ++i)
    {
        Access& read = placed.op.reads[i];
        const ModelTensor& tensor = m_model.GetTensor(read.tensor);
        TensorId& id = m_tensorOf[read.tensor];
        std::string item = "in:" + std::to_string(i);
        if (tensor.role == TensorRole::PARAMETER)
        {
            item = tensor.name.substr(tensor.name.rfind('.') + 1);
        }
        const std::optional<Layout> asked = FindItem(wanted, placed.op, item, tensor, placed.mesh);
        if (asked && tensor.role == TensorRole::PARAMETER && asked->mesh != placed.mesh)
        {
            Fail(wanted,
                 placed.op,
                 item + ": a parameter lies on the devices of its operator, not on others");
        }
        if (id == NO_ID)
        {
            id = AddTensor(tensor, asked ? *asked : GetAccessLayout(placed, read), placed.stage);
        }
        else if (asked && tensor.role == TensorRole::ACTIVATION)
        {
            m_placement.tensors[id].home = m_placement.tensors[id].gradient = *asked;
        }
        TensorId here = id;
        const PlacedTensor& home = m_placement.tensors[id];
        if (tensor.role == TensorRole::ACTIVATION && home.stage > placed.stage)
        {
            Fail(wanted,
                 placed.op,
                 "is on stage " + std::to_string(placed.stage) + " and reads \"" + tensor.name +
                     "\" of stage " + std::to_string(home.stage) +
                     "; stages have to follow the order of the model");
        }
        const bool isElsewhere = home.home.mesh != placed.mesh;
        if (isElsewhere && (home.stage != placed.stage || tensor.role != TensorRole::ACTIVATION))
        {
            here = CopyTo(id, placed, read);
        }
        PlacedTensor& result = m_placement.tensors[here];
        if (tensor.role == TensorRole::PARAMETER && result.readers.empty())
        {
            PlaceParameter(result, placed, wanted, item, asked.has_value());
        }
        read.isDifferentiable = read.isDifferentiable && result.needsGradient;
        read.tensor = here;
    }
}

/// The axes over which a node keeps a result as partial sums, which it has to be made as.
std::vector<MeshAxis>
Placer::FindPartial(const Wanted& wanted,
                    const PlacedOperator& placed,
                    const Layout& home,
                    const Layout& made)
{
    std::vector<MeshAxis> partial;
    const auto found = wanted.spec.items.find("out");
    if (found == wanted.spec.items.end() || found->second.partial.empty())
    {
        return partial;
    }
    for (const StrategyNode* node : wanted.spec.nodes)
    {
        m_usedItems.emplace(node, "out");
    }
    for (const std::string& name : found->second.partial)
    {
        const uint32_t axis = placed.mesh->FindAxis(name);
        if (axis == NO_ID || home.mesh != placed.mesh ||
            std::count(made.partial.begin(), made.partial.end(), axis) == 0 ||
            home.FindDimension(static_cast<MeshAxis>(axis)) != NO_ID)
        {
            Fail(wanted,
                 placed.op,
                 "out: is no partial sum over the mesh axis \"" + name + "\"; it is made as " +
                     made.ToString());
        }
        partial.push_back(static_cast<MeshAxis>(axis));
    }
    std::sort(partial.begin(), partial.end());
    return partial;
}

/// A sum of tensors passes on what are partial sums in all of them.
void
Placer::PassPartialSums(PlacedOperator& placed) const
{
    const std::vector<Access>& reads = placed.op.reads;
    const bool isSum =
        placed.op.writes.size() == 1 && placed.op.writes[0].summands.size() <= 1 &&
        std::all_of(reads.begin(), reads.end(), [](const Access& read) { return read.isLinear; });
    for (MeshAxis axis = 0; isSum && axis < placed.mesh->GetNAxes(); ++axis)
    {
        const bool passes = std::all_of(reads.begin(), reads.end(), [&](const Access& read) {
            const Layout& home = m_placement.tensors[read.tensor].home;
            return home.mesh == placed.mesh &&
                   std::count(home.partial.begin(), home.partial.end(), axis) > 0;
        });
        const bool isFree =
            std::none_of(placed.axes.begin(),
                         placed.axes.end(),
                         [&](const std::vector<MeshAxis>& axes) {
                             return std::find(axes.begin(), axes.end(), axis) != axes.end();
                         });
        if (passes && isFree)
        {
            placed.partial.push_back(axis);
        }
    }
}

void
Placer::PlaceWrites(PlacedOperator& placed, const Wanted& wanted)
{
    bool isTrained = false;
    for (const Access& read : placed.op.reads)
    {
        isTrained = isTrained || read.isDifferentiable;
    }
    for (std::size_t i = 0; i < placed.op.writes.size(); ++i)
    {
        Access& write = placed.op.writes[i];
        const ModelTensor& tensor = m_model.GetTensor(write.tensor);
        const bool isResult = tensor.role == TensorRole::ACTIVATION;
        const std::optional<Layout> asked =
            isResult ? FindItem(wanted, placed.op, "out", tensor, placed.mesh) : std::nullopt;
        Layout home = asked ? *asked : GetAccessLayout(placed, write);
        if (isResult)
        {
            home.partial = FindPartial(wanted, placed, home, GetForwardWriteLayout(placed, write));
        }
        const TensorId id = AddTensor(tensor, home, placed.stage);
        m_tensorOf[write.tensor] = id;
        write.tensor = id;
        PlacedTensor& result = m_placement.tensors[id];
        result.tensor.producer = static_cast<OperatorId>(m_placement.operators.size());
        result.needsGradient = isResult && isTrained && !placed.op.backward.empty();
        if (isResult)
        {
            if (const auto layout = FindItem(wanted, placed.op, "out_grad", tensor, placed.mesh))
            {
                result.gradient = *layout;
            }
        }
    }
}

} // namespace proteus
} // namespace ns3
