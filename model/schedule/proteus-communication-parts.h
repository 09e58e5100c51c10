/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COMMUNICATION_PARTS_H
#define PROTEUS_COMMUNICATION_PARTS_H

#include "proteus-communication-scheduler.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Communications of a graph cut into parts, or merged: each part is a task of its own.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Cuts communications into parts, which are called after their whole: "NAME.part0" and so on. A
 * part needs what its whole needed; what needed the whole needs all parts.
 * @param graph to cut
 * @param kinds which communications are cut
 * @param partBytes largest part (PartitionBytes()); ScheduleSettings::WHOLE cuts nothing
 * @return the graph
 * @throw std::invalid_argument for parts of 0 bytes, or if there would be millions of them
 */
ScheduledGraph CutCommunications(const ExecutionGraph& graph,
                                 const std::vector<Parallelism>& kinds,
                                 uint64_t partBytes);

/**
 * @ingroup proteus
 * Merges communications into buckets, as PyTorch's DistributedDataParallel does. Communications of
 * one collective, group, root, stream, phase and kind are put together in the order of the graph
 * until their bytes reach a size, or until the next one waits for one of them, directly or through
 * other tasks. Messages (SEND_RECV) stay as they are. A bucket needs all that
 * its communications needed; what needed one of them needs the bucket. It is named after its first
 * communication: "NAME.bucket".
 * @param graph whose communications are merged
 * @param kinds which of them
 * @param bucketBytes a bucket that has this many bytes or more is closed
 * @return the graph; a bucket's whole is the first communication in it
 * @throw std::invalid_argument for buckets of 0 bytes
 */
ScheduledGraph MergeCommunications(const ExecutionGraph& graph,
                                   const std::vector<Parallelism>& kinds,
                                   uint64_t bucketBytes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COMMUNICATION_PARTS_H
