/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_HASH_H
#define PROTEUS_FLOW_HASH_H

#include <cstddef>
#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * How a flow chooses among equal paths; packets and flows have to agree on it.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A mixing function for per-flow path choice (the finaliser of MurmurHash3, public domain).
 * @param a first word
 * @param b second word
 * @return a well mixed word
 */
inline uint64_t
MixHash(uint64_t a, uint64_t b)
{
    uint64_t x = a ^ (b * 0x9e3779b97f4a7c15ULL);
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return x;
}

/// @ingroup proteus
/// @param flowHash of the flow @param vertex where it begins @param choices equal ports there
/// @return index of its port
inline std::size_t
PickFirstPort(uint64_t flowHash, uint32_t vertex, std::size_t choices)
{
    return MixHash(flowHash, vertex) % choices;
}

/// @ingroup proteus
/// @param hash a mixed word @param choices how many, below 2^32
/// @return one of them: the upper half of the word, as a fraction of 2^32, times their number
inline std::size_t
PickByHash(uint64_t hash, uint32_t choices)
{
    return (hash >> 32) * choices >> 32;
}

/// @ingroup proteus
/// @param flowHash of the flow @param vertex that forwards it by ECMP @param choices equal ports
/// @return index of its port
inline std::size_t
PickNextPort(uint64_t flowHash, uint32_t vertex, std::size_t choices)
{
    return PickByHash(MixHash(flowHash, vertex), static_cast<uint32_t>(choices));
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_HASH_H
