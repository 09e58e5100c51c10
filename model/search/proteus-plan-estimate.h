/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLAN_ESTIMATE_H
#define PROTEUS_PLAN_ESTIMATE_H

#include "proteus-plan-shard.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The time and memory of a plan in closed form.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Reads a model for a plan, see GetModelVariables().
using ModelSource = std::function<Model(const ParallelPlan&)>;

/// @ingroup proteus
/// What a plan takes, by formula.
struct PlanEstimate
{
    double seconds{0};     //!< of an iteration
    double computeS{0};    //!< kernels of the busiest device
    double bubbleS{0};     //!< time in which it waits for the pipeline
    double optimizerS{0};  //!< update
    double memoryBytes{0}; //!< of the fullest device, at least: temporary results are not counted
    /// Communication that nothing hides, seconds, by Parallelism.
    std::array<double, N_PLAN_PARALLELISMS> exposedS{};
};

/// @ingroup proteus
/// What a pipeline has to do.
struct PipelineWork
{
    ScheduleKind kind{ScheduleKind::ONE_FORWARD_ONE_BACKWARD}; //!< order of the micro-batches
    double microBatches{1};
    double virtualStages{1};     //!< stages per device group
    std::vector<double> passesS; //!< by device group: both passes of a micro-batch
    double weightS{0};           //!< gradients of parameters, of a micro-batch and all groups
    double transferS{0};         //!< of one result between stages
};

/// @ingroup proteus
/// How long a pipeline takes.
struct PipelineTime
{
    double seconds{0};    //!< from the first forward to the last backward pass of the first group
    double transfersS{0}; //!< of them, transfers that are waited for
};

/// @ingroup proteus
/// @param work of a pipeline @return its time, see PlanEstimator
PipelineTime GetPipelineTime(const PipelineWork& work);

/**
 * @ingroup proteus
 * @param kind order of the micro-batches
 * @param microBatches of an iteration
 * @param virtualStages per device group
 * @param ranks device groups
 * @param rank one of them
 * @return micro-batches whose results it keeps at most; parts of them where it has several stages
 */
double CountInFlight(ScheduleKind kind,
                     double microBatches,
                     double virtualStages,
                     double ranks,
                     double rank);

/**
 * @ingroup proteus
 * Estimates plans. A part of a model takes what its kernels take and, since operators wait for it,
 * their communication; parts make stages, stages f + b per micro-batch on rank r of p.
 *
 * - **1F1B, GPipe**: sum of (f + b) + (m - 1) max(f + b), and 2 c (p - 1 + floor((m - 1)(p - 1) /
 *   p)) for transfers of time c (GPipe without the second term). With equal stages and c = 0 this
 * is (m + p - 1)(f + b); with c it fits the schedule of DistSim's figures for equal stages.
 * - **interleaved** with v stages per rank (Narayanan et al. 2021, section 2.2): m max(f + b) +
 *   (p - 1) / v mean(f + b).
 * - **zero-bubble** H1 (Qi et al. 2024, table 2): m max(f + b) + (p - 1)(f + b - 2 w), w of the
 *   gradients of parameters.
 * - **Gradients** of rank r are reduced when it is done, sum of b of the ranks before it earlier
 * than the first. Buckets but the last hide behind the last backward pass.
 * - **ZeRO** 1 scatters gradients once and gathers parameters after the update; 2 and 3 scatter
 *   gradients in every micro-batch, 3 gathers parameters in every pass, behind kernels.
 * - Communication that is hidden slows the kernels that hide it, by a share of its time.
 *
 * **Memory**: parameters, gradients and state, and saved results of min(m, p - r) micro-batches;
 * interleaved, of min(m v, 2 (p - r - 1) + (v - 1) p + 1) stages.
 */
class PlanEstimator
{
  public:
    /**
     * @param source of the model
     * @param timer of kernels, for the precision of all plans
     * @param cost of communications in seconds; must outlive this object
     * @param overlapSlowdown what kernels lose to communication that they hide, in its time: 0, or
     * SHARING_SLOWDOWN where both share the GPU
     * @param makeTimer makes the timer of the kernels of a compilation, which asks in the order in
     * which the host issues them, so that it may know how far the host is ahead; its argument says
     * whether they are of ZeRO 3, where the host has more to do; none: `timer`
     */
    PlanEstimator(ModelSource source,
                  KernelTimer timer,
                  const CommunicationCost& cost,
                  double overlapSlowdown = 0,
                  std::function<KernelTimer(bool)> makeTimer = nullptr);

    /// Where kernels and collectives share GPUs (GpuSharing), kernels that hide communication take
    /// 17 to 27 % longer in four jobs that were measured by flows; 33 to 45 % under ZeRO 3 inside a
    /// server.
    static constexpr double SHARING_SLOWDOWN = 0.2;

    /**
     * @param plan any
     * @return what it takes
     * @throw std::invalid_argument as MakePlanShard() and ParallelPlan::GetNMicroBatches()
     */
    PlanEstimate Estimate(const ParallelPlan& plan);

  private:
    /// Tensor, context and expert parallelism, sequences, micro-batch, recomputation, and whether
    /// it is timed as under ZeRO 3.
    using ShardKey = std::tuple<uint32_t, uint32_t, uint32_t, bool, uint32_t, RecomputePlan, bool>;

    const PlanShard& GetShard(const ParallelPlan& plan);
    const std::vector<uint32_t>& GetStages(uint32_t nStages);

    ModelSource m_source;
    KernelTimer m_timer;
    std::function<KernelTimer(bool)> m_makeTimer; //!< or none
    const CommunicationCost& m_cost;
    double m_overlapSlowdown;
    Model m_model; //!< as it is read for the first plan, for its parts
    std::map<ShardKey, PlanShard> m_shards;
    std::map<ShardKey, std::string> m_errors;           //!< why there is no shard
    std::map<uint32_t, std::vector<uint32_t>> m_stages; //!< by number of stages: of every part
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLAN_ESTIMATE_H
