/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "small-job.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

using namespace ns3::proteus;

namespace
{

/// @param folder to write a model to @param variables of it @param inputs of it besides x and y
/// @param blocks of it @param layers of it @return what a run of it printed
Outcome
RunModel(const Folder& folder,
         const std::string& variables,
         const std::string& inputs,
         const std::string& blocks,
         const std::string& layers)
{
    const std::string model = R"({"format": "proteus-model", "version": 1, "name": "m",
 "let": {)" + variables + R"(},
 "inputs": [{"name": "x", "shape": ["batch", 64]},
  {"name": "y", "shape": ["batch"], "element": "index"})" +
                              inputs + R"(],
 "blocks": {)" + blocks + R"(},
 "layers": [)" + layers + "]}";
    return Start("run",
                 {"--model=" + folder.Write("m.json", model),
                  "--strategy=dp=2",
                  "--executor=flow",
                  "--quiet"});
}

const std::string WIDE = R"({"op": "linear", "name": "fc", "outputs": "width", "in": "x"},
  {"op": "cross-entropy", "name": "loss", "in": ["fc", "y"]})";

} // namespace

// Names of models that there are elsewhere.
TEST(ModelMistakes, NamesOfOtherModelsSayWhatStandsForThem)
{
    const std::string gated = "its layers have gated products behind norms that are no RMS norms";
    for (const auto& [name, hint] :
         std::map<std::string, std::string>{{"stablelm-3b", gated},
                                            {"cohere-35b", gated},
                                            {"falcon-180b", "=FILE (model_type falcon)"},
                                            {"gptj-2b", "=FILE (model_type gptj)"},
                                            {"gemma2-9b", "are bounded by a tanh"},
                                            {"whisper-large-v3", "along a sequence of audio"},
                                            {"deberta-large", "disentangled attention"},
                                            {"bloom-560m", "=FILE (model_type bloom)"},
                                            {"gemma-7b", "=FILE (model_type gemma)"},
                                            {"granite-8b", "=FILE (model_type granite)"},
                                            {"glm-130b", "llama.json with its sizes (of GLM-130B"},
                                            {"apertus-8b", "xIELU"},
                                            {"deepseek-v2", "did you mean deepseek-v2-lite? "}})
    {
        const Outcome outcome = Start("run", {"--model=" + name, "--strategy=dp=2"});
        EXPECT_NE(outcome.error.find("there is no model of this name"), std::string::npos) << name;
        EXPECT_NE(outcome.error.find(hint), std::string::npos) << name << ": " << outcome.error;
    }
    // Of other names it is not known what they are of.
    for (const std::string name : {"phi-4", "vicuna-7b", "yi-1.5-6b"})
    {
        const Outcome outcome = Start("run", {"--model=" + name, "--strategy=dp=2"});
        EXPECT_EQ(outcome.error.find("--model=" + name +
                                     ": there is no model of this name; of "
                                     "many that are on Hugging Face, "
                                     "config.json is read"),
                  outcome.error.find("--model"))
            << outcome.error;
        EXPECT_NE(outcome.error.find("--model=FILE; there are alexnet, "), std::string::npos)
            << outcome.error;
    }
    // Another version is another model.
    const Outcome outcome = Start("run", {"--model=falcon3-7b", "--strategy=dp=2"});
    EXPECT_EQ(outcome.error.find("model_type falcon"), std::string::npos) << outcome.error;
}

// What lies beside a config.json.
TEST(ModelMistakes, OtherFilesOfTheHub)
{
    const Folder folder;
    for (const auto& [text, hint] : std::map<std::string, std::string>{
             {R"({"peft_type": "LORA", "r": 8})", "this is an adapter_config.json of PEFT"},
             {R"({"bos_token_id": 1, "do_sample": true})", "this is a generation_config.json"},
             {R"({"tokenizer_class": "L", "model_max_length": 1})", "this is a tokenizer_config"},
             {R"({"metadata": {}, "weight_map": {}})", "this is an index of files of weights"},
             {R"({"log_history": [], "global_step": 1})", "this is a trainer_state.json"}})
    {
        ExpectRefusal(Start("compile", {"--model=" + folder.Write("c.json", text), PLAN}), hint);
    }
    ExpectRefusal(Start("compile", {MODEL, PLAN, "--cluster=dgx-a100"}),
                  "--cluster: there is no such option: a graph is of no cluster yet");
}

