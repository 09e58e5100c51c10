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
#include <array>
#include <boost/algorithm/string/join.hpp>
#include <cstdint>
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

/// Marks numbered blocks, and in them what is kept: results of products with weights, of routers,
/// and of what brings tokens to experts and back, which is not done twice.
/// @param keeps names in a block; if there are some, of products only these are kept, and so is
/// what else they name
void
RecomputeBetweenProducts(StrategyTree& tree, const Model& model, const std::set<std::string>& keeps)
{
    static const std::set<std::string> ROUTING{"router", "dispatch", "combine"};
    for (const ModelOperator& op : model.GetOperators())
    {
        const std::string block = FindBlock(op.name);
        if (block.empty())
        {
            continue;
        }
        std::string name; // "layer" of "layer3"
        uint32_t number = 0;
        SplitNumber(block, name, number);
        FindNode(tree.root, name + "*").recompute = true;
        if (ROUTING.count(op.kind) > 0 || keeps.count(GetNameInBlock(op.name)) > 0 ||
            (keeps.empty() && IsProduct(op)))
        {
            FindNode(tree.root, op.name).keep = true;
        }
    }
}

/// A part of blocks that is computed again.
enum Module : uint8_t
{
    CORE_ATTENTION,
    LAYER_NORM,
    MLP,
    EXPERTS,
    EXPERT_ACTIVATION,
    MODULES
};

/// As Megatron-LM calls them.
constexpr std::array<const char*, MODULES> MODULE_NAMES{"core_attn",
                                                        "layernorm",
                                                        "mlp",
                                                        "moe",
                                                        "moe_act"};

/// @param reader an operator @param maker another one @return whether it reads a result of that
bool
ReadsFrom(const ModelOperator& reader, const ModelOperator& maker)
{
    return std::any_of(reader.reads.begin(), reader.reads.end(), [&](const Access& read) {
        return std::any_of(maker.writes.begin(), maker.writes.end(), [&](const Access& write) {
            return write.tensor == read.tensor;
        });
    });
}

/// Kinds of operators that multiply, route or send what a norm or an activation makes.
const std::set<std::string> READERS{"linear", "expert-linear", "router", "dispatch"};

using Paths = std::vector<std::string>;

/// @param model a model @param op one of its operators @return paths of those that multiply, route
/// or send what it makes
Paths
FindReaders(const Model& model, const ModelOperator& op)
{
    Paths readers;
    for (const ModelOperator& other : model.GetOperators())
    {
        if (READERS.count(other.kind) > 0 && ReadsFrom(other, op))
        {
            readers.push_back(other.name);
        }
    }
    return readers;
}

/// @param model a model @param op one of its operators @return whether it stands between products
/// of experts
bool
IsBetweenExperts(const Model& model, const ModelOperator& op)
{
    const auto& operators = model.GetOperators();
    const auto isExpert = [&](const auto& meets) {
        return std::any_of(operators.begin(), operators.end(), [&](const ModelOperator& other) {
            return other.kind == "expert-linear" && meets(other);
        });
    };
    return isExpert([&](const ModelOperator& other) { return ReadsFrom(op, other); }) &&
           isExpert([&](const ModelOperator& other) { return ReadsFrom(other, op); });
}

/// @return by module, the paths of its operators in all numbered blocks
std::array<Paths, MODULES>
FindModules(const Model& model)
{
    static const std::set<std::string> NORMS{"layer-norm", "rms-norm"};
    std::array<Paths, MODULES> modules;
    std::vector<std::string> behind; // the last norm of a block that products read
    bool hasExperts = false;
    std::string last;
    const auto close = [&] {
        auto& module = modules[hasExperts ? EXPERTS : MLP];
        module.insert(module.end(), behind.begin(), behind.end());
        behind.clear();
        hasExperts = false;
    };
    for (const ModelOperator& op : model.GetOperators())
    {
        const std::string block = FindBlock(op.name);
        if (block != last)
        {
            close();
            last = block;
        }
        if (block.empty())
        {
            continue;
        }
        if (NORMS.count(op.kind) > 0 && !FindReaders(model, op).empty())
        {
            modules[LAYER_NORM].push_back(op.name);
            behind.clear();
            continue;
        }
        behind.push_back(op.name);
        hasExperts = hasExperts || op.kind == "expert-linear";
        if (op.kind == "attention")
        {
            modules[CORE_ATTENTION].push_back(op.name);
        }
        if (!IsProduct(op) && IsBetweenExperts(model, op))
        {
            modules[EXPERT_ACTIVATION].push_back(op.name);
        }
    }
    close();
    return modules;
}

