/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_WINDOW_NUMBER_H
#define PROTEUS_WINDOW_NUMBER_H

#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * What the number of a credit window says, see CommunicationRank::window.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A bit of the number: whatever the credit is, one communication is under way at a time, as on a
/// copy engine. Policies without a credit take no notice.
constexpr uint32_t ONE_AT_A_TIME = 1u << 30;

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_WINDOW_NUMBER_H
