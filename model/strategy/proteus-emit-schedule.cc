/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-emit-schedule.h"

#include "proteus-compiler-streams.h"
#include "proteus-strategy-error.h"

#include "ns3/proteus-graph-representative.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param tree a strategy @return how errors about its schedule begin
std::string
DescribeSchedule(const StrategyTree& tree)
{
    return "strategy \"" + tree.name + "\", schedule " + ToString(tree.schedule.kind);
}

/// @param tree a strategy @param make what makes a schedule for it
/// @return what it makes @throw StrategyError that says whose schedule cannot be
template <typename F>
auto
MakeScheduleOf(const StrategyTree& tree, F make) -> decltype(make())
{
    try
    {
        return make();
    }
    catch (const std::invalid_argument& error)
    {
        throw StrategyError(DescribeSchedule(tree) + ": " + error.what());
    }
}

} // namespace

void
ScheduleEmitter::AddFacts()
{
    const uint64_t samples = m_context.model.GetBatch() * m_context.tree.schedule.microBatches;
    WorkloadFacts facts;
    facts.name = m_context.model.GetName();
    facts.samplesPerIteration = samples;
    facts.tokensPerIteration = samples * m_context.model.GetSequence();
    facts.modelFlopsPerIteration =
        m_context.model.CountTrainingFlops() * m_context.tree.schedule.microBatches;
    m_context.builder.SetFacts(facts);
}

/// Whether a gradient is scattered in every micro-batch.
bool
ScheduleEmitter::HasScattered() const
{
    for (const PlacedOperator& placed : m_context.placement.operators)
    {
        for (const OperatorPart& part : placed.op.backward)
        {
            for (const GradientWrite& write : part.writes)
            {
                if (m_context.IsScattered(placed, write))
                {
                    return true;
                }
            }
        }
    }
    return false;
}

/// Finds which chunk of the model a stage is on its devices, counted from 0.
void
ScheduleEmitter::FindChunks()
{
    std::vector<uint32_t> nStages(m_context.placement.nDevices);
    for (uint32_t stage = 0; stage < m_context.placement.nStages; ++stage)
    {
        const std::vector<DeviceId>& devices = m_context.placement.stageDevices[stage];
        const uint32_t chunk = nStages[devices[0]];
        for (const DeviceId device : devices)
        {
            if (nStages[device] != chunk)
            {
                throw StrategyError(
                    "strategy \"" + m_context.tree.name + "\": stage " + std::to_string(stage) +
                    " shares some of its devices with an earlier stage, but not all; stages must "
                    "have the same devices or none in common");
            }
            ++nStages[device];
        }
        m_context.phases.chunkOf.push_back(chunk);
        m_context.phases.nChunks = std::max(m_context.phases.nChunks, chunk + 1);
    }
}

void
ScheduleEmitter::AddPhases()
{
    FindChunks();
    const uint32_t microBatches = m_context.tree.schedule.microBatches;
    for (uint32_t chunk = 0; chunk < m_context.phases.nChunks; ++chunk)
    {
        const std::string suffix = chunk == 0 ? "" : "." + std::to_string(chunk);
        m_context.phases.forward.push_back(
            m_context.builder.AddPhase("forward" + suffix, microBatches));
    }
    for (uint32_t chunk = 0; chunk < m_context.phases.nChunks; ++chunk)
    {
        const std::string suffix = chunk == 0 ? "" : "." + std::to_string(chunk);
        m_context.phases.backward.push_back(
            m_context.builder.AddPhase("backward" + suffix, microBatches));
    }
    if (m_context.tree.schedule.kind == ScheduleKind::ZERO_BUBBLE)
    {
        m_context.phases.weight.push_back(
            m_context.builder.AddPhase("weight-gradient", microBatches));
    }
    for (uint32_t chunk = 0; HasScattered() && microBatches > 1 && chunk < m_context.phases.nChunks;
         ++chunk)
    {
        const std::string suffix = chunk == 0 ? "" : "." + std::to_string(chunk);
        m_context.phases.scatter.push_back(
            m_context.builder.AddPhase("gradient-scatter" + suffix, microBatches));
    }
    m_context.phases.gradients = m_context.builder.AddPhase("gradients");
    m_context.phases.optimizer = m_context.builder.AddPhase("optimizer");
    if (m_context.tree.optimizer.HasParameterPhase())
    {
        m_context.phases.parameters = m_context.builder.AddPhase("parameters");
    }
    AddOperatorPhases();
    AddStreams();
    AddDataLoading();
}

