/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-framework-option.h"
#include "ns3/proteus-model-options.h"
#include "ns3/proteus-program-options.h"
#include "ns3/proteus-strategy-json.h"

#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <string>

using namespace ns3::proteus;

namespace
{

/// @param strategy in the short form @param gpu name of a data sheet @param name of the framework,
/// empty: one is chosen @param trained name of a model @return what is trained
FrameworkPlan
Load(const std::string& strategy,
     const std::string& gpu,
     const std::string& name = "",
     const std::string& trained = "gpt3-125m")
{
    const std::string workloads = std::string(PROTEUS_SOURCE_DIR) + "/workloads";
    FrameworkOption option;
    option.name = name;
    option.workloads = workloads;
    ModelOptions model;
    model.model = trained;
    model.strategy = strategy;
    model.folder = workloads + "/models";
    return option.LoadPlan(gpu, LaunchInterval(), [&](const FrameworkDefaults& defaults) {
        return model.Load(defaults);
    });
}

/// @return operators and strategy of a plan as text
std::string
Write(const TrainingPlan& plan)
{
    std::ostringstream text;
    for (const ModelOperator& op : plan.model.GetOperators())
    {
        text << op.kind << "\n";
    }
    WriteStrategyJson(plan.tree, text);
    return text.str();
}

} // namespace

TEST(FrameworkOption, OneThatIsChosenActsAsIfItWereNamed)
{
    struct
    {
        const char* strategy;
        const char* gpu;
        const char* framework;
    } cases[] = {
        {"tp=2,pp=2,dp=2,zero=1,globalBatch=8", "H100-SXM5-80GB", "megatron-core"},
        {"tp=2,pp=2,dp=2,globalBatch=8", "A100-SXM4-80GB", "megatron-2022"},
        {"dp=8,zero=3", "A100-SXM4-80GB", "fsdp1"},
    };

    for (const auto& test : cases)
    {
        const FrameworkPlan chosen = Load(test.strategy, test.gpu);
        EXPECT_EQ(chosen.framework.name, test.framework);
        EXPECT_EQ(Write(chosen.plan), Write(Load(test.strategy, test.gpu, test.framework).plan))
            << test.strategy;
    }
}

// A loop of the host over experts is of programs that are named.
TEST(FrameworkOption, ExpertsHaveOneKernelWhereNoneIsNamed)
{
    const auto choose = [](const std::string& model, const std::string& name = "") {
        return Load("dp=8,zero=3", "H100-SXM5-80GB", name, model).framework;
    };
    EXPECT_EQ(choose("mixtral-8x7b").name, "fsdp2");
    EXPECT_FALSE(choose("mixtral-8x7b").host.issuesEveryExpert);
    EXPECT_TRUE(choose("mixtral-8x7b", "fsdp1").host.issuesEveryExpert);
    EXPECT_EQ(choose("mistral-7b").name, "fsdp1");
}

TEST(FrameworkOption, AttentionMayBeAnotherKernel)
{
    const std::string strategy = "dp=8,zero=2,globalBatch=8";
    const auto usual = Load(strategy, "H200", "deepspeed").framework;
    const auto other = Load(strategy, "H200", "deepspeed:attention=flash-attention-3").framework;
    EXPECT_EQ(usual.kernels.attention, AttentionKernel::FLASH_ATTENTION_2);
    EXPECT_EQ(other.kernels.attention, AttentionKernel::FLASH_ATTENTION_3);
    EXPECT_EQ(other.name, "deepspeed:attention=flash-attention-3"); // compared with none published
    EXPECT_EQ(other.operators.size(), usual.operators.size());
    const auto refuse = [&](const std::string& name, const std::string& part) {
        try
        {
            Load(strategy, "H200", name);
            ADD_FAILURE() << name;
        }
        catch (const std::invalid_argument& error)
        {
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
        }
    };
    refuse("deepspeed:", ":attention=KERNEL");
    refuse("deepspeed:gpu=B200", ":attention=KERNEL");
    refuse("deepspeed:attention=flash", "flash-attention-3");
    refuse("deepsped:attention=cudnn", "deepspeed");
    // Programs that train are answered with what stands for them.
    refuse("Megatron-LM", "what stands for it is megatron-core");
    refuse("nemo2", "megatron-core; nemo is NeMo of 2024");
    refuse("MaxText", "what stands for it is jax");
    refuse("unsloth", "what stands for it is liger");
    refuse("llama_factory", "ddp, fsdp1, fsdp2 or deepspeed");
    refuse("megatron-deepspeed:attention=cudnn", "megatron-2022, for BLOOM bloom");
    refuse("no-such", "there are apex");
}

TEST(FrameworkOption, PlansHaveItsDefaultsAndKeepWhatTheySay)
{
    const StrategyTree usual =
        Load("tp=2,pp=2,dp=2,zero=1,globalBatch=8", "H100-SXM5-80GB").plan.tree;
    EXPECT_FALSE(usual.schedule.isScatterGather);
    EXPECT_TRUE(usual.schedule.overlapsContext);
    const StrategyTree older =
        Load("tp=2,pp=2,dp=2,zero=1,globalBatch=8", "A100-SXM4-80GB").plan.tree;
    EXPECT_TRUE(older.schedule.isScatterGather);
    const StrategyTree own =
        Load("tp=2,pp=2,dp=2,zero=1,globalBatch=8,scatterGather=false", "A100-SXM4-80GB").plan.tree;
    EXPECT_FALSE(own.schedule.isScatterGather);
    EXPECT_EQ(Load("dp=8,zero=3", "A100-SXM4-80GB").plan.tree.precision.gradient, DataType::BF16);
    EXPECT_EQ(Load("dp=8,zero=3,gradientType=fp32", "A100-SXM4-80GB").plan.tree.precision.gradient,
              DataType::FP32);
}

TEST(FrameworkOption, PlansAreWrittenSoThatDefaultsDoNotChangeThem)
{
    const std::map<std::string, std::string> defaults{{"scatterGather", "true"},
                                                      {"zero1Gathers", "\"forward\""},
                                                      {"buckets", "\"whole\""}};
    ParallelPlan plan;
    plan.gradients.policy = BucketPolicy::DDP;
    std::stringstream file;
    WritePlanJson(plan, "p", file, defaults);
    EXPECT_EQ(FormatPlan(*ReadStrategyJson(file, "p", defaults).plan), FormatPlan(plan));
}
