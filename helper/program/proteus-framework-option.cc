/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-framework-option.h"

#include "proteus-model-options.h"
#include "proteus-name-lists.h"
#include "proteus-program-options.h"

#include "ns3/proteus-framework-json.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-output-plan.h"
#include "ns3/proteus-published-errors.h"
#include "ns3/proteus-readable-file.h"
#include "ns3/proteus-strategy-json.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint32_t HOPPER = 90; //!< compute capability, ten times
constexpr uint32_t ZERO_PARAMETERS = 3;

/// @return devices along the axes of a strategy's mesh that serve "tp" or the like, 1 if none does
uint32_t
GetAxisSize(const StrategyTree& tree, const std::string& role)
{
    uint32_t size = 1;
    for (std::size_t i = 0; i < tree.axisNames.size(); ++i)
    {
        size *= GetLayerRole(tree.axisNames[i]) == role ? tree.axisSizes[i] : 1;
    }
    return size;
}

/// @param text as typed @return its name or file, and what stands behind it from ":" on
std::pair<std::string, std::string>
SplitSetting(const std::string& text)
{
    const std::size_t colon = IsReadable(text) ? std::string::npos : text.find(':');
    return colon == std::string::npos ? std::pair{text, std::string()}
                                      : std::pair{text.substr(0, colon), text.substr(colon)};
}

/// Programs that train, and the frameworks that their published iterations are compared with
/// (workloads/evaluation), or whose parts they call.
struct TrainingProgram
{
    std::vector<std::string> names;
    std::string frameworks;
};

/// @param name that is no framework @return which stands for the program that is called so; empty
/// if none does
std::string
DescribeTrainingProgram(const std::string& name)
{
    static const std::vector<TrainingProgram> programs{
        {{"megatron", "megatron-lm", "megatron-bridge", "mcore", "internevo"},
         "megatron-core, or megatron-core-graphs as one CUDA graph; megatron-2022 is of 2022"},
        {{"megatron-deepspeed"}, "megatron-2022, for BLOOM bloom"},
        {{"nemo-2", "nemo2"}, "megatron-core; nemo is NeMo of 2024"},
        {{"nemo-automodel", "automodel"}, "fsdp2-compiled, with Transformer Engine fsdp2-te"},
        {{"maxtext", "paxml", "pax", "t5x", "levanter", "flax"}, "jax, or jax-unrolled"},
        {{"fsdp", "pytorch-fsdp", "torch-fsdp"}, "fsdp1, fsdp2 or fsdp2-compiled"},
        {{"pytorch", "torch", "lightning", "pytorch-lightning", "accelerate", "huggingface"},
         "what it runs: ddp, compiled (torch.compile), fsdp1, fsdp2 or deepspeed"},
        {{"transformers", "trl", "axolotl", "llama-factory", "ms-swift"},
         "what it runs: ddp, fsdp1, fsdp2 or deepspeed; liger has fused kernels"},
        {{"unsloth"}, "liger"},
        {{"torchtune", "kempnerforge"}, "fsdp2, or fsdp2-compiled"},
        {{"modalities", "vectorlm", "yafsdp", "fairseq"}, "fsdp1"},
        {{"olmo-core", "olmo"}, "torchtitan"},
        {{"composer", "mosaicml"}, "llm-foundry"},
        {{"nanogpt", "modded-nanogpt"}, "compiled"},
        {{"paddle", "paddlenlp", "paddlepaddle"},
         "paddle-amp; deepspeed for large models of PaddleNLP"},
        {{"colossalai", "xtuner"}, "deepspeed"}};
    for (const TrainingProgram& program : programs)
    {
        if (!FindAlias(name, program.names).empty())
        {
            return program.frameworks;
        }
    }
    return "";
}

/// Sets what was typed behind a framework's name.
/// @throw std::invalid_argument if it is not :attention=KERNEL
void
ApplySetting(const std::string& typed, const std::string& setting, Framework& framework)
{
    const std::string name = ":attention=";
    if (setting.compare(0, name.size(), name) != 0)
    {
        throw std::invalid_argument("--framework=" + typed +
                                    ": behind a framework's name may stand :attention=KERNEL");
    }
    try
    {
        framework.kernels.attention = AttentionKernelFromString(setting.substr(name.size()));
    }
    catch (const std::invalid_argument& error)
    {
        throw std::invalid_argument("--framework=" + typed + ": " + error.what());
    }
    framework.name += setting;
}

} // namespace

