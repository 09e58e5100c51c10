/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-plan-estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS = 1e-12; // seconds
constexpr double MEGABYTE = 1e6;
/// See GradientEmitter: parameters that close a bucket of Megatron-LM, at least.
constexpr double MEGATRON_BUCKET = 40e6;

/// @return bytes of a stored number
double
GetBytes(DataType type)
{
    return static_cast<double>(GetStoredBytes(type));
}

/// @return bytes of optimizer state per parameter
double
GetStateBytes(const ParallelPlan& plan)
{
    return static_cast<double>(GetOptimizerStateBytes(plan.optimizer.kind, plan.precision));
}

/// @return `outer` times `inner` devices from device 0 on, those of an inner row nearest
std::vector<DeviceId>
MakeGroup(uint64_t inner, uint64_t stride, uint64_t outer = 1, uint64_t outerStride = 0)
{
    std::vector<DeviceId> group;
    for (uint64_t row = 0; row < outer; ++row)
    {
        for (uint64_t i = 0; i < inner; ++i)
        {
            group.push_back(static_cast<DeviceId>(row * outerStride + i * stride));
        }
    }
    return group;
}

/// @return devices of one stage that are neighbours whatever the mapping is
uint64_t
CountNeighbours(const ParallelPlan& plan)
{
    return uint64_t{plan.tensorParallel} * plan.expertParallel * plan.contextParallel;
}

/// @return devices between those that share experts
uint64_t
GetOuterStride(const ParallelPlan& plan)
{
    return CountNeighbours(plan) * (plan.isPipelineInside ? plan.pipelineParallel : 1);
}

/// What a rank of the pipeline does, all of its stages together.
struct Rank
{
    double forwardS{0};  //!< of a micro-batch, communication included
    double backwardS{0}; //!< of a micro-batch, communication included
    double weightS{0};
    double computeS{0}; //!< kernels of a micro-batch
    double savedBytes{0};
    double kernels{0};                  //!< of a forward pass
    double kernelsS{0};                 //!< they take
    std::map<double, uint32_t> tensors; //!< of parameters: how many by elements
    double parts{0};                    //!< of the model
    double dense{0};                    //!< parameters
    double expert{0};                   //!< parameters
    std::array<double, N_PLAN_PARALLELISMS> communicationS{};

    double GetPass() const
    {
        return forwardS + backwardS;
    }
};

/// The formulas for one plan.
class PlanFormula
{
  public:
    PlanFormula(const ParallelPlan& plan,
                const KernelTimer& timer,
                const CommunicationCost& cost,
                double overlapSlowdown)
        : m_plan(plan),
          m_timer(timer),
          m_cost(cost),
          m_overlapSlowdown(overlapSlowdown),
          m_microBatches(plan.GetNMicroBatches()),
          m_ranks(plan.pipelineParallel),
          m_replicas(MakeGroup(uint64_t{plan.contextParallel} * plan.expertParallel,
                               plan.tensorParallel,
                               plan.GetNSharing() / plan.expertParallel,
                               GetOuterStride(plan))),
          m_expertReplicas(MakeGroup(plan.contextParallel,
                                     uint64_t{plan.tensorParallel} * plan.expertParallel,
                                     plan.GetNSharing() / plan.expertParallel,
                                     GetOuterStride(plan))),
          m_repeating(MakeGroup(plan.dataParallel / plan.GetNSharing(),
                                GetOuterStride(plan) * plan.GetNSharing() / plan.expertParallel))
    {
    }

