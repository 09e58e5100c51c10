/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STRATEGY_JSON_H
#define PROTEUS_STRATEGY_JSON_H

#include "ns3/proteus-model.h"
#include "ns3/proteus-parallel-plan.h"
#include "ns3/proteus-strategy-tree.h"

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Strategies as JSON, in the short form and as a tree.
 *
 * Fields in brackets may be left out and then have the value given here; any other field is an
 * error.
 *
 * **Short form**: an object with [dp 1], [tp 1], [pp 1], [virtualStages 1], [cp 1], [ep 1],
 * [etp: tp; given, experts have a grid of their own, see ParallelPlan], [firstStageBlocks,
 * lastStageBlocks: equal shares], [embeddingAsBlock false], [headAsBlock false], [mapping
 * "tp-dp-pp" or "tp-pp-dp"], [scatterGather false], [tpOverlap false], [cpOverlap false],
 * [overlapExpertCommunication false], [delayWeightGradients false: with the former],
 * [expertDispatch "all-to-all", "deepep" or "hybridep"], [expertDomain 8],
 * [dataSamplesPerS: no limit; of the input pipeline, all devices together], [sequenceParallel
 * false], [zero 0], [zeroGroup: dp; replicas that share states], [zero1Gradients and zero2Gradients
 * "reduce-scatter" or "all-reduce"], [zero1Gathers "update" or "forward"], [zero3Gathers "unit" or
 * "tensor"], [zero3Shares "16-bit" or "fp32"], [representative: ZeRO 3 on more than 256 devices,
 * nothing else], [globalBatch: one micro-batch], [microBatch 1], [recompute "none", "selective",
 * "between-products" or "full"], [recomputeEvery 1: of full recomputation], [recomputeModules: of
 * selective, "core_attn", "layernorm", "mlp", "moe", "moe_act", joined by +], [recomputeKeeps: all
 * products; those between which is recomputed, "qkv+projection"], [recomputeStopsEarly
 * false], [forwardFirst true: interleaved, with as many micro-batches as device groups], [schedule
 * "1f1b" ("interleaved" with virtualStages), "gpipe", "zero-bubble" or "limits"], [maxInFlight:
 * list], [interleave 1], [dataType "bf16"], [gradientType "fp32"], [masterWeights true: of trained
 * weights in 16 bits; else they are updated as they are, with moments in 16 bits], [frozenType
 * "16-bit" or "nf4": how frozen weights of products in numbered blocks are kept], [buckets "ddp",
 * "whole", "megatron" or "tensor"], [bucketMbytes 25], [firstBucketMbytes 1], [gradientsInPlace
 * true], [optimizer "adam"; "lamb", "momentum", "sgd"], [fusedOptimizer true], [immediateUpdates
 * false: not fused], [offloadOptimizer false]. "name", "format" and "version" as below may stand
 * there as well.
 *
 * **Tree**: an object with
 * - format: "proteus-strategy"; version: 1; [name ""]
 * - [batch 1]: samples of a micro-batch, all replicas together
 * - [mesh]: object with axes (names) and sizes; devices are numbered row-major
 * - [uneven false]: whether dimensions may be split into unequal parts
 * - [representative false]: whether device 0 stands for all, see StrategyTree
 * - [splitBackward true]: whether gradients of inputs and of weights are kernels of their own
 * - [schedule]: object with [kind "1f1b"], [microBatches 1], [maxInFlight: list, by stage],
 *   [interleave 1], [scatterGather false], [tpOverlap false], [cpOverlap false],
 *   [overlapExpertCommunication false], [delayWeightGradients false],
 *   [expertDispatch "all-to-all"], [expertDomain 8],
 *   [recomputeStopsEarly false], [forwardFirst true], [dataSamplesPerS: no limit]
 * - [gradients]: object with [buckets "ddp"], [bucketMbytes 25], [firstBucketMbytes 1],
 *   [inPlace false]
 * - [optimizer]: object with [kind "adam"], [fused true], [immediate false: not fused], [zero 0],
 * [zeroAxes: list of names], [expertZeroAxes: zeroAxes], [zero1Gradients], [zero1Gathers],
 * [zero2Gradients], [zero3Gathers], [zero3Shares], [offload false], [hostLinkGbytesPerS 12],
 * [hostMemoryGbytesPerS 50]
 * - [precision]: object with [compute "fp32"], [gradients "fp32"], [masterWeights], [frozenType]
 * - tree: the root node
 *
 * A node is an object with name (not of the root), [mesh], [axes: names of the axes of a mesh that
 * is written out], [split], [complete false: whether axes that split nothing replicate], [items],
 * [stage], [recompute: true, or the name of the group of siblings that are one block],
 * [keep false: whether a block that is computed again has its results still] and [children: list].
 * A mesh is a nested list of devices, [[0, 1], [2, 3]],
 * or an object of coordinates on the strategy's mesh, {"pp": 0}. A split is an object from
 * dimensions, by name or number, to a number of parts, an axis, or a list of axes. "items" is an
 * object from "weight", "bias", "weight_grad", "weight_state" (moments and update), "out",
 * "out_grad", "in:0" to objects with [mesh], [axes], [split] and, of "out", [partial: names of axes
 * over which it is kept as partial sums]. StrategyNode says what a node means.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a strategy file holds.
struct StrategyFile
{
    std::optional<ParallelPlan> plan; //!< the short form
    StrategyTree tree;                //!< the other one
    std::string name;                 //!< of the file, for errors

    /// @return what a model has to be read with
    /// @throw std::invalid_argument as ParallelPlan::GetNMicroBatches()
    std::map<std::string, int64_t> GetVariables() const;

    /// @param model what is trained @return the tree, expanded if need be
    /// @throw std::invalid_argument as ExpandPlan(), or, for a tree, PlaceModel(), behind the name
    /// of the file and the place of the node in it
    StrategyTree GetTree(const Model& model) const;
};

/**
 * @ingroup proteus
 * @param input the text
 * @param fileName for errors
 * @param plan of fields that a short form leaves out, their values as JSON
 * @return the strategy
 * @throw std::invalid_argument of one line: "FILE: /tree/children/0/split: cause"
 */
StrategyFile ReadStrategyJson(std::istream& input,
                              const std::string& fileName,
                              const std::map<std::string, std::string>& plan = {});

/// @ingroup proteus
/// @param path of a file @param plan as ReadStrategyJson() @return the strategy
/// @throw std::invalid_argument as ReadStrategyJson(), or if it cannot be opened
StrategyFile LoadStrategy(const std::string& path,
                          const std::map<std::string, std::string>& plan = {});

/**
 * @ingroup proteus
 * Writes a plan in the short form, which reads back to the same one.
 * @param plan to write
 * @param name of the strategy
 * @param output where to
 * @param defaults that it will be read back with, see ReadStrategyJson()
 */
void WritePlanJson(const ParallelPlan& plan,
                   const std::string& name,
                   std::ostream& output,
                   const std::map<std::string, std::string>& defaults = {});

/// @ingroup proteus
/// @param plan a plan @param defaults as WritePlanJson()
/// @return its short form as command lines have it, e.g. "tp=8,pp=1,dp=2,..."
std::string FormatPlan(const ParallelPlan& plan,
                       const std::map<std::string, std::string>& defaults = {});

/**
 * @ingroup proteus
 * Writes a tree, which reads back to the same one.
 * @param tree to write
 * @param output where to
 */
void WriteStrategyJson(const StrategyTree& tree, std::ostream& output);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STRATEGY_JSON_H
