/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-tuner-patterns.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

NcclPath
ToNccl(PathType type)
{
    switch (type)
    {
    case PathType::NVL:
        return NcclPath::NVL;
    case PathType::NVB:
        return NcclPath::NVB;
    case PathType::PIX:
        return NcclPath::PIX;
    case PathType::PXB:
        return NcclPath::PXB;
    case PathType::P2C:
        return NcclPath::P2C;
    case PathType::PXN:
        return NcclPath::PXN;
    case PathType::PHB:
        return NcclPath::PHB;
    case PathType::SYS:
        return NcclPath::SYS;
    }
    return NcclPath::DIS;
}

} // namespace

NcclPattern
ToNccl(const ChannelPattern& pattern)
{
    NcclPattern result;
    result.channels = pattern.channels;
    result.intraGBps = pattern.intraGBps;
    result.interGBps = pattern.interGBps;
    result.typeIntra = ToNccl(pattern.typeIntra);
    result.typeInter = ToNccl(pattern.typeInter);
    result.sameChannels = pattern.sameChannels;
    return result;
}

uint32_t
CountSwitchChannels(const ChannelSearch& search, const NcclSystem& system)
{
    constexpr uint32_t MOST_CHANNELS = 64; // MAXCHANNELS of NCCL
    constexpr uint32_t HOPPER = 90;
    constexpr uint32_t FEW = 16;
    constexpr double FAST_GBPS = 45;
    uint32_t channels = std::min(2 * search.ring.channels, MOST_CHANNELS);
    if (search.tree.intraGBps > search.tree.interGBps && system.ranks > system.servers)
    {
        channels = std::min(channels + channels / 2, MOST_CHANNELS);
    }
    const bool isFast = system.computeCapability >= HOPPER && search.ring.intraGBps > FAST_GBPS;
    return isFast && system.servers > 1 && channels < FEW ? 2 * channels : channels;
}

} // namespace proteus
} // namespace ns3
