/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-overlap-clock.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3
{
namespace proteus
{

OverlapClock::OverlapClock(FlowClock& clock,
                           FlowNetwork& network,
                           uint32_t devices,
                           double slowdown)
    : m_clock(clock),
      m_network(network),
      m_slowdown(slowdown),
      m_devices(devices)
{
    network.SetListener(this);
}

void
OverlapClock::Schedule(DeviceId device, int64_t delayPs, std::function<void()> callback)
{
    Device& state = m_devices[device];
    Advance(state);
    state.kernels.push_back({m_kernels++, 0, static_cast<double>(delayPs), std::move(callback)});
    Predict(device, state.kernels.back());
    Tell(device);
}

void
OverlapClock::ChangeCommunication(DeviceId device, int delta)
{
    Device& state = m_devices[device];
    Advance(state);
    const bool before = state.communications > 0;
    state.communications += delta;
    if (before != (state.communications > 0))
    {
        for (Kernel& kernel : state.kernels)
        {
            Predict(device, kernel);
        }
    }
}

void
OverlapClock::Advance(Device& device)
{
    const int64_t now = m_clock.GetTimePs();
    const double done = static_cast<double>(now - device.sincePs) /
                        (device.communications > 0 ? 1 + m_slowdown : 1);
    for (Kernel& kernel : device.kernels)
    {
        kernel.leftPs = std::max(0.0, kernel.leftPs - done);
    }
    device.sincePs = now;
}

void
OverlapClock::Predict(DeviceId device, Kernel& kernel)
{
    const double factor = m_devices[device].communications > 0 ? 1 + m_slowdown : 1;
    m_clock.Schedule(device,
                     std::llround(kernel.leftPs * factor),
                     [this, device, id = kernel.id, version = ++kernel.version]() {
                         Finish(device, id, version);
                     });
}

void
OverlapClock::Finish(DeviceId device, uint64_t id, uint32_t version)
{
    Device& state = m_devices[device];
    const auto kernel = std::find_if(state.kernels.begin(),
                                     state.kernels.end(),
                                     [id](const Kernel& other) { return other.id == id; });
    if (kernel == state.kernels.end() || kernel->version != version)
    {
        return; // its pace has changed since
    }
    Advance(state);
    const std::function<void()> callback = std::move(kernel->callback);
    state.kernels.erase(kernel);
    callback(); // which may begin the next kernel, so that the device goes on computing
    Tell(device);
}

void
OverlapClock::Tell(DeviceId device)
{
    Device& state = m_devices[device];
    if (state.computes != !state.kernels.empty())
    {
        state.computes = !state.computes;
        m_network.SetComputing(device, state.computes);
    }
}

} // namespace proteus
} // namespace ns3
