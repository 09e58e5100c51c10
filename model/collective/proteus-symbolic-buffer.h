/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SYMBOLIC_BUFFER_H
#define PROTEUS_SYMBOLIC_BUFFER_H

#include <boost/dynamic_bitset.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the bytes of a buffer stand for when a collective is executed without data: the
 * contributions of which ranks.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Numbers for sets of ranks. Two equal sets have the same number.
class RankSets
{
  public:
    /// "No such set": the ranks of two sets are not all different.
    static constexpr uint32_t OVERLAP = 0xffffffff;

    /// @param ranks how many there are
    explicit RankSets(uint32_t ranks);

    /// @param rank a rank @return the set of it alone
    uint32_t Single(uint32_t rank);
    /// @return the set of all ranks
    uint32_t All();
    /// @param a a set @param b a set @return both together, or OVERLAP
    uint32_t Join(uint32_t a, uint32_t b);
    /// @param set a set @return e.g. "ranks 0 2 3"
    std::string Describe(uint32_t set) const;

  private:
    using Bits = boost::dynamic_bitset<>;

    /// @param bits a set @return its number
    uint32_t Intern(const Bits& bits);

    uint32_t m_ranks;
    std::vector<Bits> m_sets;
    std::map<Bits, uint32_t> m_numbers;
    std::unordered_map<uint64_t, uint32_t> m_joins; //!< by both sets
};

/// @ingroup proteus
/// Bytes that fare alike: byte i of them is the sum of byte `logical + i` of all ranks of a set.
struct SymbolicPiece
{
    uint64_t bytes{0};
    uint64_t logical{0}; //!< position in the data of the collective
    uint32_t set{0};     //!< of RankSets
};

/// @ingroup proteus
/// Content of a chunk: pieces one after the other.
using SymbolicChunk = std::vector<SymbolicPiece>;

/**
 * @ingroup proteus
 * Adds two chunks.
 * @param a one
 * @param b the other, of the same size
 * @param sets of the ranks
 * @param sum is set to the sum
 * @return an empty text, or what is wrong
 */
std::string AddChunks(const SymbolicChunk& a,
                      const SymbolicChunk& b,
                      RankSets& sets,
                      SymbolicChunk& sum);

/// @ingroup proteus
/// The buffer of one rank.
class SymbolicBuffer
{
  public:
    /**
     * @param offset first byte
     * @param bytes how many
     * @param chunk is set to what is there
     * @return whether there is something in all of them
     */
    bool Read(uint64_t offset, uint64_t bytes, SymbolicChunk& chunk) const;

    /// @param offset first byte @param chunk to put there
    void Write(uint64_t offset, const SymbolicChunk& chunk);

  private:
    /// Cuts a piece in two at a byte.
    void Split(uint64_t at);

    std::map<uint64_t, SymbolicPiece> m_pieces; //!< by first byte
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SYMBOLIC_BUFFER_H
