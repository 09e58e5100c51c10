/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PARALLEL_PLAN_H
#define PROTEUS_PARALLEL_PLAN_H

#include "proteus-model.h"
#include "proteus-strategy-tree.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The common plans in a few numbers, and the strategy tree that they stand for.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What is computed again in the backward pass.
enum class RecomputePlan : uint8_t
{
    NONE,      //!< nothing
    SELECTIVE, //!< the attention core, or ParallelPlan::recomputeModules
    /// All of the repeated blocks but results of products with weights, from these and from the
    /// blocks' inputs.
    BETWEEN_PRODUCTS,
    FULL, //!< every repeated block, from its input
};

/// @ingroup proteus
/// @param plan a value @return its name: "none", "selective", "between-products", "full"
const char* ToString(RecomputePlan plan);
/// @ingroup proteus
/// @param text a name @return the value @throw std::invalid_argument that lists the names
RecomputePlan RecomputePlanFromString(const std::string& text);
/// @ingroup proteus
/// @return names of all plans of recomputation
std::vector<std::string> GetRecomputePlanNames();
/// @ingroup proteus
/// Parts of a block that selective recomputation computes again (Megatron-LM, --recompute-modules).
/// @return "core_attn": attention; "layernorm": norms that products, routers or experts read;
/// "mlp": all behind the last of these, "moe": the same of experts, with
/// their exchanges; "moe_act": the activation between products of experts
std::vector<std::string> GetRecomputeModuleNames();
/// @ingroup proteus
/// @param plan a value @return whether it is of a model's repeated blocks
bool NeedsBlocks(RecomputePlan plan);

/**
 * @ingroup proteus
 * A common plan. Devices are numbered with tensor parallelism varying fastest, then expert, context
 * and data parallelism, then the pipeline; or the pipeline before data parallelism.
 *
 * Experts are shared by replicas. Where expertTensorParallel is given, or expertParallel does not
 * divide the replicas, the devices of a stage have two grids instead, as in Megatron-Core (parallel
 * folding; Liu et al. 2025): one of tensor, context and data parallelism for the layers without
 * experts, and one of the tensor parallelism of experts, expert parallelism and replicas of
 * experts, each with the first varying fastest. A group of expert parallelism may then span devices
 * of a tensor-parallel group, whose tokens are each device's own (sequence parallelism).
 */
struct ParallelPlan
{
    uint32_t dataParallel{1};     //!< replicas
    uint32_t tensorParallel{1};   //!< devices that share each layer
    uint32_t pipelineParallel{1}; //!< device groups of the pipeline
    uint32_t virtualStages{1};    //!< stages per device group, of the interleaved schedule
    uint32_t contextParallel{1};  //!< devices that share each sequence
    uint32_t expertParallel{1};   //!< devices, or groups of expertTensorParallel, that share the
                                  //!< experts
    /// Devices that share each expert; 0: as many as share the other layers. At most
    /// tensorParallel.
    uint32_t expertTensorParallel{0};
    /// Blocks of the first and of the last device group of the pipeline, all its stages together;
    /// 0: an equal share. Megatron-LM: --decoder-first-pipeline-num-layers, -last-.
    uint32_t firstStageBlocks{0};
    uint32_t lastStageBlocks{0}; //!< see firstStageBlocks
    /// Whether what comes before the blocks counts as one of them, so that the first stage has one
    /// less. Megatron-LM: --account-for-embedding-in-pipeline-split.
    bool isEmbeddingBlock{false};
    /// The same for what comes behind them, and the last stage. Megatron-LM:
    /// --account-for-loss-in-pipeline-split.
    bool isHeadBlock{false};
    /// Whether device 0 stands for all: StrategyTree::hasRepresentative. For ZeRO 3 without other
    /// parallelism, in which all devices do the same, and all communicate with all.
    bool hasRepresentative{false};
    /// Whether neighbours in the pipeline are closer together than replicas are. Megatron-LM:
    /// --use-tp-pp-dp-mapping.
    bool isPipelineInside{false};
    bool isSequenceParallel{false}; //!< whether activations between the tensor-parallel layers are
                                    //!< split along the sequence
    uint32_t globalBatch{0};        //!< samples per iteration; 0: one micro-batch
    uint32_t microBatch{1};         //!< samples of a micro-batch and replica
    RecomputePlan recompute{RecomputePlan::NONE}; //!< what is computed again
    /// Of full recomputation: every how many-th of the numbered blocks is computed again, from the
    /// recomputeEvery-th on (torchtitan: selective activation checkpointing by layers). At least 1.
    uint32_t recomputeEvery{1};
    /// Of BETWEEN_PRODUCTS: operators whose results are kept, by their names in a block; all others
    /// are computed again. None: all products. MaxText: remat_policy, e.g. save_qkv_proj; Praxis:
    /// AutodiffCheckpointType; PyTorch: create_selective_checkpoint_contexts().
    std::set<std::string> recomputeKeeps;
    ScheduleSpec schedule;   //!< the number of micro-batches is set by the batch sizes
    GradientSpec gradients;  //!< reduction of gradients
    OptimizerSpec optimizer; //!< the axes of ZeRO are set by the plan
    /// Neighbouring replicas that share states under ZeRO; 0: all. The groups repeat them, and
    /// reduce the shares of gradients among each other. FSDP: HYBRID_SHARD, a mesh of two
    /// dimensions; MiCS (Zhang et al. 2022); Megatron-LM: --num-distributed-optimizer-instances.
    uint32_t zeroGroup{0};
    PrecisionSpec precision; //!< number formats
    /// Of SELECTIVE: what of every block is computed again, as Megatron-LM's --recompute-modules
    /// names it (GetRecomputeModuleNames()); none: "core_attn".
    std::set<std::string> recomputeModules;