/// Says which phases the operators are in.
void
ScheduleEmitter::AddOperatorPhases()
{
    const std::vector<PhaseId>& weight = m_context.phases.weight;
    for (const PlacedOperator& placed : m_context.placement.operators)
    {
        OperatorPhases phases;
        phases.forward = m_context.GetForward(placed.stage);
        phases.backward = m_context.GetBackward(placed.stage);
        phases.weight =
            weight.empty() ? phases.backward : weight[m_context.phases.chunkOf[placed.stage]];
        m_context.phases.of.push_back(phases);
    }
    const ScheduleSpec& schedule = m_context.tree.schedule;
    if (schedule.overlapsExperts)
    {
        m_pieces.AddPhases();
    }
    else if (schedule.delaysWeights)
    {
        throw StrategyError("strategy \"" + m_context.tree.name +
                            "\": delayWeightGradients needs overlapExpertCommunication, "
                            "as in Megatron-Core");
    }
}

/// A task of the host beside every forward pass of the first stage: an iteration takes at least as
/// long as its samples need, as in a steady state in which they are prepared one iteration ahead.
void
ScheduleEmitter::AddDataLoading()
{
    constexpr double PS_PER_SECOND = 1e12;
    const double rate = m_context.tree.schedule.dataSamplesPerSecond;
    if (rate == 0)
    {
        return;
    }
    const StreamId stream =
        m_context.builder.AddStream(COMPILER_STREAMS.Get(CompilerStream::DATA_LOADING),
                                    StreamOrder::IN_ORDER,
                                    true);
    const double seconds = static_cast<double>(m_context.model.GetBatch()) / rate;
    for (const DeviceId device : m_context.placement.stageDevices[0])
    {
        if (m_context.IsEmitted(device))
        {
            m_context.builder.AddCompute(m_context.phases.forward[0],
                                         device,
                                         stream,
                                         "data-loading",
                                         std::llround(seconds * PS_PER_SECOND),
                                         {});
        }
    }
}

void
ScheduleEmitter::AddStreams()
{
    const auto add = [this](CompilerStream stream,
                            StreamOrder order = StreamOrder::IN_ORDER,
                            bool isHost = false) {
        return m_context.builder.AddStream(COMPILER_STREAMS.Get(stream), order, isHost);
    };
    m_context.streams.compute = add(CompilerStream::COMPUTE);
    m_context.streams.communication = add(CompilerStream::COMMUNICATION);
    const bool overlaps = m_context.tree.schedule.overlapsExperts;
    m_context.streams.experts =
        overlaps ? add(CompilerStream::EXPERTS) : m_context.streams.communication;
    // Both passes of a step have transfers on their way from its beginning on.
    m_context.streams.pipeline =
        add(CompilerStream::PIPELINE, overlaps ? StreamOrder::READY : StreamOrder::IN_ORDER);
    if (m_context.ExchangesTransfers())
    {
        const StreamOrder order = StreamOrder::IN_ORDER;
        m_context.streams.turnForward = add(CompilerStream::TURN_FORWARD, order, true);
        m_context.streams.turnBackward = add(CompilerStream::TURN_BACKWARD, order, true);
    }
    m_context.streams.gradient = add(CompilerStream::GRADIENT);
    m_context.streams.parameter = add(CompilerStream::PARAMETER);
    if (m_context.tree.hasRepresentative)
    {
        m_context.builder.AddStream(REPRESENTATIVE_STREAM);
    }
    if (m_context.tree.optimizer.isImmediate)
    {
        m_context.streams.optimizer = add(CompilerStream::OPTIMIZER, StreamOrder::READY);
    }
    if (m_context.tree.optimizer.isOffloaded)
    {
        // One engine per direction, and the host: a parameter's copies pass the next one's update.
        const StreamOrder order = StreamOrder::IN_ORDER;
        m_context.streams.toHost = add(CompilerStream::DEVICE_TO_HOST, order, true);
        m_context.streams.host = add(CompilerStream::HOST, order, true);
        m_context.streams.fromHost = add(CompilerStream::HOST_TO_DEVICE, order, true);
    }
}

