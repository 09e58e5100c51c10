/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-layout-space.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS = 1e-12; // seconds

/// @param work an amount @param extents of the iteration space @return all of it
double
CountPoints(const Work& work, const std::vector<uint64_t>& extents)
{
    double points = work.perPoint;
    for (const IterationAxis axis : work.extents)
    {
        points *= static_cast<double>(extents[axis]);
    }
    return points;
}

} // namespace

double
LayoutSpace::GetElementBytes(TensorId tensor) const
{
    switch (m_model.GetTensor(tensor).element)
    {
    case ElementKind::COMPUTE:
        return GetStoredBytes(m_options.precision.compute);
    case ElementKind::MASK:
        return 1;
    default:
        return 4;
    }
}

double
LayoutSpace::GetGradientBytes() const
{
    return GetStoredBytes(m_options.precision.gradient);
}

double
LayoutSpace::GetLocalBytes(TensorId tensor, const Layout& layout, double elementBytes) const
{
    return static_cast<double>(layout.CountLocal(m_model.GetTensor(tensor).shape, 0)) *
           elementBytes;
}

/// Bytes that a kernel moves, at least.
double
LayoutSpace::CountTraffic(const ModelOperator& op,
                          const OperatorPart& part,
                          const LayoutCandidate& candidate) const
{
    double bytes = 0;
    auto add = [&](const Access& access, const Layout& layout, double traffic) {
        bytes += traffic * GetLocalBytes(access.tensor, layout, GetElementBytes(access.tensor));
    };
    if (part.reads.empty())
    {
        for (std::size_t i = 0; i < op.reads.size(); ++i)
        {
            add(op.reads[i], candidate.reads[i], op.reads[i].traffic);
        }
        for (std::size_t i = 0; i < op.writes.size(); ++i)
        {
            add(op.writes[i], candidate.writes[i], op.writes[i].traffic);
        }
    }
    for (const DataReference& reference : part.reads)
    {
        if (reference.kind == DataReference::Kind::READ)
        {
            const Access& read = op.reads[reference.index];
            add(read, candidate.reads[reference.index], read.traffic == 0 ? 0 : 1);
        }
        else
        {
            add(op.writes[reference.index], candidate.writes[reference.index], 1);
        }
    }
    for (const GradientWrite& write : part.writes)
    {
        add(op.reads[write.read], candidate.reads[write.read], write.traffic);
    }
    return bytes;
}

double
LayoutSpace::GetKernelCost(const ModelOperator& op,
                           const OperatorPart& part,
                           const LayoutCandidate& candidate) const
{
    KernelDescription kernel;
    for (std::size_t i = 0; i < op.dimensions.size(); ++i)
    {
        uint64_t parts = 1;
        for (const MeshAxis axis : candidate.splits[i])
        {
            parts *= m_options.mesh->GetSizes()[axis];
        }
        kernel.extents.push_back(op.dimensions[i].extent / parts);
    }
    double bytes = CountTraffic(op, part, candidate);
    for (const Work& work : part.bytes)
    {
        bytes += CountPoints(work, kernel.extents);
    }
    for (const Work& work : part.flops)
    {
        kernel.flops += CountPoints(work, kernel.extents);
    }
    kernel.name = op.name;
    kernel.kind = op.kind;
    kernel.part = part.name;
    kernel.bytes = static_cast<uint64_t>(std::llround(bytes));
    kernel.dataType = part.isMatrixProduct ? m_options.precision.compute : DataType::FP32;
    kernel.hasBias = HasBias(op);
    kernel.hasWeightedBias = op.hasWeightedBias;
    return PS * static_cast<double>(m_options.kernelTime(kernel));
}

void
LayoutSpace::AddComputeCost(const ModelOperator& op, LayoutCandidate& candidate) const
{
    if (m_options.kernelTime && !op.isView)
    {
        candidate.forwardCost = GetKernelCost(op, op.forward, candidate);
        candidate.computeCost = candidate.forwardCost;
        for (const OperatorPart& part : op.backward)
        {
            const bool isNeeded = std::any_of(
                part.writes.begin(),
                part.writes.end(),
                [&](const GradientWrite& write) { return HasGradient(op.reads[write.read]); });
            if (isNeeded && !part.isView)
            {
                candidate.computeCost += GetKernelCost(op, part, candidate);
            }
        }
    }
}

