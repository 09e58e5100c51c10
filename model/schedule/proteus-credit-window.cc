/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-credit-window.h"

#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

CreditWindow::CreditWindow(uint64_t limitBytes)
    : m_limitBytes(limitBytes)
{
    if (limitBytes == 0)
    {
        throw std::invalid_argument("a credit of 0 bytes never lets anything start: give at least "
                                    "1 byte, which sends one part at a time");
    }
}

void
CreditWindow::Return(uint64_t bytes)
{
    if (bytes > m_inFlightBytes)
    {
        throw std::logic_error("credit of " + std::to_string(bytes) +
                               " bytes comes back, but only " + std::to_string(m_inFlightBytes) +
                               " bytes are under way");
    }
    m_inFlightBytes -= bytes;
}

uint64_t
CountInFlight(uint64_t limitBytes, uint64_t partBytes)
{
    if (limitBytes == 0 || partBytes == 0)
    {
        throw std::invalid_argument("a credit of " + std::to_string(limitBytes) +
                                    " bytes and parts of " + std::to_string(partBytes) +
                                    " bytes: both must be at least 1");
    }
    return (limitBytes - 1) / partBytes + 1;
}

} // namespace proteus
} // namespace ns3
