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

const Config DEEPSEEK{{"model_type", "\"deepseek_v3\""},
                      {"num_hidden_layers", "61"},
                      {"first_k_dense_replace", "3"},
                      {"hidden_size", "7168"},
                      {"num_attention_heads", "128"},
                      {"q_lora_rank", "1536"},
                      {"kv_lora_rank", "512"},
                      {"qk_nope_head_dim", "128"},
                      {"qk_rope_head_dim", "64"},
                      {"v_head_dim", "128"},
                      {"intermediate_size", "18432"},
                      {"moe_intermediate_size", "2048"},
                      {"n_routed_experts", "256"},
                      {"n_shared_experts", "1"},
                      {"num_experts_per_tok", "8"},
                      {"n_group", "8"},
                      {"topk_group", "4"},
                      {"vocab_size", "129280"}};

const Config OPT{{"model_type", "\"opt\""},
                 {"num_hidden_layers", "12"},
                 {"hidden_size", "768"},
                 {"num_attention_heads", "12"},
                 {"ffn_dim", "3072"},
                 {"max_position_embeddings", "2048"},
                 {"vocab_size", "50272"},
                 {"word_embed_proj_dim", "768"}};

} // namespace

// Parameters of the checkpoints on the Hugging Face hub (safetensors), those that are tied once.
TEST(ModelConfig, ParametersAreThePublishedOnes)
{
    EXPECT_EQ(Count(LLAMA), 1235814400u); // Llama 3.2 1B
    EXPECT_EQ(Count(Change(LLAMA,
                           {{"hidden_size", "5120"}, // Mistral Nemo
                            {"model_type", "\"mistral\""},
                            {"num_hidden_layers", "40"},
                            {"head_dim", "128"},
                            {"intermediate_size", "14336"},
                            {"vocab_size", "131072"},
                            {"tie_word_embeddings", ""}})),
              12247782400u);
    const Config qwen = Change(LLAMA,
                               {{"model_type", "\"qwen2\""}, // Qwen2.5 0.5B
                                {"num_hidden_layers", "24"},
                                {"hidden_size", "896"},
                                {"num_attention_heads", "14"},
                                {"num_key_value_heads", "2"},
                                {"head_dim", ""},
                                {"intermediate_size", "4864"},
                                {"vocab_size", "151936"}});
    EXPECT_EQ(Count(qwen), 494032768u);
    EXPECT_EQ(Count(Change(qwen,
                           {{"model_type", "\"qwen3\""}, // Qwen3 4B
                            {"num_hidden_layers", "36"},
                            {"hidden_size", "2560"},
                            {"num_attention_heads", "32"},
                            {"num_key_value_heads", "8"},
                            {"head_dim", "128"},
                            {"intermediate_size", "9728"}})),
              4022468096u);
    EXPECT_EQ(Count(Change(qwen,
                           {{"model_type", "\"qwen3_moe\""}, // Qwen3 Coder 480B-A35B
                            {"num_hidden_layers", "62"},
                            {"hidden_size", "6144"},
                            {"num_attention_heads", "96"},
                            {"num_key_value_heads", "8"},
                            {"head_dim", "128"},
                            {"moe_intermediate_size", "2560"},
                            {"num_experts", "160"},
                            {"num_experts_per_tok", "8"},
                            {"tie_word_embeddings", "false"}}),
                    {{"sequence", 5120}}),
              480154875392u);
    EXPECT_EQ(Count(Change(LLAMA,
                           {{"model_type", "\"phi3\""}, // Phi-4
                            {"num_hidden_layers", "40"},
                            {"hidden_size", "5120"},
                            {"num_attention_heads", "40"},
                            {"num_key_value_heads", "10"},
                            {"head_dim", ""},
                            {"intermediate_size", "17920"},
                            {"vocab_size", "100352"},
                            {"tie_word_embeddings", "false"}})),
              14659507200u);
    EXPECT_EQ(Count(Change(LLAMA,
                           {{"model_type", "\"mixtral\""}, // Mixtral 8x7B
                            {"num_hidden_layers", "32"},
                            {"hidden_size", "4096"},
                            {"head_dim", "null"},
                            {"intermediate_size", "14336"},
                            {"vocab_size", "32000"},
                            {"num_local_experts", "8"},
                            {"num_experts_per_tok", "2"},
                            {"tie_word_embeddings", "false"}})),
              46702792704u);
    EXPECT_EQ(Count(Change(DEEPSEEK,
                           {{"model_type", "\"deepseek_v2\""}, // DeepSeek-V2-Lite
                            {"num_hidden_layers", "27"},
                            {"first_k_dense_replace", "1"},
                            {"hidden_size", "2048"},
                            {"num_attention_heads", "16"},
                            {"q_lora_rank", "null"},
                            {"intermediate_size", "10944"},
                            {"moe_intermediate_size", "1408"},
                            {"n_routed_experts", "64"},
                            {"n_shared_experts", "2"},
                            {"num_experts_per_tok", "6"},
                            {"topk_method", "\"greedy\""},
                            {"vocab_size", "102400"}})),
              15706484224u);
    EXPECT_EQ(Count({{"model_type", "\"gpt2\""},
                     {"n_layer", "12"},
                     {"n_embd", "768"},
                     {"n_head", "12"},
                     {"n_positions", "1024"},
                     {"vocab_size", "50257"}}),
              124439808u);
    const Config bert{{"model_type", "\"bert\""},
                      {"num_hidden_layers", "12"},
                      {"hidden_size", "768"},
                      {"num_attention_heads", "12"},
                      {"intermediate_size", "3072"},
                      {"max_position_embeddings", "512"},
                      {"vocab_size", "30522"}};
    EXPECT_EQ(Count(bert), 109514298u);
    EXPECT_EQ(Count(Change(bert,
                           {{"model_type", "\"vit\""},
                            {"image_size", "224"},
                            {"patch_size", "16"},
                            {"num_labels", "1000"},
                            {"max_position_embeddings", ""},
                            {"vocab_size", ""},
                            {"hidden_dropout_prob", "0.0"}})),
              86566888u); // the token of the class is a row of the first block
    EXPECT_EQ(Count({{"model_type", "\"t5\""},
                     {"num_layers", "12"},
                     {"d_model", "768"},
                     {"num_heads", "12"},
                     {"d_kv", "64"},
                     {"d_ff", "3072"},
                     {"n_positions", "512"},
                     {"vocab_size", "32128"}}),
              222903552u);
    EXPECT_EQ(Count({{"model_type", "\"t5\""}, // T5 1.1 base
                     {"num_layers", "12"},
                     {"d_model", "768"},
                     {"num_heads", "12"},
                     {"d_kv", "64"},
                     {"d_ff", "2048"},
                     {"feed_forward_proj", "\"gated-gelu\""},
                     {"tie_word_embeddings", "false"},
                     {"n_positions", "512"},
                     {"vocab_size", "32128"}}),
              247577856u);
    EXPECT_EQ(Count(Change(bert,
                           {{"model_type", "\"roberta\""}, // RoBERTa base
                            {"max_position_embeddings", "514"},
                            {"type_vocab_size", "1"},
                            {"vocab_size", "50265"}})),
              124697433u);
    EXPECT_EQ(Count(OPT), 125239296u);                // OPT 125M
    const Config neox{{"model_type", "\"gpt_neox\""}, // Pythia 160M
                      {"num_hidden_layers", "12"},
                      {"hidden_size", "768"},
                      {"num_attention_heads", "12"},
                      {"intermediate_size", "3072"},
                      {"max_position_embeddings", "2048"},
                      {"rotary_pct", "0.25"},
                      {"vocab_size", "50304"}};
    EXPECT_EQ(Count(neox), 162322944u);
    EXPECT_EQ(Count(Change(neox, {{"use_parallel_residual", "false"}})), 162322944u);
    EXPECT_EQ(Count(Change(neox,
                           {{"num_hidden_layers", "44"}, // GPT-NeoX-20B
                            {"hidden_size", "6144"},
                            {"num_attention_heads", "64"},
                            {"intermediate_size", "24576"},
                            {"vocab_size", "50432"}})),
              20554567680u);
    EXPECT_EQ(Count(Change(LLAMA,
                           {{"model_type", "\"gemma\""}, // Gemma 2B
                            {"num_hidden_layers", "18"},
                            {"num_attention_heads", "8"},
                            {"num_key_value_heads", "1"},
                            {"head_dim", "256"},
                            {"intermediate_size", "16384"},
                            {"vocab_size", "256000"},
                            {"tie_word_embeddings", ""},
                            {"hidden_act", "\"gelu_pytorch_tanh\""}})),
              2506172416u);
}

