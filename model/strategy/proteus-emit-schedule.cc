/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-emitter.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

void
GraphEmitter::AddFacts()
{
    const uint64_t samples = m_model.GetBatch() * m_tree.schedule.microBatches;
    WorkloadFacts facts;
    facts.name = m_model.GetName();
    facts.samplesPerIteration = samples;
    facts.tokensPerIteration = samples * m_model.GetSequence();
    // A backward pass has two products for each of the forward pass.
    facts.modelFlopsPerIteration = 3 * m_model.CountForwardFlops() * m_tree.schedule.microBatches;
    m_builder.SetFacts(facts);
}

/// Whether a gradient is scattered in every micro-batch.
bool
GraphEmitter::HasScattered() const
{
    for (const PlacedOperator& placed : m_placement.operators)
    {
        for (const OperatorPart& part : placed.op.backward)
        {
            for (const GradientWrite& write : part.writes)
            {
                if (IsScattered(placed, write))
                {
                    return true;
                }
            }
        }
    }
    return false;
}

void
GraphEmitter::AddPhases()
{
    std::vector<uint32_t> nStages(m_placement.nDevices);
    for (uint32_t stage = 0; stage < m_placement.nStages; ++stage)
    {
        const std::vector<DeviceId>& devices = m_placement.stageDevices[stage];
        const uint32_t chunk = nStages[devices[0]];
        for (const DeviceId device : devices)
        {
            if (nStages[device] != chunk)
            {
                throw std::invalid_argument(
                    "strategy \"" + m_tree.name + "\": stage " + std::to_string(stage) +
                    " shares some of its devices with an earlier stage, but not all; stages must "
                    "have the same devices or none in common");
            }
            ++nStages[device];
        }
        m_chunkOf.push_back(chunk);
        m_nChunks = std::max(m_nChunks, chunk + 1);
    }
    const uint32_t microBatches = m_tree.schedule.microBatches;
    for (uint32_t chunk = 0; chunk < m_nChunks; ++chunk)
    {
        const std::string suffix = chunk == 0 ? "" : "." + std::to_string(chunk);
        m_forward.push_back(m_builder.AddPhase("forward" + suffix, microBatches));
    }
    for (uint32_t chunk = 0; chunk < m_nChunks; ++chunk)
    {
        const std::string suffix = chunk == 0 ? "" : "." + std::to_string(chunk);
        m_backward.push_back(m_builder.AddPhase("backward" + suffix, microBatches));
    }
    if (m_tree.schedule.kind == ScheduleKind::ZERO_BUBBLE)
    {
        m_weight.push_back(m_builder.AddPhase("weight-gradient", microBatches));
    }
    for (uint32_t chunk = 0; HasScattered() && microBatches > 1 && chunk < m_nChunks; ++chunk)
    {
        const std::string suffix = chunk == 0 ? "" : "." + std::to_string(chunk);
        m_scatter.push_back(m_builder.AddPhase("gradient-scatter" + suffix, microBatches));
    }
    m_gradientPhase = m_builder.AddPhase("gradients");
    m_optimizerPhase = m_builder.AddPhase("optimizer");
    m_compute = m_builder.AddStream("compute");
    m_communication = m_builder.AddStream("communication");
    m_pipeline = m_builder.AddStream("pipeline");
    m_gradientStream = m_builder.AddStream("gradient");
    m_parameterStream = m_builder.AddStream("parameter");
    if (m_tree.optimizer.isImmediate)
    {
        m_optimizerStream = m_builder.AddStream("optimizer", StreamOrder::READY);
    }
    if (m_tree.optimizer.isOffloaded)
    {
        // One engine per direction, and the host: a parameter's copies pass the next one's update.
        const StreamOrder order = StreamOrder::IN_ORDER;
        m_toHostStream = m_builder.AddStream("device-to-host", order, true);
        m_hostStream = m_builder.AddStream("host", order, true);
        m_fromHostStream = m_builder.AddStream("host-to-device", order, true);
    }
}

/// Refuses schedules that cannot run the stages.
void
GraphEmitter::CheckSchedule() const
{
    const ScheduleSpec& spec = m_tree.schedule;
    const uint32_t nStages = m_placement.nStages;
    const std::string who = "strategy \"" + m_tree.name + "\", schedule " + ToString(spec.kind);
    if (m_nChunks > 1 && spec.kind != ScheduleKind::INTERLEAVED)
    {
        throw std::invalid_argument(who + ": some devices have " + std::to_string(m_nChunks) +
                                    " stages, which only the interleaved schedule can run");
    }
    if (spec.kind == ScheduleKind::ZERO_BUBBLE && !m_tree.isSplitBackward)
    {
        throw std::invalid_argument(who + ": needs gradients of inputs and of weights in kernels "
                                          "of their own (splitBackward)");
    }
    if (nStages % m_nChunks != 0)
    {
        throw std::invalid_argument(who + ": " + std::to_string(nStages) +
                                    " stages are not shared out evenly to devices");
    }
    if (spec.kind != ScheduleKind::LIMITS && (!spec.maxInFlight.empty() || spec.interleave != 1))
    {
        throw std::invalid_argument(who + ": maxInFlight and interleave belong to schedule limits");
    }
    if (spec.kind == ScheduleKind::LIMITS && spec.maxInFlight.size() != nStages)
    {
        throw std::invalid_argument(who + ": maxInFlight has " +
                                    std::to_string(spec.maxInFlight.size()) + " limits for " +
                                    std::to_string(nStages) + " stages");
    }
}