// What others write their configurations in.
TEST(ModelMistakes, AnOperatorThatIsTooLargeIsNamed)
{
    ExpectRefusal(Start("compile", {MODEL, PLAN, "--variables=sequence=4294967296"}),
                  "operator 'layer0.attention' of the size ");
}

TEST(ModelMistakes, AConfigurationThatIsNoJson)
{
    const Folder folder;
    const std::string text = "model_type: llama\nhidden_size: 4096\n";
    for (const char* name : {"config.yaml", "config.json"})
    {
        ExpectRefusal(
            Start("compile", {"--model=" + folder.Write(name, text), PLAN}),
            "this has the keys of a config.json of Hugging Face, which --model reads; but "
            "that is JSON, and this not");
    }
}

TEST(ModelMistakes, WhatReadersWarnOfStandsInTheResults)
{
    const Folder folder;
    ExpectNote(RunModel(folder, R"("width": 64, "idle": 1)", "", "", WIDE),
               "variable idle is used nowhere");
}

TEST(ModelMistakes, PartsOfModelsThatNothingUses)
{
    const Folder folder;
    const auto start = [&](const std::string& variables, const std::string& inputs) {
        return RunModel(folder,
                        R"("width": "half + half", "half": 32)" + variables,
                        inputs,
                        "",
                        WIDE);
    };
    EXPECT_EQ(start("", "").error, "");
    ExpectNote(start(R"(, "a": "b", "b": "a")", ""), "variable a is used nowhere");
    ExpectNote(start(R"(, "batch": 7)", ""), "/let/batch: has no effect: it follows");
    ExpectNote(start(R"(, "index": 7)", ""), "/let/index: has no effect in blocks");
    ExpectNote(start("", R"(, {"name": "z", "shape": ["batch", 4]})"), "input z is used nowhere");
}

TEST(ModelMistakes, ValuesThatAVariableCannotHave)
{
    const auto start = [](const std::string& variables) {
        return Start("run",
                     {"--model=gpt3-125m",
                      "--strategy=dp=2",
                      "--executor=flow",
                      "--quiet",
                      "--variables=" + variables})
            .error;
    };
    EXPECT_NE(start("dropout=5").find("/switches/5: dropout is 0 or 1, not 5"), std::string::npos)
        << start("dropout=5");
    EXPECT_NE(start("padded=50256").find("/requires/0: padded, the vocabulary with what fills"),
              std::string::npos)
        << start("padded=50256");
    EXPECT_EQ(start("padded=50257"), "");
    ExpectNote(Start("run",
                     {"--model=llama3-8b",
                      "--strategy=dp=2,microBatch=1,zero=1",
                      "--cluster=dgx-h100",
                      "--nodes=1",
                      "--executor=flow",
                      "--quiet",
                      "--variables=layers=2,adapterShared=1"}),
               "--variables: adapterShared=1 has no effect: the model is the same without it");
}

TEST(ModelMistakes, FrameworksThatDoNotKnowANorm)
{
    const auto start = [](const std::string& framework) {
        return Start("run",
                     {"--model=resnet50",
                      "--strategy=dp=2,microBatch=8",
                      "--executor=flow",
                      "--quiet",
                      "--framework=" + framework});
    };
    ExpectNote(start("megatron-core"), "framework megatron-core has no rules for batch-norm");
    EXPECT_EQ(start("ddp").error, "");
}

