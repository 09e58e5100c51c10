/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "model-config-tools.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <string>

using namespace ns3::proteus;

// Windows count where transformers heeds them, in the layers that the file says.
TEST(ModelConfig, WindowsCount)
{
    const auto flops = [](const Config& config, std::map<std::string, int64_t> more = {}) {
        more["sequence"] = 4096;
        return ConfigFile(config).Load(more).CountTrainingFlops();
    };
    const Config mistral = Change(LLAMA, {{"model_type", "\"mistral\""}});
    const Config windows = Change(mistral, {{"sliding_window", "1024"}});
    const double all = flops(mistral);
    EXPECT_EQ(flops(windows), flops(mistral, {{"window", 1024}}));
    EXPECT_LT(flops(windows), all);
    EXPECT_EQ(flops(Change(mistral, {{"sliding_window", "4096"}})), all);
    EXPECT_EQ(flops(Change(mistral, {{"sliding_window", "null"}})), all);
    std::string types;
    for (int layer = 1; layer <= 16; ++layer)
    {
        types += std::string(layer == 1 ? "[" : ", ") +
                 (layer % 4 == 0 ? "\"full_attention\"" : "\"sliding_attention\"");
    }
    EXPECT_NEAR((all - flops(Change(windows, {{"layer_types", types + "]"}}))) /
                    (all - flops(windows)),
                0.75,
                1e-9);
    const Config two = Change(windows, {{"num_hidden_layers", "2"}});
    EXPECT_EQ(GetError(Change(two, {{"layer_types", R"(["full_attention", "sliding_attention"])"}}))
                  .substr(0, 60),
              "/layer_types/1: must be full_attention for every n-th layer,");
    // Qwen's count where they are asked for.
    const Config qwen = Change(windows, {{"model_type", "\"qwen2\""}});
    EXPECT_EQ(flops(qwen), flops(qwen, {{"window", 0}}));
    const double wanted = flops(qwen, {{"window", 1024}});
    const ConfigFile asked(
        Change(qwen, {{"use_sliding_window", "true"}, {"max_window_layers", "8"}}));
    EXPECT_EQ(asked.Load({{"sequence", 4096}}).CountTrainingFlops(), wanted);
    EXPECT_NE(asked.GetWarnings().find("/max_window_layers: is not heeded"), std::string::npos)
        << asked.GetWarnings();
}

// Parameters of the checkpoint but for biases of routers, a number for each of 32 experts, and
// sinks, one for each of 64 heads.
TEST(ModelConfig, GptOss)
{
    const ConfigFile file({{"model_type", "\"gpt_oss\""},
                           {"num_hidden_layers", "24"},
                           {"hidden_size", "2880"},
                           {"num_attention_heads", "64"},
                           {"num_key_value_heads", "8"},
                           {"head_dim", "64"},
                           {"intermediate_size", "2880"},
                           {"num_local_experts", "32"},
                           {"num_experts_per_tok", "4"},
                           {"attention_bias", "true"},
                           {"swiglu_limit", "7.0"},
                           {"sliding_window", "128"},
                           {"tie_word_embeddings", "false"},
                           {"max_position_embeddings", "131072"},
                           {"vocab_size", "201088"}});
    const Model model = file.Load();
    constexpr uint64_t LEFT_OUT = 24 * (64 + 32);
    EXPECT_EQ(model.CountParameters() + LEFT_OUT, 20914757184u); // openai/gpt-oss-20b
    EXPECT_NE(file.GetWarnings().find("sinks of attention"), std::string::npos)
        << file.GetWarnings();
    EXPECT_EQ(model.CountTrainingFlops(),
              LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/gpt-oss-20b.json")
                  .CountTrainingFlops());
}

// Parameters of google/gemma-3-1b-pt; five of six layers see 512 tokens.
TEST(ModelConfig, Gemma3)
{
    const Config gemma{{"model_type", "\"gemma3_text\""},
                       {"num_hidden_layers", "26"},
                       {"hidden_size", "1152"},
                       {"num_attention_heads", "4"},
                       {"num_key_value_heads", "1"},
                       {"head_dim", "256"},
                       {"intermediate_size", "6912"},
                       {"sliding_window", "512"},
                       {"sliding_window_pattern", "6"},
                       {"hidden_activation", "\"gelu_pytorch_tanh\""},
                       {"attn_logit_softcapping", "null"},
                       {"max_position_embeddings", "32768"},
                       {"vocab_size", "262144"}};
    EXPECT_EQ(Count(gemma), 999885952u);
    const double wanted =
        LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/gemma3-1b.json")
            .CountTrainingFlops();
    EXPECT_EQ(ConfigFile(gemma).Load().CountTrainingFlops(), wanted);
    EXPECT_NE(
        ConfigFile(Change(gemma, {{"sliding_window_pattern", "2"}})).Load().CountTrainingFlops(),
        wanted);
    EXPECT_NE(GetError(Change(gemma, {{"attn_logit_softcapping", "50.0"}}))
                  .find("/attn_logit_softcapping"),
              std::string::npos);
}

// What transformers takes where a key is missing: the numbers of each class of configurations.
TEST(ModelConfig, MissingKeysOfWindows)
{
    const auto flops = [](const Config& config) {
        return ConfigFile(config).Load({{"sequence", 8192}}).CountTrainingFlops();
    };
    const Config plain = Change(LLAMA, {{"sliding_window", "null"}});
    for (const auto& [type, window] :
         std::map<std::string, std::string>{{"mistral", "4096"}, {"phi3", "null"}})
    {
        const Config without =
            Change(LLAMA, {{"model_type", '"' + type + '"'}, {"tie_word_embeddings", "false"}});
        EXPECT_EQ(flops(without), flops(Change(without, {{"sliding_window", window}}))) << type;
    }
    const Config mistral = Change(plain, {{"model_type", "\"mistral\""}});
    EXPECT_GT(flops(mistral), flops(Change(mistral, {{"sliding_window", ""}})));
    EXPECT_EQ(GetError(Change(mistral, {{"num_key_value_heads", ""}})),
              "/num_key_value_heads: is missing");
}

// Layers that are not as many as there are, and lists in which no layer sees all.
TEST(ModelConfig, LayerTypesAreThoseOfTheLayers)
{
    const Config olmo = Change(LLAMA,
                               {{"model_type", "\"olmo3\""},
                                {"num_hidden_layers", "4"},
                                {"tie_word_embeddings", "false"},
                                {"sliding_window", "1024"}});
    const auto flops = [](const Config& config) {
        return ConfigFile(config).Load({{"sequence", 8192}}).CountTrainingFlops();
    };
    const std::string none =
        R"(["sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention"])";
    const std::string last =
        R"(["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"])";
    EXPECT_EQ(flops(Change(olmo, {{"layer_types", last}})), flops(olmo));
    EXPECT_LT(flops(Change(olmo, {{"layer_types", none}})), flops(olmo));
    EXPECT_EQ(GetError(Change(olmo, {{"num_hidden_layers", "5"}, {"layer_types", last}})),
              "/layer_types: has 4 layers, and num_hidden_layers is 5");
    // Also where no window counts.
    EXPECT_EQ(GetError(Change(olmo, {{"sliding_window", "null"}, {"layer_types", "[]"}})),
              "/layer_types: has 0 layers, and num_hidden_layers is 4");
}
