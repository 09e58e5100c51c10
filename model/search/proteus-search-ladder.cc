/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-search-ladder.h"

#include "proteus-plan-search.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

namespace ns3
{
namespace proteus
{

namespace
{

/// Evaluates some entries, each by whichever thread is free.
void
EvaluateAll(std::vector<LadderEntry>& entries,
            const std::vector<std::size_t>& some,
            const LadderRung& rung,
            std::size_t level,
            const std::function<bool()>& isOver)
{
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex mutex;
    auto work = [&]() {
        for (std::size_t i = next++; i < some.size(); i = next++)
        {
            try
            {
                {
                    const std::lock_guard<std::mutex> lock(mutex);
                    if (failure || (isOver && isOver()))
                    {
                        return;
                    }
                }
                entries[some[i]].values[level] = rung.evaluate(some[i]);
            }
            catch (...)
            {
                const std::lock_guard<std::mutex> lock(mutex);
                failure = failure ? failure : std::current_exception();
            }
        }
    };
    std::vector<std::thread> threads;
    for (uint32_t i = 1; i < rung.threads && i < some.size(); ++i)
    {
        threads.emplace_back(work);
    }
    work();
    for (std::thread& thread : threads)
    {
        thread.join();
    }
    if (failure)
    {
        std::rethrow_exception(failure);
    }
}

/// Goes down a list until enough entries have a value.
void
EvaluateBest(std::vector<LadderEntry>& entries,
             const std::vector<std::size_t>& order,
             std::size_t most,
             const LadderRung& rung,
             std::size_t level,
             const std::function<bool()>& isOver)
{
    std::size_t known = 0;
    for (std::size_t position = 0; position < order.size() && known < most;)
    {
        const std::size_t end = std::min(order.size(), position + most - known);
        const std::vector<std::size_t> some(order.begin() + static_cast<std::ptrdiff_t>(position),
                                            order.begin() + static_cast<std::ptrdiff_t>(end));
        EvaluateAll(entries, some, rung, level, isOver);
        for (const std::size_t entry : some)
        {
            known += entries[entry].values[level].has_value();
        }
        position = end;
        if (isOver && isOver())
        {
            return;
        }
    }
}

/// @return the nearest rung below that ranks anything
std::size_t
FindRungBelow(const std::vector<LadderRung>& rungs, std::size_t level)
{
    std::size_t below = level - 1;
    while (below > 0 && rungs[below - 1].most == 0 && rungs[below - 1].mostPinned == 0)
    {
        --below;
    }
    return below;
}

} // namespace

void
ClimbLadder(std::vector<LadderEntry>& entries,
            const std::vector<LadderRung>& rungs,
            const std::function<bool()>& isOver)
{
    for (std::size_t level = 1; level <= rungs.size(); ++level)
    {
        std::vector<std::size_t> pinned;
        std::vector<std::size_t> others;
        const std::size_t below = FindRungBelow(rungs, level);
        for (std::size_t i = 0; i < entries.size(); ++i)
        {
            entries[i].values.resize(level + 1);
            const bool isUnranked = below == 0 && entries[i].isPinned;
            if (entries[i].values[below] || isUnranked)
            {
                (entries[i].isPinned ? pinned : others).push_back(i);
            }
        }
        for (std::vector<std::size_t>* order : {&pinned, &others})
        {
            const auto value = [&](std::size_t i) {
                return entries[i].values[below].value_or(std::numeric_limits<double>::infinity());
            };
            std::stable_sort(order->begin(), order->end(), [&](std::size_t a, std::size_t b) {
                return value(a) < value(b);
            });
        }
        const LadderRung& rung = rungs[level - 1];
        EvaluateBest(entries, others, rung.most, rung, level, isOver);
        EvaluateBest(entries, pinned, rung.mostPinned, rung, level, isOver);
    }
}

RungAgreement
CompareRungs(const std::vector<LadderEntry>& entries, std::size_t low, std::size_t high)
{
    std::vector<double> lower;
    std::vector<double> higher;
    for (const LadderEntry& entry : entries)
    {
        if (high < entry.values.size() && entry.values[low] && entry.values[high])
        {
            lower.push_back(*entry.values[low]);
            higher.push_back(*entry.values[high]);
        }
    }
    return {lower.size(), GetRankCorrelation(lower, higher)};
}

std::vector<std::size_t>
RankEntries(const std::vector<LadderEntry>& entries)
{
    auto height = [&](std::size_t i) {
        std::size_t level = 0;
        for (std::size_t k = 1; k < entries[i].values.size(); ++k)
        {
            level = entries[i].values[k] ? k : level;
        }
        return level;
    };
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < entries.size(); ++i)
    {
        if (height(i) > 0)
        {
            order.push_back(i);
        }
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return *entries[a].values[height(a)] < *entries[b].values[height(b)];
    });
    return order;
}

} // namespace proteus
} // namespace ns3
