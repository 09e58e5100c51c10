/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-gpu-model.h"

#include "ns3/proteus-comma-list.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param text any @return it in small letters, with '-' for what separates words
std::string
Fold(const std::string& text)
{
    std::string folded;
    for (const unsigned char c : text)
    {
        folded += c == ' ' || c == '_' ? '-' : static_cast<char>(std::tolower(c));
    }
    return folded;
}

/// @return whether a letter or digit
bool
IsWord(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// @param text folded @param name folded @return whether the name is in it as words of its own
bool
Names(const std::string& text, const std::string& name)
{
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    {
        const std::size_t end = at + name.size();
        if ((at == 0 || !IsWord(text[at - 1])) && (end == text.size() || !IsWord(text[end])))
        {
            return true;
        }
    }
    return false;
}

/// @param numbers of models @param number that one may have @return that model, or null
const GpuModel*
FindGpuThatHas(std::vector<uint32_t> GpuModel::*numbers, uint32_t number)
{
    for (const auto& [name, model] : Registry<GpuModel>::Get().GetAll())
    {
        const std::vector<uint32_t>& own = model.*numbers;
        if (std::count(own.begin(), own.end(), number) > 0)
        {
            return &model;
        }
    }
    return nullptr;
}

/// @param model of a GPU @return its FLOP/s in NVFP4, dense, 0 where it has no unit for that: the
/// data sheets of Blackwell (2025) and Blackwell Ultra (HGX B300, GB300 NVL72), the whitepapers of
/// RTX Blackwell and RTX Blackwell PRO, and of GB10 half of 1 PFLOP/s with sparsity
double
FindFp4Flops(const std::string& model)
{
    static const std::map<std::string, double> peaks{{"B200", 9000e12},
                                                     {"GB200", 10000e12},
                                                     {"B300", 13500e12},
                                                     {"GB300", 15000e12},
                                                     {"GB10", 500e12},
                                                     {"RTX-5090", 1676e12},
                                                     {"RTX-PRO-6000", 2015.2e12}};
    const auto found = peaks.find(model);
    return found == peaks.end() ? 0 : found->second;
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
    case DataType::FP4:
        return std::max(FindFp4Flops(this->model), PeakFlops(DataType::FP8));
    }
    throw std::invalid_argument("data type out of range");
}

GpuModelRegistration::GpuModelRegistration(GpuModel model)
{
    const std::string name = model.sheet.model;
    Registry<GpuModel>::Registration(name, std::move(model));
}

const GpuModel&
FindGpuModel(const std::string& model)
{
    if (const GpuModel* found = Registry<GpuModel>::Get().Find(model))
    {
        return *found;
    }
    std::string message =
        "there is no data sheet of a GPU '" + model + "'; known: " + ListNames(GetGpuModels());
    if (const GpuModel* meant = MatchGpuModel(model))
    {
        message += "; did you mean " + meant->sheet.model + "?";
    }
    throw std::invalid_argument(message);
}

const GpuModel*
MatchGpuModel(const std::string& text)
{
    const std::string folded = Fold(text);
    const GpuModel* best = nullptr;
    std::size_t length = 0;
    for (const auto& [name, model] : Registry<GpuModel>::Get().GetAll())
    {
        std::vector<std::string> names = model.aliases;
        names.push_back(name);
        for (const std::string& candidate : names)
        {
            if (candidate.size() > length && Names(folded, Fold(candidate)))
            {
                best = &model;
                length = candidate.size();
            }
        }
    }
    return best;
}

const GpuModel*
FindGpuOfCapability(uint32_t computeCapability)
{
    return FindGpuThatHas(&GpuModel::standsFor, computeCapability);
}

const GpuModel*
FindGpuOfPciDevice(uint32_t device)
{
    return FindGpuThatHas(&GpuModel::pciDevices, device);
}

std::vector<uint32_t>
GetGpuCapabilities()
{
    std::vector<uint32_t> capabilities;
    for (const auto& [name, model] : Registry<GpuModel>::Get().GetAll())
    {
        capabilities.insert(capabilities.end(), model.standsFor.begin(), model.standsFor.end());
    }
    std::sort(capabilities.begin(), capabilities.end());
    return capabilities;
}

uint32_t
FindComputeCapability(const std::string& model)
{
    const GpuModel* found = MatchGpuModel(model);
    return found != nullptr ? found->computeCapability : 0;
}

const GpuDatasheet&
FindGpuDatasheet(const std::string& model)
{
    return FindGpuModel(model).sheet;
}

std::vector<std::string>
GetGpuModels()
{
    return Registry<GpuModel>::Get().GetNames();
}

} // namespace proteus
} // namespace ns3
