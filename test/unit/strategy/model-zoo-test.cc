/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"
#include "../temporary-file.h"

#include "ns3/proteus-dimension-names.h"
#include "ns3/proteus-json.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-model-unused.h"

#include <cstdint>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

using namespace ns3::proteus;

namespace
{

Model
Load(const std::string& name, const std::map<std::string, int64_t>& variables = {})
{
    return LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/" + name + ".json",
                     variables);
}

std::string
GetError(const std::string& text)
{
    return ns3::proteus::ErrorOf([&] {
        std::istringstream input(text);
        ReadModelJson(input, "m.json");
    });
}

} // namespace

// Exact counts. CNNs: torchvision, SE-ResNeXt: timm. GPT-1, 2 and 1.5B, DLRM and Inception-V3
// without the auxiliary classifier: counted from the original Proteus (proteus.md, section 7),
// vocabulary padded. GPT-2 as released: 124439808, 354823168, 774030080, 1557611200. BERT, T5,
// Llama, Mixtral: parameters of the checkpoints on the Hugging Face hub (BertForMaskedLM,
// T5ForConditionalGeneration, LlamaForCausalLM, MistralForCausalLM, MixtralForCausalLM,
// Qwen2ForCausalLM, Qwen3ForCausalLM, Qwen3MoeForCausalLM); BART has 406291456 there, without the
// two norms that follow norms first. ViT: timm has 86567656 and 304326632, with the token of the
// class, a row of the first block.
TEST(ModelZoo, ParametersAreThePublishedOnes)
{
    const std::map<std::string, uint64_t> exact{
        {"alexnet", 61100840},
        {"vgg16", 138357544},
        {"vgg19", 143667240},
        {"resnet50", 25557032},
        {"resnet152", 60192808},
        {"resnet101", 44549160},
        {"resnext50-32x4d", 25028904},
        {"resnext101-32x4d", 44177704},
        {"seresnext101-32x4d", 48955416},
        {"mobilenet-v2", 3504872},
        {"efficientnet-b0", 5288548},
        {"efficientnet-b4", 19341616},
        {"convnext-tiny", 28589128},
        {"convnext-base", 88591464},
        {"regnety-4gf", 20646656},
        {"inception-v3", 23834568},
        {"gpt1", 116610048},
        {"gpt2", 117003264},
        {"gpt-1.5b", 1557683200},
        {"dlrm", 515877441},
        {"bert-base", 109514298},
        {"bert-large", 335174458},
        {"t5-small", 60506624},
        {"t5-base", 222903552},
        {"t5-large", 737668096},
        {"llama2-7b", 6738415616},
        {"llama2-70b", 68976648192},
        {"llama3-8b", 8030261248},
        {"llama3-70b", 70553706496},
        {"llama3-405b", 405853388800},
        {"mixtral-8x7b", 46702792704},
        {"qwen3-30b-a3b", 30532122624},
        {"bart-large", 406295552},
        {"vit-base", 86566888},
        {"vit-large", 304325608},
        {"llama2-13b", 13015864320},
        {"llama-30b", 32528943616},
        {"llama-65b", 65285660672},
        {"llama3.1-8b", 8030261248},
        {"llama3.1-70b", 70553706496},
        {"mistral-7b", 7248023552},
        {"mixtral-8x22b", 140620634112},
        {"qwen2.5-7b", 7615616512},
        {"qwen2.5-14b", 14770033664},
        {"qwen2.5-32b", 32763876352},
        {"qwen2.5-72b", 72706203648},
        {"qwen3-8b", 8190735360},
        {"qwen3-14b", 14768307200},
        {"qwen3-32b", 32762123264},
        {"qwen3-235b-a22b", 235093634560},
        {"llama3.1-405b", 405853388800},
        {"pythia-70m", 70426624},
        {"pythia-160m", 162322944},
        {"pythia-410m", 405334016},
        {"pythia-1b", 1011781632},
        {"pythia-1.4b", 1414647808},
        {"pythia-2.8b", 2775208960},
        {"pythia-6.9b", 6857302016},
        {"pythia-12b", 11846072320},
        {"starcoder", 15517456384},
        {"starcoderbase-1b", 1137207296},
        {"starcoderbase-3b", 3043311104},
        {"starcoderbase-7b", 7327263232},
        {"llama3.2-1b", 1235814400},
        {"llama3.2-3b", 3212749824},
        {"tinyllama-1.1b", 1100048384},
        {"qwen2.5-0.5b", 494032768},
        {"qwen2.5-1.5b", 1543714304},
        {"qwen2.5-3b", 3085938688},
        {"qwen3-0.6b", 596049920},
        {"qwen3-1.7b", 1720574976},
        {"qwen3-4b", 4022468096},
        {"smollm2-135m", 134515008},
        {"smollm2-360m", 361821120},
        {"smollm2-1.7b", 1711376384},
        {"smollm3-3b", 3075098624},
        {"yi-6b", 6061035520},
        {"yi-34b", 34388917248},
        {"codellama-34b", 33743970304},
        {"deepseek-67b", 67425001472},
        {"phi-3-mini", 3821079552},
        {"mistral-small-24b", 23572403200},
        {"gpt-neox-20b", 20554567680},
        {"falcon-7b", 6921720704},
        {"falcon-40b", 41303293952},
        {"gpt-j-6b", 6050882784},
        {"starcoder2-3b", 3030371328},
        {"starcoder2-7b", 7173923840},
        {"starcoder2-15b", 15957889024},
        {"wan2.1-1.3b", 1418996800},
        {"wan2.1-14b", 14288491584},
        {"vit-huge", 632044520},
        {"t5-3b", 2851598336},
        {"t5-11b", 11307321344},
        {"t5-v1.1-small", 76961152},
        {"t5-v1.1-base", 247577856},
        {"t5-v1.1-large", 783150080},
        {"t5-v1.1-xl", 2849757184},
        {"t5-v1.1-xxl", 11135332352},
        {"flan-t5-small", 76961152},
        {"flan-t5-xl", 2849757184},
    };
    for (const auto& [name, count] : exact)
    {
        EXPECT_EQ(Load(name).CountParameters(), count) << name;
    }
    const std::map<std::string, uint64_t> unpadded{
        {"gpt2-small", 124439808},
        {"gpt2-medium", 354823168},
        {"gpt2-large", 774030080},
        {"gpt2-xl", 1557611200},
    };
    for (const auto& [name, count] : unpadded)
    {
        EXPECT_EQ(Load(name, {{"padded", 50257}}).CountParameters(), count) << name;
    }
    const std::map<std::string, uint64_t> opt{
        {"opt-125m", 125239296},
        {"opt-1.3b", 1315758080},
        {"opt-2.7b", 2651596800},
        {"opt-6.7b", 6658473984},
        {"opt-13b", 12853473280},
        {"opt-30b", 29974540288},
        {"opt-66b", 65719701504},
    };
    for (const auto& [name, count] : opt)
    {
        EXPECT_EQ(Load(name, {{"padded", 50272}}).CountParameters(), count) << name;
    }
    // Positions that stand for ALiBi, without the norm of BLOOM's embedding and with biases that
    // MPT has not; norms of OLMo's queries and keys are of each head.
    const auto position = [](uint64_t sequence, uint64_t hidden) { return sequence * hidden; };
    EXPECT_EQ(Load("bloom-7b1").CountParameters(), 7069016064u + position(2048, 4096) - 2 * 4096);
    EXPECT_EQ(Load("bloom-176b").CountParameters(),
              176247271424u + position(2048, 14336) - 2 * 14336);
    EXPECT_EQ(Load("mpt-7b").CountParameters(),
              6649286656u + position(2048, 4096) + (32 * 11 + 1) * 4096);
    EXPECT_EQ(Load("mpt-30b").CountParameters(),
              29957200896u + position(8192, 7168) + (48 * 11 + 1) * 7168);
    const auto norms = [](uint64_t layers, uint64_t queries, uint64_t keys) {
        return layers * (queries + keys - 2 * 128);
    };
    EXPECT_EQ(Load("olmo2-1b").CountParameters(), 1484916736u - norms(16, 2048, 2048));
    EXPECT_EQ(Load("olmo2-7b").CountParameters(), 7298617344u - norms(32, 4096, 4096));
    EXPECT_EQ(Load("olmo2-13b").CountParameters(), 13716198400u - norms(40, 5120, 5120));
    EXPECT_EQ(Load("olmo2-32b").CountParameters(), 32234279936u - norms(64, 5120, 1024));
    // google/t5-v1_1-small and -large of Hugging Face transformers.
    EXPECT_EQ(
        Load("t5-small",
             {{"layers", 8}, {"heads", 6}, {"feedForward", 1024}, {"gated", 1}, {"untied", 1}})
            .CountParameters(),
        76961152u);
    EXPECT_EQ(
        Load("t5-large", {{"feedForward", 2816}, {"gated", 1}, {"untied", 1}}).CountParameters(),
        783150080u);
}

