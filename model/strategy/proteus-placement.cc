/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-placement.h"

#include "proteus-placer.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-split.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

/// Where an operator goes whose nodes name no stage: behind what it reads, on the same devices
/// unless they name others.
void
Placer::FollowInputs(const ModelOperator& op,
                     const std::vector<Wanted>& before,
                     NodeSpec& spec) const
{
    const NodeSpec* last = nullptr;
    for (const Access& read : op.reads)
    {
        const ModelTensor& tensor = m_model.GetTensor(read.tensor);
        if (tensor.role == TensorRole::ACTIVATION)
        {
            const NodeSpec& other = before[tensor.producer].spec;
            last = other.stage && (!last || *other.stage > *last->stage) ? &other : last;
        }
    }
    if (last)
    {
        spec.stage = last->stage;
        spec.op.mesh = spec.hasOwnMesh ? spec.op.mesh : last->op.mesh;
    }
}

/// A split of a node above holds where operator and mesh have what it names.
std::vector<SplitSpec>
Placer::FindInherited(const ModelOperator& op, const DeviceMesh& mesh, const NodeSpec& spec)
{
    std::vector<SplitSpec> inherited;
    for (const SplitSpec& split : spec.inherited)
    {
        const uint32_t dimension = op.FindDimension(split.dimension);
        const bool hasAxes =
            std::all_of(split.axes.begin(), split.axes.end(), [&](const std::string& axis) {
                return mesh.FindAxis(axis) != NO_ID;
            });
        const SplitUse use = dimension == NO_ID                       ? SplitUse::NO_DIMENSION
                             : !op.dimensions[dimension].isSplittable ? SplitUse::UNSPLITTABLE
                             : !hasAxes                               ? SplitUse::NO_AXIS
                                                                      : SplitUse::USED;
        SplitUse& best = m_usedSplits[{spec.ancestor, split.dimension}];
        best = std::max(best, use);
        if (hasAxes && dimension != NO_ID)
        {
            inherited.push_back(split);
        }
    }
    return inherited;
}

/// @param before what the operators before this one want
Wanted
Placer::ReadSpec(const ModelOperator& op, const std::vector<Wanted>& before)
{
    Wanted wanted;
    wanted.spec = FindNodeSpec(m_tree, op.name);
    if (!wanted.spec.stage)
    {
        FollowInputs(op, before, wanted.spec);
    }
    std::map<std::string, uint32_t> order;
    for (uint32_t i = 0; i < op.dimensions.size(); ++i)
    {
        order.emplace(op.dimensions[i].name, i);
        order.emplace(std::to_string(i), i);
    }
    try
    {
        const MeshSpec everywhere;
        const DeviceMesh mesh =
            MakeMesh(m_tree, wanted.spec.op.mesh ? *wanted.spec.op.mesh : everywhere);
        static const std::vector<SplitSpec> none;
        wanted.own = MakeConfig(mesh, wanted.spec.op.splits ? *wanted.spec.op.splits : none, order);
        // An empty list of its own asks for replicas.
        wanted.own.isComplete = wanted.own.isComplete || wanted.spec.op.isComplete ||
                                (wanted.spec.op.splits && wanted.spec.op.splits->empty());
        const std::vector<SplitSpec> inherited = FindInherited(op, mesh, wanted.spec);
        wanted.inherited = MakeConfig(mesh, wanted.own.isComplete ? none : inherited, order);
        for (const auto& [item, config] : wanted.spec.items)
        {
            if (config.splits)
            {
                std::map<std::string, uint32_t> numbers;
                for (uint32_t i = 0; i < 16; ++i)
                {
                    numbers.emplace(std::to_string(i), i);
                }
                numbers.insert(order.begin(), order.end());
                wanted.items[item] = MakeConfig(config.mesh ? MakeMesh(m_tree, *config.mesh) : mesh,
                                                *config.splits,
                                                numbers);
            }
            else if (config.mesh)
            {
                wanted.items[item] = MakeConfig(MakeMesh(m_tree, *config.mesh), none, {});
            }
        }
    }
    catch (const std::invalid_argument& error)
    {
        Fail(wanted, op, error.what());
    }
    for (const MeshConfig* config : {&wanted.own, &wanted.inherited})
    {
        m_meshes.Add(config->mesh);
    }
    for (const auto& [item, config] : wanted.items)
    {
        m_meshes.Add(config.mesh);
    }
    return wanted;
}

