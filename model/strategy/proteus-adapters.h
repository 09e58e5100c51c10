/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ADAPTERS_H
#define PROTEUS_ADAPTERS_H

#include "proteus-model.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Low-rank adapters (Hu et al. 2021) beside linear layers.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// The adapters of a linear layer.
struct AdapterSpec
{
    /// One for each result, 0 for none; or one for all results together, whose adapter reads the
    /// input once.
    std::vector<uint64_t> ranks;
    bool hasDropout{false};     //!< whether each drops some of what it reads
    bool isWide{false};         //!< whether each is in fp32 outside autocast: casts what it reads,
                                //!< and what it adds to is cast back
    std::string tensorParallel; //!< dimension of the layer that tensor parallelism splits, or ""
};

/**
 * @ingroup proteus
 * Adds y + scale * up(down(x)) in the place of the results y of a linear layer: operators
 * NAME-adapter.drop (or .cast), .down, .up and .sum (of several adapters NAME-adapter0 and so on).
 *
 * Tensor parallelism splits "up" as a layer whose outputs are split, and "down" as one whose inputs
 * are; the other of the two is whole on every device.
 * @param builder of the model, which has the layer
 * @param name of the layer
 * @param input of the layer
 * @param results of the layer
 * @param spec its adapters
 * @return what takes the place of the results
 * @throw std::invalid_argument if there are neither one rank nor as many as results
 */
std::vector<TensorId> AddAdapters(ModelBuilder& builder,
                                  const std::string& name,
                                  TensorId input,
                                  const std::vector<TensorId>& results,
                                  const AdapterSpec& spec);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ADAPTERS_H
