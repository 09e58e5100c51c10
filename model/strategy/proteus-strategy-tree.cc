/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-strategy-tree.h"

#include "ns3/proteus-enum-names.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr EnumNames<ScheduleKind, 5> SCHEDULES{"schedule",
                                               {{ScheduleKind::GPIPE, "gpipe"},
                                                {ScheduleKind::ONE_FORWARD_ONE_BACKWARD, "1f1b"},
                                                {ScheduleKind::INTERLEAVED, "interleaved"},
                                                {ScheduleKind::ZERO_BUBBLE, "zero-bubble"},
                                                {ScheduleKind::LIMITS, "limits"}}};

constexpr EnumNames<BucketPolicy, 5> BUCKETS{"bucket policy",
                                             {{BucketPolicy::WHOLE, "whole"},
                                              {BucketPolicy::DDP, "ddp"},
                                              {BucketPolicy::MEGATRON, "megatron"},
                                              {BucketPolicy::TENSOR, "tensor"},
                                              {BucketPolicy::UNIT, "unit"}}};

// AdamW reads, computes and writes as much as Adam does. Lion (Chen et al. 2023, algorithm 2) has
// one moment, and reads and writes it, gradient and parameter once, as SGD with momentum does.
constexpr EnumNames<OptimizerKind, 15> OPTIMIZERS{"optimizer",
                                                  {{OptimizerKind::SGD, "sgd"},
                                                   {OptimizerKind::MOMENTUM, "momentum"},
                                                   {OptimizerKind::MOMENTUM, "lion"},
                                                   {OptimizerKind::ADAM, "adam"},
                                                   {OptimizerKind::ADAM, "adamw"},
                                                   {OptimizerKind::LAMB, "lamb"},
                                                   {OptimizerKind::ADAM_8BIT, "adam8bit"},
                                                   {OptimizerKind::ADAM_8BIT, "adamw8bit"},
                                                   {OptimizerKind::ADAFACTOR, "adafactor"},
                                                   {OptimizerKind::MUON, "muon"},
                                                   {OptimizerKind::LARS, "lars"},
                                                   {OptimizerKind::ADAM_FUSED, "adam-fused"},
                                                   {OptimizerKind::ADAM_FUSED, "adamw-fused"},
                                                   {OptimizerKind::ADAM_FOREACH, "adam-foreach"},
                                                   {OptimizerKind::ADAM_FOREACH, "adamw-foreach"}}};

/// @param text any @return whether it is a number of a part of a path
bool
IsNumber(const std::string& text)
{
    return !text.empty() && text.size() < 10 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Numbers that a brace stands for, and where the pattern goes on behind it.
struct Brace
{
    unsigned long low;
    unsigned long high;
    std::size_t end;
};

/// @param pattern of a node @param p where it has a brace @return what that says
/// @throw std::invalid_argument if it is no range, or one that goes down
Brace
ReadBrace(const std::string& pattern, std::size_t p)
{
    const std::size_t close = pattern.find('}', p);
    const std::size_t dots = pattern.find("..", p);
    const std::string low = pattern.substr(p + 1, dots - p - 1);
    const std::string high =
        dots == std::string::npos ? "" : pattern.substr(dots + 2, close - dots - 2);
    if (close == std::string::npos || dots > close || !IsNumber(low) || !IsNumber(high))
    {
        throw std::invalid_argument("node name \"" + pattern +
                                    "\": a brace must hold a range like {0..11}");
    }
    const Brace brace{std::stoul(low), std::stoul(high), close + 1};
    if (brace.low > brace.high)
    {
        throw std::invalid_argument("node name \"" + pattern + "\": the range goes down");
    }
    return brace;
}

bool
Matches(const std::string& pattern, std::size_t p, const std::string& text, std::size_t t)
{
    while (p < pattern.size())
    {
        if (pattern[p] == '*')
        {
            for (std::size_t end = t; end <= text.size(); ++end)
            {
                if (Matches(pattern, p + 1, text, end))
                {
                    return true;
                }
            }
            return false;
        }
        if (pattern[p] == '{')
        {
            const Brace brace = ReadBrace(pattern, p);
            std::size_t end = t;
            while (end < text.size() && text[end] >= '0' && text[end] <= '9')
            {
                ++end;
            }
            const std::string digits = text.substr(t, end - t);
            if (!IsNumber(digits) || std::stoul(digits) < brace.low ||
                std::stoul(digits) > brace.high)
            {
                return false;
            }
            t = end;
            p = brace.end;
            continue;
        }
        if (t >= text.size() || text[t] != pattern[p])
        {
            return false;
        }
        ++p;
        ++t;
    }
    return t == text.size();
}

/// @param path of a node @param group that it belongs to @return what its block is called
std::string
NameGroup(const std::string& path, const std::string& group)
{
    const std::size_t dot = path.rfind('.');
    return (dot == std::string::npos ? "" : path.substr(0, dot + 1)) + group;
}

/// Lets a node have its say on an operator, then those below it.
void
Apply(const StrategyNode& node,
      const std::string& path,
      std::size_t begin,
      bool isRoot,
      NodeSpec& spec)
{
    const std::size_t end = isRoot ? std::string::npos : path.find('.', begin);
    const bool isLeaf = !isRoot && end == std::string::npos;
    spec.nodes.push_back(&node);
    if (!isRoot)
    {
        spec.node += (spec.node.empty() ? "" : "/") + node.name;
    }
    if (node.op.mesh)
    {
        spec.op.mesh = node.op.mesh;
        spec.hasOwnMesh = !isRoot;
    }
    if (node.op.splits && isLeaf)
    {
        spec.op.splits = node.op.splits;
    }
    else if (node.op.splits)
    {
        spec.inherited = *node.op.splits;
        spec.ancestor = &node;
    }
    spec.op.isComplete = spec.op.isComplete || (isLeaf && node.op.isComplete);
    if (isLeaf)
    {
        for (const auto& [item, config] : node.items)
        {
            spec.items[item] = config;
        }
    }
    if (node.stage)
    {
        spec.stage = node.stage;
    }
    if (node.recompute)
    {
        spec.recomputeGroup = *node.recompute && !isRoot ? node.recomputeGroup : "";
        const std::string own = isRoot ? "model" : path.substr(0, end);
        spec.recompute = !*node.recompute              ? ""
                         : spec.recomputeGroup.empty() ? own
                                                       : NameGroup(own, spec.recomputeGroup);
    }
    spec.keeps = node.keep.value_or(spec.keeps);
    if (isLeaf)
    {
        return;
    }
    const std::size_t next = isRoot ? 0 : end + 1;
    const std::string part = path.substr(next, path.find('.', next) - next);
    for (const StrategyNode& child : node.children)
    {
        if (MatchesPattern(child.name, part))
        {
            Apply(child, path, next, false, spec);
        }
    }
}

} // namespace

