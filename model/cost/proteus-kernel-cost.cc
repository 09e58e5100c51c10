/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kernel-cost.h"

#include "proteus-step-share.h"

#include "ns3/proteus-whole-number.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// A part of the result that one block of threads computes.
struct Tile
{
    uint64_t m;
    uint64_t n;
};

/// Sizes of cuBLAS's kernels on tensor cores, the most efficient first (NVIDIA, "Matrix
/// Multiplication Background User's Guide").
constexpr Tile TILES[] = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}};

/// Pieces that the sum over k may be cut into.
constexpr uint64_t SPLITS[] = {1, 2, 4, 8, 16, 32, 64};
/// More pieces than this are made of long sums only, as those of a convolution's weights.
constexpr uint64_t MOST_SHORT_SPLITS = 8;
/// The shortest piece of a long sum.
constexpr uint64_t MIN_LONG_SPLIT_K = 1024;

/// The GPU whose products KernelCostParameters::matrixEfficiency was fitted to.
constexpr const char* FITTED_GPU = "A100-SXM4-80GB";

/// A piece of the sum is not made shorter than this.
constexpr uint64_t MIN_SPLIT_K = 256;

/**
 * Smaller tiles reuse what they load less often: per multiply-add, a tile of m x n loads 1/m + 1/n
 * elements from the second-level cache. This is how many multiply-adds a load costs: 128 x 128 gets
 * 0.96, 64 x 64 0.83 of the rate of the largest tile. Not fitted: without it, the mean error of the
 * fit in KernelCostParameters changes by 0.02 %.
 */
constexpr double TILE_LOAD = 12;

/// FLOP/s of a multiprocessor of the A100 in 16 bits (312 TFLOP/s, 108 of them), in whose
/// multiply-adds TILE_LOAD counts.
constexpr double LOADING_FLOPS = 312e12 / 108;

/// Blocks that a multiprocessor needs, so that one multiplies while another loads. With fewer, and
/// with sums that are cut, products in fp32 on H100 (workloads/profiles/h100-kernels.json) take
/// what they take with TILE_LOAD, or more.
constexpr uint64_t HIDING_BLOCKS = 2;

/// @param tile its size
/// @param load multiply-adds that the load of an element costs
/// @return efficiency of the tile, relative to that of the largest
double
TileEfficiency(const Tile& tile, double load)
{
    const double largest = 1 + load * (1.0 / 256 + 1.0 / 128);
    return largest /
           (1 + load * (1.0 / static_cast<double>(tile.m) + 1.0 / static_cast<double>(tile.n)));
}

/// The compute capability from which on tensor cores are fed by the copy engine for tiles.
constexpr uint32_t HOPPER = 90;
/// Bytes that rows must start at multiples of, for the loads of tensor cores.
constexpr uint64_t LOAD_BYTES = 16;

/// @return the largest power of two, up to 16 bytes, at whose multiples all rows start
uint64_t
GetAlignment(const MatrixProduct& product, DataType type)
{
    const uint64_t bytes = (product.m | product.n | product.k) * GetElementBytes(type);
    return std::min(LOAD_BYTES, bytes & (~bytes + 1));
}

/**
 * Share of the rate that is left where rows start at multiples of fewer than 16 bytes. Before
 * Hopper one number stands for all. From Hopper on the copy engine cannot load such rows, and the
 * kernels of earlier generations run: on H100 SXM at 0.31 to 0.35 (4 bytes, fp16) and 0.29 to 0.33
 * (8, tf32) of the rate of aligned products, and at 0.12 to 0.17 with 2 bytes, whose elements are
 * loaded one by one (workloads/profiles/h100-kernels.json).
 */
double
GetAlignmentShare(uint64_t alignment, uint32_t capability, double beforeHopper)
{
    if (alignment == LOAD_BYTES)
    {
        return 1;
    }
    if (capability < HOPPER)
    {
        return beforeHopper;
    }
    return alignment >= 4 ? 0.32 : 0.14;
}

constexpr double PS_PER_S = 1e12;

