/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHUNK_RULES_H
#define PROTEUS_CHUNK_RULES_H

#include "proteus-nccl-variables.h"
#include "proteus-protocol.h"

#include "ns3/proteus-cpu-vendor.h"

#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * What versions of NCCL cut otherwise.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The buffer of a connection, of which a slot is an eighth. From 2.7 to 2.18 that of Simple has 1
 * MiB on ARM CPUs, and 4 on others and since (NVIDIA/nccl v2.7.3 to v2.18.6, src/init.cc,
 * DEFAULT_BUFFSIZE_ARM; gone in v2.19.1).
 * @param variables of NCCL, which may say it
 * @param protocol of the connection
 * @param version of NCCL, e.g. 218
 * @param vendor of the CPUs
 * @return its bytes on the wire; 0: as the protocol has it
 */
uint64_t GetBufferBytes(const NcclVariables& variables,
                        Protocol protocol,
                        uint32_t version,
                        CpuVendor vendor);

/**
 * @ingroup proteus
 * Trees of all-reduce by Simple cut what a channel has into so many chunks that they fill the tree
 * (NVIDIA/nccl v2.5.6 to v2.19.4, src/enqueue.cc, "Optimize chunkSize / nSteps", and src/graph/
 * connect.cc, tree.depth; v2.20.3 has it for LL128 and CollNet only).
 * @param question with channels
 * @param chunkBytes that fill a slot
 * @return bytes of a chunk
 */
uint64_t GetShortTreeChunk(const ChunkQuestion& question, uint64_t chunkBytes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHUNK_RULES_H
