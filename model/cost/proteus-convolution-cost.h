/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CONVOLUTION_COST_H
#define PROTEUS_CONVOLUTION_COST_H

#include "proteus-kernel-work.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Ways of a convolution besides the implicit matrix product, and what its layout costs.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Where images have their channels in memory.
enum class ImageLayout : uint8_t
{
    CHANNELS_LAST,   //!< NHWC, as kernels on tensor cores read it
    CHANNELS_FIRST,  //!< NCHW, the default of PyTorch and MXNet, as other kernels read it
    LAST_IN_16_BITS, //!< NHWC with mixed precision, else NCHW
};

/// @ingroup proteus
/// @param layout a value @return its name as files write it, e.g. "last"
const char* ToString(ImageLayout layout);
/// @ingroup proteus
/// @param text a name @return the value @throw std::invalid_argument that lists the names
ImageLayout ImageLayoutFromString(const std::string& text);

/// @ingroup proteus
/// @param layout of a framework @param type number format @return whether channels are first
bool IsChannelsFirst(ImageLayout layout, DataType type);

/**
 * @ingroup proteus
 * Share of cuBLAS's rate in fp32 that cuDNN's convolutions without tensor cores reach on GPUs whose
 * multiprocessors have 128 units for fp32 and shared memory for 64 (compute capability 8.6 and
 * above). Chosen on every second one of 85 measured on H100 (workloads/profiles/h100-kernels.json),
 * median error 18 % there, 12 % on the others. Other GPUs are taken to reach cuBLAS's rate.
 */
constexpr double CONVOLUTION_SHARE = 0.7;
/// Share of that where the transforms of Winograd's way are done by the kernel that multiplies.
/// Chosen on the same kernels.
constexpr double FUSED_WINOGRAD_SHARE = 0.72;
/// Kernels besides the product where they are not: of input, weights and result.
constexpr uint32_t WINOGRAD_TRANSFORMS = 3;

/**
 * @ingroup proteus
 * A convolution of windows of 3 x 3 by Winograd's minimal filtering (Lavin and Gray 2016): tiles of
 * m x m pixels of the result take (m + 2)^2 multiplications for each pair of channels in the place
 * of 9 m^2, i.e. 2.25 times fewer for m = 2 and 4 times for m = 4.
 */
struct WinogradWay
{
    MatrixProduct product; //!< what is multiplied; its traffic is that of the transformed operands
    uint64_t bytes{0};     //!< what is moved besides
    bool isFused{false};   //!< transforms on the chip (cuDNN: WINOGRAD), else by kernels of their
                           //!< own, through memory (WINOGRAD_NONFUSED)
};

/**
 * @ingroup proteus
 * @param work a convolution
 * @param pass FORWARD, INPUT_GRADIENT or WEIGHT_GRADIENT, the last without a fused way
 * @return ways; none for other windows than 3 x 3 and for strides, which cuDNN has none for
 */
std::vector<WinogradWay> ListWinogradWays(const KernelWork& work, KernelPass pass);

/**
 * @ingroup proteus
 * Makes a product for each group of channels of a convolution whose shape is that of one group. Its
 * shape gets an eighth number, how many groups there are.
 * @param work with shape, pass and type
 * @param groups how many
 * @param bytes that all of them move
 */
void MakeGrouped(KernelWork& work, uint64_t groups, uint64_t bytes);

/// @ingroup proteus
/// @param work a convolution @return groups of channels, each of which is convolved by itself
uint64_t CountGroups(const KernelWork& work);

/// @ingroup proteus
/// Operations of a convolution with groups of one channel, which runs on no tensor cores.
struct DepthwiseOperations
{
    double perResult{0}; //!< of an element of the result, or of the input's gradient
    double perWeight{0}; //!< for each element of its window besides
    /// For each element of a window of a result, in the gradient of weights; 0: as the others.
    double perWeightGradient{0};
};

/**
 * PyTorch's own kernels, which run where images have their channels first
 * (aten/src/ATen/native/cuda/DepthwiseConv2d.cu; use_cudnn_depthwise() of Convolution.cpp), in
 * operations on whole numbers. Counted by hand: for each element of a window two sums, four
 * comparisons, two places, two loads and two conversions, for each result three divisions, of 20
 * each. A block of threads has the gradient of one element of a window, so that every pixel takes a
 * division and a remainder for each of them.
 */
constexpr DepthwiseOperations FIRST_DEPTHWISE{60, 12, 40};

/**
 * cuDNN's kernels for channels last (conv2d_c1_k1_nhwc_kernel, dgrad2d_ and
 * wgrad2d_c1_k1_nhwc_kernel), in multiply-adds in fp32: a load and a multiply-add for each element
 * of a window; the rest is what EfficientNet-B0 and B4 lack on one A100 in fp16
 * (NVIDIA/DeepLearningExamples, PyTorch/Classification/ConvNets/efficientnet/README.md: 2,489 and
 * 331 images a second ask for 212 and 195). V100 and RTX 3090 were left out of the choice.
 */
constexpr DepthwiseOperations LAST_DEPTHWISE{200, 2};

/**
 * Multiply-adds in fp32 for each of a convolution in groups on channels last, where cuDNN has no
 * kernel on tensor cores for its groups: the geometric mean of what nine RegNetX lack on one
 * RTX 3090 in fp16 (5 to 23; huggingface/pytorch-image-models 5e7d47ca,
 * results/benchmark-train-amp-nhwc-pt112-cu113-rtx3090.csv, cuDNN 8.3). Nine RegNetY of the same
 * list were left out of the choice: 9 to 23.
 */
constexpr double SLOW_GROUP_OPERATIONS = 13;

/// @ingroup proteus
/// Groups that kernels on tensor cores are for come in this many, as ResNeXt's 32 and 64: in the
/// same list these are fast, and RegNets' 2 to 63 are not, whatever their channels.
constexpr uint64_t FAST_GROUPS = 32;

/// @ingroup proteus
/// @param work a convolution with groups of one channel @param pass FORWARD, INPUT_GRADIENT or
/// WEIGHT_GRADIENT @param operations of its kernels @return how many it takes
double CountDepthwiseOperations(const KernelWork& work,
                                KernelPass pass,
                                const DepthwiseOperations& operations);

/**
 * @ingroup proteus
 * What is read and written to turn the input and the result of a convolution between layouts, as
 * cuDNN does where its kernel reads the other one: on tensor cores channels last, else first.
 * @param work a convolution
 * @param layout of the images
 * @param isOnMatrixUnits whether it runs on tensor cores
 * @return bytes; 0 where the layout is that of the kernel
 */
uint64_t GetTurnedBytes(const KernelWork& work, ImageLayout layout, bool isOnMatrixUnits);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CONVOLUTION_COST_H
