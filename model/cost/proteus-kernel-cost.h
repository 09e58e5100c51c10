/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KERNEL_COST_H
#define PROTEUS_KERNEL_COST_H

#include "proteus-achieved-rates.h"
#include "proteus-convolution-cost.h"
#include "proteus-kernel-work.h"
#include "proteus-profile-table.h"

#include "ns3/proteus-gpu-model.h"

#include <cstdint>
#include <map>
#include <string>

/**
 * @file
 * @ingroup proteus
 * How long an operator of known shape takes on a GPU.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What a GPU's data sheet does not say: about the GPU itself, its libraries, and the framework on
 * the host.
 *
 * **A matrix product** is cut into tiles of the result, one per block of threads. Blocks run in
 * waves over the multiprocessors; the last wave may be nearly empty. Each block takes the time of a
 * whole tile, however little of it lies inside the result. Six tile sizes are tried (256 x 128 down
 * to 64 x 64, the smaller the less efficient), and cutting the sum into 1, 2, 4 or 8 pieces; the
 * fastest counts, as a library's heuristics would choose. A tile has to fill its pipeline before it
 * multiplies, which makes short sums slow. The time of the traffic in device memory is a lower
 * bound.
 *
 * **Other kernels** take the time of their traffic. Their bytes are the least that the operator has
 * to move; what a framework's kernels move beyond that (copies, bias gradients, gradients added up)
 * is in the efficiency. Every kernel takes some microseconds for itself besides.
 *
 * **The host** issues kernels at a certain pace; an operator takes at least that long.
 *
 * **Where the numbers are from.** matrixEfficiency, memoryEfficiency and hostPerKernelPs are fitted
 * together, by test/unit/cost/operator-fit-test.cc, to 272 iterations of Megatron-DeepSpeed on up
 * to 8 A100-SXM4-80GB (VIA-Research/vTrain) and to two iterations of GPT 22B on 8 (Korthikanti et
 * al. 2022, table 5), each with the weight of 54 of the others. The mean absolute error over the
 * 272 is 6.2 %, the rank correlation 0.993; for operators of sizes that the fit has not seen the
 * error is 6 to 10 % (doc/operator-cost.rst has the tables). The other numbers are not fitted; each
 * says its source.
 */
struct KernelCostParameters
{
    /// Share of the peak rate in the main loop of the largest tile, on A100 and in 16 bits. Fitted
    /// there; elsewhere it is scaled by FindAchievedMatrixShare().
    double matrixEfficiency{0.761};
    /// Parts of the time in which the GPU multiplies matrices and does anything, 0 to 1, which
    /// decide its clock under a power limit: see FindAchievedMatrixShare(). 0: so little that the
    /// clock does not fall. Compile() finds them for a job.
    GpuDuty duty{};
    /// GPUs that wait for each other. Compile() sets the devices of a job: matrix products and
    /// fused attention take what they take on the slowest of them, see GetSlowestShare().
    uint64_t gpus{1};
    /// GPUs of the jobs that matrixEfficiency is from, of which the slowest is in it already: the
    /// fit is to servers of 2, 4 and 8. Of 1 where it was measured on one.
    uint64_t matrixGpus{8};
    /// Standard deviation of the speed of equal GPUs at the same work, as a share. Sinha et al. (SC
    /// 2022) measured SGEMM on all GPUs of five clusters: 8 % on average, taken to be the distance
    /// of the whiskers of a box plot, which are 5.4 standard deviations apart where speeds are
    /// normal. Between the eight of one server 5 % and more were seen (S. Bekman, "Machine Learning
    /// Engineering", compute/accelerator), 2.85 of them. Not fitted. 0: all are as fast.
    double gpuSpread{0.0148};
    /// Share of the memory bandwidth that kernels reach which are no matrix products, counting the
    /// least bytes. Fitted.
    double memoryEfficiency{0.487};
    /// The same of kernels that reduce rows (KernelWork::isRowWise); 0: as of all others. A layer
    /// norm on H100 reaches 0.52 to 0.70 forward and 0.55 to 0.62 backward, elementwise kernels
    /// 0.9 (workloads/profiles/h100-streams.csv).
    double rowEfficiency{0};
    /// Share of the memory bandwidth for the operands of a matrix product. Not fitted, as it
    /// decides few times; copies of long arrays reach 0.9 on H100.
    double streamEfficiency{0.85};
    /// Share of the memory bandwidth of the optimizer. From what the 272 iterations take besides
    /// their micro-batches: 20.5 ps per parameter of the fullest stage, at 28 bytes.
    double optimizerEfficiency{0.67};
    /// Which kernel fused attention is.
    AttentionKernel attention{AttentionKernel::CONSTANT};
    /// Share of the peak rate that fused attention reaches where it is AttentionKernel::CONSTANT.
    double fusedAttentionEfficiency{0.5};
    /// Share of matrixEfficiency in fp8 on GPUs of which nobody published it (H100, 8192 cubed:
    /// 1170 of 1979 TFLOP/s through PyTorch, 1610 through cuBLASLt). Not fitted.
    double fp8Efficiency{0.8};
    /// Share of the rate of other products in fp8 that those of gradients reach. Below 1 where they
    /// add up in registers of fp32 at intervals (split accumulators).
    double fp8GradientShare{1};
    /// Share of the rate of other products in 16 bits that those of a device's experts reach
    /// (KernelWork::isGrouped) where the framework multiplies them in one kernel, by how the names
    /// of data sheets begin. 1 on other GPUs.
    std::map<std::string, double> groupedShares{};
    /// Where images have their channels, which decides what convolutions have to turn.
    ImageLayout images{ImageLayout::CHANNELS_LAST};
    /// Share of matrixEfficiency where a dimension is not a multiple of 16 bytes, as the loads of
    /// tensor cores want it. From the output layer of those of the 272 iterations that do not share
    /// it: from hidden size 1024 to 2048 its time grows by 31 ms for 8192 tokens, which is 82
    /// TFLOP/s if its 50257 columns are not padded, as that time suggests. Known to a factor of 1.5
    /// at best. From Hopper on the width that is left decides, as measured on H100.
    double misalignedEfficiency{0.4};
    /// What the pipeline of a tile is filled with before it multiplies, bytes per row. Not fitted:
    /// from 64 to 400 the fit's mean error changes by 0.05 %.
    uint32_t fillBytes{128};
    /// Of every kernel: start, ramp and end, picoseconds. Not fitted: from 3 to 12 us the fit's
    /// mean error changes by 0.15 %.
    int64_t kernelLatencyPs{5000000};
    /// Of the host, per kernel, picoseconds. Fitted; it belongs to a software stack of 2022 on one
    /// host, not to the GPU. For CUDA graphs or a leaner framework set a few microseconds.
    int64_t hostPerKernelPs{102700000};
};