Refined
Placer::Refine(const MeshConfig& config)
{
    const RefinedMesh mesh = m_meshes.Refine(config.mesh);
    Refined refined;
    refined.mesh = mesh.mesh;
    refined.isComplete = config.isComplete;
    for (const auto& [dimension, axes] : config.splits)
    {
        std::vector<MeshAxis> pieces;
        for (const MeshAxis axis : axes)
        {
            pieces.insert(pieces.end(), mesh.axes[axis].begin(), mesh.axes[axis].end());
        }
        refined.splits.emplace_back(dimension, pieces);
    }
    return refined;
}

/// Gives axes to a dimension, which must not have been given away.
void
Placer::Assign(PlacedOperator& placed,
               const Wanted& wanted,
               uint32_t dimension,
               const std::vector<MeshAxis>& axes) const
{
    for (const MeshAxis axis : axes)
    {
        for (std::size_t i = 0; i < placed.axes.size(); ++i)
        {
            const auto& used = placed.axes[i];
            if (std::find(used.begin(), used.end(), axis) != used.end())
            {
                Fail(wanted,
                     placed.op,
                     "dimensions " + placed.op.dimensions[i].name + " and " +
                         placed.op.dimensions[dimension].name +
                         " are split over the same mesh "
                         "axis");
            }
        }
        placed.axes[dimension].push_back(axis);
    }
}

void
Placer::FailUneven(const Wanted& wanted,
                   const ModelOperator& op,
                   const std::string& dimension,
                   uint64_t extent,
                   uint64_t parts,
                   const DeviceMesh& mesh,
                   const std::vector<MeshAxis>& axes) const
{
    std::string splits;
    for (const MeshAxis axis : axes)
    {
        const uint32_t size = mesh.GetSizes()[axis];
        if (const std::string& name = mesh.GetNames()[axis]; size > 1 && !name.empty())
        {
            splits += (splits.empty() ? "" : ", ") + name + " = " + std::to_string(size);
        }
    }
    Fail(wanted,
         op,
         dimension + " of " + std::to_string(extent) + " cannot be split into " +
             std::to_string(parts) + " equal parts" + (splits.empty() ? "" : " (" + splits + ")"));
}

void
Placer::CheckExtents(const PlacedOperator& placed, const Wanted& wanted) const
{
    for (std::size_t i = 0; i < placed.axes.size(); ++i)
    {
        const IterationDimension& dimension = placed.op.dimensions[i];
        const uint64_t parts = placed.mesh->CountParts(placed.axes[i]);
        if (parts > 1 && !dimension.isSplittable)
        {
            Fail(wanted,
                 placed.op,
                 "dimension " + dimension.name + " cannot be split: a " + placed.op.kind +
                     " needs it whole");
        }
        const bool isUneven = dimension.extent % parts != 0;
        if (parts > dimension.extent ||
            (isUneven && !(m_tree.isUnevenAllowed && dimension.isUnevenAllowed)))
        {
            FailUneven(wanted,
                       placed.op,
                       "dimension " + dimension.name,
                       dimension.extent,
                       parts,
                       *placed.mesh,
                       placed.axes[i]);
        }
    }
}

void
Placer::InferFromInputs(PlacedOperator& placed, const Wanted& wanted) const
{
    std::set<MeshAxis> open;
    for (MeshAxis axis = 0; axis < placed.mesh->GetNAxes(); ++axis)
    {
        open.insert(axis);
    }
    for (const auto& axes : placed.axes)
    {
        for (const MeshAxis axis : axes)
        {
            open.erase(axis);
        }
    }
    for (const Access& read : placed.op.reads)
    {
        if (m_model.GetTensor(read.tensor).role != TensorRole::ACTIVATION)
        {
            continue;
        }
        const PlacedTensor& tensor = m_placement.tensors[m_tensorOf[read.tensor]];
        if (tensor.home.mesh->GetSizes() != placed.mesh->GetSizes())
        {
            continue; // on other devices: axis by axis where the meshes are alike
        }
        for (std::size_t i = 0; i < read.map.size(); ++i)
        {
            // A set of tokens says nothing about where its tokens come from.
            if (read.map[i].size() != 1 || !placed.op.dimensions[read.map[i][0]].isSplittable)
            {
                continue;
            }
            for (const MeshAxis axis : tensor.home.split[i])
            {
                if (open.erase(axis))
                {
                    Assign(placed, wanted, read.map[i][0], {axis});
                }
            }
        }
    }
}