    /// @return number of devices
    uint64_t GetNDevices() const
    {
        return uint64_t{dataParallel} * tensorParallel * pipelineParallel * contextParallel;
    }

    /// @return micro-batches of an iteration
    /// @throw std::invalid_argument if the batch sizes do not divide, or a number is 0
    uint32_t GetNMicroBatches() const;

    /// @return replicas that share states under ZeRO
    uint32_t GetNSharing() const
    {
        return zeroGroup > 0 ? zeroGroup : dataParallel;
    }
};

/**
 * @ingroup proteus
 * @param plan a plan
 * @return what a model has to be read with: "batch" and "tensorParallel"
 */
std::map<std::string, int64_t> GetModelVariables(const ParallelPlan& plan);

/// @ingroup proteus
/// @param model a model @return its numbered blocks ("layer0", "layer1", ...), which stages share
uint64_t CountBlocks(const Model& model);

/**
 * @ingroup proteus
 * How the stages of a pipeline share a model's numbered blocks.
 * @param nBlocks that there are
 * @param plan how many stages, and what the first and the last have
 * @param name of the model, for messages
 * @return blocks by stage
 * @throw std::invalid_argument if the stages cannot share them so
 */
std::vector<uint64_t> CountStageBlocks(uint64_t nBlocks,
                                       const ParallelPlan& plan,
                                       const std::string& name);

/**
 * @ingroup proteus
 * @param model what is trained
 * @param nStages of the pipeline, at least 1
 * @return the stage that ExpandPlan() gives to operators, by the first part of their paths
 * ("layer12", "embedding"); the first stage where they are on several
 * @throw std::invalid_argument if the stages cannot share the numbered blocks evenly
 */
std::map<std::string, uint32_t> FindStages(const Model& model, uint32_t nStages);

/**
 * @ingroup proteus
 * Writes a plan out as a tree. Operators whose description says so ("tensorParallel") share the
 * dimension that is named there. Stages are runs of the model's numbered blocks ("layer0",
 * "layer1", ...), equal ones if the plan says nothing else; the first stage also has what comes
 * before the blocks, the last one what comes after.
 * @param model what is trained
 * @param plan how
 * @return the tree
 * @throw std::invalid_argument if a number is 0, or does not divide what it has to
 */
StrategyTree ExpandPlan(const Model& model, const ParallelPlan& plan);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PARALLEL_PLAN_H
