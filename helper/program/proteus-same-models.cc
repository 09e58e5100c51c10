/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-same-models.h"

#include <algorithm>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param a dimensions @param b others @return whether they are the same
bool
AreSame(const std::vector<IterationDimension>& a, const std::vector<IterationDimension>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.name == y.name && x.extent == y.extent && x.isSplittable == y.isSplittable;
    });
}

/// @param a work @param b other work @return whether it is the same
bool
AreSame(const std::vector<Work>& a, const std::vector<Work>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Work& x, const Work& y) {
        return x.perPoint == y.perPoint && x.extents == y.extents;
    });
}

/// @param a a kernel @param b another one @return whether they are the same
bool
AreSame(const OperatorPart& a, const OperatorPart& b)
{
    return a.name == b.name && a.reads.size() == b.reads.size() &&
           a.writes.size() == b.writes.size() && AreSame(a.flops, b.flops) &&
           AreSame(a.bytes, b.bytes);
}

/// @param a what an operator accesses @param b what another one does @return whether that is the
/// same
bool
AreSame(const std::vector<Access>& a, const std::vector<Access>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.tensor == y.tensor && x.map == y.map && x.traffic == y.traffic;
    });
}

/// @param a an operator @param b another one @return whether they are the same
bool
AreSame(const ModelOperator& a, const ModelOperator& b)
{
    return a.name == b.name && a.kind == b.kind && a.tensorParallel == b.tensorParallel &&
           a.head.key == b.head.key && a.head.value == b.head.value &&
           a.hasDropout == b.hasDropout && a.hasMask == b.hasMask && a.isCausal == b.isCausal &&
           a.documents == b.documents && a.hasWeightedBias == b.hasWeightedBias &&
           a.window == b.window && a.routing.experts == b.routing.experts &&
           a.routing.top == b.routing.top && a.routing.groups == b.routing.groups &&
           a.routing.topGroups == b.routing.topGroups && AreSame(a.dimensions, b.dimensions) &&
           AreSame(a.reads, b.reads) && AreSame(a.writes, b.writes) &&
           AreSame(a.forward, b.forward) &&
           std::equal(a.backward.begin(),
                      a.backward.end(),
                      b.backward.begin(),
                      b.backward.end(),
                      [](const auto& x, const auto& y) { return AreSame(x, y); });
}

} // namespace

bool
AreSameModels(const Model& a, const Model& b)
{
    const auto sameTensor = [](const ModelTensor& x, const ModelTensor& y) {
        return x.name == y.name && x.shape == y.shape && x.element == y.element &&
               x.role == y.role && x.needsGradient == y.needsGradient;
    };
    const auto& tensors = a.GetTensors();
    const auto& others = b.GetTensors();
    return std::equal(tensors.begin(), tensors.end(), others.begin(), others.end(), sameTensor) &&
           std::equal(a.GetOperators().begin(),
                      a.GetOperators().end(),
                      b.GetOperators().begin(),
                      b.GetOperators().end(),
                      [](const auto& x, const auto& y) { return AreSame(x, y); });
}

} // namespace proteus
} // namespace ns3
