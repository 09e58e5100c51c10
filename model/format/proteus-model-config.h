/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MODEL_CONFIG_H
#define PROTEUS_MODEL_CONFIG_H

#include "ns3/proteus-json.h"
#include "ns3/proteus-registry.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The config.json by which Hugging Face transformers describes a model: a "model_type" and its
 * sizes. It becomes a file of a model with one of those here as its base. Each model_type is
 * registered by the file that knows it (ModelConfigRegistry).
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A number of a config.json, and the variable of the base that it becomes.
struct ConfigNumber
{
    std::string key;      //!< of config.json
    std::string variable; //!< of the base
    bool isNeeded{true};  //!< if not, the base says what it is where it is missing or null
    uint64_t least{1};    //!< smallest one
};

/// @ingroup proteus
/// A truth of a config.json, and the variables of the base that are 1 if it is true.
struct ConfigSwitch
{
    std::string key;                    //!< of config.json
    std::vector<std::string> variables; //!< of the base
    bool isUsual{false};                //!< what transformers takes where it is missing
};

/// @ingroup proteus
/// A key that must have one of some values, as the base has nothing else.
struct ConfigFixed
{
    std::string key;                 //!< of config.json
    std::vector<std::string> values; //!< as JSON; a missing key and null are always right
};

/// @ingroup proteus
/// What a config.json becomes.
struct TranslatedConfig
{
    std::map<std::string, nlohmann::json> let; //!< variables of the base
    std::vector<std::string> notes;            //!< what is not as the file says
};

/// @ingroup proteus
/// How the config.json of a model_type is read.
struct ModelConfigKind
{
    std::string base;                          //!< file of the model, e.g. "llama.json"
    std::vector<ConfigNumber> numbers;         //!< that it is made of
    std::vector<ConfigSwitch> switches;        //!< that it is made of
    std::map<std::string, nlohmann::json> set; //!< variables that are so in all of the kind
    std::vector<ConfigFixed> fixed;            //!< what cannot be otherwise
    /// Ends of the names of classes ("architectures") that have the head of the base, the usual one
    /// first.
    std::vector<std::string> heads{"ForCausalLM", "LMHeadModel"};
    std::string positions;         //!< key of the longest sequence; empty: there is none
    uint64_t reservedPositions{0}; //!< of these, that no token of a sequence has
    std::set<std::string> inert;   //!< keys on which no time depends, beside those of all kinds
    /// Reads what is special; may be empty.
    std::function<void(const JsonValue& root, TranslatedConfig& result)> more;
    std::set<std::string> special; //!< keys that it reads
};

/// @ingroup proteus
/// All kinds by "model_type".
using ModelConfigRegistry = Registry<ModelConfigKind>;

/// @ingroup proteus
/// Reads how wide a head is ("head_dim"): where it is missing, the heads share the hidden size.
/// @param root of a config.json @param result gets the variable "headWidth"
void ReadHeadWidth(const JsonValue& root, TranslatedConfig& result);

/// @ingroup proteus
/// @param key of what is dropped out @return it as what must be 0
ConfigFixed WithoutDropout(const std::string& key);

/// @ingroup proteus
/// @return the names of GELU, as values of an activation
std::vector<std::string> GetGelus();

/// @ingroup proteus
/// Says whether a GELU is written out, as NewGELUActivation and its like; others are one kernel.
/// @param root of a config.json @param key of the activation @param usual where it is missing
/// @param result gets the variable "composedGelu"
void SetGelu(const JsonValue& root, const char* key, const char* usual, TranslatedConfig& result);

/// @ingroup proteus
/// @param root of a config.json @param key of it @return the value, if it is there and not null
std::optional<JsonValue> FindConfigValue(const JsonValue& root, const std::string& key);

/// @ingroup proteus
/// @param root of a config.json @param key that says the same as another one @param counts that
/// one, which transformers reads
/// @throw JsonError if both are there and differ
void RequireSameValue(const JsonValue& root, const std::string& key, const std::string& counts);

/// @ingroup proteus
/// @param root of a file @return whether it is a config.json of transformers, and no file of a
/// model of this module
bool IsModelConfig(const JsonValue& root);

/**
 * @ingroup proteus
 * @param root of a config.json
 * @param fileName of it
 * @param variables that a run sets, which go before those of the file
 * @param notes gets what is not as the file says, each behind its place
 * @return a file of a model of this module, with a "base" and variables
 * @throw JsonError if nothing here is such a model
 */
std::unique_ptr<JsonDocument> TranslateModelConfig(const JsonValue& root,
                                                   const std::string& fileName,
                                                   const std::map<std::string, int64_t>& variables,
                                                   std::vector<std::string>& notes);

/// @ingroup proteus
/// A kind of Hugging Face's models that a name belongs to.
struct ModelFamily
{
    std::string type;  //!< its "model_type"
    std::string cause; //!< why there is no such model here; empty: its config.json is read
};

/// @ingroup proteus
/// @param name of a model, as it is typed, e.g. "falcon-40b" @return the kind whose type it begins
/// with, behind which a size or a word may stand, but no number of a version; of several the one
/// with the longest type; none if there is none
std::optional<ModelFamily> FindModelFamily(const std::string& name);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MODEL_CONFIG_H