// Rounded in the papers: Brown et al. 2020, Table D.1; Korthikanti et al. 2022, Table 3 (names);
// Vaswani et al. 2017, Table 3; DeepSeek-V2 and V3: their reports.
TEST(ModelZoo, ParametersAreNearTheRoundedOnes)
{
    struct Rounded
    {
        double billions;
        double tolerance;
    };

    const std::map<std::string, Rounded> models{
        {"gpt3-125m", {0.125, 0.004}},
        {"gpt3-350m", {0.356, 0.004}},
        {"gpt3-760m", {0.760, 0.004}},
        {"gpt3-1.3b", {1.320, 0.004}},
        {"gpt3-2.7b", {2.650, 0.004}},
        {"gpt3-6.7b", {6.660, 0.004}},
        {"gpt3-13b", {12.850, 0.004}},
        {"gpt3-175b", {174.600, 0.004}},
        {"megatron-22b", {22, 0.02}},
        {"megatron-530b", {530, 0.002}},
        {"megatron-1t", {1008, 0.002}},
        {"transformer", {0.065, 0.04}},
        {"transformer-big", {0.213, 0.01}},
        {"deepseek-v3", {671, 0.0005}},
        {"deepseek-v2-lite", {15.7, 0.001}},
    };
    for (const auto& [name, rounded] : models)
    {
        EXPECT_NEAR(Load(name, {{"tensorParallel", 1}}).CountParameters() / 1e9 / rounded.billions,
                    1,
                    rounded.tolerance)
            << name;
    }
}