// Experts beside layers without them, and those that all tokens go through: parameters of the
// checkpoints on the Hugging Face hub but for what the notes say is left out, and in closed form.
TEST(ModelConfig, ExpertsOfOthers)
{
    const Config experts{{"model_type", "\"qwen2_moe\""}, // Qwen1.5-MoE-A2.7B
                         {"num_hidden_layers", "24"},
                         {"hidden_size", "2048"},
                         {"num_attention_heads", "16"},
                         {"num_key_value_heads", "16"},
                         {"intermediate_size", "5632"},
                         {"moe_intermediate_size", "1408"},
                         {"shared_expert_intermediate_size", "5632"},
                         {"num_experts", "60"},
                         {"num_experts_per_tok", "4"},
                         {"decoder_sparse_step", "1"},
                         {"vocab_size", "151936"}};
    // Its tokens divide among 60 experts if there are 4,080; gates of shared experts are left out.
    EXPECT_EQ(Count(experts, {{"sequence", 4080}}), 14315784192u - 24 * 2048);
    const Config olmoe = Change(experts,
                                {{"model_type", "\"olmoe\""}, // OLMoE-1B-7B
                                 {"num_hidden_layers", "16"},
                                 {"intermediate_size", "1024"},
                                 {"num_experts", "64"},
                                 {"num_experts_per_tok", "8"},
                                 {"moe_intermediate_size", ""},
                                 {"shared_expert_intermediate_size", ""},
                                 {"decoder_sparse_step", ""},
                                 {"vocab_size", "50304"}});
    EXPECT_EQ(Count(olmoe), 6919161856u - 16 * 2 * (2048 - 128)); // norms of all heads together
    EXPECT_EQ(GetError(Change(olmoe, {{"clip_qkv", "8.0"}})).substr(0, 13), "/clip_qkv: is");
    // One layer without experts and two with them and two shared ones of 1408.
    const Config glm = Change(experts,
                              {{"model_type", "\"glm4_moe\""},
                               {"num_hidden_layers", "3"},
                               {"num_key_value_heads", "2"},
                               {"head_dim", "128"},
                               {"first_k_dense_replace", "1"},
                               {"n_routed_experts", "8"},
                               {"n_shared_experts", "2"},
                               {"num_experts", ""},
                               {"shared_expert_intermediate_size", ""},
                               {"decoder_sparse_step", ""},
                               {"use_qk_norm", "true"},
                               {"vocab_size", "1024"}});
    const uint64_t attention = 2048 * (2048 + 256 + 256) + 2048 * 2048 + 2 * 128 + 2 * 2048;
    const uint64_t expert = 3 * 2048 * 1408;
    const uint64_t ends = 2 * 1024 * 2048 + 2048;
    EXPECT_EQ(Count(glm),
              ends + 3 * attention + 3 * 2048 * 5632 + 2 * (2048 * 8 + (8 + 2) * expert));
    EXPECT_EQ(Count(Change(glm, {{"model_type", "\"dots1\""}, {"use_qk_norm", ""}})), Count(glm));
    EXPECT_EQ(Count(Change(glm, {{"use_qk_norm", "false"}, {"attention_bias", "true"}})),
              Count(glm) + 3 * (2048 + 256 + 256 - 2 * 128));
    // Every second layer has experts.
    const Config llama = Change(glm,
                                {{"model_type", "\"llama4_text\""},
                                 {"num_hidden_layers", "4"},
                                 {"first_k_dense_replace", ""},
                                 {"moe_intermediate_size", ""},
                                 {"n_routed_experts", ""},
                                 {"n_shared_experts", ""},
                                 {"intermediate_size", "1408"},
                                 {"intermediate_size_mlp", "5632"},
                                 {"num_local_experts", "8"},
                                 {"num_experts_per_tok", "1"},
                                 {"interleave_moe_layer_step", "2"}});
    EXPECT_EQ(Count(llama),
              ends + 4 * attention + 2 * 3 * 2048 * 5632 + 2 * (2048 * 8 + (8 + 1) * expert));
    EXPECT_EQ(Count(Change(llama, {{"interleave_moe_layer_step", "1"}})),
              ends + 4 * attention + 4 * (2048 * 8 + (8 + 1) * expert));
    const Config ernie = Change(glm,
                                {{"model_type", "\"ernie4_5_moe\""},
                                 {"first_k_dense_replace", ""},
                                 {"num_experts_per_tok", ""},
                                 {"n_routed_experts", ""},
                                 {"n_shared_experts", ""},
                                 {"use_qk_norm", ""},
                                 {"moe_num_experts", "8"},
                                 {"moe_k", "4"},
                                 {"moe_num_shared_experts", "2"},
                                 {"tie_word_embeddings", "false"},
                                 {"moe_layer_start_index", "1"}});
    EXPECT_EQ(Count(ernie), Count(glm) - 3 * 2 * 128);
    // Layers with experts that are said twice have to be the same.
    EXPECT_EQ(Count(Change(ernie, {{"moe_layer_end_index", "2"}})), Count(ernie));
    EXPECT_EQ(GetError(Change(ernie, {{"moe_layer_end_index", "1"}})).substr(0, 55),
              "/moe_layer_end_index: must be -1 or 2, the last layer: ");
    EXPECT_EQ(Count(Change(llama, {{"moe_layers", "[1, 3]"}})), Count(llama));
    EXPECT_EQ(GetError(Change(llama, {{"moe_layers", "[0, 3]"}})),
              "/moe_layers/0: must be 1, as interleave_moe_layer_step says");
    EXPECT_EQ(GetError(Change(llama, {{"moe_layers", "[1]"}})),
              "/moe_layers: has 1 layers, and 2 follow from num_hidden_layers and "
              "interleave_moe_layer_step");
    EXPECT_EQ(GetError(Change(glm,
                              {{"model_type", "\"dots1\""},
                               {"use_qk_norm", ""},
                               {"layer_types", R"(["sliding_attention"])"}}))
                  .substr(0, 38),
              "/layer_types/0: must be full_attention");
    EXPECT_EQ(GetError(Change(glm, {{"n_shared_experts", ""}})), "/n_shared_experts: is missing");
    // OLMo 2 7B has 7,298,617,344 of its own, with norms of all heads together.
    EXPECT_EQ(Count(Change(LLAMA,
                           {{"model_type", "\"olmo2\""},
                            {"num_hidden_layers", "32"},
                            {"hidden_size", "4096"},
                            {"num_attention_heads", "32"},
                            {"num_key_value_heads", ""},
                            {"head_dim", ""},
                            {"intermediate_size", "11008"},
                            {"vocab_size", "100352"},
                            {"tie_word_embeddings", "false"}})),
              7298617344u - 32 * 2 * (4096 - 128));
}