/// Refuses schedules that cannot run the stages.
void
ScheduleEmitter::CheckSchedule() const
{
    const ScheduleSpec& spec = m_context.tree.schedule;
    const uint32_t nStages = m_context.placement.nStages;
    const std::string who = DescribeSchedule(m_context.tree);
    if (m_context.phases.nChunks > 1 && spec.kind != ScheduleKind::INTERLEAVED)
    {
        throw StrategyError(who + ": some devices have " +
                            std::to_string(m_context.phases.nChunks) +
                            " stages, which only the interleaved schedule can run");
    }
    if (spec.kind == ScheduleKind::ZERO_BUBBLE && !m_context.tree.isSplitBackward)
    {
        throw StrategyError(who + ": needs gradients of inputs and of weights in kernels "
                                  "of their own (splitBackward)");
    }
    if (nStages % m_context.phases.nChunks != 0)
    {
        throw StrategyError(who + ": " + std::to_string(nStages) +
                            " stages are not shared out evenly to devices");
    }
    if (spec.kind != ScheduleKind::LIMITS && (!spec.maxInFlight.empty() || spec.interleave != 1))
    {
        throw StrategyError(who + ": maxInFlight and interleave belong to schedule limits");
    }
    if (spec.kind == ScheduleKind::LIMITS && spec.maxInFlight.size() != nStages)
    {
        throw StrategyError(who + ": maxInFlight has " + std::to_string(spec.maxInFlight.size()) +
                            " limits for " + std::to_string(nStages) + " stages");
    }
}

/// @param rank of the pipeline
/// @param limited of ScheduleKind::LIMITS, the passes of every rank
/// @return its forward and backward passes in order
std::vector<ScheduleEntry>
ScheduleEmitter::MakePasses(uint32_t rank,
                            const std::vector<std::vector<StageEntry>>& limited) const
{
    const ScheduleSpec& spec = m_context.tree.schedule;
    const uint32_t nRanks = m_context.placement.nStages / m_context.phases.nChunks;
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
                                    m_context.phases.forward[0],
                                    m_context.phases.backward[0]);
    case ScheduleKind::LIMITS:
        entries = limited[rank];
        break;
    case ScheduleKind::INTERLEAVED:
        entries = MakeScheduleOf(m_context.tree, [&] {
            return MakeInterleavedSchedule(nRanks,
                                           rank,
                                           m_context.phases.nChunks,
                                           spec.microBatches,
                                           0,
                                           spec.runsForwardFirst);
        });
        break;
    case ScheduleKind::ZERO_BUBBLE:
        entries = MakeZeroBubbleSchedule(nRanks, rank, spec.microBatches);
        break;
    }
    std::vector<ScheduleEntry> passes;
    for (const StageEntry& entry : entries)
    {
        const std::vector<PhaseId>& phases =
            entry.work == StageWork::FORWARD    ? m_context.phases.forward
            : entry.work == StageWork::BACKWARD ? m_context.phases.backward
                                                : m_context.phases.weight;
        passes.push_back({phases[entry.chunk], entry.microBatch});
    }
    return passes;
}

/// @param rank of the pipeline
/// @param isReducedBeside whether gradients are reduced in streams of their own. Then what reduces
/// them is admitted before the pieces of the last step, as it would be with the last pass in one
/// piece, and begins while they run
/// @return its passes in order, and the reduction of gradients, in pieces: those of the steady
/// state two by two. A forward pass more than usual goes first, so that the two of a step are of
/// different micro-batches and wait for no step of the next rank that begins with this one
/// (get_pp_rank_microbatches() in megatron/core/pipeline_parallel/schedules.py).
std::vector<ScheduleEntry>
ScheduleEmitter::MakeOverlappedPasses(uint32_t rank, bool isReducedBeside) const
{
    const uint32_t nChunks = m_context.phases.nChunks;
    const uint32_t nRanks = m_context.placement.nStages / nChunks;
    const uint32_t microBatches = m_context.tree.schedule.microBatches;
    const bool runsForwardFirst = m_context.tree.schedule.runsForwardFirst;
    const std::vector<StageEntry> entries = MakeScheduleOf(m_context.tree, [&] {
        return MakeInterleavedSchedule(nRanks, rank, nChunks, microBatches, 1, runsForwardFirst);
    });
    const std::size_t warmUp =
        CountInterleavedWarmUp(nRanks, rank, nChunks, microBatches, 1, runsForwardFirst);
    std::vector<ScheduleEntry> passes;
    for (std::size_t i = 0; i < entries.size(); ++i)
    {
        const StageEntry& entry = entries[i];
        const StagePass pass{entry.chunk * nRanks + rank, entry.microBatch};
        std::optional<StagePass> forward;
        std::optional<StagePass> backward;
        (entry.work == StageWork::FORWARD ? forward : backward) = pass;
        if (i >= warmUp && forward)
        {
            const StageEntry& next = entries[++i];
            backward = StagePass{next.chunk * nRanks + rank, next.microBatch};
        }
        if (isReducedBeside && i + 1 == entries.size())
        {
            passes.push_back({m_context.phases.gradients, 0});
        }
        for (const ScheduleEntry& piece : m_pieces.MakeStep(forward, backward))
        {
            passes.push_back(piece);
        }
    }
    if (!isReducedBeside)
    {
        passes.push_back({m_context.phases.gradients, 0});
    }
    return passes;
}

