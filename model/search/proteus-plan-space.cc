/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-plan-space.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// Goes through the plans, one kind of choice per function.
class PlanWalk
{
  public:
    PlanWalk(const PlanModelFacts& facts,
             const PlanSpaceOptions& options,
             const std::function<bool(const ParallelPlan&)>& visit,
             PrunedPlans& pruned)
        : m_facts(facts),
          m_options(options),
          m_visit(visit),
          m_pruned(pruned)
    {
    }

    bool Run()
    {
        for (const uint32_t devices : m_options.devices)
        {
            m_devices = devices;
            for (uint32_t tensor = devices; m_goesOn && tensor >= 1; --tensor)
            {
                if (devices % tensor == 0)
                {
                    ChooseTensor(tensor);
                }
            }
        }
        return m_goesOn;
    }

  private:
    void Prune(const std::string& reason)
    {
        ++m_pruned[reason];
    }

    static bool IsPowerOfTwo(uint32_t number)
    {
        return (number & (number - 1)) == 0;
    }

    void ChooseTensor(uint32_t tensor)
    {
        if (tensor > 1 && !m_facts.hasTensor)
        {
            return Prune("tensor parallelism: the model does not say what it splits");
        }
        if (tensor > m_options.mostTensorParallel)
        {
            return Prune("tensor parallelism of more than " +
                         std::to_string(m_options.mostTensorParallel));
        }
        if (!IsPowerOfTwo(tensor))
        {
            return Prune("tensor parallelism that is no power of two");
        }
        m_plan = m_options.base;
        m_plan.globalBatch = static_cast<uint32_t>(m_options.globalBatch);
        m_plan.tensorParallel = tensor;
        const uint32_t rest = m_devices / tensor;
        for (uint32_t pipeline = 1; m_goesOn && pipeline <= rest; ++pipeline)
        {
            if (rest % pipeline == 0)
            {
                ChoosePipeline(pipeline);
            }
        }
    }

    void ChoosePipeline(uint32_t pipeline)
    {
        if (pipeline > 1 && (m_facts.blocks == 0 || m_facts.blocks % pipeline != 0))
        {
            return Prune("pipeline stages that cannot share the " + std::to_string(m_facts.blocks) +
                         " blocks evenly");
        }
        m_plan.pipelineParallel = pipeline;
        const uint32_t rest = m_devices / m_plan.tensorParallel / pipeline;
        for (uint32_t context = 1; m_goesOn && context <= rest; ++context)
        {
            if (rest % context == 0)
            {
                ChooseContext(context);
            }
        }
    }

    void ChooseContext(uint32_t context)
    {
        if (context > m_options.mostContextParallel || (context > 1 && !m_facts.hasSequence))
        {
            return Prune("context parallelism of more than " +
                         std::to_string(m_facts.hasSequence ? m_options.mostContextParallel : 1));
        }
        m_plan.contextParallel = context;
        m_plan.dataParallel = m_devices / m_plan.tensorParallel / m_plan.pipelineParallel / context;
        if (m_options.globalBatch % m_plan.dataParallel != 0)
        {
            return Prune("replicas that cannot share the global batch evenly");
        }
        for (uint32_t expert = 1; m_goesOn && expert <= m_plan.dataParallel; ++expert)
        {
            if (expert > 1 && m_facts.experts == 0)
            {
                break;
            }
            if (m_plan.dataParallel % expert == 0)
            {
                m_plan.expertParallel = expert;
                ChooseMapping();
            }
        }
    }

    /// Whether replicas or neighbours in the pipeline are nearer; the same where there is only one
    /// of either.
    void ChooseMapping()
    {
        const bool hasBoth =
            m_plan.pipelineParallel > 1 && m_plan.dataParallel > m_plan.expertParallel;
        m_plan.isPipelineInside = !m_options.variesMapping && m_options.base.isPipelineInside;
        ChooseExperts();
        if (hasBoth && m_options.variesMapping)
        {
            m_plan.isPipelineInside = true;
            ChooseExperts();
        }
    }

