/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_VALUES_H
#define PROTEUS_NCCL_VALUES_H

#include "proteus-xml.h"

#include "ns3/proteus-cpu-vendor.h"
#include "ns3/proteus-gpu-model.h"

#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Values in topology files of NCCL: numbers, names in any case, speeds of PCIe.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What NCCL takes a CPU for.
struct NcclCpu
{
    double interconnect{6e9};          //!< bytes/s to the next socket
    double forward{0};                 //!< bytes/s that it forwards; 0: as much as comes
    CpuVendor maker{CpuVendor::OTHER}; //!< who made it
};

/// @ingroup proteus
/// @param arch of the CPU as a file calls it, or null @param vendor the same
/// @param family number of it there, with the extended one (NVIDIA/nccl v2.30.7, src/graph/xml.cc,
/// or as AMD counts, which NCCL does since)
/// @param model the same of the model @return what NCCL takes it for
NcclCpu FindCpu(const std::string* arch,
                const std::string* vendor,
                uint64_t family,
                uint64_t model);

/// @ingroup proteus
/// @param generation of NVLink @return links of a GPU that is joined by NVSwitches (NVIDIA, "NVLink
/// and NVLink Switch": 6 of V100, 12 of A100, 18 of H100 and B200), the most that one has
double CountNvlinks(uint32_t generation);

/// @ingroup proteus
/// What the file says of PCIe upwards of a device.
struct PcieSpeed
{
    double bytesPerSecond;
    uint32_t generation; //!< as its framing is known
};

/// @ingroup proteus
/// @param element where @param attribute its name @return its value in lower case, empty if none
std::string GetLower(const XmlElement& element, const std::string& attribute);

/// @ingroup proteus
/// Reads values of the elements of a document.
class NcclValues
{
  public:
    /// @param document to read; outlives this object
    explicit NcclValues(const XmlDocument& document)
        : m_document(document)
    {
    }

    /**
     * @param element where
     * @param attribute its name
     * @param standard what it is where it is not there or empty
     * @param most largest value
     * @return the whole number
     * @throw std::invalid_argument that names file, line, element and cause
     */
    uint64_t GetWhole(const XmlElement& element,
                      const std::string& attribute,
                      uint64_t standard,
                      uint64_t most) const;

    /**
     * @param pci an element
     * @return its link upwards
     * @throw std::invalid_argument that names file, line, element and cause
     */
    PcieSpeed GetPcieSpeed(const XmlElement& pci) const;

    /// @param pci element of a GPU @return the model that its device id says, null if it says none
    static const GpuModel* FindGpuOfDevice(const XmlElement& pci);

    /// @param pci element of a GPU @param gpu the one below it, or null
    /// @throw std::invalid_argument if AMD makes it, whose "sm" is no compute capability
    void RequireKnownMaker(const XmlElement& pci, const XmlElement* gpu) const;

    /**
     * @param element where
     * @param sm compute capability, ten times
     * @return the model that stands for it
     * @throw std::invalid_argument that names file, line, element and cause
     */
    const GpuModel& GetGpuOfSm(const XmlElement& element, uint64_t sm) const;

  private:
    const XmlDocument& m_document;
};

/// @ingroup proteus
/// @return names in NCCL's topology files (NVIDIA/nccl, src/graph/xml.cc), and what rate a link
/// has nothing to do with among them
const XmlFormat& GetNcclFormat();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_VALUES_H
