/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SEARCH_LIMITS_H
#define PROTEUS_SEARCH_LIMITS_H

#include "proteus-search-options.h"
#include "proteus-search-report.h"

#include "ns3/proteus-plan-search.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Which of the limits of a search that were typed have kept nothing out, and which are above what
 * there is.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param options of the user @param facts of the model @param space what there is to choose from
/// @return a line for each part of --vary of which the model, or the cluster, has one value anyway
std::vector<std::string> FindIdleChoices(const SearchOptions& options,
                                         const PlanModelFacts& facts,
                                         const PlanSpaceOptions& space);

/// @ingroup proteus
/// A search that has ended.
struct SearchedSpace
{
    const PlanModelFacts& facts;   //!< of the model
    const PlanSpaceOptions& space; //!< what there was to choose from
    const PlanSpaceOptions& usual; //!< the same without options about limits
    double leastTooMuchBytes{0};   //!< of what was left out for memory: the least that it needs
    const SearchOutcome& outcome;  //!< what was found
};

/**
 * @ingroup proteus
 * @param options of the user
 * @param searched with them, to the end of its space
 * @param estimator of its plans
 * @return a line for --mostTensor, --mostContext, --mostMicroBatch and --memory, where the plans
 * and their runs are the same without it, or with less of it; and for --reduced, --flows and
 * --packets of more strategies than there are
 */
std::vector<std::string> FindIdleLimits(const SearchOptions& options,
                                        const SearchedSpace& searched,
                                        PlanEstimator& estimator);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SEARCH_LIMITS_H
