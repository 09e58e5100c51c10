/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-layout-strategy.h"

#include "proteus-plan-estimate.h"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double MEGABYTE = 1e6;

/// The mesh axis of plans along which pipeline stages lie.
const std::string PIPELINE = "pp";

/// @param base a strategy that may have a pipeline @param nAxes of the mesh of a stage
/// @return where among the axes the pipeline's is: before all, or before the last as in the base
std::size_t
FindPipelineAxis(const StrategyTree& base, std::size_t nAxes)
{
    const auto at = std::find(base.axisNames.begin(), base.axisNames.end(), PIPELINE);
    return at == base.axisNames.begin() ? 0 : nAxes - 1;
}

/// @return the node of a path, made where it is not there
StrategyNode&
FindNode(StrategyNode& root, const std::string& path)
{
    StrategyNode* node = &root;
    for (std::size_t begin = 0; begin <= path.size();)
    {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        node = &node->GetChild(path.substr(begin, end - begin));
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
    const LayoutPipeline& pipeline = space.GetOptions().pipeline;
    const std::vector<std::vector<Reader>> readers = FindReaders(model);
    StrategyTree tree = base;
    tree.axisNames = mesh.GetNames();
    tree.axisSizes = mesh.GetSizes();
    if (!pipeline.stages.empty())
    {
        const std::size_t at = FindPipelineAxis(base, tree.axisNames.size());
        tree.axisNames.insert(tree.axisNames.begin() + static_cast<std::ptrdiff_t>(at), PIPELINE);
        tree.axisSizes.insert(tree.axisSizes.begin() + static_cast<std::ptrdiff_t>(at),
                              pipeline.ranks);
    }
    tree.optimizer.zeroAxes = tree.optimizer.zero > 0 ? mesh.GetNames() : base.optimizer.zeroAxes;
    tree.root = StrategyNode();
    for (OperatorId id = 0; id < model.GetOperators().size(); ++id)
    {
        const ModelOperator& op = model.GetOperator(id);
        const LayoutCandidate& candidate = space.GetCandidates(id)[choice[id]];
        const NodeSpec known = FindNodeSpec(base, op.name);
        if (!known.recompute.empty())
        {
            const bool isGroup = !known.recomputeGroup.empty();
            const std::string path = isGroup ? op.name : known.recompute;
            const bool isAbove = path == op.name || op.name.rfind(path + '.', 0) == 0;
            // What the root computes again is called "model", which is no path.
            StrategyNode& block = isAbove ? FindNode(tree.root, path) : tree.root;
            block.recompute = true;
            block.recomputeGroup = known.recomputeGroup;
        }
        StrategyNode& node = FindNode(tree.root, op.name); // last: making others moves it
        if (!pipeline.stages.empty())
        {
            node.stage = pipeline.stages[id];
            node.op.mesh.emplace().slice[PIPELINE] = space.GetRank(id);
        }
        if (known.keeps)
        {
            node.keep = true;
        }
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
    for (const ModelOperator& op : model.GetOperators())
    {
        // An operator inside a block may be no part of it.
        if (FindNodeSpec(base, op.name).recompute.empty() &&
            !FindNodeSpec(tree, op.name).recompute.empty())
        {
            FindNode(tree.root, op.name).recompute = false;
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

/// @param sizes of the axes of a stage @param ranks device groups of the pipeline
/// @param at axis before which that of the pipeline is
/// @return the first stage's mesh, and the devices between neighbours in the pipeline
std::pair<MeshPtr, DeviceId>
MakeStageMesh(const std::vector<uint32_t>& sizes, uint32_t ranks, std::size_t at)
{
    const std::vector<std::string> known{"dp", "mp"};
    std::vector<std::string> names;
    uint64_t inner = 1; // devices that differ in axes behind the pipeline's
    uint64_t all = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i)
    {
        // Of one or three axes, none has a use of its own.
        names.push_back(sizes.size() == 2 ? known[i] : "axis" + std::to_string(i));
        inner *= i >= at ? sizes[i] : 1;
        all *= sizes[i];
    }
    std::vector<DeviceId> devices;
    for (uint64_t i = 0; i < all; ++i)
    {
        devices.push_back(static_cast<DeviceId>(i / inner * inner * ranks + i % inner));
    }
    return {std::make_shared<DeviceMesh>(sizes, devices, names), static_cast<DeviceId>(inner)};
}

/// @param model what is trained @param base with stages, perhaps @return the pipeline
LayoutPipeline
DescribePipeline(const Model& model, const StrategyTree& base)
{
    LayoutPipeline pipeline;
    const auto at = std::find(base.axisNames.begin(), base.axisNames.end(), PIPELINE);
    if (at != base.axisNames.end())
    {
        pipeline.ranks = base.axisSizes[static_cast<std::size_t>(at - base.axisNames.begin())];
    }
    uint32_t nStages = 1;
    std::vector<std::string> blocks; // by operator: the block that is computed again, or ""
    std::vector<bool> keeps;         // by operator: whether its results are kept for that
    for (const ModelOperator& op : model.GetOperators())
    {
        const NodeSpec node = FindNodeSpec(base, op.name);
        pipeline.stages.push_back(node.stage.value_or(0));
        nStages = std::max(nStages, pipeline.stages.back() + 1);
        blocks.push_back(node.recompute);
        keeps.push_back(node.keeps);
    }
    pipeline.isDropped.assign(blocks.size(), false);
    pipeline.isRepeated.assign(blocks.size(), false);
    const std::vector<std::vector<Reader>> readers = FindReaders(model);
    for (OperatorId id = 0; id < blocks.size(); ++id)
    {
        pipeline.isRepeated[id] = !blocks[id].empty() && !keeps[id];
        const std::vector<Reader>& all = readers[model.GetOperator(id).writes[0].tensor];
        pipeline.isDropped[id] = pipeline.isRepeated[id] &&
                                 std::all_of(all.begin(), all.end(), [&](const Reader& reader) {
                                     return blocks[reader.op] == blocks[id];
                                 });
    }
    if (nStages == 1)
    {
        pipeline.stages.clear();
        pipeline.ranks = 1;
    }
    for (uint32_t rank = 0; rank < pipeline.ranks; ++rank)
    {
        pipeline.inFlight.push_back(CountInFlight(base.schedule.kind,
                                                  base.schedule.microBatches,
                                                  nStages / pipeline.ranks,
                                                  pipeline.ranks,
                                                  rank));
    }
    return pipeline;
}

/// What a device group of the pipeline does.
struct GroupWork
{
    double pass{0};      //!< of a micro-batch, conversions included
    double kernels{0};   //!< of a micro-batch
    double gradients{0}; //!< their reduction, once
};

/// @return the time of all micro-batches, and of what is computed again, which layouts do not
/// decide about; gradients of parameters are reduced while the last backward pass, two thirds of
/// the kernels, goes on, but for the last of them
double
GetSeconds(const LayoutSpace& space,
           const LayoutProblem& problem,
           const LayoutChoice& choice,
           const StrategyTree& base)
{
    constexpr double LAST = 0.05; // share of the gradients that are made at the very end
    const LayoutPipeline& pipeline = space.GetOptions().pipeline;
    std::vector<GroupWork> groups(pipeline.ranks);
    for (OperatorId op = 0; op < choice.size(); ++op)
    {
        const LayoutCandidate& candidate = space.GetCandidates(op)[choice[op]];
        GroupWork& group = groups[space.GetRank(op)];
        group.gradients += candidate.gradientCost / space.GetOptions().gradientWeight;
        const double again = pipeline.isRepeated[op] ? candidate.forwardCost : 0;
        group.kernels += candidate.computeCost + again;
        group.pass += candidate.computeCost + again;
    }
    for (const LayoutEdge& edge : problem.GetEdges())
    {
        // What is computed again gets its inputs again: half of what both passes take.
        groups[space.GetRank(edge.to)].pass += edge.cost->At(choice[edge.from], choice[edge.to]) *
                                               (pipeline.isRepeated[edge.to] ? 1.5 : 1);
    }
    const uint32_t nStages =
        pipeline.stages.empty()
            ? 1
            : 1 + *std::max_element(pipeline.stages.begin(), pipeline.stages.end());
    PipelineWork work;
    work.kind = base.schedule.kind;
    work.microBatches = base.schedule.microBatches;
    work.virtualStages = nStages / pipeline.ranks;
    double exposed = 0;
    for (const GroupWork& group : groups)
    {
        work.passesS.push_back(group.pass);
        work.weightS += group.kernels / 3; // as much as of results, and the forward pass
        // ZeRO 1: half is scattered before the update, half is gathered after it.
        const double half = base.optimizer.zero > 0 ? group.gradients / 2 : 0;
        const double early = group.gradients - half;
        const double late = std::max(LAST * early, early - 2.0 / 3 * group.kernels);
        const double slowdown = space.GetOptions().overlapSlowdown * (early - late);
        exposed = std::max(exposed, half + late + slowdown);
    }
    return GetPipelineTime(work).seconds + exposed;
}

/// What is best on a mesh, and fits.
std::optional<std::pair<LayoutChoice, std::string>>
FindBest(const LayoutSpace& space)
{
    LayoutSearchOptions options;
    for (const LayoutStart start : {LayoutStart::ALL_DATA,
                                    LayoutStart::ALL_TENSOR,
                                    LayoutStart::MEGATRON,
                                    LayoutStart::CLASSIFIER})
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
        const double bytes = space.GetMemoryBytes(solution.choice);
        if (memoryBytes == 0 || bytes <= memoryBytes)
        {
            return std::pair(solution.choice, method);
        }
        if (space.GetOptions().heedTooMuch)
        {
            space.GetOptions().heedTooMuch(bytes);
        }
    }
    return std::nullopt;
}

} // namespace

namespace
{

/// @return e.g. "layouts in 4 stages on 2 x 8"
std::string
DescribeMesh(const std::vector<uint32_t>& sizes, const LayoutPipeline& pipeline)
{
    std::string mesh;
    for (const uint32_t size : sizes)
    {
        mesh += (mesh.empty() ? "" : " x ") + std::to_string(size);
    }
    const auto nStages = std::set<uint32_t>(pipeline.stages.begin(), pipeline.stages.end()).size();
    return "layouts " + (nStages > 1 ? "in " + std::to_string(nStages) + " stages " : "") + "on " +
           mesh;
}

/// What experts would begin with on a mesh, where there is no pipeline.
std::vector<std::pair<LayoutStart, std::string>>
ListBaselines(const LayoutSpace& space, const std::vector<uint32_t>& sizes)
{
    std::vector<std::pair<LayoutStart, std::string>> baselines;
    if (!space.GetOptions().pipeline.stages.empty())
    {
        return baselines;
    }
    if (sizes.size() == 1)
    {
        baselines.emplace_back(LayoutStart::ALL_DATA, "data parallel");
        if (HasClassifier(space.GetModel()))
        {
            baselines.emplace_back(LayoutStart::CLASSIFIER, "S2: classifier by features");
        }
    }
    if (sizes.size() <= 2)
    {
        baselines.emplace_back(LayoutStart::MEGATRON, "Megatron's splits");
    }
    return baselines;
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
    options.sharesState = base.optimizer.zero > 0;
    options.bucketBytes = base.gradients.policy == BucketPolicy::TENSOR
                              ? 0
                              : MEGABYTE * base.gradients.bucketMegabytes;
    options.pipeline = DescribePipeline(model, base);
    const uint32_t ranks = options.pipeline.ranks;
    for (const std::vector<uint32_t>& sizes : ListMeshes(devices / ranks, mostAxes))
    {
        std::tie(options.mesh, options.pipeline.stride) =
            MakeStageMesh(sizes, ranks, FindPipelineAxis(base, sizes.size()));
        const LayoutSpace space(model, options);
        const LayoutProblem problem = space.MakeProblem();
        auto add = [&](const LayoutChoice& choice, const std::string& origin, bool isBaseline) {
            LayoutFinding finding;
            finding.name = DescribeMesh(sizes, options.pipeline) + ", " + origin;
            finding.seconds = GetSeconds(space, problem, choice, base);
            finding.memoryBytes = space.GetMemoryBytes(choice);
            finding.isBaseline = isBaseline;
            if (options.memoryBytes == 0 || finding.memoryBytes <= options.memoryBytes)
            {
                finding.tree = MakeLayoutStrategy(space, choice, base);
                finding.tree.name = finding.name;
                findings.push_back(std::move(finding));
            }
            else if (options.heedTooMuch)
            {
                options.heedTooMuch(finding.memoryBytes);
            }
        };
        if (const auto best = FindBest(space))
        {
            add(best->first, best->second, false);
        }
        for (const auto& [start, name] : ListBaselines(space, sizes))
        {
            add(space.MakeStart(start), name, true);
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
