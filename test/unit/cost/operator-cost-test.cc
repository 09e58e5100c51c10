/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-operator-cost.h"

#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>

using namespace ns3::proteus;

namespace
{

/// @return a compute task that the cost model times
Task
MakeTask(double flops, uint64_t bytes, DataType type)
{
    Task task;
    task.flops = flops;
    task.bytes = bytes;
    task.dataType = type;
    return task;
}

/// @return a roofline without losses
RooflineModel
MakeIdeal()
{
    RooflineModel model;
    model.flopsEfficiency = 1;
    model.memoryEfficiency = 1;
    model.launchIntervalPs = 0;
    return model;
}

} // namespace

TEST(GpuDatasheets, PublishedNumbers)
{
    const GpuDatasheet& a100 = FindGpuDatasheet("A100-SXM4-80GB");
    EXPECT_DOUBLE_EQ(a100.PeakFlops(DataType::FP32), 19.5e12);
    EXPECT_DOUBLE_EQ(a100.PeakFlops(DataType::TF32), 156e12);
    EXPECT_DOUBLE_EQ(a100.PeakFlops(DataType::BF16), 312e12);
    EXPECT_DOUBLE_EQ(a100.PeakFlops(DataType::FP16), 312e12);
    EXPECT_DOUBLE_EQ(a100.PeakFlops(DataType::FP8), 312e12); // has no fp8
    EXPECT_DOUBLE_EQ(a100.memoryBytesPerSecond, 2039e9);
    EXPECT_EQ(a100.memoryBytes, 80000000000u);
    EXPECT_EQ(a100.multiprocessors, 108u);

    const GpuDatasheet& h100 = FindGpuDatasheet("H100-SXM5-80GB");
    EXPECT_DOUBLE_EQ(h100.PeakFlops(DataType::BF16), 989.5e12);
    EXPECT_DOUBLE_EQ(h100.PeakFlops(DataType::FP8), 1979e12);
    EXPECT_DOUBLE_EQ(h100.memoryBytesPerSecond, 3.35e12);
    EXPECT_EQ(h100.multiprocessors, 132u);

    const GpuDatasheet& v100 = FindGpuDatasheet("V100-SXM2-32GB");
    EXPECT_DOUBLE_EQ(v100.PeakFlops(DataType::TF32), 15.7e12); // has no tf32
    EXPECT_DOUBLE_EQ(v100.PeakFlops(DataType::BF16), 125e12);  // takes the fp16 unit
    EXPECT_EQ(v100.memoryBytes, 32000000000u);

    // fp16 is no faster than fp32 there.
    EXPECT_DOUBLE_EQ(FindGpuDatasheet("TITAN-Xp").PeakFlops(DataType::FP16), 12.15e12);
}

TEST(GpuDatasheets, AreComplete)
{
    const auto models = GetGpuModels();
    EXPECT_GE(models.size(), 13u);
    for (const std::string& model : models)
    {
        const GpuDatasheet& sheet = FindGpuDatasheet(model);
        EXPECT_EQ(sheet.model, model);
        EXPECT_GT(sheet.memoryBytes, 10000000000u);
        const bool isCpu = FindGpuModel(model).isCpu;
        // 273 of LPDDR5X on GB10.
        EXPECT_GE(sheet.memoryBytesPerSecond, isCpu ? 50e9 : 250e9);
        EXPECT_GE(sheet.multiprocessors, isCpu ? 4u : 30u);
        EXPECT_FALSE(sheet.source.empty());
        double wider = 0;
        for (DataType type : {DataType::FP32, DataType::TF32, DataType::FP16, DataType::FP8})
        {
            EXPECT_GE(sheet.PeakFlops(type), wider) << model << " " << ToString(type);
            wider = sheet.PeakFlops(type);
        }
    }
}

TEST(GpuDatasheets, UnknownModel)
{
    try
    {
        FindGpuDatasheet("A100");
        FAIL() << "accepted";
    }
    catch (const std::invalid_argument& error)
    {
        const std::string message = error.what();
        EXPECT_EQ(message.find("there is no data sheet of a GPU 'A100'; known: "), 0u);
        EXPECT_NE(message.find("A100-SXM4-80GB"), std::string::npos);
        EXPECT_EQ(message.find('\n'), std::string::npos);
    }
}

