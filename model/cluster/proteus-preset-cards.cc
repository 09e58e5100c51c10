/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-gpu-model.h"
#include "proteus-server-preset.h"
#include "proteus-socket-rates.h"

#include "ns3/proteus-nearest-name.h"

#include <algorithm>
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
constexpr uint32_t MOST_NICS_OF_A_CARD = 4;

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

/// What of a layout its server has not got equal shares of, or its card no bridge for.
/// @param cards what there is @param layout to check @throw std::invalid_argument
void
CheckLayout(const Cards& cards, const CardLayout& layout)
{
    const uint32_t gpus = cards.sockets * cards.perSocket;
    if (layout.switches > 0 &&
        (layout.switches % cards.sockets != 0 || gpus % layout.switches != 0))
    {
        throw std::invalid_argument(
            "switches=" + std::to_string(layout.switches) +
            ": all CPUs, and all switches, have the same share of cards: " + std::to_string(gpus) +
            " at " + std::to_string(cards.sockets) + " take a multiple of " +
            std::to_string(cards.sockets) + " that divides " + std::to_string(gpus));
    }
    if (layout.nics > gpus * MOST_NICS_OF_A_CARD)
    {
        throw std::invalid_argument(std::to_string(layout.nics) + " NICs are more than " +
                                    std::to_string(MOST_NICS_OF_A_CARD) + " for each of " +
                                    std::to_string(gpus) + " cards");
    }
    if (layout.bridged == 1)
    {
        return;
    }
    const GpuModel& model = FindGpuModel(cards.gpu);
    const std::string bridges = "bridges=" + std::to_string(layout.bridged) + ": ";
    if (model.bridgedNvlinks == 0)
    {
        throw std::invalid_argument(bridges + "there is no bridge of NVLink for " + cards.gpu);
    }
    if (layout.bridged != 2 && layout.bridged != model.mostBridged)
    {
        throw std::invalid_argument(bridges + "bridges of NVLink join " +
                                    (model.mostBridged == 2 ? "2" : "2 or 4") + " " + cards.gpu);
    }
    if (gpus % layout.bridged != 0)
    {
        throw std::invalid_argument(bridges + std::to_string(gpus) +
                                    " cards are no whole number of such groups");
    }
}

/**
 * GPUs in slots of x16 at the root ports of their CPUs, or of PCIe switches there, and NICs beside
 * them. Without peer-to-peer through CPUs, as topologies of NCCL are read that do not say it. CPUs
 * are AMD's.
 * @param cards what there is @param layout what else @copydetails ServerPreset::build
 */
std::vector<VertexId>
Build(const Cards& cards, const CardLayout& layout, Cluster& cluster, uint32_t server)
{
    const uint32_t generation = GetCardGeneration(cards.gpu);
    const auto gpus =
        AddServerVertices(cluster, server, MakeGpu(cards.gpu), cards.sockets * cards.perSocket);
    const auto switches =
        AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, layout.switches);
    const auto cpus =
        AddServerVertices(cluster, server, MakeCpu(0, false, CpuVendor::AMD), cards.sockets);
    const auto nics =
        AddServerVertices(cluster, server, VertexKind::NIC, std::max(layout.nics, cards.sockets));
    const auto& places = switches.empty() ? cpus : switches;
    for (const auto* const devices : {&gpus, &nics})
    {
        for (std::size_t i = 0; i < devices->size(); ++i)
        {
            AddPcieLink(cluster,
                        devices->at(i),
                        places[i * places.size() / devices->size()],
                        generation);
        }
    }
    for (std::size_t i = 0; i < switches.size(); ++i)
    {
        AddPcieLink(cluster, switches[i], cpus[i * cpus.size() / switches.size()], generation);
    }
    for (uint32_t i = 0; i < cards.sockets; ++i)
    {
        for (uint32_t k = 0; k < i; ++k)
        {
            AddDefaultLink(cluster,
                           cpus[k],
                           cpus[i],
                           LinkTechnology::CPU_INTERCONNECT,
                           GetSocketBytesPerSecond(CpuVendor::AMD, generation));
        }
    }
    const GpuModel& model = FindGpuModel(cards.gpu);
    for (uint32_t i = 0; i < gpus.size(); ++i)
    {
        for (uint32_t k = i - i % layout.bridged; k < i; ++k)
        {
            const uint32_t links = model.bridgedNvlinks / (layout.bridged - 1);
            AddDefaultLink(cluster,
                           gpus[k],
                           gpus[i],
                           LinkTechnology::NVLINK,
                           links * model.nvlinkBytesPerSecond,
                           model.nvlinkGeneration);
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
MakeCardServer(const std::string& name, const CardLayout& layout)
{
    const Cards cards = ReadName(name);
    if (cards.gpu.empty())
    {
        throw std::invalid_argument("'" + name +
                                    "' is no server of cards, such as 8xL40S or, on two sockets, "
                                    "2x4xL40S");
    }
    CheckLayout(cards, layout);
    return {FindCardServer(name),
            LinkTechnology::ROCE,
            NIC_BYTES_PER_SECOND,
            [cards, layout](Cluster& cluster, uint32_t server) {
                return Build(cards, layout, cluster, server);
            }};
}

} // namespace proteus
} // namespace ns3
