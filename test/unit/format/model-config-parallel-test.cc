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

namespace
{

const Config FALCON{{"model_type", "\"falcon\""}, // Falcon 7B
                    {"num_hidden_layers", "32"},
                    {"hidden_size", "4544"},
                    {"num_attention_heads", "71"},
                    {"vocab_size", "65024"},
                    {"bias", "false"},
                    {"alibi", "false"},
                    {"multi_query", "true"},
                    {"parallel_attn", "true"},
                    {"new_decoder_architecture", "false"}};

const Config STARCODER_2{{"model_type", "\"starcoder2\""}, // StarCoder2 3B
                         {"num_hidden_layers", "30"},
                         {"hidden_size", "3072"},
                         {"num_attention_heads", "24"},
                         {"num_key_value_heads", "2"},
                         {"intermediate_size", "12288"},
                         {"sliding_window", "4096"},
                         {"max_position_embeddings", "16384"},
                         {"hidden_act", "\"gelu_pytorch_tanh\""},
                         {"vocab_size", "49152"}};

} // namespace

// Parameters of the checkpoints on the Hugging Face hub (safetensors), those that are tied once.
TEST(ModelConfig, AttentionAndProductsBesideEachOther)
{
    EXPECT_EQ(Count(FALCON), 6921720704u);
    const Config large{{"num_hidden_layers", "60"}, // Falcon 40B
                       {"hidden_size", "8192"},
                       {"num_attention_heads", "128"},
                       {"num_kv_heads", "8"},
                       {"new_decoder_architecture", "true"}};
    EXPECT_EQ(Count(Change(FALCON, large)), 41303293952u);
    // One norm in place of two: weight and bias in each layer.
    EXPECT_EQ(Count(Change(Change(FALCON, large), {{"num_ln_in_parallel_attn", "1"}})),
              41303293952u - uint64_t{60} * 2 * 8192);
    // Falcon RW 1B: biases, all heads, one behind the other, with two norms.
    const uint64_t h = 2048;
    EXPECT_EQ(Count(Change(FALCON,
                           {{"num_hidden_layers", "24"},
                            {"hidden_size", "2048"},
                            {"num_attention_heads", "32"},
                            {"vocab_size", "50304"},
                            {"bias", "true"},
                            {"alibi", "true"},
                            {"multi_query", "false"},
                            {"parallel_attn", "false"}})),
              50304 * h + 24 * (12 * h * h + 13 * h) + 2 * h);
    const Config phi{{"model_type", "\"phi\""}, // Phi 2
                     {"num_hidden_layers", "32"},
                     {"hidden_size", "2560"},
                     {"num_attention_heads", "32"},
                     {"intermediate_size", "10240"},
                     {"resid_pdrop", "0.1"},
                     {"vocab_size", "51200"}};
    EXPECT_EQ(Count(phi), 2779683840u);
    EXPECT_EQ(Count({{"model_type", "\"gptj\""}, // GPT-J 6B
                     {"n_layer", "28"},
                     {"n_embd", "4096"},
                     {"n_head", "16"},
                     {"n_inner", "null"},
                     {"n_positions", "2048"},
                     {"tie_word_embeddings", "false"},
                     {"vocab_size", "50400"}}),
              6050882784u);
    EXPECT_NE(GetError(Change(phi, {{"qk_layernorm", "true"}})).find("/qk_layernorm: is true"),
              std::string::npos);
}

// Its embedding is the weight of the last product, too.
TEST(ModelConfig, GraniteWithExperts)
{
    const Config small{{"model_type", "\"granitemoe\""}, // Granite 3.0 1B-A400M
                       {"num_hidden_layers", "24"},
                       {"hidden_size", "1024"},
                       {"num_attention_heads", "16"},
                       {"num_key_value_heads", "8"},
                       {"intermediate_size", "512"},
                       {"num_local_experts", "32"},
                       {"num_experts_per_tok", "8"},
                       {"max_position_embeddings", "4096"},
                       {"attention_multiplier", "0.015625"},
                       {"tie_word_embeddings", "true"},
                       {"vocab_size", "49155"}};
    EXPECT_EQ(Count(small), 1334628352u);
    EXPECT_EQ(Count(Change(small,
                           {{"num_hidden_layers", "32"}, // Granite 3.0 3B-A800M
                            {"hidden_size", "1536"},
                            {"num_attention_heads", "24"},
                            {"num_local_experts", "40"}}),
                    {{"sequence", 2560}}), // which 40 experts can share
              3298793472u);
    EXPECT_EQ(Count(Change(small, {{"tie_word_embeddings", "false"}})), 1334628352u + 49155 * 1024);
    const ConfigFile file(small);
    file.Load();
    EXPECT_EQ(file.GetWarnings(), "");
}

TEST(ModelConfig, StarCoder2HasWindowsAndFewHeadsOfKeys)
{
    EXPECT_EQ(Count(STARCODER_2), 3030371328u);
    EXPECT_EQ(Count(Change(STARCODER_2,
                           {{"num_hidden_layers", "40"}, // StarCoder2 15B
                            {"hidden_size", "6144"},
                            {"num_attention_heads", "48"},
                            {"num_key_value_heads", "4"},
                            {"intermediate_size", "24576"},
                            {"tie_word_embeddings", "false"}})),
              15957889024u);
    EXPECT_NE(GetError(Change(STARCODER_2, {{"norm_type", "\"rms_norm\""}})).find("/norm_type"),
              std::string::npos);
    for (const uint64_t window : {0u, 1024u})
    {
        const Config config = Change(
            STARCODER_2,
            {{"sliding_window", window == 0 ? std::string("null") : std::to_string(window)}});
        const Model model = ConfigFile(config).Load({{"fusedAttention", 1}});
        bool isFound = false;
        for (const ModelOperator& op : model.GetOperators())
        {
            if (op.kind == "attention")
            {
                isFound = true;
                EXPECT_EQ(op.window, window);
            }
        }
        EXPECT_TRUE(isFound);
    }
}