StrategyNode&
StrategyNode::GetChild(const std::string& part)
{
    const auto found = std::find_if(children.begin(),
                                    children.end(),
                                    [&](const StrategyNode& child) { return child.name == part; });
    if (found != children.end())
    {
        return *found;
    }
    children.emplace_back();
    children.back().name = part;
    return children.back();
}

const char*
ToString(ScheduleKind kind)
{
    return SCHEDULES.Get(kind);
}

ScheduleKind
ScheduleKindFromString(const std::string& text)
{
    return SCHEDULES.Parse(text);
}

const char*
ToString(BucketPolicy policy)
{
    return BUCKETS.Get(policy);
}

BucketPolicy
BucketPolicyFromString(const std::string& text)
{
    return BUCKETS.Parse(text);
}

const char*
ToString(OptimizerKind kind)
{
    return OPTIMIZERS.Get(kind);
}

OptimizerKind
OptimizerKindFromString(const std::string& text)
{
    return OPTIMIZERS.Parse(text);
}

std::vector<std::string>
GetOptimizerKindNames()
{
    return OPTIMIZERS.List();
}

uint64_t
GetStoredBytes(DataType type)
{
    return type == DataType::FP32 || type == DataType::TF32 ? 4 : 2;
}

uint64_t
GetParameterBytes(const OptimizerSpec& optimizer, const PrecisionSpec& precision)
{
    const uint64_t stored = GetStoredBytes(precision.compute);
    const bool hasMaster = stored == 2 && precision.hasMaster && !optimizer.isOffloaded;
    return hasMaster && optimizer.zero == 3 && !optimizer.hasHalfShares ? 0 : stored;
}

uint64_t
GetOptimizerStateBytes(OptimizerKind kind, const PrecisionSpec& precision)
{
    const bool isHalf = GetStoredBytes(precision.compute) == 2;
    const uint64_t master = isHalf && precision.hasMaster ? 4 : 0;
    const uint64_t moment = isHalf && !precision.hasMaster ? 2 : 4;
    switch (kind)
    {
    case OptimizerKind::ADAM:
    case OptimizerKind::ADAM_FUSED:
    case OptimizerKind::ADAM_FOREACH:
    case OptimizerKind::LAMB:
        return 2 * moment + master;
    case OptimizerKind::MOMENTUM:
    case OptimizerKind::MUON:
    case OptimizerKind::LARS:
        return moment + master;
    case OptimizerKind::ADAM_8BIT:
        return 2 + master;
    case OptimizerKind::SGD:
    case OptimizerKind::ADAFACTOR:
        return master;
    }
    return master;
}

double
GetOptimizerStateBytes(OptimizerKind kind,
                       const PrecisionSpec& precision,
                       const std::vector<uint64_t>& shape,
                       bool isMatrix)
{
    const auto usual = static_cast<double>(GetOptimizerStateBytes(kind, precision));
    const uint64_t elements =
        std::accumulate(shape.begin(), shape.end(), uint64_t{1}, std::multiplies<>());
    const auto fp32 = static_cast<double>(GetStoredBytes(DataType::FP32));
    if (kind == OptimizerKind::ADAM_8BIT)
    {
        constexpr uint64_t LEAST = 4096;
        constexpr double BLOCK = 256;
        return usual + (elements < LEAST ? 2 * fp32 - 2 : 2 * fp32 / BLOCK);
    }
    if (kind == OptimizerKind::ADAFACTOR)
    {
        const std::size_t rank = shape.size();
        return usual + (rank < 2 ? fp32
                                 : fp32 / static_cast<double>(shape[rank - 1]) +
                                       fp32 / static_cast<double>(shape[rank - 2]));
    }
    if (kind == OptimizerKind::MUON && !isMatrix)
    {
        return static_cast<double>(GetOptimizerStateBytes(OptimizerKind::ADAM, precision));
    }
    return usual;
}

bool
MatchesPattern(const std::string& pattern, const std::string& text)
{
    for (std::size_t p = pattern.find('{'); p != std::string::npos; p = pattern.find('{', p + 1))
    {
        ReadBrace(pattern, p); // those that the text does not come to, too
    }
    return Matches(pattern, 0, text, 0);
}

NodeSpec
FindNodeSpec(const StrategyTree& tree, const std::string& path)
{
    NodeSpec spec;
    Apply(tree.root, path, 0, true, spec);
    if (spec.node.empty())
    {
        spec.node = "root";
    }
    return spec;
}

} // namespace proteus
} // namespace ns3
