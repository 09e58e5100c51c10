/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GPU_MODEL_H
#define PROTEUS_GPU_MODEL_H

#include "ns3/proteus-graph.h"
#include "ns3/proteus-registry.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * All that is known of a model of GPU, in one record. A new model is a file proteus-gpu-<name>.cc
 * that registers it.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the manufacturer's data sheet says of a GPU. Rates are dense (no sparsity).
struct GpuDatasheet
{
    std::string model;       //!< e.g. "A100-SXM4-80GB"
    double fp32Flops{0};     //!< FLOP/s outside the tensor cores
    double tf32Flops{0};     //!< FLOP/s; 0 where the GPU has no such unit
    double bf16Flops{0};     //!< FLOP/s; 0 where the GPU has no such unit
    double fp16Flops{0};     //!< FLOP/s of the tensor cores, or of what else is fastest; 0 where
                             //!< fp32 is
    double fp8Flops{0};      //!< FLOP/s; 0 where the GPU has no such unit
    uint64_t memoryBytes{0}; //!< capacity as sold, GB = 1e9: a little less than what is built in,
                             //!< which driver and allocator take
    double memoryBytesPerSecond{0}; //!< peak
    uint32_t multiprocessors{0};    //!< streaming multiprocessors that are enabled
    std::string source;             //!< document the numbers are from

    /**
     * @param type number format
     * @return peak FLOP/s; a format without a unit of its own takes the next wider one there is
     * (fp8
     * -> fp16, bf16 -> fp16, fp16 -> fp32, tf32 -> fp32)
     */
    double PeakFlops(DataType type) const;
};

/// @ingroup proteus
/// A model of GPU.
struct GpuModel
{
    GpuDatasheet sheet; //!< its data sheet
    /// Other names, as people and files write them: "A100" stands for one of the models that have
    /// it in their names.
    std::vector<std::string> aliases;
    bool isCpu{false}; //!< whether it is a host's CPU: it sums up gradients (AddServerHosts()),
                       //!< and runs no kernels
    /// Compute capability, ten times (NVIDIA, "CUDA GPUs"); of a CPU 0.
    uint32_t computeCapability{0};
    /// Compute capabilities of which this model is taken where a file says nothing else of a GPU.
    std::vector<uint32_t> standsFor;
    /// PCI device ids of NVIDIA (10de) that are this model, or one that differs from it in NVLinks
    /// or its board only (The PCI ID Repository, pci.ids).
    std::vector<uint32_t> pciDevices;
    double nvlinkBytesPerSecond{0}; //!< of one NVLink and direction; 0: it has none
    uint32_t nvlinkGeneration{0};   //!< whose framing its NVLinks have
    uint32_t bridgedNvlinks{0};     //!< of a card, to all others that bridges join it with; 0: none
    uint32_t mostBridged{2};        //!< cards that bridges join with each other
    uint32_t copyEngines{0};        //!< DMA copies at a time; 0: not known, no limit
    /// Whether it reaches peers over PCI Express as system memory only, see DefaultFraming().
    bool reachesPeersAsMemory{false};
    /// Bytes per second that one thread block copies: what NCCL's cost model counts for one
    /// channel, which is one thread block (NVIDIA/nccl v2.30.7, src/graph/tuning.cc,
    /// perChMaxTreeBws, one node); 0: no limit.
    double smCopyBytesPerSecond{0};
};

/// @ingroup proteus
/// What one thread block copies: see GpuModel::smCopyBytesPerSecond.
struct SmCopyRate
{
    static constexpr double VOLTA = 26.5e9;   //!< bytes per second, and of what came before
    static constexpr double AMPERE = 24e9;    //!< bytes per second, of compute capability 8.x
    static constexpr double HOPPER = 38.7e9;  //!< bytes per second, of 9.x
    static constexpr double BLACKWELL = 70e9; //!< bytes per second, of 10.x and later
};

/// @ingroup proteus
/// Registers a model in its file.
class GpuModelRegistration
{
  public:
    /// @param model to register by the name on its data sheet
    explicit GpuModelRegistration(GpuModel model);
};

/**
 * @ingroup proteus
 * @param model exact name of a data sheet, e.g. "A100-SXM4-80GB"
 * @return what is known of it
 * @throw std::invalid_argument if it is not known; the message has those that are
 */
const GpuModel& FindGpuModel(const std::string& model);

/**
 * @ingroup proteus
 * @param text that names a GPU somehow, e.g. "NVIDIA H100 80GB HBM3", "A100"
 * @return the model whose name, or the longest of whose aliases, is in it; null if there is none
 */
const GpuModel* MatchGpuModel(const std::string& text);

/**
 * @ingroup proteus
 * @param computeCapability ten times, e.g. 80
 * @return the model that stands for it, null if there is none
 */
const GpuModel* FindGpuOfCapability(uint32_t computeCapability);

/**
 * @ingroup proteus
 * @param device PCI device id of a GPU of NVIDIA, e.g. 0x2330
 * @return the model that has it, null if there is none
 */
const GpuModel* FindGpuOfPciDevice(uint32_t device);

/// @ingroup proteus
/// @return compute capabilities of which a model stands for, ten times, ascending
std::vector<uint32_t> GetGpuCapabilities();

/**
 * @ingroup proteus
 * @param model name of a GPU, as MatchGpuModel() takes it
 * @return its compute capability, ten times; 0 if it is not known
 */
uint32_t FindComputeCapability(const std::string& model);

/**
 * @ingroup proteus
 * @param model exact name of a data sheet
 * @return the data sheet
 * @throw std::invalid_argument as FindGpuModel()
 */
const GpuDatasheet& FindGpuDatasheet(const std::string& model);

/// @ingroup proteus
/// @return names of the GPUs with a data sheet, in alphabetical order
std::vector<std::string> GetGpuModels();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GPU_MODEL_H
