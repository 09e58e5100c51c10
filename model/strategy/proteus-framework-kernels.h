/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FRAMEWORK_KERNELS_H
#define PROTEUS_FRAMEWORK_KERNELS_H

#include "proteus-compiler.h"
#include "proteus-stage-hosts.h"

#include "ns3/proteus-framework.h"
#include "ns3/proteus-kernel-cost.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a framework makes of the kernels of the compiler, and when its host issues them.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A kind of operators whose kernels a Framework may have rules for.
struct RuledKind
{
    const char* name;       //!< in files
    bool hasExperts{false}; //!< whether a rule may have KernelRule::hostPerExpertPs
    bool hasHeads{false};   //!< whether a rule may have KernelRule::headCopies
    bool isOfUpdate{false}; //!< whether it is of parameters, once in an iteration
    /// Whether it is of experts' biases: kernels beside a product, and KernelRule::expertKernels.
    bool isOfBias{false};
};

/// @ingroup proteus
/// @return all of them
const std::vector<RuledKind>& GetRuledKinds();

/// @ingroup proteus
/// What else than its kind decides which rule is an operator's.
struct RuleVariant
{
    bool isFlex{false};    //!< whether experts' tokens go once to a server, see ExpertDispatch
    bool isFused{false};   //!< whether it is attention that writes no scores
    bool hasMask{true};    //!< of an attention: whether some scores are left out
    bool hasDropout{true}; //!< of an attention: whether scores are dropped
};

/**
 * @ingroup proteus
 * @param framework with rules
 * @param kind of an operator
 * @param isForward which pass
 * @param variant of it
 * @return the rule that the framework has for its kernels, null if it has none
 */
const KernelRule* FindKernelRule(const Framework& framework,
                                 const std::string& kind,
                                 bool isForward,
                                 const RuleVariant& variant);

/**
 * @ingroup proteus
 * Puts a framework's kernels in the place of those that the compiler counts.
 * @param framework whose rules they are
 * @param kernel what the compiler says of it
 * @param activation number format of activations
 * @param work of the kernel, as DescribeKernel() has it
 */
void ApplyFramework(const Framework& framework,
                    const KernelDescription& kernel,
                    DataType activation,
                    KernelWork& work);

/**
 * @ingroup proteus
 * Makes what CompileOptions::kernelTime wants, for a framework: with its kernels, and with its
 * host, which may issue kernels while the GPU is still busy with earlier ones of the same pass.
 * Whether the GPU waits for communication then is not known here, so only computation lets the host
 * get ahead.
 * @param model of the GPU; must outlive the function
 * @param framework whose kernels they are; must outlive the function
 * @param activation number format of activations and of the tables' rows
 * @param gradientBytes per element of the gradients of parameters
 * @param stages which gets what its hosts need while it is not finished, and says how far they are
 * ahead when it is; null: a pass begins with an idle GPU
 * @return a function that times kernels, to be asked in the order in which they are issued; -1 for
 * what DescribeKernel() does not know
 */
std::function<int64_t(const KernelDescription&)> MakeFrameworkTimer(const KernelCostModel& model,
                                                                    const Framework& framework,
                                                                    DataType activation,
                                                                    uint32_t gradientBytes,
                                                                    StageHosts* stages = nullptr);

/**
 * @ingroup proteus
 * What CompileOptions::kernelUse wants.
 * @param model as MakeFrameworkTimer()
 * @param framework as MakeFrameworkTimer()
 * @param activation as MakeFrameworkTimer()
 * @param gradientBytes as MakeFrameworkTimer()
 * @return a function that says what kernels take of the GPU; nothing for what DescribeKernel() does
 * not know
 */
std::function<KernelUse(const KernelDescription&)> MakeFrameworkUse(const KernelCostModel& model,
                                                                    const Framework& framework,
                                                                    DataType activation,
                                                                    uint32_t gradientBytes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FRAMEWORK_KERNELS_H
