/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MODEL_OPTIONS_H
#define PROTEUS_MODEL_OPTIONS_H

#include "proteus-command-line-text.h"
#include "proteus-idle-keys.h"
#include "proteus-option-list.h"
#include "proteus-program-options.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-framework.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-graph-iterations.h"
#include "ns3/proteus-inventory.h"
#include "ns3/proteus-model.h"
#include "ns3/proteus-parallel-plan.h"
#include "ns3/proteus-strategy-tree.h"

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the programs have in common that take a model and a strategy.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Options of the programs that compile a model.
 */
struct ModelOptions
{
    CommandLineText model;       //!< JSON file, or name of one in the folder
    CommandLineText strategy;    //!< JSON file, or the short form itself
    std::string folder;          //!< where models with a name are
    std::string variables;       //!< of the model, "NAME=NUMBER,..."
    int64_t firstStageBlocks{0}; //!< ParallelPlan::firstStageBlocks; 0: as the strategy has it
    int64_t lastStageBlocks{0};  //!< ParallelPlan::lastStageBlocks; 0: as the strategy has it

    /// @param command to add --model to
    void AddModelTo(OptionList& command);

    /// @param command to add the options to @param framework of the job, read after Parse()
    /// @param gpu returns the name of its data sheet, asked after Parse()
    void AddTo(OptionList& command,
               const FrameworkOption& framework,
               const std::function<std::string()>& gpu);

    /// @param command which has these options, and --framework @param reason returns why none of
    /// them has an effect, e.g. since the job is no model; else an empty text. Asked after Parse()
    void AddIdleTo(OptionList& command, const std::function<std::string()>& reason) const;

    /**
     * @param defaults for what strategy and model leave out, as FrameworkOption::LoadPlan() has
     * them
     * @return the model and the strategy that the options name
     * @throw std::invalid_argument as LoadModel() and LoadStrategy(), or that says which option is
     * missing or wrong
     */
    TrainingPlan Load(const FrameworkDefaults& defaults = {}) const;

    /// @param framework that trains @param gpu name of a data sheet @return variables of the model
    /// that change nothing with the strategy, or, where there is none, with replicas alone; see
    /// FindIdleVariables()
    std::vector<std::string> ListIdleVariables(const FrameworkOption& framework,
                                               const std::string& gpu) const;

    /// @param framework that trains @param gpu name of a data sheet @return keys of the strategy
    /// and variables that change nothing, see FindIdleKeys() and FindIdleVariables()
    std::vector<std::string> FindIdle(const FrameworkOption& framework,
                                      const std::string& gpu) const;

  private:
    /// @param framework that trains @param gpu name of a data sheet @return what was typed
    StrategyText GetText(const FrameworkOption& framework, const std::string& gpu) const;
};

/**
 * @ingroup proteus
 * Reads a model for a plan, and writes the plan out for it.
 * @param path of the model
 * @param plan how it is trained
 * @param variables of the model, as FrameworkDefaults::variables
 * @param folder as LoadModel() has it
 * @return both
 * @throw std::invalid_argument as LoadModel() and ExpandPlan()
 */
TrainingPlan LoadTrainingPlan(const std::string& path,
                              const ParallelPlan& plan,
                              const std::map<std::string, int64_t>& variables = {},
                              const std::string& folder = "");

/**
 * @ingroup proteus
 * @param model JSON file, or name of one in the folder
 * @param strategy JSON file, or the short form itself, e.g. "tp=8,dp=2"
 * @param folder with models that have a name
 * @return the model and the strategy
 * @throw std::invalid_argument as ModelOptions::Load()
 */
TrainingPlan LoadTrainingPlan(const std::string& model,
                              const std::string& strategy,
                              const std::string& folder);

/**
 * @ingroup proteus
 * Compiles a model for a GPU: every kernel gets the time that the cost model finds.
 * @param plan model and strategy
 * @param gpu data sheet
 * @param framework whose kernels and host they are
 * @param profile file of measured times, see ReadProfileJson(); empty: none
 * @return the graph
 * @throw std::invalid_argument as CompileModel() and ReadProfileJson()
 */
ExecutionGraph CompileForGpu(const TrainingPlan& plan,
                             const GpuDatasheet& gpu,
                             const Framework& framework,
                             const std::string& profile);

/**
 * @ingroup proteus
 * Compiles a model for the GPUs of a cluster: every kernel gets the time that the cost model finds.
 * @param plan model and strategy; device i is the cluster's GPU i
 * @param cluster to train on
 * @param framework whose kernels and host they are
 * @param profile file of measured times, see ReadProfileJson(); empty: none
 * @param carried as Compile()
 * @return the graph
 * @throw std::invalid_argument as CompileForGpu(), or if the cluster has fewer GPUs than the
 * strategy, or the GPUs that it takes are not all of one model
 */
ExecutionGraph CompileForCluster(const TrainingPlan& plan,
                                 const Cluster& cluster,
                                 const Framework& framework,
                                 const std::string& profile,
                                 std::vector<CarriedDependency>* carried = nullptr);

/**
 * @ingroup proteus
 * Prints the fullest device and whether all have memory enough.
 * @param accounts by device
 * @param gpu data sheet of the devices
 * @param out where to
 */
void PrintMemory(const std::vector<MemoryAccount>& accounts,
                 const GpuDatasheet& gpu,
                 std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MODEL_OPTIONS_H
