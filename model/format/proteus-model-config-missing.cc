/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-other-names.h"

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
    "model_type falcon",
    MakeType({"falcon", "gptj", "phi", "cohere", "cohere2", "stablelm", "glm4"},
             "its layers have attention and products beside each other, or norms in other places "
             "than Llama's; gpt-neox.json is a model with both beside each other, to begin with"));

} // namespace

} // namespace proteus
} // namespace ns3
