/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLAN_SEARCH_H
#define PROTEUS_PLAN_SEARCH_H

#include "proteus-plan-estimate.h"
#include "proteus-plan-space.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Search over plans, and what it is for.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What is wanted.
enum class SearchObjective : uint8_t
{
    TIME,               //!< the shortest iteration
    THROUGHPUT_PER_GPU, //!< most samples per GPU and second
    COST,               //!< least rent per sample; servers are rented whole
};

/// @ingroup proteus
/// @param text "time", "throughput-per-GPU" or "cost" @return the objective
/// @throw std::invalid_argument that lists the names
SearchObjective SearchObjectiveFromString(const std::string& text);
/// @ingroup proteus
/// @return names of all objectives
std::vector<std::string> GetSearchObjectiveNames();

/// @ingroup proteus
/// What is wanted, and what it is counted with.
struct Objective
{
    SearchObjective kind{SearchObjective::TIME}; //!< what is wanted
    uint64_t samples{1};                         //!< per iteration
    uint64_t devicesPerServer{1};                //!< COST: servers are rented whole
    double pricePerHour{0};                      //!< COST: of a device

    /**
     * @param seconds of an iteration
     * @param devices that it takes
     * @return what is to be small: seconds, GPU seconds per sample, or the price of a sample
     */
    double GetValue(double seconds, uint64_t devices) const;
};

/// @ingroup proteus
/// A plan and what it is estimated to take.
struct RankedPlan
{
    ParallelPlan plan;
    PlanEstimate estimate;
    double value{0}; //!< Objective::GetValue()
};

/// @ingroup proteus
/// What the search depends on besides the space.
struct PlanSearchOptions
{
    Objective objective;
    double peakFlops{0}; //!< of a device; 0: no bound by computation
    /// A plan whose computation and bubble alone take this many times the best one is left out.
    double boundFactor{3};
    std::function<bool()> isOver; //!< whether the time is up; none: never
    /// Told how many plans were estimated and the best so far; may be empty.
    std::function<void(uint64_t, const RankedPlan&)> report;
};

/// @ingroup proteus
/// What the search finds.
struct PlanSearchResult
{
    std::vector<RankedPlan> plans; //!< the best first; equal ones in the order of their making
    uint64_t visited{0};           //!< plans that were looked at
    PrunedPlans pruned;            //!< what was left out, and why
    bool isComplete{true};         //!< whether the whole space was looked at
    /// Of plans that were left out since they need too much memory: the least that one needs.
    double leastTooMuchBytes{std::numeric_limits<double>::infinity()};
};

/**
 * @ingroup proteus
 * Estimates all plans of a space that can fit.
 * @param facts of the model
 * @param space what there is to choose from
 * @param estimator of plans
 * @param options see there
 * @return the plans in their order
 */
PlanSearchResult SearchPlans(const PlanModelFacts& facts,
                             const PlanSpaceOptions& space,
                             PlanEstimator& estimator,
                             const PlanSearchOptions& options);

/// @ingroup proteus
/// A plan that experts would take, with its name.
struct BaselinePlan
{
    std::string name;
    ParallelPlan plan;
};

/**
 * @ingroup proteus
 * What experts would try first: data parallelism alone (S1 of Duan et al. 2024); ZeRO 1, 2 and 3;
 * their S2 for transformers (four GPUs of a server share layers, without a pipeline or with two
 * groups); and Megatron's recipe
 * (Narayanan et al. 2021, section 3: tensor parallelism up to the GPUs of a server, then as many
 * pipeline stages as memory asks for, the rest data parallelism; sequence parallelism and selective
 * recomputation as in Korthikanti et al. 2022).
 * @param facts of the model
 * @param space what there is to choose from; its last number of devices counts
 * @param estimator of plans, which says what fits
 * @return those that fit, each with the least recomputation and the largest micro-batch that fits
 */
std::vector<BaselinePlan> MakeBaselines(const PlanModelFacts& facts,
                                        const PlanSpaceOptions& space,
                                        PlanEstimator& estimator);

/**
 * @ingroup proteus
 * Spearman's rank correlation; equal values share their mean rank.
 * @param a some values
 * @param b as many values
 * @return from -1 to 1; 0 where one of them has fewer than two different values
 * @throw std::invalid_argument if the numbers of values differ
 */
double GetRankCorrelation(const std::vector<double>& a, const std::vector<double>& b);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLAN_SEARCH_H
