/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LOSS_RECOVERY_H
#define PROTEUS_LOSS_RECOVERY_H

#include "proteus-transport-core.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What a sender repeats: everything from the first missing packet on (go-back-N), or the packets
 * that are known or supposed to be missing (selective repeat).
 */
class LossRecovery
{
  public:
    /// @param core of the transport
    explicit LossRecovery(TransportCore& core);

    /// @param id a queue pair @param sequence of the packet that is to be sent next
    void MoveCursor(uint32_t id, uint32_t sequence);

    /// All before a packet has newly been acknowledged. @param id a queue pair
    /// @param sequence of the packet
    void OnProgress(uint32_t id, uint32_t sequence);

    /// A negative acknowledgement has come. @param id a queue pair @param record what has come
    /// @param now present time
    void OnNegative(uint32_t id, const PacketRecord& record, int64_t now);

    /// The retransmission timeout has passed: all that is under way is taken for lost.
    /// @param id a queue pair
    void OnTimeout(uint32_t id);

    /**
     * Takes the next packet that is to be repeated, and has not arrived meanwhile.
     * @param id a queue pair with SenderState::LOST, which is cleared with the last such packet
     * @param sequence set to its number
     * @return whether there was one
     */
    bool TakeLost(uint32_t id, uint32_t& sequence);

  private:
    /// @param id a queue pair @param sequence of a packet that has overtaken others
    /// @param now present time
    void NoteGap(uint32_t id, uint32_t sequence, int64_t now);
    /// @param id a queue pair @param limit packets before it that have not come are lost
    void RepeatBefore(uint32_t id, uint32_t limit);
    /// @param id a queue pair whose timeout has passed: repeats what the window lets it
    void RepeatWindow(uint32_t id);

    TransportCore& m_core; //!< of the transport
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LOSS_RECOVERY_H
