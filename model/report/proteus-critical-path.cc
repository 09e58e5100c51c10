/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-critical-path.h"

#include "ns3/proteus-task-instance.h"

#include <algorithm>
#include <unordered_map>

namespace ns3
{
namespace proteus
{

namespace
{

/// The spans of a run, by device and by what they are.
class SpanIndex
{
  public:
    SpanIndex(const ExecutionGraph& graph, const Timeline& timeline)
        : m_graph(graph),
          m_ended(graph.GetNDevices())
    {
        for (const Span& span : timeline.spans) // in the order of their ends
        {
            m_ended[span.device].push_back(&span);
            if (graph.GetTask(span.task).kind == TaskKind::COMMUNICATION)
            {
                const Span*& last = m_lastJoins[span.GetInstance()];
                last = !last || span.startPs > last->startPs ? &span : last;
            }
        }
    }

    /// @param span of a communication @return that of the rank that joined last; else the span
    const Span& FindCause(const Span& span) const
    {
        const auto found = m_lastJoins.find(span.GetInstance());
        return found == m_lastJoins.end() || found->second->startPs <= span.startPs
                   ? span
                   : *found->second;
    }

    /// @param span that began @param beganPs when @return what had ended last on its device by
    /// then, or null
    const Span* FindBefore(const Span& span, int64_t beganPs) const
    {
        const auto& spans = m_ended[span.device];
        auto after = std::upper_bound(
            spans.begin(),
            spans.end(),
            beganPs,
            [](int64_t timePs, const Span* other) { return timePs < other->endPs; });
        const Span* best = nullptr;
        for (; after != spans.begin() && (!best || (*(after - 1))->endPs == best->endPs); --after)
        {
            const Span& other = **(after - 1);
            // What takes no time would lead in a circle.
            const bool isLate = other.startPs >= beganPs;
            if (!isLate && (!best || IsDependency(other, span)))
            {
                best = &other;
            }
            if (best && IsDependency(*best, span))
            {
                break;
            }
        }
        return best;
    }

  private:
    /// @return whether one task waits for another, directly or for a tensor
    bool IsDependency(const Span& before, const Span& span) const
    {
        for (const TaskId id : m_graph.GetDependencies(span.task))
        {
            const bool isTensor = m_graph.GetTask(id).kind == TaskKind::MEMORY; // made by another
            const auto makers = m_graph.GetDependencies(id);
            if (id == before.task ||
                (isTensor && std::find(makers.begin(), makers.end(), before.task) != makers.end()))
            {
                return true;
            }
        }
        return false;
    }

    const ExecutionGraph& m_graph;
    std::vector<std::vector<const Span*>> m_ended; //!< by device
    std::unordered_map<TaskInstance, const Span*> m_lastJoins;
};

} // namespace

std::vector<CriticalStep>
FindCriticalPath(const ExecutionGraph& graph, const Timeline& timeline)
{
    std::vector<CriticalStep> steps;
    if (timeline.spans.empty())
    {
        return steps;
    }
    const SpanIndex index(graph, timeline);
    const Span* span = &timeline.spans.back();
    int64_t untilPs = timeline.endPs;
    while (span)
    {
        if (span->endPs < untilPs) // nothing of the device for a while
        {
            steps.push_back({span->device, 0, 0, false, span->endPs, untilPs});
            untilPs = span->endPs;
        }
        const Span& cause = index.FindCause(*span);
        const int64_t beganPs = std::min(cause.startPs, untilPs);
        steps.push_back({span->device, span->task, span->microBatch, true, beganPs, untilPs});
        untilPs = beganPs;
        span = index.FindBefore(cause, beganPs);
        if (!span && untilPs > 0)
        {
            steps.push_back({cause.device, 0, 0, false, 0, untilPs});
        }
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
}

} // namespace proteus
} // namespace ns3