/**
 * Share of the rate that products of weight gradients in tf32 reach from Hopper on. Both operands
 * are summed over their rows, and the instructions of Hopper turn only operands of 16 bits (PTX
 * ISA, wgmma), so that kernels of earlier generations run. On H100, products with sums of 4096
 * reach 0.55 to 0.75, convolutions 0.62 to 0.68 in the median
 * (workloads/profiles/h100-kernels.json).
 */
constexpr double TURNED_TF32_SHARE = 0.65;

/**
 * Elements that a block of threads reads and writes in a second, where one block has a whole
 * channel: batch norm of images with channels first on H100, 64 and 128 channels, 2.9 to 5.0 in
 * long kernels (workloads/profiles/h100-streams.csv).
 */
constexpr double BLOCK_ELEMENTS_PER_S = 4e9;

/// The compute capability from which on multiprocessors have twice as many units for fp32.
constexpr uint32_t WIDE = 86;

/**
 * Operations on whole numbers per element of a pool's window: PyTorch's kernels find the place of
 * each by divisions, and the backward pass looks for each element of the input into all windows
 * that cover it. On one H100 (PyTorch 2.11, November 2026), long kernels of AlexNet, ResNet-50 and
 * Inception v3 take 31 to 46 operations forward (maximum and average, both layouts), backward 59 to
 * 65 (average, channels last) and 59 to 92 (maximum).
 */
constexpr double WINDOW_OPERATIONS_FORWARD = 40;
constexpr double WINDOW_OPERATIONS_BACKWARD = 72;

/**
 * @param capability of a GPU
 * @return operations on whole numbers for each floating point operation in fp32. A unit for fp32
 * does two in a cycle. Multiprocessors have as many units for whole numbers as for fp32 in compute
 * capability 6.1 to 8.0, and half as many from 8.6 to 9.0 (NVIDIA, "CUDA C++ Programming Guide",
 * arithmetic instructions).
 */
double
GetIntegerShare(uint32_t capability)
{
    constexpr uint32_t BLACKWELL = 100; // from there on, as many again
    return capability >= WIDE && capability < BLACKWELL ? 0.25 : 0.5;
}

/// @param capability of a GPU @return share of cuBLAS's rate in fp32 that convolutions reach
double
GetConvolutionShare(uint32_t capability)
{
    return capability >= WIDE ? CONVOLUTION_SHARE : 1;
}

bool
IsShare(double value)
{
    return value > 0 && value <= 1;
}

} // namespace

double
FindOfGpu(const std::map<std::string, double>& values, const std::string& gpu)
{
    double found = 1;
    for (const auto& [begin, value] : values) // a longer name comes behind what it begins with
    {
        found = gpu.compare(0, begin.size(), begin) == 0 ? value : found;
    }
    return found;
}

KernelCostModel::KernelCostModel(const GpuDatasheet& gpu,
                                 const KernelCostParameters& parameters,
                                 const ProfileTable* profile)
    : m_gpu(gpu),
      m_capability(FindComputeCapability(gpu.model)),
      m_parameters(parameters),
      m_profile(profile)
{
    if (!IsShare(parameters.matrixEfficiency) || !IsShare(parameters.memoryEfficiency) ||
        !IsShare(parameters.streamEfficiency) || !IsShare(parameters.optimizerEfficiency) ||
        !IsShare(parameters.fusedAttentionEfficiency) || !IsShare(parameters.fp8Efficiency) ||
        !IsShare(parameters.misalignedEfficiency) || !IsShare(parameters.fp8GradientShare) ||
        (parameters.rowEfficiency != 0 && !IsShare(parameters.rowEfficiency)) ||
        !std::all_of(parameters.groupedShares.begin(),
                     parameters.groupedShares.end(),
                     [](const auto& share) { return IsShare(share.second); }) ||
        (parameters.duty.products != 0 && !IsShare(parameters.duty.products)) ||
        (parameters.duty.kernels != 0 && !IsShare(parameters.duty.kernels)))
    {
        throw std::invalid_argument("operator cost: an efficiency must be above 0 and at most 1");
    }
    if (parameters.gpus == 0 || parameters.matrixGpus == 0 || !(parameters.gpuSpread >= 0) ||
        parameters.gpuSpread > 1)
    {
        throw std::invalid_argument(
            "operator cost: a job has one GPU or more, and their spread is 0 to 1");
    }
    if (parameters.kernelLatencyPs < 0 || parameters.hostPerKernelPs < 0)
    {
        throw std::invalid_argument("operator cost: a time must not be negative");
    }
    if (gpu.multiprocessors == 0 || !(gpu.memoryBytesPerSecond > 0) || !(gpu.fp32Flops > 0))
    {
        throw std::invalid_argument("operator cost: the data sheet of \"" + gpu.model +
                                    "\" has no multiprocessors, no memory bandwidth or no FLOP/s");
    }
}

