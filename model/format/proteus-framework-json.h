/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FRAMEWORK_JSON_H
#define PROTEUS_FRAMEWORK_JSON_H

#include "ns3/proteus-framework.h"

#include <istream>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Frameworks as JSON: workloads/frameworks/.
 *
 * An object with format: "proteus-framework"; version: 1; name; description; [base]: the file of
 * another framework, which this one says what is other than (ReadWithBase()); and, each of which
 * may be left out and then is what the base has, or else the default framework,
 * - host: object with [kernelUs], [backwardKernelUs], [operatorUs], [blockUs], in
 *   microseconds, and [blocksOfZero3]: whether blocks cost that under ZeRO 3 only; [isAhead]:
 *   whether kernels are issued while the GPU runs earlier ones; [waitsForKernels]: whether
 *   each has to end before the next is issued; [waitsForTransfers]: whether the kernels of a
 *   stage wait for what it sends to another, one message after the other, and
 *   [exchangesTransfers]: both ways at once where two messages cross; [waitsAtDispatch]:
 *   whether tokens of experts are counted on the GPU, and the host waits for that;
 *   [waitsAtExchange]: whether it does so where they go to other devices only;
 *   [gathersBehindDispatch]: whether the parameters of the next unit are asked for behind that
 *   wait; [issuesEveryExpert]: whether the product of each expert is a kernel to issue, and
 *   [expertKernelUs] and [backwardExpertKernelUs]: the time for each of them but the first;
 *   [paces]: object of how many times as long it takes beside other GPUs, by how the names of
 *   their data sheets begin
 * - efficiency: object with [matrix], [memory], [stream], [optimizer], shares of the peak,
 *   [kernelLatencyUs], and [groupedProducts]: object of the share of other products' rate that
 *   products of experts in 16 bits reach, by how the names of GPUs' data sheets begin
 * - attention: what fused attention is: "constant", "flash-attention-1", -triton, -2, -3 or "cudnn"
 * - weights: object with [forwardBytes], [backwardBytes] per weight
 * - fp8: object of products in fp8 with [input], [gradient] (of a result), [weightForward] and
 *   [weightBackward], each what a pass of an operator is, per element (below), and
 *   [gathersWeights false]: whether weights that replicas share (ZeRO 3) are gathered in one byte.
 *   weightForward and weightBackward are in the place of forwardBytes and backwardBytes
 * - stacks: object of products in a loop over blocks with [weightForwardBytes],
 *   [weightBackwardBytes] per weight, [resultForwardElements] and [resultBackwardElements] per
 *   element of a result
 * - operators: object from kinds of operators (GetRuledKinds()) to objects with [forward] and
 *   [backward], each an object with kernels, [compute 0], [fp32 0] (elements read and written per
 *   point, in the format of activations and with 4 bytes), [bytes 0] and source; but for updates
 *   also [hostUs]: microseconds of the host for the operator, in place of those of its kernels and
 *   of operatorUs, and [waits false]: whether the host waits in it for all that it has issued; of
 *   "weighted-bias" [expertKernels 0]: kernels for each expert of the device, and nothing else but
 *   counts; of "dispatch" and "combine" also [expertUs 0]: microseconds of the host for each
 *   expert of the model, besides these; of attention also [headCopies 0]: how many of the kernels
 * copy queries, keys, values or the result. Of a forward pass [keeps], or a list of such: an
 * element per point that is kept for the backward pass besides what the kind keeps, "compute" or
 * "fp32", "wider" where one that it keeps is in fp32, or "fp32-of-cast" where what was cast to one
 * is kept in fp32, too; of either [holds]: elements ([compute], [fp32]) while its kernels run, and
 *   [stacks]: elements moved besides in a loop over blocks (StackCost)
 * - fuses: object with source, [attention false] and [loss false]: whether attention is one kernel
 *   and the loss of a vocabulary one operator where a model leaves it to the framework
 * - shares: object with source and heads: whether tensor parallelism may have more devices than a
 *   model has heads of keys and values, several of which then have one in common
 * - plan: object with source and fields of a strategy's short form, for strategies that leave them
 *   out
 *
 * Each number and name of the first four is an object {"value": ..., "source": "..."}: where it is
 * from, which must not be empty.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param input the text
 * @param fileName for errors; a base is looked for in its folder
 * @param folder where a base is looked for, too; "" for nowhere else
 * @return the framework
 * @throw std::invalid_argument of one line: "FILE: /host/kernelUs: cause"
 */
Framework ReadFrameworkJson(std::istream& input,
                            const std::string& fileName,
                            const std::string& folder = "");

/// @ingroup proteus
/// @param path of a file @param folder where its base is looked for, too @return the framework
/// @throw std::invalid_argument as ReadFrameworkJson(), or if it cannot be opened
Framework LoadFramework(const std::string& path, const std::string& folder = "");

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FRAMEWORK_JSON_H
