/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gpt-oracle-maker.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Bytes of master weight and two moments in fp32, per parameter.
constexpr uint64_t OPTIMIZER_STATE_BYTES = 3 * GptGraphMaker::FP32_BYTES;
/// What each replica adds to the smallest bucket, in parameters
/// (megatron/core/distributed/distributed_data_parallel.py).
constexpr uint64_t BUCKET_PARAMETERS_PER_REPLICA = 1000000;
/// Operations per parameter, counted as those of the other operators are.
constexpr double ADAM_FLOPS = 15;

} // namespace

/// Elements of each parameter of a device of this stage, in the order of use.
std::vector<uint64_t>
GptGraphMaker::GetParameters(uint32_t stage) const
{
    const uint64_t h = m_hidden;
    std::vector<uint64_t> parameters;
    if (stage == 0)
    {
        parameters = {m_vocabulary / m_tp * h, m_model.sequenceLength * h};
    }
    // Weight (or scale) and bias of: norm1, qkv, projection, norm2, fc1, fc2.
    const uint64_t layer[][2] = {{h, h},
                                 {3 * h / m_tp * h, 3 * h / m_tp},
                                 {h / m_tp * h, h},
                                 {h, h},
                                 {4 * h / m_tp * h, 4 * h / m_tp},
                                 {4 * h / m_tp * h, h}};
    for (uint32_t i = 0; i < m_stageLayers; ++i)
    {
        for (const auto& tensors : layer)
        {
            parameters.insert(parameters.end(), std::begin(tensors), std::end(tensors));
        }
    }
    if (stage + 1 == m_plan.pipelineParallel)
    {
        parameters.insert(parameters.end(), {h, h});
        if (stage > 0)
        {
            parameters.push_back(m_vocabulary / m_tp * h);
        }
    }
    return parameters;
}

std::vector<GptGraphMaker::Bucket>
GptGraphMaker::GetBuckets(uint32_t stage) const
{
    uint64_t limit = std::numeric_limits<uint64_t>::max();
    if (m_plan.overlapGradientReduction && stage == 0)
    {
        limit = std::max(BUCKET_PARAMETERS, BUCKET_PARAMETERS_PER_REPLICA * m_plan.dataParallel);
    }
    std::vector<uint64_t> parameters = GetParameters(stage);
    std::vector<Bucket> buckets;
    Bucket open;
    for (auto size = parameters.rbegin(); size != parameters.rend(); ++size)
    {
        ++open.end;
        open.nParameters += *size;
        if (open.nParameters >= limit)
        {
            buckets.push_back(open);
            open.nParameters = 0;
        }
    }
    if (open.nParameters > 0)
    {
        buckets.push_back(open);
    }
    return buckets;
}

/// Notes that the backward pass has produced the gradients of the next `count` parameters.
void
GptGraphMaker::GradientsReady(const Team& team, uint32_t count, const Row& producers)
{
    TeamState& state = GetState(team);
    const std::vector<Bucket>& buckets = m_buckets[team.stage];
    state.nGradients += count;
    while (state.readiness.size() < buckets.size() &&
           buckets[state.readiness.size()].end <= state.nGradients)
    {
        state.readiness.push_back(producers);
    }
}

void
GptGraphMaker::AddPersistentMemory()
{
    for (uint32_t stage = 0; stage < m_plan.pipelineParallel; ++stage)
    {
        uint64_t nParameters = 0;
        for (const Bucket& bucket : m_buckets[stage])
        {
            nParameters += bucket.nParameters;
        }
        std::vector<std::pair<const char*, uint64_t>> tensors{
            {"parameters", ELEMENT_BYTES * nParameters},
            {"gradients", m_gradientBytes * nParameters},
            {"optimizer-state", OPTIMIZER_STATE_BYTES * nParameters},
        };
        if (stage > 0)
        {
            tensors.emplace_back("receive-buffer.activation", m_activation);
        }
        if (stage + 1 < m_plan.pipelineParallel)
        {
            tensors.emplace_back("receive-buffer.gradient", m_activation);
        }
        const DeviceId first = GetDevice(0, 0, stage);
        for (DeviceId device = first; device < first + m_tp * m_plan.dataParallel; ++device)
        {
            for (const auto& [name, bytes] : tensors)
            {
                m_builder.AddMemory(m_optimizer, device, name, bytes, {}, true);
            }
        }
    }
}

void
GptGraphMaker::AddGradientReduction()
{
    const uint32_t dp = m_plan.dataParallel;
    const uint32_t lastStage = m_plan.pipelineParallel - 1;
    m_before.resize(m_nDevices);
    for (uint32_t stage = 0; stage <= lastStage; ++stage)
    {
        const std::vector<Bucket>& buckets = m_buckets[stage];
        for (uint32_t tp = 0; tp < m_tp; ++tp)
        {
            std::vector<DeviceId> devices(dp);
            for (uint32_t replica = 0; replica < dp; ++replica)
            {
                devices[replica] = GetDevice(tp, replica, stage);
                const TeamState& state = m_states[stage * dp + replica];
                m_before[devices[replica]].push_back(state.result[tp]);
            }
            if (dp == 1)
            {
                continue;
            }
            const GroupId group = m_builder.AddGroup(devices);
            for (uint32_t i = 0; i < buckets.size(); ++i)
            {
                std::vector<TaskId> ready(dp);
                for (uint32_t replica = 0; replica < dp; ++replica)
                {
                    ready[replica] = m_states[stage * dp + replica].readiness[i][tp];
                }
                const TaskId id = m_builder.AddCommunication(
                    m_gradients,
                    group,
                    m_gradient,
                    "gradients.bucket" + std::to_string(i) + ".all-reduce",
                    Collective::ALL_REDUCE,
                    m_gradientBytes * buckets[i].nParameters,
                    Parallelism::DATA,
                    ready);
                for (DeviceId device : devices)
                {
                    m_before[device].push_back(id);
                }
            }
        }
    }
    if (lastStage == 0)
    {
        return;
    }
    for (uint32_t replica = 0; replica < dp; ++replica)
    {
        for (uint32_t tp = 0; tp < m_tp; ++tp)
        {
            const DeviceId first = GetDevice(tp, replica, 0);
            const DeviceId last = GetDevice(tp, replica, lastStage);
            std::vector<TaskId> ready = m_before[first];
            ready.insert(ready.end(), m_before[last].begin(), m_before[last].end());
            const TaskId id =
                m_builder.AddCommunication(m_gradients,
                                           m_builder.AddGroup({first, last}),
                                           m_gradient,
                                           "embedding.word.gradient.all-reduce",
                                           Collective::ALL_REDUCE,
                                           m_gradientBytes * (m_vocabulary / m_tp) * m_hidden,
                                           Parallelism::EMBEDDING,
                                           ready);
            m_before[first].push_back(id);
            m_before[last].push_back(id);
        }
    }
}

void
GptGraphMaker::AddOptimizer()
{
    const uint64_t perParameter = m_gradientBytes + 2 * OPTIMIZER_STATE_BYTES + ELEMENT_BYTES;
    for (DeviceId device = 0; device < m_nDevices; ++device)
    {
        uint64_t nParameters = 0;
        for (const Bucket& bucket : m_buckets[device / (m_tp * m_plan.dataParallel)])
        {
            nParameters += bucket.nParameters;
        }
        m_builder.AddCompute(m_optimizer,
                             device,
                             m_compute,
                             "adam",
                             ADAM_FLOPS * static_cast<double>(nParameters),
                             perParameter * nParameters,
                             DataType::FP32,
                             m_before[device]);
    }
}

} // namespace proteus
} // namespace ns3