double
KernelCostModel::GetMatrixEfficiency(DataType type) const
{
    // A format without a unit of its own runs on that of another.
    const bool isFp4 =
        type == DataType::FP4 && m_gpu.PeakFlops(type) > m_gpu.PeakFlops(DataType::FP8);
    const bool isFp8 = IsQuantized(type) && !isFp4 && m_gpu.fp8Flops > 0;
    const DataType unit = isFp8                         ? DataType::FP8
                          : IsQuantized(type) && !isFp4 ? DataType::BF16
                                                        : type;
    const auto achieved = FindAchievedMatrixShare(m_gpu.model, unit, m_parameters.duty);
    const double slowest =
        GetSlowestShare(m_parameters.gpus, m_parameters.matrixGpus, m_parameters.gpuSpread);
    if (achieved)
    {
        const double fitted = FindAchievedMatrixShare(FITTED_GPU, DataType::BF16).value();
        // The largest products are of a moment; of shares measured on one H100, see there.
        const double inSteps =
            m_parameters.matrixGpus == 1 ? FindShareInSteps(m_gpu.model, unit) : 1;
        // Where the clock is above that of the data sheet, products may pass its peak.
        const double most = std::max(1.0, *achieved);
        return slowest *
               std::min(most, m_parameters.matrixEfficiency * inSteps * *achieved / fitted);
    }
    return slowest * m_parameters.matrixEfficiency * (isFp8 ? m_parameters.fp8Efficiency : 1);
}

/// @return share of the peak that a fused attention reaches
double
KernelCostModel::GetAttentionEfficiency(const KernelWork& work) const
{
    if (m_parameters.attention == AttentionKernel::CONSTANT ||
        work.kernelClass != KernelClass::FUSED_ATTENTION)
    {
        return m_parameters.fusedAttentionEfficiency;
    }
    AttentionShape shape;
    shape.keys = work.shape[2];
    shape.head = work.shape[3];
    shape.isForward = work.pass == KernelPass::FORWARD;
    shape.window = work.window;
    if (work.window > 0 && !HasWindows(m_parameters.attention))
    {
        throw std::invalid_argument(
            "operator cost: the kernel " + std::string(ToString(m_parameters.attention)) +
            " of fused attention has no windows; flash-attention-2 and 3 and cudnn do");
    }
    shape.capability = m_capability;
    shape.blocks = GetAttentionBlocks(work.shape[0], work.shape[1]);
    shape.multiprocessors = m_gpu.multiprocessors;
    shape.isCausal = work.isCausal;
    const double loss = IsPowerLimited(m_parameters.attention, m_capability)
                            ? FindClockLoss(m_gpu.model, work.type, m_parameters.duty)
                            : FindAttentionClockLoss(m_gpu.model, work.type, m_parameters.duty);
    // Its shares were measured on one GPU.
    return loss * GetAttentionShare(m_parameters.attention, shape) *
           GetSlowestShare(m_parameters.gpus, 1, m_parameters.gpuSpread);
}

/// @return the part of a fused attention's time for which it draws what products do
double
KernelCostModel::FindPowerShare(const KernelWork& work) const
{
    if (IsPowerLimited(m_parameters.attention, m_capability))
    {
        return 1;
    }
    // Its operations take the energy of those of products.
    return HasLowerLimit(m_gpu.model, work.type)
               ? std::min(1.0, GetAttentionEfficiency(work) / GetMatrixEfficiency(work.type))
               : 0;
}

/// @return multiply-adds that the load of an operand's element costs, of those that it costs on
/// matrix units. Loads take their time, in which the units that are not matrix units, which are
/// slower, do fewer multiply-adds; their elements are longer than 2 bytes.
double
KernelCostModel::GetLoadShare(DataType type) const
{
    const double peak = m_gpu.PeakFlops(type);
    if (peak > m_gpu.fp32Flops)
    {
        return 1;
    }
    return peak / m_gpu.multiprocessors / LOADING_FLOPS * GetElementBytes(type) / 2;
}

