/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MODEL_LAYERS_H
#define PROTEUS_MODEL_LAYERS_H

#include "proteus-model-variables.h"

#include "ns3/proteus-json.h"

#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Layers in the file of a model, before they are read.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param key of an operator @return whether it says where the operator stands, or whether its
/// parameters are trained
bool IsLayerField(const std::string& key);

/// @ingroup proteus
/// @param value a layer @return names of its inputs, as they are written; none where it does not
/// say
std::vector<JsonValue> ListLayerInputs(const JsonValue& value);

/**
 * @ingroup proteus
 * Checks what can be said of layers whether they are switched on or not: their fields, kinds,
 * blocks, names of what they read, and how their expressions are written.
 *
 * @param inputs of the model
 * @param blocks by name, if there are any
 * @param layers of the model
 * @param variables of the model
 * @throw std::invalid_argument with the place of what is wrong
 */
void CheckModelLayers(const JsonValue& inputs,
                      const std::optional<JsonValue>& blocks,
                      const JsonValue& layers,
                      const ModelVariables& variables);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MODEL_LAYERS_H
