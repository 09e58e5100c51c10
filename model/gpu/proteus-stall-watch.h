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
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Ends a run in which ports wait for each other in a circle. It looks for a circle now and then,
 * and throws if the next look finds the same ports and none of them has sent anything in between.
 * While the fabric does nothing it looks less and less often, up to LONGEST_WAIT times the
 * interval. It keeps no run alive that has nothing else to do.
 */
class StallWatch : private Sampler
{
  public:
    /**
     * Begins to watch.
     * @param fabric to watch
     * @param interval simulated time between two looks at a fabric that is busy; 0: none at all
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
     * @param interval simulated time between two looks at a fabric that is busy; 0: none at all
     * @return whether Simulator::Stop() ended it while there was something left to happen
     * @throw std::runtime_error for what ends the run, with the circle of ports if there is one
     */
    static bool Run(Ptr<Fabric> fabric, Time interval);

    /**
     * Ends Run() at the fabric's present time, but lets samplers look once more, see
     * SampleClock::Finish().
     * @param fabric that runs
     */
    static void StopAtPresent(Ptr<Fabric> fabric);

  private:
    /// Intervals between two looks at a fabric that does nothing, at most.
    static constexpr int64_t LONGEST_WAIT = 1000;

    /// Looks. @throw std::runtime_error that names the ports
    void TakeSample() override;

    /// @param intervals until the next look
    void Wait(int64_t intervals);

    Ptr<Fabric> m_fabric;            //!< what is watched
    Time m_interval;                 //!< between two looks at a busy fabric
    int64_t m_wait{1};               //!< intervals between looks at present
    uint64_t m_events{0};            //!< of the fabric until the last look
    std::vector<PortId> m_ports;     //!< circle found last
    std::vector<uint64_t> m_packets; //!< sent by them until then
};

/// @ingroup proteus
/// @param done of all @param all that there are @param what they have done, e.g. "tasks have ended"
/// @return what to say of a run that Simulator::Stop() ended at the present time
std::string DescribeCut(uint64_t done, uint64_t all, const std::string& what);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STALL_WATCH_H