void
Placer::PlaceOperator(const ModelOperator& source, const Wanted& wanted)
{
    PlacedOperator placed;
    placed.op = source;
    placed.stage = wanted.spec.stage.value_or(0);
    placed.recompute = wanted.spec.recompute;
    placed.keeps = wanted.spec.keeps;
    if (placed.keeps && placed.recompute.empty())
    {
        Fail(wanted, source, "keeps its results (keep), but is in no block that is computed again");
    }
    placed.axes.resize(source.dimensions.size());
    const Refined own = Refine(wanted.own);
    placed.mesh = own.mesh;
    for (const auto& [name, axes] : own.splits)
    {
        const uint32_t dimension = source.FindDimension(name);
        if (dimension == NO_ID)
        {
            std::string known;
            for (const IterationDimension& other : source.dimensions)
            {
                AppendName(known, other.name);
            }
            Fail(wanted, source, "has no dimension " + name + ", but " + known);
        }
        Assign(placed, wanted, dimension, axes);
    }
    if (!own.isComplete)
    {
        InferFromInputs(placed, wanted);
        const Refined inherited = Refine(wanted.inherited);
        for (const auto& [name, axes] : inherited.splits)
        {
            const uint32_t dimension = source.FindDimension(name);
            if (inherited.mesh != placed.mesh || !source.dimensions[dimension].isSplittable)
            {
                continue;
            }
            for (const MeshAxis axis : axes)
            {
                const bool isTaken =
                    std::any_of(placed.axes.begin(),
                                placed.axes.end(),
                                [&](const std::vector<MeshAxis>& used) {
                                    return std::find(used.begin(), used.end(), axis) != used.end();
                                });
                if (!isTaken)
                {
                    placed.axes[dimension].push_back(axis);
                }
            }
        }
    }
    CheckExtents(placed, wanted);
    PlaceReads(placed, wanted);
    PassPartialSums(placed);
    PlaceWrites(placed, wanted);
    for (const Access& read : placed.op.reads)
    {
        m_placement.tensors[read.tensor].readers.push_back(
            static_cast<OperatorId>(m_placement.operators.size()));
    }
    m_placement.operators.push_back(std::move(placed));
}

/// Checks that what a node passes on is for some operator.
void
Placer::CheckSplits(const StrategyNode& node, const std::string& who) const
{
    for (const SplitSpec& split : node.op.splits.value_or(std::vector<SplitSpec>()))
    {
        const auto found = m_usedSplits.find({&node, split.dimension});
        if (found == m_usedSplits.end() || found->second == SplitUse::USED)
        {
            continue;
        }
        const std::string dimension = "dimension " + split.dimension;
        if (found->second == SplitUse::NO_DIMENSION)
        {
            throw StrategyNodeError(node, who + "none of its operators has a " + dimension);
        }
        if (found->second == SplitUse::UNSPLITTABLE)
        {
            throw StrategyNodeError(node,
                                    who + dimension +
                                        " cannot be split: all of its operators need it whole");
        }
        throw StrategyNodeError(node,
                                who + dimension + " is to be split over the mesh axis \"" +
                                    split.axes.front() +
                                    "\", which the meshes of its operators do not have");
    }
}

/// @param node that is for some operators, which may have ranges in its name
/// @return the end of a range that none of these operators has, or empty
std::string
Placer::FindBeyond(const StrategyNode& node) const
{
    const auto isThere = [&](const std::string& pattern) {
        const auto& operators = m_model.GetOperators();
        return std::any_of(operators.begin(), operators.end(), [&](const ModelOperator& op) {
            const auto nodes = FindNodeSpec(m_tree, op.name).nodes;
            const auto parts = SplitList(op.name, '.');
            return std::find(nodes.begin(), nodes.end(), &node) != nodes.end() &&
                   std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
                       return MatchesPattern(pattern, part);
                   });
        });
    };
    const std::string& name = node.name;
    for (std::size_t at = name.find('{'); at != std::string::npos; at = name.find('{', at + 1))
    {
        const std::size_t dots = name.find("..", at);
        const std::size_t close = name.find('}', dots);
        for (const std::string& end :
             {name.substr(at + 1, dots - at - 1), name.substr(dots + 2, close - dots - 2)})
        {
            if (!isThere(name.substr(0, at + 1) + end + ".." + end + name.substr(close)))
            {
                return end;
            }
        }
    }
    return "";
}

