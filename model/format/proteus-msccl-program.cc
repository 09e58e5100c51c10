/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-msccl.h"

#include "ns3/proteus-protocol.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// How MSCCL's interpreter moves chunks.
struct InterpreterChunks
{
    uint64_t loopBytes{0};  //!< most of a chunk in one loop
    uint64_t sliceBytes{0}; //!< most that is granted and announced at once
    uint64_t leastBytes{0}; //!< slices are not made shorter than this
    uint32_t slots{0};      //!< slices that a receiver has room for
};

/**
 * The loops of MSCCL's interpreter (mscclRunInterpreter() in src/device/msccl_kernel_impl.h of
 * microsoft/msccl and ROCm/rccl). With Simple, a loop moves MSCCL_CHUNKSTEPS (NCCL_STEPS / 2) slots
 * of a chunk, in slices of MSCCL_SLICESTEPS (NCCL_STEPS / 4) slots. With LL and LL128, a loop moves
 * one slot. There every line has a flag of its own, so that a chunk passes through a GPU line by
 * line; four slices of a slot stand for that here, as for NCCL's own rings.
 */
InterpreterChunks
GetInterpreterChunks(Protocol protocol)
{
    constexpr uint32_t LINE_PARTS = 4;
    constexpr uint32_t CHUNK_STEPS = CHUNK_SLOTS / 2;
    constexpr uint32_t SLICE_STEPS = CHUNK_SLOTS / 4;
    const ProtocolTraits& traits = GetTraits(protocol);
    const uint64_t slot = traits.SlotBytes();
    return protocol == Protocol::SIMPLE ? InterpreterChunks{CHUNK_STEPS * slot,
                                                            SLICE_STEPS * slot,
                                                            slot / 32,
                                                            CHUNK_SLOTS / SLICE_STEPS}
                                        : InterpreterChunks{slot,
                                                            slot / LINE_PARTS,
                                                            traits.RoundBytes(),
                                                            CHUNK_SLOTS * LINE_PARTS};
}

/// @param bytes that move in one loop @param chunks of the interpreter @return slices that they
/// are cut into
uint64_t
CutIntoSlices(uint64_t bytes, const InterpreterChunks& chunks)
{
    const uint64_t most = chunks.loopBytes / chunks.sliceBytes;
    const uint64_t least = (bytes + chunks.sliceBytes - 1) / chunks.sliceBytes;
    return std::max({least, std::min(most, bytes / chunks.leastBytes), uint64_t{1}});
}

} // namespace

uint64_t
BytesOfAllSlices(Protocol protocol)
{
    const InterpreterChunks chunks = GetInterpreterChunks(protocol);
    return chunks.loopBytes / chunks.sliceBytes * chunks.leastBytes;
}

CollectiveRequest
MakeRequest(const MscclSchedule& schedule, const CollectiveRequest& request)
{
    CollectiveRequest result = request;
    result.collective = schedule.collective;
    result.root = schedule.root;
    result.protocol = schedule.protocol;
    result.channels = schedule.channels;
    result.algorithm = schedule.name;
    const InterpreterChunks chunks = GetInterpreterChunks(schedule.protocol);
    result.slots = chunks.slots;
    result.chunkBytes = chunks.sliceBytes;
    result.splits.clear();
    return result;
}

namespace
{

/// Turns a schedule into the program of a request.
class ProgramMaker
{
  public:
    ProgramMaker(const MscclSchedule& schedule, uint64_t bytes)
        : m_schedule(schedule),
          m_chunks(GetInterpreterChunks(schedule.protocol)),
          m_chunk(bytes / schedule.chunks),
          m_loops((m_chunk + m_chunks.loopBytes - 1) / m_chunks.loopBytes)
    {
        LayOut(bytes);
    }

    CollectiveProgram Make()
    {
        for (uint32_t rank = 0; rank < m_schedule.gpus.size(); ++rank)
        {
            const MscclGpu& gpu = m_schedule.gpus[rank];
            const Places places = FindPlaces(rank);
            const Ends ends = FindEnds(gpu);
            for (std::size_t b = 0; b < gpu.blocks.size(); ++b)
            {
                ThreadBlock block;
                block.channel = gpu.blocks[b].channel;
                block.processor = static_cast<uint16_t>(b);
                block.sendPeer = gpu.blocks[b].sendPeer;
                block.receivePeer = gpu.blocks[b].receivePeer;
                for (uint64_t loop = 0; loop < m_loops; ++loop)
                {
                    for (const MscclStep& step : gpu.blocks[b].steps)
                    {
                        Append(step, loop, places, ends, block);
                    }
                }
                m_program.ranks[rank].blocks.push_back(std::move(block));
            }
        }
        return std::move(m_program);
    }

  private:
    /// By block and step: steps of the program up to its end, in a loop.
    using Ends = std::vector<std::vector<uint64_t>>;

    /// Where the buffers of a rank begin.
    struct Places
    {
        uint64_t input{0};
        uint64_t output{0};
        uint64_t scratch{0};

        uint64_t Get(MscclBuffer buffer) const
        {
            return buffer == MscclBuffer::INPUT    ? input
                   : buffer == MscclBuffer::OUTPUT ? output
                                                   : scratch;
        }
    };

