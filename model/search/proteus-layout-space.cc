/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-layout-space.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return what a backward part's gradient is summed over
std::vector<const Access*>
FindSummands(const ModelOperator& op, const std::vector<DataReference>& references)
{
    std::vector<const Access*> summands;
    for (const DataReference& reference : references)
    {
        summands.push_back(reference.kind == DataReference::Kind::READ
                               ? &op.reads[reference.index]
                               : &op.writes[reference.index]);
    }
    return summands;
}

} // namespace

std::vector<AxisRule>
GetAxisRules(const ModelOperator& op)
{
    std::vector<AxisRule> rules;
    std::vector<uint32_t> dimensions;
    for (uint32_t i = 0; i < op.dimensions.size(); ++i)
    {
        if (op.dimensions[i].isSplittable)
        {
            dimensions.push_back(i);
        }
    }
    for (const Signature& signature : GetSignatures(op))
    {
        const std::size_t index = rules.size();
        rules.push_back({index < dimensions.size() ? dimensions[index] : NO_ID, signature});
    }
    rules.push_back({NO_ID,
                     {std::vector<std::string>(op.reads.size(), "R"),
                      std::vector<std::string>(op.writes.size(), "R")}});
    return rules;
}

LayoutSpace::LayoutSpace(const Model& model, const LayoutSpaceOptions& options)
    : m_model(model),
      m_options(options),
      m_firstReaders(model.GetTensors().size(), NO_ID)
{
    if (!options.mesh || options.communication == nullptr)
    {
        throw std::invalid_argument("layout search: mesh or communication costs are missing");
    }
    std::vector<DeviceId> next = options.mesh->GetDevices();
    for (DeviceId& device : next)
    {
        device += options.pipeline.stride;
    }
    m_nextMesh = std::make_shared<DeviceMesh>(options.mesh->GetSizes(),
                                              std::move(next),
                                              options.mesh->GetNames());
    const std::vector<ModelOperator>& operators = model.GetOperators();
    for (OperatorId id = operators.size(); id-- > 0;)
    {
        for (const Access& read : operators[id].reads)
        {
            m_firstReaders[read.tensor] = id;
        }
    }
    std::map<std::string, uint32_t> classes;
    std::vector<std::shared_ptr<const Candidates>> known;
    for (OperatorId id = 0; id < operators.size(); ++id)
    {
        const auto number = static_cast<uint32_t>(known.size());
        const auto [found, isNew] = classes.emplace(DescribeClass(operators[id]), number);
        if (isNew)
        {
            known.push_back(std::make_shared<const Candidates>(MakeCandidates(operators[id])));
        }
        m_classes.push_back(found->second);
        m_candidates.push_back(known[found->second]);
        AddUses(id);
    }
    std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, bool, bool>, CostMatrixPtr>
        matrices;
    for (const Use& use : m_uses)
    {
        CostMatrixPtr& matrix = matrices[{m_classes[use.from],
                                          use.made,
                                          m_classes[use.to],
                                          use.read,
                                          use.isParameter,
                                          use.isTransfer}];
        if (!matrix)
        {
            matrix = MakeEdge(use);
        }
        m_matrices.push_back(matrix);
    }
}

/// Operators with the same description have the same candidates at the same costs.
std::string
LayoutSpace::DescribeClass(const ModelOperator& op) const
{
    std::ostringstream text;
    text << op.kind << '|' << op.tensorParallel;
    for (const IterationDimension& dimension : op.dimensions)
    {
        text << '|' << dimension.name << ' ' << dimension.extent << ' ' << dimension.isSplittable;
    }
    auto add = [&](const Access& access) {
        const ModelTensor& tensor = m_model.GetTensor(access.tensor);
        text << "|t" << static_cast<int>(tensor.role) << static_cast<int>(tensor.element);
        for (const uint64_t extent : tensor.shape)
        {
            text << ' ' << extent;
        }
        for (const std::vector<IterationAxis>& axes : access.map)
        {
            for (const IterationAxis axis : axes)
            {
                text << ',' << static_cast<int>(axis);
            }
            text << ';';
        }
        text << access.isDifferentiable << access.isLinear << ' ' << access.traffic;
    };
    for (const Access& read : op.reads)
    {
        add(read);
        text << IsFirstReader(op, read);
    }
    for (const Access& write : op.writes)
    {
        const ModelTensor& tensor = m_model.GetTensor(write.tensor);
        add(write);
        text << (tensor.role == TensorRole::ACTIVATION &&
                 m_firstReaders[write.tensor] == NO_ID); // a result of the model
    }
    auto addPart = [&](const OperatorPart& part) {
        text << '|' << part.name;
        for (const std::vector<Work>* works : {&part.flops, &part.bytes})
        {
            for (const Work& work : *works)
            {
                text << ' ' << work.perPoint << 'x' << work.extents.size();
            }
        }
    };
    addPart(op.forward);
    for (const OperatorPart& part : op.backward)
    {
        addPart(part);
    }
    return text.str();
}

