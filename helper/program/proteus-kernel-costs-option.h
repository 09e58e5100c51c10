/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KERNEL_COSTS_OPTION_H
#define PROTEUS_KERNEL_COSTS_OPTION_H

#include "proteus-command-line-text.h"
#include "proteus-option-list.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-collective-kernel-cost.h"

#include <functional>
#include <memory>

/**
 * @file
 * @ingroup proteus
 * The option --kernelCosts.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Costs of NCCL's kernels from a file, in the place of those that are built in.
struct KernelCostsOption
{
    CommandLineText file; //!< see ReadKernelCostsJson(); empty: as they are built in

    /// @param command to add the option to
    /// @param cluster whose GPUs they are for; may be empty
    void AddTo(OptionList& command, const std::function<Cluster()>& cluster = {});

    /// @return the numbers @throw std::invalid_argument if the file is wrong
    CollectiveCostTable LoadTable() const;

    /// @return the costs; null: those that are built in
    /// @throw std::invalid_argument if the file is wrong
    std::shared_ptr<const CollectiveCosts> Load() const;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KERNEL_COSTS_OPTION_H
