/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MODEL_FILES_H
#define PROTEUS_MODEL_FILES_H

#include "ns3/proteus-json.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The file of a model, its base, the base of that, and so on.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Them, the model first.
struct ModelFiles
{
    std::vector<std::string> paths;
    std::vector<std::unique_ptr<JsonDocument>> documents;
    std::vector<std::string> notes; //!< what of a config.json is not as it says
};

/// @ingroup proteus
/// @param document of a model @throw std::invalid_argument for fields that a model has not
void CheckModelFields(const JsonDocument& document);

/// @ingroup proteus
/// @param path of the model @param folder as LoadModel() has it @param variables that a run sets
/// @return its files @throw std::invalid_argument as LoadModel()
ModelFiles OpenModelFiles(const std::string& path,
                          const std::string& folder,
                          const std::map<std::string, int64_t>& variables);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MODEL_FILES_H
