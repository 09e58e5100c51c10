/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-model-config.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Models of experts whose layers are those of qwen3-30b-a3b.json with more variables: layers
// without experts, experts that every token goes through, attention without norms of heads.

namespace ns3
{
namespace proteus
{

namespace
{

using Registration = ModelConfigRegistry::Registration;

/// @param root of the file @param key of a number @param otherwise value where it is missing
/// @return the number
uint64_t
ReadWhole(const JsonValue& root, const char* key, uint64_t otherwise)
{
    const auto value = FindConfigValue(root, key);
    return value ? value->AsWhole(0, UINT32_MAX) : otherwise;
}

/// @param experts key of their number @param top key of a token's @param width key of an expert's
/// @return what all of them have
ModelConfigKind
MakeExperts(const char* experts, const char* top, const char* width)
{
    ModelConfigKind kind;
    kind.base = "qwen3-30b-a3b.json";
    kind.numbers = {{"num_hidden_layers", "layers"},
                    {"hidden_size", "hidden"},
                    {"num_attention_heads", "heads"},
                    {"num_key_value_heads", "kvHeads"},
                    {width, "feedForward"},
                    {"vocab_size", "vocabulary"},
                    {experts, "experts"},
                    {top, "top"}};
    kind.fixed = {{"hidden_act", {"\"silu\"", "\"swish\""}},
                  {"tie_word_embeddings", {"false"}},
                  {"use_sliding_window", {"false"}},
                  WithoutDropout("attention_dropout")};
    kind.positions = "max_position_embeddings";
    kind.special = {"head_dim"};
    // How experts are scored and weighted, and windows that do not count.
    kind.inert = {"norm_topk_prob",
                  "routed_scaling_factor",
                  "scoring_func",
                  "aux_loss_alpha",
                  "seq_aux",
                  "partial_rotary_factor",
                  "sliding_window",
                  "max_window_layers",
                  "n_group",
                  "topk_group",
                  "topk_method"};
    return kind;
}

/// Reads how wide the experts are together that every token goes through.
/// @param root of the file @param key of their number, which may be null: none
/// @param result gets it
void
ReadShared(const JsonValue& root, const char* key, TranslatedConfig& result)
{
    if (!root.Has(key))
    {
        root.FailMissing(key);
    }
    result.let["sharedFeedForward"] =
        ReadWhole(root, key, 0) * root.Get("moe_intermediate_size").AsWhole(1, UINT32_MAX);
}

// Muennighoff et al. 2024: norms of queries and keys are of all heads together.
const Registration REGISTER_OLMOE("olmoe", [] {
    ModelConfigKind kind = MakeExperts("num_experts", "num_experts_per_tok", "intermediate_size");
    kind.fixed.push_back({"attention_bias", {"false"}});
    kind.fixed.push_back({"clip_qkv", {"null"}});
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        ReadHeadWidth(root, result);
        result.notes.push_back("olmoe: norms of queries and keys are of each head here, where it "
                               "has them of all heads together: as many numbers are normalised");
    };
    return kind;
}());

const Registration REGISTER_QWEN2_MOE("qwen2_moe", [] {
    ModelConfigKind kind =
        MakeExperts("num_experts", "num_experts_per_tok", "moe_intermediate_size");
    kind.set = {{"headNorms", 0}, {"qkvBias", 1}};
    kind.numbers.push_back({"shared_expert_intermediate_size", "sharedFeedForward"});
    kind.numbers.push_back({"intermediate_size", "denseFeedForward", false});
    kind.numbers.push_back({"decoder_sparse_step", "expertEvery", false});
    kind.fixed.push_back({"mlp_only_layers", {"[]"}});
    kind.fixed.push_back({"qkv_bias", {"true"}});
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        ReadHeadWidth(root, result);
        result.notes.push_back("qwen2_moe: the gate of its shared expert, a product with one "
                               "column, is left out");
    };
    return kind;
}());

/// @return GLM 4.5 and dots.llm1: the first layers have no experts, the others shared ones, too
ModelConfigKind
MakeSharedExperts()
{
    ModelConfigKind kind =
        MakeExperts("n_routed_experts", "num_experts_per_tok", "moe_intermediate_size");
    // What is meant where these two are missing is each class's own.
    kind.numbers.push_back({"first_k_dense_replace", "denseLayers", true, 0});
    kind.numbers.push_back({"intermediate_size", "denseFeedForward"});
    kind.special.insert("n_shared_experts");
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        ReadHeadWidth(root, result);
        ReadShared(root, "n_shared_experts", result);
    };
    return kind;
}

const Registration REGISTER_GLM4_MOE("glm4_moe", [] {
    ModelConfigKind kind = MakeSharedExperts();
    kind.switches = {{"use_qk_norm", {"headNorms"}, false}, {"attention_bias", {"qkvBias"}, false}};
    kind.fixed.push_back({"num_nextn_predict_layers", {"0", "1"}});
    const auto more = kind.more;
    kind.more = [more](const JsonValue& root, TranslatedConfig& result) {
        more(root, result);
        if (ReadWhole(root, "num_nextn_predict_layers", 0) > 0)
        {
            result.notes.push_back("glm4_moe: its layer that predicts a second token is left out");
        }
    };
    return kind;
}());

