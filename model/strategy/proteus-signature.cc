/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-signature.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

/// State of a tensor when a dimension of the iteration space is split.
std::string
GetState(const Access& access, IterationAxis dimension)
{
    for (std::size_t i = 0; i < access.map.size(); ++i)
    {
        if (std::count(access.map[i].begin(), access.map[i].end(), dimension) > 0)
        {
            return "S" + std::to_string(i);
        }
    }
    return "R";
}

/// The operator with partial sums in some of its reads.
Signature
MakePartial(const ModelOperator& op, const std::vector<std::size_t>& partial)
{
    Signature signature;
    signature.reads.assign(op.reads.size(), "R");
    for (const std::size_t read : partial)
    {
        signature.reads[read] = "P";
    }
    signature.writes.assign(op.writes.size(), "P");
    return signature;
}

} // namespace

std::vector<Signature>
GetSignatures(const ModelOperator& op)
{
    std::vector<Signature> signatures;
    for (IterationAxis dimension = 0; dimension < op.dimensions.size(); ++dimension)
    {
        if (!op.dimensions[dimension].isSplittable)
        {
            continue;
        }
        Signature signature;
        for (const Access& read : op.reads)
        {
            signature.reads.push_back(GetState(read, dimension));
        }
        for (const Access& write : op.writes)
        {
            std::string state = GetState(write, dimension);
            for (const uint8_t summand : write.summands)
            {
                if (state == "R" && GetState(op.reads[summand], dimension) != "R")
                {
                    state = "P";
                }
            }
            signature.writes.push_back(state);
        }
        signatures.push_back(signature);
    }
    // A term that is added once, like a bias, would be added by every device.
    std::vector<std::size_t> linear;
    bool isLinear = true;
    bool isProduct = false;
    for (std::size_t i = 0; i < op.reads.size(); ++i)
    {
        if (op.reads[i].isLinear)
        {
            linear.push_back(i);
        }
        isLinear = isLinear && op.reads[i].isLinear;
    }
    for (const Access& write : op.writes)
    {
        isProduct = isProduct || write.summands.size() > 1;
    }
    if (!isLinear)
    {
        return signatures;
    }
    if (!isProduct)
    {
        signatures.push_back(MakePartial(op, linear));
        return signatures;
    }
    for (const std::size_t read : linear)
    {
        signatures.push_back(MakePartial(op, {read}));
    }
    return signatures;
}

} // namespace proteus
} // namespace ns3
