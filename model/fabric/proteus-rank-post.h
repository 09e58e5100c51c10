/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RANK_POST_H
#define PROTEUS_RANK_POST_H

#include "ns3/callback.h"
#include "ns3/node-container.h"
#include "ns3/packet.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Makes a way from every process (MPI rank) to every other one, which takes a picosecond to the
/// simulator. To be called on all ranks, with the same nodes before.
/// @param gateways gets a node for each rank @param receive called with packets for this rank
/// @return by rank: the device of its gateway that packets of this rank go to
std::vector<uint32_t> ConnectGateways(NodeContainer& gateways,
                                      const Callback<void, Ptr<Packet>>& receive);

/**
 * @ingroup proteus
 * Words between the processes (MPI ranks) of a run that are events of the simulator: each arrives a
 * picosecond after it was sent. A fabric may be ahead by then, as it goes on to the end of a window
 * within one event: its own words are those of FabricRanks.
 */
class RankPost
{
  public:
    /// @param take called with words of other ranks, not aligned
    explicit RankPost(std::function<void(const uint8_t*)> take);

    RankPost(const RankPost&) = delete;
    RankPost& operator=(const RankPost&) = delete;

    /// @param rank whom to tell something, another one @param word a plain record
    template <typename T>
    void Tell(uint32_t rank, const T& word)
    {
        static_assert(std::is_trivially_copyable_v<T>, "ranks send each other plain records");
        std::vector<uint8_t> bytes(sizeof(word));
        std::memcpy(bytes.data(), &word, sizeof(word));
        Send(rank, bytes);
    }

  private:
    /// @param rank whom to send something @param bytes what
    void Send(uint32_t rank, const std::vector<uint8_t>& bytes);
    /// @param packet of another rank
    void Receive(Ptr<Packet> packet);

    std::function<void(const uint8_t*)> m_take; //!< whom to hand words to
    NodeContainer m_gateways;                   //!< one node per rank
    std::vector<uint32_t> m_devices;            //!< by rank: of its gateway
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RANK_POST_H
