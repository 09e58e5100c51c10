/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FRAMEWORK_TOOLS_H
#define PROTEUS_FRAMEWORK_TOOLS_H

#include "../error-of.h"

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-framework-json.h"

#include <cstdint>
#include <sstream>
#include <string>

// What tests of frameworks have in common.

namespace ns3
{
namespace proteus
{

/// A framework of some fields besides those that every one has: ", NAME: VALUE".
inline Framework
ReadFramework(const std::string& fields)
{
    std::istringstream input("{\"format\": \"proteus-framework\", \"version\": 1, \"name\": \"x\", "
                             "\"description\": \"y\"" +
                             fields + "}");
    return ReadFrameworkJson(input, "f.json");
}

/// What is wrong with the framework of some fields.
inline std::string
GetFrameworkError(const std::string& fields)
{
    return ErrorOf([&] { ReadFramework(fields); });
}

/// A part of a norm of a matrix.
inline KernelDescription
MakeNorm(uint64_t rows, uint64_t columns, const std::string& part, uint64_t pass)
{
    KernelDescription kernel;
    kernel.name = "layer0.norm" + std::to_string(pass);
    kernel.kind = "layer-norm";
    kernel.part = part;
    kernel.extents = {1, rows, columns};
    kernel.bytes = 4 * rows * columns;
    kernel.pass = pass;
    return kernel;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FRAMEWORK_TOOLS_H
