/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-search-limits.h"

#include "proteus-typed-network.h"

#include "ns3/proteus-strategy-json.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace ns3
{
namespace proteus
{

namespace
{

/// What plans a space has.
struct PlanCount
{
    uint64_t plans{0}; //!< that there are
    uint32_t most{0};  //!< of what is limited
};

/// @param facts of the model @param space of plans @param limited of a plan @return its plans
PlanCount
CountPlans(const PlanModelFacts& facts,
           const PlanSpaceOptions& space,
           uint32_t ParallelPlan::*limited)
{
    PlanCount count;
    PrunedPlans unheard;
    VisitPlans(
        facts,
        space,
        [&](const ParallelPlan& plan) {
            ++count.plans;
            count.most = std::max(count.most, plan.*limited);
            return true;
        },
        unheard);
    return count;
}

/// Looks at options one by one.
class Limits
{
  public:
    Limits(const SearchOptions& options, const SearchedSpace& searched, PlanEstimator& estimator)
        : m_options(options),
          m_searched(searched),
          m_estimator(estimator)
    {
    }

    /// @return FindIdleLimits()
    std::vector<std::string> Find()
    {
        LookAtMost("mostTensor",
                   &PlanSpaceOptions::mostTensorParallel,
                   &ParallelPlan::tensorParallel);
        LookAtMost("mostContext",
                   &PlanSpaceOptions::mostContextParallel,
                   &ParallelPlan::contextParallel);
        LookAtMost("mostMicroBatch", &PlanSpaceOptions::mostMicroBatch, &ParallelPlan::microBatch);
        LookAtMemory();
        LookAtRuns("reduced", m_options.reduced, m_searched.outcome.entries.size());
        LookAtRuns("flows", m_options.flows, m_searched.outcome.entries.size());
        LookAtRuns("packets", m_options.packets, CountRuns(RUNG_FLOW));
        return std::move(m_lines);
    }

  private:
    /// @param name of an option @return as it was typed, or empty
    std::string FindOption(const std::string& name) const
    {
        const std::string value = FindTyped(m_options.information.configuration, name);
        return value.empty() ? value : "--" + name + "=" + value;
    }

    /// @param name of an option @param limit that it sets @param limited by it, of a plan
    void LookAtMost(const std::string& name,
                    uint32_t PlanSpaceOptions::*limit,
                    uint32_t ParallelPlan::*limited)
    {
        const std::string option = FindOption(name);
        const PlanSpaceOptions& space = m_searched.space;
        if (option.empty() || space.*limit == m_searched.usual.*limit)
        {
            return;
        }
        PlanSpaceOptions without = space;
        without.*limit = m_searched.usual.*limit;
        const PlanCount with = CountPlans(m_searched.facts, space, limited);
        if (with.plans == CountPlans(m_searched.facts, without, limited).plans) // one has the other
        {
            m_lines.push_back(option + " has no effect: the plans are the same with " +
                              std::to_string(without.*limit) + ", which holds without it");
        }
        else if (with.most > 0 && space.*limit > with.most)
        {
            m_lines.push_back(option + " is taken as " + std::to_string(with.most) +
                              ": no plan that there can be has more");
        }
    }

    void LookAtMemory()
    {
        const std::string option = FindOption("memory");
        const double limit = m_searched.space.memoryBytes;
        const double whole = m_searched.usual.memoryBytes;
        // The searches that a sensitivity makes have other memories.
        if (option.empty() || limit >= whole || m_options.isSensitivityWanted ||
            m_searched.leastTooMuchBytes <= whole || HasRunOfMoreThan(limit))
        {
            return;
        }
        PlanSpaceOptions without = m_searched.space;
        without.memoryBytes = whole;
        const auto count = [&](const PlanSpaceOptions& space) {
            return CountPlans(m_searched.facts, space, &ParallelPlan::microBatch).plans;
        };
        if (count(m_searched.space) == count(without) &&
            ListBaselines(m_searched.space) == ListBaselines(without))
        {
            m_lines.push_back(option + " has no effect: no plan that fits into the whole memory "
                                       "needs more than this");
        }
    }

    /// @param space of plans @return what experts would try first, in short
    std::vector<std::string> ListBaselines(const PlanSpaceOptions& space) const
    {
        std::vector<std::string> plans;
        for (const BaselinePlan& baseline : MakeBaselines(m_searched.facts, space, m_estimator))
        {
            plans.push_back(FormatPlan(baseline.plan));
        }
        return plans;
    }

    /// @param bytes of memory @return whether what was compiled or run needed more
    bool HasRunOfMoreThan(double bytes) const
    {
        const auto& candidates = m_searched.outcome.candidates;
        return std::any_of(candidates.begin(), candidates.end(), [bytes](const auto& candidate) {
            const auto needsMore = [bytes](const SearchRun& run) {
                return static_cast<double>(run.peakMemoryBytes) > bytes;
            };
            return needsMore(candidate.reduced) || needsMore(candidate.flow) ||
                   needsMore(candidate.packet);
        });
    }

    /// @param rung of the ladder @return strategies that have a value of it
    std::size_t CountRuns(std::size_t rung) const
    {
        const auto& entries = m_searched.outcome.entries;
        return static_cast<std::size_t>(
            std::count_if(entries.begin(), entries.end(), [rung](const LadderEntry& entry) {
                return entry.values.size() > rung && entry.values[rung];
            }));
    }

    /// @param name of an option @param wanted runs of it @param most that there can be
    void LookAtRuns(const std::string& name, int64_t wanted, std::size_t most)
    {
        const std::string option = FindOption(name);
        if (!option.empty() && wanted > static_cast<int64_t>(most))
        {
            m_lines.push_back(option + " is taken as " + std::to_string(most) +
                              ": there are no more strategies to run");
        }
    }

    const SearchOptions& m_options;
    const SearchedSpace& m_searched;
    PlanEstimator& m_estimator;
    std::vector<std::string> m_lines;
};

} // namespace

std::vector<std::string>
FindIdleChoices(const SearchOptions& options,
                const PlanModelFacts& facts,
                const PlanSpaceOptions& space)
{
    std::vector<std::string> lines;
    if (options.vary == "all" || options.vary == "none")
    {
        return lines;
    }
    const std::string noPipeline = facts.blocks < 2 ? "the model has no blocks for a pipeline"
                                   : space.devices.back() < 2 ? "there is one GPU"
                                                              : "";
    const std::map<std::string, std::string> idle{
        {"experts", facts.experts == 0 ? "the model has no experts" : ""},
        {"context",
         space.mostContextParallel == 1 ? "sequences of " + std::to_string(facts.sequence) +
                                              " tokens stay whole; --mostContext shares them"
                                        : ""},
        {"sequence",
         !facts.hasTensor || space.mostTensorParallel == 1 ? "no GPUs share a layer" : ""},
        {"zeroGroup", space.serverDevices == 0 ? "the GPUs are those of one server" : ""},
        {"schedule", noPipeline},
        {"mapping", noPipeline},
        {"virtualStages", noPipeline}};
    for (const std::string& choice : options.GetChoices())
    {
        const auto found = idle.find(choice);
        if (found != idle.end() && !found->second.empty())
        {
            lines.push_back("--vary=" + options.vary + ": " + choice +
                            " has no effect: " + found->second);
        }
    }
    return lines;
}

std::vector<std::string>
FindIdleLimits(const SearchOptions& options,
               const SearchedSpace& searched,
               PlanEstimator& estimator)
{
    return Limits(options, searched, estimator).Find();
}

} // namespace proteus
} // namespace ns3
