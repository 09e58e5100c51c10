/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-model-config.h"

#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Models of Hugging Face transformers with an encoder; see proteus-model-config-decoders.cc.
 */

namespace ns3
{
namespace proteus
{

namespace
{

using Registration = ModelConfigRegistry::Registration;

/// Refuses a layer between attentions that is not four times as wide as the model.
/// @param root of the file
void
CheckFourfold(const JsonValue& root)
{
    constexpr uint64_t FOLD = 4;
    const uint64_t hidden = root.Get("hidden_size").AsWhole(1, UINT32_MAX);
    const JsonValue width = root.Get("intermediate_size");
    if (width.AsWhole(1, UINT32_MAX) != FOLD * hidden)
    {
        width.Fail("must be four times hidden_size, " + std::to_string(FOLD * hidden) +
                   "; write a file of a model with what differs");
    }
}

/// @param root of a file @param key of a part that is dropped out @param usual where it is missing
/// @return whether some is
bool
HasDropout(const JsonValue& root, const char* key, double usual)
{
    const auto value = FindConfigValue(root, key);
    return (value ? value->AsNumber(0, 1) : usual) > 0;
}

/// @return a model with BERT's layers
ModelConfigKind
MakeBert()
{
    ModelConfigKind kind;
    kind.base = "bert-base.json";
    kind.heads = {"ForPreTraining", "ForMaskedLM"};
    kind.numbers = {{"num_hidden_layers", "layers"},
                    {"hidden_size", "hidden"},
                    {"num_attention_heads", "heads"},
                    {"vocab_size", "vocabulary"},
                    {"type_vocab_size", "types", false},
                    {"max_position_embeddings", "positions"}};
    kind.fixed = {{"hidden_act", {"\"gelu\""}},
                  {"tie_word_embeddings", {"true"}},
                  {"is_decoder", {"false"}},
                  {"add_cross_attention", {"false"}},
                  {"position_embedding_type", {"\"absolute\""}}};
    kind.positions = "max_position_embeddings";
    kind.special = {"intermediate_size", "hidden_dropout_prob", "attention_probs_dropout_prob"};
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        constexpr double USUAL = 0.1;
        CheckFourfold(root);
        for (const char* key : {"hidden_dropout_prob", "attention_probs_dropout_prob"})
        {
            if (!HasDropout(root, key, USUAL))
            {
                result.notes.push_back(root.Get(key).Describe("is not heeded: bert-base.json "
                                                              "drops"));
            }
        }
    };
    return kind;
}

/// @return the same, whose positions begin behind that of padding (create_position_ids_from_
/// input_ids() of modeling_roberta.py)
ModelConfigKind
MakeRoberta()
{
    ModelConfigKind kind = MakeBert();
    kind.reservedPositions = 2;
    kind.inert = {"normalize_embeddings"};
    return kind;
}

const Registration REGISTER_BERT("bert", MakeBert());
const Registration REGISTER_ROBERTA("roberta", MakeRoberta());
const Registration REGISTER_XLM_ROBERTA("xlm-roberta", MakeRoberta());
const Registration REGISTER_CAMEMBERT("camembert", MakeRoberta());

const Registration REGISTER_VIT("vit", [] {
    ModelConfigKind kind;
    kind.base = "vit-base.json";
    kind.heads = {"ForImageClassification"};
    kind.numbers = {{"num_hidden_layers", "layers"},
                    {"hidden_size", "hidden"},
                    {"num_attention_heads", "heads"},
                    {"image_size", "image"},
                    {"patch_size", "patch"}};
    kind.fixed = {{"hidden_act", {"\"gelu\"", "\"gelu_fast\"", "\"gelu_new\""}},
                  {"num_channels", {"3"}},
                  {"qkv_bias", {"true"}},
                  WithoutDropout("hidden_dropout_prob"),
                  WithoutDropout("attention_probs_dropout_prob")};
    kind.inert = {"encoder_stride", "pooler_act", "pooler_output_size"};
    kind.special = {"intermediate_size", "id2label", "num_labels"};
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        constexpr uint64_t USUAL_CLASSES = 2;
        CheckFourfold(root);
        const auto number = FindConfigValue(root, "num_labels");
        const auto labels = FindConfigValue(root, "id2label");
        result.let["classes"] = labels   ? labels->GetKeys().size()
                                : number ? number->AsWhole(1, UINT32_MAX)
                                         : USUAL_CLASSES;
    };
    return kind;
}());

const Registration REGISTER_T5("t5", [] {
    ModelConfigKind kind;
    kind.base = "t5-base.json";
    kind.numbers = {{"num_layers", "layers"},
                    {"d_model", "hidden"},
                    {"num_heads", "heads"},
                    {"d_kv", "headWidth"},
                    {"d_ff", "feedForward"},
                    {"vocab_size", "vocabulary"}};
    kind.fixed = {{"relative_attention_num_buckets", {"32"}}, {"is_encoder_decoder", {"true"}}};
    kind.heads = {"ForConditionalGeneration", "WithLMHeadModel"};
    kind.positions = "n_positions";
    kind.inert = {"relative_attention_max_distance"};
    kind.special = {"num_decoder_layers",
                    "feed_forward_proj",
                    "is_gated_act",
                    "dense_act_fn",
                    "tie_word_embeddings",
                    "dropout_rate"};
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        constexpr double USUAL = 0.1;
        const auto decoder = FindConfigValue(root, "num_decoder_layers");
        if (decoder && decoder->AsWhole(1, UINT32_MAX) != result.let["layers"].get<uint64_t>())
        {
            decoder->Fail("must be as many as num_layers; write a file of a model with what "
                          "differs");
        }
        const auto words = FindConfigValue(root, "feed_forward_proj");
        const std::string form = words ? words->AsName() : "relu";
        if (form != "relu" && form != "gated-gelu")
        {
            words->Fail("choose one of relu, gated-gelu");
        }
        const auto tied = FindConfigValue(root, "tie_word_embeddings");
        result.let["gated"] = form == "gated-gelu" ? 1 : 0;
        result.let["composedGelu"] = result.let["gated"]; // T5Config: dense_act_fn is gelu_new
        result.let["untied"] = tied && !tied->AsBool() ? 1 : 0;
        result.let["dropout"] = HasDropout(root, "dropout_rate", USUAL) ? 1 : 0;
    };
    return kind;
}());

} // namespace

} // namespace proteus
} // namespace ns3
