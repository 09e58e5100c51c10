/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SEARCH_REPORT_H
#define PROTEUS_SEARCH_REPORT_H

#include "proteus-search-evaluation.h"

#include "ns3/proteus-bar-svg.h"
#include "ns3/proteus-plan-space.h"
#include "ns3/proteus-search-ladder.h"

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a search has found, as text, CSV and strategy files.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A finished search.
struct SearchOutcome
{
    std::vector<SearchCandidate> candidates; //!< all of them
    std::vector<LadderEntry> entries;        //!< by candidate
    std::vector<std::size_t> order;          //!< positions of those that were run, the best first
    std::vector<std::string> rungs;          //!< their names, "analytic" first
    PrunedPlans pruned;                      //!< what was left out, and why
    uint64_t visited{0};                     //!< plans that were looked at
    bool isComplete{true};                   //!< whether the space was looked at as a whole
    uint64_t samples{1};                     //!< per iteration
};

/// @ingroup proteus
/// @param outcome of a search @param rows of the table, at most @param out where to the best
/// strategies, what was left out, and how the rungs agree
void PrintSearch(const SearchOutcome& outcome, std::size_t rows, std::ostream& out);

/**
 * @ingroup proteus
 * Writes a line per strategy that was run, the best first, after the header
 * `rank,name,strategy,devices,analytic_s,flow_s,packet_s,peak_memory_bytes,mfu,compute_s,
 * exposed_tensor_s,...,idle_s,pareto`. Times but the first three are means over the GPUs in the
 * finest run there is; what there is none of is empty. pareto: 1 where none is both faster and
 * smaller.
 * @param outcome of a search
 * @param out where to
 */
void WriteSearchCsv(const SearchOutcome& outcome, std::ostream& out);

/**
 * @ingroup proteus
 * @param outcome of a search
 * @param rows at most
 * @param subject what was searched for
 * @return the best strategies as a picture
 */
BarChart MakeSearchChart(const SearchOutcome& outcome,
                         std::size_t rows,
                         const std::string& subject);

/**
 * @ingroup proteus
 * Writes the strategies as 1.json, 2.json, ..., the best first.
 * @param outcome of a search
 * @param folder made if it is not there
 * @throw std::invalid_argument if a file cannot be written
 */
void WriteSearchStrategies(const SearchOutcome& outcome, const std::string& folder);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SEARCH_REPORT_H
