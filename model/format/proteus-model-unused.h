/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MODEL_UNUSED_H
#define PROTEUS_MODEL_UNUSED_H

#include "ns3/proteus-json.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Finds what a model's files define and no expression, shape or layer of them mentions, for a
 * warning: a misspelt name would otherwise be passed over.
 * @param documents a model, its base, the base of that, and so on
 * @return "FILE: variable NAME" and "FILE: block NAME", in order
 */
std::vector<std::string> FindUnusedInModel(
    const std::vector<std::unique_ptr<JsonDocument>>& documents);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MODEL_UNUSED_H
