/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-tuner.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t TREE = static_cast<std::size_t>(NcclAlgorithm::TREE);
constexpr std::size_t RING = static_cast<std::size_t>(NcclAlgorithm::RING);
constexpr std::size_t COLLNET = static_cast<std::size_t>(NcclAlgorithm::COLLNET_DIRECT);
constexpr std::size_t NVLS = static_cast<std::size_t>(NcclAlgorithm::NVLS);
constexpr std::size_t NVLS_TREE = static_cast<std::size_t>(NcclAlgorithm::NVLS_TREE);
constexpr std::size_t SIMPLE = static_cast<std::size_t>(NcclProtocol::SIMPLE);
constexpr std::size_t LL128 = static_cast<std::size_t>(NcclProtocol::LL128);

constexpr PerServers VOLTA_TREE{26.5, 18.5, 10.0}; // 1e9 bytes per second of a channel

constexpr uint32_t OLDEST_MODEL = 206; // the oldest whose numbers are known

/// @return latencies of v2.6.4
NcclLatencies
MakeOldestLatencies()
{
    NcclLatencies latency;
    latency.baseUs = {{{4.4, 4.4, 0}, {3.6, 3.6, 8.4}, {4.4, 4.4, 0}, {}, {}, {}}};
    latency.nvlinkUs = {{{0.5, 1.9, 28}, {0.4, 2.5, 5.7}, {0, 0, 4.0}, {}, {}, {}}};
    latency.pciUs = {{{1.0, 1.9, 28}, {1.0, 2.5, 5.7}, {0, 0, 5.5}, {}, {}, {}}};
    latency.networkUs = {{{5.0, 7.5, 50}, {0.9, 2.5, 6.6}, {0, 0, 10.7}, {}, {}, {}}};
    latency.isAllRemote = true;
    latency.hasPost = false;
    latency.isTreeIfAlone = false;
    latency.plateau = 1;
    latency.readsReported = false;
    latency.addsReported = false;
    return latency;
}

/// @param version of NCCL @param latency of the one before, which becomes that of this, before
/// 2.18
void
UpdateEarlyLatencies(uint32_t version, NcclLatencies& latency)
{
    switch (version)
    {
    case 207:
        latency.baseUs[RING][LL128] = 10;
        latency.nvlinkUs[TREE] = {0.52, 1.2, 28};
        latency.nvlinkUs[RING] = {0.47, 1.9, 3.4};
        latency.networkUs[TREE] = {5.0, 8.5, 50};
        latency.networkUs[RING] = {2.7, 4.0, 9.6};
        latency.remoteLl = 1.8;
        latency.isAllRemote = false;
        latency.plateau = 1.9;
        latency.plateauBytesOfRank = 4096;
        break;
    case 208:
        latency.nvlinkUs[TREE][LL128] = 1.25;
        latency.networkUs[TREE][SIMPLE] = 28;
        break;
    case 210:
        latency.nvlinkUs[COLLNET][SIMPLE] = latency.pciUs[COLLNET][SIMPLE] = 8;
        break;
    case 212:
        latency.networkUs[RING][SIMPLE] = 28;
        latency.closing = 2;
        latency.readsReported = true; // ncclNetProperties_v5_t, src/include/nccl_net.h
        break;
    case 214:
        latency.networkUs[RING][SIMPLE] = 9.6;
        break;
    case 217:
        latency.baseUs[NVLS] = {0, 0, 40};
        latency.plateau = 1.5;
        latency.plateauFrom = 90;
        break;
    default:
        break;
    }
}