ProductTime
KernelCostModel::GetProductTime(const MatrixProduct& product, DataType type, double loads) const
{
    const double peak = m_gpu.PeakFlops(type);
    const double perProcessor = peak / m_gpu.multiprocessors;
    double efficiency = GetMatrixEfficiency(type);
    const bool onMatrixUnits = peak > m_gpu.fp32Flops;
    if (onMatrixUnits)
    {
        efficiency *= GetAlignmentShare(GetAlignment(product, type),
                                        m_capability,
                                        m_parameters.misalignedEfficiency);
    }
    const double bandwidth = m_gpu.memoryBytesPerSecond * m_parameters.streamEfficiency;
    const uint64_t fill = m_parameters.fillBytes / GetElementBytes(type);
    ProductTime best;
    best.seconds = std::numeric_limits<double>::infinity();
    for (const Tile& tile : TILES)
    {
        const double tiles = static_cast<double>(product.batch) *
                             static_cast<double>(DivideUp(product.m, tile.m)) *
                             static_cast<double>(DivideUp(product.n, tile.n));
        for (uint64_t split : SPLITS)
        {
            const uint64_t least = split > MOST_SHORT_SPLITS ? MIN_LONG_SPLIT_K : MIN_SPLIT_K;
            if (split > 1 && product.k / split < least)
            {
                break;
            }
            const double depth = static_cast<double>(DivideUp(product.k, split) + fill);
            const double waves = std::ceil(tiles * static_cast<double>(split) /
                                           static_cast<double>(m_gpu.multiprocessors));
            const bool hides = split == 1 && tiles >= HIDING_BLOCKS * m_gpu.multiprocessors;
            const double load = hides ? loads * TILE_LOAD : TILE_LOAD;
            double time = waves * 2.0 * static_cast<double>(tile.m * tile.n) * depth /
                          (perProcessor * efficiency * TileEfficiency(tile, load));
            if (split > 1)
            {
                // The pieces are written in fp32 and summed by a second kernel.
                time += static_cast<double>(product.batch) * static_cast<double>(product.m) *
                        static_cast<double>(product.n) * 4.0 * static_cast<double>(split + 1) /
                        bandwidth;
            }
            if (time < best.seconds)
            {
                best = {time, static_cast<uint64_t>(tiles) * split};
            }
        }
    }
    best.seconds = std::max(best.seconds, static_cast<double>(product.bytes) / bandwidth);
    return best;
}

/// @return of Winograd's ways the fastest; infinite where there is none
double
KernelCostModel::GetWinogradSeconds(const KernelWork& work, KernelPass pass) const
{
    double least = std::numeric_limits<double>::infinity();
    if (HasMatrixUnits(work.type))
    {
        return least; // cuDNN's kernels on tensor cores multiply directly
    }
    const double latency = static_cast<double>(m_parameters.kernelLatencyPs) / PS_PER_S;
    const double bandwidth = m_gpu.memoryBytesPerSecond * m_parameters.memoryEfficiency;
    const double share = GetConvolutionShare(m_capability);
    const double rate = m_gpu.PeakFlops(work.type) * GetMatrixEfficiency(work.type) * share;
    for (const WinogradWay& way : ListWinogradWays(work, pass))
    {
        const double traffic = static_cast<double>(way.bytes) / bandwidth;
        double seconds = 0;
        if (way.isFused)
        {
            seconds = std::max(traffic, way.product.GetFlops() / (rate * FUSED_WINOGRAD_SHARE));
        }
        else
        {
            seconds = GetProductSeconds(way.product, work.type) / share + traffic +
                      WINOGRAD_TRANSFORMS * latency;
        }
        least = std::min(least, seconds);
    }
    return least;
}