void
FrameworkOption::AddTo(OptionList& command)
{
    workloads = command.GetWorkloads();
    command.AddValue("framework",
                     "whose kernels and host are timed: a name in workloads/frameworks/ or a JSON "
                     "file, and with :attention=KERNEL another kernel of fused attention, e.g. "
                     "deepspeed:attention=flash-attention-3 (default: by model, strategy and GPU, "
                     "see the manual)",
                     name);
    command.AddMeaning("framework", [this](const std::string& text) {
        return FindRealPath(FindFile(text)) + SplitSetting(text).second;
    });
}

std::string
FrameworkOption::FindFile(const std::string& text) const
{
    const std::string file = SplitSetting(text).first;
    if (IsReadable(file))
    {
        return file;
    }
    if (file.find('/') != std::string::npos)
    {
        throw std::invalid_argument("--framework=" + text +
                                    ": cannot be read: " + DescribeUnreadable(file));
    }
    const std::string folder = workloads + "/frameworks";
    const auto names = ListJsonFiles(folder);
    const std::string stands = FindAlias(file, names).empty() ? DescribeTrainingProgram(file) : "";
    if (!stands.empty())
    {
        throw std::invalid_argument("--framework=" + text +
                                    ": no framework is called so; what stands for it is " + stands);
    }
    return folder + "/" + MatchName("framework", file, names) + ".json";
}

std::string
FrameworkOption::DescribeErrors(const Framework& framework, const std::string& gpu) const
{
    const std::string path = workloads + "/evaluation/published-errors.json";
    InputFile file(path);
    // A file of the user's is another framework, whatever its name.
    const bool isOwn = !name.empty() && IsReadable(name);
    return DescribePublishedErrors(ReadPublishedErrors(file.GetStream(), path),
                                   isOwn ? std::string(name) : framework.name,
                                   gpu);
}

ParallelPlan
MakeDefaultPlan(const FrameworkDefaults& defaults)
{
    std::istringstream nothing("{}");
    return *ReadStrategyJson(nothing, "--framework", defaults.plan).plan;
}

Framework
FrameworkOption::Load(const std::string& gpu,
                      const Model& model,
                      const StrategyTree* tree,
                      const LaunchInterval& interval) const
{
    Framework framework = LoadFramework(
        FindFile(name.empty() ? ChooseFramework(gpu, model, tree) : std::string(name)),
        workloads + "/frameworks");
    const std::string setting = SplitSetting(name).second;
    if (!setting.empty())
    {
        ApplySetting(name, setting, framework);
    }
    if (interval.isGiven)
    {
        framework.kernels.hostPerKernelPs = interval.value.GetPicoSeconds();
        framework.host.backwardKernelPs = -1;
    }
    return framework;
}

FrameworkPlan
FrameworkOption::LoadPlan(
    const std::string& gpu,
    const LaunchInterval& interval,
    const std::function<TrainingPlan(const FrameworkDefaults& defaults)>& load) const
{
    FrameworkPlan both;
    if (name.empty())
    {
        both.plan = load({});
    }
    both.framework = Load(gpu, both.plan.model, &both.plan.tree, interval);
    both.plan = TrainingPlan(); // which may be large
    both.plan = load(both.framework.defaults);
    return both;
}

FrameworkPlan
FrameworkOption::LoadPlan(
    const Cluster& cluster,
    const LaunchInterval& interval,
    const std::function<TrainingPlan(const FrameworkDefaults& defaults)>& load) const
{
    return LoadPlan(cluster.GetVertices()[cluster.GetGpus().at(0)].model, interval, load);
}

std::string
ChooseFramework(const std::string& gpu, const Model& model, const StrategyTree* tree)
{
    const auto has = [&model](const char* kind) {
        const std::vector<ModelOperator>& operators = model.GetOperators();
        return std::any_of(operators.begin(), operators.end(), [kind](const ModelOperator& op) {
            return op.kind == kind;
        });
    };
    if (has("convolution"))
    {
        return "ddp";
    }
    if (tree && tree->optimizer.zero == ZERO_PARAMETERS && GetAxisSize(*tree, "tp") == 1 &&
        GetAxisSize(*tree, "pp") == 1)
    {
        return has("expert-linear") ? "fsdp2" : "fsdp1"; // the former has them in one kernel
    }
    return FindComputeCapability(gpu) >= HOPPER ? "megatron-core" : "megatron-2022";
}

} // namespace proteus
} // namespace ns3
