/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LAYOUT_COST_H
#define PROTEUS_LAYOUT_COST_H

#include "ns3/proteus-boxing.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a communication costs in a search.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Prices communications. The unit is the implementation's: bytes or seconds.
class CommunicationCost
{
  public:
    virtual ~CommunicationCost() = default;

    /**
     * @param collective what is computed
     * @param group devices of one group, in rank order; groups that lie like it, side by side, do
     * the same at the same time
     * @param bytes of the buffer, as Collective counts
     * @return the cost
     */
    virtual double GetCost(Collective collective,
                           const std::vector<DeviceId>& group,
                           double bytes) const = 0;
};

/**
 * @ingroup proteus
 * Bytes that a device sends, with algorithms that send least: of a buffer of L on p devices, 2 L (p
 * - 1) / p for an all-reduce, L (p - 1) / p for reduce-scatter, all-gather, all-to-all, scatter and
 * gather, L for everything else.
 */
class VolumeCost : public CommunicationCost
{
  public:
    // Inherited from CommunicationCost
    double GetCost(Collective collective,
                   const std::vector<DeviceId>& group,
                   double bytes) const override;
};

/// @ingroup proteus
/// A latency and a bandwidth.
struct AlphaBeta
{
    double latencyS{0};       //!< of a step, seconds
    double bytesPerSecond{1}; //!< that a device sends
};

/**
 * @ingroup proteus
 * Seconds = latency x steps + bytes / bandwidth, the bytes those of VolumeCost. Steps are those of
 * a ring: 2 (p - 1) for an all-reduce, p - 1 for the others, 1 for a transfer. A group inside a
 * server has other numbers than one that spans several.
 */
class AlphaBetaCost : public CommunicationCost
{
  public:
    /**
     * @param devicesPerServer device i is in server i / devicesPerServer
     * @param inside a server
     * @param across servers
     * @throw std::invalid_argument if a server has no device or a bandwidth is not above 0
     */
    AlphaBetaCost(uint32_t devicesPerServer, const AlphaBeta& inside, const AlphaBeta& across);

    // Inherited from CommunicationCost
    double GetCost(Collective collective,
                   const std::vector<DeviceId>& group,
                   double bytes) const override;

  private:
    uint32_t m_devicesPerServer;
    AlphaBeta m_inside;
    AlphaBeta m_across;
};

/**
 * @ingroup proteus
 * The cost of bringing a tensor from one layout to another: of the steps of PlanBoxing(), one after
 * the other.
 * @param cost of a communication
 * @param from layout that there is
 * @param to layout that is asked for; infinite cost where it has partial sums that `from` lacks
 * @param shape of the tensor
 * @param elementBytes of the tensor
 * @return the cost
 */
double GetBoxingCost(const CommunicationCost& cost,
                     const Layout& from,
                     const Layout& to,
                     const Shape& shape,
                     double elementBytes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LAYOUT_COST_H
