/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-model-config.h"

#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-other-names.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Models of Hugging Face transformers that nothing here can stand for, and what they have that is
 * not here: src/transformers/models/NAME/modeling_NAME.py and configuration_NAME.py.
 */

namespace ns3
{
namespace proteus
{

namespace
{

using Registration = MissingThingRegistry::Registration;

const std::vector<std::string> NO_WORDS;

/// @param words types @param cause what is missing @return both
MissingThing
MakeType(std::vector<std::string> words, std::string cause)
{
    return {"model_type", std::move(words), std::move(cause)};
}

const Registration GEMMA_2(
    "model_type gemma2",
    MakeType({"gemma2"},
             "scores of attention and logits are bounded by a tanh (attn_logit_softcapping, "
             "final_logit_softcapping), every other layer attends to a window, and results of "
             "attention and of the products behind it have norms of their own"));

const Registration GEMMA_3(
    "model_type gemma3",
    MakeType(
        {"gemma3", "gemma3n", "gemma3n_text"},
        "it has an encoder of images (vision_config), and gemma3n layers of its own; text_config "
        "of gemma3 alone is a file of gemma3_text, which is read"));

const Registration LLAMA_4(
    "model_type llama4",
    MakeType({"llama4"},
             "it has an encoder of images (vision_config); a file with the keys of text_config "
             "alone (model_type llama4_text) is read"));

const Registration SPARSE_ATTENTION(
    "model_type deepseek_v32",
    MakeType({"deepseek_v32", "glm_moe_dsa"},
             "its attention reads the tokens that an indexer has chosen, for which there is no "
             "operator; deepseek_v3 has the nearest layers, with attention to all tokens"));

const Registration BART(
    "model_type bart",
    MakeType({"bart", "mbart"},
             "no file of it is read, but bart-large.json is a model of its kind, whose variables "
             "say its sizes"));

const Registration STATE_SPACES(
    "model_type mamba",
    MakeType(
        {"mamba",
         "mamba2",
         "falcon_mamba",
         "falcon_h1",
         "jamba",
         "bamba",
         "zamba",
         "zamba2",
         "nemotron_h",
         "granitemoehybrid",
         "rwkv",
         "recurrent_gemma"},
        "there are no scans of a state (selective_scan) and no convolutions along a sequence"));

const Registration LINEAR_ATTENTION(
    "model_type qwen3_next",
    MakeType({"qwen3_next", "qwen3_5", "qwen3_5_moe", "minimax", "kimi_linear"},
             "most layers have linear attention (a gated delta rule or a decaying sum in chunks), "
             "for which there is no operator"));

const Registration AUDIO(
    "model_type whisper",
    MakeType({"whisper", "wav2vec2", "hubert", "speech_to_text", "seamless_m4t", "seamless_m4t_v2"},
             "there are no convolutions along a sequence of audio; bart-large has an encoder and a "
             "decoder, as it has"));

const Registration IMAGES_AND_TEXT(
    "model_type llava",
    MakeType({"llava",
              "llava_next",
              "mllama",
              "qwen2_vl",
              "qwen2_5_vl",
              "qwen3_vl",
              "qwen3_vl_moe",
              "idefics2",
              "idefics3",
              "paligemma",
              "mistral3",
              "pixtral",
              "internvl",
              "smolvlm",
              "clip",
              "siglip"},
             "it has an encoder of images beside its text; where text_config is a model that is "
             "read, a file with its keys alone is that model without images"));

const Registration MIXED_EXPERTS(
    "model_type dbrx",
    MakeType({"hunyuan_v1_moe", "dbrx"},
             "its layers of experts are of no model here; variables of qwen3-30b-a3b.json "
             "(denseLayers, expertEvery, sharedFeedForward, headNorms) say what comes next"));

const Registration OTHER_BLOCKS(
    "model_type cohere",
    MakeType({"cohere", "cohere2", "stablelm"},
             "its layers have gated products behind norms that are no RMS norms, beside attention "
             "or behind it; llama.json with its sizes has the same products"));

const Registration UNGATED_WITH_HEAD_NORMS(
    "model_type apertus",
    MakeType({"apertus"},
             "its activation (xIELU) is of no model here; nemotron4-15b.json with its sizes has "
             "the same products, and neither norms of queries and keys nor a trained activation"));

const Registration RELATIVE_SCORES(
    "model_type deberta",
    MakeType({"deberta", "deberta-v2", "deberta-v3"},
             "scores of attention have products with distances besides (disentangled attention), "
             "for which there is no operator; bert-base.json is what it has without these"));

const Registration MODERN_BERT(
    "model_type modernbert",
    MakeType({"modernbert"},
             "its attention sees windows on both sides of a token, and its feed-forward is gated; "
             "bert-base.json has neither"));

const Registration PROTEINS(
    "model_type esm",
    MakeType(
        {"esm", "esm2"},
        "it is an encoder with rotations; vit-base.json with its sizes, and with patches=1023 and "
        "patch=2 for 1,024 tokens, has the same layers but for these"));

const Registration DIFFUSION(
    "model_type dit",
    MakeType({"dit", "sit", "pixart", "stable-diffusion", "sd", "sdxl", "flux", "unet"},
             "it is no model of transformers, and there are no operators that shift and scale "
             "features by a vector of a sample, nor attention between channels of images and text; "
             "wan2.1-14b.json is a transformer that makes video, whose variables say its sizes"));

const Registration GENERAL_LANGUAGE_MODEL(
    "model_type chatglm",
    MakeType({"glm-130b", "chatglm"},
             "no file of it is read; llama.json with its sizes (of GLM-130B layers=70, "
             "hidden=12288, heads=96, feedForward=32768, vocabulary=150528, qkvBias=1, "
             "projectionBias=1, feedForwardBias=1) has the same products"));

/// @param name as it is typed @param type of Hugging Face's models @return whether the name is that
/// type, with a size or a word behind it, e.g. "gemma-7b", but no number of a version ("gemma2-9b")
bool
IsOfType(const std::string& name, const std::string& type)
{
    static const std::regex version(R"(\d+([-_.].*)?)");
    for (std::size_t end = 1; end <= name.size(); ++end)
    {
        const std::size_t rest = std::min(name.find_first_not_of("-_. ", end), name.size());
        if (IsSameName(name.substr(0, end), type) && !std::regex_match(name.substr(rest), version))
        {
            return true;
        }
    }
    return false;
}

} // namespace

std::optional<ModelFamily>
FindModelFamily(const std::string& name)
{
    std::optional<ModelFamily> found;
    const auto consider = [&](const std::string& type, const std::string& cause) {
        if (IsOfType(name, type) && (!found || type.size() > found->type.size()))
        {
            found = ModelFamily{type, cause};
        }
    };
    for (const std::string& type : ModelConfigRegistry::Get().GetNames())
    {
        consider(type, "");
    }
    for (const auto& [usual, thing] : MissingThingRegistry::Get().GetAll())
    {
        for (const std::string& type : thing.kind == "model_type" ? thing.words : NO_WORDS)
        {
            consider(type, thing.cause);
        }
    }
    return found;
}

} // namespace proteus
} // namespace ns3