    /// @param part of the model @param stage where it is @param isLast whether its stage ends there
    void Add(const PlanPart& part, uint32_t stage, bool isLast)
    {
        Rank& rank = m_ranks[stage % m_plan.pipelineParallel];
        double forward = part.forwardS;
        double backward = part.backwardS;
        for (std::size_t i = 0; i < N_PLAN_PARALLELISMS; ++i)
        {
            forward += part.forwardCommunicationS[i];
            backward += part.backwardCommunicationS[i];
            rank.communicationS[i] +=
                part.forwardCommunicationS[i] + part.backwardCommunicationS[i];
        }
        rank.forwardS += forward;
        rank.backwardS += backward;
        rank.weightS += part.weightS;
        rank.computeS += part.forwardS + part.backwardS;
        rank.savedBytes += part.savedBytes;
        rank.dense += part.denseElements;
        rank.expert += part.expertElements;
        rank.kernels += part.kernels;
        ++rank.parts;
        rank.kernelsS += part.forwardS;
        for (const auto& [elements, number] : part.tensors)
        {
            rank.tensors[elements] += number;
        }
        if (stage > 0 && part.tiedElements > 0)
        {
            rank.dense += part.tiedElements; // a copy
            m_tiedElements += part.tiedElements;
        }
        // What parts of one stage give each other, like logits to the loss, is not sent.
        if (part.boundaryBytes > 0 && isLast && m_plan.pipelineParallel > 1)
        {
            const std::vector<DeviceId> pair = MakeGroup(2, GetStride());
            m_transferS = std::max(m_transferS,
                                   m_cost.GetCost(Collective::SEND_RECV, pair, part.boundaryBytes));
        }
    }

    PlanEstimate Get()
    {
        PlanEstimate estimate;
        AddScattering();
        const double pipeline = GetPipelineSeconds();
        double before = 0; // of the backward passes of the ranks before: those end later
        for (uint32_t r = 0; r < m_ranks.size(); ++r)
        {
            const double data = GetGradientSeconds(r);
            const double update = GetUpdateSeconds(r);
            const double total = pipeline - before + data + update;
            if (total > estimate.seconds)
            {
                estimate.seconds = total;
                estimate.optimizerS = GetOptimizerSeconds(r);
                SetExposed(estimate, m_ranks[r], data + update - estimate.optimizerS);
            }
            before += m_ranks[r].backwardS / m_plan.virtualStages;
            estimate.memoryBytes = std::max(estimate.memoryBytes, GetMemoryBytes(r));
        }
        return estimate;
    }

  private:
    /// @return devices between neighbours in the pipeline
    uint64_t GetStride() const
    {
        return m_plan.isPipelineInside ? CountNeighbours(m_plan)
                                       : m_plan.GetNDevices() / m_plan.pipelineParallel;
    }

    double GetShare() const
    {
        return static_cast<double>(m_replicas.size());
    }

    double ReduceSeconds(Collective collective, const Rank& rank, double bytes) const
    {
        return m_cost.GetCost(collective, m_replicas, rank.dense * bytes) +
               m_cost.GetCost(collective, m_expertReplicas, rank.expert * bytes);
    }

    /// @return what groups that repeat states need to add up their shares of the gradients
    double RepeatSeconds(const Rank& rank, bool isWhole) const
    {
        if (m_repeating.size() < 2)
        {
            return 0;
        }
        const double elements =
            isWhole ? rank.dense + rank.expert
                    : rank.dense / GetShare() +
                          rank.expert / static_cast<double>(m_expertReplicas.size());
        return m_cost.GetCost(Collective::ALL_REDUCE,
                              m_repeating,
                              elements * GetBytes(m_plan.precision.gradient));
    }

    /// ZeRO 3 gathers the parameters of a block while the one before is computed, or tensors one by
    /// one, two kernels before they are used.
    /// @return how long all gatherings last, and how much of them those kernels cannot hide
    std::pair<double, double> GetGatherSeconds(const Rank& rank) const
    {
        std::pair<double, double> seconds{0, 0};
        if (m_plan.optimizer.gathersUnits)
        {
            const double parts = std::max(1.0, rank.parts);
            const double one = ReduceSeconds(Collective::ALL_GATHER,
                                             rank,
                                             GetBytes(m_plan.precision.compute) / parts);
            return {parts * one, parts * std::max(0.0, one - rank.kernelsS / parts)};
        }
        for (const auto& [elements, number] : rank.tensors)
        {
            const double one = m_cost.GetCost(Collective::ALL_GATHER,
                                              m_replicas,
                                              elements * GetBytes(m_plan.precision.compute));
            seconds.first += number * one;
            seconds.second +=
                number * std::max(0.0, one - 2 * rank.kernelsS / std::max(1.0, rank.kernels));
        }
        return seconds;
    }

