/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-emit-gradients.h"

#include "proteus-compiler-streams.h"
#include "proteus-strategy-error.h"

#include <algorithm>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

/// Smallest bucket of Megatron-LM's reduction, in parameters, and what each replica adds to it
/// (megatron/core/distributed/distributed_data_parallel.py).
constexpr uint64_t MEGATRON_BUCKET = 40000000;
constexpr uint64_t MEGATRON_BUCKET_PER_REPLICA = 1000000;
constexpr double MEGABYTE = 1e6;

/**
 * What brings a share of a gradient to each replica: DeepSpeed's ZeRO 2 reduces all of it
 * everywhere, and then keeps the share.
 * @param step of a reduction
 * @param optimizer of the job
 * @return what runs
 */
Collective
FindCollective(const BoxingStep& step, const OptimizerSpec& optimizer)
{
    return optimizer.ReducesBeforeSharing() && step.collective == Collective::REDUCE_SCATTER
               ? Collective::ALL_REDUCE
               : step.collective;
}

} // namespace

void
GradientEmitter::Add(const Leaf& leaf)
{
    const auto found = m_leafOf.find(leaf.tensor);
    if (found != m_leafOf.end() && m_leaves[found->second].made.layout == leaf.made.layout)
    {
        // Used twice: the sums add up on the device.
        Leaf& other = m_leaves[found->second];
        other.made.rows.insert(other.made.rows.end(), leaf.made.rows.begin(), leaf.made.rows.end());
        other.depth = std::max(other.depth, leaf.depth);
        other.operatorId = leaf.operatorId;
        other.read = leaf.read;
        return;
    }
    m_leafOf[leaf.tensor] = static_cast<uint32_t>(m_leaves.size());
    m_leaves.push_back(leaf);
}

void
GradientEmitter::WaitForSends(const BucketKey& key, Bucket& bucket) const
{
    const BucketPolicy policy = m_context.tree.gradients.policy;
    if (bucket.phase != m_context.phases.gradients ||
        (policy != BucketPolicy::WHOLE && policy != BucketPolicy::MEGATRON))
    {
        return;
    }
    for (const DeviceId device : key.second)
    {
        const auto sends = m_context.backwardSends.find(device);
        if (sends != m_context.backwardSends.end())
        {
            bucket.ready.insert(bucket.ready.end(), sends->second.begin(), sends->second.end());
        }
    }
}

/// Reduces what a bucket has and gives every leaf in it the task that it is done with.
void
GradientEmitter::Flush(const BucketKey& key, Bucket& bucket)
{
    const uint32_t number = m_nFlushed[key.second]++;
    Task task;
    task.kind = TaskKind::COMMUNICATION;
    task.collective = key.first;
    task.parallelism = bucket.parallelism;
    task.stream = bucket.stream;
    task.phase = bucket.phase;
    task.place = m_context.builder.AddGroup(key.second);
    task.bytes = bucket.bytes;
    const std::string name = "gradients.bucket" + std::to_string(number);
    WaitForSends(key, bucket);
    const TaskId id =
        m_context.builder.AddTask(task, name + "." + ToString(key.first), bucket.ready);
    if (m_context.tree.gradients.policy == BucketPolicy::UNIT && bucket.isScattered)
    {
        m_context.unitCommunications.push_back(
            {GetUnit(m_leaves[bucket.leaves.front()]), false, task.place, id});
    }
    for (const DeviceId device : key.second)
    {
        TaskId result = id;
        if (!m_context.isInPlace && m_context.IsEmitted(device))
        {
            uint64_t bytes = 0;
            for (const uint32_t leaf : bucket.leaves)
            {
                const Layout& layout = m_leaves[leaf].reduced.layout;
                bytes += m_context.GetGradientBytes() *
                         layout.CountLocal(
                             m_context.placement.tensors[m_leaves[leaf].tensor].tensor.shape,
                             layout.mesh->FindPosition(device));
            }
            result =
                m_context.builder.AddMemory(m_context.phases.gradients, device, name, bytes, {id});
        }
        for (const uint32_t leaf : bucket.leaves)
        {
            Value& reduced = m_leaves[leaf].reduced;
            reduced.rows.back()[reduced.layout.mesh->FindPosition(device)] = result;
        }
    }
    bucket = Bucket();
}

/// Whether a bucket has reached its size.
bool
GradientEmitter::IsFull(const BucketKey& key, const Bucket& bucket, uint32_t stage) const
{
    switch (m_context.tree.gradients.policy)
    {
    case BucketPolicy::WHOLE:
    case BucketPolicy::UNIT: // closed by the next unit
        return false;
    case BucketPolicy::TENSOR:
        return true;
    case BucketPolicy::DDP: {
        const bool isFirst = m_nFlushed.count(key.second) == 0;
        return static_cast<double>(bucket.wholeBytes) >
               MEGABYTE * (isFirst ? m_context.tree.gradients.firstBucketMegabytes
                                   : m_context.tree.gradients.bucketMegabytes);
    }
    case BucketPolicy::MEGATRON:
        return stage == 0 &&
               bucket.bytes >=
                   m_context.GetGradientBytes() *
                       std::max(MEGATRON_BUCKET, MEGATRON_BUCKET_PER_REPLICA * key.second.size());
    }
    return false;
}

