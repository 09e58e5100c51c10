/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-kernel-cost.h"
#include "ns3/proteus-profile-json.h"

#include <gtest/gtest.h>
#include <sstream>
#include <string>

using namespace ns3::proteus;

namespace
{

const char* const A100 = "A100-SXM4-80GB";

} // namespace

TEST(ProfileTable, IsLookedUpFirst)
{
    const KernelWork work = MakeLinearForwardWork(2048, 1024, 4096, DataType::BF16);
    ProfileTable table;
    ProfileEntry entry;
    entry.gpu = A100;
    entry.kernelClass = KernelClass::GEMM;
    entry.type = DataType::BF16;
    entry.shape = work.shape;
    entry.timePs = 123456789;
    table.Add(entry);
    const KernelCostModel model(FindGpuDatasheet(A100), {}, &table);
    const KernelTime time = model.GetTime(work);
    EXPECT_TRUE(time.isMeasured);
    EXPECT_EQ(time.gpuPs, 123456789);
    EXPECT_EQ(time.hostPs, KernelCostParameters().hostPerKernelPs);

    // Another shape, pass, format or GPU was not measured.
    auto isMeasured = [](const KernelCostModel& of, const KernelWork& other) {
        return of.GetTime(other).isMeasured;
    };
    EXPECT_FALSE(isMeasured(model, MakeLinearForwardWork(2048, 1024, 4104, DataType::BF16)));
    EXPECT_FALSE(isMeasured(model, MakeLinearForwardWork(2048, 1024, 4096, DataType::FP16)));
    EXPECT_FALSE(isMeasured(model, MakeLinearInputGradientWork(2048, 4096, 1024, DataType::BF16)));
    EXPECT_FALSE(isMeasured(KernelCostModel(FindGpuDatasheet("A100-SXM4-40GB"), {}, &table), work));
    EXPECT_FALSE(isMeasured(KernelCostModel(FindGpuDatasheet(A100)), work));
}

TEST(ProfileTable, CountsWhatItIsAskedForAndHasNot)
{
    const KernelWork timed = MakeLinearForwardWork(2048, 1024, 4096, DataType::BF16);
    ProfileTable table;
    table.Add({A100, KernelClass::GEMM, KernelPass::FORWARD, DataType::BF16, timed.shape, 1});
    const ProfileTable copy = table;
    EXPECT_EQ(table.CountMissed(), 0u);
    copy.Find(A100, timed);
    EXPECT_EQ(table.CountMissed(), 0u);
    const KernelWork other = MakeLinearForwardWork(2048, 1024, 4104, DataType::BF16);
    for (const char* gpu : {A100, A100, "A100-SXM4-40GB"})
    {
        copy.Find(gpu, other);
    }
    EXPECT_EQ(table.CountMissed(), 2u);
    copy.Find(A100, KernelWork()); // no kernel
    EXPECT_EQ(table.CountMissed(), 2u);
    const ProfileTable none;
    none.Find(A100, other);
    EXPECT_EQ(none.CountMissed(), 0u);
}

TEST(ProfileTable, RefusesNonsense)
{
    ProfileEntry entry;
    entry.gpu = A100;
    entry.shape = {1, 2, 3, 4};
    entry.timePs = 5;
    auto errorOf = [](const ProfileEntry& bad) {
        return ErrorOf([&] { ProfileTable().Add(bad); });
    };
    EXPECT_EQ(errorOf(entry), "");
    ProfileTable table;
    table.Add(entry);
    EXPECT_EQ(ErrorOf([&] { table.Add(entry); }),
              "gemm forward in bf16 of shape [1, 2, 3, 4] on A100-SXM4-80GB: the table has two "
              "times for it; keep one");
    ProfileEntry bad = entry;
    bad.gpu = "A1000";
    EXPECT_NE(errorOf(bad).find("no data sheet of a GPU 'A1000'"), std::string::npos);
    bad = entry;
    bad.shape = {1, 2, 3};
    EXPECT_NE(errorOf(bad).find("has 4 sizes"), std::string::npos);
    bad.shape = {1, 2, 3, 4, 5};
    EXPECT_NE(errorOf(bad).find("has 4 sizes"), std::string::npos);
    bad.kernelClass = KernelClass::FUSED_ATTENTION; // values of another width
    EXPECT_EQ(errorOf(bad), "");
    bad.shape = {1, 2, 3, 4, 4};
    EXPECT_NE(errorOf(bad).find("leave out the last size"), std::string::npos);
    bad = entry;
    bad.shape[2] = 0;
    EXPECT_NE(errorOf(bad).find("at least 1"), std::string::npos);
    bad = entry;
    bad.timePs = 0;
    EXPECT_NE(errorOf(bad).find("above 0"), std::string::npos);
}