TEST(ModelMistakes, AGeluThatIsWrittenOutButNotInTheFramework)
{
    const auto start = [](const std::string& framework, const std::string& composed) {
        return Start("run",
                     {"--model=gpt3-125m",
                      "--strategy=dp=2",
                      "--variables=layers=2,composedGelu=" + composed,
                      "--executor=flow",
                      "--quiet",
                      "--framework=" + framework});
    };
    ExpectNote(start("megatron-2022", "1"), "framework megatron-2022 takes one kernel for");
    EXPECT_EQ(start("megatron-2022", "0").error, "");
    EXPECT_EQ(start("ddp", "1").error, "");
}

TEST(ModelMistakes, NamesThatSwitchedOffLayersRead)
{
    const Folder folder;
    const auto start = [&](const std::string& in) {
        return RunModel(folder,
                        R"("width": 64)",
                        "",
                        "",
                        WIDE + R"(, {"op": "relu", "name": "r", "when": 0, "in": )" + in + "}")
            .error;
    };
    EXPECT_EQ(start(R"("fc")"), "");
    EXPECT_EQ(start(R"("y")"), "");
    EXPECT_NE(
        start(R"("fx")").find("/layers/2/in: there is no tensor of that name before this layer"),
        std::string::npos);
}

TEST(ModelMistakes, MeasuredTimesThatNoKernelHas)
{
    const Folder folder;
    const auto profile = [&](const std::string& shape) {
        return "--profile=" + folder.Write("p.json",
                                           R"({"format": "proteus-profile", "version": 1, "times": [
 {"gpu": "A100-SXM4-80GB", "operator": "gemm", "data_type": "bf16", "shape": )" +
                                               shape + R"(, "time_us": 7}]})");
    };
    ExpectNote(Start("run", Small({"--strategy=dp=8", profile("[1, 3, 5, 7]")})),
               "none of its 1 time is of a kernel of this job");
    const std::string empty =
        folder.Write("p.json", R"({"format": "proteus-profile", "version": 1, "times": []})");
    ExpectNote(Start("run", Small({"--strategy=dp=8", "--profile=" + empty})),
               "--profile=" + empty + " has no effect: there is no time in it");
}

TEST(ModelMistakes, KernelsWithoutMeasuredTime)
{
    const Folder folder;
    const std::string path = folder.Write("p.json", "");
    ASSERT_EQ(
        Start("compile",
              {"--model=gpt3-125m", "--variables=layers=2", "--strategy=dp=8", "--kernels=" + path})
            .code,
        0);
    const auto start = [&]() {
        return Start("run", Small({"--strategy=dp=8", "--profile=" + path}));
    };
    EXPECT_EQ(start().error.find("have no time in it"), std::string::npos);
    nlohmann::json table = nlohmann::json::parse(std::ifstream(path));
    const std::size_t count = table["times"].size();
    table["times"].erase(count - 1);
    std::ofstream(path) << table;
    ExpectNote(start(),
               "1 of the job's " + std::to_string(count) + " different kernels have no time in it");
}

// What the framework adds to a kernel belongs to its computed time.
TEST(ModelMistakes, ComputedTimesOfAJobReplayItsTime)
{
    const Folder folder;
    const std::string path = folder.Get() + "/p.json";
    const std::string summary = folder.Get() + "/s.json";
    const std::vector<std::string> job{"--model=deepseek-v2-lite",
                                       "--variables=layers=3",
                                       "--strategy=ep=8,dp=8,globalBatch=32"};
    const auto iteration = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words = job;
        words.insert(words.end(),
                     {"--cluster=dgx-h100",
                      "--nodes=1",
                      "--executor=ideal",
                      "--framework=megatron-core",
                      "--quiet",
                      "--summary=" + summary});
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = Start("run", words);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return nlohmann::json::parse(std::ifstream(summary)).at("iteration_s").get<double>();
    };
    std::vector<std::string> list = job;
    list.insert(list.end(),
                {"--gpu=H100-SXM5-80GB", "--framework=megatron-core", "--kernels=" + path});
    ASSERT_EQ(Start("compile", list).code, 0);
    const double computed = iteration({});
    EXPECT_NEAR(iteration({"--profile=" + path}), computed, 0.005 * computed);
}