/// Under ZeRO 1 every replica adds its gradients up whole, and then updates a share.
const Layout&
GradientEmitter::GetTarget(const PlacedTensor& tensor) const
{
    const OptimizerSpec& optimizer = m_context.tree.optimizer;
    return optimizer.zero == 1 && optimizer.scattersGradients ? tensor.optimizer : tensor.gradient;
}

/// @param step of a reduction @param isFirst whether it is the first step
/// @return whether it adds up shares of groups of replicas that repeat them
bool
GradientEmitter::IsOfShares(const BoxingStep& step, bool isFirst) const
{
    if (isFirst || step.collective != Collective::ALL_REDUCE)
    {
        return false;
    }
    // What samples are split over, but for those who share states.
    std::vector<std::string> axes;
    for (const SplitSpec& split : m_context.tree.root.op.splits.value_or(std::vector<SplitSpec>()))
    {
        if (split.dimension == "batch")
        {
            axes.insert(axes.end(), split.axes.begin(), split.axes.end());
        }
    }
    return std::all_of(step.axes.begin(), step.axes.end(), [&](MeshAxis axis) {
        const std::string& name = step.from.mesh->GetNames()[axis];
        return std::find(axes.begin(), axes.end(), name) != axes.end();
    });
}

/// FSDP adds shares up behind each scatter, in a stream of its own (torch/distributed/fsdp/
/// _runtime_utils.py, _reduce_grad(): _all_reduce_stream; fully_shard() likewise).
/// @param step of a reduction @param isFirst whether it is the first step @return its stream
StreamId
GradientEmitter::FindStream(const BoxingStep& step, bool isFirst)
{
    if (!IsOfShares(step, isFirst))
    {
        return m_context.streams.gradient;
    }
    if (m_context.streams.repeating == NO_STREAM)
    {
        m_context.streams.repeating =
            m_context.builder.AddStream(COMPILER_STREAMS.Get(CompilerStream::REPEATING));
    }
    return m_context.streams.repeating;
}

/// @param step of a reduction @param stage of it @param isFirst whether it is the first step
/// @return where it runs
PhaseId
GradientEmitter::FindPhase(const BoxingStep& step, uint32_t stage, bool isFirst) const
{
    const bool isScatter = isFirst && step.collective == Collective::REDUCE_SCATTER;
    const bool isEachTime = isScatter || IsOfShares(step, isFirst);
    return !m_context.phases.scatter.empty() && isEachTime
               ? m_context.phases.scatter[m_context.phases.chunkOf[stage]]
               : m_context.phases.gradients;
}

/// Brings a gradient to other devices. @param step from point to point @param leaf the gradient
void
GradientEmitter::SendReduced(const BoxingStep& step, Leaf& leaf)
{
    const ModelTensor& tensor = m_context.placement.tensors[leaf.tensor].tensor;
    Cargo cargo;
    cargo.name = tensor.name + ".gradient";
    cargo.shape = tensor.shape;
    cargo.elementBytes = m_context.GetGradientBytes();
    cargo.sendPhase = cargo.receivePhase = m_context.phases.gradients;
    leaf.reduced = m_converter.EmitTransfers(leaf.reduced, step, cargo);
    m_hasTransfers = true;
}

/// One step of the reduction of the gradients of a stage.
/// @param isFirst whether it is the first one
/// @return whether there was one
bool
GradientEmitter::EmitReduction(const std::vector<uint32_t>& order, uint32_t stage, bool isFirst)
{
    std::map<BucketKey, Bucket> open;
    bool isDone = true;
    for (const uint32_t index : order)
    {
        Leaf& leaf = m_leaves[index];
        const PlacedTensor& tensor = m_context.placement.tensors[leaf.tensor];
        const std::vector<BoxingStep> steps =
            PlanBoxing(leaf.reduced.layout, GetTarget(tensor), tensor.tensor.shape);
        if (steps.empty())
        {
            leaf.reduced.layout = GetTarget(tensor); // at most a slice
            continue;
        }
        isDone = false;
        if (m_context.GetGradientShare(leaf.tensor) < 1)
        {
            throw StrategyError("parameter \"" + tensor.tensor.name +
                                "\" has a sparse gradient, which is not reduced here: give its "
                                "operator devices of its own, or say sparse 0");
        }
        const BoxingStep& step = steps[0];
        if (step.collective == Collective::SEND_RECV)
        {
            SendReduced(step, leaf);
            continue;
        }
        // Partial sums of groups that reduce nothing stay what they are.
        const Value before = leaf.reduced;
        leaf.reduced.layout = step.to;
        leaf.reduced.rows = {Row(step.to.mesh->GetDevices().size(), NO_ID)};
        for (const BoxingGroup& group : GetBoxingGroups(step, tensor.tensor.shape))
        {
            const BucketKey key{FindCollective(step, m_context.tree.optimizer), group.devices};
            Bucket& bucket = open[key];
            if (m_context.tree.gradients.policy == BucketPolicy::UNIT && bucket.bytes > 0 &&
                GetUnit(m_leaves[bucket.leaves.front()]) != GetUnit(leaf))
            {
                Flush(key, bucket);
            }
            bucket.bytes += group.elements * m_context.GetGradientBytes();
            bucket.wholeBytes +=
                m_context.GetGradientBytes() *
                (IsOfShares(step, isFirst) ? leaf.made.layout.CountLocal(tensor.tensor.shape, 0)
                                           : group.elements);
            bucket.leaves.push_back(index);
            bucket.parallelism = Parallelism::DATA;
            bucket.phase = FindPhase(step, stage, isFirst);
            bucket.stream = FindStream(step, isFirst);
            bucket.isScattered = isFirst && step.collective == Collective::REDUCE_SCATTER;
            for (const DeviceId device : group.devices)
            {
                const std::vector<TaskId> ready =
                    GetReady(before, step.from.mesh->FindPosition(device));
                bucket.ready.insert(bucket.ready.end(), ready.begin(), ready.end());
            }
            if (IsFull(key, bucket, stage))
            {
                Flush(key, bucket);
            }
        }
    }
    for (auto& [key, bucket] : open)
    {
        if (bucket.bytes > 0)
        {
            Flush(key, bucket);
        }
    }
    return !isDone;
}