/// @param rank of the pipeline
/// @param limited what LIMITS makes of all ranks
/// @return its forward and backward passes in order
std::vector<ScheduleEntry>
GraphEmitter::MakePasses(uint32_t rank, const std::vector<std::vector<StageEntry>>& limited) const
{
    const ScheduleSpec& spec = m_tree.schedule;
    const uint32_t nRanks = m_placement.nStages / m_nChunks;
    std::vector<StageEntry> entries;
    switch (spec.kind)
    {
    case ScheduleKind::GPIPE:
    case ScheduleKind::ONE_FORWARD_ONE_BACKWARD:
        return MakePipelineSchedule(spec.kind == ScheduleKind::GPIPE
                                        ? PipelineSchedule::GPIPE
                                        : PipelineSchedule::ONE_FORWARD_ONE_BACKWARD,
                                    nRanks,
                                    rank,
                                    spec.microBatches,
                                    m_forward[0],
                                    m_backward[0]);
    case ScheduleKind::LIMITS:
        entries = limited[rank];
        break;
    case ScheduleKind::INTERLEAVED:
        entries = MakeInterleavedSchedule(nRanks, rank, m_nChunks, spec.microBatches);
        break;
    case ScheduleKind::ZERO_BUBBLE:
        entries = MakeZeroBubbleSchedule(nRanks, rank, spec.microBatches);
        break;
    }
    std::vector<ScheduleEntry> passes;
    for (const StageEntry& entry : entries)
    {
        const std::vector<PhaseId>& phases = entry.work == StageWork::FORWARD    ? m_forward
                                             : entry.work == StageWork::BACKWARD ? m_backward
                                                                                 : m_weight;
        passes.push_back({phases[entry.chunk], entry.microBatch});
    }
    return passes;
}

/// @param rank of the pipeline @return how many of its micro-batches may be alive; 0: any number
uint32_t
GraphEmitter::GetLimit(uint32_t rank) const
{
    const ScheduleSpec& spec = m_tree.schedule;
    switch (spec.kind)
    {
    case ScheduleKind::GPIPE:
        return spec.microBatches;
    case ScheduleKind::ONE_FORWARD_ONE_BACKWARD:
        return std::min(spec.microBatches, m_placement.nStages - rank);
    case ScheduleKind::LIMITS:
        return spec.maxInFlight[rank];
    case ScheduleKind::INTERLEAVED:
    case ScheduleKind::ZERO_BUBBLE:
        break;
    }
    return 0; // the order alone bounds them
}

void
GraphEmitter::AddSchedules()
{
    CheckSchedule();
    const ScheduleSpec& spec = m_tree.schedule;
    std::vector<std::vector<StageEntry>> limited;
    if (spec.kind == ScheduleKind::LIMITS)
    {
        try
        {
            limited = MakeLimitedSchedule(spec.maxInFlight, spec.interleave, spec.microBatches);
        }
        catch (const std::invalid_argument& error)
        {
            throw std::invalid_argument("strategy \"" + m_tree.name +
                                        "\", schedule limits: " + error.what());
        }
    }
    for (uint32_t rank = 0; rank < m_placement.nStages / m_nChunks; ++rank)
    {
        std::vector<ScheduleEntry> schedule;
        for (const ScheduleEntry& pass : MakePasses(rank, limited))
        {
            schedule.push_back(pass);
            const std::vector<PhaseId>& last = m_weight.empty() ? m_backward : m_weight;
            const auto chunk = std::find(last.begin(), last.end(), pass.phase) - last.begin();
            if (chunk < static_cast<std::ptrdiff_t>(m_scatter.size()))
            {
                schedule.push_back({m_scatter[chunk], pass.microBatch});
            }
        }
        schedule.push_back({m_gradientPhase, 0});
        schedule.push_back({m_optimizerPhase, 0});
        const std::vector<DeviceId>& devices = m_placement.stageDevices[rank];
        m_builder.SetSchedule(devices, std::move(schedule));
        MicroBatchGate gate;
        gate.acquire = m_forward[0];
        gate.release = m_backward[0];
        gate.limit = GetLimit(rank);
        for (const DeviceId device : devices)
        {
            if (gate.limit > 0)
            {
                gate.device = device;
                m_builder.AddGate(gate);
            }
        }
    }
}

} // namespace proteus
} // namespace ns3