TEST(ProfileJson, ReadsAndWrites)
{
    const std::string text = R"({"format": "proteus-profile", "version": 1,
 "description": "made up by a test",
 "times": [
  {"gpu": "H200", "operator": "elementwise", "shape": [1024], "time_us": 3},
  {"gpu": "A100-SXM4-80GB", "operator": "gemm", "pass": "weight-gradient", "data_type": "fp16",
   "shape": [1, 2048, 12288, 4096], "time_us": 850.500001}]})";
    std::istringstream input(text);
    const ProfileTable table = ReadProfileJson(input, "p.json");
    EXPECT_EQ(table.GetSize(), 2u);
    EXPECT_EQ(table.description, "made up by a test");
    EXPECT_EQ(table.Find("H200", MakeElementwiseWork(1024, KernelPass::FORWARD, DataType::BF16)),
              3000000);
    const KernelWork gemm = MakeLinearWeightGradientWork(4096, 12288, 2048, DataType::FP16);
    EXPECT_EQ(table.Find(A100, gemm), 850500001);

    std::ostringstream first;
    WriteProfileJson(table, first);
    std::istringstream again(first.str());
    const ProfileTable same = ReadProfileJson(again, "p.json");
    EXPECT_EQ(same.GetSize(), 2u);
    EXPECT_EQ(same.Find(A100, gemm), 850500001);
    std::ostringstream second;
    WriteProfileJson(same, second);
    EXPECT_EQ(first.str(), second.str());

    std::ostringstream none;
    WriteProfileJson(ProfileTable(), none);
    std::istringstream empty(none.str());
    EXPECT_EQ(ReadProfileJson(empty, "p.json").GetSize(), 0u);
}

TEST(ProfileJson, SaysWhatIsWrong)
{
    const std::string good = R"({"format": "proteus-profile", "version": 1, "times": [
 {"gpu": "H200", "operator": "gemm", "shape": [1, 2, 3, 4], "time_us": 3}]})";
    auto errorOf = [&](const std::string& what, const std::string& with) {
        std::string text = good;
        const std::size_t at = text.find(what);
        EXPECT_NE(at, std::string::npos) << what;
        text.replace(at, what.size(), with);
        return ErrorOf([&] {
            std::istringstream input(text);
            ReadProfileJson(input, "p.json");
        });
    };
    EXPECT_EQ(errorOf("H200", "H200"), "");
    EXPECT_EQ(
        errorOf("\"gemm\"", "\"gem\"").find("p.json: /times/0/operator: unknown kernel class"),
        0u);
    EXPECT_EQ(errorOf("[1, 2, 3, 4]", "[1, 2, 3]").find("p.json: /times/0: gemm forward"), 0u);
    EXPECT_EQ(errorOf("[1, 2, 3, 4]", "[1, 0, 3, 4]").find("p.json: /times/0/shape/1: must be"),
              0u);
    EXPECT_EQ(errorOf("H200", "X20").find("p.json: /times/0: there is no data sheet"), 0u);
    EXPECT_EQ(errorOf("time_us", "time_ms").find("p.json: /times/0"), 0u);
    EXPECT_EQ(errorOf(": 3}", ": 0}").find("p.json: /times/0: "), 0u);
    EXPECT_EQ(errorOf("proteus-profile", "proteus-graph").find("p.json: /format"), 0u);
}
