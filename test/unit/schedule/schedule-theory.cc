/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedule-theory.h"

#include "ns3/proteus-credit-window.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// Sums over all layers.
LayerTimes
Add(const std::vector<LayerTimes>& layers)
{
    LayerTimes sum;
    for (const LayerTimes& layer : layers)
    {
        sum.backwardS += layer.backwardS;
        sum.forwardS += layer.forwardS;
        sum.transferS += layer.transferS;
    }
    return sum;
}

/// @param isForwardSplit whether forward passes before layer j run while others transfer
double
GetLongestPathS(const std::vector<LayerTimes>& layers, bool isForwardSplit)
{
    LayerTimes left = Add(layers);
    const double forwardS = left.forwardS;
    double transferS = 0;
    double longestS = 0;
    for (const LayerTimes& layer : layers)
    {
        transferS += layer.transferS;
        longestS =
            std::max(longestS,
                     left.backwardS + transferS + (isForwardSplit ? left.forwardS : forwardS));
        left.backwardS -= layer.backwardS;
        left.forwardS -= layer.forwardS;
    }
    return longestS;
}

} // namespace

double
GetLeastIterationS(const std::vector<LayerTimes>& layers)
{
    return GetLongestPathS(layers, true);
}

double
GetArrivalOrderS(const std::vector<LayerTimes>& layers)
{
    return GetLongestPathS(layers, false);
}

double
GetUnoverlappedS(const std::vector<LayerTimes>& layers, bool isParameterServer)
{
    const LayerTimes sum = Add(layers);
    return sum.backwardS + (isParameterServer ? 2 : 1) * sum.transferS + sum.forwardS;
}

double
GetPartitionedBoundS(const std::vector<LayerTimes>& layers,
                     double partS,
                     double overheadS,
                     bool isParameterServer)
{
    std::vector<LayerTimes> longer = layers;
    for (LayerTimes& layer : longer)
    {
        layer.transferS += std::ceil(layer.transferS / partS) * overheadS;
    }
    return GetLeastIterationS(longer) + (isParameterServer ? 2 : 1) * (partS + overheadS);
}

double
GetPushPullS(double bytes, double bytesPerSecond, double overheadS, uint64_t parts)
{
    const auto n = static_cast<double>(parts);
    return (n + 1) * (bytes / (n * bytesPerSecond) + overheadS);
}

double
GetBestPartBytes(double bytes, double bytesPerSecond, double overheadS)
{
    return std::sqrt(bytes * overheadS * bytesPerSecond);
}

double
GetBestPushPullS(double bytes, double bytesPerSecond, double overheadS)
{
    return bytes / bytesPerSecond + overheadS + 2 * std::sqrt(bytes * overheadS / bytesPerSecond);
}

double
GetCreditThroughput(uint64_t creditBytes,
                    uint64_t partBytes,
                    double bytesPerSecond,
                    double returnDelayS)
{
    const auto part = static_cast<double>(partBytes);
    const auto inFlight = static_cast<double>(CountInFlight(creditBytes, partBytes)) * part;
    return std::min(bytesPerSecond, inFlight / (part / bytesPerSecond + returnDelayS));
}

double
GetMostBlockingS(uint64_t creditBytes, uint64_t partBytes, double bytesPerSecond)
{
    return (static_cast<double>(creditBytes) + static_cast<double>(partBytes)) / bytesPerSecond;
}

double
GetRingAllReduceS(double bytes, uint32_t ranks, double bytesPerSecond)
{
    return 2.0 * (ranks - 1) / ranks * bytes / bytesPerSecond;
}

double
GetParameterServerS(double bytes,
                    uint32_t workers,
                    uint32_t servers,
                    ServerPlace place,
                    double bytesPerSecond)
{
    if (workers == 0 || servers == 0 || (place == ServerPlace::WORKER_HOSTS && servers > workers))
    {
        throw std::invalid_argument(std::to_string(servers) + " parameter servers and " +
                                    std::to_string(workers) +
                                    " hosts with workers: both must be at least 1, and servers on "
                                    "the workers' hosts no more than these");
    }
    const double share = 1.0 / servers;
    // In shares of the gradients of a worker, and in one direction; the other one is the same.
    double busiest = std::max(1.0, workers * share);
    if (place == ServerPlace::WORKER_HOSTS)
    {
        const double withServer = (1 - share) + (workers - 1) * share;
        busiest = servers < workers ? std::max(1.0, withServer) : withServer;
    }
    return busiest * bytes / bytesPerSecond;
}

} // namespace proteus
} // namespace ns3
