/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-model-config.h"

#include <cstdint>
#include <initializer_list>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Models of Hugging Face transformers whose layers are those of gpt-neox.json: rotations, norms
 * with biases and an ungated GELU, with attention and products beside each other or not
 * (modeling_falcon.py, modeling_gptj.py, modeling_phi.py, modeling_starcoder2.py).
 */

namespace ns3
{
namespace proteus
{

namespace
{

using Registration = ModelConfigRegistry::Registration;

/// Says what is done in the place of dropout.
/// @param root of the file @param keys of it @param result gets it
void
NameDropout(const JsonValue& root,
            std::initializer_list<const char*> keys,
            TranslatedConfig& result)
{
    for (const char* key : keys)
    {
        const auto value = FindConfigValue(root, key);
        if (value && value->AsNumber(0, 1) > 0)
        {
            result.notes.push_back(value->Describe("is not heeded: gpt-neox.json has no dropout"));
        }
    }
}

/// @param root of the file @param key of it @param usual where it is missing @return its truth
bool
IsOn(const JsonValue& root, const char* key, bool usual)
{
    const auto value = FindConfigValue(root, key);
    return value ? value->AsBool() : usual;
}

/// Reads heads of keys and values, norms and ALiBi as FalconConfig has them.
/// @param root of the file @param result gets it
void
ReadFalcon(const JsonValue& root, TranslatedConfig& result)
{
    constexpr uint64_t USUAL = 4;
    const bool isNew = IsOn(root, "new_decoder_architecture", false);
    const auto keys = FindConfigValue(root, "num_kv_heads");
    if (isNew && keys)
    {
        result.let["kvHeads"] = keys->AsWhole(1, UINT32_MAX);
    }
    else if (!isNew && IsOn(root, "multi_query", true))
    {
        result.let["kvHeads"] = 1;
    }
    const auto width = FindConfigValue(root, "ffn_hidden_size");
    result.let["feedForward"] =
        width ? width->AsWhole(1, UINT32_MAX) : USUAL * result.let["hidden"].get<uint64_t>();
    // FalconDecoderLayer: the new architecture is always parallel, with a norm each unless one is
    // asked for.
    const bool isParallel = isNew || IsOn(root, "parallel_attn", true);
    const auto norms = FindConfigValue(root, "num_ln_in_parallel_attn");
    const uint64_t usual = isNew ? 2 : 1;
    result.let["parallel"] = isParallel ? 1 : 0;
    result.let["sharedNorm"] = isParallel && (norms ? norms->AsWhole(1, 2) : usual) == 1 ? 1 : 0;
    if (IsOn(root, "alibi", false))
    {
        result.notes.push_back(root.Describe("alibi: rotations stand for what is added to the "
                                             "scores of attention (ALiBi)"));
    }
    SetGelu(root, "activation", "gelu", result);
}

const Registration REGISTER_FALCON("falcon", [] {
    ModelConfigKind kind;
    kind.base = "gpt-neox.json";
    kind.numbers = {{"num_hidden_layers", "layers"},
                    {"hidden_size", "hidden"},
                    {"num_attention_heads", "heads"},
                    {"vocab_size", "vocabulary"}};
    kind.switches = {{"tie_word_embeddings", {"tied"}, true},
                     {"bias", {"bias", "feedForwardBias"}, false}};
    kind.fixed = {{"activation", GetGelus()},
                  {"apply_residual_connection_post_layernorm", {"false"}},
                  WithoutDropout("attention_dropout"),
                  WithoutDropout("hidden_dropout")};
    kind.positions = "max_position_embeddings";
    kind.special = {"alibi",
                    "ffn_hidden_size",
                    "multi_query",
                    "new_decoder_architecture",
                    "num_kv_heads",
                    "num_ln_in_parallel_attn",
                    "parallel_attn"};
    kind.more = ReadFalcon;
    return kind;
}());

const Registration REGISTER_GPTJ("gptj", [] {
    ModelConfigKind kind;
    kind.base = "gpt-neox.json";
    kind.numbers = {{"n_layer", "layers"},
                    {"n_embd", "hidden"},
                    {"n_head", "heads"},
                    {"vocab_size", "vocabulary"}};
    kind.switches = {{"tie_word_embeddings", {"tied"}, false}};
    kind.set = {{"bias", 0}, {"sharedNorm", 1}, {"headBias", 1}};
    kind.fixed = {{"activation_function", GetGelus()}};
    kind.positions = "n_positions";
    kind.inert = {"n_ctx", "rotary", "rotary_dim", "scale_attn_weights"};
    kind.special = {"n_inner", "attn_pdrop", "embd_pdrop", "resid_pdrop"};
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        constexpr uint64_t USUAL = 4;
        const auto width = FindConfigValue(root, "n_inner");
        result.let["feedForward"] =
            width ? width->AsWhole(1, UINT32_MAX) : USUAL * result.let["hidden"].get<uint64_t>();
        NameDropout(root, {"attn_pdrop", "embd_pdrop", "resid_pdrop"}, result);
        SetGelu(root, "activation_function", "gelu_new", result);
    };
    return kind;
}());

/// @return gpt-neox.json with the sizes of a file that calls them as Llama's does
ModelConfigKind
MakeWithLlamasKeys()
{
    ModelConfigKind kind;
    kind.base = "gpt-neox.json";
    kind.numbers = {{"num_hidden_layers", "layers"},
                    {"hidden_size", "hidden"},
                    {"num_attention_heads", "heads"},
                    {"num_key_value_heads", "kvHeads", false},
                    {"intermediate_size", "feedForward"},
                    {"vocab_size", "vocabulary"}};
    kind.switches = {{"tie_word_embeddings", {"tied"}, false}};
    kind.positions = "max_position_embeddings";
    return kind;
}

const Registration REGISTER_PHI("phi", [] {
    ModelConfigKind kind = MakeWithLlamasKeys();
    kind.set = {{"sharedNorm", 1}, {"headBias", 1}};
    kind.fixed = {{"hidden_act", GetGelus()}, {"qk_layernorm", {"false"}}};
    kind.inert = {"partial_rotary_factor"};
    kind.special = {"attention_dropout", "embd_pdrop", "resid_pdrop"};
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        NameDropout(root, {"attention_dropout", "embd_pdrop", "resid_pdrop"}, result);
        SetGelu(root, "hidden_act", "gelu_new", result);
    };
    return kind;
}());

const Registration REGISTER_STARCODER_2("starcoder2", [] {
    ModelConfigKind kind = MakeWithLlamasKeys();
    kind.numbers[3].isNeeded = true; // 2 where it is missing, whatever the heads
    kind.switches = {{"tie_word_embeddings", {"tied"}, true},
                     {"use_bias", {"bias", "feedForwardBias"}, true}};
    kind.set = {{"parallel", 0}};
    kind.fixed = {{"hidden_act", GetGelus()},
                  {"mlp_type", {"\"default\""}},
                  {"norm_type", {"\"layer_norm\""}}};
    kind.inert = {"norm_epsilon"};
    kind.special = {"attention_dropout", "embedding_dropout", "residual_dropout", "sliding_window"};
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        NameDropout(root, {"attention_dropout", "embedding_dropout", "residual_dropout"}, result);
        if (const auto window = FindConfigValue(root, "sliding_window"))
        {
            result.let["window"] = window->AsWhole(1, UINT32_MAX);
        }
        SetGelu(root, "hidden_act", "gelu_pytorch_tanh", result);
    };
    return kind;
}());

} // namespace

} // namespace proteus
} // namespace ns3
