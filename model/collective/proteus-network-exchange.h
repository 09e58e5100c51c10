/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NETWORK_EXCHANGE_H
#define PROTEUS_NETWORK_EXCHANGE_H

#include "proteus-connection.h"
#include "proteus-program.h"

/**
 * @file
 * @ingroup proteus
 * What a message by itself shares a network with.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Notes a connection of a program. A message by itself is taken for part of an exchange, as
 * BlockShares does: as much goes the other way, between the same two.
 * @param program of the connection
 * @param connection which one
 * @param shares of the program
 */
void AddConnection(const CollectiveProgram& program,
                   const Connection& connection,
                   NetworkShares& shares);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NETWORK_EXCHANGE_H