// The same reports have the parameters that a token uses: those of its experts and all others, of
// V2-Lite without the embedding. V3's repository has 14 billion for multi-token prediction, with
// the embedding and the head that it shares.
TEST(ModelZoo, TokensUseThePublishedParameters)
{
    struct Active
    {
        double billions;
        double tolerance;
        double top;
        uint64_t embedding;
    };

    const std::map<std::string, Active> models{
        {"deepseek-v3", {37, 0.02, 8, 0}},
        {"deepseek-v2-lite", {2.4, 0.03, 6, 102400 * 2048}},
    };
    for (const auto& [name, published] : models)
    {
        const Model model = Load(name);
        double active = static_cast<double>(model.CountParameters() - published.embedding);
        for (const ModelOperator& op : model.GetOperators())
        {
            if (op.kind == "expert-linear")
            {
                double all = 1;
                for (const uint64_t extent : model.GetTensor(op.reads[1].tensor).shape)
                {
                    all *= static_cast<double>(extent);
                }
                active -= all * (1 - published.top / static_cast<double>(op.dimensions[0].extent));
            }
        }
        EXPECT_NEAR(active / 1e9 / published.billions, 1, published.tolerance) << name;
    }
    const uint64_t prediction = Load("deepseek-v3", {{"predictionLayers", 1}}).CountParameters() -
                                Load("deepseek-v3").CountParameters();
    EXPECT_NEAR(static_cast<double>(prediction + uint64_t{2} * 129280 * 7168) / 14e9, 1, 0.04);
}

