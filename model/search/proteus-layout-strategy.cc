/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-layout-strategy.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return the node of a path, made where it is not there
StrategyNode&
FindNode(StrategyNode& root, const std::string& path)
{
    StrategyNode* node = &root;
    for (std::size_t begin = 0; begin <= path.size();)
    {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        const std::string part = path.substr(begin, end - begin);
        auto found = std::find_if(node->children.begin(),
                                  node->children.end(),
                                  [&](const StrategyNode& child) { return child.name == part; });
        if (found == node->children.end())
        {
            node->children.emplace_back();
            node->children.back().name = part;
            found = node->children.end() - 1;
        }
        node = &*found;
        begin = end + 1;
    }
    return *node;
}

std::vector<std::string>
GetNames(const DeviceMesh& mesh, const std::vector<MeshAxis>& axes)
{
    std::vector<std::string> names;
    for (const MeshAxis axis : axes)
    {
        names.push_back(mesh.GetNames()[axis]);
    }
    return names;
}

/// Who reads a tensor, and as what.
struct Reader
{
    OperatorId op{0};
    uint32_t read{0};
};

std::vector<std::vector<Reader>>
FindReaders(const Model& model)
{
    std::vector<std::vector<Reader>> readers(model.GetTensors().size());
    for (OperatorId id = 0; id < model.GetOperators().size(); ++id)
    {
        const std::vector<Access>& reads = model.GetOperator(id).reads;
        for (uint32_t i = 0; i < reads.size(); ++i)
        {
            readers[reads[i].tensor].push_back({id, i});
        }
    }
    return readers;
}

/// Says how a result is kept that is made as partial sums.
void
AddResult(StrategyNode& node,
          const LayoutSpace& space,
          const LayoutChoice& choice,
          const Layout& made,
          const std::vector<Reader>& readers,
          const ModelTensor& tensor)
{
    if (made.partial.empty() || readers.empty())
    {
        return;
    }
    auto get = [&](const Reader& reader) -> const Layout& {
        return space.GetCandidates(reader.op)[choice[reader.op]].reads[reader.read];
    };
    Layout home = get(readers[0]);
    std::vector<MeshAxis> partial = home.partial;
    for (const Reader& reader : readers)
    {
        const Layout& layout = get(reader);
        if (layout.partial != partial)
        {
            partial.clear(); // somebody wants the sum: it is made once, for all
        }
    }
    ItemSpec& item = node.items["out"];
    item.splits.emplace();
    const DeviceMesh& mesh = *space.GetOptions().mesh;
    for (std::size_t i = 0; i < home.split.size(); ++i)
    {
        if (!home.split[i].empty())
        {
            item.splits->push_back({tensor.dimensions[i], 0, GetNames(mesh, home.split[i])});
        }
    }
    item.partial = GetNames(mesh, partial);
}

} // namespace

StrategyTree
MakeLayoutStrategy(const LayoutSpace& space, const LayoutChoice& choice, const StrategyTree& base)
{
    const Model& model = space.GetModel();
    const DeviceMesh& mesh = *space.GetOptions().mesh;
    const std::vector<std::vector<Reader>> readers = FindReaders(model);
    StrategyTree tree = base;
    tree.axisNames = mesh.GetNames();
    tree.axisSizes = mesh.GetSizes();
    tree.root = StrategyNode();
    for (OperatorId id = 0; id < model.GetOperators().size(); ++id)
    {
        const ModelOperator& op = model.GetOperator(id);
        const LayoutCandidate& candidate = space.GetCandidates(id)[choice[id]];
        StrategyNode& node = FindNode(tree.root, op.name);
        node.op.splits.emplace();
        node.op.isComplete = true;
        for (std::size_t i = 0; i < candidate.splits.size(); ++i)
        {
            if (!candidate.splits[i].empty())
            {
                node.op.splits->push_back(
                    {op.dimensions[i].name, 0, GetNames(mesh, candidate.splits[i])});
            }
        }
        for (std::size_t i = 0; i < op.writes.size(); ++i)
        {
            const ModelTensor& tensor = model.GetTensor(op.writes[i].tensor);
            if (tensor.role == TensorRole::ACTIVATION && op.writes.size() == 1)
            {
                AddResult(node,
                          space,
                          choice,
                          candidate.writes[i],
                          readers[op.writes[i].tensor],
                          tensor);
            }
        }
    }
    return tree;
}

std::vector<std::vector<uint32_t>>
ListMeshes(uint32_t devices, std::size_t mostAxes)
{
    std::vector<std::vector<uint32_t>> meshes;
    if (devices == 1)
    {
        return {{1}};
    }
    if (mostAxes == 0)
    {
        return meshes;
    }
    meshes.push_back({devices});
    for (uint32_t first = 2; first < devices; ++first)
    {
        if (devices % first != 0)
        {
            continue;
        }
        for (std::vector<uint32_t>& rest : ListMeshes(devices / first, mostAxes - 1))
        {
            rest.insert(rest.begin(), first);
            meshes.push_back(std::move(rest));
        }
    }
    return meshes;
}

