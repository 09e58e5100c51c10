/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-server-preset.h"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

using namespace ns3::proteus;

TEST(GpuModels, NamesAreFoundAsPeopleWriteThem)
{
    const std::map<std::string, std::string> expected{
        {"A100", "A100-SXM4-80GB"},
        {"NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"},
        {"a100_sxm4_40gb", "A100-SXM4-40GB"},
        {"Tesla V100-SXM2-16GB", "V100-SXM2-16GB"},
        {"V100", "V100-SXM2-32GB"},
        {"H800", "H100-SXM5-80GB"},
        {"NVIDIA H100 PCIe", "H100-PCIE-80GB"},
        {"NVIDIA H100 80GB HBM3", "H100-SXM5-80GB"},
        {"NVIDIA TITAN Xp", "TITAN-Xp"},
        {"TitanXp", "TITAN-Xp"},
        {"Tesla T4", "T4"},
        {"NVIDIA GB200", "GB200"},
        {"NVIDIA B200", "B200"},
        {"NVIDIA H200", "H200"},
        {"P100", "P100-SXM2-16GB"},
        {"NVIDIA GeForce RTX 4090", "RTX-4090"},
        {"NVIDIA RTX A6000", "RTX-A6000"},
        {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX-PRO-6000"},
        {"NVIDIA RTX 6000 Ada Generation", "RTX-6000-Ada"},
        {"NVIDIA L4", "L4"},
        {"NVIDIA L40", "L40"},
        {"NVIDIA A10G", "A10G"},
        {"NVIDIA GB300", "GB300"},
        {"NVIDIA GH200 480GB", "GH200-96GB"},
        {"GH200-96GB-660W", "GH200-96GB-660W"},
        {"NVIDIA GB10", "GB10"},
        {"NVIDIA H100 NVL", "H100-NVL"},
        {"NVIDIA H200 NVL", "H200-NVL"},
        {"Tesla V100-PCIE-16GB", "V100-PCIE-16GB"},
        {"NVIDIA A100-PCIE-40GB", "A100-PCIE-40GB"},
        {"NVIDIA A100 80GB PCIe", "A100-PCIE-80GB"},
        {"H100", "H100-SXM5-80GB"},
        {"H100-SXM5-96GB-500W", "H100-SXM5-96GB-500W"},
    };
    for (const auto& [text, model] : expected)
    {
        const GpuModel* found = MatchGpuModel(text);
        ASSERT_NE(found, nullptr) << text;
        EXPECT_EQ(found->sheet.model, model) << text;
    }
    for (const std::string text : {"", "A1000", "XH100", "GTX 1080", "T400"})
    {
        EXPECT_EQ(MatchGpuModel(text), nullptr) << text;
        EXPECT_EQ(FindComputeCapability(text), 0u) << text;
    }
}

TEST(GpuModels, HaveOneName)
{
    std::set<std::string> names;
    for (const auto& [name, model] : Registry<GpuModel>::Get().GetAll())
    {
        EXPECT_EQ(name, model.sheet.model);
        EXPECT_EQ(MatchGpuModel(name), &model);
        for (const std::string& alias : model.aliases)
        {
            EXPECT_TRUE(names.insert(alias).second) << alias << " is two models";
            EXPECT_EQ(MatchGpuModel(alias), &model) << alias;
        }
    }
}

TEST(GpuModels, OneStandsForACapability)
{
    std::set<uint32_t> capabilities;
    for (const uint32_t capability : GetGpuCapabilities())
    {
        EXPECT_TRUE(capabilities.insert(capability).second) << capability << " has two models";
        EXPECT_NE(FindGpuOfCapability(capability), nullptr);
    }
    EXPECT_EQ(FindGpuOfCapability(80)->sheet.model, "A100-SXM4-80GB");
    EXPECT_EQ(FindGpuOfCapability(52)->sheet.model, "TITAN-Xp");
    EXPECT_EQ(FindGpuOfCapability(121)->sheet.model, "GB10");
    EXPECT_EQ(FindGpuOfCapability(81), nullptr);
}

TEST(GpuModels, OneHasAPciDevice)
{
    std::set<uint32_t> devices;
    for (const auto& [name, model] : Registry<GpuModel>::Get().GetAll())
    {
        for (const uint32_t device : model.pciDevices)
        {
            EXPECT_TRUE(devices.insert(device).second) << device << " is two models";
            EXPECT_EQ(FindGpuOfPciDevice(device), &model);
        }
    }
    EXPECT_EQ(FindGpuOfPciDevice(0x20b0)->sheet.model, "A100-SXM4-40GB");
    EXPECT_EQ(FindGpuOfPciDevice(0xffff), nullptr);
}

TEST(GpuModels, VerticesHaveWhatTheRecordSays)
{
    for (const auto& [name, model] : Registry<GpuModel>::Get().GetAll())
    {
        const Vertex gpu = MakeGpu(name);
        EXPECT_EQ(gpu.model, name);
        EXPECT_EQ(gpu.memoryBytesPerSecond, model.sheet.memoryBytesPerSecond);
        EXPECT_EQ(gpu.copyEngines, model.copyEngines);
        EXPECT_EQ(gpu.smCopyBytesPerSecond, model.smCopyBytesPerSecond);
        EXPECT_EQ(model.nvlinkBytesPerSecond > 0, model.nvlinkGeneration > 0) << name;
        EXPECT_EQ(model.computeCapability > 50, !model.isCpu) << name;
        EXPECT_FALSE(model.sheet.source.empty()) << name;
    }
}
