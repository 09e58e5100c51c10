/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_FLOWS_H
#define PROTEUS_PROGRAM_FLOWS_H

#include "ns3/proteus-program.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A connection of a program: all that one channel carries from one rank to another, or all
/// operations of a kind that a network group does for one rank, or for all.
struct ProgramFlow
{
    uint32_t channel{0};      //!< of the program
    uint32_t from{NO_RANK};   //!< rank that sends; of a group's flow, who multicasts, or NO_RANK
    uint32_t to{NO_RANK};     //!< rank that receives; of a group's flow, who gets sums, or NO_RANK
    uint32_t group{NO_GROUP}; //!< network group that it belongs to
    uint32_t ordinal{0};      //!< of the group among those with the same members
    StepKind operation{StepKind::SEND}; //!< of a group's flow: what the switches do
    std::vector<uint32_t> members;      //!< ranks of the group
    uint64_t bytes{0};     //!< payload on the wire, that of the protocol included; of a
                           //!< group's flow, that of one member
    uint64_t messages{0};  //!< steps
    uint32_t component{0}; //!< flows of one component depend on each other, others do not
};

/// @ingroup proteus
/// @param flow of a program @return bytes that ranks send for it
uint64_t SentBytes(const ProgramFlow& flow);

/**
 * @ingroup proteus
 * The connections of a program.
 * @param program of a collective
 * @return by channel, sender and receiver, then those of groups; components are numbered from 0
 */
std::vector<ProgramFlow> FindFlows(const CollectiveProgram& program);

/// @ingroup proteus
/// Names a flow of a program: channel, sender, receiver, group, operation.
using ProgramFlowKey = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, StepKind>;

/**
 * @ingroup proteus
 * @param block with a network group
 * @param rank that has it
 * @param step that gives to the group
 * @return name of the flow that it gives to
 */
ProgramFlowKey MakeGroupFlowKey(const ThreadBlock& block, uint32_t rank, const Step& step);

/// @ingroup proteus
/// Finds flows of a program.
class FlowIndex
{
  public:
    /// @param flows of a program, in any order; one for each name
    explicit FlowIndex(const std::vector<ProgramFlow>& flows);

    /// @param channel of a connection @param from sender @param to receiver
    /// @return position of its flow; NO_ID if there is none, or an end is NO_RANK
    uint32_t Find(uint32_t channel, uint32_t from, uint32_t to) const;

    /// @param key MakeGroupFlowKey() @return position of the flow, which is there
    uint32_t GetOfGroup(const ProgramFlowKey& key) const
    {
        return m_groups.at(key);
    }

  private:
    /// A connection of a sender.
    struct Entry
    {
        uint32_t to;   //!< receiver
        uint32_t flow; //!< its position
    };

    uint32_t m_channels{0};        //!< that have connections
    uint32_t m_ranks{0};           //!< that send
    std::vector<uint32_t> m_first; //!< by channel and sender, and the end: start in m_entries
    std::vector<Entry> m_entries;  //!< those of a sender together, by receiver
    std::map<ProgramFlowKey, uint32_t> m_groups; //!< flows of groups
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_FLOWS_H