void
LayoutSpace::AddCosts(const ModelOperator& op, LayoutCandidate& candidate) const
{
    AddComputeCost(op, candidate);
    for (std::size_t i = 0; i < op.reads.size(); ++i)
    {
        const TensorId tensor = op.reads[i].tensor;
        if (m_model.GetTensor(tensor).role != TensorRole::PARAMETER ||
            !IsFirstReader(op, op.reads[i]))
        {
            continue;
        }
        // A small gradient is a part of a bucket: its share of what the bucket costs.
        const double whole = GetLocalBytes(tensor, candidate.reads[i], GetGradientBytes());
        const double buckets = std::max(1.0, m_options.bucketBytes / whole);
        candidate.gradientCost += m_options.gradientWeight / buckets *
                                  GetBoxingCost(*m_options.communication,
                                                candidate.gradients[i],
                                                candidate.reads[i],
                                                m_model.GetTensor(tensor).shape,
                                                GetGradientBytes() * buckets);
        double sharers = 1; // of the optimizer's state
        for (const MeshAxis axis : candidate.reads[i].GetReplicated())
        {
            sharers *= m_options.sharesState ? m_options.mesh->GetSizes()[axis] : 1;
        }
        candidate.memoryBytes += GetLocalBytes(tensor,
                                               candidate.reads[i],
                                               GetElementBytes(tensor) + GetGradientBytes() +
                                                   m_options.stateBytesPerParameter / sharers);
    }
    for (std::size_t i = 0; i < op.writes.size() && !op.isView; ++i)
    {
        const TensorId tensor = op.writes[i].tensor;
        candidate.savedBytes += GetLocalBytes(tensor, candidate.writes[i], GetElementBytes(tensor));
    }
    const bool isResult = !op.writes.empty() && m_firstReaders[op.writes[0].tensor] == NO_ID;
    if (isResult && m_options.resultDimension != NO_ID)
    {
        // There and back: the gradient of the result comes from where the result went.
        const Shape& shape = m_model.GetTensor(op.writes[0].tensor).shape;
        const double bytes = GetElementBytes(op.writes[0].tensor);
        Layout wanted;
        wanted.mesh = m_options.mesh;
        wanted.split.resize(shape.size());
        for (MeshAxis axis = 0; axis < m_options.mesh->GetNAxes(); ++axis)
        {
            wanted.split.at(m_options.resultDimension).push_back(axis);
        }
        Layout needed = candidate.writes[0];
        needed.partial.clear();
        candidate.gradientCost +=
            GetBoxingCost(*m_options.communication, candidate.writes[0], wanted, shape, bytes) +
            GetBoxingCost(*m_options.communication, wanted, needed, shape, bytes);
    }
}

/// @return whether the backward pass reads it
bool
LayoutSpace::ReadsAgain(const ModelOperator& op, uint32_t read)
{
    return std::any_of(op.backward.begin(), op.backward.end(), [&](const OperatorPart& part) {
        return std::any_of(part.reads.begin(), part.reads.end(), [&](const DataReference& data) {
            return data.kind == DataReference::Kind::READ && data.index == read;
        });
    });
}

double
LayoutSpace::GetUseCost(const Use& use, const LayoutCandidate& a, const LayoutCandidate& b) const
{
    const Access& read = m_model.GetOperator(use.to).reads[use.read];
    const Shape& shape = m_model.GetTensor(read.tensor).shape;
    const Layout& made = use.isParameter ? a.reads[use.made] : a.writes[use.made];
    if (use.isTransfer)
    {
        return GetTransferCost(use, made, b);
    }
    const double bytes = GetElementBytes(read.tensor);
    double cost = GetBoxingCost(*m_options.communication, made, b.reads[use.read], shape, bytes);
    // A sum of partial sums is kept as it is needed first.
    if (m_options.isReadAgain && made.partial.empty() &&
        ReadsAgain(m_model.GetOperator(use.to), use.read))
    {
        cost *= 2;
    }
    if (HasGradient(read))
    {
        Layout needed = made; // the gradient of a partial sum is replicated
        needed.partial.clear();
        cost += GetBoxingCost(*m_options.communication,
                              b.gradients[use.read],
                              needed,
                              shape,
                              use.isParameter ? GetGradientBytes() : bytes);
    }
    return cost;
}

/// What goes to the next stage comes there as it is needed, and its gradient comes back.
double
LayoutSpace::GetTransferCost(const Use& use, const Layout& made, const LayoutCandidate& b) const
{
    const Access& read = m_model.GetOperator(use.to).reads[use.read];
    const Shape& shape = m_model.GetTensor(read.tensor).shape;
    Layout there = b.reads[use.read];
    if (!there.partial.empty())
    {
        return std::numeric_limits<double>::infinity(); // sums are made before they are sent
    }
    there.mesh = m_nextMesh;
    Layout back = b.gradients[use.read];
    back.mesh = m_nextMesh;
    Layout needed = made;
    needed.partial.clear();
    const double bytes = use.isParameter ? GetGradientBytes() : GetElementBytes(read.tensor);
    double cost = 0;
    if (!use.isParameter) // of a parameter, every stage has a copy from the beginning
    {
        cost = GetBoxingCost(*m_options.communication, made, there, shape, bytes);
    }
    if (HasGradient(read))
    {
        cost += (use.isParameter ? m_options.gradientWeight : 1) *
                GetBoxingCost(*m_options.communication, back, needed, shape, bytes);
    }
    return cost;
}

CostMatrixPtr
LayoutSpace::MakeEdge(const Use& use) const
{
    const Candidates& from = *m_candidates[use.from];
    const Candidates& to = *m_candidates[use.to];
    auto matrix = std::make_shared<CostMatrix>(from.size(), to.size());
    // Few pairs of layouts stand behind many pairs of candidates.
    std::map<std::tuple<std::string, std::string, std::string>, double> known;
    for (std::size_t i = 0; i < from.size(); ++i)
    {
        const Layout& made = use.isParameter ? from[i].reads[use.made] : from[i].writes[use.made];
        const std::string madeText = made.ToString();
        for (std::size_t k = 0; k < to.size(); ++k)
        {
            const auto [found, isNew] =
                known.emplace(std::tuple(madeText,
                                         to[k].reads[use.read].ToString(),
                                         to[k].gradients[use.read].ToString()),
                              0);
            if (isNew)
            {
                found->second = GetUseCost(use, from[i], to[k]);
            }
            matrix->At(i, k) = found->second;
        }
    }
    return matrix;
}

} // namespace proteus
} // namespace ns3
