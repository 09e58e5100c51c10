/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SAMPLE_CLOCK_H
#define PROTEUS_SAMPLE_CLOCK_H

#include "ns3/nstime.h"
#include "ns3/object.h"

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Who looks at a simulation at regular times.
class Sampler
{
  public:
    virtual ~Sampler() = default;

    /// The time has come; or the last time, when nothing else is left to happen.
    virtual void TakeSample() = 0;
};

/**
 * @ingroup proteus
 * Calls samplers at regular times of the simulator. When no other event is pending, it calls all of
 * them once more and forgets them, so that Simulator::Run() returns as it would without them. All
 * samplers of a simulation share one pending event, because two events that only watch would keep
 * each other alive. So would those of several processes, of which each has its own.
 */
class SampleClock
{
  public:
    /**
     * @param sampler to call from now on, first after one interval
     * @param interval between calls, above 0
     * @param owner of the sampler, which is kept alive as long as the sampler is called; null for
     * a sampler that is removed before it ends
     * @throw std::invalid_argument if several processes (MPI ranks) run the simulation
     */
    static void Add(Sampler* sampler, Time interval, Ptr<Object> owner);

    /// Calls all samplers once more, now, and forgets them: for a run that was stopped before
    /// nothing else was left.
    static void Finish();

    /// Forgets all samplers, after an error.
    static void Forget();

    /// @param sampler not to be called any more; one that is not called has no effect
    static void Remove(Sampler* sampler);
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SAMPLE_CLOCK_H
