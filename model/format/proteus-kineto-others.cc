/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kineto-others.h"

#include "ns3/proteus-foreign-files.h"

#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace kineto
{

void
FailWithoutEvents(const JsonValue& root, const std::string& file)
{
    if (root.Has("nodes") && root.Has("schema"))
    {
        throw std::invalid_argument(
            file + ": is an execution trace of PyTorch (ExecutionTraceObserver), without times of "
                   "kernels; chakra_trace_link joins it with the profiler's, and chakra_converter "
                   "makes a Chakra trace of both");
    }
    if (root.Has("workload_graph"))
    {
        throw std::invalid_argument(
            file + ": is a graph in the own JSON of Chakra's feeder, which says no process groups; "
                   "take the trace as .et, or as what chakra_jsonizer makes of it");
    }
    if (root.Has("nodes"))
    {
        throw std::invalid_argument(
            file + ": has \"nodes\" that are no Chakra messages, as STAGE writes them with "
                   "--chakra_schema_version=json; let it write v0.0.4");
    }
    const std::string foreign = DescribeForeignFile(root.GetKeys());
    root.FailMissing("traceEvents",
                     "this is no trace of PyTorch's profiler" +
                         (foreign.empty() ? "" : "; " + foreign));
}

} // namespace kineto

} // namespace proteus
} // namespace ns3