TEST(Roofline, ClosedForms)
{
    const GpuDatasheet& gpu = FindGpuDatasheet("A100-SXM4-80GB");
    RooflineModel model = MakeIdeal();
    // Arithmetic decides: 312 GFLOP at 312 TFLOP/s take 1 ms.
    EXPECT_EQ(model.ComputeTimePs(MakeTask(312e9, 1000, DataType::BF16), gpu), 1000000000);
    // Traffic decides: 2.039 GB at 2039 GB/s take 1 ms.
    EXPECT_EQ(model.ComputeTimePs(MakeTask(1e6, 2039000000, DataType::BF16), gpu), 1000000000);
    // The format decides the peak: 16 times as long outside the tensor cores.
    EXPECT_EQ(model.ComputeTimePs(MakeTask(312e9, 1000, DataType::FP32), gpu), 16000000000);
    EXPECT_EQ(model.ComputeTimePs(MakeTask(0, 0, DataType::FP32), gpu), 0);

    model.flopsEfficiency = 0.5;
    EXPECT_EQ(model.ComputeTimePs(MakeTask(312e9, 1000, DataType::BF16), gpu), 2000000000);
    EXPECT_EQ(model.ComputeTimePs(MakeTask(1e6, 2039000000, DataType::BF16), gpu), 1000000000);
    model.memoryEfficiency = 0.25;
    EXPECT_EQ(model.ComputeTimePs(MakeTask(1e6, 2039000000, DataType::BF16), gpu), 4000000000);
}

TEST(Roofline, TheHostIsAFloor)
{
    const GpuDatasheet& gpu = FindGpuDatasheet("A100-SXM4-80GB");
    RooflineModel model = MakeIdeal();
    model.launchIntervalPs = 5000000;
    EXPECT_EQ(model.ComputeTimePs(MakeTask(0, 0, DataType::FP32), gpu), 5000000);
    EXPECT_EQ(model.ComputeTimePs(MakeTask(312e6, 0, DataType::BF16), gpu), 5000000);
    // A longer kernel hides it.
    EXPECT_EQ(model.ComputeTimePs(MakeTask(312e9, 0, DataType::BF16), gpu), 1000000000);
}

TEST(Roofline, FixedDurationStands)
{
    const GpuDatasheet& gpu = FindGpuDatasheet("T4");
    Task task = MakeTask(1e15, 1000000000, DataType::FP16);
    task.durationPs = 42;
    EXPECT_EQ(RooflineModel().ComputeTimePs(task, gpu), 42);
    task.durationPs = 0;
    EXPECT_EQ(RooflineModel().ComputeTimePs(task, gpu), 0);
}

TEST(Roofline, RefusesNonsense)
{
    const GpuDatasheet& gpu = FindGpuDatasheet("T4");
    const Task task = MakeTask(1e9, 1000, DataType::FP16);
    RooflineModel model;
    EXPECT_NO_THROW(model.ComputeTimePs(task, gpu));
    model.flopsEfficiency = 0;
    EXPECT_THROW(model.ComputeTimePs(task, gpu), std::invalid_argument);
    model = RooflineModel();
    model.memoryEfficiency = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(model.ComputeTimePs(task, gpu), std::invalid_argument);
    model = RooflineModel();
    model.launchIntervalPs = -1;
    EXPECT_THROW(model.ComputeTimePs(task, gpu), std::invalid_argument);
    model = RooflineModel();
    EXPECT_THROW(model.ComputeTimePs(MakeTask(1e60, 0, DataType::FP16), gpu),
                 std::invalid_argument);
    EXPECT_THROW(model.ComputeTimePs(MakeTask(-1e9, 0, DataType::FP16), gpu),
                 std::invalid_argument);
    Task communication;
    communication.kind = TaskKind::COMMUNICATION;
    EXPECT_THROW(model.ComputeTimePs(communication, gpu), std::invalid_argument);
}