/// @param version of NCCL @param latency of the one before, which becomes that of this, from 2.18
/// on
void
UpdateLateLatencies(uint32_t version, NcclLatencies& latency)
{
    switch (version)
    {
    case 218:
        latency.baseUs = {{{6.8, 14, 0}, {6.6, 14, 8.4}, {6.8, 14, 0}, {0, 0, 23}, {0, 0, 23}, {}}};
        latency.nvlinkUs[TREE] = {0.6, 1.25, 4};
        latency.nvlinkUs[RING] = {0.6, 1.9, 3.4};
        latency.pciUs[TREE][SIMPLE] = 6;
        latency.networkUs[TREE][SIMPLE] = latency.networkUs[RING][SIMPLE] = 14;
        latency.networkUs[NVLS][SIMPLE] = 18;
        latency.networkUs[NVLS_TREE][SIMPLE] = 19;
        latency.remoteLl = 1;
        latency.hasPost = true;
        latency.plateau = 1.4;
        latency.plateauFrom = 80;
        latency.plateauBytesOfRank = 0;
        latency.addsReported = true;
        break;
    case 219:
        latency.baseUs[COLLNET] = latency.baseUs[NVLS] = latency.baseUs[NVLS_TREE] = {};
        latency.nvlinkUs[TREE][SIMPLE] = latency.pciUs[TREE][SIMPLE] = 28;
        latency.networkUs[TREE][SIMPLE] = 28;
        latency.nvlinkUs[NVLS][SIMPLE] = latency.nvlinkUs[NVLS_TREE][SIMPLE] = 23;
        latency.networkUs[NVLS_TREE][SIMPLE] = 14;
        latency.nvlinkUs[COLLNET][SIMPLE] = latency.pciUs[COLLNET][SIMPLE] = 3.7;
        latency.networkUs[COLLNET][SIMPLE] = 31;
        break;
    case 222:
        latency.nvlinkUs[NVLS][SIMPLE] = latency.nvlinkUs[NVLS_TREE][SIMPLE] = 25;
        break;
    case 223:
        latency.baseUs[TREE][SIMPLE] = 8.4;
        latency.baseUs[static_cast<std::size_t>(NcclAlgorithm::PAT)] = {8, 8, 8};
        latency.nvlinkUs[TREE][SIMPLE] = latency.pciUs[TREE][SIMPLE] = 4;
        latency.networkUs[TREE][SIMPLE] = 14;
        latency.nvlinkUs[static_cast<std::size_t>(NcclAlgorithm::PAT)][SIMPLE] = 4;
        latency.pciUs[static_cast<std::size_t>(NcclAlgorithm::PAT)][SIMPLE] = 4;
        latency.networkUs[static_cast<std::size_t>(NcclAlgorithm::PAT)][SIMPLE] = 14;
        latency.closing = 0;
        latency.isTreeIfAlone = true;
        break;
    case 229:
        latency.networkUs[NVLS_TREE][SIMPLE] = 20.9;
        break;
    default:
        break;
    }
}

/// @return bandwidths of v2.6.4
NcclBandwidths
MakeOldestBandwidths()
{
    const auto all = [](double rate) {
        PerGeneration rates;
        rates.fill({rate, rate, rate});
        return rates;
    };
    constexpr double NO_LIMIT = 1e9;
    NcclBandwidths bandwidth;
    bandwidth.mostLl = all(NO_LIMIT);
    bandwidth.mostRingLl128 = all(NO_LIMIT);
    bandwidth.mostTreeLl128 = all(NO_LIMIT);
    bandwidth.mostTree = all(NO_LIMIT);
    bandwidth.allRingsLl128 = 100;
    bandwidth.allTrees = {110, 110, 80};
    bandwidth.ll = bandwidth.llCopy = 1.0 / 4;
    bandwidth.tree = 0.9;
    bandwidth.simpleTree = 1;
    bandwidth.treeLl = 1.0 / 3;
    bandwidth.ringLl128 = bandwidth.ll128Alone = 120.0 / 128;
    bandwidth.ll128Across = 7.0 / 9;
    bandwidth.nvlsRatio = 0.75;
    return bandwidth;
}