    /// ZeRO 2 and 3 communicate in every pass; kernels hide it as far as they last.
    void AddScattering()
    {
        if (m_plan.optimizer.zero < 2)
        {
            return;
        }
        for (Rank& rank : m_ranks)
        {
            const bool isWhole = m_plan.optimizer.ReducesBeforeSharing();
            const double scatter =
                ReduceSeconds(isWhole ? Collective::ALL_REDUCE : Collective::REDUCE_SCATTER,
                              rank,
                              GetBytes(m_plan.precision.gradient)) +
                RepeatSeconds(rank, isWhole);
            const auto [gather, exposed] =
                m_plan.optimizer.zero < 3 ? std::pair(0.0, 0.0) : GetGatherSeconds(rank);
            double forward = std::max(rank.forwardS + exposed, gather);
            // Both use the same links.
            double backward = std::max(rank.backwardS + exposed, gather + scatter);
            forward += m_overlapSlowdown * (gather - (forward - rank.forwardS));
            backward += m_overlapSlowdown * (gather + scatter - (backward - rank.backwardS));
            rank.communicationS[static_cast<std::size_t>(Parallelism::DATA)] +=
                forward + backward - rank.GetPass();
            rank.forwardS = forward;
            rank.backwardS = backward;
        }
    }

    /// @return from the first forward pass to the last backward pass of rank 0
    double GetPipelineSeconds()
    {
        PipelineWork work;
        work.kind = m_plan.schedule.kind;
        work.microBatches = m_microBatches;
        work.virtualStages = m_plan.virtualStages;
        work.transferS = m_transferS;
        for (const Rank& rank : m_ranks)
        {
            work.passesS.push_back(rank.GetPass());
            work.weightS += rank.weightS;
        }
        const PipelineTime time = GetPipelineTime(work);
        m_transfersS = time.transfersS;
        return time.seconds;
    }

    /// @return what the reduction of the gradients of a rank adds behind its last backward pass
    double GetGradientSeconds(uint32_t r) const
    {
        const Rank& rank = m_ranks[r];
        const double bytes = GetBytes(m_plan.precision.gradient);
        const bool isScattered = m_plan.optimizer.zero >= 2;
        const bool isShared = m_plan.optimizer.zero == 1 && m_plan.optimizer.scattersGradients;
        double all = isScattered ? 0
                                 : ReduceSeconds(isShared ? Collective::REDUCE_SCATTER
                                                          : Collective::ALL_REDUCE,
                                                 rank,
                                                 bytes) +
                                       RepeatSeconds(rank, !isShared);
        double buckets = 1;
        const double total = (rank.dense + rank.expert) * bytes;
        if (m_plan.gradients.policy == BucketPolicy::DDP)
        {
            buckets = total / (m_plan.gradients.bucketMegabytes * MEGABYTE);
        }
        else if (m_plan.gradients.policy == BucketPolicy::MEGATRON && r == 0)
        {
            buckets = total / (bytes * std::max(MEGATRON_BUCKET, 1e6 * GetShare()));
        }
        else if (m_plan.gradients.policy == BucketPolicy::UNIT)
        {
            buckets = rank.parts;
        }
        buckets = std::max(1.0, buckets);
        const double last = rank.backwardS / m_plan.virtualStages;
        const double exposed = std::max(all / buckets, all - last * (1 - 1 / buckets));
        all = exposed + m_overlapSlowdown * (all - exposed);
        const bool isTied = m_tiedElements > 0 && (r == 0 || r + 1 == m_ranks.size());
        if (isTied && m_ranks.size() > 1)
        {
            all += m_cost.GetCost(Collective::ALL_REDUCE,
                                  MakeGroup(2, GetStride() * (m_ranks.size() - 1)),
                                  m_tiedElements * bytes);
        }
        return all;
    }

