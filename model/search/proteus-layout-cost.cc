/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-layout-cost.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

double
VolumeCost::GetCost(Collective collective, const std::vector<DeviceId>& group, double bytes) const
{
    const auto p = static_cast<double>(group.size());
    switch (collective)
    {
    case Collective::ALL_REDUCE:
        return 2 * bytes * (p - 1) / p;
    case Collective::REDUCE_SCATTER:
    case Collective::ALL_GATHER:
    case Collective::ALL_TO_ALL:
    case Collective::SCATTER:
    case Collective::GATHER:
        return bytes * (p - 1) / p;
    default:
        return bytes;
    }
}

AlphaBetaCost::AlphaBetaCost(uint32_t devicesPerServer,
                             const AlphaBeta& inside,
                             const AlphaBeta& across)
    : m_devicesPerServer(devicesPerServer),
      m_inside(inside),
      m_across(across)
{
    if (devicesPerServer == 0 || !(inside.bytesPerSecond > 0) || !(across.bytesPerSecond > 0))
    {
        throw std::invalid_argument(
            "communication costs: a server needs devices, and a bandwidth must be above 0");
    }
}

double
AlphaBetaCost::GetCost(Collective collective,
                       const std::vector<DeviceId>& group,
                       double bytes) const
{
    const bool isInside = std::all_of(group.begin(), group.end(), [&](DeviceId device) {
        return device / m_devicesPerServer == group[0] / m_devicesPerServer;
    });
    const AlphaBeta& numbers = isInside ? m_inside : m_across;
    const auto p = static_cast<double>(group.size());
    double steps = p - 1;
    if (collective == Collective::ALL_REDUCE)
    {
        steps = 2 * (p - 1);
    }
    else if (collective == Collective::SEND_RECV)
    {
        steps = 1;
    }
    return numbers.latencyS * steps +
           VolumeCost().GetCost(collective, group, bytes) / numbers.bytesPerSecond;
}

namespace
{

/// Transfers between pairs: that of the device that sends most.
double
GetTransferCost(const CommunicationCost& cost,
                const BoxingStep& step,
                const Shape& shape,
                double elementBytes)
{
    std::map<uint32_t, double> sent;                      // by sender
    std::map<uint32_t, std::pair<double, uint32_t>> most; // by sender: of one receiver, and who
    const std::vector<DeviceId>& sources = step.from.mesh->GetDevices();
    const std::vector<DeviceId>& targets = step.to.mesh->GetDevices();
    for (const BoxingTransfer& transfer : GetBoxingTransfers(step, shape))
    {
        if (sources[transfer.from] != targets[transfer.to])
        {
            const auto bytes = static_cast<double>(transfer.elements) * elementBytes;
            sent[transfer.from] += bytes;
            if (bytes > most[transfer.from].first)
            {
                most[transfer.from] = {bytes, transfer.to};
            }
        }
    }
    double worst = 0;
    for (const auto& [sender, bytes] : sent)
    {
        const std::vector<DeviceId> pair{sources[sender], targets[most[sender].second]};
        worst = std::max(worst, cost.GetCost(Collective::SEND_RECV, pair, bytes));
    }
    return worst;
}

} // namespace

double
GetBoxingCost(const CommunicationCost& cost,
              const Layout& from,
              const Layout& to,
              const Shape& shape,
              double elementBytes)
{
    for (const MeshAxis axis : to.partial)
    {
        if (std::count(from.partial.begin(), from.partial.end(), axis) == 0)
        {
            return std::numeric_limits<double>::infinity();
        }
    }
    double sum = 0;
    // An exchange between two devices is an all-to-all of two: each sends one block.
    BoxingOptions options;
    options.allToAllOfTwo = true;
    for (const BoxingStep& step : PlanBoxing(from, to, shape, options))
    {
        if (step.collective == Collective::SEND_RECV)
        {
            sum += GetTransferCost(cost, step, shape, elementBytes);
            continue;
        }
        const BoxingGroup group = GetBoxingGroups(step, shape)[0];
        sum += cost.GetCost(step.collective,
                            group.devices,
                            static_cast<double>(group.elements) * elementBytes);
    }
    return sum;
}

} // namespace proteus
} // namespace ns3