/// Checks that what a node and those below it say is for some operator.
void
Placer::CheckUse(const StrategyNode& node, const std::string& path) const
{
    const std::string who =
        "strategy \"" + m_tree.name + "\", node " + (path.empty() ? "root" : path) + ": ";
    if (m_matched.count(&node) == 0)
    {
        throw StrategyNodeError(node,
                                who + "model " + m_model.GetName() +
                                    " has no operator of that name");
    }
    if (const std::string beyond = FindBeyond(node); !beyond.empty())
    {
        throw StrategyNodeError(node,
                                who + "model " + m_model.GetName() + " has no operator of number " +
                                    beyond + "; * stands for all that there are");
    }
    for (const auto& [item, spec] : node.items)
    {
        if (m_usedItems.count({&node, item}) == 0)
        {
            throw StrategyNodeError(node,
                                    who + "none of its operators has an item \"" + item +
                                        "\"; there are out, out_grad, in:0 and, of parameters, "
                                        "e.g. weight, weight_grad, weight_state");
        }
    }
    CheckSplits(node, who);
    for (const StrategyNode& child : node.children)
    {
        CheckUse(child, path + (path.empty() ? "" : "/") + child.name);
    }
}

/// Checks that there is something that ZeRO can share over.
void
Placer::CheckZero(const std::vector<Wanted>& wanted) const
{
    const OptimizerSpec& optimizer = m_tree.optimizer;
    if (optimizer.zero == 0)
    {
        return;
    }
    const std::string who = "strategy \"" + m_tree.name + "\", optimizer, zero " +
                            std::to_string(optimizer.zero) + ": ";
    std::set<std::string> known(m_tree.axisNames.begin(), m_tree.axisNames.end());
    for (const Wanted& one : wanted)
    {
        known.insert(one.own.mesh.GetNames().begin(), one.own.mesh.GetNames().end());
    }
    known.erase(""); // axes may have no name
    const std::string names = ListNames(known);
    if (optimizer.zeroAxes.empty())
    {
        throw StrategyError(who + "zeroAxes does not say which mesh axes share; there are " +
                            (names.empty() ? "none with a name" : names));
    }
    for (const auto& [key, axes] : {std::pair{"zeroAxes", &optimizer.zeroAxes},
                                    std::pair{"expertZeroAxes", &optimizer.expertZeroAxes}})
    {
        for (const std::string& axis : *axes)
        {
            if (known.count(axis) == 0)
            {
                throw StrategyError(who + "mesh axis \"" + axis + "\" of " + key +
                                    " does not exist; there are " +
                                    (names.empty() ? "none with a name" : names));
            }
        }
    }
}

