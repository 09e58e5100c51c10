/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MODEL_CONFIG_TOOLS_H
#define PROTEUS_MODEL_CONFIG_TOOLS_H

#include "../error-of.h"

#include "ns3/proteus-model-json.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <string>

/// @file
/// @ingroup proteus-tests
/// A config.json of Hugging Face, from its keys to a model.

namespace ns3
{
namespace proteus
{

/// Keys of a config.json with their values as JSON.
using Config = std::map<std::string, std::string>;

/// Llama 3.2 1B.
inline const Config LLAMA{{"model_type", "\"llama\""},
                          {"num_hidden_layers", "16"},
                          {"hidden_size", "2048"},
                          {"num_attention_heads", "32"},
                          {"num_key_value_heads", "8"},
                          {"head_dim", "64"},
                          {"intermediate_size", "8192"},
                          {"vocab_size", "128256"},
                          {"max_position_embeddings", "131072"},
                          {"tie_word_embeddings", "true"},
                          {"hidden_act", "\"silu\""}};

/// @param base a config @param changes of it; an empty value takes a key away @return both
inline Config
Change(Config base, const Config& changes)
{
    for (const auto& [key, value] : changes)
    {
        base[key] = value;
        if (value.empty())
        {
            base.erase(key);
        }
    }
    return base;
}

/// A config.json on the disk.
class ConfigFile
{
  public:
    /// Writes it. @param config what is in it
    explicit ConfigFile(const Config& config)
        : m_path(testing::TempDir() + "config.json")
    {
        std::ofstream file(m_path);
        std::string separator = "{";
        for (const auto& [key, value] : config)
        {
            file << separator << '"' << key << "\": " << value;
            separator = ", ";
        }
        file << "}";
    }

    ~ConfigFile()
    {
        std::remove(m_path.c_str());
    }

    ConfigFile(const ConfigFile&) = delete;
    ConfigFile& operator=(const ConfigFile&) = delete;

    /// @param variables that a run sets @return the model
    Model Load(const std::map<std::string, int64_t>& variables = {}) const
    {
        testing::internal::CaptureStderr();
        try
        {
            Model model =
                LoadModel(m_path, variables, std::string(PROTEUS_SOURCE_DIR) + "/workloads/models");
            m_warnings = testing::internal::GetCapturedStderr();
            return model;
        }
        catch (...)
        {
            m_warnings = testing::internal::GetCapturedStderr();
            throw;
        }
    }

    /// @return what the last Load() warned of
    const std::string& GetWarnings() const
    {
        return m_warnings;
    }

  private:
    std::string m_path;             //!< of the file
    mutable std::string m_warnings; //!< of the last Load()
};

/// @param config to read @return what is wrong with it, without the file's name
inline std::string
GetError(const Config& config)
{
    const ConfigFile file(config);
    const std::string error = ErrorOf([&] { file.Load(); });
    const std::size_t at = error.find("config.json: ");
    return at == std::string::npos ? error : error.substr(at + 13);
}

/// @param config to read @param variables that a run sets @return number of parameters
inline uint64_t
Count(const Config& config, const std::map<std::string, int64_t>& variables = {})
{
    return ConfigFile(config).Load(variables).CountParameters();
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MODEL_CONFIG_TOOLS_H
