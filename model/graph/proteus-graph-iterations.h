/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_ITERATIONS_H
#define PROTEUS_GRAPH_ITERATIONS_H

#include "proteus-graph.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Several iterations of a graph as one graph.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What an iteration waits for of the one before.
enum class CrossIteration : uint8_t
{
    BARRIER, //!< all that a device does, as frameworks synchronise before a step
    TENSOR,  //!< the order of the streams, and carried dependencies
};

/// @ingroup proteus
/// @param value a value @return its name: "barrier", "tensor"
const char* ToString(CrossIteration value);
/// @ingroup proteus
/// @param text a name @return the value @throw std::invalid_argument that lists the names
CrossIteration CrossIterationFromString(const std::string& text);
/// @ingroup proteus
/// @return names of all dependencies between iterations
std::vector<std::string> GetCrossIterationNames();

/// @ingroup proteus
/// A dependency from one iteration to the next, by the rules of other dependencies.
struct CarriedDependency
{
    TaskId before{0}; //!< task of an iteration, e.g. the update of a parameter
    TaskId after{0};  //!< task of the next one, e.g. the first operator that reads it

    /// @param other a dependency @return whether both are the same
    bool operator==(const CarriedDependency& other) const
    {
        return before == other.before && after == other.after;
    }
};

/// @ingroup proteus
/// Several iterations of a graph.
struct RepeatedGraph
{
    ExecutionGraph graph; //!< all iterations
    /// What the first iteration needs of one before it, it needs of the last: with these, the graph
    /// can be repeated in turn.
    std::vector<CarriedDependency> carried;
    uint32_t iterations{1};            //!< how many
    std::vector<uint32_t> iterationOf; //!< by PhaseId: which iteration, from 0
    std::vector<TaskId> original;      //!< by TaskId: of the graph of one iteration; NO_ID for the
                                       //!< barriers
};

/**
 * @ingroup proteus
 * Repeats a graph. Tasks have the same names in all iterations; phases of later ones have their
 * number, e.g. "forward#2" in the second. Persistent tensors are there once. A barrier is a task of
 * no length on every device, on a stream "iteration" of the host ("iteration-barrier" if the graph
 * has a phase or stream of that name).
 * @param graph one iteration
 * @param carried dependencies on the iteration before that do not follow from the order of streams
 * @param iterations how many, at least 1
 * @param cross what an iteration waits for of the one before
 * @return the graph; of one iteration, the same
 * @throw std::invalid_argument if there are no iterations, the graph becomes too large, or a
 * carried dependency is none that the graph can have
 */
RepeatedGraph RepeatGraph(const ExecutionGraph& graph,
                          const std::vector<CarriedDependency>& carried,
                          uint32_t iterations,
                          CrossIteration cross);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_ITERATIONS_H