    void ChooseExperts()
    {
        if (m_plan.expertParallel > 1 && m_facts.experts % m_plan.expertParallel != 0)
        {
            return Prune("expert parallelism that cannot share the " +
                         std::to_string(m_facts.experts) + " experts evenly");
        }
        const uint64_t share = m_options.globalBatch / m_plan.dataParallel;
        for (uint32_t size = 1; m_goesOn && size <= share; size *= 2)
        {
            if (size > m_options.mostMicroBatch)
            {
                return Prune("micro-batches of more than " +
                             std::to_string(m_options.mostMicroBatch) + " samples");
            }
            if (share % size != 0)
            {
                return Prune("micro-batches that cannot share a replica's samples evenly");
            }
            m_plan.microBatch = size;
            for (const uint32_t zero : m_options.zero)
            {
                m_plan.optimizer.zero = zero;
                ChooseSharing();
            }
        }
    }

    /// @return replicas of a server; 0: not a whole number of them
    uint32_t CountServerReplicas() const
    {
        const uint64_t devices = uint64_t{m_plan.tensorParallel} * m_plan.contextParallel *
                                 (m_plan.isPipelineInside ? m_plan.pipelineParallel : 1);
        return m_options.serverDevices % devices == 0
                   ? static_cast<uint32_t>(m_options.serverDevices / devices)
                   : 0;
    }

    /// @return whether groups of so many replicas can share states
    bool CanShare(uint32_t group) const
    {
        return m_plan.optimizer.zero > 0 && group > 0 && m_plan.dataParallel % group == 0 &&
               group % m_plan.expertParallel == 0;
    }

    /// Who shares states: all replicas, or those of a server.
    void ChooseSharing()
    {
        const uint32_t given = m_options.base.zeroGroup;
        m_plan.zeroGroup = CanShare(given) ? given : 0;
        if (given > 0 && m_plan.optimizer.zero > 0 && m_plan.zeroGroup == 0)
        {
            return Prune("groups of " + std::to_string(given) +
                         " replicas that share states, which do not divide the replicas");
        }
        ChooseZero();
        const uint32_t ofServer = CountServerReplicas();
        if (m_goesOn && given == 0 && ofServer > 1 && ofServer < m_plan.dataParallel &&
            CanShare(ofServer))
        {
            m_plan.zeroGroup = ofServer;
            ChooseZero();
        }
        m_plan.zeroGroup = 0;
    }

    void ChooseZero()
    {
        const uint64_t replicas = uint64_t{m_plan.dataParallel} * m_plan.contextParallel;
        const uint32_t zero = m_plan.optimizer.zero;
        if (zero > 0 && replicas == 1)
        {
            return Prune("ZeRO without replicas");
        }
        if (zero > 1 && m_plan.pipelineParallel > 1)
        {
            return Prune("ZeRO 2 and 3 with a pipeline, which would communicate in every "
                         "micro-batch");
        }
        if (m_options.memoryBytes > 0 && GetLeastBytes() > m_options.memoryBytes)
        {
            return Prune("memory: parameters, gradients and optimizer state alone do not fit");
        }
        // Gradients of ZeRO 2 and 3 are scattered piece by piece, and there is nothing to hide
        // without replicas.
        std::vector<BucketPolicy> policies{zero < 2 ? BucketPolicy::WHOLE : m_options.pieces};
        if (zero < 2 && !m_options.variesBuckets)
        {
            policies = {m_options.base.gradients.policy};
        }
        else if (zero < 2 && replicas > 1)
        {
            policies.push_back(m_options.pieces);
        }
        for (const BucketPolicy policy : policies)
        {
            m_plan.gradients.policy = policy;
            ChooseSchedule();
        }
    }

    /// @return memory that a device needs at least, were everything shared as far as can be
    double GetLeastBytes() const
    {
        const double elements = static_cast<double>(m_facts.parameters) / m_plan.tensorParallel /
                                m_plan.pipelineParallel;
        const double kept = elements / m_plan.expertParallel;
        const double shared = elements / m_plan.GetNSharing() / m_plan.contextParallel;
        const PrecisionSpec& precision = m_plan.precision;
        const auto compute = static_cast<double>(GetParameterBytes(m_plan.optimizer, precision));
        const auto gradient = static_cast<double>(GetStoredBytes(precision.gradient));
        const auto state =
            static_cast<double>(GetOptimizerStateBytes(m_plan.optimizer.kind, precision));
        const uint32_t zero = m_plan.optimizer.zero;
        return compute * (zero >= 3 ? shared : kept) + gradient * (zero >= 2 ? shared : kept) +
               state * (zero >= 1 ? shared : kept);
    }

