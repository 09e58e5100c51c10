/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STALL_WATCH_H
#define PROTEUS_STALL_WATCH_H

#include "ns3/nstime.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-sample-clock.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Ends a run in which ports wait for each other in a circle. It looks for a circle now and then,
 * and throws if the next look finds the same ports and none of them has sent anything in between.
 * It keeps no run alive that has nothing else to do.
 */
class StallWatch : private Sampler
{
  public:
    /**
     * Begins to watch.
     * @param fabric to watch
     * @param interval simulated time between two looks; 0: none at all
     */
    StallWatch(Ptr<Fabric> fabric, Time interval);

    /// Stops.
    ~StallWatch() override;

    StallWatch(const StallWatch&) = delete;
    StallWatch& operator=(const StallWatch&) = delete;

    /// Stops.
    void Stop();

    /**
     * Runs the simulator under watch.
     * @param fabric to watch
     * @param interval simulated time between two looks; 0: none at all
     * @throw std::runtime_error for what ends the run, with the circle of ports if there is one
     */
    static void Run(Ptr<Fabric> fabric, Time interval);

    /**
     * Ends Run() at the fabric's present time, but lets samplers look once more, see
     * SampleClock::Finish().
     * @param fabric that runs
     */
    static void StopAtPresent(Ptr<Fabric> fabric);

  private:
    /// Looks. @throw std::runtime_error that names the ports
    void TakeSample() override;

    Ptr<Fabric> m_fabric;            //!< what is watched
    std::vector<PortId> m_ports;     //!< circle found last
    std::vector<uint64_t> m_packets; //!< sent by them until then
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STALL_WATCH_H