TEST(ModelZoo, EveryFileCanBeRead)
{
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models"))
    {
        EXPECT_NO_THROW(LoadModel(entry.path().string(), {{"batch", 2}})) << entry.path();
        EXPECT_EQ(LoadModel(entry.path().string(), {{"batch", 2}}).GetBatch(), 2u) << entry.path();
    }
}

// Narayanan et al. 2021, equation (3) without recomputation: 24 B s l h^2 (1 + s / (6 h)) and 2 B s
// h V of the output layer for a forward pass.
TEST(ModelZoo, FlopsAreTheFormula)
{
    const Model model = Load("gpt3-6.7b", {{"batch", 4}, {"tensorParallel", 8}});
    const double tokens = 4.0 * 2048;
    const double h = 4096;
    const double layers = 24 * tokens * 32 * h * h * (1 + 2048 / (6 * h));
    EXPECT_NEAR(model.CountForwardFlops() / (layers + 2 * tokens * h * 51200), 1, 1e-12);
    EXPECT_EQ(model.GetSequence(), 2048u);
}

// BERT's head of the masked tokens alone, and those of fine-tuned models, whose parameters are
// those of Hugging Face's BertForSequenceClassification (three classes) and
// BertForTokenClassification (two).
TEST(ModelZoo, BertPredictsSomeTokensOrClasses)
{
    const auto load = [](int64_t predictions, int64_t classes) {
        return Load(
            "bert-base",
            {{"batch", 4}, {"sequence", 128}, {"predictions", predictions}, {"classes", classes}});
    };
    const Model all = load(128, 0);
    const Model some = load(20, 0);
    EXPECT_EQ(some.CountParameters(), all.CountParameters());
    constexpr double HIDDEN = 768;
    constexpr double WORDS = 30522;
    EXPECT_NEAR(all.CountForwardFlops() - some.CountForwardFlops(),
                4 * (128 - 20) * 2 * HIDDEN * (HIDDEN + WORDS),
                1);
    EXPECT_EQ(load(1, 3).CountParameters(), 109484547u);
    EXPECT_EQ(load(128, 2).CountParameters(), 108893186u);
    EXPECT_NE(ErrorOf([&] { load(129, 0); }).find("\"sizes\" is -1"), std::string::npos);
}

TEST(ModelZoo, GeluMayBeWrittenOut)
{
    for (const int64_t composed : {0, 1})
    {
        const Model model = Load("gpt", {{"batch", 1}, {"composedGelu", composed}});
        bool isFound = false;
        for (const ModelOperator& op : model.GetOperators())
        {
            isFound = isFound || op.name == "layer0.gelu";
            EXPECT_TRUE(op.name != "layer0.gelu" ||
                        op.kind == (composed ? "composed-gelu" : "gelu"));
        }
        EXPECT_TRUE(isFound);
    }
}

// Tokens of a sentence that is written see those before them; those of an encoder, of an image or
// of another sequence all, whatever is masked for its length.
TEST(ModelZoo, AttentionIsCausalWhereTokensFollowEachOther)
{
    const std::map<std::string, int64_t> fused{{"fusedAttention", 1}};
    const std::map<std::string, int64_t> asLong{{"fusedAttention", 1},
                                                {"sequence", 512},
                                                {"targetSequence", 512}};
    for (const auto& [name, variables] : std::map<std::string, std::map<std::string, int64_t>>{
             {"gpt3-125m", fused},
             {"bert-base", fused},
             {"vit-base", fused},
             {"wan2.1-1.3b", fused},
             {"bart-large", asLong},
             {"t5-small", {{"sequence", 512}, {"targetSequence", 512}}}})
    {
        std::size_t found = 0;
        const Model model = Load(name, variables);
        for (const ModelOperator& op : model.GetOperators())
        {
            if (op.kind == "attention")
            {
                ++found;
                const bool isDecoder = op.name.find("decoder") == 0;
                const bool isCross = op.name.find("cross") != std::string::npos;
                EXPECT_EQ(op.isCausal, name == "gpt3-125m" || (isDecoder && !isCross))
                    << name << ": " << op.name;
            }
        }
        EXPECT_GT(found, 0u) << name;
    }
}

