/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHAKRA_CHANGES_H
#define PROTEUS_CHAKRA_CHANGES_H

#include "proteus-chakra.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What was changed in a trace since it was written of a graph. A graph is read back from the
 * attributes that Chakra does not know; who edits what it does know has changed nothing of it.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param files that WriteChakra() wrote, by device @param graph that was read of them
/// @return in a line, what in them is not as the graph would be written; empty if all is
std::string DescribeChakraChanges(const std::vector<TraceFile>& files, const ExecutionGraph& graph);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHAKRA_CHANGES_H
