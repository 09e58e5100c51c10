/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-strategy-tree.h"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

template <typename T>
T
FindName(const std::string& text, const char* what, std::initializer_list<T> values)
{
    std::string known;
    for (const T value : values)
    {
        if (text == ToString(value))
        {
            return value;
        }
        known += (known.empty() ? "" : ", ") + std::string(ToString(value));
    }
    throw std::invalid_argument("unknown " + std::string(what) + " \"" + text +
                                "\": choose one of " + known);
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
            const std::size_t close = pattern.find('}', p);
            const std::size_t dots = pattern.find("..", p);
            auto isNumber = [](const std::string& s) {
                return !s.empty() && s.size() < 10 &&
                       std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
            };
            const std::string low = pattern.substr(p + 1, dots - p - 1);
            const std::string high =
                dots == std::string::npos ? "" : pattern.substr(dots + 2, close - dots - 2);
            if (close == std::string::npos || dots > close || !isNumber(low) || !isNumber(high))
            {
                throw std::invalid_argument("node name \"" + pattern +
                                            "\": a brace must hold a range like {0..11}");
            }
            std::size_t end = t;
            while (end < text.size() && text[end] >= '0' && text[end] <= '9')
            {
                ++end;
            }
            const std::string digits = text.substr(t, end - t);
            if (!isNumber(digits) || std::stoul(digits) < std::stoul(low) ||
                std::stoul(digits) > std::stoul(high))
            {
                return false;
            }
            t = end;
            p = close + 1;
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
        spec.recompute = !*node.recompute ? "" : isRoot ? "model" : path.substr(0, end);
    }
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

const char*
ToString(ScheduleKind kind)
{
    switch (kind)
    {
    case ScheduleKind::GPIPE:
        return "gpipe";
    case ScheduleKind::ONE_FORWARD_ONE_BACKWARD:
        return "1f1b";
    case ScheduleKind::INTERLEAVED:
        return "interleaved";
    case ScheduleKind::ZERO_BUBBLE:
        return "zero-bubble";
    case ScheduleKind::LIMITS:
        return "limits";
    }
    throw std::invalid_argument("a value that is no ScheduleKind");
}

ScheduleKind
ScheduleKindFromString(const std::string& text)
{
    return FindName(text,
                    "schedule",
                    {ScheduleKind::GPIPE,
                     ScheduleKind::ONE_FORWARD_ONE_BACKWARD,
                     ScheduleKind::INTERLEAVED,
                     ScheduleKind::ZERO_BUBBLE,
                     ScheduleKind::LIMITS});
}

const char*
ToString(BucketPolicy policy)
{
    switch (policy)
    {
    case BucketPolicy::WHOLE:
        return "whole";
    case BucketPolicy::DDP:
        return "ddp";
    case BucketPolicy::MEGATRON:
        return "megatron";
    case BucketPolicy::TENSOR:
        return "tensor";
    }
    throw std::invalid_argument("a value that is no BucketPolicy");
}

BucketPolicy
BucketPolicyFromString(const std::string& text)
{
    return FindName(
        text,
        "bucket policy",
        {BucketPolicy::WHOLE, BucketPolicy::DDP, BucketPolicy::MEGATRON, BucketPolicy::TENSOR});
}

const char*
ToString(OptimizerKind kind)
{
    switch (kind)
    {
    case OptimizerKind::SGD:
        return "sgd";
    case OptimizerKind::MOMENTUM:
        return "momentum";
    case OptimizerKind::ADAM:
        return "adam";
    case OptimizerKind::LAMB:
        return "lamb";
    }
    throw std::invalid_argument("a value that is no OptimizerKind");
}

OptimizerKind
OptimizerKindFromString(const std::string& text)
{
    return FindName(
        text,
        "optimizer",
        {OptimizerKind::SGD, OptimizerKind::MOMENTUM, OptimizerKind::ADAM, OptimizerKind::LAMB});
}

bool
MatchesPattern(const std::string& pattern, const std::string& text)
{
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
