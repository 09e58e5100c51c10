/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-chunk-rules.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ns3
{
namespace proteus
{

uint64_t
GetBufferBytes(const NcclVariables& variables,
               Protocol protocol,
               uint32_t version,
               CpuVendor vendor)
{
    constexpr uint32_t FIRST_SHORT = 207;
    constexpr uint32_t LAST_SHORT = 218;
    constexpr uint64_t OF_ARM = uint64_t{1} << 20;
    const uint64_t said = variables.bufferBytes[static_cast<std::size_t>(protocol)];
    const bool isShort = protocol == Protocol::SIMPLE && vendor == CpuVendor::ARM &&
                         version >= FIRST_SHORT && version <= LAST_SHORT;
    return said > 0 || !isShort ? said : OF_ARM;
}

uint64_t
GetShortTreeChunk(const ChunkQuestion& question, uint64_t chunkBytes)
{
    const uint32_t servers = std::max(question.servers, 1u);
    uint32_t depth = question.ranks / servers - 1;
    for (uint32_t n = servers; n > 1; n /= 2)
    {
        ++depth;
    }
    constexpr std::array<std::pair<uint64_t, uint64_t>, 3> LEAST{
        {{8, 131072}, {4, 65536}, {1, 32768}}}; // chunks of a tree's depth, bytes of a chunk
    for (const auto& [factor, least] : LEAST)
    {
        while (question.bytes / (question.channels * chunkBytes) < depth * factor &&
               chunkBytes > least)
        {
            chunkBytes /= 2;
        }
    }
    return chunkBytes;
}

} // namespace proteus
} // namespace ns3