void
GradientEmitter::EmitGradients()
{
    for (Leaf& leaf : m_leaves)
    {
        leaf.reduced = leaf.made;
    }
    for (uint32_t stage = 0; stage < m_context.placement.nStages; ++stage)
    {
        std::vector<uint32_t> order;
        for (uint32_t i = 0; i < m_leaves.size(); ++i)
        {
            if (m_leaves[i].stage == stage)
            {
                order.push_back(i);
            }
        }
        std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
            const Leaf& left = m_leaves[a];
            const Leaf& right = m_leaves[b];
            if (m_context.tree.gradients.policy == BucketPolicy::DDP)
            {
                // As gradients appear; of those at once, the later parameter first.
                return std::tuple(left.depth, right.operatorId, right.read) <
                       std::tuple(right.depth, left.operatorId, left.read);
            }
            if (m_context.tree.gradients.policy == BucketPolicy::UNIT &&
                GetUnit(left) != GetUnit(right))
            {
                return GetUnit(left) > GetUnit(right);
            }
            return left.tensor > right.tensor; // the reverse of the order of use
        });
        for (bool isFirst = true; EmitReduction(order, stage, isFirst); isFirst = false)
        {
        }
        for (const uint32_t index : order)
        {
            m_leavesInOrder.push_back(index);
        }
        m_nFlushed.clear();
    }
}

/// Copies of a parameter add their gradients up.
void
GradientEmitter::EmitTies()
{
    for (const std::vector<TensorId>& tie : m_context.placement.ties)
    {
        const PlacedTensor& first = m_context.placement.tensors[tie[0]];
        const Layout& target = GetTarget(first);
        std::vector<Leaf*> leaves;
        for (const TensorId tensor : tie)
        {
            const auto found = m_leafOf.find(tensor);
            if (found != m_leafOf.end())
            {
                leaves.push_back(&m_leaves[found->second]);
            }
        }
        for (const Leaf* leaf : leaves)
        {
            if (leaf->reduced.layout.mesh->GetSizes() != target.mesh->GetSizes() ||
                leaf->reduced.layout.split != target.split)
            {
                throw StrategyError(
                    "parameter \"" + first.tensor.name + "\" is kept on stages " +
                    std::to_string(first.stage) + " and " + std::to_string(leaf->stage) +
                    ", but lies there as " + target.ToString() + " and as " +
                    leaf->reduced.layout.ToString() + "; give both stages the same split");
            }
        }
        const auto nDevices = static_cast<uint32_t>(target.mesh->GetDevices().size());
        Row row(nDevices);
        for (uint32_t position = 0; position < nDevices; ++position)
        {
            std::vector<DeviceId> devices;
            std::vector<TaskId> ready;
            for (const Leaf* leaf : leaves)
            {
                devices.push_back(leaf->reduced.layout.mesh->GetDevices()[position]);
                const std::vector<TaskId> some = GetReady(leaf->reduced, position);
                ready.insert(ready.end(), some.begin(), some.end());
            }
            row[position] = m_context.builder.AddCommunication(
                m_context.phases.gradients,
                m_context.builder.AddGroup(devices),
                m_context.streams.gradient,
                first.tensor.name + ".gradient.all-reduce",
                Collective::ALL_REDUCE,
                m_context.GetGradientBytes() * target.CountLocal(first.tensor.shape, position),
                Parallelism::EMBEDDING,
                ready);
        }
        for (Leaf* leaf : leaves)
        {
            leaf->reduced.rows.push_back(row);
        }
    }
}

} // namespace proteus
} // namespace ns3