    double GetOptimizerSeconds(uint32_t r) const
    {
        const Rank& rank = m_ranks[r];
        const double share = m_plan.optimizer.zero >= 1 ? GetShare() : 1;
        const double elements = (rank.dense + rank.expert) / share;
        KernelDescription kernel;
        kernel.name = kernel.kind = ToString(m_plan.optimizer.kind);
        kernel.extents = {static_cast<uint64_t>(std::ceil(elements))};
        kernel.bytes = static_cast<uint64_t>(elements * (GetBytes(m_plan.precision.gradient) +
                                                         2 * GetStateBytes(m_plan) +
                                                         GetBytes(m_plan.precision.compute)));
        kernel.dataType = DataType::FP32;
        return PS * static_cast<double>(std::max<int64_t>(0, m_timer(kernel)));
    }

    /// @return the update, and the gathering of what others have updated
    double GetUpdateSeconds(uint32_t r) const
    {
        const bool gathers = m_plan.optimizer.zero == 1 || m_plan.optimizer.zero == 2;
        return GetOptimizerSeconds(r) + (gathers ? ReduceSeconds(Collective::ALL_GATHER,
                                                                 m_ranks[r],
                                                                 GetBytes(m_plan.precision.compute))
                                                 : 0);
    }

    void SetExposed(PlanEstimate& estimate, const Rank& rank, double dataS) const
    {
        const double m = m_microBatches;
        estimate.computeS = m * rank.computeS;
        double sum = estimate.computeS + estimate.optimizerS + dataS + m_transfersS;
        for (std::size_t i = 0; i < N_PLAN_PARALLELISMS; ++i)
        {
            estimate.exposedS[i] = m * rank.communicationS[i];
            sum += estimate.exposedS[i];
        }
        estimate.exposedS[static_cast<std::size_t>(Parallelism::DATA)] += dataS;
        estimate.exposedS[static_cast<std::size_t>(Parallelism::PIPELINE)] += m_transfersS;
        estimate.bubbleS = std::max(0.0, estimate.seconds - sum);
    }

    double GetMemoryBytes(uint32_t r) const
    {
        const Rank& rank = m_ranks[r];
        const double elements = rank.dense + rank.expert;
        const uint32_t zero = m_plan.optimizer.zero;
        const double share = GetShare();
        const auto parameterBytes =
            static_cast<double>(GetParameterBytes(m_plan.optimizer, m_plan.precision));
        const double persistent =
            elements * (parameterBytes / (zero >= 3 ? share : 1) +
                        GetBytes(m_plan.precision.gradient) / (zero >= 2 ? share : 1) +
                        GetStateBytes(m_plan) / (zero >= 1 ? share : 1));
        const double inFlight = CountInFlight(m_plan.schedule.kind,
                                              m_microBatches,
                                              m_plan.virtualStages,
                                              m_plan.pipelineParallel,
                                              r);
        return persistent + inFlight * rank.savedBytes;
    }

    const ParallelPlan& m_plan;
    const KernelTimer& m_timer;
    const CommunicationCost& m_cost;
    double m_overlapSlowdown;
    double m_microBatches;
    std::vector<Rank> m_ranks;
    std::vector<DeviceId> m_replicas;       //!< that have the same parameters
    std::vector<DeviceId> m_expertReplicas; //!< that have the same experts
    std::vector<DeviceId> m_repeating;      //!< that have the same shares of states
    double m_transferS{0};                  //!< of one result between stages
    double m_transfersS{0};                 //!< of all that is waited for
    double m_tiedElements{0};               //!< parameters of the first and the last stage
};

} // namespace