TEST(ModelJson, MistakesAreNamed)
{
    const std::string head = R"json({"format": "proteus-model", "version": 1, )json"
                             R"json("inputs": [{"name": "x", "shape": ["batch", 8]}], )json";
    EXPECT_EQ(
        GetError(head + R"json("layers": [{"op": "liner", "name": "a"}]})json"),
        "m.json: /layers/0/op: unknown kind of operator \"liner\": choose one of linear, "
        "matmul, convolution, embedding, embedding-bag, position-embedding, expert-linear, "
        "relu, squared-relu, gelu, composed-gelu, tanh, swiglu, clamped-swiglu, composed-geglu, "
        "add, adapter-add, wide-adapter-add, widen, dropout, wide-dropout, dropout-add, "
        "layer-norm, rms-norm, "
        "batch-norm, pool, attention, softmax, rotary, scaled-rotary, shared-rotary, "
        "shared-heads, cross-entropy, "
        "vocabulary-maximum, "
        "vocabulary-sum, vocabulary-loss, mean-squared-error, reshape, permute, concat, split, "
        "interaction, sigmoid, hard-sigmoid, silu, hard-swish, global-pool, scale, layer-scale, "
        "router, dispatch, combine");
    const std::string images =
        R"json({"format": "proteus-model", "version": 1, "inputs": [)json"
        R"json({"name": "x", "shape": ["batch", 24, 8, 8], "dimensions": )json"
        R"json(["batch", "channels", "height", "width"]}], )json";
    EXPECT_EQ(GetError(images +
                       R"json("layers": [{"op": "convolution", "name": "a", "outputs": )json"
                       R"json(32, "groups": 16}]})json"),
              "m.json: /layers/0: operator \"a\" (convolution): 16 groups do not divide the 24 "
              "channels of \"x\" and the 32 outputs");
    EXPECT_EQ(GetError(head +
                       R"json("layers": [{"op": "linear", "name": "a", "outputs": "h / 3"}], )json"
                       R"json("let": {"h": 8}})json"),
              "m.json: /layers/0/outputs: expression \"h / 3\": 8 cannot be divided by 3 without a "
              "remainder");
    EXPECT_EQ(
        GetError(head + R"json("layers": [{"op": "rms-norm", "name": "a", "heads": 3}]})json"),
        "m.json: /layers/0: operator \"a\" (rms-norm): needs an input whose last dimension is a "
        "multiple of its heads");
    EXPECT_EQ(
        GetError(head + R"json("layers": [{"op": "linear", "name": "a", "outputs": "w"}]})json"),
        "m.json: /layers/0/outputs: variable w is not known");
    EXPECT_EQ(GetError(head + R"json("layers": [{"op": "linear", "name": "a", "output": 8}]})json"),
              "m.json: /layers/0/output: a linear has no attribute \"output\", but "
              "tensorParallel, outputs, groups, bias; did you mean outputs?");
    EXPECT_EQ(GetError(head + R"json("layers": [{"op": "linear", "name": "a", "outputs": 8, )json"
                              R"json("bais": true}]})json"),
              "m.json: /layers/0/bais: a linear has no attribute \"bais\", but tensorParallel, "
              "outputs, groups, bias; did you mean bias?");
    // Layers that are switched off.
    EXPECT_EQ(GetError(head + R"json("layers": [{"op": "relu", "name": "a"}, )json"
                              R"json({"op": "relu", "name": "b", "when": 0, "inn": "a"}]})json"),
              "m.json: /layers/1/inn: a relu has no attribute \"inn\", but tensorParallel");
    EXPECT_EQ(GetError(head + R"json("layers": [{"op": "relu", "name": "a"}, )json"
                              R"json({"op": "relu", "name": "b", "when": 0, "in": [1]}]})json"),
              "m.json: /layers/1/in/0: must be a string, not 1");
    EXPECT_EQ(GetError(head + R"json("layers": [{"op": "relu", "name": "a"}, )json"
                              R"json({"block": "b", "when": 0}]})json"),
              "m.json: /layers/1/block: there is no such block in \"blocks\"");
    const auto getErrorOfSkipped = [&head](const std::string& layer) {
        return GetError(head + R"json("blocks": {"b": []}, "layers": [{"op": "relu", "name": "a"},
                                                {"when": 0, "name": "c", )json" +
                        layer + "}]}");
    };
    EXPECT_EQ(getErrorOfSkipped(R"json("op": "linear", "outputs": "8 / (batch - 1)")json"), "");
    EXPECT_EQ(getErrorOfSkipped(R"json("op": "linear", "outputs": "8 +")json"),
              "m.json: /layers/1/outputs: expression \"8 +\": ends too early");
    EXPECT_EQ(getErrorOfSkipped(R"json("op": "linear", "outputs": "w")json"),
              "m.json: /layers/1/outputs: variable w is not known");
    EXPECT_EQ(getErrorOfSkipped(R"json("op": "linear", "outputs": null)json"),
              "m.json: /layers/1/outputs: must be an integer from 0 to 9223372036854775807, not "
              "null");
    EXPECT_EQ(getErrorOfSkipped(R"json("op": "relux")json").substr(0, 47),
              "m.json: /layers/1/op: unknown kind of operator ");
    EXPECT_EQ(getErrorOfSkipped(R"json("block": "b", "with": {"x": "y"})json"),
              "m.json: /layers/1/with/x: variable y is not known");
    EXPECT_EQ(getErrorOfSkipped(R"json("block": "b", "with": {"x": 1}, "repeat": "x")json"), "");
    EXPECT_EQ(GetError(head + R"json("layers": [{"op": "relu", "name": "a", "when": 1}, )json"
                              R"json({"op": "relu", "name": "a", "when": 0}]})json"),
              "");
    EXPECT_EQ(GetError(head + R"json("layers": [{"op": "relu", "name": "a", "in": "y"}]})json"),
              "m.json: /layers/0/in: there is no tensor of that name before this layer");
    EXPECT_EQ(GetError(head + R"json("layers": [{"op": "relu", "name": "a"}, )json"
                              R"json({"op": "relu", "name": "a"}]})json"),
              "m.json: /layers/1: operator \"a\" (relu): another operator has the same name");
    EXPECT_EQ(GetError(head + R"json("layers": [{"op": "relu", "name": "a"}], )json"
                              R"json("let": {"a": "b", "b": "a"}})json"),
              ""); // never asked for
    EXPECT_EQ(GetError(head +
                       R"json("layers": [{"op": "linear", "name": "a", "outputs": "a"}], )json"
                       R"json("let": {"a": "b", "b": "a"}})json"),
              "m.json: /let/b: variable a depends on itself");
    EXPECT_EQ(GetError(head + R"json("layers": []})json"), "m.json: model m.json has no operators");
    EXPECT_EQ(GetError(head + R"json("layers": [{"op": "relu", "name": "a\nb"}]})json"),
              "m.json: /layers/0/name: must be a name without control characters, not \"a\\nb\"");
}

