/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-model-config.h"

#include <algorithm>
#include <functional>
#include <utility>

/**
 * @file
 * @ingroup proteus
 * Decoders of Hugging Face transformers that predict the next token: what the keys of their
 * config.json mean and what holds where one is missing is in the class of their configuration
 * (src/transformers/models/NAME/configuration_NAME.py), what they are built of in modeling_NAME.py.
 */

namespace ns3
{
namespace proteus
{

namespace
{

using Registration = ModelConfigRegistry::Registration;

const ConfigFixed SWIGLU{"hidden_act", {"\"silu\"", "\"swish\""}};
const ConfigFixed UNTIED{"tie_word_embeddings", {"false"}};
const ConfigFixed NO_ATTENTION_BIAS{"attention_bias", {"false"}};
const ConfigSwitch TIED{"tie_word_embeddings", {"tied"}, false};

/// Names a truth of the file that the base has not.
/// @param root of the file @param key of it @param text what is done in its place
/// @param result gets it
void
NameTruth(const JsonValue& root, const char* key, const char* text, TranslatedConfig& result)
{
    const auto value = FindConfigValue(root, key);
    if (value && value->AsBool())
    {
        result.notes.push_back(value->Describe(text));
    }
}

/// Reads which layers see all tokens ("layer_types").
/// @param types of layers @param layers how many there are
/// @return n, if every n-th does; 0: none
std::size_t
ReadLayerTypes(const JsonValue& types, uint64_t layers)
{
    if (types.Size() != layers)
    {
        types.Fail("has " + std::to_string(types.Size()) + " layers, and num_hidden_layers is " +
                   std::to_string(layers));
    }
    std::size_t every = 0;
    for (std::size_t i = 0; i < layers; ++i)
    {
        const std::string type = types.At(i).AsName();
        if (type != "sliding_attention" && type != "full_attention")
        {
            types.At(i).Fail("must be sliding_attention or full_attention");
        }
        const bool isFull = type == "full_attention";
        every = isFull && every == 0 ? i + 1 : every;
        if (isFull != (every > 0 && (i + 1) % every == 0))
        {
            types.At(i).Fail("must be full_attention for every n-th layer, and sliding_attention "
                             "for the others");
        }
    }
    return every;
}

/// Reads which layers attend to a window of tokens: all, or all but every n-th ("layer_types", or
/// as the kind has it), or all but the first ("max_window_layers", which is named).
/// @param root of the file @param result gets it
/// @param isUsed whether a window counts where "use_sliding_window" is missing
/// @param usual tokens of the window where "sliding_window" is missing; 0: there is none
void
ReadWindow(const JsonValue& root, TranslatedConfig& result, bool isUsed, uint64_t usual)
{
    const auto types = FindConfigValue(root, "layer_types");
    const std::size_t every =
        types ? ReadLayerTypes(*types, result.let["layers"].get<uint64_t>()) : 0;
    const auto window = FindConfigValue(root, "sliding_window");
    const auto use = FindConfigValue(root, "use_sliding_window");
    const uint64_t tokens = window                       ? window->AsWhole(1, UINT32_MAX)
                            : root.Has("sliding_window") ? 0 // null
                                                         : usual;
    if (tokens == 0 || !(use ? use->AsBool() : isUsed))
    {
        return;
    }
    const auto sequence = result.let.find("sequence");
    if (sequence != result.let.end() && sequence->second.get<uint64_t>() <= tokens)
    {
        return;
    }
    result.let["window"] = tokens;
    if (types)
    {
        result.let["globalEvery"] = every > 0 ? every : types->Size() + 1;
    }
    const auto first = FindConfigValue(root, "max_window_layers");
    if (first && !types && first->AsWhole(0, UINT32_MAX) > 0)
    {
        result.notes.push_back(
            first->Describe("is not heeded: the first layers have the window, too"));
    }
}

/// @param isUsed whether a window counts where "use_sliding_window" is missing (not in Qwen's
/// configurations) @param usual tokens of the window where "sliding_window" is missing
/// @param every which layer sees all where "layer_types" is missing; 0: as the base has it
/// @return what reads the window
std::function<void(const JsonValue&, TranslatedConfig&)>
MakeWindowReader(bool isUsed, uint64_t usual, uint64_t every = 0)
{
    return [isUsed, usual, every](const JsonValue& root, TranslatedConfig& result) {
        if (every > 0)
        {
            result.let["globalEvery"] = every;
        }
        ReadWindow(root, result, isUsed, usual);
    };
}

/// @return a model with Llama's layers
ModelConfigKind
MakeLlama()
{
    ModelConfigKind kind;
    kind.base = "llama.json";
    kind.numbers = {{"num_hidden_layers", "layers"},
                    {"hidden_size", "hidden"},
                    {"num_attention_heads", "heads"},
                    {"num_key_value_heads", "kvHeads", false},
                    {"head_dim", "headWidth", false},
                    {"intermediate_size", "feedForward"},
                    {"vocab_size", "vocabulary"}};
    kind.switches = {TIED};
    kind.fixed = {SWIGLU, WithoutDropout("attention_dropout")};
    kind.positions = "max_position_embeddings";
    kind.inert = {"use_mrope", "is_llama_config"};
    return kind;
}

/// @param kind of models @param more what reads which layers attend to a window @return the kind
/// that has them
ModelConfigKind
WithWindow(ModelConfigKind kind, std::function<void(const JsonValue&, TranslatedConfig&)> more)
{
    kind.more = std::move(more);
    kind.special = {"sliding_window", "use_sliding_window", "max_window_layers", "layer_types"};
    return kind;
}

/// @return the same, with biases for those who ask for them
ModelConfigKind
MakeLlamaWithBiases()
{
    ModelConfigKind kind = MakeLlama();
    kind.switches.push_back({"attention_bias", {"qkvBias", "projectionBias"}, false});
    kind.switches.push_back({"mlp_bias", {"feedForwardBias"}, false});
    return kind;
}

const Registration REGISTER_LLAMA("llama", MakeLlamaWithBiases());

const Registration REGISTER_MISTRAL("mistral", [] {
    ModelConfigKind kind = WithWindow(MakeLlama(), MakeWindowReader(true, 4096));
    kind.numbers[3].isNeeded = true; // 8 where it is missing, whatever the heads
    return kind;
}());

const Registration REGISTER_QWEN2("qwen2", [] {
    ModelConfigKind kind = WithWindow(MakeLlama(), MakeWindowReader(false, 4096));
    kind.numbers[3].isNeeded = true; // 32 where it is missing, whatever the heads
    kind.set = {{"qkvBias", 1}};
    return kind;
}());

const Registration REGISTER_PHI3("phi3", [] {
    ModelConfigKind kind = WithWindow(MakeLlama(), MakeWindowReader(true, 0));
    kind.fixed.push_back(WithoutDropout("embd_pdrop"));
    kind.fixed.push_back(WithoutDropout("resid_pdrop"));
    kind.fixed.push_back(NO_ATTENTION_BIAS);
    kind.inert.insert({"original_max_position_embeddings", "partial_rotary_factor"});
    return kind;
}());

/// Of Granite: they scale what is there anyhow.
const std::vector<std::string> MULTIPLIERS{"attention_multiplier",
                                           "embedding_multiplier",
                                           "logits_scaling",
                                           "residual_multiplier"};

const Registration REGISTER_GRANITE("granite", [] {
    ModelConfigKind kind = MakeLlamaWithBiases();
    kind.inert.insert(MULTIPLIERS.begin(), MULTIPLIERS.end());
    return kind;
}());

// The multipliers scale what is there anyhow; a file with experts is refused.
const Registration REGISTER_MINICPM("minicpm", [] {
    ModelConfigKind kind = MakeLlama();
    kind.switches = {{"tie_word_embeddings", {"tied"}, true},
                     {"attention_bias", {"qkvBias", "projectionBias"}, false}};
    kind.fixed.push_back({"num_experts", {"0"}});
    kind.inert.insert({"scale_emb", "scale_depth", "dim_model_base"});
    return kind;
}());

// One product gives queries, keys and values (wqkv), as Llama's does here.
const Registration REGISTER_INTERNLM2("internlm2", [] {
    ModelConfigKind kind = MakeLlama();
    kind.switches.push_back({"bias", {"qkvBias", "projectionBias"}, true});
    kind.inert.insert("attn_implementation");
    return kind;
}());

// The 7B's positions are rotations, and its file has max_position_embeddings; the 13B's has not.
const Registration REGISTER_BAICHUAN("baichuan", [] {
    ModelConfigKind kind = MakeLlama();
    kind.positions = "model_max_length";
    kind.special.insert("max_position_embeddings");
    kind.inert.insert("z_loss_weight");
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        RequireSameValue(root, "max_position_embeddings", "model_max_length");
        if (!FindConfigValue(root, "max_position_embeddings"))
        {
            result.notes.push_back("baichuan: there is no max_position_embeddings, so this is a "
                                   "13B: rotations stand for what is added to the scores of "
                                   "attention (ALiBi)");
        }
        result.notes.push_back("baichuan: version 2 scales the weight of the product behind the "
                               "layers to length 1 in each pass, which is left out");
    };
    return kind;
}());

/// @param hasPostNorms whether norms stand behind attention and products, too @return GLM 4
ModelConfigKind
MakeGlm(bool hasPostNorms)
{
    ModelConfigKind kind = MakeLlama();
    kind.numbers[3].isNeeded = true; // 2 and 128 where they are missing, whatever the heads
    kind.numbers[4].isNeeded = true;
    kind.switches.push_back({"attention_bias", {"qkvBias"}, false});
    kind.set = {{"postNorms", hasPostNorms ? 1 : 0}};
    kind.inert.insert("partial_rotary_factor");
    return kind;
}

const Registration REGISTER_GLM("glm", MakeGlm(false));
const Registration REGISTER_GLM4("glm4", MakeGlm(true));

const Registration REGISTER_QWEN3("qwen3", [] {
    ModelConfigKind kind = WithWindow(MakeLlama(), MakeWindowReader(false, 4096));
    kind.base = "qwen3-8b.json";
    kind.numbers[3].isNeeded = true; // 32 where it is missing, whatever the heads
    kind.fixed.push_back(NO_ATTENTION_BIAS);
    return kind;
}());

/// @param type of the model, as the file has it @return OLMo 2 and 3
ModelConfigKind
MakeOlmo(const std::string& type)
{
    // OLMo 3 has every fourth layer without a window, OLMo 2 has none with one.
    const bool hasWindow = type == "olmo3";
    ModelConfigKind kind =
        WithWindow(MakeLlama(),
                   hasWindow ? MakeWindowReader(true, 4096, 4) : MakeWindowReader(true, 0));
    kind.base = "qwen3-8b.json";
    kind.fixed.push_back(NO_ATTENTION_BIAS);
    const auto more = kind.more;
    kind.more = [more, type](const JsonValue& root, TranslatedConfig& result) {
        more(root, result);
        ReadHeadWidth(root, result);
        if (!FindConfigValue(root, "num_key_value_heads"))
        {
            result.let["kvHeads"] = result.let["heads"];
        }
        result.notes.push_back(type + ": norms stand before attention and products, not behind, "
                                      "and those of queries and keys are of each head: as many "
                                      "numbers are normalised");
    };
    return kind;
}

const Registration REGISTER_OLMO2("olmo2", MakeOlmo("olmo2"));
const Registration REGISTER_OLMO3("olmo3", MakeOlmo("olmo3"));

/// @return a model with Mixtral's layers
ModelConfigKind
MakeMixtral()
{
    ModelConfigKind kind = WithWindow(MakeLlama(), MakeWindowReader(true, 0));
    kind.base = "mixtral-8x7b.json";
    kind.numbers = {{"num_hidden_layers", "layers"},
                    {"hidden_size", "hidden"},
                    {"num_attention_heads", "heads"},
                    {"num_key_value_heads", "kvHeads"},
                    {"head_dim", "headWidth", false},
                    {"intermediate_size", "feedForward"},
                    {"vocab_size", "vocabulary"},
                    {"num_local_experts", "experts"},
                    {"num_experts_per_tok", "top"}};
    return kind;
}

const Registration REGISTER_MIXTRAL("mixtral", MakeMixtral());

const Registration REGISTER_GRANITE_MOE("granitemoe", [] {
    ModelConfigKind kind = MakeMixtral();
    kind.switches.push_back({"attention_bias", {"qkvBias", "projectionBias"}, false});
    kind.inert.insert(MULTIPLIERS.begin(), MULTIPLIERS.end());
    kind.more = nullptr; // there are no windows
    kind.special.clear();
    return kind;
}());

// Phi-3.5 MoE: Mixtral's layers with biases of attention. How its router is trained is no time.
const Registration REGISTER_PHIMOE("phimoe", [] {
    ModelConfigKind kind = MakeMixtral();
    kind.switches.push_back({"attention_bias", {"qkvBias", "projectionBias"}, false});
    kind.fixed.push_back(WithoutDropout("hidden_dropout"));
    kind.inert.insert(
        {"input_jitter_noise", "router_jitter_noise", "original_max_position_embeddings"});
    kind.special.insert("lm_head_bias");
    const auto more = kind.more;
    kind.more = [more](const JsonValue& root, TranslatedConfig& result) {
        more(root, result);
        NameTruth(root, "lm_head_bias", "the bias of logits is left out", result);
        result.notes.push_back("phimoe: its norms have means and biases, which are left out");
    };
    return kind;
}());

// Its configuration's own numbers are those of the 120B where they are missing, so all are needed.
// Layers take turns where "layer_types" is missing. The bound of its activation is there
// whatever it is.
const Registration REGISTER_GPT_OSS("gpt_oss", [] {
    ModelConfigKind kind = MakeMixtral();
    kind.numbers[4].isNeeded = true;
    kind.switches.push_back({"attention_bias", {"qkvBias", "projectionBias"}, true});
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        RequireSameValue(root, "experts_per_token", "num_experts_per_tok");
        result.let["globalEvery"] = 2;
        result.let["expertBias"] = 1;
        result.let["clamped"] = 1;
        result.let["scaledRotary"] = 1; // by YaRN's factor, see /rope_scaling
        ReadWindow(root, result, true, 128);
        result.notes.push_back("gpt_oss: sinks of attention and biases of routers, which are "
                               "few numbers, are left out");
    };
    kind.inert.insert({"swiglu_limit", "experts_per_token", "initial_context_length"});
    return kind;
}());

const Registration REGISTER_QWEN3_MOE("qwen3_moe", [] {
    ModelConfigKind kind = WithWindow(MakeLlama(), MakeWindowReader(false, 4096));
    kind.base = "qwen3-30b-a3b.json";
    kind.numbers = {{"num_hidden_layers", "layers"},
                    {"hidden_size", "hidden"},
                    {"num_attention_heads", "heads"},
                    {"num_key_value_heads", "kvHeads"},
                    {"head_dim", "headWidth"},
                    {"moe_intermediate_size", "feedForward"},
                    {"vocab_size", "vocabulary"},
                    {"num_experts", "experts"},
                    {"num_experts_per_tok", "top"}};
    kind.switches = {};
    kind.fixed.push_back(UNTIED);
    kind.fixed.push_back(NO_ATTENTION_BIAS);
    kind.fixed.push_back({"decoder_sparse_step", {"1"}});
    kind.fixed.push_back({"mlp_only_layers", {"[]"}});
    kind.fixed.push_back({"qkv_bias", {"false"}});
    kind.fixed.push_back({"shared_expert_intermediate_size", {"0"}});
    // That of layers without experts, of which there are none; weights of a token's experts.
    kind.inert.insert({"intermediate_size", "norm_topk_prob"});
    return kind;
}());

// Gemma's gated layer has a GELU in the place of Llama's SiLU, as T5's of version 1.1; its factor
// of embeddings and the 1 in its norms scale what is there anyhow.
const Registration REGISTER_GEMMA("gemma", [] {
    ModelConfigKind kind = MakeLlama();
    kind.numbers[3].isNeeded = true; // 16 and 256 where they are missing, whatever the heads
    kind.numbers[4].isNeeded = true;
    kind.switches = {{"tie_word_embeddings", {"tied"}, true}};
    kind.fixed = {{"hidden_act", {"\"gelu\"", "\"gelu_pytorch_tanh\""}},
                  {"hidden_activation", {"\"gelu\"", "\"gelu_pytorch_tanh\""}},
                  {"use_bidirectional_attention", {"false"}},
                  NO_ATTENTION_BIAS,
                  WithoutDropout("attention_dropout")};
    return kind;
}());

/// Reads which layers of Gemma 3 see all tokens: every sixth, or every sliding_window_pattern-th,
/// or as layer_types says.
/// @param root of the file @param result gets it
void
ReadGemma3Window(const JsonValue& root, TranslatedConfig& result)
{
    const auto every = FindConfigValue(root, "sliding_window_pattern");
    result.let["globalEvery"] = every ? every->AsWhole(1, UINT32_MAX) : 6;
    ReadWindow(root, result, true, 4096);
}

// Gemma 3 without images: with norms of queries and keys as Qwen3, and norms behind attention and
// products, too. It has no bound of scores and logits, unlike Gemma 2.
const Registration REGISTER_GEMMA_3("gemma3_text", [] {
    ModelConfigKind kind = WithWindow(MakeLlama(), ReadGemma3Window);
    kind.base = "qwen3-8b.json";
    kind.special.insert("sliding_window_pattern");
    kind.numbers[3].isNeeded = true; // 4 and 256 where they are missing, whatever the heads
    kind.numbers[4].isNeeded = true;
    kind.set = {{"postNorms", 1}};
    kind.switches = {{"tie_word_embeddings", {"tied"}, true}};
    kind.fixed = {{"hidden_activation", {"\"gelu_pytorch_tanh\""}},
                  {"attn_logit_softcapping", {"null"}},
                  {"final_logit_softcapping", {"null"}},
                  {"use_bidirectional_attention", {"false"}},
                  NO_ATTENTION_BIAS,
                  WithoutDropout("attention_dropout")};
    kind.inert.insert({"rope_local_base_freq", "query_pre_attn_scalar"});
    return kind;
}());

/// @return DeepSeek's models with latent attention
ModelConfigKind
MakeDeepSeek()
{
    ModelConfigKind kind;
    kind.base = "deepseek-v3.json";
    kind.numbers = {{"num_hidden_layers", "layers"},
                    {"first_k_dense_replace", "denseLayers", true, 0},
                    {"hidden_size", "hidden"},
                    {"num_attention_heads", "heads"},
                    {"kv_lora_rank", "keyValueRank"},
                    {"qk_nope_head_dim", "plainWidth"},
                    {"qk_rope_head_dim", "rotaryWidth"},
                    {"v_head_dim", "valueWidth"},
                    {"intermediate_size", "feedForward"},
                    {"moe_intermediate_size", "expertFeedForward"},
                    {"n_routed_experts", "experts"},
                    {"n_shared_experts", "sharedExperts"},
                    {"num_experts_per_tok", "top"},
                    {"vocab_size", "vocabulary"},
                    {"num_nextn_predict_layers", "predictionLayers", false, 0}};
    kind.fixed = {SWIGLU,
                  WithoutDropout("attention_dropout"),
                  UNTIED,
                  NO_ATTENTION_BIAS,
                  {"moe_layer_freq", {"1"}},
                  {"topk_method", {"\"greedy\"", "\"group_limited_greedy\"", "\"noaux_tc\""}}};
    kind.positions = "max_position_embeddings";
    // Each head has keys of its own; how experts are scored and weighted, and where they lie.
    kind.inert = {"num_key_value_heads",
                  "aux_loss_alpha",
                  "ep_size",
                  "head_dim",
                  "norm_topk_prob",
                  "qk_head_dim",
                  "rope_interleave",
                  "routed_scaling_factor",
                  "scoring_func",
                  "seq_aux"};
    kind.special = {"q_lora_rank", "n_group", "topk_group"};
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        const auto rank = FindConfigValue(root, "q_lora_rank"); // null: queries have no low rank
        result.let["queryRank"] = rank ? rank->AsWhole(0, UINT32_MAX) : uint64_t{0};
        const auto read = [&root](const char* key) {
            const auto value = FindConfigValue(root, key);
            return value ? value->AsWhole(1, UINT32_MAX) : uint64_t{1};
        };
        const auto method = FindConfigValue(root, "topk_method");
        const bool isGreedy = method && method->AsName() == "greedy";
        result.let["groups"] = isGreedy ? 1 : read("n_group");
        result.let["topGroups"] = isGreedy ? 1 : read("topk_group");
    };
    return kind;
}