PipelineTime
GetPipelineTime(const PipelineWork& work)
{
    const auto p = static_cast<double>(work.passesS.size());
    const double m = work.microBatches;
    const double v = work.virtualStages;
    const double sum = std::accumulate(work.passesS.begin(), work.passesS.end(), 0.0);
    const double most = *std::max_element(work.passesS.begin(), work.passesS.end());
    const bool isGpipe = work.kind == ScheduleKind::GPIPE;
    const double stalls = isGpipe ? 0 : std::floor((m * v - 1) * (p - 1) / p);
    const double transfers = 2 * work.transferS * (isGpipe ? p - 1 : p * v - 1 + stalls);
    double seconds = sum + (m - 1) * most;
    if (work.kind == ScheduleKind::INTERLEAVED)
    {
        seconds = m * most + (p - 1) / v * (sum / p);
    }
    else if (work.kind == ScheduleKind::ZERO_BUBBLE)
    {
        seconds = m * most + (p - 1) * std::max(0.0, sum / p - 2 * work.weightS / p);
    }
    return {seconds + transfers, transfers};
}

double
CountInFlight(ScheduleKind kind,
              double microBatches,
              double virtualStages,
              double ranks,
              double rank)
{
    switch (kind)
    {
    case ScheduleKind::GPIPE:
        return microBatches;
    case ScheduleKind::INTERLEAVED:
        return std::min(microBatches * virtualStages,
                        2 * (ranks - rank - 1) + (virtualStages - 1) * ranks + 1) /
               virtualStages;
    default:
        return std::min(microBatches, ranks - rank);
    }
}

PlanEstimator::PlanEstimator(ModelSource source,
                             KernelTimer timer,
                             const CommunicationCost& cost,
                             double overlapSlowdown,
                             std::function<KernelTimer(bool)> makeTimer)
    : m_source(std::move(source)),
      m_timer(std::move(timer)),
      m_makeTimer(std::move(makeTimer)),
      m_cost(cost),
      m_overlapSlowdown(overlapSlowdown),
      m_model(m_source(ParallelPlan()))
{
}

const PlanShard&
PlanEstimator::GetShard(const ParallelPlan& plan)
{
    constexpr uint32_t ZERO_PARAMETERS = 3;
    const bool isOfZero3 = m_makeTimer && plan.optimizer.zero == ZERO_PARAMETERS;
    const ShardKey key{plan.tensorParallel,
                       plan.contextParallel,
                       plan.expertParallel,
                       plan.isSequenceParallel,
                       plan.microBatch,
                       plan.recompute,
                       isOfZero3};
    const auto error = m_errors.find(key);
    if (error != m_errors.end())
    {
        throw std::invalid_argument(error->second);
    }
    auto found = m_shards.find(key);
    if (found == m_shards.end())
    {
        const ParallelPlan shard = GetShardPlan(plan);
        try
        {
            const KernelTimer timer = m_makeTimer ? m_makeTimer(isOfZero3) : m_timer;
            found =
                m_shards.emplace(key, MakePlanShard(m_source(shard), shard, timer, m_cost)).first;
        }
        catch (const std::invalid_argument& cause)
        {
            m_errors[key] = cause.what();
            throw;
        }
    }
    return found->second;
}

const std::vector<uint32_t>&
PlanEstimator::GetStages(uint32_t nStages)
{
    std::vector<uint32_t>& stages = m_stages[nStages];
    if (stages.empty())
    {
        const std::map<std::string, uint32_t> stageOf = FindStages(m_model, nStages);
        for (const PlanPart& part : m_shards.begin()->second)
        {
            stages.push_back(stageOf.at(part.name));
        }
    }
    return stages;
}

PlanEstimate
PlanEstimator::Estimate(const ParallelPlan& plan)
{
    PlanFormula formula(plan, m_timer, m_cost, m_overlapSlowdown);
    const PlanShard& shard = GetShard(plan);
    const std::vector<uint32_t>& stages = GetStages(plan.pipelineParallel * plan.virtualStages);
    for (std::size_t i = 0; i < shard.size(); ++i)
    {
        formula.Add(shard[i], stages[i], i + 1 < shard.size() && stages[i + 1] != stages[i]);
    }
    return formula.Get();
}

} // namespace proteus
} // namespace ns3
