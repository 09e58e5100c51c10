/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COMPILE_H
#define PROTEUS_COMPILE_H

#include "proteus-compiler.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-framework.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-profile-table.h"

/**
 * @file
 * @ingroup proteus
 * From a model, a strategy and a cluster to an execution graph with the times of its kernels.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param framework that trains @param zero stage of ZeRO @return what it costs the host, where
/// units of sharding may be those of ZeRO 3 alone
HostCost GetHostCost(const Framework& framework, uint32_t zero);

/**
 * @ingroup proteus
 * Compiles a model for GPUs of one kind: CompileModel(), with the times of the kernels.
 * @param model what is trained
 * @param tree how
 * @param gpu that kernels are timed for
 * @param framework whose kernels and host they are, with the parameters of the cost model
 * @param profile measured times, which go before computed ones; may be null
 * @param carried where to what tasks need of the iteration before, for RepeatGraph(); may be null
 * @return the graph
 * @throw std::invalid_argument as CompileModel()
 */
ExecutionGraph Compile(const Model& model,
                       const StrategyTree& tree,
                       const GpuDatasheet& gpu,
                       const Framework& framework = Framework(),
                       const ProfileTable* profile = nullptr,
                       std::vector<CarriedDependency>* carried = nullptr);

/**
 * @ingroup proteus
 * Compiles a model for a cluster, whose GPU of rank i is device i.
 * @param model what is trained
 * @param tree how
 * @param cluster where it is trained
 * @param framework whose kernels and host they are, with the parameters of the cost model
 * @param profile measured times, which go before computed ones; may be null
 * @param carried where to what tasks need of the iteration before, for RepeatGraph(); may be null
 * @return the graph
 * @throw std::invalid_argument as CompileModel(), or if the cluster has too few GPUs, or GPUs that
 * differ among those that are used
 */
ExecutionGraph Compile(const Model& model,
                       const StrategyTree& tree,
                       const Cluster& cluster,
                       const Framework& framework = Framework(),
                       const ProfileTable* profile = nullptr,
                       std::vector<CarriedDependency>* carried = nullptr);

/// @ingroup proteus
/// The kernels of a job.
struct ListedKernels
{
    ProfileTable table;    //!< each once, with its computed time
    std::size_t shared{0}; //!< of them, those that stand for several of different times
};

/**
 * @ingroup proteus
 * Lists the kernels of a job, as a profile has them.
 * @param model what is trained
 * @param tree how
 * @param gpu that kernels are timed for
 * @param framework whose kernels they are, with the parameters of the cost model
 * @return every kernel that a profile can time, once, with the time that Compile() computes; of
 * kernels that a profile cannot tell apart, which a framework may make of several operators, the
 * mean over the iteration. Without those, Compile() with this profile gives the same graph
 * @throw std::invalid_argument as CompileModel()
 */
ListedKernels ListKernelTimes(const Model& model,
                              const StrategyTree& tree,
                              const GpuDatasheet& gpu,
                              const Framework& framework = Framework());

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COMPILE_H
