/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-chakra-doubts.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-warning.h"

namespace ns3
{
namespace proteus
{

namespace
{

/// The version of the schema that is read; converters may write one of their own before it.
const char* const VERSION = "0.0.4";

} // namespace

void
ChakraDoubts::AddVersion(const std::string& text)
{
    if (!text.empty() && text.find(VERSION) == std::string::npos)
    {
        version = text;
    }
}

void
ChakraDoubts::Warn(const std::string& name) const
{
    const auto warn = [&name](const std::string& text) { proteus::Warn(name + ": " + text); };
    if (!version.empty())
    {
        warn("is of version " + QuotedText(version) + " of the schema; known is " + VERSION +
             ", as which it is read");
    }
    if (!unknownFields.empty())
    {
        std::string numbers;
        for (const int number : unknownFields)
        {
            AppendName(numbers, std::to_string(number));
        }
        warn(std::string("messages have fields that version ") + VERSION +
             " of the schema has not, by number " + numbers + ": not read");
    }
    if (dangling > 0)
    {
        warn("control dependencies on nodes that are not in the file are left out (" +
             FormatCount(dangling) + "), as those on calls that a converter has dropped");
    }
    if (contradictory > 0)
    {
        warn("the control dependencies of " + FormatThings(contradictory, "file") +
             ", which contradict the data dependencies (a cycle), are all left out");
    }
    if (timeless > 0)
    {
        warn("has neither a duration nor FLOPs (num_ops) of " + FormatThings(timeless, "kernel") +
             ", for which 1 ns counts");
    }
    if (emptyMemory > 0)
    {
        warn("has neither a duration nor bytes (tensor_size) of " +
             FormatThings(emptyMemory, "node") + " of memory, for which 1 ns counts");
    }
    if (timelessMemory > 0)
    {
        warn(FormatThings(timelessMemory, "node") +
             " of memory without a duration: the GPU's own memory moves its bytes (tensor_size), "
             "not a remote one, as in ASTRA-sim");
    }
    if (misplaced > 0)
    {
        warn(FormatThings(misplaced, "node") +
             " with what is moved (comm_type, comm_size), of a type that moves nothing: the type "
             "counts");
    }
    for (const auto& [attribute, meant] : misspelt)
    {
        warn("the attribute " + QuotedText(attribute) +
             " is not known, and not read; did you mean " + meant + "?");
    }
    if (typeless > 0)
    {
        warn(FormatThings(typeless, "node") +
             " of no type that is known (INVALID_NODE), or with a duration and no work "
             "(METADATA_NODE): they take no time");
    }
    if (foreign > 0)
    {
        warn(FormatThings(foreign, "message") +
             " of another rank than that of the file (comm_src of a send, comm_dst of a receive): "
             "the file counts");
    }
    if (rootless > 0)
    {
        warn(FormatThings(rootless, "collective") +
             " with a root that do not say which (root_rank): rank 0 counts");
    }
    if (ofHost > 0 && communications == 0)
    {
        warn("all its communication (" + FormatThings(ofHost, "node") +
             ") is of the host (is_cpu_op), which moves nothing and lasts as long as recorded");
    }
    if (priorities > 0)
    {
        warn("priorities (comm_priority, of " + FormatThings(priorities, "communication") +
             ") are not heeded");
    }
    if (isRooflineIdle)
    {
        warn("the roofline has no effect: no kernel has FLOPs and bytes (num_ops, tensor_size)");
    }
    if (sizeless > 0)
    {
        warn("moves nothing for " + FormatThings(sizeless, "collective") +
             " without a size (comm_size): the recorded duration counts");
    }
    for (const std::string& doubt : groups)
    {
        proteus::Warn(doubt);
    }
    if (!steps.empty())
    {
        warn(steps);
    }
}

} // namespace proteus
} // namespace ns3