// Positions of RoBERTa begin behind that of padding: two of them no token has.
TEST(ModelConfig, PositionsThatNoTokenHas)
{
    const Config roberta{{"model_type", "\"roberta\""},
                         {"num_hidden_layers", "2"},
                         {"hidden_size", "64"},
                         {"num_attention_heads", "2"},
                         {"intermediate_size", "256"},
                         {"max_position_embeddings", "514"},
                         {"vocab_size", "128"}};
    EXPECT_EQ(ConfigFile(roberta).Load().GetSequence(), 512u);
    EXPECT_EQ(ConfigFile(OPT).Load().GetSequence(), 2048u);
}

// Without biases of norms and logits.
TEST(ModelConfig, PhiMoeIsMixtralWithBiases)
{
    const Config phi{{"model_type", "\"phimoe\""}, // Phi-3.5 MoE
                     {"num_hidden_layers", "32"},
                     {"hidden_size", "4096"},
                     {"num_attention_heads", "32"},
                     {"num_key_value_heads", "8"},
                     {"intermediate_size", "6400"},
                     {"num_local_experts", "16"},
                     {"num_experts_per_tok", "2"},
                     {"attention_bias", "true"},
                     {"lm_head_bias", "true"},
                     {"max_position_embeddings", "131072"},
                     {"sliding_window", "131072"},
                     {"vocab_size", "32064"}};
    EXPECT_EQ(Count(phi), 41873153344u - (2 * 32 + 1) * 4096 - 32064);
    EXPECT_EQ(Count(phi) - Count(Change(phi, {{"attention_bias", ""}})),
              uint64_t{32} * (4096 + 2 * 1024 + 4096));
}