bool
LayoutSpace::IsFirstReader(const ModelOperator& op, const Access& read) const
{
    return m_firstReaders[read.tensor] ==
           static_cast<OperatorId>(&op - m_model.GetOperators().data());
}

bool
LayoutSpace::HasGradient(const Access& read) const
{
    return read.isDifferentiable && m_model.GetTensor(read.tensor).role != TensorRole::INPUT;
}

/// @return the rules that an axis may follow: samples and parameters are no partial sums
std::vector<uint32_t>
LayoutSpace::FindRules(const ModelOperator& op, const std::vector<AxisRule>& rules) const
{
    std::vector<uint32_t> allowed;
    for (uint32_t i = 0; i < rules.size(); ++i)
    {
        const bool isReplicated = i + 1 == rules.size();
        const bool isPartial = rules[i].dimension == NO_ID && !isReplicated;
        bool isPossible = isReplicated ? m_options.mayReplicate || rules.size() == 1
                                       : !isPartial || m_options.mayKeepPartialSums;
        for (std::size_t read = 0; read < op.reads.size(); ++read)
        {
            isPossible = isPossible &&
                         (rules[i].signature.reads[read] != "P" ||
                          m_model.GetTensor(op.reads[read].tensor).role == TensorRole::ACTIVATION);
        }
        if (isPossible)
        {
            allowed.push_back(i);
        }
    }
    return allowed;
}

/// Every combination of rules, one per mesh axis.
LayoutSpace::Candidates
LayoutSpace::MakeCandidates(const ModelOperator& op) const
{
    const std::vector<AxisRule> rules = GetAxisRules(op);
    const std::vector<uint32_t> allowed = FindRules(op, rules);
    const MeshAxis nAxes = m_options.mesh->GetNAxes();
    PlacedOperator placed;
    placed.op = op;
    placed.mesh = m_options.mesh;
    Candidates candidates;
    std::vector<std::size_t> numbers(nAxes);
    for (bool isDone = allowed.empty(); !isDone;)
    {
        LayoutCandidate candidate;
        for (const std::size_t number : numbers)
        {
            candidate.rules.push_back(allowed[number]);
        }
        if (Split(op, rules, candidate))
        {
            LayOut(placed, rules, candidate);
            AddCosts(op, candidate);
            const double bytes = candidate.memoryBytes + candidate.savedBytes;
            if (m_options.memoryBytes == 0 || bytes <= m_options.memoryBytes)
            {
                candidates.push_back(std::move(candidate));
            }
            else if (m_options.heedTooMuch)
            {
                m_options.heedTooMuch(bytes);
            }
        }
        isDone = true;
        for (MeshAxis axis = 0; isDone && axis < nAxes; ++axis)
        {
            isDone = ++numbers[axis] == allowed.size();
            numbers[axis] = isDone ? 0 : numbers[axis];
        }
    }
    if (candidates.empty())
    {
        throw std::invalid_argument("layout search: operator " + op.name +
                                    " has no layout on the "
                                    "mesh that divides its dimensions and fits into memory; take "
                                    "other mesh sizes or more memory");
    }
    return candidates;
}

/// @return whether the parts of all dimensions are equal
bool
LayoutSpace::Split(const ModelOperator& op,
                   const std::vector<AxisRule>& rules,
                   LayoutCandidate& candidate) const
{
    candidate.splits.assign(op.dimensions.size(), {});
    std::vector<uint64_t> parts(op.dimensions.size(), 1);
    for (MeshAxis axis = 0; axis < candidate.rules.size(); ++axis)
    {
        const uint32_t dimension = rules[candidate.rules[axis]].dimension;
        if (dimension != NO_ID)
        {
            candidate.splits[dimension].push_back(axis);
            parts[dimension] *= m_options.mesh->GetSizes()[axis];
        }
    }
    for (std::size_t i = 0; i < parts.size(); ++i)
    {
        if (op.dimensions[i].extent % parts[i] != 0)
        {
            return false;
        }
    }
    return true;
}

