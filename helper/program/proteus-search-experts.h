/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SEARCH_EXPERTS_H
#define PROTEUS_SEARCH_EXPERTS_H

#include "proteus-model-options.h"

#include "ns3/proteus-parallel-plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Strategies in files, to compare with what a search finds.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param files of --experts, separated by commas @return them, each once
/// @throw std::invalid_argument if one is empty, or the same file is there twice
std::vector<std::string> SplitExperts(const std::string& files);

/// @ingroup proteus
/// A strategy of a file.
struct LoadedExpert
{
    std::string name;                 //!< of the strategy, or of its file
    std::optional<ParallelPlan> plan; //!< if it is one
    TrainingPlan training;            //!< model and strategy
    uint64_t devices{1};              //!< GPUs
};

/**
 * @ingroup proteus
 * @param path of a strategy
 * @param model to train
 * @param defaults as ModelOptions::Load()
 * @param samples of an iteration
 * @param nGpus that there are
 * @return the strategy
 * @throw std::invalid_argument as ModelOptions::Load(), or if it needs more GPUs or has another
 * number of samples
 */
LoadedExpert LoadExpert(const std::string& path,
                        const ModelOptions& model,
                        const FrameworkDefaults& defaults,
                        uint64_t samples,
                        uint64_t nGpus);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SEARCH_EXPERTS_H