    /// Finds the extent of the buffers, in the place of which others may lie.
    void LayOut(uint64_t bytes)
    {
        uint64_t input = 0;
        uint64_t output = 0;
        uint64_t scratch = 0;
        for (const MscclGpu& gpu : m_schedule.gpus)
        {
            input = std::max<uint64_t>(input, gpu.inputChunks);
            output = std::max<uint64_t>(output, gpu.outputChunks);
            scratch = std::max<uint64_t>(scratch, gpu.scratchChunks);
        }
        m_program.algorithm = m_schedule.name;
        m_program.channels = m_schedule.channels;
        m_program.protocol = m_schedule.protocol;
        m_program.slots = m_chunks.slots;
        m_program.inPlace = m_schedule.inPlace;
        m_program.outputOffset = m_schedule.inPlace ? 0 : input * m_chunk;
        // In place, the shorter of the two may lie anywhere in the longer, see FindPlaces().
        m_scratchOffset = m_schedule.inPlace
                              ? (std::max<uint64_t>(input, output) + m_schedule.chunks) * m_chunk
                              : (input + output) * m_chunk;
        m_program.bufferBytes = std::max(m_scratchOffset + scratch * m_chunk, bytes);
        m_program.ranks.resize(m_schedule.gpus.size());
    }

    Places FindPlaces(uint32_t rank) const
    {
        const MscclGpu& gpu = m_schedule.gpus[rank];
        Places places{0, m_program.outputOffset, m_scratchOffset};
        // The own segment of an all-gather or reduce-scatter in place lies within the buffer.
        const uint64_t segment = m_schedule.chunks / m_schedule.gpus.size() * m_chunk * rank;
        if (m_schedule.inPlace && m_schedule.collective == Collective::ALL_GATHER &&
            gpu.inputChunks < m_schedule.chunks)
        {
            places.input = segment;
        }
        if (m_schedule.inPlace && m_schedule.collective == Collective::REDUCE_SCATTER &&
            gpu.outputChunks < m_schedule.chunks)
        {
            places.output = segment;
        }
        return places;
    }

    /// @return pieces that a step of the schedule makes in one loop: several chunks go together if
    /// they fit
    uint64_t CountPieces(const MscclStep& step) const
    {
        const bool fits = m_loops == 1 && step.count * m_chunk <= m_chunks.loopBytes;
        return step.kind == StepKind::WAIT || fits ? 1 : step.count;
    }

    /// @return slices of each piece
    uint64_t CountSlices(const MscclStep& step) const
    {
        const uint64_t bytes = CountPieces(step) == step.count ? (m_chunk + m_loops - 1) / m_loops
                                                               : step.count * m_chunk;
        return step.kind == StepKind::WAIT ? 1 : CutIntoSlices(bytes, m_chunks);
    }

    Ends FindEnds(const MscclGpu& gpu) const
    {
        Ends ends(gpu.blocks.size());
        for (std::size_t b = 0; b < gpu.blocks.size(); ++b)
        {
            uint64_t end = 0;
            for (const MscclStep& step : gpu.blocks[b].steps)
            {
                ends[b].push_back(end += CountPieces(step) * CountSlices(step));
            }
        }
        return ends;
    }

    /// Appends what a step of the schedule is in one loop.
    void Append(const MscclStep& step,
                uint64_t loop,
                const Places& places,
                const Ends& ends,
                ThreadBlock& block) const
    {
        const uint64_t pieces = CountPieces(step);
        const uint64_t slices = CountSlices(step);
        const Extent part = CutExtent({0, m_chunk}, m_loops, loop);
        for (uint64_t i = 0; i < pieces * slices; ++i)
        {
            Step made;
            made.kind = step.kind;
            if (step.kind != StepKind::WAIT)
            {
                const Extent whole{part.offset,
                                   pieces == step.count ? part.bytes : step.count * m_chunk};
                const Extent slice = CutExtent(whole, slices, i % slices);
                const uint64_t at = i / slices * m_chunk + slice.offset;
                const uint64_t source =
                    places.Get(step.sourceBuffer) + step.sourceOffset * m_chunk + at;
                const uint64_t target =
                    places.Get(step.targetBuffer) + step.targetOffset * m_chunk + at;
                made.offset = WritesBuffer(step.kind) ? target : source;
                made.source =
                    source == made.offset || !ReadsBuffer(step.kind) ? Step::AT_OFFSET : source;
                made.bytes = slice.bytes;
            }
            if (i == 0 && step.waitBlock != NO_BLOCK)
            {
                const auto& end = ends[step.waitBlock];
                made.waitBlock = step.waitBlock;
                made.waitStep = static_cast<uint32_t>(loop * end.back() + end[step.waitStep] - 1);
            }
            block.steps.push_back(made);
        }
    }

    const MscclSchedule& m_schedule;
    const InterpreterChunks m_chunks;
    const uint64_t m_chunk; //!< bytes
    const uint64_t m_loops;
    uint64_t m_scratchOffset{0};
    CollectiveProgram m_program;
};

} // namespace

CollectiveProgram
MakeProgram(const MscclSchedule& schedule, const CollectiveRequest& request)
{
    if (request.vertices.size() != schedule.gpus.size())
    {
        throw std::invalid_argument("the schedule is for " + std::to_string(schedule.gpus.size()) +
                                    " ranks, not for " + std::to_string(request.vertices.size()));
    }
    if (request.bytes == 0 || request.bytes % schedule.chunks != 0)
    {
        throw std::invalid_argument("the schedule cannot cut " + std::to_string(request.bytes) +
                                    " bytes into " + std::to_string(schedule.chunks) +
                                    " equal chunks");
    }
    return ProgramMaker(schedule, request.bytes).Make();
}

} // namespace proteus
} // namespace ns3
