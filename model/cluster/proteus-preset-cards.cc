/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-gpu-model.h"
#include "proteus-server-preset.h"
#include "proteus-socket-rates.h"

#include "ns3/proteus-nearest-name.h"

#include <cstdint>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double NIC_BYTES_PER_SECOND = 100e9 / 8;

/// What a name of a server of cards says.
struct Cards
{
    uint32_t sockets{1};
    uint32_t perSocket{1};
    std::string gpu; //!< name of a data sheet
};

/// @param name as it was typed @return what it says; no GPU if it is of no such server
Cards
ReadName(const std::string& name)
{
    static const std::regex pattern("(?:([1248])x)?([1-9]|1[0-6])x([A-Za-z].*)");
    std::smatch match;
    Cards cards;
    if (!std::regex_match(name, match, pattern))
    {
        return cards;
    }
    const std::string model = FindAlias(match[3].str(), GetGpuModels());
    if (model.empty() || FindGpuModel(model).isCpu || GetCardGeneration(model) == 0)
    {
        return cards;
    }
    cards.sockets = match[1].matched ? static_cast<uint32_t>(std::stoul(match[1].str())) : 1;
    cards.perSocket = static_cast<uint32_t>(std::stoul(match[2].str()));
    cards.gpu = model;
    return cards;
}

/**
 * GPUs in slots of x16 at the root ports of their CPUs, and a NIC at each CPU. Without peer-to-peer
 * through CPUs, as topologies of NCCL are read that do not say it. CPUs are AMD's.
 * @param cards what there is @copydetails ServerPreset::build
 */
std::vector<VertexId>
Build(const Cards& cards, Cluster& cluster, uint32_t server)
{
    const uint32_t generation = GetCardGeneration(cards.gpu);
    const auto gpus =
        AddServerVertices(cluster, server, MakeGpu(cards.gpu), cards.sockets * cards.perSocket);
    const auto cpus =
        AddServerVertices(cluster, server, MakeCpu(0, false, CpuVendor::AMD), cards.sockets);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, cards.sockets);
    for (uint32_t i = 0; i < gpus.size(); ++i)
    {
        AddPcieLink(cluster, gpus[i], cpus[i / cards.perSocket], generation);
    }
    for (uint32_t i = 0; i < cards.sockets; ++i)
    {
        AddPcieLink(cluster, nics[i], cpus[i], generation);
        for (uint32_t k = 0; k < i; ++k)
        {
            AddDefaultLink(cluster,
                           cpus[k],
                           cpus[i],
                           LinkTechnology::CPU_INTERCONNECT,
                           GetSocketBytesPerSecond(CpuVendor::AMD, generation));
        }
    }
    return nics;
}

} // namespace

uint32_t
GetCardGeneration(const std::string& gpu)
{
    constexpr uint32_t AMPERE = 80;
    constexpr uint32_t HOPPER = 90;
    const GpuModel& model = FindGpuModel(gpu);
    const bool isModule = gpu.find("SXM") != std::string::npos || gpu == "H200" || gpu == "H20" ||
                          gpu.find("GH") == 0 || gpu.find("GB") == 0 || gpu.find('B') == 0;
    return isModule                           ? 0
           : model.computeCapability < AMPERE ? 3
           : model.computeCapability < HOPPER ? 4
                                              : 5;
}

double
GetSocketBytesPerSecond(CpuVendor vendor, uint32_t generation)
{
    if (vendor == CpuVendor::INTEL)
    {
        return generation >= 5 ? SocketRates::SAPPHIRE_RAPIDS : SocketRates::SKYLAKE;
    }
    return vendor == CpuVendor::AMD && generation >= 4 ? SocketRates::ZEN_3 : SocketRates::ZEN_2;
}

std::string
FindCardServer(const std::string& name)
{
    const Cards cards = ReadName(name);
    return cards.gpu.empty()
               ? ""
               : (cards.sockets > 1 ? std::to_string(cards.sockets) + "x" : std::string()) +
                     std::to_string(cards.perSocket) + "x" + cards.gpu;
}

ServerPreset
MakeCardServer(const std::string& name)
{
    const Cards cards = ReadName(name);
    if (cards.gpu.empty())
    {
        throw std::invalid_argument("'" + name +
                                    "' is no server of cards, such as 8xL40S or, on two sockets, "
                                    "2x4xL40S");
    }
    return {FindCardServer(name),
            LinkTechnology::ROCE,
            NIC_BYTES_PER_SECOND,
            [cards](Cluster& cluster, uint32_t server) { return Build(cards, cluster, server); }};
}

} // namespace proteus
} // namespace ns3