/// @return the time of one of the products of an operator, or of what computes the same
ProductTime
KernelCostModel::GetTimeOfProduct(const KernelWork& work, std::size_t index) const
{
    // Implicit products of convolutions compute the address of what they load.
    const bool isImplicit = work.kernelClass == KernelClass::CONVOLUTION;
    const KernelPass pass = work.pass != KernelPass::BACKWARD ? work.pass
                            : index == 0                      ? KernelPass::INPUT_GRADIENT
                                                              : KernelPass::WEIGHT_GRADIENT;
    if (isImplicit && CountGroups(work) > 1)
    {
        return GetGroupedTime(work, pass, index);
    }
    ProductTime time =
        GetProductTime(work.products[index], work.type, isImplicit ? 1 : GetLoadShare(work.type));
    const bool isGradient = work.pass != KernelPass::FORWARD;
    if (work.type == DataType::FP8 && m_gpu.fp8Flops > 0 && isGradient)
    {
        time.seconds /= m_parameters.fp8GradientShare;
    }
    // Where rows are misaligned, kernels of earlier generations run anyway.
    if (work.type == DataType::TF32 && pass == KernelPass::WEIGHT_GRADIENT &&
        m_capability >= HOPPER && GetAlignment(work.products[index], work.type) == LOAD_BYTES)
    {
        MatrixProduct bare = work.products[index];
        bare.bytes = 0;
        time.seconds =
            std::max(time.seconds, GetProductSeconds(bare, work.type) / TURNED_TF32_SHARE);
    }
    if (work.isGrouped && GetElementBytes(work.type) == 2)
    {
        MatrixProduct bare = work.products[index];
        bare.bytes = 0;
        const double share = FindOfGpu(m_parameters.groupedShares, m_gpu.model);
        time.seconds = std::max(time.seconds, GetProductSeconds(bare, work.type) / share);
    }
    if (isImplicit)
    {
        time.seconds = GetConvolutionSeconds(work, pass, time.seconds);
    }
    return time;
}

/// @return the time of a convolution of several groups of channels
ProductTime
KernelCostModel::GetGroupedTime(const KernelWork& work, KernelPass pass, std::size_t index) const
{
    const double bandwidth = m_gpu.memoryBytesPerSecond * m_parameters.memoryEfficiency;
    const bool isFirst = IsChannelsFirst(m_parameters.images, work.type);
    const bool isDepthwise = work.shape[2] == 1;
    MatrixProduct product = work.products[index];
    const double traffic = static_cast<double>(product.bytes) / bandwidth;
    if (isDepthwise)
    {
        const double rate = m_gpu.fp32Flops * (isFirst ? GetIntegerShare(m_capability) : 0.5);
        const double operations =
            CountDepthwiseOperations(work, pass, isFirst ? FIRST_DEPTHWISE : LAST_DEPTHWISE);
        return {rate == 0 ? traffic : std::max(traffic, operations / rate), 0};
    }
    // Kernels on tensor cores fill channels up to what they load at once (cuDNN 7.6.3's release
    // notes, auto-padding).
    if (HasMatrixUnits(work.type))
    {
        const uint64_t multiple = LOAD_BYTES / GetElementBytes(work.type);
        product.n = DivideUp(product.n, multiple) * multiple;
        product.k = DivideUp(product.k, multiple) * multiple;
        product.m = DivideUp(product.m, multiple) * multiple;
    }
    ProductTime time = GetProductTime(product, work.type);
    if (HasMatrixUnits(work.type) && !isFirst && CountGroups(work) % FAST_GROUPS != 0)
    {
        const double slow = product.GetFlops() * SLOW_GROUP_OPERATIONS / m_gpu.fp32Flops;
        time.seconds = std::max(time.seconds, slow);
    }
    time.seconds = GetConvolutionSeconds(work, pass, time.seconds);
    return time;
}

/// @return the time of a convolution whose product alone would take `product` seconds
double
KernelCostModel::GetConvolutionSeconds(const KernelWork& work,
                                       KernelPass pass,
                                       double product) const
{
    const bool hasMatrixUnits = HasMatrixUnits(work.type);
    const double direct = hasMatrixUnits ? product : product / GetConvolutionShare(m_capability);
    double seconds = std::min(direct, GetWinogradSeconds(work, pass));
    const uint64_t turned = GetTurnedBytes(work, m_parameters.images, hasMatrixUnits);
    if (turned > 0)
    {
        seconds += static_cast<double>(turned) /
                       (m_gpu.memoryBytesPerSecond * m_parameters.memoryEfficiency) +
                   2 * static_cast<double>(m_parameters.kernelLatencyPs) / PS_PER_S;
    }
    return seconds;
}