// What stands for ALiBi, and biases that MPT has not, are counted besides the published parameters;
// the norm behind BLOOM's embedding is not.
TEST(ModelConfig, ModelsWithoutLearnedPositionsAreRead)
{
    const Config bloom{{"model_type", "\"bloom\""}, // BLOOM 7B1
                       {"n_layer", "30"},
                       {"num_attention_heads", "32"},
                       {"n_embed", "4096"},
                       {"seq_length", "2048"},
                       {"vocab_size", "250880"}};
    constexpr uint64_t POSITIONS = 2048 * 4096;
    EXPECT_EQ(Count(bloom), 7069016064u + POSITIONS - 2 * 4096);
    EXPECT_EQ(Count(Change(bloom, {{"hidden_size", "4096"}})), Count(bloom));
    EXPECT_NE(GetError(Change(bloom, {{"hidden_size", "2048"}})).find("n_embed"),
              std::string::npos);
    EXPECT_NE(GetError(Change(bloom, {{"n_embed", ""}})).find("hidden_size"), std::string::npos);
    const Config mpt{{"model_type", "\"mpt\""}, // MPT-7B
                     {"n_layers", "32"},
                     {"n_heads", "32"},
                     {"d_model", "4096"},
                     {"expansion_ratio", "4"},
                     {"max_seq_len", "2048"},
                     {"no_bias", "true"},
                     {"attn_config", R"({"alibi": true, "attn_impl": "triton"})"},
                     {"vocab_size", "50432"}};
    constexpr uint64_t BIASES = (32 * 11 + 1) * 4096;
    EXPECT_EQ(Count(mpt), 6649286656u + POSITIONS + BIASES);
    EXPECT_EQ(ConfigFile(mpt).Load().GetSequence(), 2048u);
    // One head of keys and values: 31 of 32 of both products, and their biases, are not there.
    EXPECT_EQ(Count(Change(mpt, {{"attn_config", R"({"kv_n_heads": 1})"}})),
              Count(mpt) - 32 * 2 * (4096 - 128) * uint64_t{4096 + 1});
    EXPECT_NE(GetError(Change(mpt, {{"attn_config", R"({"rope": true})"}})).find("must be false"),
              std::string::npos);
    const Config nemotron{{"model_type", "\"nemotron\""}, // Minitron 4B
                          {"num_hidden_layers", "32"},
                          {"hidden_size", "3072"},
                          {"num_attention_heads", "24"},
                          {"num_key_value_heads", "8"},
                          {"intermediate_size", "9216"},
                          {"max_position_embeddings", "4096"},
                          {"vocab_size", "256000"}};
    // Embedding and head, queries and projection, keys and values, two products, norms.
    EXPECT_EQ(Count(nemotron),
              uint64_t{2} * 256000 * 3072 +
                  uint64_t{32} * (2 * 3072 * 3072 + 2 * 1024 * 3072 + 2 * 9216 * 3072 + 4 * 3072) +
                  2 * 3072);
    EXPECT_EQ(Count(Change(nemotron, {{"head_dim", "128"}})), Count(nemotron));
    EXPECT_NE(GetError(Change(nemotron, {{"head_dim", "256"}})).find("over num_attention_heads"),
              std::string::npos);
}

