/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-search-experts.h"

#include "ns3/proteus-output-plan.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-strategy-json.h"

#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

std::vector<std::string>
SplitExperts(const std::string& files)
{
    std::vector<std::string> experts = SplitOnce("--experts=" + files, files);
    std::map<std::string, std::string> met; // by the one name of a file
    for (const std::string& expert : experts)
    {
        const auto [first, isNew] = met.emplace(FindRealPath(expert), expert);
        if (!isNew)
        {
            throw std::invalid_argument("--experts=" + files + ": " + expert +
                                        " is the same file as " + first->second);
        }
    }
    return experts;
}

LoadedExpert
LoadExpert(const std::string& path,
           const ModelOptions& model,
           const FrameworkDefaults& defaults,
           uint64_t samples,
           uint64_t nGpus)
{
    ModelOptions options = model;
    options.strategy = path;
    LoadedExpert expert;
    expert.name = std::filesystem::path(path).stem().string();
    expert.plan = LoadStrategy(path, defaults.plan).plan;
    expert.training = options.Load(defaults);
    const StrategyTree& tree = expert.training.tree;
    expert.devices = expert.plan ? expert.plan->GetNDevices()
                                 : std::accumulate(tree.axisSizes.begin(),
                                                   tree.axisSizes.end(),
                                                   uint64_t{1},
                                                   std::multiplies<>());
    if (expert.devices > nGpus)
    {
        throw std::invalid_argument("--experts: " + path + " needs " +
                                    std::to_string(expert.devices) + " GPUs, the cluster has " +
                                    std::to_string(nGpus) + "; add servers (--nodes)");
    }
    const uint64_t own = tree.batch * tree.schedule.microBatches;
    if (own != samples)
    {
        throw std::invalid_argument("--experts: " + path + " has " + std::to_string(own) +
                                    " samples per iteration, --globalBatch is " +
                                    std::to_string(samples) +
                                    "; make both the same, so that times can be compared");
    }
    return expert;
}

} // namespace proteus
} // namespace ns3