TEST(ModelJson, BasesAreFoundBesideTheFileAndInTheFolder)
{
    const std::string folder = std::string(PROTEUS_SOURCE_DIR) + "/workloads/models";
    const std::string head = R"json({"format": "proteus-model", "version": 1, "name": "own", )json";
    const TemporaryFile own("-own.json", head + R"json("base": "gpt3-125m.json"})json");
    const std::string before = own.GetPath().substr(0, own.GetPath().rfind('/') + 1);
    EXPECT_EQ(LoadModel(own.GetPath(), {}, folder).CountParameters(),
              Load("gpt3-125m").CountParameters());
    EXPECT_EQ(ListModelFiles(own.GetPath(), folder),
              (std::vector<std::string>{own.GetPath(),
                                        folder + "/gpt3-125m.json",
                                        folder + "/gpt.json"}));
    EXPECT_EQ(ErrorOf([&] { LoadModel(own.GetPath()); }),
              own.GetPath() + ": /base: " + before +
                  "gpt3-125m.json: cannot be read: No such file or directory");
    const std::string name = "proteus-" + std::to_string(getpid()) + "-test-loop.json";
    const TemporaryFile loop("-loop.json", head + R"json("base": ")json" + name + "\"}");
    EXPECT_NE(ErrorOf([&] {
                  LoadModel(loop.GetPath());
              }).find(name + ": is the base of too many others, maybe of itself"),
              std::string::npos);
}

