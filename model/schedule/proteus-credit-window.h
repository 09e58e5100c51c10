/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CREDIT_WINDOW_H
#define PROTEUS_CREDIT_WINDOW_H

#include <cstdint>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * ByteScheduler's credit: how many bytes may be under way before one that is more urgent can no
 * longer overtake them (Peng et al., SOSP'19, section 4.2).
 *
 * A part starts as long as any credit is left, however little, and takes its whole size. So up to a
 * part less one byte more than the window may be under way, and one part always gets through; see
 * CountInFlight(). A part that is done gives back what it took.
 */
class CreditWindow
{
  public:
    /// A limit that never holds anything back.
    static constexpr uint64_t UNLIMITED = UINT64_MAX;

    /// @param limitBytes size of the window, at least 1
    /// @throw std::invalid_argument if it is 0
    explicit CreditWindow(uint64_t limitBytes);

    /// @return whether a part may start
    bool IsOpen() const
    {
        return m_inFlightBytes < m_limitBytes;
    }

    /// @param bytes of a part that starts
    void Take(uint64_t bytes)
    {
        m_inFlightBytes += bytes;
    }

    /// @param bytes of a part that is done
    /// @throw std::logic_error if less is under way
    void Return(uint64_t bytes);

    /// @return bytes of the parts that are under way
    uint64_t GetInFlightBytes() const
    {
        return m_inFlightBytes;
    }

  private:
    uint64_t m_limitBytes;       //!< size of the window
    uint64_t m_inFlightBytes{0}; //!< parts that have started and are not done
};

/**
 * @ingroup proteus
 * Parts of one size that are under way at once when enough of them wait:
 * floor((limit - 1) / part) + 1.
 * @param limitBytes size of the window, at least 1
 * @param partBytes size of every part, at least 1
 * @return their number
 * @throw std::invalid_argument if a size is 0
 */
uint64_t CountInFlight(uint64_t limitBytes, uint64_t partBytes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CREDIT_WINDOW_H
