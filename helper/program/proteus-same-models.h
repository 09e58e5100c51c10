/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SAME_MODELS_H
#define PROTEUS_SAME_MODELS_H

#include "ns3/proteus-model.h"

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param a a model @param b another one @return whether they are the same but for their names
bool AreSameModels(const Model& a, const Model& b);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SAME_MODELS_H
