/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KINETO_H
#define PROTEUS_KINETO_H

#include "proteus-trace-graph.h"

#include "ns3/proteus-graph.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Traces of PyTorch's profiler (Kineto): JSON, one file per rank.
 *
 * **GPU.** Every kernel, copy and fill is a task that lasts as long as it was measured, on a stream
 * of its own name ("stream 7"), in the order in which they ran there. NCCL's kernels become
 * collectives or messages, which the network times. Their measured times are not used: these
 * include the waiting for other ranks.
 *
 * **Host.** The calls of all threads that launch work of the GPU are one stream ("host"), in the
 * order in which they returned; each lasts from the return of the call before. A kernel begins
 * after its call. Some calls wait for the GPU: cudaDeviceSynchronize, cudaStreamSynchronize,
 * cudaEventSynchronize, blocking copies. They wait for all work that was launched before them and
 * had ended when they returned; what they took longer than that, the host takes again.
 *
 * **Between streams.** Events of category cuda_sync (the profiler's option enable_cuda_sync_events)
 * tell which stream waited for which. In a trace without them, two rules guess. A kernel of NCCL
 * waits for the last work that was launched before it on another stream. Other work could have
 * begun after its launch and after the work before it on its stream; if it began more than 5 us
 * later, it waits for what ended last on another stream in that time.
 *
 * **Pauses.** What began later than it could by all that is known is late again: up to 20 us are
 * what a GPU needs to begin a kernel, and count to it; a longer pause has a cause that is not in
 * the trace, and is a task on a stream of the host's kind ("pauses of stream 7"). So a trace whose
 * communication lasts as recorded (TraceOptions::isCommunicationRecorded) takes the time that it
 * took.
 *
 * **Ranks.** distributedInfo tells the rank of a file and how many there are. The n-th collective
 * of a process group is the same on all of its ranks.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Makes a graph of the files of a trace.
 * @param files one per rank, in any order if they tell their rank; one file stands for all ranks if
 * it is the only one
 * @param name of the trace, for messages
 * @param options how many ranks, where the trace does not say
 * @param recording gets what was recorded, unless it is null
 * @return the graph
 * @throw std::invalid_argument "FILE:LINE:COLUMN: cause" for bad JSON, "FILE: /traceEvents/17/dur:
 * cause" for a wrong value, and what TraceGraph::Build() throws
 */
ExecutionGraph ReadKineto(const std::vector<TraceFile>& files,
                          const std::string& name,
                          const TraceOptions& options = {},
                          Recording* recording = nullptr);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KINETO_H
