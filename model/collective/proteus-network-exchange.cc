/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-network-exchange.h"

#include "proteus-algorithm-traits.h"

#include <utility>

namespace ns3
{
namespace proteus
{

void
AddConnection(const CollectiveProgram& program, const Connection& connection, NetworkShares& shares)
{
    shares.Add(connection);
    const bool isMessage = GetAlgorithmTraits(program.algorithm).isLaunchedByPeer &&
                           !program.sharesWarps && program.ranks.size() == 2;
    if (isMessage)
    {
        Connection back = connection;
        std::swap(back.source, back.destination);
        back.writingNic = connection.readingNic;
        back.readingNic = connection.writingNic;
        shares.Add(back);
    }
}

} // namespace proteus
} // namespace ns3
