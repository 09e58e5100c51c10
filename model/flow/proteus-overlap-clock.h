/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OVERLAP_CLOCK_H
#define PROTEUS_OVERLAP_CLOCK_H

#include "proteus-flow-clock.h"
#include "proteus-flow-network.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A clock that makes computation and communication of a device slow each other by fixed factors.
 * (GpuSharing is the mechanism behind that; this takes its place where the factors are given.) What
 * a device schedules here is computation; while the device communicates, it goes on at 1 / (1 +
 * FlowParameters::computeSlowdown) of its pace. The network is told when devices compute, and slows
 * their collectives by FlowParameters::communicationSlowdown. Both last as long as the overlap,
 * while the published Proteus slows the whole of a task that overlaps anywhere.
 */
class OverlapClock : public Clock, public FlowListener
{
  public:
    /**
     * @param clock of the run; must outlive this object
     * @param network of the run, whose listener this becomes; must outlive this object
     * @param devices number of them
     * @param slowdown part by which computation takes longer, 0 or more
     */
    OverlapClock(FlowClock& clock, FlowNetwork& network, uint32_t devices, double slowdown);

    // Inherited from Clock
    int64_t GetTimePs() const override
    {
        return m_clock.GetTimePs();
    }

    /**
     * @param device that computes
     * @param delayPs that it takes alone, picoseconds
     * @param callback what to call when it is done
     */
    void Schedule(DeviceId device, int64_t delayPs, std::function<void()> callback) override;

    // Inherited from FlowListener
    void ChangeCommunication(DeviceId device, int delta) override;

  private:
    /// A kernel that runs.
    struct Kernel
    {
        uint64_t id{0};      //!< counts them
        uint32_t version{0}; //!< counts predictions of its end; an older one is void
        double leftPs{0};    //!< that it takes alone
        std::function<void()> callback;
    };

    /// What a device does.
    struct Device
    {
        std::vector<Kernel> kernels; //!< one for each stream at most
        uint32_t communications{0};  //!< under way
        int64_t sincePs{0};          //!< when leftPs of the kernels was right
        bool computes{false};        //!< as the network knows it
    };

    /// @param device whose kernels get on until now
    void Advance(Device& device);
    /// @param device of a kernel @param kernel whose end is predicted anew
    void Predict(DeviceId device, Kernel& kernel);
    /// @param device of a kernel @param id of it @param version of the prediction that it ends now
    void Finish(DeviceId device, uint64_t id, uint32_t version);
    /// Tells the network whether a device computes. @param device which one
    void Tell(DeviceId device);

    FlowClock& m_clock;
    FlowNetwork& m_network;
    const double m_slowdown;
    std::vector<Device> m_devices;
    uint64_t m_kernels{0}; //!< so far
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OVERLAP_CLOCK_H