/// @param version of NCCL @param bandwidth of the one before, which becomes that of this, before
/// 2.18
void
UpdateEarlyBandwidths(uint32_t version, NcclBandwidths& bandwidth)
{
    switch (version)
    {
    case 207: // of a channel the numbers of an all-reduce: 16.7 GB/s for LL128, 7/9 in trees
        bandwidth.mostRingLl128.fill({16.7, 16.7, 16.7});
        bandwidth.mostTreeLl128.fill({16.7 * 7 / 9, 16.7 * 7 / 9, 16.7 * 7 / 9});
        bandwidth.allRingsLl128 = 0;
        bandwidth.ampereBus = 235;
        bandwidth.llCopy = 1.0 / 3;
        bandwidth.treeLl = 1 / 3.8;
        bandwidth.ringLl128 = 0.92;
        bandwidth.ll128Alone = 0.7;
        bandwidth.ll128Across = 0.915;
        break;
    case 208:
        bandwidth.mostLl = {{{39, 39, 20.4}, {87.7, 22.5, 19}, {87.7, 22.5, 19}, {87.7, 22.5, 19}}};
        bandwidth.mostTree = {{VOLTA_TREE, {24, 22.5, 16}, VOLTA_TREE, VOLTA_TREE}};
        bandwidth.mostTreeLl128 = bandwidth.mostRingLl128;
        bandwidth.allTrees = {};
        bandwidth.tree = 0.92;
        break;
    case 210:
        bandwidth.mostRingLl128.fill({20, 20, 20});
        bandwidth.mostTreeLl128.fill({20, 20, 20});
        bandwidth.mostTree[1] = {24, 23.6, 17.8};
        bandwidth.ll128Across = 120.0 / 128;
        break;
    case 217:
        bandwidth.mostRingLl128[2].fill(36.7);
        bandwidth.mostTreeLl128[2].fill(36.7);
        bandwidth.mostTree[2] = {38.7, 41.4, 33};
        break;
    default:
        break;
    }
}

/// @param version of NCCL @param bandwidth of the one before, which becomes that of this, from 2.18
/// on
void
UpdateLateBandwidths(uint32_t version, NcclBandwidths& bandwidth)
{
    switch (version)
    {
    case 218:
        bandwidth.mostTreeLl128[2] = {36.7, 36.7, 29};
        bandwidth.mostTree[2] = {38.7, 41.4, 36};
        bandwidth.ampereBus = 0;
        bandwidth.nvlsRatio = 5.0 / 6;
        break;
    case 221:
        bandwidth.mostLl[2] = {141, 45, 35};
        bandwidth.ll = bandwidth.llCopy = 0.5;
        break;
    case 223:
        bandwidth.ll128Alone = 0.92;
        bandwidth.pat = 0.85;
        break;
    case 224:
        bandwidth.pat = 0.75;
        break;
    case 226: // Blackwell twice Hopper
        bandwidth.simpleTree = 0.85;
        bandwidth.mostLl[3] = {282, 90, 70};
        bandwidth.mostRingLl128[3].fill(2 * 36.7);
        bandwidth.mostTreeLl128[3] = {2 * 36.7, 2 * 36.7, 2 * 29.0};
        bandwidth.mostTree[3] = {2 * 38.7, 2 * 41.4, 2 * 36.0};
        break;
    case 228: // as 2.28.7; 2.28.3 has rings of LL128 as 2.27
        bandwidth.mostRingLl128[3][1] = 34.6;
        bandwidth.mostTreeLl128[3] = {55.6, 31.67, 20};
        bandwidth.mostTree[3] = {70, 42.8, 24};
        bandwidth.mostNvlsTree = {{VOLTA_TREE, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 43.1}}};
        bandwidth.nvlsEfficiency = {0, 0, 0.85, 0.74};
        break;
    case 229: // as 2.29.2 and 2.29.3; 2.29.7 has rings of LL128 as 2.30
        bandwidth.mostRingLl128[3] = {34.5, 34.6, 34.5};
        bandwidth.mostNvlsTree[3][2] = 43.8;
        break;
    case 230:
        bandwidth.mostRingLl128[3].fill(40);
        bandwidth.mostNvlsTree[3][2] = 80;
        break;
    default:
        break;
    }
}

/// What a version did not know it took for the newest that it knew.
/// @param version of NCCL @param bandwidth of it
void
SetUnknownGpus(uint32_t version, NcclBandwidths& bandwidth)
{
    for (PerGeneration* rates : {&bandwidth.mostRingLl128, &bandwidth.mostTreeLl128})
    {
        if (version >= 217 && version < 226)
        {
            (*rates)[3] = (*rates)[2];
        }
    }
    if (version >= 217 && version < 226)
    {
        bandwidth.mostTree[3] = bandwidth.mostTree[2];
        bandwidth.mostLl[3] = bandwidth.mostLl[2];
    }
}

