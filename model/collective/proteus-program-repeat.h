/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_REPEAT_H
#define PROTEUS_PROGRAM_REPEAT_H

#include "proteus-program.h"

#include "ns3/proteus-collective-kernel-cost.h"

#include <cstdint>
#include <functional>

/**
 * @file
 * @ingroup proteus
 * Collectives that are launched one after the other, whose ranks need not wait for each other.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What launching a kernel takes of the host thread that does it.
 * @param cost of launches
 * @param program of the collective
 * @param rank of the program
 * @return picoseconds: for the kernel and each of its channels; of messages, for each of the peers
 */
int64_t GetLaunchPs(const CollectiveLaunchCost& cost,
                    const CollectiveProgram& program,
                    uint32_t rank);

/**
 * @ingroup proteus
 * A collective several times, as kernels that follow each other on the streams of the ranks.
 *
 * The room of a connection belongs to the communicator: its counters go on from kernel to kernel
 * (NVIDIA/nccl v2.30.7, src/device/prims_simple.h, prims_ll.h, prims_ll128.h: the destructors save
 * `step` in the connection). So a rank that only sends, as the root of a broadcast, goes on with
 * its next kernel as long as there is room at its receiver, which may still be at an earlier one.
 * As one program, all kernels have the same room.
 *
 * A kernel of a rank begins with a step COPY, which takes as long as the kernel takes to start;
 * every block waits for another one of its rank to be done with the kernel before.
 * @param program of the collective
 * @param times how often
 * @param getStartBytes of a rank and a block of it: what the block copies in the time in which a
 * kernel starts
 * @return the program, which begins with the first steps of the first kernel
 */
CollectiveProgram RepeatProgram(
    const CollectiveProgram& program,
    uint32_t times,
    const std::function<uint64_t(uint32_t rank, uint32_t block)>& getStartBytes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_REPEAT_H
