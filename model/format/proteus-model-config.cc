/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-model-config.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-other-names.h"
#include "ns3/proteus-shown-name.h"

#include <algorithm>
#include <cctype>
#include <limits>

namespace ns3
{
namespace proteus
{

namespace
{

/// Tokens that models are run with where nothing is said: as the files of workloads/models/ have
/// it, since max_position_embeddings is what a model may be asked for, not what it is trained with.
constexpr uint64_t USUAL_SEQUENCE = 4096;

/// Keys of transformers on which no time depends, or which another option says: numbers of tokens,
/// small numbers in norms, how parameters begin and are stored (the strategy's dataType says in
/// what they are trained), how text is generated, names of code, of classes and of versions, and
/// how positions are turned into angles.
const std::set<std::string>&
GetInertKeys()
{
    static const std::set<std::string> keys{
        "_attn_implementation_autoset",
        "_commit_hash",
        "_name_or_path",
        "architectures",
        "auto_map",
        "begin_suppress_tokens",
        "bos_token_id",
        "chunk_size_feed_forward",
        "classifier_dropout",
        "decoder_start_token_id",
        "dtype",
        "eos_token_id",
        "finetuning_task",
        "forced_bos_token_id",
        "forced_eos_token_id",
        "gradient_checkpointing",
        "id2label",
        "initializer_factor",
        "initializer_range",
        "is_decoder",
        "is_encoder_decoder",
        "label2id",
        "layer_norm_eps",
        "layer_norm_epsilon",
        "max_length",
        "model_type",
        "norm_eps",
        "num_labels",
        "output_attentions",
        "output_hidden_states",
        "output_past",
        "output_router_logits",
        "pad_token_id",
        "position_embedding_type",
        "prefix",
        "pretraining_tp",
        "problem_type",
        "return_dict",
        "rms_norm_eps",
        "rope_interleaved",
        "rope_parameters",
        "rope_scaling",
        "rope_theta",
        "router_aux_loss_coef",
        "router_jitter_noise",
        "sep_token_id",
        "summary_activation",
        "summary_first_dropout",
        "summary_proj_to_labels",
        "summary_type",
        "summary_use_proj",
        "suppress_tokens",
        "task_specific_params",
        "torch_dtype",
        "torchscript",
        "transformers_version",
        "unsloth_fixed",
        "unsloth_version",
        "use_bfloat16",
        "use_cache",
    };
    return keys;
}

/// Reads what says which variables the base gets.
void
ReadVariables(const JsonValue& root, const ModelConfigKind& kind, TranslatedConfig& result)
{
    result.let = kind.set;
    for (const ConfigNumber& number : kind.numbers)
    {
        const auto value = FindConfigValue(root, number.key);
        if (!value && number.isNeeded)
        {
            root.FailMissing(number.key);
        }
        if (value)
        {
            result.let[number.variable] =
                value->AsWhole(number.least, std::numeric_limits<uint32_t>::max());
        }
    }
    for (const ConfigSwitch& each : kind.switches)
    {
        const auto value = FindConfigValue(root, each.key);
        for (const std::string& variable : each.variables)
        {
            result.let[variable] = (value ? value->AsBool() : each.isUsual) ? 1 : 0;
        }
    }
}

/// Refuses heads that cannot share those of keys and values.
void
CheckHeads(const JsonValue& root, const TranslatedConfig& result)
{
    const auto heads = result.let.find("heads");
    const auto shared = result.let.find("kvHeads");
    if (heads != result.let.end() && shared != result.let.end() &&
        heads->second.get<uint64_t>() % shared->second.get<uint64_t>() != 0)
    {
        root.Get("num_key_value_heads")
            .Fail("num_attention_heads, " + heads->second.dump() + ", must be a multiple of it");
    }
}

/// Refuses what the base has not.
void
CheckFixed(const JsonValue& root, const ModelConfigKind& kind)
{
    std::vector<ConfigFixed> all = kind.fixed;
    const std::string halves = "is_encoder_decoder";
    if (std::none_of(all.begin(), all.end(), [&](const auto& one) { return one.key == halves; }))
    {
        all.push_back({halves, {"false"}});
    }
    for (const ConfigFixed& fixed : all)
    {
        const auto value = FindConfigValue(root, fixed.key);
        if (value && std::find(fixed.values.begin(), fixed.values.end(), value->Dump()) ==
                         fixed.values.end())
        {
            value->Fail("is " + value->Shown() + ", and " + kind.base +
                        ", which such a model becomes, has " + ListAlternatives(fixed.values) +
                        "; write a file of a model with what differs");
        }
    }
}

/// Says how long sequences are, which the file leaves open.
void
ChooseSequence(const JsonValue& root,
               const ModelConfigKind& kind,
               const std::map<std::string, int64_t>& variables,
               TranslatedConfig& result)
{
    const auto positions = FindConfigValue(root, kind.positions);
    if (kind.positions.empty())
    {
        return;
    }
    if (!positions)
    {
        if (variables.count("sequence") == 0)
        {
            result.notes.push_back(
                root.Describe("has no " + kind.positions +
                              ", the longest sequence there may be; as many tokens "
                              "as in " +
                              kind.base + " are run, or as --variables=sequence=N says"));
        }
        return;
    }
    const uint64_t most =
        positions->AsWhole(kind.reservedPositions + 1, std::numeric_limits<uint32_t>::max()) -
        kind.reservedPositions;
    const uint64_t usual = std::min(most, USUAL_SEQUENCE);
    result.let["sequence"] = usual;
    const auto given = variables.find("sequence");
    if (given != variables.end())
    {
        result.let["sequence"] = given->second;
        if (given->second > 0 && static_cast<uint64_t>(given->second) > most)
        {
            result.notes.push_back(positions->Describe("is less than the sequence of " +
                                                       std::to_string(given->second) +
                                                       " tokens that is run"));
        }
    }
    else if (usual < most)
    {
        result.notes.push_back(
            positions->Describe("is the longest sequence there may be; " + std::to_string(usual) +
                                " tokens are run, and as many as --variables=sequence=N says"));
    }
}

/// @param name of a class or of a kind of models @return the same as both would be written
std::string
ToPlainName(const std::string& name)
{
    std::string plain;
    for (const char c : name)
    {
        if (c != '_' && c != '-')
        {
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return plain;
}

/// @param name of a class, such as GPTNeoXForCausalLM
/// @return the kind of models that it is of, here "gpt_neox"; empty for one that is not known
std::string
FindKindOfClass(const std::string& name)
{
    const std::string plain = ToPlainName(name);
    for (const auto& [type, kind] : ModelConfigRegistry::Get().GetAll())
    {
        const std::string suffix = "_text"; // of Gemma3ForCausalLM it is gemma3_text
        const bool isText = type.size() > suffix.size() &&
                            type.compare(type.size() - suffix.size(), suffix.size(), suffix) == 0;
        const std::string stem =
            ToPlainName(isText ? type.substr(0, type.size() - suffix.size()) : type);
        for (const char* end : {"for", "model", "lmhead", "withlmhead"})
        {
            if (plain.rfind(stem + end, 0) == 0)
            {
                return type;
            }
        }
    }
    return "";
}

/// Refuses classes of another kind of models, and names those whose head is not that of the base.
void
CheckClasses(const JsonValue& root, const ModelConfigKind& kind, TranslatedConfig& result)
{
    const auto classes = FindConfigValue(root, "architectures");
    for (uint64_t i = 0; classes && classes->IsList() && i < classes->Size(); ++i)
    {
        const JsonValue value = classes->At(i);
        const std::string name = value.AsName();
        const std::string type = FindKindOfClass(name);
        if (!type.empty() && ModelConfigRegistry::Get().Find(type)->base != kind.base)
        {
            value.Fail(ShownName(name) + " is a model of type " + type + ", and model_type is " +
                       root.Get("model_type").Shown() + ": which of them is it?");
        }
        const bool isUsual =
            std::any_of(kind.heads.begin(), kind.heads.end(), [&name](const std::string& head) {
                return name.size() >= head.size() &&
                       name.compare(name.size() - head.size(), head.size(), head) == 0;
            });
        if (!isUsual)
        {
            result.notes.push_back(classes->Describe(
                "the head of " + ShownName(name) + " is not modelled: " + kind.base +
                ", which such a model becomes, has that of " + kind.heads.front()));
        }
    }
}

/// Names what the strategy says, and what all bases leave out.
void
NameOverruled(const JsonValue& root, TranslatedConfig& result)
{
    const auto recompute = FindConfigValue(root, "gradient_checkpointing");
    if (recompute && recompute->AsBool())
    {
        result.notes.push_back(
            recompute->Describe("has no effect: the strategy's recompute says what is computed "
                                "again"));
    }
    const auto balance = FindConfigValue(root, "output_router_logits");
    if (balance && balance->AsBool())
    {
        result.notes.push_back(balance->Describe("the loss that balances routers is left out"));
    }
    const auto jitter = FindConfigValue(root, "router_jitter_noise");
    if (jitter && jitter->AsNumber(0, 1) > 0)
    {
        result.notes.push_back(
            jitter->Describe("the noise that routers' inputs are multiplied with is left out"));
    }
}

/// Names what nothing follows from.
void
NameUnread(const JsonValue& root, const ModelConfigKind& kind, TranslatedConfig& result)
{
    std::set<std::string> known = GetInertKeys();
    known.insert(kind.inert.begin(), kind.inert.end());
    known.insert(kind.special.begin(), kind.special.end());
    known.insert(kind.positions);
    for (const auto& number : kind.numbers)
    {
        known.insert(number.key);
    }
    for (const auto& each : kind.switches)
    {
        known.insert(each.key);
    }
    for (const auto& fixed : kind.fixed)
    {
        known.insert(fixed.key);
    }
    std::string unread;
    for (const std::string& key : root.GetKeys())
    {
        if (known.count(key) > 0 || !FindConfigValue(root, key))
        {
            continue;
        }
        if (key == "quantization_config")
        {
            result.notes.push_back(root.Get(key.c_str())
                                       .Describe("has no effect: the strategy's dataType says in "
                                                 "what the model is trained"));
            continue;
        }
        AppendName(unread, ShownName(key));
    }
    if (!unread.empty())
    {
        result.notes.push_back(root.Describe("nothing follows from " + unread));
    }
}

/// @param root of a config.json @param fileName of it @return the model's name
std::string
FindName(const JsonValue& root, const std::string& fileName)
{
    const auto name = FindConfigValue(root, "_name_or_path");
    return name && !name->AsName().empty() ? name->AsName() : fileName;
}

} // namespace

std::optional<JsonValue>
FindConfigValue(const JsonValue& root, const std::string& key)
{
    const auto value = root.Find(key.c_str());
    return value && value->IsNull() ? std::nullopt : value;
}

void
RequireSameValue(const JsonValue& root, const std::string& key, const std::string& counts)
{
    const auto other = FindConfigValue(root, key);
    const auto value = FindConfigValue(root, counts);
    if (other && value && other->Dump() != value->Dump())
    {
        other->Fail("is " + other->Shown() + ", and " + counts + ", which counts, is " +
                    value->Shown() + ": make them the same, or leave this one away");
    }
}

bool
IsModelConfig(const JsonValue& root)
{
    return !root.Has("format") &&
           (root.Has("model_type") || root.Has("architectures") || root.Has("text_config"));
}

ConfigFixed
WithoutDropout(const std::string& key)
{
    return {key, {"0.0", "0"}};
}

std::vector<std::string>
GetGelus()
{
    return {"\"gelu_new\"", "\"gelu\"", "\"gelu_pytorch_tanh\"", "\"gelu_fast\""};
}

void
SetGelu(const JsonValue& root, const char* key, const char* usual, TranslatedConfig& result)
{
    const auto gelu = FindConfigValue(root, key);
    const std::string name = gelu ? gelu->AsName() : usual;
    result.let["composedGelu"] = name == "gelu_new" || name == "gelu_fast" ? 1 : 0;
}

void
ReadHeadWidth(const JsonValue& root, TranslatedConfig& result)
{
    const auto width = FindConfigValue(root, "head_dim");
    if (width)
    {
        result.let["headWidth"] = width->AsWhole(1, std::numeric_limits<uint32_t>::max());
        return;
    }
    result.let["headWidth"] = "hidden / heads";
}

std::unique_ptr<JsonDocument>
TranslateModelConfig(const JsonValue& root,
                     const std::string& fileName,
                     const std::map<std::string, int64_t>& variables,
                     std::vector<std::string>& notes)
{
    if (!root.Has("model_type"))
    {
        root.FailMissing("model_type",
                         root.Has("text_config")
                             ? "a file with the keys of text_config alone is the model of the text"
                             : "it says which of Hugging Face's models this is, e.g. \"llama\"");
    }
    const JsonValue type = root.Get("model_type");
    const ModelConfigKind* kind = ModelConfigRegistry::Get().Find(type.AsName());
    if (!kind)
    {
        if (const std::string cause = FindMissingCause("model_type", type.AsName()); !cause.empty())
        {
            type.Fail(type.Shown() + " is not modelled: " + cause +
                      "; of Hugging Face's models there are " +
                      ListNames(ModelConfigRegistry::Get().GetNames()));
        }
        const std::string same = FindAlias(type.AsName(), ModelConfigRegistry::Get().GetNames());
        if (!same.empty())
        {
            type.Fail("is " + type.Shown() + ": did you mean " + same + "?");
        }
        type.Fail("no model of this kind (" + type.Shown() +
                  ") is known here; of Hugging Face's there are " +
                  ListNames(ModelConfigRegistry::Get().GetNames()) +
                  ". A file of a model can describe any other (workloads/models/ has examples)");
    }
    TranslatedConfig result;
    CheckFixed(root, *kind);
    ReadVariables(root, *kind, result);
    CheckHeads(root, result);
    ChooseSequence(root, *kind, variables, result);
    if (kind->more)
    {
        kind->more(root, result);
    }
    CheckClasses(root, *kind, result);
    NameOverruled(root, result);
    NameUnread(root, *kind, result);
    notes.insert(notes.end(), result.notes.begin(), result.notes.end());
    nlohmann::json file{{"format", "proteus-model"},
                        {"version", 1},
                        {"name", FindName(root, fileName)},
                        {"base", kind->base},
                        {"let", result.let}};
    return std::make_unique<JsonDocument>(fileName, "", std::move(file));
}

} // namespace proteus
} // namespace ns3