/// ncclTopoTuneModel() names the GPUs that have LL128 by default, until 2.27 takes all: "other
/// cases are not tested". Neither Turing nor GeForce and professional cards of Ampere and Ada are
/// named.
void
SetLl128Gpus(uint32_t version, NcclTuner& tuner)
{
    tuner.ll128Gpus.clear();
    if (version >= 227)
    {
        return;
    }
    tuner.ll128Gpus.push_back(70);
    if (version >= 207)
    {
        tuner.ll128Gpus.push_back(80);
    }
    if (version >= 215)
    {
        tuner.ll128Gpus.push_back(90);
    }
    if (version >= 225)
    {
        tuner.ll128Gpus.insert(tuner.ll128Gpus.end(), {100, 120});
    }
}

/// @param version of NCCL @param tuner of the one before, which becomes that of this
void
UpdateRules(uint32_t version, NcclTuner& tuner)
{
    // v2.6.4, v2.7.8, v2.8.4, and from v2.10.3 on the last.
    if (version == OLDEST_MODEL)
    {
        tuner.treeCorrection = {{{1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7,  .7,  .7,  .6,  .5,
                                  .5,  .5,  .6,  .7,  .8, .9, .9, 1.0, 1.0, 1.0, 1.0, 1.0},
                                 {1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .8,  .7,  .7,
                                  .7,  .6,  .6,  .7,  .7,  .8, .8, .9, .9, 1.0, 1.0, 1.0},
                                 {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6,  .5,
                                  .5, .5, .5, .5, .5, .6, .6, .7, .8, .9, 1.0, 1.0}}};
    }
    if (version == 207)
    {
        tuner.treeCorrection = {{{1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7,  .7,  .7,  .6,  .5,
                                  .4,  .4,  .5,  .6,  .7, .8, .9, 1.0, 1.0, 1.0, 1.0, 1.0},
                                 {1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7,  .6,  .6,
                                  .6,  .5,  .6,  .6,  .7,  .7, .8, .9, .9, 1.0, 1.0, 1.0},
                                 {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6,  .5,
                                  .5, .5, .5, .5, .5, .6, .6, .7, .8, .9, 1.0, 1.0}}};
    }
    if (version == 208)
    {
        tuner.treeCorrection[LL128] = {1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7,  .6,  .6,
                                       .6,  .5,  .6,  .6,  .7,  .7, .8, .9, .9, .92, .92, 1.0};
    }
    if (version == 210)
    {
        tuner.treeCorrection[LL128] = {1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7,  .6,  .6,
                                       .6,  .6,  .6,  .6,  .8,  .9, .9, .9, .9, 1.0, 1.0, 1.0};
        tuner.treeCorrection[SIMPLE] = {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
                                        .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9};
    }
    tuner.hasPxn = version >= 212;
    tuner.hasRelays = version >= 208;
    tuner.hasNvls = version >= 217;
    tuner.hasNvlsTree = version >= 218;
    tuner.hasPat = version >= 223;
    tuner.correctsNvlsTree = version >= 229;
    tuner.hasDirectStores = version < 223; // from then on into registered buffers only
    SetLl128Gpus(version, tuner);
    tuner.hasRelayedLl128 = version >= 218;
    tuner.hasC2cLl128 = version >= 227;
    tuner.leastTrafficBytes = version >= 229   ? uint64_t{32} << 10
                              : version >= 223 ? uint64_t{16} << 10
                              : version >= 222 ? 512
                                               : 0;
    // NCCL_MAX_WORK_ELEMENTS_P2P / 2, later NCCL_MAX_DEV_WORK_P2P_PER_BATCH.
    tuner.messagesOfBlock = version >= 212 ? 8 : 1;
    // NCCL_NCHANNELS_PER_NET_PEER: one, from 2.12 on two, from 2.29 on one for every 14 GB/s.
    tuner.networkChannels = version >= 229 ? 0 : version >= 212 ? 2 : 1;
}

