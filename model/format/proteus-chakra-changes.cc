/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-chakra-changes.h"

#include "ns3/proteus-plural.h"

#include <cstdint>
#include <sstream>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param node of a file @param written what the graph says in its place
/// @return the first field or attribute in which they differ; null if they do not
const char*
FindDifference(const ChakraNode& node, const ChakraNode& written)
{
    struct Field
    {
        const char* name;
        bool isSame;
    };

    const Field fields[] = {
        {"id", node.id == written.id},
        {"name", node.name == written.name},
        {"type", node.type == written.type},
        {"ctrl_deps", node.controlDependencies == written.controlDependencies},
        {"data_deps", node.dataDependencies == written.dataDependencies},
        {"duration_micros", node.durationMicros == written.durationMicros},
        {"inputs", node.inputValues == written.inputValues},
        {"is_cpu_op", node.isCpu == written.isCpu},
        {"num_ops", node.flops == written.flops},
        {"tensor_size", node.tensorBytes == written.tensorBytes},
        {"comm_type",
         node.hasCollective == written.hasCollective && node.collective == written.collective},
        {"comm_size", node.bytes == written.bytes},
        {"comm_src", node.source == written.source},
        {"comm_dst", node.destination == written.destination},
        {"comm_tag", node.tag == written.tag},
        {"root_rank", node.hasRoot == written.hasRoot && node.root == written.root},
        {"pg_name", node.processGroup == written.processGroup},
        {"comm_priority", node.hasPriority == written.hasPriority},
    };
    for (const Field& field : fields)
    {
        if (!field.isSame)
        {
            return field.name;
        }
    }
    return nullptr;
}

} // namespace

std::string
DescribeChakraChanges(const std::vector<TraceFile>& files, const ExecutionGraph& graph)
{
    uint64_t nChanged = 0;
    std::string first;
    for (DeviceId device = 0; device < files.size(); device++)
    {
        std::stringstream text;
        WriteChakra(graph, device, text);
        ChakraReader expected(text, files[device].name);
        const auto in = files[device].open();
        ChakraReader reader(*in, files[device].name);
        ChakraNode node;
        ChakraNode written;
        while (true)
        {
            const bool isThere = reader.Read(node);
            const bool isExpected = expected.Read(written);
            if (!isThere && !isExpected)
            {
                break;
            }
            const char* field = isThere && isExpected ? FindDifference(node, written) : "id";
            nChanged += field == nullptr ? 0 : 1;
            if (field != nullptr && first.empty())
            {
                first = files[device].name + ": node " +
                        std::to_string(isThere ? node.id : written.id) +
                        (!isThere      ? ", which is not there"
                         : !isExpected ? ", which was not there"
                                       : std::string(", its ") + field);
            }
        }
    }
    return nChanged == 0 ? ""
                         : FormatThings(nChanged, "node") +
                               " not as the graph is written, the first in " + first +
                               ": what was written counts (attribute proteus_graph); to run "
                               "what was changed, take that out of " +
                               files.front().name;
}

} // namespace proteus
} // namespace ns3