// Models with Llama's layers by other names. Their numbers of parameters are counted by hand from
// the sizes of the checkpoints (embedding, head, products, norms); those of GLM-4-0414 are GLM-4's
// and two norms more a layer.
TEST(ModelConfig, OthersWithLlamasLayers)
{
    const Config minicpm{{"model_type", "\"minicpm\""}, // MiniCPM 2B
                         {"num_hidden_layers", "40"},
                         {"hidden_size", "2304"},
                         {"num_attention_heads", "36"},
                         {"num_key_value_heads", "36"},
                         {"intermediate_size", "5760"},
                         {"max_position_embeddings", "4096"},
                         {"scale_emb", "12"},
                         {"scale_depth", "1.4"},
                         {"dim_model_base", "256"},
                         {"vocab_size", "122753"}};
    EXPECT_EQ(Count(minicpm), 2724880896u);
    EXPECT_NE(GetError(Change(minicpm, {{"num_experts", "8"}})).find("num_experts"),
              std::string::npos);
    const Config internlm = Change(minicpm,
                                   {{"model_type", "\"internlm2\""}, // InternLM2 7B
                                    {"num_hidden_layers", "32"},
                                    {"hidden_size", "4096"},
                                    {"num_attention_heads", "32"},
                                    {"num_key_value_heads", "8"},
                                    {"intermediate_size", "14336"},
                                    {"bias", "false"},
                                    {"vocab_size", "92544"},
                                    {"scale_emb", ""},
                                    {"scale_depth", ""},
                                    {"dim_model_base", ""}});
    EXPECT_EQ(Count(internlm), 7737708544u);
    // Biases of queries, keys, values and of the projection, which are there unless it says no.
    EXPECT_EQ(Count(Change(internlm, {{"bias", ""}})), 7737708544u + 32 * (4096 + 2 * 1024 + 4096));
    const Config baichuan = Change(internlm,
                                   {{"model_type", "\"baichuan\""}, // Baichuan2 7B
                                    {"num_key_value_heads", ""},
                                    {"intermediate_size", "11008"},
                                    {"bias", ""},
                                    {"model_max_length", "4096"},
                                    {"z_loss_weight", "0"},
                                    {"vocab_size", "125696"}});
    const ConfigFile file(baichuan);
    EXPECT_EQ(file.Load().CountParameters(), 7505973248u);
    EXPECT_EQ(file.GetWarnings().find("ALiBi"), std::string::npos) << file.GetWarnings();
    const ConfigFile large(Change(baichuan,
                                  {{"num_hidden_layers", "40"}, // Baichuan2 13B
                                   {"hidden_size", "5120"},
                                   {"num_attention_heads", "40"},
                                   {"intermediate_size", "13696"},
                                   {"max_position_embeddings", ""}}));
    EXPECT_EQ(large.Load().CountParameters(), 13896668160u);
    EXPECT_NE(large.GetWarnings().find("ALiBi"), std::string::npos) << large.GetWarnings();
    EXPECT_NE(GetError(Change(baichuan, {{"model_max_length", "2048"}})).find("model_max_length"),
              std::string::npos);
    const Config glm = Change(internlm,
                              {{"model_type", "\"glm\""}, // GLM-4 9B
                               {"num_hidden_layers", "40"},
                               {"num_key_value_heads", "2"},
                               {"head_dim", "128"},
                               {"intermediate_size", "13696"},
                               {"attention_bias", "true"},
                               {"partial_rotary_factor", "0.5"},
                               {"bias", ""},
                               {"vocab_size", "151552"}});
    EXPECT_EQ(Count(glm), 9399951360u);
    EXPECT_EQ(Count(Change(glm, {{"model_type", "\"glm4\""}})), 9399951360u + 40 * 2 * 4096);
}

