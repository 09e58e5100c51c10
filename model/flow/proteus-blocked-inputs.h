/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_BLOCKED_INPUTS_H
#define PROTEUS_BLOCKED_INPUTS_H

#include "proteus-fair-solution.h"

#include <cstdint>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What flows get that come to a switch behind others which wait there.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Head-of-line blocking of switches with credits (Karol, Hluchyj and Morgan, IEEE Transactions on
 * Communications 35(12), 1987).
 *
 * What waits for a full output stays in the receive buffer of the input that it came by. If it is
 * more than that holds, the input takes in no more than what leaves. As the flows of an input come
 * in turns, those that go elsewhere go no faster than the slowest of those that wait, but for what
 * is so little that the buffer holds all of it; and so on back to the senders. Of messages that are
 * under way half is taken to be left, as they begin and end at any time.
 */
class BlockedInputs
{
  public:
    /// @param table of users and resources; must outlive this object
    explicit BlockedInputs(const SharedTable& table)
        : m_table(table)
    {
    }

    /// @param bytes that the receive buffer of an input holds
    void SetBuffer(double bytes)
    {
        m_bufferBytes = bytes;
    }

    /// A user may have another cap than before.
    struct Cap
    {
        uint32_t user; //!< which one
        double rate;   //!< that none of its flows exceeds; infinite: none
    };

    /**
     * @param solution rates, and what holds them
     * @param users that have other rates or flows than at the last call
     * @param freed resources that users have left who are gone
     * @return caps of all users whose inputs these change, in the order of their numbers, until the
     * next call
     */
    const std::vector<Cap>& Find(const FairSolution& solution,
                                 const std::vector<uint32_t>& users,
                                 const std::vector<uint32_t>& freed);

  private:
    /// @param solution rates, and what holds them @param link an input
    /// @return the rate that no flow of it exceeds
    double FindRate(const FairSolution& solution, uint32_t link);

    const SharedTable& m_table;
    double m_bufferBytes{0};                          //!< of an input
    std::vector<double> m_rates;                      //!< by resource: FindRate(), found last
    std::vector<std::pair<double, double>> m_waiting; //!< at an input: rates and bytes
    uint32_t m_call{0};                               //!< counts calls of Find()
    std::vector<uint32_t> m_linkCalls;                //!< by resource: the last to look at it
    std::vector<uint32_t> m_userCalls;                //!< by user: the last to have it changed
    std::vector<uint32_t> m_changed;                  //!< users that may have another cap
    std::vector<Cap> m_caps;                          //!< result of Find()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_BLOCKED_INPUTS_H
