/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-structure.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Which block of a rank does what with a network group, of which there must be one each: rank,
/// group, what (see FindDuty()), sender of multicasts.
using Owners = std::map<std::array<uint32_t, 4>, uint32_t>;

/// What one block of a rank does of all that a rank does with a network group.
enum Duty : uint32_t
{
    GIVES_TO_SUMS,
    TAKES_SUMS,
    MULTICASTS,
    TAKES_MULTICASTS,
};

Duty
FindDuty(const Step& step)
{
    if (step.kind == StepKind::GROUP_MULTICAST)
    {
        return MULTICASTS;
    }
    if (SendsToGroup(step.kind))
    {
        return GIVES_TO_SUMS;
    }
    return step.peer == NO_RANK ? TAKES_SUMS : TAKES_MULTICASTS;
}

/// @return what is wrong with a step of a network group
std::string
CheckGroupStep(const CollectiveProgram& program,
               uint32_t rank,
               uint32_t number,
               const Step& step,
               Owners& owners)
{
    const uint32_t group = program.ranks[rank].blocks[number].group;
    if (group >= program.groups.size())
    {
        return "there is no such network group";
    }
    const auto& members = program.groups[group].members;
    const auto isMember = [&](uint32_t who) {
        return std::binary_search(members.begin(), members.end(), who);
    };
    if (!isMember(rank) || (step.peer != NO_RANK && !isMember(step.peer)) ||
        (step.peer == NO_RANK && step.kind == StepKind::GROUP_REDUCE))
    {
        return "is not between members of the network group";
    }
    const Duty duty = FindDuty(step);
    const uint32_t sender = duty == TAKES_MULTICASTS ? step.peer : NO_RANK;
    const auto owner = owners.emplace(std::array<uint32_t, 4>{rank, group, duty, sender}, number);
    return owner.first->second == number ? ""
                                         : "another block does such steps of the network group";
}

/// @return what is wrong with a step
std::string
CheckStep(const CollectiveProgram& program,
          uint32_t rank,
          uint32_t number,
          const Step& step,
          Owners& owners)
{
    const auto& blocks = program.ranks[rank].blocks;
    const ThreadBlock& block = blocks[number];
    const bool mayBeEmpty = step.kind == StepKind::WAIT ||
                            step.kind == StepKind::GROUP_ALL_REDUCE ||
                            (step.kind == StepKind::GROUP_RECV && step.peer == NO_RANK);
    if ((step.bytes == 0 && !mayBeEmpty) || step.bytes > program.bufferBytes ||
        step.offset > program.bufferBytes - step.bytes ||
        step.Source() > program.bufferBytes - step.bytes)
    {
        return "a step is empty or reaches past the buffer";
    }
    if ((Receives(step.kind) && block.receivePeer == NO_RANK) ||
        (Sends(step.kind) && block.sendPeer == NO_RANK))
    {
        return "no peer";
    }
    if (step.waitBlock != NO_BLOCK &&
        (step.waitBlock >= blocks.size() || step.waitStep >= blocks[step.waitBlock].steps.size()))
    {
        return "waits for a step that there is not";
    }
    return SendsToGroup(step.kind) || step.kind == StepKind::GROUP_RECV
               ? CheckGroupStep(program, rank, number, step, owners)
               : "";
}

/// @return the connection that does not have one sender and one receiver
std::string
CheckConnections(const CollectiveProgram& program)
{
    // By sender, receiver and channel.
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::pair<int, int>> ends;
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            if (block.receivePeer != NO_RANK)
            {
                ++ends[{block.receivePeer, rank, block.channel}].second;
            }
            if (block.sendPeer != NO_RANK)
            {
                ++ends[{rank, block.sendPeer, block.channel}].first;
            }
        }
    }
    for (const auto& [key, count] : ends)
    {
        if (count != std::make_pair(1, 1))
        {
            std::ostringstream text;
            text << "connection from rank " << std::get<0>(key) << " to rank " << std::get<1>(key)
                 << " on channel " << std::get<2>(key) << " has " << count.first << " senders and "
                 << count.second << " receivers";
            return text.str();
        }
    }
    return "";
}

} // namespace

std::string
NameStep(uint32_t rank, uint32_t number, const ThreadBlock& block, std::size_t step)
{
    std::ostringstream text;
    text << "rank " << rank << ", channel " << block.channel << ", ";
    if (number > 0)
    {
        text << "block " << number << ", ";
    }
    text << "step " << step;
    return text.str();
}

std::string
CheckStructure(const CollectiveProgram& program)
{
    Owners owners;
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        const auto& blocks = program.ranks[rank].blocks;
        for (uint32_t number = 0; number < blocks.size(); ++number)
        {
            for (const Step& step : blocks[number].steps)
            {
                const std::string error = CheckStep(program, rank, number, step, owners);
                if (!error.empty())
                {
                    const auto place =
                        static_cast<std::size_t>(&step - blocks[number].steps.data());
                    return NameStep(rank, number, blocks[number], place) + ": " + error;
                }
            }
        }
    }
    return CheckConnections(program);
}

} // namespace proteus
} // namespace ns3
