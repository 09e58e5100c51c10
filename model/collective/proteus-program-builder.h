/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_BUILDER_H
#define PROTEUS_PROGRAM_BUILDER_H

#include "proteus-program.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Builds a program from steps, which are given in an order in which they could be done one after
 * another. Where steps of different blocks of a rank touch the same bytes, the later one is made to
 * wait for the earlier one; nothing else waits. So the program computes what the order computes,
 * and since the order can be carried out, no step waits for ever.
 */
class ProgramBuilder
{
  public:
    /**
     * @param request that the program is for
     * @param algorithm what it is called
     * @param channels how many share the buffer
     * @param bufferBytes of every rank; 0 for the bytes of the request
     */
    ProgramBuilder(const CollectiveRequest& request,
                   const std::string& algorithm,
                   uint32_t channels,
                   uint64_t bufferBytes = 0);

    /// @return number of ranks
    uint32_t GetNRanks() const
    {
        return static_cast<uint32_t>(m_program.ranks.size());
    }

    /**
     * @param rank whose
     * @param channel of its connections, and processor
     * @param receivePeer rank, or NO_RANK
     * @param sendPeer rank, or NO_RANK
     * @return the block with these, made on first use
     */
    uint32_t GetBlock(uint32_t rank, uint32_t channel, uint32_t receivePeer, uint32_t sendPeer);

    /**
     * @param rank whose
     * @param channel processor that it runs on
     * @param group network group
     * @param warps see ThreadBlock::warps
     * @return a new block
     */
    uint32_t AddGroupBlock(uint32_t rank, uint32_t channel, uint32_t group, uint16_t warps = 0);

    /// @param members ranks @return a network group of them
    uint32_t AddGroup(const std::vector<uint32_t>& members);

    /**
     * Appends a step.
     * @param rank whose
     * @param block of the rank
     * @param step what; waiting is filled in
     */
    void Append(uint32_t rank, uint32_t block, const Step& step);

    /**
     * Appends a step for every chunk of an extent.
     * @param rank whose
     * @param block of the rank
     * @param kind of the steps
     * @param extent to cut
     */
    void AppendExtent(uint32_t rank, uint32_t block, StepKind kind, const Extent& extent);

    /**
     * Makes the next step of a block wait for what another block of the rank has done so far.
     * @param rank whose
     * @param block that waits
     * @param other that is waited for
     */
    void WaitFor(uint32_t rank, uint32_t block, uint32_t other);

    /**
     * Makes the next step of a block wait for a step of another block of the rank.
     * @param rank whose
     * @param block that waits
     * @param other that is waited for
     * @param step until it has done this one
     */
    void WaitForStep(uint32_t rank, uint32_t block, uint32_t other, uint32_t step);

    /// @param rank whose @param block a block @return number of its steps so far
    uint32_t GetNSteps(uint32_t rank, uint32_t block) const
    {
        return static_cast<uint32_t>(m_program.ranks[rank].blocks[block].steps.size());
    }

    /**
     * Sends an extent from one rank to another, over a connection of the channel that carries only
     * such transfers.
     * @param from sender
     * @param to receiver
     * @param channel of the connection
     * @param extent the same place at both ends
     * @param reduces whether the receiver adds it to what it has
     */
    void Transfer(uint32_t from, uint32_t to, uint32_t channel, const Extent& extent, bool reduces);

    /// @param extent to cut @return the chunks of the request
    std::vector<Extent> CutChunks(const Extent& extent) const;

    /// @return the program, without blocks that have nothing to do; the builder is used up
    CollectiveProgram Finish();

  private:
    /// A step of a block.
    using StepOf = std::pair<uint32_t, uint32_t>;

    /// What was done last with bytes of a buffer: from the key of the map on to `end`.
    struct Access
    {
        uint64_t end;
        StepOf writer;               //!< block NO_BLOCK: none
        std::vector<StepOf> readers; //!< since then, one for each block
    };

    /// Everything about one rank.
    struct RankState
    {
        std::map<uint64_t, Access> accesses;               //!< by first byte
        std::vector<std::map<uint32_t, uint32_t>> known;   //!< by block: step that each other block
                                                           //!< is known to have done
        std::vector<std::map<uint32_t, uint32_t>> pending; //!< by block: to wait for
        std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> blocks; //!< see GetBlock()
    };

    /// Cuts the accesses at a byte.
    static void Split(std::map<uint64_t, Access>& accesses, uint64_t at);
    /// @param rank whose @param self the step @param begin of the bytes @param bytes how many
    /// @param writes whether it writes them
    void Touch(uint32_t rank, const StepOf& self, uint64_t begin, uint64_t bytes, bool writes);
    /// Appends with the waiting that is pending.
    void Emit(uint32_t rank, uint32_t block, Step step);

    uint64_t m_chunkBytes;
    CollectiveProgram m_program;
    std::vector<RankState> m_states;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_BUILDER_H
