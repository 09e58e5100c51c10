/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_RANKS_H
#define PROTEUS_FABRIC_RANKS_H

#include "ns3/node-container.h"
#include "ns3/packet.h"
#include "ns3/proteus-rank-partition.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Kinds of what ranks tell each other. Those from USER on are of the fabric's endpoint.
enum RankWordKind : uint32_t
{
    UNIT_WORD,   //!< a unit on a cut link
    CREDIT_WORD, //!< room in the receive buffer of a cut link
    USER_WORD,   //!< first one of FabricEndpoint::HandleRankWord()
};

/**
 * @ingroup proteus
 * The other processes (MPI ranks) that simulate parts of a fabric, and the way to them: ns-3's
 * distributed simulator carries ns3::Packets from a node of one rank to a node of another.
 *
 * Time is cut into windows, each a picosecond shorter than the least delay of the links between
 * ranks. What a rank tells others in one window takes effect in a later one, so that all words of a
 * window travel together, in as few packets as ns-3's limit allows, and are handed over at the
 * begin of the next. To the simulator the lookahead between ranks is one picosecond: the fabric
 * itself uses all the rest, by going on within one event to the end of the window.
 */
class FabricRanks
{
  public:
    /**
     * Takes a word of another rank.
     * @param kind RankWordKind
     * @param data of the word, not aligned
     */
    using Take = std::function<void(uint32_t kind, const uint8_t* data)>;

    /**
     * @param cluster that is simulated
     * @param take called with words of others, at the begin of a window
     * @throw std::invalid_argument if the cluster cannot be divided
     */
    FabricRanks(const Cluster& cluster, Take take);
    ~FabricRanks();

    FabricRanks(const FabricRanks&) = delete;
    FabricRanks& operator=(const FabricRanks&) = delete;

    /// Makes the way to the others, after the nodes of the fabric: the same nodes on every rank.
    void Connect();

    /// @return who simulates what
    const RankPartition& GetPartition() const
    {
        return m_partition;
    }

    /// @return length of a window in picoseconds
    int64_t GetWindowPs() const
    {
        return m_partition.lookaheadPs - 1;
    }

    /**
     * Tells another rank something, which gets it at the begin of the next window.
     * @param rank whom
     * @param kind of the word
     * @param word a plain record
     */
    template <typename T>
    void Tell(uint32_t rank, uint32_t kind, const T& word)
    {
        const uint32_t head = kind | static_cast<uint32_t>(sizeof(word)) << 16;
        uint8_t* place = MakeRoom(rank, sizeof(head) + sizeof(word));
        std::memcpy(place, &head, sizeof(head));
        std::memcpy(place + sizeof(head), &word, sizeof(word));
    }

    /// Sends what has been told and is not under way yet.
    void Flush();

    /// @return packets sent to others
    uint64_t GetPackets() const
    {
        return m_packets;
    }

  private:
    /// What is to be sent to a rank, or was received from it.
    struct Peer
    {
        std::vector<uint8_t> words; //!< told and not sent
        uint32_t sent{0};           //!< packets
        uint32_t taken{0};          //!< packets
        /// Packets that have come before their turn, by number: MPI may hand over two at once.
        std::map<uint32_t, std::vector<uint8_t>> early;
        uint32_t device{0}; //!< of its gateway, for packets from here
    };

    /// @param rank whom to tell @param bytes of a word @return where to write it
    uint8_t* MakeRoom(uint32_t rank, std::size_t bytes);
    /// @param rank whom to send its words to
    void Send(uint32_t rank);
    /// @param packet of another rank
    void Receive(Ptr<Packet> packet);
    /// @param words of a packet
    void TakeWords(const std::vector<uint8_t>& words);

    RankPartition m_partition; //!< who simulates what
    Take m_take;               //!< whom to hand words to
    NodeContainer m_gateways;  //!< one node per rank
    std::vector<Peer> m_peers; //!< by rank
    uint64_t m_packets{0};     //!< sent
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_RANKS_H
