/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_TEXT_H
#define PROTEUS_GRAPH_TEXT_H

#include "proteus-graph.h"

#include "ns3/proteus-shown-name.h"

#include <cstddef>
#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Internal to the room graph/: the words of its error messages.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Refuses a graph.
 * @param message what is wrong, where, and how to mend it
 * @throw std::invalid_argument always
 */
[[noreturn]] void FailGraph(const std::string& message);

/// @ingroup proteus
/// @param id of something @param name of the same @return "7 (name)"
std::string IdText(uint64_t id, const std::string& name);

/// @ingroup proteus
/// @param graph the graph @param id a task that exists @return "task 7 (name)"
std::string TaskText(const ExecutionGraph& graph, TaskId id);

/// @ingroup proteus
/// @param graph the graph @param id a phase that exists @return "phase 1 (name)"
std::string PhaseText(const ExecutionGraph& graph, PhaseId id);

/// @ingroup proteus
/// @param task a task @return "group 3" or "device 5"
std::string PlaceText(const Task& task);

/**
 * @ingroup proteus
 * The end of a message about an id that is too large.
 * @param number how many there are
 * @param what of what, e.g. "phase"
 * @return ", which does not exist; the graph has 2 phases"
 */
std::string MissingText(std::size_t number, const char* what);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_TEXT_H
