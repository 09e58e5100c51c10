/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OPERATOR_COST_H
#define PROTEUS_OPERATOR_COST_H

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-graph.h"

#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * How long an operator takes on a GPU.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A roofline over the data sheet, with the pace of the host as a floor. It is for tasks of which no
 * more is known than FLOPs and bytes:
 *
 * time = max(launchInterval, flops / (peak * flopsEfficiency), bytes / (bandwidth *
 * memoryEfficiency)).
 *
 * The floor is a maximum, not a sum, because kernels are launched ahead of their execution: a long
 * kernel hides the launch of the next one. One task stands for all kernels of an operator, and for
 * what the framework does on the host to issue them.
 *
 * **Where the defaults are from.** They are fitted to the 48 iterations without tensor and pipeline
 * parallelism among 272 published measurements of Megatron-DeepSpeed on A100-SXM4-80GB
 * (VIA-Research/vTrain, data/ground_truth_single.csv; hidden size 1024 and 2048, micro-batch 1 to
 * 8, 16-bit). Operators are those of Megatron-LM as the compiler makes them, without recomputation;
 * communication takes a latency of 30 us plus a ring at 200 GB/s. The three numbers minimise the
 * squared logarithmic error there: mean absolute error 3.7 %, worst 16 %. A sum in place of the
 * maximum leaves 6.9 %, worst 23 %.
 *
 * **How far they carry.** On rows that were not fitted the error is 5.0 % for 2 and 7.4 % for 4
 * pipeline stages, and 12 % for tensor parallelism of 2 and 4. For 8 the model is 30 % too fast:
 * there the host, which also issues the collectives, limits every row. Over all 272 rows it is 9.7
 * %, mean -7 %. GPT 22B on 8 A100 with full recomputation (Korthikanti et al. 2022, table 5: 1.42
 * s, larger operators than any fitted one, other software) comes out at 1.61 s, 13 % too slow. The
 * two efficiencies are known less well than their effect: fitted to hidden size 1024 alone, they
 * miss 2048 by 24 %. One number for all operators cannot do better; where shapes are known,
 * KernelCostModel does.
 *
 * The floor belongs to a software stack of 2022 on one host, not to the GPU. For CUDA graphs or a
 * leaner framework set a few microseconds.
 */
struct RooflineModel
{
    double flopsEfficiency{0.69};        //!< share of the peak rate that a kernel reaches
    double memoryEfficiency{0.555};      //!< share of the memory bandwidth that a kernel reaches
    int64_t launchIntervalPs{113000000}; //!< least time of a task, picoseconds

    /**
     * @param task a compute task
     * @param gpu where it runs
     * @return its time in picoseconds: the fixed one where the task has one
     * @throw std::invalid_argument if the task is of another kind, an efficiency is not above 0,
     * the interval is negative, or the time is not finite or does not fit
     */
    int64_t ComputeTimePs(const Task& task, const GpuDatasheet& gpu) const;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OPERATOR_COST_H
