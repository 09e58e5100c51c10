/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MODEL_DOUBTS_H
#define PROTEUS_MODEL_DOUBTS_H

#include "ns3/proteus-model.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

/**
 * @file
 * @ingroup proteus
 * What is odd in the file of a model.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Hears what is odd, and where: what is used nowhere, what is not as a config.json says.
using ModelDoubt = std::function<void(const std::string& text)>;

/**
 * @ingroup proteus
 * LoadModel() for those who look at a model that somebody else loads, too.
 * @param path of the file
 * @param variables override those of the file or its base
 * @param folder where the base of a config.json is; empty: next to it
 * @param doubt hears what LoadModel() without it warns of
 * @return the model
 * @throw std::invalid_argument as LoadModel()
 */
Model LoadModel(const std::string& path,
                const std::map<std::string, int64_t>& variables,
                const std::string& folder,
                const ModelDoubt& doubt);

/**
 * @ingroup proteus
 * @param path of a model's file
 * @param variables as LoadModel() has them
 * @param folder as LoadModel() has it
 * @param name of a variable of the file or its base
 * @return its value
 * @throw std::invalid_argument if there is none, and as LoadModel()
 */
int64_t GetModelVariable(const std::string& path,
                         const std::map<std::string, int64_t>& variables,
                         const std::string& folder,
                         const std::string& name);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MODEL_DOUBTS_H
