/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ALGORITHMS_H
#define PROTEUS_ALGORITHMS_H

#include "proteus-program.h"

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Ring all-reduce, all-gather and reduce-scatter: 2(n-1), n-1 and n-1 steps, of bytes / n each
 * (Patarasuk and Yuan, JPDC 69(2), 2009; NCCL's ring kernels).
 *
 * A channel carries its share of every rank's segment. It goes through it in loops of at most
 * half of CHUNK_SLOTS chunks per segment, so that no rank waits for room while it has yet to
 * receive; within a loop, a chunk is passed on as soon as it is there.
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 */
CollectiveProgram MakeRingProgram(const Cluster& cluster,
                                  const Paths& paths,
                                  const CollectiveRequest& request);

/**
 * @ingroup proteus
 * Broadcast along the ring from the root, pipelined by chunk, as NCCL's ring broadcast.
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 */
CollectiveProgram MakeChainProgram(const Cluster& cluster,
                                   const Paths& paths,
                                   const CollectiveRequest& request);

/**
 * @ingroup proteus
 * One message from rank 0 to rank 1, in chunks.
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks
 * @return the program
 */
CollectiveProgram MakeSendReceiveProgram(const Cluster& cluster,
                                         const Paths& paths,
                                         const CollectiveRequest& request);

/**
 * @ingroup proteus
 * Appends a step for every chunk of an extent.
 * @param block to append to
 * @param kind of the steps
 * @param extent to cut into chunks; empty ones give no step
 * @param chunkBytes most bytes of a step
 */
void AppendSteps(ThreadBlock& block, StepKind kind, const Extent& extent, uint64_t chunkBytes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ALGORITHMS_H