Placement
Placer::Place()
{
    std::vector<Wanted> wanted;
    for (const ModelOperator& op : m_model.GetOperators())
    {
        wanted.push_back(ReadSpec(op, wanted));
    }
    m_tensorOf.assign(m_model.GetTensors().size(), NO_ID);
    for (std::size_t i = 0; i < wanted.size(); ++i)
    {
        m_matched.insert(wanted[i].spec.nodes.begin(), wanted[i].spec.nodes.end());
        PlaceOperator(m_model.GetOperators()[i], wanted[i]);
    }
    CheckUse(m_tree.root, "");
    CheckZero(wanted);
    DeviceId last = 0;
    uint64_t all = 1;
    for (const uint32_t size : m_tree.axisSizes)
    {
        all *= size;
    }
    std::vector<std::set<DeviceId>> stages;
    for (const PlacedOperator& placed : m_placement.operators)
    {
        const std::vector<DeviceId>& devices = placed.mesh->GetDevices();
        last = std::max(last, *std::max_element(devices.begin(), devices.end()));
        stages.resize(std::max<std::size_t>(stages.size(), placed.stage + 1));
        stages[placed.stage].insert(devices.begin(), devices.end());
    }
    for (const PlacedTensor& tensor : m_placement.tensors)
    {
        for (const Layout* layout : {&tensor.home, &tensor.gradient})
        {
            const std::vector<DeviceId>& devices = layout->mesh->GetDevices();
            last = std::max(last, *std::max_element(devices.begin(), devices.end()));
        }
    }
    m_placement.nStages = static_cast<uint32_t>(stages.size());
    m_placement.nDevices = std::max<uint32_t>(last + 1, static_cast<uint32_t>(all));
    for (uint32_t stage = 0; stage < m_placement.nStages; ++stage)
    {
        m_placement.stageDevices.emplace_back(stages[stage].begin(), stages[stage].end());
        if (stages[stage].empty())
        {
            throw StrategyError("strategy \"" + m_tree.name + "\": stage " + std::to_string(stage) +
                                " has no operator, so that its devices are unknown; " +
                                std::to_string(m_placement.nStages) + " stages are named");
        }
    }
    return std::move(m_placement);
}

Placement
PlaceModel(const Model& model, const StrategyTree& tree)
{
    return Placer(model, tree).Place();
}

bool
MakesResultsOnly(const Placement& placement, const PlacedOperator& op)
{
    return std::all_of(op.op.writes.begin(), op.op.writes.end(), [&](const Access& write) {
        const PlacedTensor& tensor = placement.tensors[write.tensor];
        const bool isUnread =
            tensor.readers.empty() && tensor.tensor.role == TensorRole::ACTIVATION;
        return isUnread ||
               std::any_of(tensor.readers.begin(), tensor.readers.end(), [&](OperatorId reader) {
                   return placement.operators[reader].recompute != op.recompute;
               });
    });
}

Layout
GetAccessLayout(const PlacedOperator& op, const Access& access)
{
    Layout layout;
    layout.mesh = op.mesh;
    for (const std::vector<IterationAxis>& dimensions : access.map)
    {
        std::vector<MeshAxis> axes;
        for (const IterationAxis dimension : dimensions)
        {
            axes.insert(axes.end(), op.axes[dimension].begin(), op.axes[dimension].end());
        }
        if (dimensions.size() > 1)
        {
            // A set of tokens has no order of its own. What experts share goes last, from where an
            // all-to-all takes it.
            std::sort(axes.begin(), axes.end());
            std::stable_partition(axes.begin(), axes.end(), [&](MeshAxis axis) {
                return !IsExpertAxis(op.mesh->GetNames()[axis]);
            });
        }
        layout.split.push_back(std::move(axes));
    }
    return layout;
}

Layout
GetForwardReadLayout(const PlacedOperator& op, const Access& read)
{
    Layout layout = GetAccessLayout(op, read);
    layout.partial = op.partial; // only operators all of whose reads are summed pass any on
    return layout;
}

Layout
GetForwardWriteLayout(const PlacedOperator& op, const Access& write)
{
    std::vector<const Access*> summands;
    for (const uint8_t summand : write.summands)
    {
        summands.push_back(&op.op.reads[summand]);
    }
    Layout layout = GetResultLayout(op, write, summands);
    layout.partial.insert(layout.partial.end(), op.partial.begin(), op.partial.end());
    std::sort(layout.partial.begin(), layout.partial.end());
    return layout;
}

Layout
GetResultLayout(const PlacedOperator& op,
                const Access& target,
                const std::vector<const Access*>& summands)
{
    Layout layout = GetAccessLayout(op, target);
    std::set<IterationAxis> kept;
    for (const std::vector<IterationAxis>& dimensions : target.map)
    {
        kept.insert(dimensions.begin(), dimensions.end());
    }
    std::set<MeshAxis> partial;
    for (const Access* summand : summands)
    {
        for (const std::vector<IterationAxis>& dimensions : summand->map)
        {
            for (const IterationAxis dimension : dimensions)
            {
                if (!kept.count(dimension))
                {
                    partial.insert(op.axes[dimension].begin(), op.axes[dimension].end());
                }
            }
        }
    }
    layout.partial.assign(partial.begin(), partial.end());
    return layout;
}

} // namespace proteus
} // namespace ns3