// The file of the same model in workloads/models/ is the same model.
TEST(ModelConfig, IsTheModelOfTheZoo)
{
    const std::string zoo = std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/";
    const Model model = ConfigFile(DEEPSEEK).Load();
    const Model same = LoadModel(zoo + "deepseek-v3.json");
    EXPECT_EQ(model.CountParameters(), same.CountParameters());
    EXPECT_EQ(model.CountForwardFlops(), same.CountForwardFlops());
    EXPECT_GT(
        ConfigFile(Change(DEEPSEEK, {{"num_nextn_predict_layers", "1"}})).Load().CountParameters(),
        same.CountParameters());
}

TEST(ModelConfig, EveryBiasCounts)
{
    const uint64_t without = Count(LLAMA);
    constexpr uint64_t LAYERS = 16;
    EXPECT_EQ(Count(Change(LLAMA, {{"attention_bias", "true"}})) - without,
              LAYERS * (2048 + 2 * 512 + 2048));
    EXPECT_EQ(Count(Change(LLAMA, {{"mlp_bias", "true"}})) - without, LAYERS * (2 * 8192 + 2048));
}

TEST(ModelConfig, WhatIsNotAsTheFileSaysIsNamed)
{
    const ConfigFile file(Change(LLAMA,
                                 {{"quantization_config", R"({"quant_method": "fp8"})"},
                                  {"moe_layers", "3"},
                                  {"architectures", R"(["LlamaForSequenceClassification"])"},
                                  {"gradient_checkpointing", "true"},
                                  {"use_cache", "true"}}));
    EXPECT_EQ(file.Load().GetSequence(), 4096u);
    const std::string all = file.GetWarnings();
    for (const char* text :
         {"/max_position_embeddings: is the longest sequence there may be; 4096 tokens are run",
          "/quantization_config: has no effect",
          "/architectures: the head of LlamaForSequenceClassification is not modelled: llama.json, "
          "which such a model becomes, has that of ForCausalLM",
          "/gradient_checkpointing: has no effect: the strategy's recompute says",
          "config.json: nothing follows from moe_layers\n"})
    {
        EXPECT_NE(all.find(text), std::string::npos) << text << "\n" << all;
    }
    const Config gpt2{{"model_type", "\"gpt2\""},
                      {"n_positions", "1024"},
                      {"n_layer", "2"},
                      {"n_embd", "768"},
                      {"n_head", "12"},
                      {"vocab_size", "50257"},
                      {"reorder_and_upcast_attn", "true"},
                      {"scale_attn_by_inverse_layer_idx", "true"}};
    const ConfigFile upcast(gpt2);
    upcast.Load();
    for (const char* text : {"/reorder_and_upcast_attn: scores of attention are made",
                             "/scale_attn_by_inverse_layer_idx: its division of scores"})
    {
        EXPECT_NE(upcast.GetWarnings().find(text), std::string::npos) << upcast.GetWarnings();
    }
    EXPECT_EQ(file.Load({{"sequence", 200000}}).GetSequence(), 200000u);
    EXPECT_NE(file.GetWarnings().find("is less than the sequence of 200000 tokens that is run"),
              std::string::npos)
        << file.GetWarnings();
    // Llama's attention has no window.
    const ConfigFile window(Change(LLAMA, {{"sliding_window", "1024"}}));
    window.Load({{"sequence", 4096}});
    EXPECT_NE(window.GetWarnings().find("nothing follows from sliding_window"), std::string::npos)
        << window.GetWarnings();
    const ConfigFile open(Change(LLAMA, {{"max_position_embeddings", ""}}));
    EXPECT_EQ(open.Load().GetSequence(), 4096u);
    EXPECT_NE(open.GetWarnings().find("has no max_position_embeddings, the longest sequence there "
                                      "may be; as many tokens as in llama.json are run"),
              std::string::npos)
        << open.GetWarnings();
    open.Load({{"sequence", 2048}});
    EXPECT_EQ(open.GetWarnings(), "");
    const ConfigFile plain(Change(LLAMA,
                                  {{"max_position_embeddings", "2048"},
                                   {"architectures", R"(["LlamaForCausalLM"])"},
                                   {"gradient_checkpointing", "false"}}));
    EXPECT_EQ(plain.Load().GetSequence(), 2048u);
    EXPECT_EQ(plain.GetWarnings(), "");
}

