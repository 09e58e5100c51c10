/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KINETO_DOUBTS_H
#define PROTEUS_KINETO_DOUBTS_H

#include "proteus-kineto-events.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What is in a trace of PyTorch's profiler and not in the graph that is made of it.
 */

namespace ns3
{
namespace proteus
{

namespace kineto
{

/// @param ranks of a trace, after their graphs were made
/// @return what is in the files and not in the graph, or not as it is there, a line each
std::vector<std::string> FindDoubts(const std::vector<Rank>& ranks);

/// @ingroup proteus
/// @param ranks of a trace whose order is a circle @return what causes it: work of a GPU that
/// begins before the host launches it, with what begins earliest; empty: there is none
std::string DescribeEarlyWork(const std::vector<Rank>& ranks);

} // namespace kineto

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KINETO_DOUBTS_H