const Registration REGISTER_DOTS1("dots1", [] {
    ModelConfigKind kind = MakeSharedExperts();
    kind.fixed.push_back({"attention_bias", {"false"}});
    kind.fixed.push_back({"moe_layer_freq", {"1"}});
    kind.special.insert("layer_types");
    const auto more = kind.more;
    kind.more = [more](const JsonValue& root, TranslatedConfig& result) {
        more(root, result);
        const auto types = FindConfigValue(root, "layer_types");
        for (std::size_t i = 0; types && i < types->Size(); ++i)
        {
            if (types->At(i).AsName() != "full_attention")
            {
                types->At(i).Fail("must be full_attention: qwen3-30b-a3b.json, which such a model "
                                  "becomes, has a window in all layers or in none; write a file "
                                  "of a model with what differs");
            }
        }
    };
    return kind;
}());

// Layers with experts begin at moe_layer_start_index, and go on to the last one.
const Registration REGISTER_ERNIE4_5_MOE("ernie4_5_moe", [] {
    ModelConfigKind kind = MakeExperts("moe_num_experts", "moe_k", "moe_intermediate_size");
    kind.set = {{"headNorms", 0}};
    kind.numbers.push_back({"intermediate_size", "denseFeedForward"});
    kind.numbers.push_back({"moe_layer_start_index", "denseLayers", true, 0});
    kind.fixed.push_back({"use_bias", {"false"}});
    kind.fixed.push_back({"moe_layer_interval", {"1"}});
    // Tied where it says nothing, but for embeddings that are no experts' it is written.
    kind.inert.insert({"moe_capacity", "moe_gate", "moe_use_aux_free"});
    kind.special.insert({"moe_num_shared_experts", "moe_layer_end_index"});
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        ReadHeadWidth(root, result);
        ReadShared(root, "moe_num_shared_experts", result);
        const auto end = FindConfigValue(root, "moe_layer_end_index"); // -1: the last one
        const uint64_t last = root.Get("num_hidden_layers").AsWhole(1, UINT32_MAX) - 1;
        if (end && end->Dump() != "-1" && end->AsWhole(0, UINT32_MAX) != last)
        {
            end->Fail("must be -1 or " + std::to_string(last) +
                      ", the last layer: qwen3-30b-a3b.json, which such a model becomes, has "
                      "experts up to there; write a file of a model with what differs");
        }
    };
    return kind;
}());

/// Refuses layers with experts ("moe_layers") that are not every n-th of Llama 4.
/// @param root of the file
void
CheckExpertLayers(const JsonValue& root)
{
    const auto list = FindConfigValue(root, "moe_layers");
    const uint64_t step = std::max<uint64_t>(ReadWhole(root, "interleave_moe_layer_step", 1), 1);
    const uint64_t layers = root.Get("num_hidden_layers").AsWhole(1, UINT32_MAX);
    for (std::size_t i = 0; list && i < list->Size(); ++i)
    {
        if (list->At(i).AsWhole(0, UINT32_MAX) != (i + 1) * step - 1)
        {
            list->At(i).Fail("must be " + std::to_string((i + 1) * step - 1) +
                             ", as interleave_moe_layer_step says");
        }
    }
    if (list && list->Size() != layers / step)
    {
        list->Fail("has " + std::to_string(list->Size()) + " layers, and " +
                   std::to_string(layers / step) +
                   " follow from num_hidden_layers and interleave_moe_layer_step");
    }
}

// The text of Llama 4: one expert for a token and a shared one, in all layers (Scout) or in every
// second (Maverick).
const Registration REGISTER_LLAMA4_TEXT("llama4_text", [] {
    ModelConfigKind kind =
        MakeExperts("num_local_experts", "num_experts_per_tok", "intermediate_size");
    kind.numbers.push_back({"intermediate_size_mlp", "denseFeedForward"});
    kind.numbers.push_back({"intermediate_size", "sharedFeedForward"});
    kind.numbers.push_back({"interleave_moe_layer_step", "expertEvery", false});
    kind.switches = {{"use_qk_norm", {"headNorms"}, true}, {"attention_bias", {"qkvBias"}, false}};
    kind.inert.insert({"attn_scale",
                       "attn_temperature_tuning",
                       "floor_scale",
                       "for_llm_compressor",
                       "no_rope_layers",
                       "no_rope_layer_interval",
                       "layer_types",
                       "rope_scaling"});
    kind.special.insert({"attention_chunk_size", "moe_layers"});
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        ReadHeadWidth(root, result);
        CheckExpertLayers(root);
        const uint64_t chunk = ReadWhole(root, "attention_chunk_size", 0);
        const auto sequence = result.let.find("sequence");
        const bool isShort = sequence != result.let.end() && sequence->second.is_number() &&
                             sequence->second.get<uint64_t>() <= chunk;
        if (chunk > 0 && !isShort)
        {
            result.notes.push_back("llama4_text: attention is to all tokens before, not to a chunk "
                                   "of " +
                                   std::to_string(chunk) +
                                   ", which longer sequences than that would have");
        }
        result.notes.push_back("llama4_text: norms of queries and keys, and rotations, are in all "
                               "layers here");
    };
    return kind;
}());

} // namespace

} // namespace proteus
} // namespace ns3
