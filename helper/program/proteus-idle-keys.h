/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_IDLE_KEYS_H
#define PROTEUS_IDLE_KEYS_H

#include "proteus-framework-option.h"

#include "ns3/proteus-parallel-plan.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A strategy as it was typed, and what it is for.
struct StrategyText
{
    std::string json;                         //!< of a plan or a tree
    std::string model;                        //!< file
    std::string folder;                       //!< as LoadModel() has it
    std::map<std::string, int64_t> variables; //!< of the model
    FrameworkOption framework;                //!< that trains
    std::string gpu{"A100-SXM4-80GB"};        //!< name of a data sheet
};

/// @ingroup proteus
/// Keys of the nodes of a tree, times operators of the model, up to which FindIdleKeys() looks at
/// them: about a second.
constexpr std::size_t MAX_NODE_WORK = 10000;

/**
 * @ingroup proteus
 * Finds keys of a strategy that change nothing, such as zero with one replica: without such a key,
 * which differs from its default, the model is compiled to the same graph. Most keys of a plan are
 * found to count with a small job of the same kind, which is compiled first; what remains is
 * compiled with all its layers. Trees are compiled whole. Their nodes may say what would be
 * inferred: a key of theirs changes nothing if nothing changes with another value, either. They are
 * looked at if there are few, see MAX_NODE_WORK: large trees are written by programs.
 * @param strategy to look at
 * @return keys with their values, e.g. "zero=1"; none if the strategy cannot be read or compiled
 */
std::vector<std::string> FindIdleKeys(const StrategyText& strategy);

/**
 * @ingroup proteus
 * Finds variables that were set and change nothing, such as what an adapter is for in a model
 * without adapters: the model is the same without them and with other values of them. Where no
 * other value can be had, nothing is said.
 * @param strategy a strategy, with the variables that are set
 * @return them with their values, e.g. "adaptsQueries=0"; none if the model cannot be read
 */
std::vector<std::string> FindIdleVariables(const StrategyText& strategy);

/// @ingroup proteus
/// @param model file @param a plan @param b another one @return whether both compile to one graph
/// @throw std::invalid_argument as LoadTrainingPlan() and CompileModel()
bool CompileAlike(const std::string& model, const ParallelPlan& a, const ParallelPlan& b);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_IDLE_KEYS_H
