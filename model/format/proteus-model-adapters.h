/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MODEL_ADAPTERS_H
#define PROTEUS_MODEL_ADAPTERS_H

#include "proteus-model-variables.h"

#include "ns3/proteus-adapters.h"
#include "ns3/proteus-json.h"

#include <optional>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param key of an operator in a model's file @return whether it is about low-rank adapters
bool IsAdapterField(const std::string& key);

/// @ingroup proteus
/// @param value a linear layer in a model's file @param variables of the file
/// @return its adapters; none if it says nothing of them
/// @throw std::invalid_argument with its place, if a rank is negative
std::optional<AdapterSpec> ReadAdapterSpec(const JsonValue& value, const ModelVariables& variables);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MODEL_ADAPTERS_H