namespace
{

/// Makes a layout have partial sums over an axis.
void
AddPartial(Layout& layout, MeshAxis axis)
{
    if (std::count(layout.partial.begin(), layout.partial.end(), axis) == 0)
    {
        layout.partial.push_back(axis);
        std::sort(layout.partial.begin(), layout.partial.end());
    }
}

/// @return whether the rule of an axis of a candidate reads partial sums there
bool
ReadsPartial(const std::vector<AxisRule>& rules,
             const LayoutCandidate& candidate,
             MeshAxis axis,
             std::size_t read)
{
    return rules[candidate.rules[axis]].signature.reads[read] == "P";
}

/// Adds the partial sums that come of those that an operator reads.
void
AddPartialReads(const ModelOperator& op,
                const std::vector<AxisRule>& rules,
                LayoutCandidate& candidate)
{
    for (MeshAxis axis = 0; axis < candidate.rules.size(); ++axis)
    {
        bool passes = false;
        for (std::size_t read = 0; read < op.reads.size(); ++read)
        {
            if (ReadsPartial(rules, candidate, axis, read))
            {
                passes = true;
                AddPartial(candidate.reads[read], axis);
            }
        }
        for (std::size_t write = 0; passes && write < op.writes.size(); ++write)
        {
            AddPartial(candidate.writes[write], axis);
        }
    }
}

/// @return the layout of a gradient
Layout
LayOutGradient(const PlacedOperator& placed,
               const GradientWrite& write,
               const std::vector<AxisRule>& rules,
               const LayoutCandidate& candidate)
{
    const ModelOperator& op = placed.op;
    Layout gradient =
        GetResultLayout(placed, op.reads[write.read], FindSummands(op, write.summands));
    for (MeshAxis axis = 0; axis < candidate.rules.size(); ++axis)
    {
        const bool isSum =
            std::any_of(write.summands.begin(),
                        write.summands.end(),
                        [&](const DataReference& reference) {
                            return reference.kind == DataReference::Kind::READ &&
                                   ReadsPartial(rules, candidate, axis, reference.index);
                        });
        if (isSum)
        {
            AddPartial(gradient, axis);
        }
    }
    return gradient;
}

} // namespace

/// The layouts of all that is read and written, partial sums among them.
void
LayoutSpace::LayOut(PlacedOperator& placed,
                    const std::vector<AxisRule>& rules,
                    LayoutCandidate& candidate) const
{
    const ModelOperator& op = placed.op;
    placed.axes = candidate.splits;
    for (const Access& read : op.reads)
    {
        candidate.reads.push_back(GetAccessLayout(placed, read));
        candidate.gradients.push_back(candidate.reads.back());
    }
    for (const Access& write : op.writes)
    {
        std::vector<const Access*> summands;
        for (const uint8_t summand : write.summands)
        {
            summands.push_back(&op.reads[summand]);
        }
        candidate.writes.push_back(GetResultLayout(placed, write, summands));
    }
    for (const OperatorPart& part : op.backward)
    {
        for (const GradientWrite& write : part.writes)
        {
            candidate.gradients[write.read] = LayOutGradient(placed, write, rules, candidate);
        }
    }
    AddPartialReads(op, rules, candidate);
}

/// Notes the tensors that an operator gets from others.
void
LayoutSpace::AddUses(OperatorId id)
{
    const ModelOperator& op = m_model.GetOperator(id);
    for (uint32_t i = 0; i < op.reads.size(); ++i)
    {
        const TensorId tensor = op.reads[i].tensor;
        const bool isParameter = m_model.GetTensor(tensor).role == TensorRole::PARAMETER;
        const OperatorId source =
            isParameter ? m_firstReaders[tensor] : m_model.GetTensor(tensor).producer;
        if (source == NO_ID || source == id)
        {
            continue;
        }
        const ModelOperator& from = m_model.GetOperator(source);
        const std::vector<Access>& accesses = isParameter ? from.reads : from.writes;
        const auto made = std::find_if(accesses.begin(), accesses.end(), [&](const Access& one) {
            return one.tensor == tensor;
        });
        const std::vector<uint32_t>& stages = m_options.pipeline.stages;
        m_uses.push_back({source,
                          static_cast<uint32_t>(made - accesses.begin()),
                          id,
                          i,
                          isParameter,
                          !stages.empty() && stages[source] != stages[id]});
    }
}

LayoutProblem
LayoutSpace::MakeProblem(double memoryWeight) const
{
    LayoutProblem problem;
    for (OperatorId op = 0; op < m_candidates.size(); ++op)
    {
        std::vector<double> costs;
        for (const LayoutCandidate& candidate : *m_candidates[op])
        {
            costs.push_back(candidate.computeCost + candidate.gradientCost +
                            memoryWeight * GetMemoryBytes(op, candidate));
        }
        problem.AddNode(costs);
    }
    for (std::size_t i = 0; i < m_uses.size(); ++i)
    {
        problem.AddEdge({m_uses[i].from, m_uses[i].to, m_matrices[i]});
    }
    return problem;
}

double
LayoutSpace::GetMemoryBytes(const LayoutChoice& choice) const
{
    std::vector<double> bytes(m_options.pipeline.ranks);
    for (OperatorId op = 0; op < m_candidates.size(); ++op)
    {
        bytes[GetRank(op)] += GetMemoryBytes(op, (*m_candidates[op])[choice[op]]);
    }
    return *std::max_element(bytes.begin(), bytes.end());
}

/// Results are there once for every micro-batch that is under way, unless they are computed again.
double
LayoutSpace::GetMemoryBytes(OperatorId op, const LayoutCandidate& candidate) const
{
    const LayoutPipeline& pipeline = m_options.pipeline;
    const double inFlight = pipeline.inFlight.empty() ? 1 : pipeline.inFlight[GetRank(op)];
    const bool isDropped = !pipeline.isDropped.empty() && pipeline.isDropped[op];
    return candidate.memoryBytes + (isDropped ? 0 : inFlight * candidate.savedBytes);
}

} // namespace proteus
} // namespace ns3
