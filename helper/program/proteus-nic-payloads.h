/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NIC_PAYLOADS_H
#define PROTEUS_NIC_PAYLOADS_H

#include "ns3/proteus-cluster.h"

#include <map>
#include <string>

/**
 * @file
 * @ingroup proteus
 * What NICs of one rate carry by InfiniBand and by Ethernet.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the NICs of some clusters can carry. NicFraming() calibrates those of InfiniBand only,
/// which makes a difference between clusters that is not the network's.
class NicPayloads
{
  public:
    /// @param cluster whose NICs count from now on
    void Add(const Cluster& cluster);

    /// @return a sentence, if NICs of one rate carry a hundredth less by InfiniBand than by
    /// Ethernet, which has longer headers; else empty
    std::string Describe() const;

  private:
    using Rates = std::map<LinkTechnology, double>; //!< bytes of payload per second, of full units

    std::map<double, Rates> m_rates; //!< by bytes per second on the wire
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NIC_PAYLOADS_H
