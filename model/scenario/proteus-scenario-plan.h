/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCENARIO_PLAN_H
#define PROTEUS_SCENARIO_PLAN_H

#include "proteus-traffic-source.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * A scenario as executors get it: names are vertices and links of the cluster, times are
 * picoseconds.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// "Until the end of the run", picoseconds.
constexpr int64_t SCENARIO_END_PS = std::numeric_limits<int64_t>::max();

/// @ingroup proteus
/// What happens to a link at a time.
struct LinkChange
{
    /// What.
    enum class Kind : uint8_t
    {
        DOWN,        //!< it fails
        UP,          //!< it is repaired
        RATE,        //!< its rate is another
        LOSS,        //!< it loses units with other probabilities
        STORM_BEGIN, //!< one end repeats PFC pauses
        STORM_END,   //!< it stops
    };

    int64_t timePs{0};         //!< when
    Kind kind{Kind::DOWN};     //!< what
    LinkId link{0};            //!< to which link
    double bytesPerSecond{0};  //!< RATE: from then on
    double lossProbability{0}; //!< LOSS: of a unit, from then on
    double bitErrorRate{0};    //!< LOSS: of a bit, from then on
    bool isFromA{false};       //!< STORM: whether the port that is paused is that of Link::a
};

/// @ingroup proteus
/// Compute tasks of a device take longer for a while.
struct SlowDevice
{
    DeviceId device{0};               //!< which one
    int64_t fromPs{0};                //!< tasks that begin from then on
    int64_t untilPs{SCENARIO_END_PS}; //!< and before then
    double factor{1};                 //!< times as long
    int64_t leastPs{0};               //!< and so long at least: the pace of the host
};

/// @ingroup proteus
/// A scenario for executors.
struct ScenarioPlan
{
    std::vector<LinkChange> changes;     //!< in order of time, then of the file
    std::vector<SlowDevice> slow;        //!< in order of the file
    std::vector<TrafficPattern> traffic; //!< sources of messages

    /// @return names of the parts that it has, of "link failures", "link rates", "link losses",
    /// "PFC storms", "background traffic" and "slow devices"
    std::vector<std::string> ListParts() const;

    /**
     * @param device a device
     * @param startPs when a compute task begins there
     * @param durationPs how long it would take
     * @return how long it takes; of several things that slow it down the factors multiply, and the
     * largest least time counts
     */
    int64_t Stretch(DeviceId device, int64_t startPs, int64_t durationPs) const;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCENARIO_PLAN_H
