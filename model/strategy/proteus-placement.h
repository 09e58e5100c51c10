/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLACEMENT_H
#define PROTEUS_PLACEMENT_H

#include "proteus-layout.h"
#include "proteus-model.h"
#include "proteus-strategy-error.h"
#include "proteus-strategy-tree.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * A model on devices: every operator with a mesh and splits, every tensor with a layout.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What is wrong with a node of a strategy, in the tree that PlaceModel() got.
class StrategyNodeError : public StrategyError
{
  public:
    /// @param at the node @param message what is wrong, in one line
    StrategyNodeError(const StrategyNode& at, const std::string& message)
        : StrategyError(message),
          node(&at)
    {
    }

    const StrategyNode* node; //!< which one; of several that have a say, the last
};

/// @ingroup proteus
/// A tensor and where it lies.
struct PlacedTensor
{
    ModelTensor tensor;              //!< as in the model
    Layout home;                     //!< how it is kept
    Layout gradient;                 //!< how its gradient is kept
    Layout optimizer;                //!< parameter: how its update and the optimizer's state lie
    bool needsGradient{false};       //!< whether there is one
    uint32_t stage{0};               //!< whose devices keep it
    std::vector<OperatorId> readers; //!< operators of the placement
};

/// @ingroup proteus
/// An operator and who computes it.
struct PlacedOperator
{
    ModelOperator op;                        //!< its tensors are those of the placement
    MeshPtr mesh;                            //!< who computes it
    std::vector<std::vector<MeshAxis>> axes; //!< by iteration dimension: the axes that split it
    uint32_t stage{0};                       //!< pipeline stage
    std::string recompute;                   //!< block that is computed again, or ""
    bool keeps{false};                       //!< whether that reads its results: StrategyNode::keep
    bool isTransfer{false};                  //!< brings a tensor from another stage
    std::vector<MeshAxis> partial;           //!< over which it reads and writes partial sums
};

/**
 * @ingroup proteus
 * A placed model. Where an operator reads a tensor of another stage, an operator that transfers it
 * stands before it. Where stages on different devices use one parameter, each has a copy.
 */
struct Placement
{
    uint32_t nDevices{0};                            //!< of the graph
    uint32_t nStages{1};                             //!< of the pipeline
    std::vector<PlacedTensor> tensors;               //!< by TensorId
    std::vector<PlacedOperator> operators;           //!< in an order in which they can run
    std::vector<std::vector<DeviceId>> stageDevices; //!< by stage, who computes it; ascending
    std::vector<std::vector<TensorId>> ties;         //!< parameters that are copies of each other
};

/**
 * @ingroup proteus
 * Places a model. Which mesh axes the dimensions of an operator's iteration space get is decided
 * by, in this order,
 *
 * - its own node,
 * - how its inputs lie,
 * - the nodes above it.
 *
 * An axis that is left over replicates. A tensor is kept as its producer computes it, with partial
 * sums reduced (a parameter as its first reader needs it), unless the node of its operator says
 * otherwise. If all summands of an addition are partial sums over the same axis, these are added as
 * they are, and the result is reduced once.
 *
 * @param model what is trained
 * @param tree how
 * @return the placement
 * @throw StrategyNodeError with one line that names node, operator and dimension: a mesh
 * without devices or too small, a dimension that does not exist or cannot be split that way, an
 * axis that does not exist or is used twice, stages out of order
 * @throw StrategyError if what is wrong is in no node
 */
Placement PlaceModel(const Model& model, const StrategyTree& tree);

/// @ingroup proteus
/// @param op an operator @param access one of its reads or writes
/// @return how the operator needs or makes it, partial sums left out
Layout GetAccessLayout(const PlacedOperator& op, const Access& access);

/// @ingroup proteus
/// @param op an operator @param read one of its reads
/// @return how its forward pass needs it, with the partial sums that it passes on
Layout GetForwardReadLayout(const PlacedOperator& op, const Access& read);

/// @ingroup proteus
/// @param op an operator @param write one of its writes
/// @return how its forward pass makes it, with partial sums
Layout GetForwardWriteLayout(const PlacedOperator& op, const Access& write);

/// @ingroup proteus
/// @param placement of a model
/// @param op one of its operators, which belongs to a block to recompute
/// @return whether all that it makes is read outside of that block, and so is not made again
bool MakesResultsOnly(const Placement& placement, const PlacedOperator& op);

/**
 * @ingroup proteus
 * @param op an operator
 * @param target what it makes: a write, or a read whose gradient is made
 * @param summands what is summed over the dimensions that the target lacks
 * @return how the operator makes it, with partial sums where an axis splits a dimension of a
 * summand that the target lacks
 */
Layout GetResultLayout(const PlacedOperator& op,
                       const Access& target,
                       const std::vector<const Access*>& summands);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLACEMENT_H
