/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FRAMEWORK_OPTION_H
#define PROTEUS_FRAMEWORK_OPTION_H

#include "proteus-command-line-text.h"
#include "proteus-option-list.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-framework.h"
#include "ns3/proteus-model.h"
#include "ns3/proteus-parallel-plan.h"
#include "ns3/proteus-strategy-tree.h"

#include <functional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The option --framework of the programs that compile a model.
 */

namespace ns3
{
namespace proteus
{

struct LaunchInterval;

/// @ingroup proteus
/// A model and how it is trained.
struct TrainingPlan
{
    Model model;                    //!< what
    StrategyTree tree;              //!< how
    std::vector<std::string> files; //!< that the model is from
    std::string source{};           //!< of the strategy, before errors: a file, or its option
};

/// @ingroup proteus
/// @param defaults of a framework @return the plan that says nothing else
ParallelPlan MakeDefaultPlan(const FrameworkDefaults& defaults);

/// @ingroup proteus
/// What is trained, and by which framework.
struct FrameworkPlan
{
    TrainingPlan plan;   //!< with the framework's defaults
    Framework framework; //!< named or chosen
};

/**
 * @ingroup proteus
 * Which framework trains. Where none is named, one is chosen: ddp for models with convolutions;
 * fsdp1 for strategies that gather parameters before their use (ZeRO 3), without tensor parallelism
 * and pipelines; otherwise megatron-core on GPUs of compute capability 9.0 and above, and on older
 * ones megatron-2022, to whose iterations the operator cost was fitted.
 */
struct FrameworkOption
{
    CommandLineText name;  //!< as typed: a name or a file; empty: one is chosen
    std::string workloads; //!< folder workloads/, with frameworks that have a name; may be empty

    /// @param command to add the option to
    void AddTo(OptionList& command);

    /**
     * @param gpu name of a data sheet
     * @param model what is trained
     * @param tree how; null: not known
     * @param interval of the host; if it was given, it takes the place of the framework's times per
     * kernel
     * @return the framework
     * @throw std::invalid_argument if there is none of that name, its file is wrong, or the
     * interval is negative
     */
    Framework Load(const std::string& gpu,
                   const Model& model,
                   const StrategyTree* tree,
                   const LaunchInterval& interval) const;

    /**
     * Loads a plan, and the framework that trains it. A framework that is chosen gives strategy and
     * model the same defaults as one that is named; the choice is made by what they say themselves.
     * @param gpu name of a data sheet
     * @param interval of the host, as Load()
     * @param load makes the plan with the framework's defaults for what it leaves out; called once
     * with none where a framework has to be chosen
     * @return both
     * @throw std::invalid_argument as Load(), and what load() throws
     */
    FrameworkPlan LoadPlan(
        const std::string& gpu,
        const LaunchInterval& interval,
        const std::function<TrainingPlan(const FrameworkDefaults& defaults)>& load) const;

    /// @param cluster whose first GPU stands for all @param interval as Load() @param load as the
    /// other LoadPlan() @return as the other LoadPlan()
    /// @throw std::invalid_argument as the other LoadPlan()
    FrameworkPlan LoadPlan(
        const Cluster& cluster,
        const LaunchInterval& interval,
        const std::function<TrainingPlan(const FrameworkDefaults& defaults)>& load) const;

    /**
     * @param framework that was loaded
     * @param gpu name of a data sheet
     * @return a sentence: how far times of published iterations of such jobs are off
     */
    std::string DescribeErrors(const Framework& framework, const std::string& gpu) const;

    /// @param text a name or a file @return path of the file
    /// @throw std::invalid_argument if there is none
    std::string FindFile(const std::string& text) const;
};

/**
 * @ingroup proteus
 * @param gpu name of a data sheet
 * @param model what is trained
 * @param tree how; null: not known
 * @return name of the framework that FrameworkOption chooses where none is named
 */
std::string ChooseFramework(const std::string& gpu, const Model& model, const StrategyTree* tree);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FRAMEWORK_OPTION_H