/// @return whether products of this type run on tensor cores
bool
KernelCostModel::HasMatrixUnits(DataType type) const
{
    return m_gpu.PeakFlops(type) > m_gpu.fp32Flops;
}

/// @return the time of the kernels that memory traffic decides
double
KernelCostModel::GetTrafficSeconds(const KernelWork& work) const
{
    const bool isRowWise = work.isRowWise && m_parameters.rowEfficiency > 0;
    const double share = work.kernelClass == KernelClass::OPTIMIZER
                             ? m_parameters.optimizerEfficiency
                         : isRowWise ? m_parameters.rowEfficiency
                                     : m_parameters.memoryEfficiency;
    return std::max({static_cast<double>(work.bytes) / (m_gpu.memoryBytesPerSecond * share),
                     static_cast<double>(work.blockElements) / BLOCK_ELEMENTS_PER_S,
                     GetWindowSeconds(work)});
}

/// @return the time in which the elements of a pool's windows are looked at
double
KernelCostModel::GetWindowSeconds(const KernelWork& work) const
{
    const double perElement =
        work.pass == KernelPass::FORWARD ? WINDOW_OPERATIONS_FORWARD : WINDOW_OPERATIONS_BACKWARD;
    return m_gpu.fp32Flops == 0 ? 0
                                : static_cast<double>(work.windowElements) * perElement /
                                      (m_gpu.fp32Flops * GetIntegerShare(m_capability));
}

KernelTime
KernelCostModel::GetTime(const KernelWork& work) const
{
    KernelTime time;
    const double host =
        static_cast<double>(work.GetNKernels()) * static_cast<double>(m_parameters.hostPerKernelPs);
    double gpu = 0;
    if (m_profile)
    {
        if (const auto measured = m_profile->Find(m_gpu.model, work))
        {
            time.gpuPs = *measured;
            time.isMeasured = true;
        }
    }
    double longest = 0;
    for (std::size_t i = 0; i < work.products.size(); ++i)
    {
        const ProductTime part = GetTimeOfProduct(work, i);
        gpu += part.seconds * PS_PER_S;
        time.threadBlocks = part.seconds > longest ? part.threadBlocks : time.threadBlocks;
        longest = std::max(longest, part.seconds);
    }
    if (work.kernelClass == KernelClass::FUSED_ATTENTION)
    {
        time.threadBlocks = GetAttentionBlocks(work.shape[0], work.shape[1]);
    }
    double products = gpu; // and what the clock falls under as it does under these
    if (!time.isMeasured)
    {
        const double traffic = GetTrafficSeconds(work) * PS_PER_S;
        const double arithmetic = work.fusedFlops /
                                  (m_gpu.PeakFlops(work.type) * GetAttentionEfficiency(work)) *
                                  PS_PER_S;
        const double merging = static_cast<double>(work.mergedBytes) /
                               (m_gpu.memoryBytesPerSecond * m_parameters.memoryEfficiency) *
                               PS_PER_S;
        if (work.kernelClass == KernelClass::FUSED_ATTENTION)
        {
            products += arithmetic * FindPowerShare(work);
        }
        gpu += std::max(traffic, arithmetic) + merging +
               static_cast<double>(work.GetNKernels()) *
                   static_cast<double>(m_parameters.kernelLatencyPs);
    }
    // Written so that not-a-number fails too.
    if (!(gpu >= 0) || gpu >= 0x1p62 || !(host < 0x1p62))
    {
        throw std::invalid_argument("operator cost: an operator of " +
                                    std::to_string(work.GetFlops()) + " FLOPs and " +
                                    std::to_string(work.GetBytes()) + " bytes on a " + m_gpu.model +
                                    " has no time that fits");
    }
    if (!time.isMeasured)
    {
        time.gpuPs = static_cast<int64_t>(std::llround(gpu));
    }
    time.productPs = std::min(time.gpuPs, static_cast<int64_t>(std::llround(products)));
    time.hostPs = static_cast<int64_t>(host);
    return time;
}

} // namespace proteus
} // namespace ns3