/// Marks parts of blocks. A norm or an activation is one group with those that read it: only others
/// read what these make, so that they are not computed again. Where one of them is computed again
/// with others, it joins these.
void
RecomputeModules(StrategyTree& tree, const Model& model, const std::set<std::string>& names)
{
    const auto modules = FindModules(model);
    const auto isNamed = [&names](Module module) { return names.count(MODULE_NAMES[module]) > 0; };
    const auto mark = [&tree](const std::string& path, const std::string& group) {
        StrategyNode& node = FindNode(tree.root, path);
        node.recompute = true;
        node.recomputeGroup = group;
    };
    for (const Module module : {CORE_ATTENTION, MLP, EXPERTS})
    {
        const std::string group = module == CORE_ATTENTION ? "" : MODULE_NAMES[module];
        for (const std::string& path : isNamed(module) ? modules[module] : Paths())
        {
            mark(path, group);
        }
    }
    std::set<std::string> alone;
    for (const Module module : {LAYER_NORM, EXPERT_ACTIVATION})
    {
        const Paths& paths = isNamed(module) ? modules[module] : Paths();
        alone.insert(paths.begin(), paths.end());
    }
    for (const ModelOperator& op : model.GetOperators())
    {
        if (alone.count(op.name) == 0)
        {
            continue;
        }
        const Paths readers = FindReaders(model, op);
        const StrategyNode& last = FindNode(tree.root, readers.back());
        const bool isJoining = last.recompute && !last.recomputeGroup.empty();
        const std::string group =
            isJoining ? last.recomputeGroup : "before " + GetNameInBlock(readers.back());
        mark(op.name, group);
        for (const std::string& path : isJoining ? Paths() : readers)
        {
            mark(path, group);
        }
    }
}

} // namespace

std::vector<std::string>
GetRecomputeModuleNames()
{
    return {MODULE_NAMES.begin(), MODULE_NAMES.end()};
}

void
CheckRecomputeModules(const Model& model, const ParallelPlan& plan)
{
    if (plan.recomputeModules.empty())
    {
        return;
    }
    CheckPlan(plan.recompute == RecomputePlan::SELECTIVE,
              "recomputeModules says what is computed again, and needs recompute = selective");
    const auto modules = FindModules(model);
    for (const std::string& name : plan.recomputeModules)
    {
        const auto found = std::find(MODULE_NAMES.begin(), MODULE_NAMES.end(), name);
        CheckPlan(found != MODULE_NAMES.end(),
                  "recomputeModules: there is no '" + name + "'; there are " +
                      boost::algorithm::join(GetRecomputeModuleNames(), ", "));
        CheckPlan(!modules[static_cast<std::size_t>(found - MODULE_NAMES.begin())].empty(),
                  "recomputeModules: the blocks of model " + model.GetName() + " have no " + name);
    }
    CheckPlan(plan.recomputeModules.count("moe") == 0 ||
                  plan.recomputeModules.count("moe_act") == 0,
              "recomputeModules: moe has moe_act in it; leave one out");
}

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
    std::set<std::string> names;
    for (const ModelOperator& op : model.GetOperators())
    {
        if (!FindBlock(op.name).empty())
        {
            names.insert(GetNameInBlock(op.name));
        }
    }
    for (const std::string& name : plan.recomputeKeeps)
    {
        CheckPlan(names.count(name) > 0,
                  "recomputeKeeps: the blocks of model " + model.GetName() + " have no '" + name +
                      "'; there are " + boost::algorithm::join(names, ", "));
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
    if (plan.recompute == RecomputePlan::SELECTIVE && !plan.recomputeModules.empty())
    {
        RecomputeModules(tree, model, plan.recomputeModules);
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
