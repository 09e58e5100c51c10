/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GPU_DATASHEET_H
#define PROTEUS_GPU_DATASHEET_H

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the manufacturer says a GPU can do.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the manufacturer's data sheet says of a GPU. Rates are dense (no sparsity).
struct GpuDatasheet
{
    std::string model;   //!< e.g. "A100-SXM4-80GB"
    double fp32Flops{0}; //!< FLOP/s outside the tensor cores
    double tf32Flops{0}; //!< FLOP/s; 0 where the GPU has no such unit
    double bf16Flops{0}; //!< FLOP/s; 0 where the GPU has no such unit
    double fp16Flops{
        0};             //!< FLOP/s of the tensor cores, or of what else is fastest; 0 where fp32 is
    double fp8Flops{0}; //!< FLOP/s; 0 where the GPU has no such unit
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

/**
 * @ingroup proteus
 * @param model name of a GPU
 * @return its data sheet
 * @throw std::invalid_argument that lists the known models
 */
const GpuDatasheet& FindGpuDatasheet(const std::string& model);

/// @ingroup proteus
/// @return names of the GPUs with a data sheet
std::vector<std::string> GetGpuModels();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GPU_DATASHEET_H
