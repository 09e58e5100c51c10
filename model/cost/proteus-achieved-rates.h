/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ACHIEVED_RATES_H
#define PROTEUS_ACHIEVED_RATES_H

#include "proteus-power-limit.h"

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <optional>
#include <string>

/**
 * @file
 * @ingroup proteus
 * How much of a data sheet's peak the best libraries reach on a GPU: published measurements.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The share of the dense peak that the fastest matrix product reaches on a GPU under its power
 * limit. A data sheet multiplies with the boost clock; real clocks fall below it, most on GPUs with
 * the fastest tensor cores, and the more of the time is spent on products.
 *
 * H100 and H200: at its limit of 700 W the clock of an H100 SXM is 1.98 GHz while products take up
 * to 0.39 of the time, and falls with the power -0.4 of that part to 1.36 GHz when there is nothing
 * else (12 training steps in bf16, workloads/profiles/h100-steps.csv, within 5 % but for one with
 * 9 %; h100-products.csv). The rate is interpolated between both ends, geometrically. Of the same
 * processor with a lower limit (500 and 560 W) other kernels count, too: FindClock().
 * @param gpu name of a data sheet
 * @param type number format
 * @param duty of the GPU, parts of 0 to 1; 0 if the clock need not fall
 * @return the share; none where nobody has published it
 */
std::optional<double> FindAchievedMatrixShare(const std::string& gpu,
                                              DataType type,
                                              const GpuDuty& duty = {});

/// @ingroup proteus
/// @param gpu name of a data sheet @param type number format
/// @return whether FindAchievedMatrixShare() depends on how long the GPU multiplies
bool IsPowerLimited(const std::string& gpu, DataType type);

/**
 * @ingroup proteus
 * The part that is left of a rate where GPUs wait for each other. What power and temperature allow
 * differs between equal GPUs; a step takes what its slowest takes. The mean of the greatest of n
 * normal variables is that of their quantile (n - 0.375) / (n + 0.25) (Blom, "Statistical Estimates
 * and Transformed Beta-Variables", 1958): 1.43 standard deviations of 8, 2.35 of 64, 3.03 of 512.
 * @param gpus of a job
 * @param among GPUs of which the rate is that of the slowest; 1: the rate of a usual one
 * @param spread standard deviation of the time that they need for the same, as a share
 * @return the factor, above 0; 1 where a job has no more GPUs
 */
double GetSlowestShare(uint64_t gpus, uint64_t among, double spread);

/// @ingroup proteus
/// The kernel that a framework takes for attention whose scores stay on the chip.
enum class AttentionKernel : uint8_t
{
    CONSTANT,               //!< one share of the peak for all shapes
    FLASH_ATTENTION_1,      //!< Dao et al. 2022
    FLASH_ATTENTION_TRITON, //!< the same in Triton, flash_attn_triton.py, 2022
    FLASH_ATTENTION_2,      //!< Dao 2023
    FLASH_ATTENTION_3,      //!< Shah et al. 2024; before Hopper the second one runs
    CUDNN,                  //!< NVIDIA's, as Transformer Engine calls it
};

/// @ingroup proteus
/// @param kernel a value @return its name as files write it, e.g. "flash-attention-2"
const char* ToString(AttentionKernel kernel);
/// @ingroup proteus
/// @param text a name @return the value @throw std::invalid_argument that lists the names
AttentionKernel AttentionKernelFromString(const std::string& text);

/// @ingroup proteus
/// What the rate of fused attention depends on.
struct AttentionShape
{
    uint64_t keys{0};            //!< tokens that a token may look at
    uint64_t head{0};            //!< size of a head
    bool isCausal{true};         //!< whether tokens look only at those before them
    bool isForward{true};        //!< which pass
    uint32_t capability{};       //!< compute capability of the GPU, ten times
    uint64_t blocks{0};          //!< of threads, see GetAttentionBlocks(); 0: more than enough
    uint32_t multiprocessors{0}; //!< of the GPU; 0: not known
    uint64_t window{0};          //!< causal: the last tokens that a token looks at; 0: all
};

/// @ingroup proteus
/// @param kernel of fused attention @return whether it leaves out what is beyond a window of
/// tokens: FlashAttention does from 2.3 on (Dao-AILab/flash-attention, README.md, "Changelog"),
/// cuDNN from 9.2 on (TransformerEngine, get_attention_backend()); FlashAttention 1 and its version
/// in Triton have no argument for it
bool HasWindows(AttentionKernel kernel);

/// @ingroup proteus
/// @param matrices sequences times heads @param queries of one @return blocks of threads that a
/// fused attention has
uint64_t GetAttentionBlocks(uint64_t matrices, uint64_t queries);

/**
 * @ingroup proteus
 * The share of the 16-bit peak that fused attention reaches: its share on long sequences, times L /
 * (L + H), where L is the mean number of keys that a query looks at and H is 240, on Hopper 224
 * forward and 480 backward. The second factor stands for what a block of threads does outside of
 * its main loop, and for blocks on the diagonal, half of which is masked. It is within 4 % of the
 * figures of FlashAttention-2 (A100, forward and backward, causal, 512 to 16384 tokens: 88 to 171
 * TFLOP/s for heads of 64, 99 to 189 for heads of 128). With few blocks the longest of them
 * decides: of a causal attention the one whose queries look at all keys.
 * @param kernel which one; not CONSTANT
 * @param shape what is computed
 * @return the share, above 0 and below 1
 */
double GetAttentionShare(AttentionKernel kernel, const AttentionShape& shape);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ACHIEVED_RATES_H
