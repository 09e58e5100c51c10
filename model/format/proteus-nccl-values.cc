/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-values.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-socket-rates.h"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <cmath>
#include <set>

namespace ns3
{
namespace proteus
{

double
CountNvlinks(uint32_t generation)
{
    return generation <= 2 ? 6 : generation == 3 ? 12 : 18;
}

std::string
GetLower(const XmlElement& element, const std::string& attribute)
{
    const std::string* text = element.Find(attribute);
    return boost::algorithm::to_lower_copy(text == nullptr ? "" : *text);
}

uint64_t
NcclValues::GetWhole(const XmlElement& element,
                     const std::string& attribute,
                     uint64_t standard,
                     uint64_t most) const
{
    const std::string* text = element.Find(attribute);
    if (text == nullptr || text->empty())
    {
        return standard;
    }
    const bool isNumber = text->size() <= 18 && std::all_of(text->begin(), text->end(), [](char c) {
                              return c >= '0' && c <= '9';
                          });
    const uint64_t value = isNumber ? std::stoull(*text) : 0;
    if (!isNumber || value > most)
    {
        m_document.Fail(element,
                        attribute + " must be a whole number from 0 to " + std::to_string(most) +
                            ", not " + QuotedText(*text));
    }
    return value;
}

PcieSpeed
NcclValues::GetPcieSpeed(const XmlElement& pci) const
{
    struct Known
    {
        const char* speed; // GT/s
        double laneBytesPerSecond;
        uint32_t generation; // of the framing
    };

    // Codes: 8b/10b, from 8 GT/s on 128b/130b, at 64 GT/s flits of 242 bytes in 256.
    static const Known known[] = {
        {"2.5", 2.5e9 / 10, 3},
        {"5", 5e9 / 10, 3},
        {"5.0", 5e9 / 10, 3},
        {"8", 8e9 / 8 * 128 / 130, 3},
        {"8.0", 8e9 / 8 * 128 / 130, 3},
        {"16", 16e9 / 8 * 128 / 130, 4},
        {"16.0", 16e9 / 8 * 128 / 130, 4},
        {"32", 32e9 / 8 * 128 / 130, 5},
        {"32.0", 32e9 / 8 * 128 / 130, 5},
        {"64", 64e9 / 8 * 242 / 256, 5},
        {"64.0", 64e9 / 8 * 242 / 256, 5},
    };
    const uint64_t width = GetWhole(pci, "link_width", 0, 32);
    const std::set<uint64_t> widths{0, 1, 2, 4, 8, 12, 16, 32}; // PCI Express Base Specification
    if (widths.count(width) == 0)
    {
        m_document.Fail(pci,
                        "link_width must be 1, 2, 4, 8, 12, 16 or 32 lanes, or 0 for 16, not " +
                            std::to_string(width));
    }
    const auto lanes = static_cast<double>(width == 0 ? 16 : width);
    const std::string* text = pci.Find("link_speed");
    const std::string speed = text == nullptr || text->empty() ? "8 GT/s" : *text;
    const std::string number = speed.substr(0, speed.find(' '));
    const std::string unit = speed.substr(number.size());
    for (const Known& entry : known)
    {
        if (number == entry.speed && (unit == " GT/s" || unit == " GT/s PCIe"))
        {
            return {std::round(lanes * entry.laneBytesPerSecond), entry.generation};
        }
    }
    // NCCL takes what it does not know ("Unknown speed") for 8 GT/s.
    if (speed.compare(0, 7, "Unknown") == 0)
    {
        return {std::round(lanes * 8e9 / 8 * 128 / 130), 3};
    }
    m_document.Fail(pci,
                    "link_speed must be like '16 GT/s' (2.5, 5, 8, 16, 32, 64) or empty, not " +
                        QuotedText(speed));
}

const GpuModel*
NcclValues::FindGpuOfDevice(const XmlElement& pci)
{
    constexpr std::size_t LENGTH = 6; // 0x2330
    const std::string vendor = GetLower(pci, "vendor");
    const std::string device = GetLower(pci, "device");
    if ((!vendor.empty() && vendor != "0x10de") || device.size() != LENGTH ||
        device.rfind("0x", 0) != 0 ||
        device.find_first_not_of("0123456789abcdef", 2) != std::string::npos)
    {
        return nullptr;
    }
    return FindGpuOfPciDevice(static_cast<uint32_t>(std::stoul(device, nullptr, 16)));
}

void
NcclValues::RequireKnownMaker(const XmlElement& pci, const XmlElement* gpu) const
{
    // ROCm/rccl, src/graph/xml.cc: "gcn" is the architecture of a GPU of AMD, and its "sm" counts
    // compute units.
    const std::string* gcn = gpu == nullptr ? nullptr : gpu->Find("gcn");
    if (gcn != nullptr || GetLower(pci, "vendor") == "0x1002")
    {
        m_document.Fail(gpu == nullptr ? pci : *gpu,
                        "is a GPU of AMD" + (gcn != nullptr ? ", " + QuotedText(*gcn) : "") +
                            "; only NVIDIA's are known, and gpu=MODEL takes one of them for it");
    }
}

const GpuModel&
NcclValues::GetGpuOfSm(const XmlElement& element, uint64_t sm) const
{
    const GpuModel* model = FindGpuOfCapability(static_cast<uint32_t>(sm));
    if (model == nullptr)
    {
        std::string known;
        for (const uint32_t entry : GetGpuCapabilities())
        {
            AppendName(known, std::to_string(entry));
        }
        m_document.Fail(element,
                        "there is no data sheet of a GPU with sm " + std::to_string(sm) +
                            "; known: " + known + "; gpu=MODEL takes a known one for it");
    }
    return *model;
}

namespace
{

/**
 * @param family number of a CPU of AMD as a topology has it: base + 16 * extended up to
 * NCCL 2.30.7, which is no family that AMD names (143 is 23), base + extended since then
 * (NVIDIA/nccl 2f1c174c, src/graph/xml.cc, on GitHub in issue 2441)
 * @return as AMD counts: 23 is Zen 1 and 2, 25 Zen 3 and 4, 26 Zen 5
 */
uint64_t
GetAmdFamily(uint64_t family)
{
    // The base of all that have an extended family is 15.
    constexpr uint64_t BASE = 0xf;
    return family > BASE && family % 16 == BASE ? BASE + family / 16 : family;
}

} // namespace

NcclCpu
FindCpu(const std::string* arch, const std::string* vendor, uint64_t family, uint64_t model)
{
    NcclCpu cpu;
    const bool isX86 = arch == nullptr || arch->empty() || *arch == "x86_64";
    if (arch != nullptr && *arch == "ppc64")
    {
        cpu.interconnect = SocketRates::POWER;
        cpu.maker = CpuVendor::POWER;
    }
    else if (arch != nullptr && *arch == "arm64")
    {
        cpu.interconnect = SocketRates::ARM;
        cpu.maker = CpuVendor::ARM;
    }
    else if (isX86 && vendor != nullptr && *vendor == "GenuineIntel")
    {
        cpu.interconnect = model >= 0xcf   ? SocketRates::EMERALD_RAPIDS
                           : model >= 0x8f ? SocketRates::SAPPHIRE_RAPIDS
                           : model >= 0x55 ? SocketRates::SKYLAKE
                                           : SocketRates::BROADWELL;
        cpu.maker = CpuVendor::INTEL;
    }
    else if (isX86 && vendor != nullptr && *vendor == "AuthenticAMD")
    {
        // Measured: NICs of 25 GB/s behind the root complex. Of Zen 2, see the preset dgx-a100.
        // From Zen 3 on what goes one way has all of its links: 24 GB/s
        // (thomaslie210/NCCL_Test_Results, broadcast_perf and reduce_perf with
        // NCCL_NET_GDR_LEVEL=SYS). See NetworkShares for both.
        constexpr uint64_t ZEN_2 = 0x17;
        constexpr uint64_t ZEN_5 = 0x1a;
        constexpr double ZEN_2_FORWARD = 16e9;
        const uint64_t generation = GetAmdFamily(family);
        cpu.interconnect = generation <= ZEN_2  ? SocketRates::ZEN_2
                           : generation < ZEN_5 ? SocketRates::ZEN_3
                                                : SocketRates::ZEN_5;
        cpu.forward = generation <= ZEN_2 ? ZEN_2_FORWARD : 0;
        cpu.maker = CpuVendor::AMD;
    }
    return cpu;
}

const XmlFormat&
GetNcclFormat()
{
    static const XmlFormat format{
        {"system", {{"version"}, {"cpu"}}},
        {"cpu",
         {{"numaid", "host_hash", "affinity", "arch", "vendor", "familyid", "modelid", "name"},
          {"pci", "nic"}}},
        {"pci",
         {{"busid",
           "class",
           "vendor",
           "device",
           "subsystem_vendor",
           "subsystem_device",
           "link_speed",
           "link_width"},
          {"pci", "gpu", "nic", "pcilink"}}},
        {"pcilink", {{"target"}, {}}},
        {"gpu", {{"dev", "sm", "gcn", "arch", "rank", "gdr"}, {"nvlink", "c2c"}}},
        {"nvlink", {{"target", "count", "tclass"}, {}}},
        {"c2c", {{"bw", "count"}, {}}},
        {"nic", {{}, {"net"}}},
        {"net",
         {{"name",
           "dev",
           "speed",
           "latency",
           "port",
           "guid",
           "maxconn",
           "gdr",
           "coll",
           "keep",
           "net",
           "gin",
           "railId",
           "planeId"},
          {}}}};
    return format;
}

} // namespace proteus
} // namespace ns3
