/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SEARCH_REPORT_H
#define PROTEUS_SEARCH_REPORT_H

#include "proteus-search-evaluation.h"

#include "ns3/proteus-bar-svg.h"
#include "ns3/proteus-front-svg.h"
#include "ns3/proteus-plan-search.h"
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
/// How strategies are ranked, from coarse to fine: positions in LadderEntry::values.
enum SearchRung : uint8_t
{
    RUNG_FORMULA, //!< PlanEstimator, or the cost of layouts
    RUNG_REDUCED, //!< a small job by flows
    RUNG_FLOW,    //!< flows
    RUNG_PACKET,  //!< packets
    N_RUNGS,      //!< how many there are
};

/// @ingroup proteus
/// A finished search.
struct SearchOutcome
{
    std::vector<SearchCandidate> candidates; //!< all of them
    std::vector<LadderEntry> entries;        //!< by candidate
    std::vector<std::size_t> order;          //!< positions of those that were run, the best first
    PrunedPlans pruned;                      //!< what was left out, and why
    uint64_t visited{0};                     //!< plans that were looked at
    bool isComplete{true};                   //!< whether the space was looked at as a whole
    Objective objective;                     //!< what was wanted
    std::string framework;                   //!< whose kernels and host all runs have
    std::string currency;                    //!< of prices, where they were wanted
    std::vector<std::string> notes;          //!< on options and files
};

/// @ingroup proteus
/// What is best when something else were the case.
struct SensitivityRow
{
    std::string change;     //!< e.g. "half the network bandwidth"
    std::string best;       //!< strategy; empty where nothing fits
    double bestSeconds{0};  //!< its time by flows
    double bestValue{0};    //!< Objective::GetValue() of it
    double todaySeconds{0}; //!< the time by flows of what is best without the change; 0: none
    double todayValue{0};   //!< Objective::GetValue() of it
};

/// @ingroup proteus
/// @param rows of the table @param outcome without a change, with a best strategy
/// @param out where to
void PrintSensitivity(const std::vector<SensitivityRow>& rows,
                      const SearchOutcome& outcome,
                      std::ostream& out);

/**
 * @ingroup proteus
 * Writes a page that needs nothing else: the best strategies, their times against their memory, and
 * what changes when something else were the case.
 * @param outcome of a search
 * @param rows of the sensitivity; may be empty
 * @param subject what was searched for
 * @param out where to
 */
void WriteSearchPage(const SearchOutcome& outcome,
                     const std::vector<SensitivityRow>& rows,
                     const std::string& subject,
                     std::ostream& out);

/// @ingroup proteus
/// @param outcome of a search @param candidate one that was run by flows
/// @return whether no other one is both faster and smaller
bool IsOnParetoFront(const SearchOutcome& outcome, std::size_t candidate);

/// @ingroup proteus
/// @param outcome of a search @param candidate one that was run @return its finest run
const SearchRun& GetFinest(const SearchOutcome& outcome, std::size_t candidate);

/// @ingroup proteus
/// @param outcome of a search @param candidate one that was run
/// @return its run by flows, or by a reduced run where there is none
const SearchRun& GetFlowRun(const SearchOutcome& outcome, std::size_t candidate);

/// @ingroup proteus
/// @param outcome of a search @param candidate any @param rung how it was ranked
/// @return the time that the rung has found, 0 where it has found none
double GetSeconds(const SearchOutcome& outcome, std::size_t candidate, SearchRung rung);

/// @ingroup proteus
/// @param candidates of a search
/// @return how many could not be run by flows, by kind of failure with the cause of the first
PrunedPlans CountFailures(const std::vector<SearchCandidate>& candidates);

/// @ingroup proteus
/// @param outcome of a search
/// @return a line for every two rungs that follow each other: how they rank
std::vector<std::string> DescribeAgreement(const SearchOutcome& outcome);

/// @ingroup proteus
/// @param outcome of a search @param position among those that were run, from 0
/// @return name, exposed communication, and why it is worse than the one before
std::string DescribeStrategy(const SearchOutcome& outcome, std::size_t position);

/// @ingroup proteus
/// @param outcome of a search @param rows of the table, at most @param out where to the best
/// strategies, what was left out, and how the rungs agree
void PrintSearch(const SearchOutcome& outcome, std::size_t rows, std::ostream& out);

/**
 * @ingroup proteus
 * Writes a line per strategy that was run, the best first, after the header
 * `rank,name,strategy,devices,analytic_s,reduced_s,flow_s,packet_s,peak_memory_bytes,mfu,compute_s,
 * exposed_tensor_s,...,idle_s,pareto,samples_per_gpu_s,price_per_sample`. Times but the first three
 * are means over the GPUs in the finest run there is; what there is none of is empty. pareto: 1
 * where none is both faster and smaller. price_per_sample is there with objective cost.
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

/// @ingroup proteus
/// @param outcome of a search @param subject what was searched for
/// @return time against memory of what was run, as a picture
FrontChart MakeFrontChart(const SearchOutcome& outcome, const std::string& subject);

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