/// @return the tuners of all versions
std::map<uint32_t, NcclTuner>
MakeTuners()
{
    std::map<uint32_t, NcclTuner> tuners;
    NcclTuner tuner;
    tuner.latency = MakeOldestLatencies();
    tuner.bandwidth = MakeOldestBandwidths();
    for (uint32_t version = OLDEST_MODEL; version <= NEWEST_NCCL; ++version)
    {
        UpdateEarlyLatencies(version, tuner.latency);
        UpdateLateLatencies(version, tuner.latency);
        UpdateEarlyBandwidths(version, tuner.bandwidth);
        UpdateLateBandwidths(version, tuner.bandwidth);
        SetUnknownGpus(version, tuner.bandwidth);
        UpdateRules(version, tuner);
        tuners.emplace(version, tuner);
    }
    const NcclTuner& oldest = tuners.at(OLDEST_MODEL);
    tuners.emplace(205, oldest);
    NcclTuner byThresholds = oldest; // LL128 and a model came with 2.5
    byThresholds.hasLl128 = false;
    byThresholds.hasModel = false;
    tuners.emplace(204, byThresholds);
    byThresholds.hasTrees = false;
    tuners.emplace(OLDEST_NCCL, byThresholds);
    return tuners;
}

constexpr uint32_t MAJOR = 100; //!< what a major number counts in a version

/// @param text of a version @param mark that begins a part @param allowed characters of the part
/// @param at where the part may begin; moved behind it @return whether there is none, or one
bool
SkipPart(const std::string& text, char mark, const char* allowed, std::size_t& at)
{
    if (at == text.size() || text[at] != mark)
    {
        return true;
    }
    const std::size_t first = at + 1;
    at = std::min(text.size(), text.find_first_not_of(allowed, first));
    return at > first;
}

/// @param text of a version @param at where its minor number ends @return whether what follows is
/// nothing, or a patch with what releases and logs put behind it: 2.18.3-1, 2.18.3+cuda12.2
bool
IsEndOfVersion(const std::string& text, std::size_t at)
{
    constexpr const char* DIGITS = "0123456789";
    const bool hasPatch = at < text.size() && text[at] == '.';
    return SkipPart(text, '.', DIGITS, at) && (!hasPatch || SkipPart(text, '-', DIGITS, at)) &&
           SkipPart(text, '+', "0123456789.abcdefghijklmnopqrstuvwxyz", at) && at == text.size();
}

} // namespace

std::string
FormatNcclVersion(uint32_t version)
{
    return std::to_string(version / MAJOR) + "." + std::to_string(version % MAJOR);
}

uint32_t
ParseNcclVersion(const std::string& text)
{
    if (text.empty())
    {
        return 0;
    }
    constexpr uint32_t CODE_MAJOR = 10000; // of NCCL_VERSION_CODE from 2.9 on
    uint32_t version = 0;
    const std::size_t major = text.find_first_not_of("0123456789");
    const std::size_t dot = text.find('.');
    constexpr std::size_t MOST_DIGITS = 6;
    constexpr uint32_t LAST = 999; // 28.3 lacks its 2
    if (major == std::string::npos && text.size() <= MOST_DIGITS)
    {
        const auto code = static_cast<uint32_t>(std::stoul(text));
        // NCCL_VERSION_CODE: 22703 is 2.27.3; before 2.9, 2708 is 2.7.8.
        version = code >= CODE_MAJOR ? code / CODE_MAJOR * MAJOR + code % CODE_MAJOR / 100
                  : code >= 1000     ? code / 1000 * MAJOR + code % 1000 / 100
                                     : code;
    }
    else if (major == dot && dot > 0 && dot < 3)
    {
        const std::size_t end =
            std::min(text.size(), text.find_first_not_of("0123456789", dot + 1));
        const std::string minor = text.substr(dot + 1, end - dot - 1);
        if (!minor.empty() && minor.size() < 3 && IsEndOfVersion(text, end))
        {
            version =
                static_cast<uint32_t>(std::stoul(text.substr(0, dot)) * MAJOR + std::stoul(minor));
        }
    }
    if (version < OLDEST_NCCL || version > LAST)
    {
        throw std::invalid_argument("version of NCCL \"" + text +
                                    "\": must be like 2.18 or 2.18.3, 2.0 to " +
                                    FormatNcclVersion(LAST));
    }
    return version;
}

const NcclTuner&
GetNcclTuner(uint32_t version)
{
    static const std::map<uint32_t, NcclTuner> tuners = MakeTuners();
    const auto above = tuners.upper_bound(std::max(version, OLDEST_NCCL));
    return std::prev(above)->second;
}

} // namespace proteus
} // namespace ns3
