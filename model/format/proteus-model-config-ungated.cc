/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-model-config.h"

#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * Decoders of Hugging Face transformers whose feed-forward has no gate, and whose positions are
 * not learned: BLOOM and MPT, which add them to the scores of attention (ALiBi), and Nemotron.
 */

namespace ns3
{
namespace proteus
{

namespace
{

using Registration = ModelConfigRegistry::Registration;

/// Reads a number that files have by one of two names.
/// @param root of the file @param key of it @param other name @return the number
uint64_t
ReadEither(const JsonValue& root, const char* key, const char* other)
{
    const auto value = FindConfigValue(root, key);
    const auto also = FindConfigValue(root, other);
    if (value && also)
    {
        RequireSameValue(root, other, key);
    }
    return (value || !also ? root.Get(key) : *also).AsWhole(1, UINT32_MAX);
}

/// Says what is done in the place of ALiBi.
/// @param type of the model @param result gets it
void
NameAlibi(const char* type, TranslatedConfig& result)
{
    result.notes.push_back(std::string(type) +
                           ": learned positions, a number for each feature of each, stand for what "
                           "is added to the scores of attention (ALiBi), which takes next to no "
                           "time");
}

// Its GELU is written out (BloomGelu).
const Registration REGISTER_BLOOM("bloom", [] {
    ModelConfigKind kind;
    kind.base = "gpt.json";
    kind.numbers = {{"vocab_size", "vocabulary"}};
    kind.fixed = {{"apply_residual_connection_post_layernorm", {"false"}},
                  {"tie_word_embeddings", {"true"}},
                  WithoutDropout("hidden_dropout"),
                  WithoutDropout("attention_dropout")};
    kind.set = {{"padded", "pad(vocabulary, tensorParallel)"}, {"dropout", 0}, {"composedGelu", 1}};
    kind.positions = "seq_length";
    kind.inert = {"attention_softmax_in_fp32",
                  "bias_dropout_fusion",
                  "masked_softmax_fusion",
                  "offset_alibi",
                  "pretraining_tp",
                  "skip_bias_add",
                  "skip_bias_add_qkv",
                  "slow_but_exact",
                  "unk_token_id"};
    kind.special =
        {"n_layer", "num_hidden_layers", "n_head", "num_attention_heads", "hidden_size", "n_embed"};
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        result.let["layers"] = ReadEither(root, "n_layer", "num_hidden_layers");
        result.let["heads"] = ReadEither(root, "n_head", "num_attention_heads");
        result.let["hidden"] = ReadEither(root, "hidden_size", "n_embed");
        NameAlibi("bloom", result);
        result.notes.push_back("bloom: the norm of what the embedding gives is left out");
    };
    return kind;
}());

/// Reads the attention of MPT.
/// @param attention of the file @param result gets it
void
ReadMptAttention(const JsonValue& attention, TranslatedConfig& result)
{
    if (const auto heads = FindConfigValue(attention, "kv_n_heads"))
    {
        result.let["kvHeads"] = heads->AsWhole(1, UINT32_MAX);
    }
    const auto type = FindConfigValue(attention, "attn_type");
    if (type && type->AsName() == "multiquery_attention")
    {
        result.let["kvHeads"] = 1;
    }
    for (const char* key : {"prefix_lm", "qk_ln", "rope"})
    {
        const auto value = FindConfigValue(attention, key);
        if (value && value->AsBool())
        {
            value->Fail("must be false: gpt.json has no such attention");
        }
    }
    const auto dropout = FindConfigValue(attention, "attn_pdrop");
    if (dropout && dropout->AsNumber(0, 1) > 0)
    {
        dropout->Fail("must be 0: MPT is read without dropout");
    }
}

const Registration REGISTER_MPT("mpt", [] {
    ModelConfigKind kind;
    kind.base = "gpt.json";
    kind.numbers = {{"n_layers", "layers"},
                    {"d_model", "hidden"},
                    {"n_heads", "heads"},
                    {"vocab_size", "vocabulary"}};
    kind.fixed = {{"tie_word_embeddings", {"true"}},
                  WithoutDropout("emb_pdrop"),
                  WithoutDropout("resid_pdrop")};
    kind.set = {{"padded", "pad(vocabulary, tensorParallel)"}, {"dropout", 0}};
    kind.positions = "max_seq_len";
    kind.inert = {"embedding_fraction",
                  "init_config",
                  "init_device",
                  "layer_norm_epsilon",
                  "logit_scale",
                  "norm_type",
                  "tokenizer_name",
                  "verbose"};
    kind.special = {"attn_config", "expansion_ratio", "learned_pos_emb", "no_bias"};
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        constexpr uint64_t USUAL = 4;
        constexpr uint64_t MOST = 1024;
        const auto ratio = FindConfigValue(root, "expansion_ratio");
        result.let["feedForward"] =
            (ratio ? ratio->AsWhole(1, MOST) : USUAL) * result.let["hidden"].get<uint64_t>();
        const auto attention = FindConfigValue(root, "attn_config");
        if (attention)
        {
            ReadMptAttention(*attention, result);
        }
        const auto alibi = attention ? FindConfigValue(*attention, "alibi") : std::nullopt;
        if (alibi && alibi->AsBool())
        {
            NameAlibi("mpt", result);
        }
        const auto bare = FindConfigValue(root, "no_bias");
        if (bare && bare->AsBool())
        {
            result.notes.push_back(
                bare->Describe("is not heeded: products and norms have biases here"));
        }
    };
    return kind;
}());

// Norms with biases, a squared ReLU and rotations of half a head, as Nemotron-4 has them.
const Registration REGISTER_NEMOTRON("nemotron", [] {
    ModelConfigKind kind;
    kind.base = "nemotron4-15b.json";
    kind.numbers = {{"num_hidden_layers", "layers"},
                    {"hidden_size", "hidden"},
                    {"num_attention_heads", "heads"},
                    {"num_key_value_heads", "kvHeads"},
                    {"intermediate_size", "feedForward"},
                    {"vocab_size", "vocabulary"}};
    kind.fixed = {{"hidden_act", {"\"relu2\""}},
                  {"tie_word_embeddings", {"false"}},
                  {"attention_bias", {"false"}},
                  {"mlp_bias", {"false"}},
                  WithoutDropout("attention_dropout"),
                  WithoutDropout("hidden_dropout")};
    kind.set = {{"padded", "pad(vocabulary, tensorParallel)"}};
    kind.positions = "max_position_embeddings";
    kind.inert = {"norm_eps", "partial_rotary_factor"};
    kind.special = {"head_dim"};
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        const auto width = FindConfigValue(root, "head_dim");
        if (width && width->AsWhole(1, UINT32_MAX) * result.let["heads"].get<uint64_t>() !=
                         result.let["hidden"].get<uint64_t>())
        {
            width->Fail("must be hidden_size over num_attention_heads: heads of nemotron4-15b.json "
                        "are as wide together as the model");
        }
    };
    return kind;
}());

} // namespace

} // namespace proteus
} // namespace ns3