TEST(ModelConfig, WhatIsNotThereIsRefused)
{
    EXPECT_EQ(GetError(Change(LLAMA, {{"model_type", "\"vaporware\""}})).substr(0, 64),
              "/model_type: no model of this kind (\"vaporware\") is known here; ");
    EXPECT_EQ(GetError(Change(LLAMA, {{"model_type", "\"LLaMA\""}})),
              "/model_type: is \"LLaMA\": did you mean llama?");
    for (const auto& [type, has] : std::map<std::string, std::string>{
             {"bart", "bart-large.json"},
             {"deepseek_v32", "an indexer"},
             {"gemma2", "attn_logit_softcapping"},
             {"gemma3", "an encoder of images"},
             {"llama4", "llama4_text"},
             {"mamba2", "no scans of a state"},
             {"whisper", "no convolutions along a sequence of audio"},
             {"qwen2_5_vl", "an encoder of images"}})
    {
        const std::string error = GetError(Change(LLAMA, {{"model_type", '"' + type + '"'}}));
        EXPECT_EQ(error.find("/model_type: \"" + type + "\" is not modelled: "), 0u) << error;
        EXPECT_NE(error.find(has), std::string::npos) << error;
    }
    EXPECT_EQ(GetError(Change(OPT, {{"do_layer_norm_before", "false"}})).substr(0, 30),
              "/do_layer_norm_before: is fals");
    EXPECT_EQ(GetError(Change(OPT, {{"word_embed_proj_dim", "512"}})).substr(0, 41),
              "/word_embed_proj_dim: must be hidden_size");
    EXPECT_EQ(GetError(Change(LLAMA, {{"hidden_act", "\"gelu\""}})),
              "/hidden_act: is \"gelu\", and llama.json, which such a model becomes, has \"silu\" "
              "or \"swish\"; write a file of a model with what differs");
    EXPECT_EQ(GetError(Change(LLAMA, {{"num_hidden_layers", ""}})),
              "/num_hidden_layers: is missing");
    EXPECT_EQ(GetError(Change(LLAMA, {{"vocab_size", "1.5"}})).substr(0, 20),
              "/vocab_size: must be");
    EXPECT_EQ(GetError(Change(LLAMA, {{"tie_word_embeddings", "1"}})).substr(0, 27),
              "/tie_word_embeddings: must ");
    EXPECT_EQ(GetError(Change(LLAMA, {{"num_key_value_heads", "5"}})),
              "/num_key_value_heads: num_attention_heads, 32, must be a multiple of it");
    const Config gpt2{{"model_type", "\"gpt2\""},
                      {"n_ctx", "512"},
                      {"n_positions", "1024"},
                      {"n_layer", "2"},
                      {"n_embd", "768"},
                      {"n_head", "12"},
                      {"vocab_size", "50257"}};
    EXPECT_EQ(
        GetError(gpt2),
        "/n_ctx: is 512, and n_positions, which counts, is 1024: make them the same, or leave "
        "this one away");
    EXPECT_EQ(GetError(Change(DEEPSEEK, {{"moe_layer_freq", "2"}})).substr(0, 24),
              "/moe_layer_freq: is 2, a");
    // What the parts of a file say of its kind goes together.
    EXPECT_EQ(
        GetError(Change(LLAMA, {{"architectures", R"(["LlamaForCausalLM", "GPT2LMHeadModel"])"}})),
        "/architectures/1: GPT2LMHeadModel is a model of type gpt2, and model_type is "
        "\"llama\": which of them is it?");
    EXPECT_EQ(
        GetError(Change(LLAMA, {{"is_encoder_decoder", "true"}})),
        "/is_encoder_decoder: is true, and llama.json, which such a model becomes, has false; "
        "write a file of a model with what differs");
    for (const char* like : {"MistralForCausalLM", "VaporwareForCausalLM", "LLaMAForCausalLM"})
    {
        const ConfigFile file(
            Change(LLAMA, {{"architectures", R"([")" + std::string(like) + R"("])"}}));
        file.Load({{"sequence", 2048}});
        EXPECT_EQ(file.GetWarnings().find("architectures"), std::string::npos) << like;
    }
    const Config classes{{"architectures", R"(["LlamaForCausalLM"])"}};
    EXPECT_EQ(GetError(classes),
              "/model_type: is missing; it says which of Hugging Face's models this is, e.g. "
              "\"llama\"");
    EXPECT_EQ(GetError({{"text_config", "{}"}}),
              "/model_type: is missing; a file with the keys of text_config alone is the model of "
              "the text");
    // What its base cannot take is a mistake of this file.
    EXPECT_EQ(GetError(Change(LLAMA, {{"hidden_size", "2000"}, {"head_dim", ""}})),
              "its base " + std::string(PROTEUS_SOURCE_DIR) +
                  "/workloads/models/llama.json: /let/headWidth: expression \"hidden / heads\": "
                  "2000 cannot be divided by 32 without a remainder");
}