TEST(ModelJson, WhatNothingUsesIsNamed)
{
    std::vector<std::unique_ptr<JsonDocument>> documents;
    for (const char* text :
         {R"json({"source": "says c", "let": {"a": 1, "b": "a - d", "c": 2}, "base": "base.json",
                  "layers": [{"block": "first-one"}]})json",
          R"json({"let": {"d": 4}, "blocks": {"first-one": [{"op": "relu", "when": "b > 0"}],
                  "second": []}})json"})
    {
        std::istringstream input(text);
        documents.push_back(std::make_unique<JsonDocument>(input, documents.empty() ? "m" : "n"));
    }
    EXPECT_EQ(FindUnusedInModel(documents),
              (std::vector<std::string>{"m: variable c", "n: block second"}));
}

TEST(ModelZoo, EveryVariableIsUsed)
{
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models"))
    {
        testing::internal::CaptureStderr();
        LoadModel(entry.path().string());
        EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << entry.path();
    }
}

// Words of layers that are switched off are looked for among them.
TEST(ModelZoo, NamesOfDimensionsAreListed)
{
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models"))
    {
        const Model model = LoadModel(entry.path().string());
        std::set<std::string> known = GetOwnDimensionNames();
        for (const ModelTensor& tensor : model.GetTensors())
        {
            if (tensor.role == TensorRole::INPUT)
            {
                known.insert(tensor.dimensions.begin(), tensor.dimensions.end());
            }
        }
        for (const ModelOperator& op : model.GetOperators())
        {
            for (const IterationDimension& dimension : op.dimensions)
            {
                EXPECT_EQ(known.count(dimension.name), 1u)
                    << entry.path() << ", " << op.name << ": " << dimension.name;
            }
        }
    }
}

TEST(ModelJson, BlocksAreNamedAndRepeated)
{
    std::istringstream input(R"json({"format": "proteus-model", "version": 1, "let": {"n": 2},
        "inputs": [{"name": "x", "shape": ["batch", 8]}],
        "blocks": {"b": [{"op": "linear", "name": "fc", "outputs": "8 * (index + 1)"},
                         {"op": "relu", "name": "r", "when": "index == 1"}]},
        "layers": [{"block": "b", "name": "l", "repeat": "n"}]})json");
    const Model model = ReadModelJson(input, "m.json");
    ASSERT_EQ(model.GetOperators().size(), 3u);
    EXPECT_EQ(model.GetOperators()[0].name, "l0.fc");
    EXPECT_EQ(model.GetOperators()[1].name, "l1.fc");
    EXPECT_EQ(model.GetOperators()[2].name, "l1.r");
    EXPECT_EQ(model.GetTensor(model.GetOperators()[1].writes[0].tensor).shape, (Shape{1, 16}));
}