/// @param rank of the pipeline @return how many of its micro-batches may be alive; 0: any number
uint32_t
ScheduleEmitter::GetLimit(uint32_t rank) const
{
    const ScheduleSpec& spec = m_context.tree.schedule;
    if (spec.overlapsExperts)
    {
        return 0; // one more is alive than without
    }
    if (m_context.ExchangesTransfers())
    {
        // The order bounds them: the turn of a forward pass comes before what the backward pass
        // ahead of it sends is there.
        return 0;
    }
    switch (spec.kind)
    {
    case ScheduleKind::GPIPE:
        return spec.microBatches;
    case ScheduleKind::ONE_FORWARD_ONE_BACKWARD:
        return std::min(spec.microBatches, m_context.placement.nStages - rank);
    case ScheduleKind::LIMITS:
        return spec.maxInFlight[rank];
    case ScheduleKind::INTERLEAVED:
        return m_context.placement.nStages == 1 ? 1 : 0; // one stage: as 1F1B
    case ScheduleKind::ZERO_BUBBLE:
        break;
    }
    return 0; // the order alone bounds them
}

void
ScheduleEmitter::AddSchedules(const GradientEmitter& gradients)
{
    CheckSchedule();
    const ScheduleSpec& spec = m_context.tree.schedule;
    std::vector<std::vector<StageEntry>> limited;
    if (spec.kind == ScheduleKind::LIMITS)
    {
        limited = MakeScheduleOf(m_context.tree, [&spec] {
            return MakeLimitedSchedule(spec.maxInFlight, spec.interleave, spec.microBatches);
        });
    }
    for (uint32_t rank = 0; rank < m_context.placement.nStages / m_context.phases.nChunks; ++rank)
    {
        std::vector<ScheduleEntry> schedule;
        if (m_context.tree.optimizer.HasParameterPhase())
        {
            schedule.push_back({m_context.phases.parameters, 0});
        }
        for (const ScheduleEntry& pass : spec.overlapsExperts
                                             ? MakeOverlappedPasses(rank, !gradients.HasTransfers())
                                             : MakePasses(rank, limited))
        {
            schedule.push_back(pass);
            const std::vector<PhaseId>& last = m_context.phases.weight.empty()
                                                   ? m_context.phases.backward
                                                   : m_context.phases.weight;
            const auto chunk = std::find(last.begin(), last.end(), pass.phase) - last.begin();
            if (chunk < static_cast<std::ptrdiff_t>(m_context.phases.scatter.size()))
            {
                schedule.push_back({m_context.phases.scatter[chunk], pass.microBatch});
            }
        }
        if (!spec.overlapsExperts)
        {
            schedule.push_back({m_context.phases.gradients, 0});
        }
        schedule.push_back({m_context.phases.optimizer, 0});
        const std::vector<DeviceId>& devices = m_context.placement.stageDevices[rank];
        m_context.builder.SetSchedule(devices, std::move(schedule));
        MicroBatchGate gate;
        gate.acquire = m_context.phases.forward[0];
        gate.release = m_context.phases.backward[0];
        gate.limit = GetLimit(rank);
        for (const DeviceId device : devices)
        {
            if (gate.limit > 0 && m_context.IsEmitted(device))
            {
                gate.device = device;
                m_context.builder.AddGate(gate);
            }
        }
    }
}

} // namespace proteus
} // namespace ns3
