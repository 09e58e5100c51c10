/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MSCCL_H
#define PROTEUS_MSCCL_H

#include "ns3/proteus-program.h"

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Schedules of collectives in the XML of MSCCL (github.com/Azure/msccl and msccl-tools).
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Buffer of a step of a schedule.
enum class MscclBuffer : uint8_t
{
    INPUT,
    OUTPUT,
    SCRATCH,
};

/// @ingroup proteus
/// A step of a schedule. Offsets and counts are in chunks.
struct MscclStep
{
    StepKind kind{StepKind::WAIT};                //!< what is done; WAIT for "nop"
    MscclBuffer sourceBuffer{MscclBuffer::INPUT}; //!< that is read
    MscclBuffer targetBuffer{MscclBuffer::INPUT}; //!< that is written
    uint32_t sourceOffset{0};                     //!< first chunk that is read
    uint32_t targetOffset{0};                     //!< first chunk that is written
    uint32_t count{0};                            //!< chunks
    uint32_t waitBlock{NO_BLOCK};                 //!< position of the thread block to wait for
    uint32_t waitStep{0};                         //!< its step
};

/// @ingroup proteus
/// A thread block of a schedule.
struct MscclBlock
{
    uint32_t sendPeer{NO_RANK};    //!< GPU, or NO_RANK
    uint32_t receivePeer{NO_RANK}; //!< GPU, or NO_RANK
    uint16_t channel{0};           //!< of both connections
    std::vector<MscclStep> steps;  //!< in order
};

/// @ingroup proteus
/// What one GPU does.
struct MscclGpu
{
    uint32_t inputChunks{0};
    uint32_t outputChunks{0};
    uint32_t scratchChunks{0};
    std::vector<MscclBlock> blocks;
};

/// @ingroup proteus
/// A schedule.
struct MscclSchedule
{
    std::string name;                              //!< as in the file
    Collective collective{Collective::ALL_REDUCE}; //!< that it computes
    Protocol protocol{Protocol::SIMPLE};           //!< that it wants
    bool inPlace{false};                           //!< whether input and output share their place
    uint32_t channels{1};                          //!< as in the file
    uint32_t chunks{1};                            //!< that the whole buffer is cut into
    uint32_t root{0};                              //!< of a broadcast or reduction
    uint64_t minBytes{0};                          //!< least size that it is meant for
    uint64_t maxBytes{0};                          //!< greatest size that it is meant for
    std::vector<MscclGpu> gpus;                    //!< by rank
};

/**
 * @ingroup proteus
 * Reads a schedule, and checks that it ends and computes its collective at sizes that it is for.
 *
 * All attributes of the format are read; what is not known is refused: other collectives than
 * all-reduce, all-gather, reduce-scatter, broadcast, reduce and all-to-all, and the step "ra",
 * which adds a residual that is no part of a collective. A file has at most 1024 GPUs, 32768 thread
 * blocks and a million steps, of one
 * chunk each.
 *
 * @param input the text
 * @param fileName for errors
 * @return the schedule
 * @throw std::invalid_argument "FILE:LINE: where: cause"
 */
MscclSchedule ReadMscclXml(std::istream& input, const std::string& fileName);

/// @ingroup proteus
/// @param path of a file, plain or compressed by gzip @return the schedule
/// @throw std::invalid_argument as ReadMscclXml(), and if it cannot be opened
MscclSchedule LoadMscclXml(const std::string& path);

/**
 * @ingroup proteus
 * Whether a schedule ends, and computes its collective. The largest size decides, up to that at
 * which a chunk has all of its slices, which take most of a connection's room.
 * @param schedule to carry out
 * @param mostBytes largest size
 * @return what is wrong, or empty
 */
std::string FindMscclMistake(const MscclSchedule& schedule, uint64_t mostBytes);

/**
 * @ingroup proteus
 * Makes the program of a schedule. Steps, connections, thread blocks and their waiting are those of
 * the schedule. As MSCCL's interpreter does, all steps are done in turn for parts of the chunks
 * that fit a slot of the protocol.
 * @param schedule to carry out
 * @param request with bytes and vertices; the rest is the schedule's
 * @return the program
 * @throw std::invalid_argument if there are other than the schedule's ranks, or the size cannot be
 * cut into its chunks
 */
CollectiveProgram MakeProgram(const MscclSchedule& schedule, const CollectiveRequest& request);

/**
 * @ingroup proteus
 * A schedule that ends with such chunks ends with any. MSCCL's interpreter cuts a chunk of any size
 * into all of its slices, each of which takes room of its connection, and leaves some empty
 * (genericOp() in src/device/prims_simple.h of microsoft/msccl); programs of shorter chunks have
 * fewer, and so more room.
 * @param protocol of a schedule
 * @return least bytes of a chunk that has as many slices as one can have in a loop
 */
uint64_t BytesOfAllSlices(Protocol protocol);

/**
 * @ingroup proteus
 * @param schedule to carry out
 * @param request as for MakeProgram()
 * @return what CheckProgram() needs to know
 */
CollectiveRequest MakeRequest(const MscclSchedule& schedule, const CollectiveRequest& request);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MSCCL_H