    void ChooseSchedule()
    {
        const uint32_t pipeline = m_plan.pipelineParallel;
        m_plan.virtualStages = 1;
        m_plan.schedule.kind = m_options.base.schedule.kind;
        ChooseRecomputation();
        if (pipeline == 1)
        {
            return;
        }
        if (m_options.variesSchedule)
        {
            m_plan.schedule.kind = ScheduleKind::ZERO_BUBBLE;
            ChooseRecomputation();
        }
        m_plan.schedule.kind = ScheduleKind::INTERLEAVED;
        for (uint32_t stages = 2; m_goesOn && stages * pipeline <= m_facts.blocks; ++stages)
        {
            if (m_facts.blocks % (stages * pipeline) != 0)
            {
                continue;
            }
            if (stages > m_options.mostVirtualStages)
            {
                Prune("more than " + std::to_string(m_options.mostVirtualStages) +
                      " stages per device group");
                continue;
            }
            m_plan.virtualStages = stages;
            if (m_plan.GetNMicroBatches() % pipeline != 0)
            {
                Prune("interleaved schedule: micro-batches that are no multiple of the pipeline");
                continue;
            }
            ChooseRecomputation();
        }
    }

    void ChooseRecomputation()
    {
        for (const RecomputePlan plan : {RecomputePlan::NONE,
                                         RecomputePlan::SELECTIVE,
                                         RecomputePlan::BETWEEN_PRODUCTS,
                                         RecomputePlan::FULL})
        {
            // Few frameworks have the third: it is taken where the strategy has it.
            const bool isVaried =
                m_options.variesRecomputation && plan != RecomputePlan::BETWEEN_PRODUCTS;
            const bool isAllowed = isVaried || plan == m_options.base.recompute;
            if (!isAllowed || !m_facts.CanRecompute(plan))
            {
                continue;
            }
            m_plan.recompute = plan;
            for (const bool isSequence : {false, true})
            {
                const bool canBe = m_plan.tensorParallel > 1 && m_facts.hasSequence;
                const bool isAllowed =
                    m_options.variesSequence || isSequence == m_options.base.isSequenceParallel;
                if (m_goesOn && (!isSequence || canBe) && (isAllowed || (!isSequence && !canBe)))
                {
                    m_plan.isSequenceParallel = isSequence;
                    m_goesOn = m_visit(m_plan);
                }
            }
        }
    }

    const PlanModelFacts& m_facts;
    const PlanSpaceOptions& m_options;
    const std::function<bool(const ParallelPlan&)>& m_visit;
    PrunedPlans& m_pruned;
    ParallelPlan m_plan;
    uint32_t m_devices{1};
    bool m_goesOn{true};
};

} // namespace

PlanModelFacts
DescribeForPlans(const Model& model)
{
    PlanModelFacts facts;
    facts.blocks = CountBlocks(model);
    facts.parameters = model.CountParameters();
    const uint64_t frozen = facts.parameters - model.CountTrainedParameters();
    if (frozen > 0)
    {
        throw std::invalid_argument("model " + model.GetName() +
                                    ": a search takes all parameters for "
                                    "trained, and " +
                                    std::to_string(frozen) + " of its " +
                                    std::to_string(facts.parameters) + " are frozen");
    }
    facts.sequence = model.GetSequence();
    facts.forwardFlopsPerSample = model.CountForwardFlops() / static_cast<double>(model.GetBatch());
    for (const ModelOperator& op : model.GetOperators())
    {
        facts.hasTensor = facts.hasTensor || !op.tensorParallel.empty();
        facts.hasSequence = facts.hasSequence || op.FindDimension("sequence") != NO_ID;
        facts.hasAttention = facts.hasAttention || op.kind == "attention";
        const uint32_t experts = op.FindDimension("experts");
        if (op.kind == "expert-linear" && experts != NO_ID)
        {
            facts.experts = std::max(facts.experts, op.dimensions[experts].extent);
        }
    }
    return facts;
}

bool
VisitPlans(const PlanModelFacts& facts,
           const PlanSpaceOptions& options,
           const std::function<bool(const ParallelPlan&)>& visit,
           PrunedPlans& pruned)
{
    if (options.base.expertTensorParallel > 0)
    {
        throw std::invalid_argument("search: plans with etp, whose experts have a grid of their "
                                    "own, are not tried; leave it out of the framework's plan");
    }
    if (options.base.schedule.overlapsExperts)
    {
        throw std::invalid_argument("search: plans with overlapExpertCommunication, whose passes "
                                    "take turns, are not tried; leave it out of the framework's "
                                    "plan");
    }
    return PlanWalk(facts, options, visit, pruned).Run();
}

} // namespace proteus
} // namespace ns3
