/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-adapters.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param outputs widths @param dimension that tensor parallelism splits, or "" @return attributes
/// of a layer without a bias
OperatorAttributes
MakeAttributes(const std::vector<int64_t>& outputs, const std::string& dimension)
{
    OperatorAttributes attributes;
    attributes.numbers = {{"outputs", outputs}, {"bias", {0}}};
    if (!dimension.empty())
    {
        attributes.words["tensorParallel"] = dimension;
    }
    return attributes;
}

/// Adds one adapter. @param path of its operators @param results that it adds to @return the sums
std::vector<TensorId>
AddAdapter(ModelBuilder& builder,
           const std::string& path,
           TensorId input,
           const std::vector<TensorId>& results,
           uint64_t rank,
           const AdapterSpec& spec)
{
    std::vector<int64_t> widths;
    for (const TensorId result : results)
    {
        widths.push_back(static_cast<int64_t>(builder.GetTensor(result).shape.back()));
    }
    TensorId read = input;
    if (spec.hasDropout)
    {
        read =
            builder.Add(spec.isWide ? "wide-dropout" : "dropout", path + ".drop", {input}).front();
    }
    else if (spec.isWide)
    {
        read = builder.Add("widen", path + ".cast", {input}).front();
    }
    const bool isInputSplit = spec.tensorParallel == "in";
    const TensorId down =
        builder
            .Add("linear",
                 path + ".down",
                 {read},
                 MakeAttributes({static_cast<int64_t>(rank)}, isInputSplit ? "in" : ""))
            .front();
    const std::vector<TensorId> up =
        builder.Add("linear",
                    path + ".up",
                    {down},
                    MakeAttributes(widths, isInputSplit ? "" : spec.tensorParallel));
    std::vector<TensorId> sums;
    for (std::size_t i = 0; i < results.size(); ++i)
    {
        const std::string number = results.size() > 1 ? std::to_string(i) : "";
        sums.push_back(builder
                           .Add(spec.isWide ? "wide-adapter-add" : "adapter-add",
                                path + ".sum" + number,
                                {results[i], up[i]})
                           .front());
    }
    return sums;
}

} // namespace

std::vector<TensorId>
AddAdapters(ModelBuilder& builder,
            const std::string& name,
            TensorId input,
            const std::vector<TensorId>& results,
            const AdapterSpec& spec)
{
    const std::string path = name + "-adapter";
    if (spec.ranks.size() == 1)
    {
        return spec.ranks[0] == 0 ? results
                                  : AddAdapter(builder, path, input, results, spec.ranks[0], spec);
    }
    if (spec.ranks.size() != results.size())
    {
        throw std::invalid_argument("\"adapter\" has " + std::to_string(spec.ranks.size()) +
                                    " ranks, must have one, or one for each of " +
                                    std::to_string(results.size()) + " results");
    }
    std::vector<TensorId> sums = results;
    for (std::size_t i = 0; i < results.size(); ++i)
    {
        if (spec.ranks[i] > 0)
        {
            const std::string one = path + std::to_string(i);
            sums[i] = AddAdapter(builder, one, input, {results[i]}, spec.ranks[i], spec).front();
        }
    }
    return sums;
}

} // namespace proteus
} // namespace ns3
