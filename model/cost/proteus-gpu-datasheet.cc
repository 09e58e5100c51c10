/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-gpu-datasheet.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double TERA = 1e12;
constexpr double GIGA = 1e9;
constexpr uint64_t GBYTE = 1000000000;

/// @return all data sheets, oldest first. Where NVIDIA prints rates with sparsity, half is taken.
const std::vector<GpuDatasheet>&
Datasheets()
{
    static const std::vector<GpuDatasheet> sheets{
        // model, fp32, tf32, bf16, fp16, fp8, memory, bandwidth, multiprocessors, source
        {"P100-SXM2-16GB",
         10.6 * TERA,
         0,
         0,
         21.2 * TERA,
         0,
         16 * GBYTE,
         732 * GIGA,
         56,
         "NVIDIA Tesla P100 data sheet (2016), NVLink-optimized servers"},
        {"TITAN-Xp",
         12.15 * TERA, // 3840 cores x 2 x 1582 MHz
         0,
         0,
         0, // fp16 runs at 1/64 of fp32
         0,
         12 * GBYTE,
         547.7 * GIGA,
         30,
         "NVIDIA TITAN Xp specifications (2017): 3840 cores, boost 1582 MHz, 547.7 GB/s"},
        {"V100-SXM2-16GB",
         15.7 * TERA,
         0,
         0,
         125 * TERA,
         0,
         16 * GBYTE,
         900 * GIGA,
         80,
         "NVIDIA Tesla V100 data sheet (2018), SXM2"},
        {"V100-SXM2-32GB",
         15.7 * TERA,
         0,
         0,
         125 * TERA,
         0,
         32 * GBYTE,
         900 * GIGA,
         80,
         "NVIDIA Tesla V100 data sheet (2018), SXM2"},
        {"T4",
         8.1 * TERA,
         0,
         0,
         65 * TERA,
         0,
         16 * GBYTE,
         320 * GIGA,
         40,
         "NVIDIA T4 data sheet (2018), bandwidth: T4 product brief PB-09256-001"},
        {"A100-SXM4-40GB",
         19.5 * TERA,
         156 * TERA,
         312 * TERA,
         312 * TERA,
         0,
         40 * GBYTE,
         1555 * GIGA,
         108,
         "NVIDIA A100 data sheet (2021), 40GB SXM"},
        {"A100-SXM4-80GB",
         19.5 * TERA,
         156 * TERA,
         312 * TERA,
         312 * TERA,
         0,
         80 * GBYTE,
         2039 * GIGA,
         108,
         "NVIDIA A100 data sheet (2021), 80GB SXM"},
        {"H100-SXM5-80GB",
         67 * TERA,
         989 * TERA / 2,
         1979 * TERA / 2,
         1979 * TERA / 2,
         3958 * TERA / 2,
         80 * GBYTE,
         3350 * GIGA,
         132,
         "NVIDIA H100 data sheet (2023), SXM"},
        {"H200",
         67 * TERA,
         989 * TERA / 2,
         1979 * TERA / 2,
         1979 * TERA / 2,
         3958 * TERA / 2,
         141 * GBYTE,
         4800 * GIGA,
         132,
         "NVIDIA H200 data sheet (2024), SXM"},
        {"B200",
         75 * TERA,
         2200 * TERA / 2,
         4500 * TERA / 2,
         4500 * TERA / 2,
         9000 * TERA / 2,
         180 * GBYTE,
         7700 * GIGA,
         148,
         "NVIDIA Blackwell data sheet (2025), one GPU of HGX B200"},
    };
    return sheets;
}

} // namespace

double
GpuDatasheet::PeakFlops(DataType type) const
{
    const double half = fp16Flops > 0 ? fp16Flops : fp32Flops;
    switch (type)
    {
    case DataType::FP32:
        return fp32Flops;
    case DataType::TF32:
        return tf32Flops > 0 ? tf32Flops : fp32Flops;
    case DataType::BF16:
        return bf16Flops > 0 ? bf16Flops : half;
    case DataType::FP16:
        return half;
    case DataType::FP8:
        return fp8Flops > 0 ? fp8Flops : half;
    }
    throw std::invalid_argument("data type out of range");
}

const GpuDatasheet&
FindGpuDatasheet(const std::string& model)
{
    const auto& sheets = Datasheets();
    const auto found = std::find_if(sheets.begin(), sheets.end(), [&](const GpuDatasheet& sheet) {
        return sheet.model == model;
    });
    if (found == sheets.end())
    {
        std::string message = "there is no data sheet of a GPU '" + model + "'; known:";
        const char* separator = " ";
        for (const GpuDatasheet& sheet : sheets)
        {
            message += separator + sheet.model;
            separator = ", ";
        }
        throw std::invalid_argument(message);
    }
    return *found;
}

std::vector<std::string>
GetGpuModels()
{
    std::vector<std::string> models;
    for (const GpuDatasheet& sheet : Datasheets())
    {
        models.push_back(sheet.model);
    }
    return models;
}

} // namespace proteus
} // namespace ns3