const Registration REGISTER_DEEPSEEK_V2("deepseek_v2", MakeDeepSeek());
const Registration REGISTER_DEEPSEEK_V3("deepseek_v3", MakeDeepSeek());
const Registration REGISTER_KIMI_K2("kimi_k2", MakeDeepSeek());

const Registration REGISTER_GPT2("gpt2", [] {
    ModelConfigKind kind;
    kind.base = "gpt.json";
    kind.numbers = {{"n_layer", "layers"},
                    {"n_embd", "hidden"},
                    {"n_head", "heads"},
                    {"n_inner", "feedForward", false},
                    {"vocab_size", "vocabulary"}};
    kind.fixed = {{"activation_function", GetGelus()},
                  {"tie_word_embeddings", {"true"}},
                  {"add_cross_attention", {"false"}}};
    kind.set = {{"padded", "pad(vocabulary, tensorParallel)"}};
    kind.positions = "n_positions";
    kind.inert = {"n_ctx", "scale_attn_weights"}; // as n_positions, of early versions; a scaling
    kind.special = {"attn_pdrop",
                    "embd_pdrop",
                    "resid_pdrop",
                    "reorder_and_upcast_attn",
                    "scale_attn_by_inverse_layer_idx"};
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        RequireSameValue(root, "n_ctx", "n_positions");
        NameTruth(root,
                  "reorder_and_upcast_attn",
                  "scores of attention are made in the type of the others here, not in fp32",
                  result);
        NameTruth(root,
                  "scale_attn_by_inverse_layer_idx",
                  "its division of scores by the number of the layer is left out",
                  result);
        double most = 0;
        double least = 1;
        for (const char* key : {"attn_pdrop", "embd_pdrop", "resid_pdrop"})
        {
            constexpr double USUAL = 0.1;
            const auto value = FindConfigValue(root, key);
            const double part = value ? value->AsNumber(0, 1) : USUAL;
            most = std::max(most, part);
            least = std::min(least, part);
        }
        result.let["dropout"] = most > 0 ? 1 : 0;
        if (most > 0 && least <= 0)
        {
            result.notes.push_back(root.Describe(
                "attn_pdrop, embd_pdrop and resid_pdrop: one is 0 and one is not; all drop here"));
        }
        SetGelu(root, "activation_function", "gelu_new", result);
    };
    return kind;
}());

