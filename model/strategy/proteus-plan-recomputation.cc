/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-plan-recomputation.h"

#include "proteus-emit-units.h"
#include "proteus-plan-grid.h"
#include "proteus-plan-nodes.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return whether results of an operator are those of a product with weights
bool
IsProduct(const ModelOperator& op)
{
    return op.kind == "linear" || op.kind == "expert-linear";
}

/// @return "qkv" of "layer3.qkv"
std::string
GetNameInBlock(const std::string& name)
{
    return name.substr(name.find('.') + 1);
}

/// Marks what stands before the products of numbered blocks: a group ends with products that follow
/// each other and do not read each other, so that only other groups read their results, and they
/// are not computed again. Routers and what brings tokens to experts and back count as products: it
/// is not done twice.
/// @param keeps names of products in a block; if there are some, the others are computed again, and
/// so is what stands behind the last of them in its block
void
RecomputeBetweenProducts(StrategyTree& tree, const Model& model, const std::set<std::string>& keeps)
{
    static const std::set<std::string> KEPT{"linear",
                                            "expert-linear",
                                            "router",
                                            "dispatch",
                                            "combine"};
    std::vector<std::string> group; // paths of operators
    std::set<TensorId> results;     // of its products
    bool hasDropped = false;        // whether results of products of it are not kept
    std::string last;
    const auto close = [&] {
        const bool isAgain = !results.empty() || hasDropped;
        for (const std::string& path : isAgain ? group : std::vector<std::string>())
        {
            StrategyNode& node = FindNode(tree.root, path);
            node.recompute = true;
            node.recomputeGroup = "before " + GetNameInBlock(group.back());
        }
        group.clear();
        results.clear();
        hasDropped = false;
    };
    for (const ModelOperator& op : model.GetOperators())
    {
        const std::string block = FindBlock(op.name);
        const bool isNamed = keeps.count(GetNameInBlock(op.name)) > 0;
        const bool isDropped = !keeps.empty() && IsProduct(op) && !isNamed;
        const bool isProduct = KEPT.count(op.kind) > 0 && !isDropped;
        const bool isNext = std::any_of(op.reads.begin(), op.reads.end(), [&](const Access& read) {
            return results.count(read.tensor) > 0;
        });
        if (block != last || isNext || (!results.empty() && !isProduct))
        {
            close();
        }
        last = block;
        if (isNamed && !isProduct)
        {
            close(); // its by-products are kept, too, and what it reads
            continue;
        }
        if (block.empty())
        {
            continue;
        }
        group.push_back(op.name);
        hasDropped = hasDropped || isDropped;
        for (const Access& write : isProduct ? op.writes : std::vector<Access>())
        {
            results.insert(write.tensor);
        }
    }
    close();
}

} // namespace

void
CheckRecomputeKeeps(const Model& model, const ParallelPlan& plan)
{
    if (plan.recomputeKeeps.empty())
    {
        return;
    }
    CheckPlan(plan.recompute == RecomputePlan::BETWEEN_PRODUCTS,
              "recomputeKeeps says whose results are kept, and needs recompute = "
              "between-products");
    std::set<std::string> products;
    for (const ModelOperator& op : model.GetOperators())
    {
        if ((IsProduct(op) || op.kind == "attention") && !FindBlock(op.name).empty())
        {
            products.insert(GetNameInBlock(op.name));
        }
    }
    std::string list;
    for (const std::string& name : products)
    {
        list += (list.empty() ? "" : ", ") + name;
    }
    for (const std::string& name : plan.recomputeKeeps)
    {
        CheckPlan(products.count(name) > 0,
                  "recomputeKeeps: the blocks of model " + model.GetName() +
                      " have no product or attention '" + name + "'; there are " + list);
    }
}

void
AddRecomputation(StrategyTree& tree, const Model& model, const ParallelPlan& plan)
{
    if (plan.recompute == RecomputePlan::BETWEEN_PRODUCTS)
    {
        RecomputeBetweenProducts(tree, model, plan.recomputeKeeps);
        return;
    }
    std::set<std::string> blocks;
    const bool isEvery = plan.recomputeEvery == 1;
    for (const ModelOperator& op : model.GetOperators())
    {
        if (plan.recompute == RecomputePlan::SELECTIVE && op.kind == "attention")
        {
            FindNode(tree.root, op.name).recompute = true;
        }
        std::string block;
        uint32_t number = 0;
        const std::size_t dot = op.name.find('.');
        if (plan.recompute == RecomputePlan::FULL && dot != std::string::npos &&
            SplitNumber(op.name.substr(0, dot), block, number) &&
            (number + 1) % plan.recomputeEvery == 0)
        {
            blocks.insert(isEvery ? block + "*" : op.name.substr(0, dot));
        }
    }
    for (const std::string& block : blocks)
    {
        FindNode(tree.root, block).recompute = true;
    }
}

} // namespace proteus
} // namespace ns3
