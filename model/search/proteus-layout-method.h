/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LAYOUT_METHOD_H
#define PROTEUS_LAYOUT_METHOD_H

#include "proteus-layout-problem.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Methods that choose layouts. A new one is one file with a function, and its line in
 * GetLayoutMethods().
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a method may be told.
struct LayoutSearchOptions
{
    std::vector<LayoutChoice> starts; //!< where descents begin, besides random choices; none: 0
    uint32_t randomStarts{8};         //!< descents that begin at random choices
    uint64_t seed{1};                 //!< of the random choices
    uint64_t mostChoices{100000000};  //!< that an exhaustive search looks at
    uint64_t mostCandidates{4096};    //!< of two nodes that a reduction has to merge into one
};

/// @ingroup proteus
/// What a method finds.
struct LayoutSolution
{
    LayoutChoice choice;     //!< by node
    double cost{0};          //!< of the choice
    uint64_t evaluations{0}; //!< choices whose costs, or their differences, were looked at
    uint32_t sweeps{0};      //!< descent: those over all nodes, of the start that won
    bool isOptimal{false};   //!< whether nothing is cheaper
};

/// @ingroup proteus
/// A way to choose layouts.
struct LayoutMethod
{
    std::string name;        //!< e.g. "descent"
    std::string description; //!< one line
    /// @throw std::invalid_argument where the problem is too large for the method
    LayoutSolution (*solve)(const LayoutProblem& problem, const LayoutSearchOptions& options);
};

/// @ingroup proteus
/// @return all methods
const std::vector<LayoutMethod>& GetLayoutMethods();

/// @ingroup proteus
/// @param name of a method @return the method @throw std::invalid_argument that lists the names
const LayoutMethod& FindLayoutMethod(const std::string& name);

/// @ingroup proteus
/// @return method "exhaustive": looks at every choice
LayoutMethod MakeExhaustiveMethod();
/// @ingroup proteus
/// @return method "descent": coordinate descent with restarts (AutoDDL, Chen et al. 2024)
LayoutMethod MakeDescentMethod();
/// @ingroup proteus
/// @return method "reduction": exact elimination of nodes (as in OneFlow's auto-parallel pass)
LayoutMethod MakeReductionMethod();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LAYOUT_METHOD_H