namespace
{

MeshPtr
MakeNamedMesh(const std::vector<uint32_t>& sizes)
{
    const std::vector<std::string> known{"dp", "mp"};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < sizes.size(); ++i)
    {
        // Of one or three axes, none has a use of its own.
        names.push_back(sizes.size() == 2 ? known[i] : "axis" + std::to_string(i));
    }
    std::vector<DeviceId> devices(
        std::accumulate(sizes.begin(), sizes.end(), uint64_t{1}, std::multiplies<>()));
    std::iota(devices.begin(), devices.end(), 0);
    return std::make_shared<DeviceMesh>(sizes, devices, names);
}

/// @return the time of all micro-batches; gradients of parameters are reduced while the last
/// backward pass, two thirds of the kernels, goes on, but for the last of them
double
GetSeconds(const LayoutSpace& space, const LayoutProblem& problem, const LayoutChoice& choice)
{
    constexpr double LAST = 0.05; // share of the gradients that are made at the very end
    double gradients = 0;
    double kernels = 0;
    for (OperatorId op = 0; op < choice.size(); ++op)
    {
        const LayoutCandidate& candidate = space.GetCandidates(op)[choice[op]];
        gradients += candidate.gradientCost;
        kernels += candidate.computeCost;
    }
    const double microBatches = 1 / space.GetOptions().gradientWeight;
    const double all = gradients * microBatches; // once per iteration
    const double exposed = std::max(LAST * all, all - 2.0 / 3 * kernels);
    return (problem.GetCost(choice) - gradients) * microBatches + exposed;
}

/// What is best on a mesh, and fits.
std::optional<std::pair<LayoutChoice, std::string>>
FindBest(const LayoutSpace& space)
{
    LayoutSearchOptions options;
    for (const LayoutStart start :
         {LayoutStart::ALL_DATA, LayoutStart::ALL_TENSOR, LayoutStart::MEGATRON})
    {
        options.starts.push_back(space.MakeStart(start));
    }
    const double memoryBytes = space.GetOptions().memoryBytes;
    // From a price so low that it only decides between equals to one at which nothing else counts.
    for (double weight = 0; weight < 1e-3; weight = weight == 0 ? 1e-15 : 4 * weight)
    {
        const LayoutProblem problem = space.MakeProblem(weight);
        LayoutSolution solution;
        std::string method = "reduction";
        try
        {
            solution = FindLayoutMethod(method).solve(problem, options);
        }
        catch (const std::invalid_argument&)
        {
            method = "descent"; // too many candidates for an exact method
            solution = FindLayoutMethod(method).solve(problem, options);
        }
        if (memoryBytes == 0 || space.GetMemoryBytes(solution.choice) <= memoryBytes)
        {
            return std::pair(solution.choice, method);
        }
    }
    return std::nullopt;
}

} // namespace

std::vector<LayoutFinding>
SearchLayouts(const Model& model,
              uint32_t devices,
              std::size_t mostAxes,
              LayoutSpaceOptions options,
              const StrategyTree& base)
{
    std::vector<LayoutFinding> findings;
    options.gradientWeight = 1.0 / base.schedule.microBatches;
    options.isReadAgain = true;
    for (const std::vector<uint32_t>& sizes : ListMeshes(devices, mostAxes))
    {
        options.mesh = MakeNamedMesh(sizes);
        const LayoutSpace space(model, options);
        const LayoutProblem problem = space.MakeProblem();
        std::string mesh;
        for (const uint32_t size : sizes)
        {
            mesh += (mesh.empty() ? "" : " x ") + std::to_string(size);
        }
        auto add = [&](const LayoutChoice& choice, const std::string& origin, bool isBaseline) {
            LayoutFinding finding;
            finding.name = "layouts on " + mesh + ", " + origin;
            finding.seconds = GetSeconds(space, problem, choice);
            finding.memoryBytes = space.GetMemoryBytes(choice);
            finding.isBaseline = isBaseline;
            if (options.memoryBytes == 0 || finding.memoryBytes <= options.memoryBytes)
            {
                finding.tree = MakeLayoutStrategy(space, choice, base);
                finding.tree.name = finding.name;
                findings.push_back(std::move(finding));
            }
        };
        if (const auto best = FindBest(space))
        {
            add(best->first, best->second, false);
        }
        if (sizes.size() == 1)
        {
            add(space.MakeStart(LayoutStart::ALL_DATA), "data parallel", true);
        }
        if (sizes.size() <= 2)
        {
            add(space.MakeStart(LayoutStart::MEGATRON), "Megatron's splits", true);
        }
    }
    std::stable_sort(
        findings.begin(),
        findings.end(),
        [](const LayoutFinding& a, const LayoutFinding& b) { return a.seconds < b.seconds; });
    return findings;
}

} // namespace proteus
} // namespace ns3
