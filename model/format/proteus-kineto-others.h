/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KINETO_OTHERS_H
#define PROTEUS_KINETO_OTHERS_H

#include "ns3/proteus-json.h"

#include <string>

namespace ns3
{
namespace proteus
{

namespace kineto
{

/// @param root of a JSON file without the events of PyTorch's profiler @param file its name
/// @throw std::invalid_argument that says what it is, if that is known
[[noreturn]] void FailWithoutEvents(const JsonValue& root, const std::string& file);

} // namespace kineto

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KINETO_OTHERS_H