// Rows of positions begin at 2 (OPTLearnedPositionalEmbedding).
const Registration REGISTER_OPT("opt", [] {
    ModelConfigKind kind;
    kind.base = "gpt.json";
    kind.numbers = {{"num_hidden_layers", "layers"},
                    {"hidden_size", "hidden"},
                    {"num_attention_heads", "heads"},
                    {"ffn_dim", "feedForward"},
                    {"vocab_size", "vocabulary"}};
    kind.fixed = {{"activation_function", {"\"relu\""}},
                  {"tie_word_embeddings", {"true"}},
                  {"do_layer_norm_before", {"true"}},
                  {"enable_bias", {"true"}},
                  {"layer_norm_elementwise_affine", {"true"}},
                  {"_remove_final_layer_norm", {"false"}},
                  WithoutDropout("attention_dropout"),
                  WithoutDropout("activation_dropout"),
                  WithoutDropout("layerdrop")};
    kind.set = {{"padded", "pad(vocabulary, tensorParallel)"},
                {"relu", 1},
                {"attentionDropout", 0}};
    kind.positions = "max_position_embeddings";
    kind.inert = {"init_std"};
    kind.special = {"dropout", "word_embed_proj_dim"};
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        constexpr uint64_t FIRST = 2;
        constexpr double USUAL = 0.1;
        const auto dropout = FindConfigValue(root, "dropout");
        result.let["dropout"] = (dropout ? dropout->AsNumber(0, 1) : USUAL) > 0 ? 1 : 0;
        result.let["positions"] =
            root.Get("max_position_embeddings").AsWhole(1, UINT32_MAX) + FIRST;
        const auto width = FindConfigValue(root, "word_embed_proj_dim");
        if (width && width->AsWhole(1, UINT32_MAX) != result.let["hidden"].get<uint64_t>())
        {
            width->Fail("must be hidden_size: gpt.json has no product between embedding and "
                        "layers; write a file of a model with what differs");
        }
    };
    return kind;
}());

const Registration REGISTER_GPT_NEOX("gpt_neox", [] {
    ModelConfigKind kind;
    kind.base = "gpt-neox.json";
    kind.numbers = {{"num_hidden_layers", "layers"},
                    {"hidden_size", "hidden"},
                    {"num_attention_heads", "heads"},
                    {"intermediate_size", "feedForward"},
                    {"vocab_size", "vocabulary"}};
    kind.switches = {TIED,
                     {"use_parallel_residual", {"parallel"}, true},
                     {"attention_bias", {"bias"}, true}};
    kind.fixed = {{"hidden_act", GetGelus()},
                  WithoutDropout("attention_dropout"),
                  WithoutDropout("attention_probs_dropout_prob"),
                  WithoutDropout("hidden_dropout"),
                  WithoutDropout("hidden_dropout_prob")};
    kind.positions = "max_position_embeddings";
    kind.more = [](const JsonValue& root, TranslatedConfig& result) {
        SetGelu(root, "hidden_act", "gelu", result);
    };
    kind.inert = {"rotary_emb_base", "rotary_pct", "partial_rotary_factor"};
    return kind;
}());

} // namespace

} // namespace proteus
} // namespace ns3