TEST(ModelMistakes, RingsOfAttentionHaveNoMeasuredTime)
{
    const Folder folder;
    const std::string path = folder.Write("p.json", "");
    const std::vector<std::string> job{"--model=gpt3-125m",
                                       "--variables=layers=2,fusedAttention=1",
                                       "--strategy=dp=4,cp=2,cpOverlap=true"};
    const auto start = [&job](const std::string& program, const std::vector<std::string>& more) {
        std::vector<std::string> words = job;
        words.insert(words.end(), more.begin(), more.end());
        return Start(program, words);
    };
    ASSERT_EQ(start("compile", {"--kernels=" + path}).code, 0);
    const Outcome outcome =
        start("run", {"--nodes=1", "--executor=flow", "--quiet", "--profile=" + path});
    ExpectNote(outcome,
               "--profile=" + path +
                   ": attention in a ring (2 different operators) is computed, as its parts are "
                   "not timed one by one");
    EXPECT_EQ(outcome.error.find("have no time in it"), std::string::npos) << outcome.error;
}

TEST(ModelMistakes, BlocksThatNeverRun)
{
    const Folder folder;
    const auto start = [&](const std::string& layers, const std::string& field) {
        return RunModel(folder,
                        R"("times": 0)",
                        "",
                        R"("deep": [{"op": "linear", "name": "fc", "outputs": 64)" + field + "}]",
                        R"({"op": "linear", "name": "first", "outputs": 64, "in": "x"},
  {"block": "deep", "name": "deep", "repeat": "times"},)" +
                            layers +
                            R"( {"op": "cross-entropy", "name": "loss", "in": ["first", "y"]})");
    };
    ExpectNote(start("", ""),
               "/layers/1/repeat: is 0, and nothing else runs the block deep: the model is without "
               "it");
    EXPECT_EQ(start(R"({"block": "deep", "name": "once"},)", "").error, "");
    ExpectRefusal(start("", R"(, "bais": 0)"), "m.json: /blocks/deep/0/bais: ");
}

TEST(ModelMistakes, FormatsThatAGpuHasNoUnitFor)
{
    const auto start = [](const std::string& cluster, const std::string& type) {
        return Start("run", Small({"--strategy=dp=8,dataType=" + type, "--cluster=" + cluster}));
    };
    ExpectNote(start("dgx1-v100", "bf16"),
               "V100-SXM2-32GB has no unit for bf16: products take the rate of fp16");
    ExpectNote(start("dgx-a100", "fp8"),
               "A100-SXM4-80GB has no unit for fp8: products take the rate of fp16");
    for (const auto& [cluster, type] :
         {std::pair{"dgx1-v100", "fp16"}, std::pair{"dgx-a100", "tf32"}, {"dgx-h100", "fp8"}})
    {
        EXPECT_EQ(start(cluster, type).error.find("no unit for"), std::string::npos) << type;
    }
}

TEST(ModelMistakes, FusedAttentionThatAGpuDoesNotRun)
{
    const auto start = [](const std::string& cluster,
                          const std::string& framework,
                          const std::string& fused,
                          const std::string& type = "fp16") {
        return Start("run",
                     Small({"--strategy=dp=8,dataType=" + type,
                            "--cluster=" + cluster,
                            "--framework=" + framework,
                            "--variables=layers=2,fusedAttention=" + fused}));
    };
    const std::string says = "does not run flash-attention-2, which framework deepspeed has for "
                             "fused attention (from 8.0 on)";
    ExpectNote(start("dgx1-v100", "deepspeed", "1"),
               "V100-SXM2-32GB (compute capability 7.0) " + says);
    for (const char* type : {"fp32", "tf32"})
    {
        ExpectNote(start("dgx-a100", "deepspeed", "1", type),
                   "flash-attention-2, which framework deepspeed has for fused attention, does "
                   "not compute in " +
                       std::string(type));
    }
    EXPECT_EQ(start("dgx-a100", "deepspeed", "0", "fp32").error.find("does not compute"),
              std::string::npos);
    const std::tuple<const char*, const char*, const char*> others[] = {
        {"dgx1-v100", "deepspeed", "0"},
        {"dgx1-v100", "megatron-2022", "1"}, // a share of the peak, and no kernel
        {"dgx-a100", "deepspeed", "1"},
        {"dgx-h100", "ddp", "1"},
    };
    for (const auto& [cluster, framework, fused] : others)
    {
        EXPECT_EQ(start(cluster, framework, fused).error.find("does not run"), std::string::npos)
            << cluster << framework;
    }
}

