/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SEARCH_RUN_H
#define PROTEUS_SEARCH_RUN_H

#include "proteus-search-options.h"
#include "proteus-search-report.h"

#include "ns3/proteus-cluster.h"

#include <vector>

/**
 * @file
 * @ingroup proteus
 * One search, from what is asked for to what is found.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What differs between the searches of one command line.
struct SearchSubject
{
    Cluster cluster;       //!< to train on
    double memoryBytes{0}; //!< of a GPU
    /// Strategies to run whatever the formula says, with names.
    std::vector<SearchCandidate> pinned;
};

/**
 * @ingroup proteus
 * Ranks all plans, layouts and experts' strategies by formula, runs the best by flows and the best
 * of these by packets.
 * @param options of the user
 * @param subject what to train on
 * @return what was found
 * @throw std::invalid_argument where nothing fits, or an option makes no sense
 */
SearchOutcome RunSearch(const SearchOptions& options, const SearchSubject& subject);

/**
 * @ingroup proteus
 * @param options of the user
 * @return the cluster, and the memory of its GPUs or what the user leaves of it
 * @throw std::invalid_argument as ProgramOptions::BuildCluster()
 */
SearchSubject MakeSearchSubject(const SearchOptions& options);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SEARCH_RUN_H
