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
#include "ns3/proteus-strategy-tree.h"

#include <map>
#include <string>

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
struct TrainingPlan;

/**
 * @ingroup proteus
 * Which framework trains. Where none is named, one is chosen: ddp for models with convolutions;
 * fsdp1 for strategies that gather parameters before their use (ZeRO 3), without tensor parallelism
 * and pipelines; otherwise megatron-core on GPUs of compute capability 9.0 and above, and on older
 * ones megatron-2022, to whose iterations the operator cost was fitted.
 */
struct FrameworkOption
{
    CommandLineText name; //!< as typed: a name or a file; empty: one is chosen
    std::string folder;   //!< with frameworks that have a name

    /// @param command to add the option to
    void AddTo(OptionList& command);

    /// @return what it says for what strategy and model leave out; nothing if it was chosen
    /// @throw std::invalid_argument as Load()
    FrameworkDefaults GetDefaults() const;

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
     * @param plan what is trained and how
     * @param cluster whose first GPU stands for all
     * @param interval of the host
     * @return the framework
     * @throw std::invalid_argument as the other Load()
     */
    Framework Load(const TrainingPlan& plan,
                   const Cluster& cluster,
                   const LaunchInterval& interval) const;

  private:
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