// Weights in 16 bits leave autocast nothing to cast, which ddp has in all its kernels.
TEST(ModelMistakes, CastsOfWeightsThatNeedNone)
{
    const auto start = [](const std::string& framework, const std::string& options) {
        return Start(
            "run",
            Small(
                {"--strategy=dp=8," + options, "--cluster=dgx-a100", "--framework=" + framework}));
    };
    const std::string half = "dataType=bf16,masterWeights=false";
    const std::string says = "masterWeights=false: weights have 16 bits, but framework ddp casts";
    ExpectNote(start("ddp", half), says);
    for (const auto& [framework, options] : {std::pair{"deepspeed", half},
                                             {"ddp", std::string("dataType=bf16")},
                                             {"ddp", std::string("dataType=fp32")}})
    {
        EXPECT_EQ(start(framework, options).error.find("casts them"), std::string::npos)
            << framework << options;
    }
}

TEST(ModelMistakes, TimesInOtherUnits)
{
    const Folder folder;
    const std::string path = folder.Get() + "/p.json";
    const auto compile = [&](const std::string& option) {
        return Start("compile",
                     {MODEL,
                      PLAN,
                      "--variables=layers=2",
                      "--quiet",
                      "--saveGraph=" + folder.Get() + "/g.json",
                      option + path});
    };
    ASSERT_EQ(compile("--kernels=").code, 0);
    EXPECT_EQ(compile("--profile=").error, "");
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    const std::string good = text.str();
    const std::regex time("\"time_us\": ([0-9]+)\\.([0-9]{3})([0-9]{3})");
    std::ofstream(path) << std::regex_replace(good, time, "\"time_us\": $1$2.$3");
    const std::string longer = compile("--profile=").error;
    EXPECT_NE(longer.find("are 32 times or more shorter or longer than what is computed"),
              std::string::npos)
        << longer;
    std::ofstream(path) << std::regex_replace(good, time, "\"time_us\": 0.0$1");
    const std::string shorter = compile("--profile=").error;
    EXPECT_NE(shorter.find("time_us is in microseconds"), std::string::npos) << shorter;
}

TEST(ModelMistakes, PlansThatDoNotFitNameTheirFile)
{
    const Folder folder;
    const auto start = [&](const std::string& plan) {
        const std::string file = folder.Write(
            "plan.json",
            R"({"format": "proteus-strategy", "version": 1, "name": "mine", )" + plan + "}");
        return Start("compile", {MODEL, "--strategy=" + file}).error;
    };
    const std::string begin = "error: --strategy=" + folder.Get() + "/plan.json: ";
    const std::string stages = start(R"("pp": 16)");
    EXPECT_NE(stages.find(begin + "plan: model GPT-3 125M has 12 numbered blocks"),
              std::string::npos)
        << stages;
    // What is found out when the schedule is made.
    const std::string limits = start(R"("pp": 2, "schedule": "limits", "maxInFlight": [1])");
    EXPECT_NE(limits.find(begin + "strategy \"plan\", schedule limits: maxInFlight has 1 limits"),
              std::string::npos)
        << limits;
    // What is found out when operators are placed.
    const std::string heads = start(R"("tp": 5)");
    EXPECT_NE(heads.find(begin + "strategy \"plan\", node layer*/qkv"), std::string::npos) << heads;
    const std::string typed =
        Start("run", Small({R"(--strategy={"pp": 2, "maxInFlight": [1, 1]})"})).error;
    EXPECT_NE(typed.find("error: --strategy: strategy"), std::string::npos) << typed;
    const std::string odd = Start("run", Small({"--strategy=tp=5"})).error;
    EXPECT_NE(odd.find("error: --strategy: strategy"), std::string::npos) << odd;
    const std::string large =
        Start("run", Small({R"(--strategy={"dp": 64, "globalBatch": 64})"})).error;
    EXPECT_NE(large.find("error: --strategy: the strategy needs 64 GPUs"), std::string::npos)
        << large;
}

