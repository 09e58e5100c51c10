/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kineto-others.h"

#include "ns3/proteus-foreign-files.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace kineto
{

namespace
{

/// @param root of a file @return whether it is an object of lists of whole numbers
bool
HasProcessGroups(const JsonValue& root)
{
    const std::vector<std::string> names = root.GetKeys();
    return !names.empty() &&
           std::all_of(names.begin(), names.end(), [&root](const std::string& name) {
               const JsonValue ranks = root.Get(name.c_str());
               const std::string text = ranks.IsList() ? ranks.Dump() : "";
               return text.size() > 2 &&
                      text.find_first_not_of("0123456789,", 1) == text.size() - 1;
           });
}

} // namespace

void
FailWithoutEvents(const JsonValue& root, const std::string& file)
{
    if (root.Has("workload_graph"))
    {
        throw std::invalid_argument(
            file + ": is a graph in the own JSON of Chakra's feeder, which says no process groups; "
                   "take the trace as .et, or as what chakra_jsonizer makes of it");
    }
    if (root.Has("nodes") && !root.Has("schema"))
    {
        throw std::invalid_argument(
            file + ": has \"nodes\" that are no Chakra messages, as STAGE writes them with "
                   "--chakra_schema_version=json; let it write v0.0.4");
    }
    if (HasProcessGroups(root))
    {
        throw std::invalid_argument(
            file + ": has the process groups of a Chakra trace (--traceGroups, or beside the .et "
                   "files in their folder), and no trace is here");
    }
    const std::string foreign = DescribeForeignFile(root.GetKeys());
    root.FailMissing("traceEvents",
                     "this is no trace of PyTorch's profiler" +
                         (foreign.empty() ? "" : "; " + foreign));
}

} // namespace kineto

} // namespace proteus
} // namespace ns3