/// @ingroup proteus
/// @param values by how the names of data sheets begin @param gpu name of a data sheet
/// @return that of the longest beginning of the name; 1 where there is none
double FindOfGpu(const std::map<std::string, double>& values, const std::string& gpu);

/// @ingroup proteus
/// The time of an operator.
struct KernelTime
{
    int64_t gpuPs{0};       //!< picoseconds on the GPU
    int64_t productPs{0};   //!< of these, what the clock falls under as under products
    int64_t hostPs{0};      //!< picoseconds that the host needs to issue its kernels
    bool isMeasured{false}; //!< whether gpuPs is from the profile table
    /// Blocks of threads of its longest matrix product, or of its fused attention, which run in
    /// waves over the multiprocessors; 0 for kernels that memory traffic decides.
    uint64_t threadBlocks{0};

    /// @return what the operator adds to its stream: the longer of the two, as the host runs ahead
    /// of the GPU where it can
    int64_t GetPs() const
    {
        return gpuPs > hostPs ? gpuPs : hostPs;
    }
};

/// @ingroup proteus
/// The kernel of a matrix product.
struct ProductTime
{
    double seconds{0};        //!< without the host
    uint64_t threadBlocks{0}; //!< tiles of the result, times pieces of the sum
};

/// @ingroup proteus
/// Times operators on one GPU.
class KernelCostModel
{
  public:
    /**
     * @param gpu data sheet
     * @param parameters what it does not say
     * @param profile measured times; must outlive this object; null for none
     * @throw std::invalid_argument if a parameter makes no sense
     */
    explicit KernelCostModel(const GpuDatasheet& gpu,
                             const KernelCostParameters& parameters = {},
                             const ProfileTable* profile = nullptr);

    /**
     * @param work an operator
     * @return its time
     * @throw std::invalid_argument if the time does not fit into 64 bits of picoseconds
     */
    KernelTime GetTime(const KernelWork& work) const;

    /**
     * A matrix product's kernel, without the host.
     * @param product the product
     * @param type number format
     * @param loads what it costs to load operands, of what it costs a product on matrix units
     * @return its time, and the blocks of the tiles that were chosen
     */
    ProductTime GetProductTime(const MatrixProduct& product, DataType type, double loads = 1) const;

    /// @param type number format @return what a load costs a product, of what it costs one on
    /// matrix units
    double GetLoadShare(DataType type) const;

    /// @param product the product @param type number format @return GetProductTime()'s seconds
    double GetProductSeconds(const MatrixProduct& product, DataType type) const
    {
        return GetProductTime(product, type).seconds;
    }

    /// @param type number format @return share of its peak in the main loop of the largest tile
    double GetMatrixEfficiency(DataType type) const;

    /// @return the data sheet
    const GpuDatasheet& GetGpu() const
    {
        return m_gpu;
    }

    /// @return what it does not say
    const KernelCostParameters& GetParameters() const
    {
        return m_parameters;
    }

  private:
    double GetAttentionEfficiency(const KernelWork& work) const;
    double FindPowerShare(const KernelWork& work) const;
    ProductTime GetTimeOfProduct(const KernelWork& work, std::size_t index) const;
    double GetConvolutionSeconds(const KernelWork& work, KernelPass pass, double product) const;
    double GetWinogradSeconds(const KernelWork& work, KernelPass pass) const;
    ProductTime GetGroupedTime(const KernelWork& work, KernelPass pass, std::size_t index) const;
    bool HasMatrixUnits(DataType type) const;
    double GetTrafficSeconds(const KernelWork& work) const;
    double GetWindowSeconds(const KernelWork& work) const;

    GpuDatasheet m_gpu;
    uint32_t m_capability; //!< compute capability, ten times; 0: not known
    KernelCostParameters m_parameters;
    const ProfileTable* m_profile;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KERNEL_COST_H