// What a block is given and does not read, and what belongs to an adapter that is not there.
TEST(ModelMistakes, WhatBlocksAndAdaptersDoNotReadIsSaid)
{
    const Folder folder;
    const std::string loss = R"(, {"op": "cross-entropy", "name": "loss", "in": ["fc", "y"]})";
    const auto start = [&](const std::string& linear, const std::string& with) {
        return RunModel(folder,
                        "",
                        "",
                        R"("b": [{"op": "linear", "name": "fc", "outputs": "wide")" + linear + "}" +
                            loss + "]",
                        R"({"block": "b", "in": "x", "with": {"wide": 64)" + with + "}}");
    };
    const Outcome well = start("", "");
    EXPECT_EQ(well.code, 0) << well.error;
    EXPECT_EQ(well.error, "");
    ExpectNote(start("", R"(, "deep": 3)"), "/layers/0/with/deep: variable deep is used nowhere");
    for (const std::string key : {"adapterShared", "adapterDropout"})
    {
        const Outcome refused = start(", \"" + key + "\": 1", "");
        EXPECT_EQ(refused.code, 1);
        EXPECT_NE(refused.error.find("/blocks/b/0/" + key + ": belongs to an adapter"),
                  std::string::npos)
            << refused.error;
    }
}

TEST(ModelMistakes, FilesWithABaseHaveItsLayers)
{
    const Folder folder;
    folder.Write("base.json",
                 R"({"format": "proteus-model", "version": 1, "name": "b",
 "let": {"width": 64}, "inputs": [{"name": "x", "shape": ["batch", 64]},
  {"name": "y", "shape": ["batch"], "element": "index"}], "layers": [)" +
                     WIDE + "]}");
    for (const std::string field : {"inputs", "layers", "blocks", "switches", "requires"})
    {
        const std::string model =
            folder.Write("m.json", R"({"format": "proteus-model", "version": 1, "name": "m",
 "base": "base.json", ")" + field + "\": []}");
        ExpectRefusal(Start("compile", {"--model=" + model, "--strategy=dp=1", "--quiet"}),
                      "m.json: /" + field + ": a file with a \"base\" has the base's");
    }
}

TEST(ModelMistakes, SharedParametersAndSplitDimensionsAreThere)
{
    const Folder folder;
    const auto start = [&](const std::string& more) {
        return RunModel(folder,
                        R"("width": 64)",
                        "",
                        "",
                        R"({"op": "linear", "name": "first", "outputs": 64, "in": "x"},
 {"op": "linear", "name": "second", "outputs": 64, )" +
                            more + "},\n" + WIDE);
    };
    ExpectRefusal(
        start(R"("share": {"wieght": "first.weight"})"),
        "/layers/1: operator \"second\" (linear): shares \"wieght\", which is none of its "
        "parameters: weight, bias");
    // Layers that are switched off are checked, too.
    ExpectRefusal(start(R"("when": 0, "share": {"weight": "frist.weight"})"),
                  "/layers/1/share/weight: there is no tensor of that name");
    ExpectRefusal(start(R"("when": 0, "tensorParallel": "outt")"),
                  "/layers/1/tensorParallel: no operator has a dimension of that name");
    EXPECT_EQ(
        start(R"("when": 0, "tensorParallel": "out", "share": {"weight": "first.weight"})").code,
        0);
}
